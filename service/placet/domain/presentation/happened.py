"""What happened to an approval, line by line, in words: the trail as people read it."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import UNSET, Struct

from placet.domain.events import SYSTEM, EventType
from placet.domain.model import TrailEntry
from placet.domain.presentation import phrases
from placet.domain.presentation.budget import Budget
from placet.domain.presentation.card import Card
from placet.domain.presentation.writing import Writer

_OF_VOTES: Final = frozenset({EventType.VOTED, EventType.EDITED, EventType.APPROVED, EventType.REJECTED})


class Happening(Struct, frozen=True, kw_only=True):
    """A line of it.

    Attributes:
        type: The trail's term.
        words: What was done: ``approved``.
        by: By whom, by id; empty where it came by itself.
        name: And by name, where that is known.
        channel: Through what, where that is known.
        more: What else there is to say, to stand behind all that.
        lines: The runtime's own words of the outcome.
        at_ms: When; None where it happened more than once.
    """

    type: str
    words: str
    by: str
    name: str | None
    channel: str | None
    more: str
    lines: tuple[str, ...]
    at_ms: int | None


class Happenings(Struct, frozen=True, kw_only=True):
    """All of it, in order; of a long trail how it was asked and the latest lines.

    Attributes:
        items: The lines.
        missing: How many were left out behind the first of them.
    """

    items: tuple[Happening, ...]
    missing: int

    @property
    def mark(self) -> str:
        """What to write where some are missing; else nothing."""
        return f"⟨cut: {self.missing:,} in between⟩" if self.missing else ""


def happened(trail: Sequence[TrailEntry], card: Card, budget: Budget) -> Happenings:
    """Tell a trail.

    Args:
        trail: Its lines, in order.
        card: Of the same record, as whoever looks may see it.
        budget: The room there is.
    """
    writer = Writer(budget)
    kept = [*trail[:1], *trail[1:][-budget.items :]]
    names = {vote.person: vote.name for vote in card.decided}
    return Happenings(
        items=tuple(_told(entry, card, names, writer) for entry in kept),
        missing=len(trail) - len(kept),
    )


def _told(entry: TrailEntry, card: Card, names: Mapping[str, str | None], writer: Writer) -> Happening:
    by = "" if entry.by == SYSTEM else writer.text(entry.by)
    reported = card.outcome if entry.type == EventType.REPORTED else None
    is_counted = entry.count is not UNSET
    return Happening(
        type=writer.text(entry.type),
        words=_words(entry, writer),
        by=by,
        # A client may have the name of a person: only who has decided is one for sure.
        name=None if entry.decision is UNSET else names.get(by),
        channel=None if entry.channel is UNSET else writer.text(entry.channel),
        more=reported.status if reported else _more(entry, writer),
        lines=reported.summary if reported else (),
        at_ms=None if is_counted else entry.at_ms,  # counted ones stand without the times they came at
    )


def _words(entry: TrailEntry, writer: Writer) -> str:
    if entry.type in _OF_VOTES and entry.decision is not UNSET:
        return phrases.VERDICTS[entry.decision]
    return phrases.EVENTS.get(entry.type) or writer.text(entry.type)


def _more(entry: TrailEntry, writer: Writer) -> str:
    if entry.type == EventType.VOTED:
        return phrases.MORE_DECIDE
    if entry.type == EventType.EDITED:
        return phrases.OTHERS_APPROVE
    if entry.target is not UNSET:
        why_not = "" if entry.error is UNSET else f" ({entry.error})"
        return f"{writer.text(entry.target)}{why_not}"
    if entry.code is UNSET:
        return ""
    reason = "" if entry.reason is UNSET else f" ({writer.text(entry.reason)})"
    count = "" if entry.count is UNSET else f", {entry.count:,} more"
    return f"{writer.text(entry.code)}{reason}{count}"
