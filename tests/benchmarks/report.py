"""What was measured, as rows, and the table they make."""

import statistics
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct


class Row(Struct, frozen=True, kw_only=True):
    """One thing measured: the median of its rounds, and from where to where they went.

    ``reach`` is what it should be, in words, and ``met`` whether it is; ``None`` where nothing is asked.
    """

    part: str
    what: str
    unit: str
    median: float
    least: float
    most: float
    reach: str | None = None
    met: bool | None = None


class Reach(Struct, frozen=True, kw_only=True):
    """A target: at least, or at most, this much."""

    at_least: float | None = None
    at_most: float | None = None

    def judge(self, value: float) -> tuple[str, bool]:
        """The target in words, and whether ``value`` meets it."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}", value >= self.at_least
        assert self.at_most is not None
        return f"≤ {self.at_most:g}", value <= self.at_most


def row(part: str, what: str, unit: str, rounds: Iterable[float], reach: Reach | None = None) -> Row:
    """The row of some rounds."""
    values = sorted(rounds)
    median = statistics.median(values)
    words, met = (None, None) if reach is None else reach.judge(median)
    return Row(
        part=part,
        what=what,
        unit=unit,
        median=median,
        least=values[0],
        most=values[-1],
        reach=words,
        met=met,
    )


_HEADS = ("part", "what", "median", "unit", "least to most", "reach", "")


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text."""
    lines = [_HEADS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADS))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column == _MEDIAN else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


_MEDIAN = _HEADS.index("median")


def _cells(row: Row) -> tuple[str, ...]:
    spread = "" if row.least == row.most else f"{_number(row.least)} to {_number(row.most)}"
    verdict = {None: "", True: "met", False: "MISSED"}[row.met]
    return row.part, row.what, _number(row.median), row.unit, spread, row.reach or "", verdict


def _number(value: float) -> str:
    """Three digits that count, without an exponent."""
    size = abs(value)
    enough = ((100, ",.0f"), (10, ".1f"), (0, ".2f"))
    return format(value, next(form for least, form in enough if size >= least))


Told = Callable[[str], None]
"""Hears how far the benchmark is."""
