"""The words of the domain: what is asked, what was decided, what became of it.

Everything here is a frozen value. Times are Unix milliseconds on the store's clock (``_at_ms``),
JSON that only passes through is kept as the bytes it arrived in (:class:`msgspec.Raw`).
"""

from enum import StrEnum

from msgspec import UNSET, Raw, Struct, UnsetType

from placet.domain.deliveries import Delivery, Failure
from placet.domain.vouched import StepUp, Vouched

EMPTY_OBJECT = Raw(b"{}")


class Status(StrEnum):
    """The six states of an approval; :mod:`placet.domain.machine` says how they follow each other."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    CONSUMED = "consumed"


class Verdict(StrEnum):
    """What an approver can answer."""

    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"


class ActorKind(StrEnum):
    """What the runtime vouches its actor to be."""

    USER = "user"
    SERVICE = "service"
    AUTOMATION = "automation"
    AGENT = "agent"
    ANONYMOUS = "anonymous"


class Effect(StrEnum):
    """What the call does to the world."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    DESTRUCTIVE = "destructive"
    EXTERNAL = "external"

    @property
    def rank(self) -> int:
        """0 for none to 3 for destructive and external, of which neither is more than the other."""
        return min(tuple(Effect).index(self), 3)


class Risk(StrEnum):
    """How much is at stake, as the asker says; policies can only raise it."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for low to 3 for critical."""
        return tuple(Risk).index(self)


class OutcomeStatus(StrEnum):
    """How the runtime says the execution ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"


class Actor(Struct, frozen=True, kw_only=True):
    """On whose behalf the tool would run, as vouched for by the authenticated runtime.

    ``id`` and ``kind`` are bound by the digest, ``display_name`` and ``on_behalf_of`` by the
    display hash; ``attributes`` are kept and shown, not bound.
    """

    id: str
    kind: ActorKind
    display_name: str | None = None
    on_behalf_of: tuple[str, ...] = ()
    attributes: Raw = EMPTY_OBJECT


class Presentation(Struct, frozen=True, kw_only=True):
    """The runtime's own words for the card, and what of the input approvers must not see."""

    title: str | None = None
    summary: str | None = None
    redact: tuple[str, ...] = ()


class Claimed(Struct, frozen=True, kw_only=True):
    """Effect and risk as an asker said them, where a rule of the operator raised them."""

    effect: Effect
    risk: Risk


class Ask(Struct, frozen=True, kw_only=True):
    """What a client asked, after defaults: the part of a record that never changes.

    ``effect`` and ``risk`` are at least those of the capability, ``claimed`` what the asker said where that
    was less. ``owners`` are the people behind the asking client when it asked, ``parties`` all that people of
    the directory who were on the asking side then go by; they may not approve.
    ``credential`` is the id of what the asker showed. ``rule`` is the name of the rule it was asked under,
    ``policy`` the version of the file that has it; ``required`` and ``rejections`` are how many distinct
    people it takes.
    ``deadline`` is what was asked for (``in:<ms>``, ``at:<ms>`` or ``default``): joining compares it.
    """

    id: str
    tenant: str
    asked_by: str
    audience: str
    capability: str
    surface: str
    actor: Actor
    effect: Effect
    context: Raw
    input_hash: str
    input_held: bool
    risk: Risk
    reasons: tuple[str, ...]
    types: tuple[str, ...]
    allowed_decisions: tuple[Verdict, ...]
    presentation: Presentation
    run: str | None
    use_within_ms: int | None
    deadline: str
    extensions: Raw
    owners: tuple[str, ...]
    claimed: Claimed | None = None
    rule: str = ""
    policy: str | None = None
    credential: str | None = None
    required: int = 1
    rejections: int = 1
    parties: tuple[str, ...] = ()


class Sealed(Struct, frozen=True, kw_only=True):
    """An ask or a vote as it is stored: its JSON document, and that document's MAC.

    The key of the MAC never comes near the store (:mod:`placet.tokens.seal`). It is over the very bytes
    that are kept, so that a later release, which may know more members, still proves what this one wrote.
    """

    document: bytes
    seal: str

    @property
    def stored(self) -> bytes:
        """Seal and document, as the log keeps them."""
        return self.seal.encode() + self.document


class Person(Struct, frozen=True, kw_only=True):
    """An approver as shown: never more than an id and a name."""

    id: str
    display_name: str | None = None


