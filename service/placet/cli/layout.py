"""Text in columns: how wide it is, wrapped, and as a table.

Nothing is cut. Lines are wrapped here and not by the terminal: what wraps by itself begins at the margin,
where a long foreign text could pass for a line of ours.
"""

import unicodedata
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

from msgspec import Struct

GAP: Final = "  "
"""What stands between the cells of a line."""
_INDENT: Final = 2 * len(GAP)
"""What lines below the first of a row are indented by: an empty cell, and the gap behind it."""


Paint = Callable[[int, int, str], str]


class Column(Struct, frozen=True, kw_only=True):
    """A column of a table.

    Attributes:
        title: Its head.
        least: Columns it may be narrowed to, and its texts wrapped, where the terminal has no room for all;
            None: its texts stay in one line.
    """

    title: str
    least: int | None = None


def columns_of(text: str) -> int:
    """How many columns a terminal gives to a text without control characters."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def _columns(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def wrap(text: str, columns: int, *, first: str = "", rest: str = "", at_blanks: bool = True) -> list[str]:
    """The text in lines of at most so many columns.

    Args:
        text: One line of text.
        columns: Room, the beginnings of the lines included.
        first: What the first line begins with.
        rest: What every other line begins with.
        at_blanks: Part it at blanks where possible, which then go; else anywhere, and nothing goes.
    """
    lines: list[str] = []
    begin = first
    while True:
        end = _reach(text, max(columns - columns_of(begin), 1))
        if end >= len(text):
            return [*lines, begin + text]
        blank = text.rfind(" ", 1, end + 1) if at_blanks else -1
        end = end if blank < 0 else blank
        lines.append(begin + text[:end])
        text = text[end:].removeprefix(" ") if at_blanks else text[end:]
        begin = rest


def _reach(text: str, columns: int) -> int:
    """How many characters fit; at least one."""
    if text.isascii():
        return columns
    room = columns
    for place, char in enumerate(text):
        room -= _columns(char)
        if room < 0:
            return max(place, 1)
    return len(text)


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None = None
) -> list[list[str]]:
    """Lines of cells of equal widths, the heads first; join the cells with :data:`GAP`.

    Args:
        columns: What there is.
        rows: A text for each column, of no control characters.
        width: Room; None: as much as it takes.
    """
    return [line for block in blocks(columns, rows, width) for line in block]


def blocks(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    *,
    paint: Paint = lambda _row, _column, cell: cell,
) -> list[list[list[str]]]:
    """As :func:`table`, with the lines of each row kept together.

    Where there is not room for all, columns that may be are narrowed, the widest first, and their texts
    wrapped. Where that is not enough, they move to lines of their own below the others; and where there is
    not room for those either, they too take several lines.

    Args:
        columns: What there is.
        rows: A text for each column, of no control characters.
        width: Room; None: as much as it takes.
        paint: From the number of a row, that of a column, and a cell filled up, to the cell to show.
    """
    cells = [[column.title for column in columns], *map(list, rows)]
    widths = [max(columns_of(row[place]) for row in cells) for place in range(len(columns))]
    groups: list[list[int]] = [list(range(len(columns)))]
    if width is not None:
        least = [w if c.least is None else min(c.least, w) for w, c in zip(widths, columns, strict=True)]
        groups = groups if _sum(least) <= width else _groups(columns, least, width)
        for below, group in enumerate(groups):
            _narrow(widths, least, group, width - (_INDENT if below else 0))
    return [
        [
            [*([GAP] if below else []), *(paint(number, *cell) for cell in zip(group, line, strict=True))]
            for below, group in enumerate(groups)
            for line in _lines([row[place] for place in group], [widths[place] for place in group])
        ]
        for number, row in enumerate(cells, start=-1)
    ]


def _groups(columns: Sequence[Column], least: Sequence[int], width: int) -> list[list[int]]:
    """The columns that stand in one line each: those first that can't be narrowed."""
    groups: list[list[int]] = []
    for moves in (False, True):
        group: list[int] = []
        for place in (place for place, column in enumerate(columns) if (column.least is not None) is moves):
            room = width - (_INDENT if groups else 0)
            if group and _sum([least[each] for each in (*group, place)]) > room:
                groups.append(group)
                group = []
            group.append(place)
        groups += [group] if group else []
    return groups


def _narrow(widths: list[int], least: Sequence[int], group: Sequence[int], room: int) -> None:
    """Take from the widest columns of a group that have something to give, until all fit or none has."""
    for _ in range(_sum([widths[place] for place in group]) - room):
        widest = max(group, key=lambda place: (widths[place] > least[place], widths[place]))
        widths[widest] -= widths[widest] > least[widest]


def _sum(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[list[str]]:
    """A row's lines, each cell filled up to its width."""
    parts = [wrap(text, max(width, 1)) for text, width in zip(row, widths, strict=True)]
    return [
        [text + " " * (width - columns_of(text)) for text, width in zip(line, widths, strict=True)]
        for line in zip_longest(*parts, fillvalue="")
    ]


def sentence(text: str) -> str:
    """The text with a capital letter, where it begins with a word; a path or an address stays as it is."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text
