"""Statistics on a terminal: sentences, tables, and bars of characters."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from placet.application.rulings import rfc3339
from placet.cli.console import Ink, Terminal
from placet.cli.layout import GAP, Column, blocks, columns_of
from placet.domain.counts import Decisions
from placet.domain.statistics import Statistics
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

LINES_MAX: Final = 25
"""Capabilities, people and runs that are shown; ``--json`` has them all."""
_BAR_COLUMNS: Final = 40
_BAR_LEAST: Final = 8
"""Shorter bars than this would say nothing."""
_FILLS: Final = (("█", Ink.GREEN), ("▒", Ink.RED), ("░", Ink.YELLOW))
"""Of decisions of each kind, which differ without colours too."""
_DECISIONS: Final = ("APPROVED", "REJECTED", "CHANGED")
_SHORT: Final = 16
"""Columns that a long name may be narrowed to."""

Bars = Sequence[Sequence[int]]


def lines(tenant: str, found: Statistics, out: Terminal) -> Iterator[str]:
    """All that there is to say of a tenant."""
    days = f"{date_of(found.from_ms)} to {date_of(found.to_ms)}, days of UTC"
    yield from out.wrapped(f"Tenant {visible(tenant)}: {days}.")
    yield from _too_fast(found, out)
    for sentence in (_asked(found), took(found.took), ended(found.endings)):
        yield from out.wrapped(sentence)
    yield ""
    yield from _per_day(found, out)
    yield ""
    yield from _counted("TOOK", classes(found), out)
    yield ""
    yield from _counted("ENDED", [(name, count) for _, name, count in endings(found.endings)], out)
    yield from _by_capability(found, out)
    yield from _by_person(found, out)


def _asked(found: Statistics) -> str:
    of = found.decisions
    return (
        f"{found.asked:,} asked, {found.waiting:,} waiting now; {of.total:,} decisions: "
        f"{of.approved:,} approved, {of.rejected:,} rejected, {of.changed:,} approved with changes."
    )


def _too_fast(found: Statistics, out: Terminal) -> Iterator[str]:
    for each in found.too_fast[:LINES_MAX]:
        when = f"from {rfc3339(each.haste.from_ms)} on"
        words = f"{called(each.person)} approved {hasty(each.haste)}, {when}: too fast to have read them."
        yield from out.marked(Ink.YELLOW, words)
    yield from _more(len(found.too_fast) - LINES_MAX, "such runs")


def _per_day(found: Statistics, out: Terminal) -> Iterator[str]:
    rows = [(day_of(day.from_ms), *_cells(day.decisions)) for day in found.days]
    titles = [f"{title} {fill}" for title, (fill, _) in zip(_DECISIONS, _FILLS, strict=True)]
    bars = [(day.decisions.approved, day.decisions.rejected, day.decisions.changed) for day in found.days]
    yield from _barred(("DAY", *titles), rows, bars, out)


def _counted(title: str, counts: Sequence[tuple[str, int]], out: Terminal) -> Iterator[str]:
    rows = [(name, f"{count:,}") for name, count in counts]
    yield from _barred((title, "QUESTIONS"), rows, [(count,) for _, count in counts], out)


def _by_capability(found: Statistics, out: Terminal) -> Iterator[str]:
    rows = [
        (
            visible(each.capability),
            *_cells(each.decisions),
            time_of(each.took.median_ms),
            percent(each.endings),
        )
        for each in found.by_capability
    ]
    yield from _named(("CAPABILITY", *_DECISIONS, "MEDIAN", "EXPIRED"), rows, out, "capabilities")


def _by_person(found: Statistics, out: Terminal) -> Iterator[str]:
    rows = [
        (called(each.person), *_cells(each.decisions), time_of(each.took.median_ms))
        for each in found.by_person
    ]
    yield from _named(("PERSON", *_DECISIONS, "MEDIAN"), rows, out, "people")


def _named(titles: Sequence[str], rows: Sequence[Sequence[str]], out: Terminal, what: str) -> Iterator[str]:
    if rows:
        yield ""
        yield from chain.from_iterable(_table(titles, rows[:LINES_MAX], out))
        yield from _more(len(rows) - LINES_MAX, what)


def _more(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"And {count:,} more {what}: --json has them all."


def _barred(titles: Sequence[str], rows: Sequence[Sequence[str]], bars: Bars, out: Terminal) -> Iterator[str]:
    """A table with a bar behind each row that takes one line and leaves room for one."""
    head, *below = _table(titles, rows, out)
    yield from head
    room = min(_BAR_COLUMNS, out.width - max(map(columns_of, chain.from_iterable(below))) - len(GAP))
    most = max(map(sum, bars))
    for (*others, last), counts in zip(below, bars, strict=True):
        yield from others
        yield f"{last}{GAP}{'' if others else _bar(counts, most, room, out)}".rstrip()


def _bar(counts: Sequence[int], most: int, room: int, out: Terminal) -> str:
    """As long as the counts together, never longer than there is room; what there is at all can be seen."""
    total = sum(counts)
    if not total or room < _BAR_LEAST:
        return ""
    lengths = [max(room * count // most, 1) if count else 0 for count in counts]
    # Small ones are rounded up, at the cost of the greatest.
    longest = lengths.index(max(lengths))
    lengths[longest] += max(room * total // most, sum(map(bool, counts))) - sum(lengths)
    parts = zip(lengths, _FILLS, strict=False)
    return "".join(out.paint(fill * length, ink) for length, (fill, ink) in parts)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], out: Terminal) -> list[list[str]]:
    """The lines of the heads and of each row: names to the left, numbers to the right of their columns."""
    widths = [max(map(columns_of, column)) for column in zip(titles, *rows, strict=True)]
    head, *below = (
        [cell if place == 0 else cell.rjust(widths[place]) for place, cell in enumerate(row)]
        for row in (titles, *rows)
    )
    columns = [Column(title=title, least=_SHORT if place == 0 else None) for place, title in enumerate(head)]
    found = blocks(columns, below, out.room)
    heads, *others = [[GAP.join(cells).rstrip() for cells in block] for block in found]
    return [[out.paint(line, Ink.DIM) for line in heads], *others]


def _cells(of: Decisions) -> tuple[str, ...]:
    return f"{of.approved:,}", f"{of.rejected:,}", f"{of.changed:,}"
