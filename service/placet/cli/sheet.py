"""The parts of a card on a terminal: labelled texts, lists, sections, quotations, flags.

Texts come visible and without control characters. They are wrapped below their own beginning, so that none
of them can begin where a line of ours does.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from placet.cli.console import Ink, Terminal
from placet.cli.layout import wrap
from placet.cli.tree import marked, tree
from placet.domain.presentation import Listing, Node, in_quotes

MARGIN: Final = "  "
"""What lines below a title begin with."""
_LABEL_COLUMNS: Final = 13


class Sheet:
    """Lays out the parts of a card; an empty one is left out.

    Args:
        terminal: Gives width and colours.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def paint(self, text: str, *inks: Ink) -> str:
        """The text in these inks."""
        return self._terminal.paint(text, *inks)

    def field(self, label: str, text: str, *inks: Ink, mark: str = "") -> Iterator[str]:
        """A labelled text."""
        if not text:
            return
        room = self._terminal.width - _LABEL_COLUMNS
        first, *others = [*wrap(text, room), *([mark] if mark else [])]
        yield self.paint(label.ljust(_LABEL_COLUMNS), Ink.DIM) + marked(first, self._terminal, *inks)
        for line in others:
            yield " " * _LABEL_COLUMNS + marked(line, self._terminal, *inks)

    def listing(self, label: str, texts: Listing) -> Iterator[str]:
        """A labelled list."""
        items = [*texts.items, *([texts.mark] if texts.mark else [])]
        for place, text in enumerate(items):
            yield from self.field("" if place else label, text or in_quotes(text))  # an empty one shows

    def section(self, title: str, lines: Sequence[str]) -> list[str]:
        """A part with a title of its own."""
        return ["", self.paint(title, Ink.BOLD), *lines] if lines else []

    def titled(self, title: str, words: str, *inks: Ink) -> list[str]:
        """A title of its own, and what there is to say of what stands below it."""
        begin = title + MARGIN
        first, *others = wrap(words, self._terminal.width - len(begin))
        behind = MARGIN + self.paint(first, *inks) if first else ""
        return [
            self.paint(title, Ink.BOLD) + behind,
            *(" " * len(begin) + self.paint(line, *inks) for line in others),
        ]

    def tree(self, node: Node) -> list[str]:
        """A value."""
        return tree(node, self._terminal, indent=MARGIN)

    def quote(self, texts: Sequence[str]) -> list[str]:
        """Somebody's words, each line behind a bar."""
        bar = self.paint("│ ", Ink.DIM)
        room = self._terminal.width - len(MARGIN) - len("│ ")
        return [f"{MARGIN}{bar}{marked(line, self._terminal)}" for text in texts for line in wrap(text, room)]

    def item(self, text: str) -> list[str]:
        """A line below a title."""
        lines = wrap(text, self._terminal.width, first=MARGIN, rest=MARGIN + MARGIN)
        return [marked(line, self._terminal) for line in lines]

    def signed(self, sign: str, ink: Ink, node: Node | None) -> list[str]:
        """A value of which each line has a sign before it."""
        if node is None:
            return []
        lines = tree(node, self._terminal, indent=f"{MARGIN}{sign} ", depth=1)
        return [f"{MARGIN}{self.paint(sign, ink)}{line[len(MARGIN + sign) :]}" for line in lines]

    def told(self, label: str, text: str, words: Sequence[str]) -> Iterator[str]:
        """A labelled text, and what somebody said to it."""
        if len(words) == 1:
            text = f"{text}: {in_quotes(words[0])}"
        yield from self.field(label, text)
        for line in words if len(words) > 1 else ():
            yield from self.field("", f"│ {line}")

    def warning(self, sentence: str) -> list[str]:
        """Something to look at twice."""
        first, *others = wrap(sentence, self._terminal.width - len("! "))
        return [f"{self._terminal.mark(Ink.YELLOW)} {first}", *(f"  {line}" for line in others)]
