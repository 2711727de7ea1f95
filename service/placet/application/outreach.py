"""Whom to tell of what happened to an approval: rules, endpoints and people, turned into targets (design §9).

1. Chat channels and people hear of a question while it waits, as its rule says; whoever was told once hears
   of everything after that, too.
2. An endpoint hears of what its filters let through, and of what a rule tells it.
3. Once a question has waited for as long as its rule says, whoever may decide it then is told as well: the
   channels that the rule names for that, else the people of those groups, as far as a chat knows them and
   they are not on the asking side.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from placet.application.callers import Snapshot
from placet.domain.deliveries import SLACK, WEBHOOK
from placet.domain.events import EventType
from placet.domain.model import Approval, Ask, Status
from placet.domain.people import Member
from placet.domain.principals import Approver
from placet.domain.rules import Escalation, Terms
from placet.domain.voters import CHANNEL_SLACK

REMIND_PART: Final = 4
"""A reminder comes when this part of the time, a quarter, is left; or the time below, where that is less."""
REMIND_MAX_MS: Final = 3_600_000
REMIND_FROM_MS: Final = 240_000
"""A question that waits for less is not reminded of."""

_CHANNEL: Final = "#"
_PERSON: Final = "@"


class Wanted(Struct, frozen=True, kw_only=True):
    """What is to be done about a transition.

    Attributes:
        targets: Who is to be told, in order.
        timers: What is to happen if the question still waits at a time (Unix milliseconds).
    """

    targets: tuple[str, ...]
    timers: Mapping[EventType, int]

    @property
    def is_nothing(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.targets or self.timers)


def wanted(snapshot: Snapshot, approval: Approval, event: str) -> Wanted:
    """Whom to tell of a transition of an approval.

    Args:
        snapshot: Who and what there is in its tenant.
        approval: As it is now.
        event: The type of the transition.
    """
    terms = snapshot.authority.terms(approval.ask)
    told = {each.target for each in approval.deliveries}
    before = (each for each in told if each.startswith(f"{SLACK}:"))
    hooks = _endpoints(snapshot, approval, event)
    found = tuple(dict.fromkeys((*sorted((*before, *chats(snapshot, approval))), *hooks)))
    is_new = event == EventType.REQUESTED and approval.status is Status.PENDING
    return Wanted(targets=found, timers=_timers(approval, terms, told=bool(found)) if is_new else {})


def by_rule(snapshot: Snapshot, approval: Approval) -> tuple[str, ...]:
    """Those whom the rule of now names, as it spells them, for as long as it has waited."""
    terms = snapshot.authority.terms(approval.ask)
    if terms is None:
        return ()
    escalation = terms.escalation
    return (*terms.tell, *(escalation.tell if escalation and _has_escalated(approval, escalation) else ()))


def _has_escalated(approval: Approval, escalation: Escalation) -> bool:
    waited_ms = approval.now_ms - approval.requested_at_ms
    return not escalation.gives_up and waited_ms >= escalation.after_ms


def chats(snapshot: Snapshot, approval: Approval) -> tuple[str, ...]:
    """The chats that a question is to be shown in, as the rules of now have it; none once it has ended."""
    terms = snapshot.authority.terms(approval.ask)
    if terms is None or approval.status is not Status.PENDING:
        return ()
    return tuple(_chats(snapshot, approval, terms))


def _chats(snapshot: Snapshot, approval: Approval, terms: Terms) -> Iterator[str]:
    yield from _named(snapshot, terms.tell)
    escalation = terms.escalation
    if escalation is not None and _has_escalated(approval, escalation):
        yield from _called(snapshot, approval.ask, escalation)


def _called(snapshot: Snapshot, ask: Ask, escalation: Escalation) -> Iterator[str]:
    if escalation.tell:
        yield from _named(snapshot, escalation.tell)
        return
    authority = snapshot.authority
    for member in authority.people.of(authority.tenant):
        voter = authority.voter(Approver(tenant=authority.tenant, id=member.id), channel=CHANNEL_SLACK)
        if not escalation.groups.isdisjoint(member.groups) and not authority.is_requester(voter, ask):
            yield from _conversations(snapshot, member)


def _named(snapshot: Snapshot, names: Iterable[str]) -> Iterator[str]:
    """The targets of those that a rule names in chats. What there is none of is the operator's to be told."""
    authority = snapshot.authority
    for name in names:
        kind, _, whom = name.partition(":")
        if kind != SLACK:
            continue
        if whom.startswith(_PERSON):
            member = authority.people.member(authority.tenant, whom.removeprefix(_PERSON))
            yield from _conversations(snapshot, member)
            continue
        for app in snapshot.slack.values():
            channel = app.channels.get(whom.removeprefix(_CHANNEL)) if whom.startswith(_CHANNEL) else whom
            if channel is not None:
                yield f"{SLACK}:{app.team}:{channel}"
                break


def _conversations(snapshot: Snapshot, member: Member | None) -> Iterator[str]:
    for user in () if member is None else member.slack:
        if user.team in snapshot.slack:
            yield f"{SLACK}:{user.team}:{user.user}"


def _endpoints(snapshot: Snapshot, approval: Approval, event: str) -> Iterator[str]:
    ruled = by_rule(snapshot, approval)
    for endpoint in snapshot.endpoints.values():
        target = f"{WEBHOOK}:{endpoint.name}"
        is_for = not endpoint.by_rule and endpoint.hears_of(approval.ask.capability, approval.ask.asked_by)
        if (is_for or target in ruled) and endpoint.hears(event):
            yield target
    if event == EventType.REQUESTED:  # a name that nobody has is told of as a delivery that fails
        known = {f"{WEBHOOK}:{name}" for name in snapshot.endpoints}
        yield from (name for name in ruled if name.startswith(f"{WEBHOOK}:") and name not in known)


def _timers(approval: Approval, terms: Terms | None, *, told: bool) -> Mapping[EventType, int]:
    timers: dict[EventType, int] = {}
    escalation = None if terms is None else terms.escalation
    if escalation is not None and not escalation.gives_up:
        at_ms = approval.requested_at_ms + escalation.after_ms
        if at_ms < approval.expires_at_ms:
            timers[EventType.ESCALATED] = at_ms
    waits_ms = approval.expires_at_ms - approval.requested_at_ms
    if told and waits_ms >= REMIND_FROM_MS:
        timers[EventType.REMINDED] = approval.expires_at_ms - min(waits_ms // REMIND_PART, REMIND_MAX_MS)
    return timers
