"""Explain: what the rules make of a request, and who could decide it as things stand.

It asks the very functions that judge requests and votes, so that it can't say anything else than they do.
"""

from collections.abc import Iterator, Mapping

from msgspec import UNSET, Struct, structs

from placet.application.asking import ask_of, faults_in
from placet.application.commands import Create
from placet.application.deciders import Decider, Deciders
from placet.application.rule_words import met, mismatch, sentences
from placet.domain import binding
from placet.domain.authority import Authority
from placet.domain.canonical import canonicalize
from placet.domain.error_terms import ForbiddenReason, Issue
from placet.domain.errors import Forbidden, InputInvalid
from placet.domain.limits import Limits
from placet.domain.model import Ask
from placet.domain.principals import Client, Scope

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
        stuck: Why it could be asked and never approved; ``None`` where it could be.
        lacking: What it still takes where it could be approved, and not as things stand; else ``None``.
        deciders: Everybody who is known, those first who could approve it as things stand.
        later: Those who could besides, once it has escalated.
        strangers: Groups that are enough where only an issuer knows who is in them.
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
    stuck: str | None
    lacking: str | None
    deciders: tuple[Decider, ...]
    later: tuple[str, ...]
    strangers: tuple[str, ...]


def explain(
    authority: Authority, client: str | None, body: Create, limits: Limits, *, looked_up: bool = True
) -> Explanation:
    """What the rules make of a request of ``client``.

    Args:
        authority: The rules, the directory, and who has a credential.
        client: Who asks; ``None`` for any client that no rule names.
        body: What.
        limits: The service's bounds.
        looked_up: Whether credentials are known; if not, everybody is taken to have one.

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
    if terms is not None:  # as it comes out today
        terms = structs.replace(terms, step_up=authority.steps_up(ask, terms))
    found = Deciders(authority, ask, terms, looked_up=looked_up)
    asked = terms is not None and refused is None
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
        terms=() if terms is None else tuple(sentences(terms, limits, ask)),
        refused=refused,
        stuck=found.stuck() if asked else None,
        lacking=found.lacking() if asked else None,
        deciders=tuple(sorted(found.now, key=lambda each: (not each.channels, not each.would, each.id))),
        later=tuple(each.id for each in found.later),
        strangers=found.strangers,
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
