"""Explain: what the rules make of a request, and who could decide it as things stand.

It asks the very functions that judge requests and votes, so that it can't say anything else than they do.
"""

from collections.abc import Iterator, Mapping

from msgspec import UNSET, Struct, structs

from placet.application.asking import ask_of, faults_in
from placet.application.commands import Create
from placet.application.rule_words import listed, met, mismatch, sentences
from placet.domain import binding
from placet.domain.authority import Authority
from placet.domain.canonical import canonicalize
from placet.domain.error_terms import ForbiddenReason, Issue
from placet.domain.errors import ApprovalSelfApproval, Forbidden, InputInvalid, PlacetError
from placet.domain.limits import Limits
from placet.domain.model import Ask, Verdict
from placet.domain.principals import Approver, Client, Scope
from placet.domain.rules import Terms
from placet.domain.tally import Tally
from placet.domain.voters import CHANNEL_SLACK, CHANNEL_WEB, Voter

_COMMENT = "explained"  # what a decision may need, and whoever decides can give
_WHY_NOT_ASKED = {
    ForbiddenReason.SCOPE: "the client may not ask for this capability (`placet clients list`)",
    ForbiddenReason.NO_RULE: "no rule is for it",
    ForbiddenReason.HIDDEN_INPUT: "its input is withheld, and somebody must see it",
}


class Passed(Struct, frozen=True, kw_only=True):
    """A rule that comes first and does not match, and why."""

    rule: str
    why: str


class Block(Struct, frozen=True, kw_only=True):
    """A ``stricter`` block of the rule, by its number (from 1): when it applies, and whether it does."""

    number: int
    when: str
    applies: bool


class Decider(Struct, frozen=True, kw_only=True):
    """Somebody: the channels through which they could approve it, or why they can't.

    ``signs_in`` is whether a credential is known, or what an issuer calls them: credentials are in the store,
    which need not be at hand.
    """

    id: str
    name: str | None
    channels: tuple[str, ...]
    why_not: str | None
    signs_in: bool


class Explanation(Struct, frozen=True, kw_only=True):
    """What the rules make of a request.

    Attributes:
        tenant: Whose rules.
        client: Who asks; ``None`` for any client that no rule names.
        effect: As it counts; more than was claimed where a floor raises it.
        risk: Likewise.
        claimed: Effect and risk as they were asked with.
        passed: The rules before the one that matches.
        rule: The one that does; ``None`` where none does.
        blocks: Its stricter blocks.
        terms: What holds, in sentences.
        refused: Why it can't be asked; ``None`` where it can.
        deciders: Everybody who is known, those first who could approve it as things stand.
        later: Those who could besides, once it has escalated.
    """

    tenant: str
    client: str | None
    capability: str
    surface: str
    effect: str
    risk: str
    claimed: Mapping[str, str]
    passed: tuple[Passed, ...]
    rule: str | None
    blocks: tuple[Block, ...]
    terms: tuple[str, ...]
    refused: str | None
    deciders: tuple[Decider, ...]
    later: tuple[str, ...]


def explain(authority: Authority, client: str | None, body: Create, limits: Limits) -> Explanation:
    """What the rules make of a request of ``client``.

    Raises:
        InputInvalid: It could not be asked under any rule.
    """
    asking = authority.clients.get(client or "") or Client(
        tenant=authority.tenant, name=client or "", scopes=frozenset({Scope.REQUEST})
    )
    ask = _asked(authority, asking, body, limits)
    refused = None
    try:
        authority.judge_ask(asking, ask)
    except Forbidden as refusal:
        refused = _WHY_NOT_ASKED[ForbiddenReason(str(refusal.details["reason"]))]
    terms = authority.terms(ask)
    deciders = tuple(_deciders(authority, ask, terms, Tally()))
    escalated_ms = terms.escalation.after_ms if terms is not None and terms.escalation is not None else 0
    then = _deciders(authority, ask, terms, Tally(waited_ms=escalated_ms))
    could = {each.id for each in deciders if each.channels}
    return Explanation(
        tenant=authority.tenant,
        client=client,
        capability=ask.capability,
        surface=ask.surface,
        effect=ask.effect,
        risk=ask.risk,
        claimed={"effect": body.effect, "risk": body.risk},
        passed=tuple(_passed(authority, asking.name, ask)),
        rule=None if terms is None else terms.rule,
        blocks=tuple(_blocks(authority, ask)),
        terms=() if terms is None else tuple(sentences(terms, limits)),
        refused=refused,
        deciders=tuple(sorted(deciders, key=lambda each: (not each.channels, each.id))),
        later=tuple(each.id for each in then if each.channels and each.id not in could),
    )


