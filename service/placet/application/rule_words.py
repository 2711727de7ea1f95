"""Rules in plain words: terms as sentences, and why a rule or a block is for a request or not."""

from collections.abc import Collection, Iterator
from typing import Final

from placet.domain.authority import may_edit
from placet.domain.durations import spell
from placet.domain.limits import Limits
from placet.domain.model import Ask, Verdict
from placet.domain.patterns import Names, matches
from placet.domain.rules import (
    Approvers,
    Claims,
    CommentRule,
    EditRule,
    Escalation,
    Rule,
    Stricter,
    Terms,
    When,
    applies,
)

_COMMENTS: Final = {
    CommentRule.NEVER: "No decision needs a comment.",
    CommentRule.ON_REJECT: "Whoever rejects it says why.",
    CommentRule.ALWAYS: "Each decision needs a comment.",
}
_EDITS: Final = {
    EditRule.NO: "It can't be approved with changes.",
    EditRule.YES: "It can be approved with changes, which others then approve.",
    EditRule.COUNTS: "It can be approved with changes, which count as their author's approval; never as the "
    "only one where the call is destructive, external, or of high or critical risk.",
}
_NOT_LISTED: Final = (
    "The rule lets it be approved with changes, and the request does not: for that it has to list "
    '"edit" in allowed_decisions.'
)
_NOT_SEEN: Final = (
    "The rule lets it be approved with changes, and the request does not: nobody changes an input that is "
    "withheld or redacted."
)


def sentences(terms: Terms, limits: Limits, ask: Ask | None = None) -> Iterator[str]:
    """What terms say, the most important first; of changes, what they say of this request."""
    yield _decides(terms)
    yield _rejects(terms.rejections)
    channels = "any channel" if terms.channels is None else listed(terms.channels, "or")
    yield f"They decide through {channels}."
    if terms.step_up:
        yield "Whoever approves it has just signed in again."
    yield _COMMENTS[terms.comment]
    default_ms, most_ms = terms.expires_in_ms
    most_ms = limits.expires_in_max_ms if most_ms is None else most_ms
    default_ms = min(limits.expires_in_default_ms if default_ms is None else default_ms, most_ms)
    yield f"The question waits {spell(default_ms)} unless asked for longer, {spell(most_ms)} at most."
    yield _used(terms, limits)
    yield _EDITS[terms.edit] if ask is None else _edits(terms, ask)
    if terms.self_approval:
        yield "A person who acts in their own name may confirm it themselves."
    if terms.hidden_input:
        yield "Its input may be withheld, unless it is destructive, external, or of high or critical risk."
    if terms.escalation is not None:
        yield f"After {spell(terms.escalation.after_ms)} {_escalated(terms.escalation)}."
    if terms.tell:
        yield f"Told of it: {', '.join(terms.tell)}."


def _escalated(escalation: Escalation) -> str:
    if escalation.gives_up:
        return "it is over"
    told = f"; told of it then: {', '.join(escalation.tell)}" if escalation.tell else ""
    return f"the groups {listed(escalation.groups, 'and')} may decide it too{told}"


def mismatch(rule: Rule, tenant: str, client: str, ask: Ask) -> str:
    """Why a rule is not for a request: the first of what it names that does not match."""
    named = {
        Names.TENANTS: (tenant, rule.tenants),
        Names.CLIENTS: (client, rule.clients),
        Names.CAPABILITIES: (ask.capability, rule.capabilities),
        Names.SURFACES: (ask.surface, rule.surfaces),
    }
    for names, (name, patterns) in named.items():
        if not matches(name, patterns):
            return f"its {names} ({', '.join(patterns)}) are not for {name or 'an unnamed client'}"
    raise AssertionError  # pragma: no cover - asked only of rules that don't match


def met(block: Stricter, claims: Claims) -> tuple[bool, str]:
    """Whether a block applies, and when it does."""
    return applies(block.when, claims), f"where {_conditions(block.when)}"


def listed(names: Collection[str] | None, word: str) -> str:
    """Names as a sentence has them."""
    *others, last = sorted(names or ("nobody",))
    return f"{', '.join(others)} {word} {last}" if others else last


def _decides(terms: Terms) -> str:
    among = "; and ".join(map(_among, terms.approvers)) or "is any approver of the tenant"
    if terms.quorum == 1:
        return f"One person approves it, who {among}."
    return f"{terms.quorum} different people of the directory approve it, each of whom {among}."


def _among(approvers: Approvers) -> str:
    parts = []
    if approvers.groups:
        parts.append(
            f"in {'group' if len(approvers.groups) == 1 else 'one of the groups'} "
            f"{listed(approvers.groups, 'or')}"
        )
    if approvers.people:
        parts.append(listed(approvers.people, "or"))
    return f"is {', or '.join(parts)}"


def people(count: int) -> str:
    """So many of them."""
    return "1 person" if count == 1 else f"{count} people"


def _rejects(count: int) -> str:
    if count == 1:
        return "One of them is enough to reject it."
    return f"It takes {count} different people of them to reject it."


def _edits(terms: Terms, ask: Ask) -> str:
    if terms.edit is EditRule.NO:
        return _EDITS[terms.edit]
    if Verdict.EDIT not in ask.allowed_decisions:
        return _NOT_LISTED
    return _EDITS[terms.edit] if may_edit(ask, terms) else _NOT_SEEN


def _used(terms: Terms, limits: Limits) -> str:
    default_ms, most_ms = terms.use_within_ms
    if default_ms is None and most_ms is None:
        longest = spell(limits.use_within_max_ms)
        return f"A grant is used within the time of the question, or as asked, {longest} at most."
    most_ms = limits.use_within_max_ms if most_ms is None else most_ms
    usual_ms = most_ms if default_ms is None else default_ms
    return f"A grant is used within {spell(usual_ms)} unless asked otherwise, {spell(most_ms)} at most."


def _conditions(when: When) -> str:
    parts = []
    if when.risk:
        parts.append(f"risk is {min(when.risk, key=lambda risk: risk.rank)} or above")
    if when.effect:
        parts.append(f"effect is {listed(when.effect, 'or')}, or above")
    if when.types:
        parts.append(f"types name {listed(when.types, 'or')}")
    if when.actor_kind:
        parts.append(f"the actor is of kind {listed(when.actor_kind, 'or')}")
    return " and ".join(parts)
