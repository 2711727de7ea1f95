"""Who may ask and decide what, while no policy file says otherwise.

The built-in rule: any approver of the tenant decides, one person is enough, over the API. What it
can't answer safely it refuses: critical risk, and inputs that nobody here can see. ``edit`` may be
offered but is not taken.

Pure: everything is judged from the arguments. Judgements are ``None`` (allowed) or the error to
refuse with.
"""

from collections.abc import Container, Iterable, Mapping

from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import ApprovalSelfApproval, Forbidden, PlacetError
from placet.domain.identity import fold
from placet.domain.model import Ask, Person, Risk, Verdict
from placet.domain.principals import Approver, Client, Principal, Scope

REQUIRED_APPROVALS = 1
"""Distinct people whose approval the built-in rule asks for."""

CHANNEL_API = "api"
"""The channel of a bearer credential; a bridge's channel is its own name."""


def judge_ask(client: Client, ask: Ask) -> PlacetError | None:
    """Whether ``client`` may ask this."""
    if not client.may_ask_for(ask.capability):
        return Forbidden(ForbiddenReason.SCOPE)
    if ask.risk is Risk.CRITICAL:
        return Forbidden(ForbiddenReason.NO_RULE)
    if not ask.input_held:
        return Forbidden(ForbiddenReason.HIDDEN_INPUT)
    return None


def owners_behind(ask: Ask, clients: Mapping[str, Client]) -> set[str]:
    """The people behind the client that asked, and behind any client that the actor is or acts for.

    Whatever kind the asker says its actor is: a claim only ever takes rights away.
    """
    actors = {fold(name) for name in (ask.actor.id, *ask.actor.on_behalf_of)}
    return {
        owner
        for client in clients.values()
        if client.name == ask.asked_by or fold(client.name) in actors
        for owner in client.owners
    }


def is_requester(person_id: str, ask: Ask, owners: Iterable[str]) -> bool:
    """Whether the person is on the asking side: the actor, someone behind it, or an owner of either.

    ``owners`` are those of today; those that the asking client had when it asked count as well.
    Compared folded, so that no spelling makes two people of one.
    """
    asking = {ask.actor.id, *ask.actor.on_behalf_of, *ask.owners, *owners}
    return fold(person_id) in {fold(name) for name in asking}


def judge_vote(
    caller: Principal, person: Person, ask: Ask, verdict: Verdict, owners: Iterable[str]
) -> PlacetError | None:
    """Whether ``person``, through ``caller``, may give ``verdict``; the record's state is not looked at.

    In the order of judgement: entitled, decision allowed, not one's own request. Rejecting one's own
    request is allowed.
    """
    if isinstance(caller, Client) and not speaks_for(caller, person.id, ask):
        return Forbidden(ForbiddenReason.NOT_AN_APPROVER)
    if verdict is Verdict.EDIT or verdict not in ask.allowed_decisions:
        return Forbidden(ForbiddenReason.DECISION_NOT_ALLOWED)
    if verdict is not Verdict.REJECT and is_requester(person.id, ask, owners):
        return ApprovalSelfApproval()
    return None


def speaks_for(bridge: Client, person_id: str, ask: Ask) -> bool:
    """Whether a ``decide_as`` client may speak for this person on this question."""
    return bridges(bridge, ask) and person_id in bridge.people


def may_still_decide(person_id: str, clients: Mapping[str, Client], approvers: Container[str]) -> bool:
    """Whether someone whose vote counted could give it today, in person or through a bridge."""
    return person_id in approvers or any(
        client.may(Scope.DECIDE_AS) and person_id in client.people for client in clients.values()
    )


def sees(caller: Principal, ask: Ask) -> bool:
    """Whether the caller may know that the record exists."""
    if isinstance(caller, Approver):
        return True
    if caller.name in {ask.asked_by, ask.audience} or caller.sees():
        return True
    return bridges(caller, ask)


def bridges(client: Client, ask: Ask) -> bool:
    """Whether the client may speak for people on this question: ``decide_as``, up to its highest risk."""
    within = client.max_risk is not None and ask.risk.rank <= client.max_risk.rank
    return within and client.may(Scope.DECIDE_AS)
