"""The card on a terminal: what :mod:`placet.domain.presentation` says, in lines and colours.

Nothing is decided here about what an approver sees. Every text comes visible and without control characters;
lines are wrapped here, so that none of it can begin where a line of ours does.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from placet.cli.console import Ink, Terminal
from placet.cli.layout import columns_of, wrap
from placet.cli.record import Event, Record
from placet.cli.sheet import MARGIN, Sheet
from placet.cli.tree import MARK_INKS
from placet.domain.durations import duration
from placet.domain.presentation import (
    COLUMNS_MIN,
    Budget,
    DeadlineKind,
    Decided,
    Edits,
    Level,
    deadline,
    present,
)
from placet.domain.presentation import Card as Contents
from placet.domain.text import visible

LINES_MAX: Final = 60
"""Lines of an input that are shown before it is cut, unless all are asked for."""
_TEXT_CHARS_MAX: Final = 4_000
_GAP: Final = "  "
_MOMENT: Final = "%Y-%m-%d %H:%M:%S"

STATUS_INKS: Mapping[str, tuple[Ink, ...]] = MappingProxyType(
    {
        "pending": (Ink.YELLOW, Ink.BOLD),
        "approved": (Ink.GREEN, Ink.BOLD),
        "consumed": (Ink.CYAN,),
        "rejected": (Ink.RED,),
        "expired": (Ink.DIM,),
        "cancelled": (Ink.DIM,),
    }
)
ALARMING: Final = frozenset({"high", "critical", "destructive", "external"})
"""Risks and effects that are shown in red."""


class Card(Struct, frozen=True, kw_only=True):
    """A rendered card.

    Attributes:
        lines: All of it.
        warnings: Those of its lines that say where something could mislead, for whoever has scrolled on.
        was_cut: Not all is on it.
    """

    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    was_cut: bool


def render(record: Record, terminal: Terminal, *, now_ms: int, full: bool = False) -> Card:
    """Render a card for a terminal.

    Args:
        record: What to show.
        terminal: Where; gives width and colours.
        now_ms: The service's present, for the countdown.
        full: Show everything to its end, however long.
    """
    card, sheet = present(record, _budget(terminal, full=full)), Sheet(terminal)
    warnings = [line for hazard in card.hazards for line in sheet.warning(hazard.sentence)]
    who = f"client {card.asked_by}" + (f", to be run by {card.audience}" if card.audience else "")
    lines = [
        *_head(card, terminal, when(record, now_ms)),
        "",
        *sheet.field("Asked by", who),
        *sheet.field("Actor", card.actor.text),
        *sheet.field("Effect", card.effect.text, *_alarm(card.effect)),
        *sheet.field("Risk", card.risk.text, *_alarm(card.risk)),
        *sheet.listing("On behalf of", card.on_behalf_of),
        *sheet.listing("Why", card.reasons),
        *sheet.field("Types", ", ".join(card.types.items), mark=card.types.mark),
        *sheet.field("Surface", card.surface or ""),
        *sheet.field("Run", card.run or ""),
        *sheet.field("Rule", (card.rule or "") if card.policy else ""),
        "",
        *_input(card, sheet),
        *sheet.section("Context", [] if card.context is None else sheet.tree(card.context.root)),
        *sheet.section("Changed by an approver", [] if card.edits is None else changed(card.edits, sheet)),
        *sheet.section("The runtime's own words", sheet.quote(card.quoted.lines)),
        *([""] if warnings else []),
        *warnings,
        "",
        *sheet.field("Approvals", card.quorum.text),
        *(line for vote in card.decided for line in _vote(vote, sheet)),
        *sheet.field("", f"⟨cut: {card.decided_missing:,} earlier⟩" if card.decided_missing else ""),
        *sheet.field("Then", card.follows if card.dies else ""),
        *sheet.field("Used", _used(card)),
        *_outcome(card, sheet),
        *sheet.field("Id", card.id),
        *sheet.field("Digest", card.digest or "(not shown to this credential)"),
    ]
    return Card(lines=tuple(lines), warnings=tuple(warnings), was_cut=card.was_cut)


def trail(events: Sequence[Event], terminal: Terminal) -> list[str]:
    """The lines of an audit trail."""
    lines = [terminal.paint("Trail", Ink.BOLD) + terminal.paint("  (UTC)", Ink.DIM)]
    for event in events:
        by = visible(event.by) + (f" ({visible(event.channel)})" if event.channel else "")
        reason = f" ({visible(event.reason)})" if event.reason else ""
        code = f"  {visible(event.code)}{reason}" if event.code else ""
        count = f"  {event.count} times" if event.count > 1 else ""
        text = f"{event.at:{_MOMENT}}  {visible(event.type).ljust(9)}  by {by}{code}{count}"
        lines += wrap(text, terminal.width, first="  ", rest="      ")
    return lines


def when(record: Record, now_ms: int) -> str:
    """The countdown to what happens next by itself, or nothing."""
    dies = deadline(record)
    if dies is None:
        return ""
    words = "expires in" if dies.kind is DeadlineKind.QUESTION else "usable for"
    return f"{words} {duration(dies.left_ms(now_ms))}"


def _budget(terminal: Terminal, *, full: bool) -> Budget:
    columns = max(terminal.width - len(MARGIN), COLUMNS_MIN)
    if full:
        return Budget.boundless(columns=columns, cost=columns_of)
    return Budget(
        lines=LINES_MAX, columns=columns, text_chars=_TEXT_CHARS_MAX, whole_view=True, cost=columns_of
    )


def _head(card: Contents, terminal: Terminal, left: str) -> list[str]:
    status = card.status.upper()
    shown = terminal.paint(status, *STATUS_INKS.get(card.status, ()))
    countdown = terminal.paint(left, Ink.YELLOW if card.status == "pending" else Ink.DIM)
    blank = terminal.width - columns_of(status + card.capability + left) - len(_GAP)
    if blank < len(_GAP):
        return [f"{shown}{_GAP}{countdown}", *wrap(card.capability, terminal.width)]
    return [f"{shown}{_GAP}{terminal.paint(card.capability, Ink.BOLD)}{' ' * blank}{countdown}"]


def _alarm(level: Level) -> tuple[Ink, ...]:
    return (Ink.RED, Ink.BOLD) if level.severity.is_alarming else ()


def _input(card: Contents, sheet: Sheet) -> list[str]:
    head, shown = sheet.titled("Input", card.input.words, Ink.YELLOW), card.input.tree
    if shown is None:
        return head
    mark = f"{MARGIN}… cut here: not all of it is shown ({shown.size_bytes:,} bytes in all); --full shows it"
    return [*head, *sheet.tree(shown.root), *([sheet.paint(mark, *MARK_INKS)] if shown.was_cut else [])]


def changed(edits: Edits, sheet: Sheet) -> list[str]:
    """Place by place: what was stands behind a minus, what is behind a plus."""
    lines: list[str] = []
    for change in edits.changes:
        lines += sheet.item(f"{change.kind} {change.path or '(the whole input)'}")
        lines += sheet.signed("-", Ink.RED, change.before) + sheet.signed("+", Ink.GREEN, change.after)
    return lines + ([sheet.paint(MARGIN + edits.mark, *MARK_INKS)] if edits.mark else [])


def _vote(vote: Decided, sheet: Sheet) -> Iterator[str]:
    through = f" (sent by {vote.submitted_by})" if vote.submitted_by else ""
    at = "" if vote.at_ms is None else f" on {datetime.fromtimestamp(vote.at_ms // 1000, UTC):{_MOMENT}} UTC"
    late = "".join(f", {words}" for words in (vote.signed_in, vote.why_not) if words)
    return sheet.told("", f"{vote.words} by {vote.who} via {vote.channel}{through}{at}{late}", vote.comment)


def _used(card: Contents) -> str:
    return "" if card.used is None else f"by {card.used.client}, execution {card.used.execution_id}"


def _outcome(card: Contents, sheet: Sheet) -> Iterator[str]:
    if card.outcome is None:
        return sheet.field("Outcome", "not reported yet" if card.used else "")
    return sheet.told("Outcome", card.outcome.status, card.outcome.summary)
