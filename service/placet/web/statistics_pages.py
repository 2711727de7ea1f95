"""The page of statistics: numbers, charts with the same numbers as tables, and who approved too fast."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from placet.application.sessions import Session
from placet.application.statistics import Counted
from placet.domain.counts import Decisions
from placet.domain.facts import Ending
from placet.domain.statistics import Day, Statistics, TooFast
from placet.domain.statistics_words import (
    called,
    classes,
    date_of,
    day_of,
    ended,
    endings,
    hasty,
    percent,
    time_of,
    took,
)
from placet.domain.text import visible
from placet.web.charts import Chart, Stack, columns, rows
from placet.web.pages import who
from placet.web.render import render

DAYS: Final = (7, 30)
"""Of how many days statistics are."""
WARNED_MAX: Final = 3
"""Runs that are told of above all else; the older ones wait to be asked for."""
LINKS_MAX: Final = 20
"""Approvals of one run that there are links to."""
KINDS: Final = ("approved", "rejected", "changed")
"""How decisions are drawn."""
DECISIONS: Final = ("Approved", "Rejected", "Changed")
_WEEK: Final = 7
_MONDAY: Final = 0
_EXPIRED: Final = frozenset({Ending.UNANSWERED, Ending.UNUSED})


class Warned(Struct, frozen=True, kw_only=True):
    """Somebody who approved too fast, as it is said; of ``more`` of what they approved there is no link."""

    name: str
    words: str
    from_ms: int
    approvals: Sequence[str]
    more: int


class Line(Struct, frozen=True, kw_only=True):
    """A line of a table."""

    name: str
    cells: Sequence[str | int]


class Table(Struct, frozen=True, kw_only=True):
    """A table: what it is of, the heads of its columns, and how many lines more there would be."""

    title: str
    heads: Sequence[str]
    lines: Sequence[Line]
    more: int = 0


class Figure(Struct, frozen=True, kw_only=True):
    """A chart, what it comes to in a sentence, and its numbers once more as a table."""

    words: str
    chart: Chart
    table: Table


def statistics(session: Session, counted: Counted, days: int) -> bytes:
    """The page."""
    found = counted.statistics
    warned = [_warned(session, each) for each in found.too_fast]
    return render(
        "statistics.html",
        session=who(session),
        here="statistics",
        choices=DAYS,
        days=days,
        span=f"{date_of(found.from_ms)} to {date_of(found.to_ms)}",
        counted=counted,
        is_empty=not (found.asked or found.decisions.total or found.endings.total),
        numbers=_numbers(found),
        warned=warned[:WARNED_MAX],
        warned_before=warned[WARNED_MAX:],
        per_day=_per_day(found),
        took=_took(found),
        ended=_ended(found),
        capabilities=_capabilities(found),
        people=_people(found),
    )


def _numbers(found: Statistics) -> Sequence[tuple[str, str | int]]:
    return (
        ("Asked", found.asked),
        ("Decisions", found.decisions.total),
        ("Median time to decide", time_of(found.took.median_ms)),
        ("Nine of ten decided within", time_of(found.took.p90_ms)),
        ("Expired, of what ended", percent(found.endings)),
        ("Waiting now", found.waiting),
    )


def _warned(session: Session, too_fast: TooFast) -> Warned:
    haste = too_fast.haste
    viewer = session.caller.authority.voter(session.caller.principal).person
    shown = tuple(dict.fromkeys(haste.approval_ids))[:LINKS_MAX]
    return Warned(
        name="You" if viewer.id == too_fast.person.id else called(too_fast.person),
        words=hasty(haste),
        from_ms=haste.from_ms,
        approvals=shown,
        more=len(set(haste.approval_ids)) - len(shown),
    )


def _per_day(found: Statistics) -> Figure:
    total, is_week = found.decisions, len(found.days) <= _WEEK
    words = (
        f"{total.total} in {len(found.days)} days: {total.approved} approved, {total.rejected} rejected, "
        f"{total.changed} approved with changes."
    )
    lines = [Line(name=day_of(day.from_ms), cells=_cells(day.decisions)) for day in found.days]
    stacks = [_stack(day, is_week=is_week) for day in found.days]
    return Figure(
        words=words,
        chart=columns(_label("Decisions per day", words), stacks, tells_all=is_week),
        table=Table(title="Decisions per day", heads=("Day", *DECISIONS, "All"), lines=lines),
    )


def _stack(day: Day, *, is_week: bool) -> Stack:
    """A day as a column: each of a week is named, of a month the Mondays are."""
    at = datetime.fromtimestamp(day.from_ms // 1000, UTC)
    counts = zip(KINDS, _cells(day.decisions), strict=False)
    if is_week:
        return Stack(counts=tuple(counts), lines=(f"{at:%a}", str(at.day)))
    return Stack(counts=tuple(counts), lines=(f"{at.day} {at:%b}",) if at.weekday() == _MONDAY else ())


def _took(found: Statistics) -> Figure:
    title, words = "Time to decide", took(found.took)
    counts = classes(found)
    lines = [Line(name=name, cells=(count,)) for name, count in counts]
    return Figure(
        words=words,
        chart=rows(_label(title, words), [(name, "plain", count) for name, count in counts]),
        table=Table(title=title, heads=("Took", "Questions"), lines=lines),
    )


def _ended(found: Statistics) -> Figure:
    title, words = "How questions ended", ended(found.endings)
    counts = endings(found.endings)
    bars = [(name, "expired" if how in _EXPIRED else "plain", count) for how, name, count in counts]
    lines = [Line(name=name, cells=(count,)) for _, name, count in counts]
    return Figure(
        words=words,
        chart=rows(_label(title, words), bars),
        table=Table(title=title, heads=("Ended", "Questions"), lines=lines),
    )


def _label(title: str, words: str) -> str:
    return f"{title}, as bars. {words} The table below has each number."


def _capabilities(found: Statistics) -> Table:
    lines = [
        Line(
            name=visible(each.capability),
            cells=(*_cells(each.decisions)[:-1], time_of(each.took.median_ms), percent(each.endings)),
        )
        for each in found.by_capability
    ]
    heads = ("Capability", *DECISIONS, "Median", "Expired")
    return Table(title="By capability", heads=heads, lines=lines, more=found.left.capabilities)


def _people(found: Statistics) -> Table:
    lines = [
        Line(name=called(each.person), cells=(*_cells(each.decisions)[:-1], time_of(each.took.median_ms)))
        for each in found.by_person
    ]
    heads = ("Person", *DECISIONS, "Median")
    return Table(title="By person", heads=heads, lines=lines, more=found.left.people)


def _cells(of: Decisions) -> tuple[int, ...]:
    """How many of each kind, and together."""
    return (of.approved, of.rejected, of.changed, of.total)
