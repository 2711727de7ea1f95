"""Text in columns: how wide it is, cut to fit, wrapped, and as a table.

Lines are wrapped here and not by the terminal: what wraps by itself begins at the margin, where a long
foreign text could pass for a line of ours.
"""

import unicodedata
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_MARK: Final = "…"
_GAP: Final = "  "
_SECOND_MS: Final = 1_000
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


class Column(Struct, frozen=True, kw_only=True):
    """A column of a table.

    Attributes:
        title: Its head.
        least: Columns it may be cut down to where the terminal is narrow; None: it is never cut.
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


def fit(text: str, columns: int) -> str:
    """The text in exactly so many columns: filled with blanks, or cut with a mark."""
    missing = columns - columns_of(text)
    if missing >= 0:
        return text + " " * missing
    kept = ""
    room = columns - 1
    for char in text:
        room -= _columns(char)
        if room < 0:
            break
        kept += char
    return kept + _MARK + " " * (columns - columns_of(kept) - 1)


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


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Rows of cells of equal widths, the heads first; join them with two blanks.

    Args:
        columns: What there is.
        rows: A text for each column, of no control characters.
        width: Room; columns that may be are cut, the widest first, until all fit.
    """
    cells = [[column.title for column in columns], *map(list, rows)]
    widths = [max(columns_of(row[place]) for row in cells) for place in range(len(columns))]
    spare = width - sum(widths) - len(_GAP) * (len(columns) - 1)
    while spare < 0:
        places = [p for p, c in enumerate(columns) if c.least is not None and widths[p] > c.least]
        if not places:
            break
        widths[max(places, key=widths.__getitem__)] -= 1
        spare += 1
    return [[fit(text, widths[place]) for place, text in enumerate(row)] for row in cells]


def duration(ms: int) -> str:
    """A length of time in its greatest unit and the one below: ``45s``, ``14m 32s``, ``3d 4h``."""
    left_s = max(ms, 0) // _SECOND_MS
    counts = []
    for unit, unit_s in _UNITS:
        count, left_s = divmod(left_s, unit_s)
        counts.append((count, unit))
    greatest = next((place for place, (count, _) in enumerate(counts) if count), len(counts) - 1)
    (count, unit), *below = counts[greatest : greatest + 2]
    return " ".join([f"{count}{unit}", *(f"{count}{unit}" for count, unit in below if count)])


def sentence(text: str) -> str:
    """The text with a capital letter, where it begins with a word; a path or an address stays as it is."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text
