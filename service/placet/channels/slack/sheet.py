"""A sheet of Slack's blocks that keeps Slack's limits, whatever is written on it.

What there is no room for is cut with a mark, and the sheet remembers it. Room is counted as Slack counts,
after escaping (:func:`placet.channels.slack.words.cost`).
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from placet.channels.slack.words import TextObject, bold, cost, literal, plain
from placet.domain.presentation import Budget

Block = dict[str, Any]

BUDGET: Final = Budget(lines=80, columns=80, text_chars=1_500, items=8, cost=cost)
"""The room that a card for Slack is made for: ``present(seen, BUDGET)``."""

BLOCKS_MAX: Final = 50
"""https://docs.slack.dev/reference/block-kit/blocks"""
SECTION_CHARS_MAX: Final = 3_000
"""https://docs.slack.dev/reference/block-kit/blocks/section-block, as the next two."""
FIELDS_MAX: Final = 10
FIELD_CHARS_MAX: Final = 2_000
HEADER_CHARS_MAX: Final = 150
"""https://docs.slack.dev/reference/block-kit/blocks/header-block"""
BUTTON_CHARS_MAX: Final = 75
"""https://docs.slack.dev/reference/block-kit/block-elements/button-element, as the next two."""
BUTTON_VALUE_CHARS_MAX: Final = 2_000
BUTTON_URL_CHARS_MAX: Final = 3_000
SHEET_CHARS_MAX: Final = 8_000
"""Of all blocks together. Slack has a limit that it does not document, and refuses blocks with
``msg_blocks_too_long`` from some 11 000 characters up (slackapi/bolt-js #2509, #2867)."""

_FIELD_ROWS: Final = FIELDS_MAX // 2
_SPARE_BLOCKS: Final = 2
"""Kept for what stands below everything: why, and the buttons."""
_SPARE_CHARS: Final = 400
_STUB_CHARS: Final = 80
"""With less room than this a text is left out: its mark would hardly fit."""
_QUOTES: Final = 2
"""Those around a text that begins or ends in blanks."""
_ROW_CHARS: Final = 20
"""What the label of a row takes."""

Row = tuple[str, str | TextObject]
"""A label of ours, and what is said to it: a visible text, or an object of ours."""


class Sheet:
    """Blocks, one below the other.

    Attributes:
        blocks: Those there are.
        was_cut: Whether something had no room.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.was_cut = False
        self._left = SHEET_CHARS_MAX - _SPARE_CHARS

    def header(self, shown: str) -> None:
        """The title; what it cuts is to stand below in full."""
        fitted = BUDGET.within(shown, HEADER_CHARS_MAX - _QUOTES, of=len(shown))
        self._left -= cost(fitted)
        self.blocks.append({"type": "header", "text": plain(fitted)})

    def rows(self, rows: Sequence[Row]) -> None:
        """Labels on the left, what is said to them on the right: an empty text is left out with its label."""
        fields = [
            (bold(label), said if isinstance(said, dict) else plain(said))
            for label, said in self._fitted(rows)
            if said
        ]
        for place in range(0, len(fields), _FIELD_ROWS):
            pairs = fields[place : place + _FIELD_ROWS]
            self._add({"type": "section", "fields": [each for pair in pairs for each in pair]})

    def title(self, ours: str, shown: str = "") -> None:
        """A title of ours, and what there is to say to it at once."""
        self._add({"type": "section", "text": bold(ours)} | self._beside(shown))

    def text(self, shown: str, most: int = SECTION_CHARS_MAX) -> None:
        """A text of its own."""
        if shown and (fitted := self._fit(shown, most)):
            self._add({"type": "section", "text": plain(fitted)})

    def code(self, lines: Sequence[str]) -> None:
        """Lines as they are, each blank of them, in letters of one width.

        Rich text is not parsed by Slack at all, where other texts are only not formatted: it keeps the
        indentation, and links nothing.
        """
        if fitted := self._fit("\n".join(lines), self._left):
            for part in _parts(fitted, SECTION_CHARS_MAX):
                inside = {"type": "rich_text_preformatted", "elements": [literal(part)]}
                self._add({"type": "rich_text", "elements": [inside]})

    def foot(self, ours: str, buttons: Sequence[Block]) -> None:
        """What there is room kept for: why something can't be done, in words of ours, and the buttons."""
        if ours:
            self.blocks.append({"type": "section", "text": plain(ours)})
        self.blocks.append({"type": "actions", "elements": list(buttons)})

    def _fitted(self, rows: Sequence[Row]) -> Iterator[Row]:
        for label, said in rows:
            self._left -= _ROW_CHARS
            yield label, said if isinstance(said, dict) else self._fit(said, FIELD_CHARS_MAX)

    def _beside(self, shown: str) -> Block:
        fitted = self._fit(shown, FIELD_CHARS_MAX) if shown else ""
        return {"fields": [plain(fitted)]} if fitted else {}

    def _fit(self, shown: str, most: int) -> str:
        """As much of a text as there is room for; nothing where that would say nothing."""
        room = min(most, self._left) - _QUOTES
        fitted = shown if cost(shown) <= room else ""
        if not fitted and shown:
            self.was_cut = True
            fitted = BUDGET.within(shown, room, of=len(shown)) if room >= _STUB_CHARS else ""
        self._left -= cost(fitted) + _QUOTES
        return fitted

    def _add(self, block: Block) -> None:
        if len(self.blocks) < BLOCKS_MAX - _SPARE_BLOCKS:
            self.blocks.append(block)
        else:
            self.was_cut = True


def _parts(shown: str, most: int) -> Iterator[str]:
    """A text parted at ends of lines where that is possible, so that no part costs more."""
    while cost(shown) > most:
        part = BUDGET.clip(shown, most)
        end = part.rfind("\n") + 1
        kept = part[:end] if end > len(part) // 2 else part
        yield kept.removesuffix("\n")
        shown = shown[len(kept) :]
    yield shown