def _asked(authority: Authority, client: Client, body: Create, limits: Limits) -> Ask:
    issues = faults_in(body, limits)
    if body.input is UNSET and body.input_hash is UNSET:
        issues.append(Issue(path="/input", message="Give input, or input_hash."))
    if issues:
        raise InputInvalid(issues)
    held = body.input is not UNSET
    hash_of_input = binding.input_hash(canonicalize(body.input)) if held else str(body.input_hash)
    return ask_of(authority, client, body, client.name, hash_of_input, held=held)


def _passed(authority: Authority, client: str, ask: Ask) -> Iterator[Passed]:
    for rule in () if authority.policies is None else authority.policies.rules:
        if rule.is_for(authority.tenant, client, ask.capability, ask.surface):
            return
        yield Passed(rule=rule.name, why=mismatch(rule, authority.tenant, client, ask))


def _blocks(authority: Authority, ask: Ask) -> Iterator[Block]:
    policies = authority.policies
    rule = policies and policies.rule_for(authority.tenant, ask.asked_by, ask.capability, ask.surface)
    for number, block in enumerate(rule.stricter if rule else (), start=1):
        does, when = met(block, authority.claims(ask))
        yield Block(number=number, when=when, applies=does)


def _deciders(authority: Authority, ask: Ask, terms: Terms | None, tally: Tally) -> Iterator[Decider]:
    """Everybody whom the directory, a credential or a bridge knows."""
    members = [member.id for member in authority.people.of(authority.tenant)]
    bridged = [person_id for bridge in _bridges(authority) for person_id in bridge.people]
    for person_id in dict.fromkeys((*members, *authority.approvers, *bridged)):
        member = authority.people.member(authority.tenant, person_id)
        judged = [
            (voter, authority.judge_vote(voter, ask, Verdict.APPROVE, _COMMENT, tally))
            for voter in _ways_in(authority, person_id)
        ]
        channels = tuple(dict.fromkeys(voter.channel for voter, refusal in judged if refusal is None))
        voter, refusal = judged[0]
        yield Decider(
            id=person_id,
            name=voter.person.display_name,
            channels=channels,
            why_not=None if channels else _why_not(voter, refusal, terms),
            signs_in=person_id in authority.approvers or (member is not None and member.subjects != ()),
        )


def _bridges(authority: Authority) -> Iterator[Client]:
    return (client for client in authority.clients.values() if client.may(Scope.DECIDE_AS))


def _ways_in(authority: Authority, person_id: str) -> Iterator[Voter]:
    """A person as each way in makes them; their own credential first, as if they had one."""
    member = authority.people.member(authority.tenant, person_id)
    nobody_yet = Approver(tenant=authority.tenant, id=person_id)
    oneself = authority.voter(authority.approvers.get(person_id, nobody_yet))
    yield oneself
    yield structs.replace(oneself, channel=CHANNEL_WEB)
    if member is not None and member.slack:
        yield structs.replace(oneself, channel=CHANNEL_SLACK)
    for bridge in _bridges(authority):
        bridged = authority.voter(bridge, person_id)
        if person_id in bridge.people or not bridged.groups.isdisjoint(bridge.groups):
            yield bridged


def _why_not(voter: Voter, refusal: PlacetError | None, terms: Terms | None) -> str:
    """Why a person can't approve it, whichever way they come in."""
    if isinstance(refusal, ApprovalSelfApproval):
        return "on the asking side, under this name or another: the actor, whom it acts for, or an owner"
    match None if refusal is None or terms is None else refusal.details["reason"]:
        case ForbiddenReason.CHANNEL_NOT_ALLOWED if terms is not None and terms.step_up:
            return "has to sign in again first, and only the web can ask for that"
        case ForbiddenReason.CHANNEL_NOT_ALLOWED if terms is not None:
            return f"has no way in through {listed(terms.channels, 'or')}"
        case ForbiddenReason.DECISION_NOT_ALLOWED:
            return "the request does not let itself be approved"
        case _ if terms is not None and terms.quorum > 1 and not voter.is_member:
            return "not in the directory, and where it takes more than one person only its people count"
        case _:
            return "not among the approvers"
