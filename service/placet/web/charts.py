"""Charts, as the places of their parts: across in hundredths of the width, down in CSS pixels.

So a chart is as wide as there is room, and its text and patterns as large as they are: nothing is stretched.
What is told by colour is told by pattern too, and by words and a table beside it.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

ROOM_PX: Final = 130
"""How high the highest column is."""
_TOP_PX: Final = 20
"""Room for a number above it."""
_GAP_PX: Final = 1
_ROW_PX: Final = 26
_BAR_PX: Final = 14
_COLUMN_SHARE: Final = 0.72
"""Of its place that a column takes."""
_BARS_FROM: Final = 34.0
_BARS_TO: Final = 88.0
"""Between a row's name and its number; in hundredths."""
_EDGE: Final = 6.0
"""Nearer to an edge than this, a text begins or ends there, so that none of it is cut off."""


class Part(Struct, frozen=True, kw_only=True):
    """A rectangle; ``kind`` says how it is filled."""

    kind: str
    x: float
    y: int
    width: float
    height: int


class Text(Struct, frozen=True, kw_only=True):
    """A text; ``anchor`` says which of its ends is there (SVG 2 §11.10.2.1)."""

    words: str
    x: float
    y: int
    anchor: str = "middle"


class Chart(Struct, frozen=True, kw_only=True):
    """A chart; ``label`` says in words what it shows."""

    label: str
    height: int
    parts: Sequence[Part]
    texts: Sequence[Text]
    base_y: int | None = None


class Stack(Struct, frozen=True, kw_only=True):
    """A column: what is piled up in it from below, by kind, and what is written below, line by line."""

    counts: Sequence[tuple[str, int]]
    lines: Sequence[str] = ()

    @property
    def total(self) -> int:
        """All that is piled up."""
        return sum(count for _, count in self.counts)


def columns(label: str, stacks: Sequence[Stack], *, tells_all: bool) -> Chart:
    """Columns side by side; above each stands its total, or above the highest alone."""
    most = max((each.total for each in stacks), default=0)
    base = _TOP_PX + ROOM_PX
    place = 100 / max(len(stacks), 1)
    parts, texts = [], []
    is_told = False
    for number, stack in enumerate(stacks):
        middle = (number + 0.5) * place
        top = base
        for kind, count in stack.counts:
            height = _height(count, most)
            if height:
                x, width = middle - place * _COLUMN_SHARE / 2, place * _COLUMN_SHARE
                parts.append(_part(kind, x, top - height, width, max(height - _GAP_PX, 1)))
            top -= height
        if stack.total and (tells_all or (stack.total == most and not is_told)):
            texts.append(_text(str(stack.total), middle, top - 5))
            is_told = True
        texts += [_text(line, middle, base + 16 * row) for row, line in enumerate(stack.lines, start=1)]
    below = max((len(each.lines) for each in stacks), default=0)
    return Chart(label=label, height=base + 16 * below + 6, parts=parts, texts=texts, base_y=base)


def rows(label: str, bars: Sequence[tuple[str, str, int]]) -> Chart:
    """Bars one below the other: of each its name, its kind, and the number that it shows."""
    most = max((count for _, _, count in bars), default=0)
    parts, texts = [], []
    for number, (name, kind, count) in enumerate(bars):
        y = number * _ROW_PX
        width = (_BARS_TO - _BARS_FROM) * count / most if most else 0.0
        if count:
            parts.append(_part(kind, _BARS_FROM, y + 6, max(width, 0.5), _BAR_PX))
        texts.append(Text(words=name, x=0, y=y + 18, anchor="start"))
        texts.append(
            Text(words=f"\N{NO-BREAK SPACE}{count}", x=round(_BARS_FROM + width, 2), y=y + 18, anchor="start")
        )
    return Chart(label=label, height=_ROW_PX * len(bars), parts=parts, texts=texts)


def _height(count: int, most: int) -> int:
    """What there is at all can be seen."""
    return max(round(ROOM_PX * count / most), 3) if count else 0


def _part(kind: str, x: float, y: int, width: float, height: int) -> Part:
    return Part(kind=kind, x=round(x, 2), y=y, width=round(width, 2), height=height)


def _text(words: str, x: float, y: int) -> Text:
    if x < _EDGE:
        return Text(words=words, x=0, y=y, anchor="start")
    if x > 100 - _EDGE:
        return Text(words=words, x=100, y=y, anchor="end")
    return Text(words=words, x=round(x, 2), y=y)
