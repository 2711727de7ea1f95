r"""The texts of a card: visible, within their room, and the marks of what was left out.

No text of a card holds a control character, not even a line feed or a tab. What JSON would write as ``\n``
or ``\t`` stands as these two characters, and is told from a backslash and a letter by the doubled backslash.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from placet.domain.presentation.budget import Budget, cut_mark
from placet.domain.text import visible

_ESCAPE: Final = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩")
_PLAIN: Final = re.compile(r"[ -~]*")
_SPELT: Final = str.maketrans({'"': '\\"', "\\": "\\\\", "\t": "\\t"})
_CANONICAL_PART: Final = re.compile(r"\\(?:u[0-9a-f]{4}|.)|[^\\]+")


class Piece(Struct, frozen=True):
    """A stretch of a visible text, and whether it stands for a character that hides or misleads."""

    text: str
    is_escape: bool


class Listing(Struct, frozen=True, kw_only=True):
    """Texts, and how many more there are than stand here."""

    items: tuple[str, ...] = ()
    missing: int = 0

    @property
    def mark(self) -> str:
        """What to write below where some are missing; else nothing."""
        return f"⟨cut: {self.missing:,} more⟩" if self.missing else ""


def pieces(shown: str) -> Iterator[Piece]:
    """Part a text of a card, so that a medium can set off its escapes. Together they are the text."""
    end = 0
    for escape in _ESCAPE.finditer(shown):
        if end < escape.start():
            yield Piece(shown[end : escape.start()], is_escape=False)
        yield Piece(escape[0], is_escape=True)
        end = escape.end()
    if end < len(shown):
        yield Piece(shown[end:], is_escape=False)


def is_plain(text: str) -> bool:
    """Whether nothing in it could have to be made visible: most texts, and quick to see."""
    return text.isascii() and _PLAIN.fullmatch(text) is not None


def in_quotes(shown: str) -> str:
    """A visible text in quotes that it can't leave: to set somebody's words into a line of ours."""
    return f'"{shown.translate(_SPELT)}"'


def quoted(text: str) -> str:
    """A text in quotes, in one line, as JSON spells it but for what :func:`visible` spells out.

    Different texts have different spellings, and none is that of a number, a word or a mark.
    """
    return "".join(quoted_lines(text))


def quoted_lines(text: str) -> tuple[str, ...]:
    r"""As :func:`quoted`, parted after each ``\n`` that something follows, so that a script is readable."""
    shown = text if is_plain(text) else visible(text, multiline=True)
    first, *others = f'"{shown.translate(_SPELT)}"'.split("\n")
    lines = [first]
    for line in others:
        lines[-1] += "\\n"
        lines.append(line)
    if len(lines) > 1 and lines[-1] == '"':
        lines[-2:] = [lines[-2] + '"']
    return tuple(lines)


def canonical(text: str) -> str:
    """JSON in canonical form, made visible; its own escapes stay, and part the words around them."""
    if is_plain(text):
        return text
    return "".join(
        part[0] if part[0].startswith("\\") else visible(part[0]) for part in _CANONICAL_PART.finditer(text)
    )


class Writer:
    """Writes the texts of a card that are outside its trees, and remembers whether one was cut.

    Args:
        budget: The room there is.

    Attributes:
        was_cut: Whether anything was.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.was_cut = False

    def text(self, text: str, *, prose: bool = False) -> str:
        """A text in one line."""
        shown = visible(text, prose=prose)
        fitted = self._budget.within(shown, self._budget.text_chars, of=len(text))
        self.was_cut |= fitted is not shown
        return fitted

    def optional(self, text: str | None) -> str | None:
        """A text in one line, where there is one."""
        return self.text(text) if text else None

    def lines(self, text: str | None) -> tuple[str, ...]:
        """Prose in its lines; none where there is none. Together they take no more than one text."""
        if not text:
            return ()
        cost = self._budget.cost
        shown = [visible(line, prose=True) for line in text.split("\n")]
        left = self._budget.text_chars
        if len(shown) <= self._budget.lines and sum(cost(line) + 1 for line in shown) <= left:
            return tuple(shown)
        self.was_cut = True
        mark = f"… {cut_mark(len(text))}"
        left -= cost(mark) + 1
        found: list[str] = []
        for line in shown[: self._budget.lines]:
            found.append(self._budget.clip(line, left))
            left -= cost(found[-1]) + 1
            if left <= 0 or found[-1] != line:
                break
        return (*found[:-1], found[-1] + mark)

    def listing(self, texts: Sequence[str], *, prose: bool = False) -> Listing:
        """A list of texts, each in one line."""
        kept = texts[: self._budget.items]
        self.was_cut |= len(kept) < len(texts)
        items = tuple(self.text(text, prose=prose) for text in kept)
        return Listing(items=items, missing=len(texts) - len(kept))
