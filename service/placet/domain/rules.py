"""Rules: under which terms a request may be approved. Policies are a list of them, the first match counts.

1. A rule is chosen by what authentication and the call itself say: tenant, client, capability, surface. What
   the asker merely claims (risk, effect, types, kind of actor) chooses nothing; by it a rule's ``stricter``
   blocks apply, and each can only tighten.
2. Terms tighten by member: more people, fewer rejections, fewer channels, earlier deadlines, more comments,
   fewer exceptions. Approvers narrow: whoever decides must be among those of the rule *and* of each block.
3. A capability has a least effect and a least risk; a request below is raised to them.
4. Claiming more never loosens: a block for a risk or an effect is for everything above it too, and for what
   the capability has at least, whichever of two that are alike is claimed.
5. Where no rule matches nobody may approve, and the request is refused.

Everything here is a value, and every judgement a pure function of its arguments.
"""

from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType, structs

from placet.domain.model import ActorKind, Effect, Risk
from placet.domain.patterns import matches


class CommentRule(StrEnum):
    """When a decision needs a comment."""

    NEVER = "never"
    ON_REJECT = "on-reject"
    ALWAYS = "always"

    @property
    def rank(self) -> int:
        """0 for never to 2 for always."""
        return tuple(CommentRule).index(self)


class EditRule(StrEnum):
    """Whether an approver may approve with changes, and whether that counts as their approval."""

    NO = "no"
    YES = "yes"
    COUNTS = "counts"

    @property
    def rank(self) -> int:
        """0 for no to 2 for counts."""
        return tuple(EditRule).index(self)


class Approvers(Struct, frozen=True, kw_only=True):
    """Who may decide: whoever is in one of these groups, or one of these people (by id)."""

    groups: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()


class Escalation(Struct, frozen=True, kw_only=True):
    """What happens when a question has waited so long: more groups may decide it, or it is over.

    ``tell`` is who is told then; empty for the people of these groups, as far as a chat knows them.
    """

    after_ms: int
    groups: frozenset[str] = frozenset()
    gives_up: bool = False
    tell: tuple[str, ...] = ()


class Terms(Struct, frozen=True, kw_only=True):
    """What holds for one request.

    Attributes:
        rule: The name of the rule.
        approvers: Whoever decides must be among each of these; empty where any approver of the tenant may.
        quorum: How many distinct people must approve.
        rejections: How many distinct people must reject.
        channels: Through which one may decide; ``None`` for any.
        expires_in_ms: Default and greatest wait of the question; ``None`` for the service's own.
        use_within_ms: Default and greatest wait of the grant; ``None`` for the service's own.
        comment: When a decision needs one.
        self_approval: A plain human confirmation may be given by the very person who acts.
        edit: Whether approving with changes is allowed.
        hidden_input: The input may be withheld from everybody here.
        step_up: Whether approving needs a fresh sign-in; ``None`` for the service's own rule: where a call
            is critical, an issuer signs people in, and it may be decided on the pages.
        tell: Who is told of it, and how (``slack:#channel``, ``slack:@person``, ``webhook:name``).
        escalation: What happens after a time.
    """

    rule: str
    approvers: tuple[Approvers, ...] = ()
    quorum: int = 1
    rejections: int = 1
    channels: frozenset[str] | None = None
    expires_in_ms: tuple[int | None, int | None] = (None, None)
    use_within_ms: tuple[int | None, int | None] = (None, None)
    comment: CommentRule = CommentRule.NEVER
    self_approval: bool = False
    edit: EditRule = EditRule.NO
    hidden_input: bool = False
    step_up: bool | None = None
    tell: tuple[str, ...] = ()
    escalation: Escalation | None = None


class When(Struct, frozen=True, kw_only=True):
    """When a block applies: one value of every member that is there must hold.

    A risk holds for itself and what is above it, an effect likewise: ``none`` is below ``read``, that below
    ``write``, and that below both ``destructive`` and ``external``.
    """

    risk: frozenset[Risk] = frozenset()
    effect: frozenset[Effect] = frozenset()
    types: frozenset[str] = frozenset()
    actor_kind: frozenset[ActorKind] = frozenset()


class Claims(Struct, frozen=True, kw_only=True):
    """What an asker says of its request, once raised; ``least`` are the least effects of its capability."""

    risk: Risk
    effect: Effect
    types: tuple[str, ...]
    actor_kind: ActorKind
    least: frozenset[Effect] = frozenset()


class Stricter(Struct, frozen=True, kw_only=True):
    """A block of a rule: when it applies, and what it tightens. What is unset stays as it is."""

    when: When
    approvers: Approvers | UnsetType = UNSET
    quorum: int | UnsetType = UNSET
    rejections: int | UnsetType = UNSET
    channels: frozenset[str] | UnsetType = UNSET
    expires_in_max_ms: int | UnsetType = UNSET
    use_within_max_ms: int | UnsetType = UNSET
    comment: CommentRule | UnsetType = UNSET
    self_approval: bool | UnsetType = UNSET
    edit: EditRule | UnsetType = UNSET
    hidden_input: bool | UnsetType = UNSET
    step_up: bool | UnsetType = UNSET


