"""Who may ask and decide what, as of one epoch: the principals, the directory and the rules together.

Without a policy file one built-in rule holds: any approver of the tenant decides, one person is enough.
What it can't answer safely it refuses: critical risk, and inputs that nobody here can see.

Pure: everything is judged from the arguments. Judgements are ``None`` (allowed) or the error to refuse with.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import ApprovalSelfApproval, Forbidden, PlacetError
from placet.domain.identity import fold
from placet.domain.model import ActorKind, Ask, Effect, Person, Risk, Verdict, Vote
from placet.domain.people import People
from placet.domain.principals import Approver, Client, Principal, Scope
from placet.domain.rules import Approvers, Claims, CommentRule, EditRule, Policies, Terms

CHANNEL_API: Final = "api"
"""The channel of a bearer credential; a bridge's channel is its own name."""

BUILT_IN: Final = Terms(rule="built-in")
"""What holds while there is no policy file."""

_DANGEROUS: Final = frozenset({Effect.DESTRUCTIVE, Effect.EXTERNAL})
_GRAVE: Final = frozenset({Risk.HIGH, Risk.CRITICAL})


class Rulebook(Struct, frozen=True, kw_only=True):
    """What the operator's files say: who people are, and under which rules they decide."""

    people: People = People()
    policies: Policies | None = None


class Voter(Struct, frozen=True, kw_only=True):
    """Somebody who wants to decide, resolved from whatever they came in with.

    Attributes:
        person: As records show them.
        key: What tells them from others, whichever way they come in.
        groups: Those that count for them.
        is_member: Whether the directory knows them.
        channel: Through which they came.
        bridge: The client that speaks for them, if one does.
    """

    person: Person
    key: str
    groups: frozenset[str]
    is_member: bool
    channel: str
    bridge: Client | None = None


