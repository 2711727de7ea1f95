"""Who may ask and decide what, as of one epoch: the principals, the directory and the rules together.

Without a policy file one built-in rule holds: any approver of the tenant decides, one person is enough.
What it can't answer safely it refuses: critical risk, and inputs that nobody here can see.

Pure: everything is judged from the arguments. Judgements are ``None`` (allowed) or the error to refuse with.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import UNSET, Struct, structs

from placet.domain.chat import SlackApp
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import ApprovalSelfApproval, Forbidden, PlacetError
from placet.domain.generation import NO_FILES, Generation
from placet.domain.identities import Identities
from placet.domain.last_words import LastWords, Said
from placet.domain.limits import CHANGES_MAX
from placet.domain.model import ActorKind, Ask, Effect, Risk, Verdict, Vote
from placet.domain.people import Issuer, People, SignIn
from placet.domain.principals import Client, Principal, Scope
from placet.domain.rules import Claims, CommentRule, EditRule, Policies, Terms
from placet.domain.tally import Needed, Tally
from placet.domain.text import says_something
from placet.domain.voters import CHANNEL_WEB, Voter, includes, is_named
from placet.domain.vouched import StepUp

BUILT_IN: Final = Terms(rule="built-in")
"""What holds while there is no policy file."""

_DANGEROUS: Final = frozenset({Effect.DESTRUCTIVE, Effect.EXTERNAL})
_GRAVE: Final = frozenset({Risk.HIGH, Risk.CRITICAL})


class Rulebook(Struct, frozen=True, kw_only=True):
    """What the operator's files say: who people are, and under which rules they decide.

    Attributes:
        people: The directory.
        policies: The rules; ``None`` where there is no policy file.
        issuers: Those whose tokens name people, by ``iss``.
        slack: Apps that people are asked through, by their workspace.
        generation: The files it was read from.
    """

    people: People = People()
    policies: Policies | None = None
    issuers: Mapping[str, Issuer] = MappingProxyType({})
    slack: Mapping[str, SlackApp] = MappingProxyType({})
    generation: Generation = NO_FILES


class Authority(Identities, frozen=True, kw_only=True):
    """Everything that says who may decide, of one tenant.

    Attributes:
        policies: The operator's rules; ``None`` where there is no file.
    """

    policies: Policies | None = None

    @property
    def version(self) -> str | None:
        """Of the operator's files."""
        return None if self.policies is None else self.policies.version

    # --- What holds for a request ---------------------------------------------------------------------

    def terms(self, ask: Ask) -> Terms | None:
        """What holds for a request today; ``None`` where no rule is for it."""
        if self.policies is None:
            return None if ask.risk is Risk.CRITICAL else BUILT_IN
        rule = self.policies.rule_for(self.tenant, ask.asked_by, ask.capability, ask.surface)
        return None if rule is None else rule.terms_for(self.claims(ask))

    def claims(self, ask: Ask) -> Claims:
        """What a request says of itself, at least what its capability's floors are today."""
        effect, risk = self.raised(ask.capability, ask.effect, ask.risk)
        floors = () if self.policies is None else self.policies.floors_of(ask.capability)
        return Claims(
            risk=risk,
            effect=effect,
            types=ask.types,
            actor_kind=ask.actor.kind,
            least=frozenset(floor.effect for floor in floors),
        )

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
            raise Forbidden(ForbiddenReason.SCOPE, capabilities=client.capabilities)
        terms = self.terms(ask)
        if terms is None:
            raise self._no_rule()
        if self._hides_too_much(ask, terms):
            raise Forbidden(ForbiddenReason.HIDDEN_INPUT)
        return terms

    def _no_rule(self) -> Forbidden:
        """Why a request has no rule: the operator's have none for it, or there are none of theirs."""
        return Forbidden(ForbiddenReason.NO_RULE, rule=BUILT_IN.rule if self.policies is None else None)

    def _hides_too_much(self, ask: Ask, terms: Terms) -> bool:
        """Whether nobody here sees the input, and somebody must."""
        claims = self.claims(ask)
        return not ask.input_held and (not terms.hidden_input or is_grave(claims.effect, claims.risk))

    # --- Who may decide -------------------------------------------------------------------------------

    def entitled(self, voter: Voter, ask: Ask, terms: Terms, tally: Tally) -> bool:
        """Whether the person is among those who decide this, once it has come so far."""
        if voter.bridge is not None and not (self.bridges(voter.bridge, ask) and is_named(voter)):
            return False
        if tally.needed(ask, terms).approvals > 1 and not voter.is_member:
            return False
        if voter.vouched is not UNSET and not voter.is_member and not terms.approvers:
            return False  # an issuer may vouch for the whole world: a rule must say whom of it
        escalation = terms.escalation
        called = escalation.groups if escalation and tally.waited_ms >= escalation.after_ms else frozenset()
        return all(
            includes(among, voter, called if place == 0 else frozenset())
            for place, among in enumerate(terms.approvers)
        )

    def judge_vote(
        self, voter: Voter, ask: Ask, verdict: Verdict, comment: str | None, tally: Tally
    ) -> PlacetError | None:
        """Whether this person may give this verdict now; the record's state is not looked at.

        In the order of judgement: entitled and nobody who may have voted already, channel, decision allowed,
        comment, not one's own request. Rejecting one's own request is allowed.
        """
        refusal = self._judge(voter, ask, verdict, comment, tally, self.last_words(tally))
        if refusal is None and verdict is Verdict.EDIT and tally.changes >= CHANGES_MAX:
            return Forbidden(ForbiddenReason.DECISION_NOT_ALLOWED)
        return refusal

    def _judge(
        self,
        voter: Voter,
        ask: Ask,
        verdict: Verdict,
        comment: str | None,
        tally: Tally,
        said: LastWords,
    ) -> PlacetError | None:
        terms = self.terms(ask)
        rejects = verdict is Verdict.REJECT
        if (
            terms is None
            or not self.entitled(voter, ask, terms, tally)
            or (self._is_counted(ask, terms, tally, rejects=rejects) and said.is_unclear(voter))
        ):
            return Forbidden(ForbiddenReason.NOT_AN_APPROVER)
        # A fresh sign-in is the web's to ask for; a refusal needs none.
        closed = terms.channels is not None and voter.channel not in terms.channels
        if closed or (not rejects and self.steps_up(ask, terms) and not self._has_stepped_up(voter)):
            return Forbidden(ForbiddenReason.CHANNEL_NOT_ALLOWED)
        if verdict not in ask.allowed_decisions or (verdict is Verdict.EDIT and not may_edit(ask, terms)):
            return Forbidden(ForbiddenReason.DECISION_NOT_ALLOWED)
        wanted = terms.comment is CommentRule.ALWAYS or (rejects and terms.comment is CommentRule.ON_REJECT)
        if wanted and not says_something(comment or ""):
            return Forbidden(ForbiddenReason.COMMENT_REQUIRED)
        confirms = verdict is Verdict.APPROVE and self._confirms(voter, ask, terms, tally)
        if not rejects and not confirms and self.is_requester(voter, ask):
            return ApprovalSelfApproval()
        return None

    def steps_up(self, ask: Ask, terms: Terms) -> bool:
        """Whether whoever approves it signs in for that very decision."""
        if terms.step_up is not None:
            return terms.step_up
        on_the_web = terms.channels is None or CHANNEL_WEB in terms.channels
        return on_the_web and self.claims(ask).risk is Risk.CRITICAL and bool(self.sign_ins)

    def _has_stepped_up(self, voter: Voter) -> bool:
        """Whether somebody signed in for their decision, in a way that does today."""
        sign_in = self._sign_in_of(voter)
        if voter.step_up is UNSET or sign_in is None:
            return False
        return not sign_in.acr_values or voter.step_up.acr in sign_in.acr_values

    def _sign_in_of(self, voter: Voter) -> SignIn | None:
        """How somebody signs in, whom an issuer vouches for."""
        word = voter.vouched
        return next(
            (each.sign_in for each in self.sign_ins if word is not UNSET and each.iss == word.iss), None
        )

    def afresh(self, voter: Voter) -> Voter:
        """As somebody is once they have signed in for a decision, where they can: on the pages."""
        sign_in = self._sign_in_of(voter)
        if sign_in is None or voter.channel != CHANNEL_WEB:
            return voter
        acr = sign_in.acr_values[0] if sign_in.acr_values else None
        return structs.replace(voter, step_up=StepUp(at_ms=0, acr=acr))

    def _is_counted(self, ask: Ask, terms: Terms, tally: Tally, *, rejects: bool) -> bool:
        """Whether it matters that this vote is not one more of somebody who has voted or changed the input.

        A rejection that is enough alone is anybody's who may decide.
        """
        needed = tally.needed(ask, terms)
        if rejects:
            return needed.rejections > 1
        changeable = terms.edit is not EditRule.NO or tally.changes > 0
        return needed.approvals > 1 or needed.rejections > 1 or changeable

    def needed(self, ask: Ask, tally: Tally) -> Needed:
        """How many people it takes; what no rule is for any more takes as many as it did."""
        terms = self.terms(ask)
        return tally.needed(ask, terms) if terms is not None else tally.asked_for(ask)

    def edit_counts(self, ask: Ask, tally: Tally) -> bool:
        """Whether a change counts as its author's approval today; on a grave call never as the only one."""
        terms, claims = self.terms(ask), self.claims(ask)
        if terms is None or terms.edit is not EditRule.COUNTS:
            return False
        return tally.needed(ask, terms).approvals > 1 or not is_grave(claims.effect, claims.risk)

    def _confirms(self, voter: Voter, ask: Ask, terms: Terms, tally: Tally) -> bool:
        """Whether it is a plain human confirmation, which a rule can let the person who acts give."""
        alone = tally.needed(ask, terms).approvals == 1
        if not terms.self_approval or not alone or ask.actor.kind is not ActorKind.USER:
            return False
        claims = self.claims(ask)
        owns = not voter.names.isdisjoint(self.keys_of((ask.asked_by, *ask.owners, *self.owners(ask))))
        acts = self.people.key(self.tenant, ask.actor.id) == voter.key and not ask.actor.on_behalf_of
        return acts and not owns and not is_grave(claims.effect, claims.risk)

    def bridges(self, client: Client, ask: Ask) -> bool:
        """Whether a client may speak for people on this question: ``decide_as``, up to its highest risk."""
        within = client.max_risk is not None and self.claims(ask).risk.rank <= client.max_risk.rank
        return within and client.may(Scope.DECIDE_AS)

    # --- What was voted -------------------------------------------------------------------------------

    def weighed(self, ask: Ask, tally: Tally) -> Iterator[tuple[Vote, Verdict]]:
        """What the votes so far come to today: everybody's last word, and what it is worth.

        An approval is worth nothing where its voter could not give it today the way they did, a rejection
        where what was shown for it counts no more: either can be given anew. Whose change does not count is
        its author and no more, whatever else they said, unless they reject it.
        """
        said, counts = self.last_words(tally), self.edit_counts(ask, tally)
        for each in said:
            if each.vote.decision is Verdict.REJECT and each.is_alive:
                yield each.vote, Verdict.REJECT
            elif each.is_author and not (counts and _is_no_mere_change(each.vote)):
                yield each.vote, Verdict.EDIT
            elif each.vote.decision is not Verdict.REJECT and self._could(each, ask, tally, said):
                yield each.vote, Verdict.APPROVE

    def granting(self, ask: Ask, tally: Tally) -> tuple[Vote, ...]:
        """The approvals of those who could still give them today, on what would run, one a person."""
        worth = self.weighed(ask, tally)
        return tuple(vote for vote, what in worth if what is Verdict.APPROVE and vote.approves(tally.digest))

    def judge_grant(self, ask: Ask, tally: Tally) -> Forbidden | None:
        """Whether enough of those who approved could still do so today (design §7)."""
        terms = self.terms(ask)
        if terms is None:
            return self._no_rule()
        if self._hides_too_much(ask, terms):
            return Forbidden(ForbiddenReason.HIDDEN_INPUT)
        if len(self.granting(ask, tally)) >= tally.needed(ask, terms).approvals:
            return None
        said, counts = self.last_words(tally), self.edit_counts(ask, tally)
        lost = any(
            each.vote.approves(tally.digest) and not self._could(each, ask, tally, said)
            for each in said
            if counts or not each.is_author
        )
        reason = ForbiddenReason.APPROVER_NO_LONGER_ENTITLED if lost else ForbiddenReason.QUORUM_NO_LONGER_MET
        return Forbidden(reason)

    def _could(self, word: Said, ask: Ask, tally: Tally, said: LastWords) -> bool:
        """Whether somebody could cast a vote today the way they did."""
        if word.principal is None:
            return False
        vote = word.vote
        voter = self.voter(word.principal, vote.approver.id)
        voter = structs.replace(voter, channel=vote.channel, step_up=vote.step_up)
        return self._judge(voter, ask, vote.decision, vote.comment, tally, said) is None

    # --- Who sees ------------------------------------------------------------------------------------

    def sees(self, caller: Principal, ask: Ask, tally: Tally) -> bool:
        """Whether the caller may know that the record exists: a party, a reader, who may or did decide."""
        if isinstance(caller, Client):
            parties = {ask.asked_by, ask.audience}
            return caller.name in parties or caller.sees() or self.bridges(caller, ask)
        voter, terms = self.voter(caller), self.terms(ask)
        may = terms is not None and self.entitled(voter, ask, terms, tally)
        # By id: an alias takes away, it shows nobody what somebody else decided.
        return may or voter.person.id in {self.caster(vote).person.id for vote in tally.votes}


def may_edit(ask: Ask, terms: Terms) -> bool:
    """Whether the request can be approved with changes: allowed, and the editor sees the whole of it."""
    return terms.edit is not EditRule.NO and ask.input_held and not ask.presentation.redact


def _is_no_mere_change(vote: Vote) -> bool:
    """Whether it is anything but a change that was no approval when it was made."""
    return vote.edited is None or vote.edited.counts


def is_grave(effect: Effect, risk: Risk) -> bool:
    """Whether a call is so grave that somebody must see its input, and nobody changes it alone."""
    return effect in _DANGEROUS or risk in _GRAVE