class Edited(Struct, frozen=True, kw_only=True):
    """What an approver made of a question by changing its input, and whether that is their approval."""

    input_hash: str
    digest: str
    counts: bool


class Vote(Struct, frozen=True, kw_only=True):
    """A decision as it is sealed and stored; the store adds when it was cast.

    ``key`` is what told the voter from others, ``rule`` and ``policy`` what they were judged by.
    ``digest`` is of the card that was shown, ``edited`` what an edit made of it. ``seen_at_ms`` is the
    store's time when the record was read for it: a grant that began much later is none. ``vouched`` is the
    word of the issuer by whose token it came, ``names`` all that the voter went by in the directory,
    ``step_up`` the sign-in that was done for it.
    """

    decision: Verdict
    approver: Person
    channel: str
    submitted_by: str | None
    comment: str | None
    digest: str
    credential: str | None = None
    key: str | None = None
    rule: str | None = None
    policy: str | None = None
    seen_at_ms: int = 0
    edited: Edited | None = None
    vouched: Vouched | UnsetType = UNSET
    names: tuple[str, ...] = ()
    step_up: StepUp | UnsetType = UNSET

    def approves(self, digest: str) -> bool:
        """Whether it counts as an approval of what this digest is of."""
        if self.edited is not None:
            return self.edited.counts and self.edited.digest == digest
        return self.decision is Verdict.APPROVE and self.digest == digest


class CastVote(Struct, frozen=True, kw_only=True):
    """A vote, what is stored of it, and the moment the store took it."""

    vote: Vote
    sealed: Sealed
    at_ms: int


class Consumption(Struct, frozen=True, kw_only=True):
    """Who spent the grant, in which execution."""

    execution_id: str
    client: str
    at_ms: int


class Outcome(Struct, frozen=True, kw_only=True):
    """What the runtime reported afterwards."""

    status: OutcomeStatus
    summary: str | None
    at_ms: int


class Requested(Struct, frozen=True, kw_only=True):
    """The original of an approval that was approved with changes."""

    input: Raw | None
    input_hash: str
    digest: str


class Approval(Struct, frozen=True, kw_only=True):
    """One approval as of ``now_ms``: the ask and everything that happened to it.

    ``input`` is the canonical effective input, ``None`` where the service never held it or has
    erased it. ``input_hash`` and ``digest`` are those of the effective input. ``nonce`` is of the call
    that created it: the ask's seal covers it, so that no vote on one record counts for another.
    ``counted`` are the marks of those whose votes counted when the latest was taken, and what each was worth.
    ``ends`` are the terminal states that its log tells of: one at most, and the present one, unless the
    store was tampered with. ``deliveries`` say who was told of it.
    """

    ask: Ask
    sealed: Sealed
    nonce: bytes
    status: Status
    digest: str
    input_hash: str
    input: Raw | None
    requested_at_ms: int
    expires_at_ms: int
    use_by_ms: int | None
    required: int
    counted: tuple[tuple[str, Verdict], ...]
    votes: tuple[CastVote, ...]
    consumption: Consumption | None
    outcome: Outcome | None
    requested: Requested | None
    now_ms: int
    ends: frozenset[Status] = frozenset()
    deliveries: tuple[Delivery, ...] = ()

    @property
    def approved(self) -> int:
        """How many approvals counted."""
        return sum(worth is Verdict.APPROVE for _, worth in self.counted)

    @property
    def rejected(self) -> int:
        """How many rejections counted."""
        return sum(worth is Verdict.REJECT for _, worth in self.counted)

    @property
    def waited_ms(self) -> int:
        """How long ago it was asked."""
        return self.now_ms - self.requested_at_ms


class TrailEntry(Struct, frozen=True, kw_only=True):
    """One line of an approval's audit trail; ``count`` above 1 stands for coalesced refusals.

    ``credential`` is the id of what was shown by whoever acted; ``rule`` and ``policy`` stand where it was
    asked; ``target`` is who was told, and ``error`` why not; ``digest`` and ``input_hash`` are those that the
    line is about.
    """

    seq: int
    at_ms: int
    type: str
    by: str
    channel: str | UnsetType = UNSET
    credential: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    count: int | UnsetType = UNSET
    decision: Verdict | UnsetType = UNSET
    rule: str | UnsetType = UNSET
    policy: str | UnsetType = UNSET
    digest: str | UnsetType = UNSET
    input_hash: str | UnsetType = UNSET
    target: str | UnsetType = UNSET
    error: Failure | UnsetType = UNSET