class Authority(Struct, frozen=True, kw_only=True):
    """Everything that says who may decide, of one tenant.

    Attributes:
        tenant: Whose it is.
        clients: Those with a live credential, by name.
        approvers: Those with a live credential, by id.
        people: The operator's directory.
        policies: The operator's rules; ``None`` where there is no file.
    """

    tenant: str
    clients: Mapping[str, Client]
    approvers: Mapping[str, Approver]
    people: People
    policies: Policies | None = None

    @property
    def version(self) -> str | None:
        """Of the operator's files."""
        return None if self.policies is None else self.policies.version

    # --- What holds for a request ---------------------------------------------------------------------

    def terms(self, ask: Ask) -> Terms | None:
        """What holds for a request; ``None`` where no rule is for it."""
        if self.policies is None:
            return BUILT_IN
        rule = self.policies.rule_for(self.tenant, ask.asked_by, ask.capability, ask.surface)
        if rule is None:
            return None
        claims = Claims(risk=ask.risk, effect=ask.effect, types=ask.types, actor_kind=ask.actor.kind)
        return rule.terms_for(claims)

    def raised(self, capability: str, effect: Effect, risk: Risk) -> tuple[Effect, Risk]:
        """Effect and risk of a request, at least those of its capability."""
        return (effect, risk) if self.policies is None else self.policies.raised(capability, effect, risk)

    def judge_ask(self, client: Client, ask: Ask) -> Terms:
        """Under which terms ``client`` may ask this.

        Raises:
            Forbidden: It may not ask for this capability, or no rule is for it, or none that would let the
                input be withheld.
        """
        if not client.may_ask_for(ask.capability):
            raise Forbidden(ForbiddenReason.SCOPE)
        terms = self.terms(ask)
        if terms is None or (terms is BUILT_IN and ask.risk is Risk.CRITICAL):
            raise Forbidden(ForbiddenReason.NO_RULE)
        if not ask.input_held and (not terms.hidden_input or _is_grave(ask)):
            raise Forbidden(ForbiddenReason.HIDDEN_INPUT)
        return terms

    # --- Who somebody is ------------------------------------------------------------------------------

    def voter(self, principal: Principal, named: str = "") -> Voter:
        """Whoever is behind a caller: the caller itself, or the person that a bridge names.

        A member's groups are the directory's; those of a credential count for whoever is none.
        """
        bridge = principal if isinstance(principal, Client) else None
        person_id = named if isinstance(principal, Client) else principal.id
        credential = self.approvers.get(person_id) if isinstance(principal, Client) else principal
        member = self.people.member(self.tenant, person_id)
        known_as = member.name if member is not None else credential and credential.display_name
        groups = frozenset(credential.groups) if credential is not None else frozenset()
        return Voter(
            person=Person(id=person_id if member is None else member.id, display_name=known_as or None),
            key=self.people.key(self.tenant, person_id),
            groups=groups if member is None else member.groups,
            is_member=member is not None,
            channel=CHANNEL_API if bridge is None else bridge.name,
            bridge=bridge,
        )

    def is_requester(self, voter: Voter, ask: Ask) -> bool:
        """Whether the person is on the asking side, under any name that is known of them.

        That is: the actor, whoever it acts for, and the owners of both and of the asking client, those of
        today and those of when it asked. Whatever kind the asker says its actor is: a claim only ever takes
        rights away.
        """
        actors = (ask.actor.id, *ask.actor.on_behalf_of)
        asking = {*actors, *ask.owners, *self._owners(ask), *self.people.owners_of(self.tenant, actors)}
        return voter.key in {self.people.key(self.tenant, name) for name in asking}

    def _owners(self, ask: Ask) -> Iterable[str]:
        """The people behind the client that asked, and behind any client that the actor is or acts for."""
        actors = {fold(name) for name in (ask.actor.id, *ask.actor.on_behalf_of)}
        return (
            owner
            for client in self.clients.values()
            if client.name == ask.asked_by or fold(client.name) in actors
            for owner in client.owners
        )

    # --- Who may decide -------------------------------------------------------------------------------

    def entitled(self, voter: Voter, ask: Ask, terms: Terms, waited_ms: int) -> bool:
        """Whether the person is among those who decide this, once it has waited so long."""
        if voter.bridge is not None and not speaks_for(voter.bridge, voter, ask):
            return False
        if terms.quorum > 1 and not voter.is_member:
            return False
        escalation = terms.escalation
        called = escalation.groups if escalation and waited_ms >= escalation.after_ms else frozenset()
        return all(
            self._includes(among, voter, called if place == 0 else frozenset())
            for place, among in enumerate(terms.approvers)
        )

    def _includes(self, among: Approvers, voter: Voter, called: frozenset[str]) -> bool:
        return not voter.groups.isdisjoint(among.groups | called) or voter.key in {
            self.people.key(self.tenant, person_id) for person_id in among.people
        }

    def judge_vote(
        self, voter: Voter, ask: Ask, verdict: Verdict, comment: str | None, waited_ms: int
    ) -> PlacetError | None:
        """Whether this person may give this verdict now; the record's state is not looked at.

        In the order of judgement: entitled, channel, decision allowed, comment, not one's own request.
        Rejecting one's own request is allowed.
        """
        terms = self.terms(ask)
        if terms is None or not self.entitled(voter, ask, terms, waited_ms):
            return Forbidden(ForbiddenReason.NOT_AN_APPROVER)
        rejects = verdict is Verdict.REJECT
        # A fresh sign-in is the web's to ask for; a refusal needs none.
        closed = terms.channels is not None and voter.channel not in terms.channels
        if closed or (terms.step_up and not rejects):
            return Forbidden(ForbiddenReason.CHANNEL_NOT_ALLOWED)
        if verdict not in ask.allowed_decisions or (verdict is Verdict.EDIT and not may_edit(ask, terms)):
            return Forbidden(ForbiddenReason.DECISION_NOT_ALLOWED)
        wanted = terms.comment is CommentRule.ALWAYS or (rejects and terms.comment is CommentRule.ON_REJECT)
        if wanted and not (comment or "").strip():
            return Forbidden(ForbiddenReason.COMMENT_REQUIRED)
        if not rejects and self.is_requester(voter, ask) and not self._confirms(voter, ask, terms):
            return ApprovalSelfApproval()
        return None

    def _confirms(self, voter: Voter, ask: Ask, terms: Terms) -> bool:
        """Whether it is a plain human confirmation, which a rule can let the person who acts give."""
        acts = self.people.key(self.tenant, ask.actor.id) == voter.key
        plain = ask.actor.kind is ActorKind.USER and not ask.actor.on_behalf_of
        return terms.self_approval and terms.quorum == 1 and acts and plain

    # --- What was granted -----------------------------------------------------------------------------

    def judge_grant(self, ask: Ask, votes: Iterable[Vote], waited_ms: int) -> PlacetError | None:
        """Whether those who approved could still do so today, and are still enough (design §7)."""
        terms = self.terms(ask)
        cast = tuple(votes)
        still = {
            voter.key for vote in cast if (voter := self._still(vote, ask, terms, waited_ms)) is not None
        }
        if len(still) < len({self.people.key(self.tenant, vote.approver.id) for vote in cast}):
            return Forbidden(ForbiddenReason.APPROVER_NO_LONGER_ENTITLED)
        if terms is None or len(still) < terms.quorum:
            return Forbidden(ForbiddenReason.QUORUM_NO_LONGER_MET)
        return None

    def _still(self, vote: Vote, ask: Ask, terms: Terms | None, waited_ms: int) -> Voter | None:
        """The person who cast a vote, where they could cast it today."""
        principal = self._behind(vote)
        if principal is None or terms is None:
            return None
        voter = self.voter(principal, vote.approver.id)
        refusal = self.judge_vote(voter, ask, vote.decision, vote.comment, waited_ms)
        return voter if refusal is None and self.entitled(voter, ask, terms, waited_ms) else None

    def _behind(self, vote: Vote) -> Principal | None:
        """Who brought a vote in: the person's own credential, or a bridge that may speak for them."""
        person_id = vote.approver.id
        if person_id in self.approvers:
            return self.approvers[person_id]
        return next(
            (
                client
                for client in self.clients.values()
                if client.may(Scope.DECIDE_AS) and person_id in client.people
            ),
            None,
        )

    # --- Who sees ------------------------------------------------------------------------------------

    def sees(self, caller: Principal, ask: Ask, votes: Iterable[Vote], waited_ms: int) -> bool:
        """Whether the caller may know that the record exists: a party, a reader, who may or did decide."""
        if isinstance(caller, Client):
            parties = {ask.asked_by, ask.audience}
            return caller.name in parties or caller.sees() or bridges(caller, ask)
        voter, terms = self.voter(caller), self.terms(ask)
        may = terms is not None and self.entitled(voter, ask, terms, waited_ms)
        return may or voter.key in {self.people.key(self.tenant, vote.approver.id) for vote in votes}


def speaks_for(bridge: Client, voter: Voter, ask: Ask) -> bool:
    """Whether a ``decide_as`` client may speak for this person on this question."""
    return bridges(bridge, ask) and voter.person.id in bridge.people


def bridges(client: Client, ask: Ask) -> bool:
    """Whether the client may speak for people on this question: ``decide_as``, up to its highest risk."""
    within = client.max_risk is not None and ask.risk.rank <= client.max_risk.rank
    return within and client.may(Scope.DECIDE_AS)


def may_edit(ask: Ask, terms: Terms) -> bool:
    """Whether the request can be approved with changes: allowed, and the editor sees the whole of it."""
    return terms.edit is not EditRule.NO and ask.input_held and not ask.presentation.redact


def edit_counts(ask: Ask, terms: Terms) -> bool:
    """Whether a change counts as its author's approval; on a grave call never as the only one."""
    return terms.edit is EditRule.COUNTS and not (_is_grave(ask) and terms.quorum == 1)


def _is_grave(ask: Ask) -> bool:
    return ask.effect in _DANGEROUS or ask.risk in _GRAVE