class Rule(Struct, frozen=True, kw_only=True):
    """A rule: what it is for (:mod:`placet.domain.patterns`), its terms, the blocks that tighten them."""

    terms: Terms
    capabilities: tuple[str, ...]
    tenants: tuple[str, ...] = ("*",)
    clients: tuple[str, ...] = ("*",)
    surfaces: tuple[str, ...] = ("*",)
    stricter: tuple[Stricter, ...] = ()

    @property
    def name(self) -> str:
        """How records and errors call it."""
        return self.terms.rule

    def is_for(self, tenant: str, client: str, capability: str, surface: str) -> bool:
        """Whether it matches."""
        return (
            matches(tenant, self.tenants)
            and matches(client, self.clients)
            and matches(capability, self.capabilities)
            and matches(surface, self.surfaces)
        )

    def terms_for(self, claims: Claims) -> Terms:
        """The rule's terms, tightened by every block that applies."""
        terms = self.terms
        for block in self.stricter:
            if applies(block.when, claims):
                terms = tightened(terms, block)
        return terms


class Floor(Struct, frozen=True, kw_only=True):
    """The least effect and risk of the capabilities that match."""

    capabilities: tuple[str, ...]
    effect: Effect = Effect.NONE
    risk: Risk = Risk.LOW


class Policies(Struct, frozen=True, kw_only=True):
    """All rules, in order, and the floors. ``version`` is the SHA-256 of the files they were read from."""

    version: str
    rules: tuple[Rule, ...]
    floors: tuple[Floor, ...] = ()

    def rule_for(self, tenant: str, client: str, capability: str, surface: str) -> Rule | None:
        """The first rule that matches."""
        return next((rule for rule in self.rules if rule.is_for(tenant, client, capability, surface)), None)

    def raised(self, capability: str, effect: Effect, risk: Risk) -> tuple[Effect, Risk]:
        """Effect and risk, at least as high as every floor of the capability."""
        for floor in self.floors_of(capability):
            effect = floor.effect if floor.effect.rank > effect.rank else effect
            risk = floor.risk if floor.risk.rank > risk.rank else risk
        return effect, risk

    def floors_of(self, capability: str) -> tuple[Floor, ...]:
        """Those that are for a capability."""
        return tuple(floor for floor in self.floors if matches(capability, floor.capabilities))


def applies(when: When, claims: Claims) -> bool:
    """Whether a block is for what was claimed; one that names nothing is for everything."""
    effects = {claims.effect, *claims.least}
    return (
        (not when.risk or any(claims.risk.rank >= risk.rank for risk in when.risk))
        and (not when.effect or any(_reaches(one, other) for one in effects for other in when.effect))
        and (not when.types or not when.types.isdisjoint(claims.types))
        and (not when.actor_kind or claims.actor_kind in when.actor_kind)
    )


def _reaches(effect: Effect, other: Effect) -> bool:
    """Whether an effect is another one, or above it."""
    return effect is other or effect.rank > other.rank


def tightened(terms: Terms, block: Stricter) -> Terms:
    """Terms with a block applied: whatever it says, they are as strict as before, or stricter."""
    narrower = () if block.approvers is UNSET else (block.approvers,)
    channels = terms.channels
    if block.channels is not UNSET:
        channels = block.channels if terms.channels is None else terms.channels & block.channels
    return structs.replace(
        terms,
        approvers=(*terms.approvers, *narrower),
        quorum=terms.quorum if block.quorum is UNSET else max(terms.quorum, block.quorum),
        rejections=terms.rejections if block.rejections is UNSET else min(terms.rejections, block.rejections),
        channels=channels,
        expires_in_ms=_shortened(terms.expires_in_ms, block.expires_in_max_ms),
        use_within_ms=_shortened(terms.use_within_ms, block.use_within_max_ms),
        comment=terms.comment if block.comment is UNSET else max(terms.comment, block.comment, key=_rank),
        self_approval=terms.self_approval and block.self_approval is not False,
        edit=terms.edit if block.edit is UNSET else min(terms.edit, block.edit, key=_rank),
        hidden_input=terms.hidden_input and block.hidden_input is not False,
        step_up=True if block.step_up is True else terms.step_up,
    )


def _rank(word: CommentRule | EditRule) -> int:
    return word.rank


def _shortened(
    bounds: tuple[int | None, int | None], most_ms: int | UnsetType
) -> tuple[int | None, int | None]:
    """Default and greatest duration, neither beyond ``most_ms``; a default of the service's stays its own."""
    if most_ms is UNSET:
        return bounds
    default, greatest = bounds
    shorter = most_ms if greatest is None else min(greatest, most_ms)
    return (None if default is None else min(default, shorter)), shorter
