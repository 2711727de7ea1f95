"""A tree on a terminal: its outline, wrapped and in colours.

Lines are parted here: one that wrapped by itself would go on at the margin, and could pass for ours.
"""

from typing import Final

from placet.cli.console import Ink, Terminal
from placet.cli.layout import columns_of, wrap
from placet.domain.presentation import Line, Node, NodeKind, outline, pieces

MARK_INKS: Final = (Ink.YELLOW, Ink.BOLD)
"""Of what is not there, and of what stands for a hidden character."""


def tree(node: Node, terminal: Terminal, *, indent: str = "", depth: int = 0) -> list[str]:
    """The lines of a node.

    Args:
        node: What is shown.
        terminal: Gives width and colours.
        indent: What each line begins with.
        depth: How deep the node lies.
    """
    room = terminal.width - columns_of(indent)
    lines = outline(node, columns=room, cost=columns_of, depth=depth)
    return [indent + part for line in lines for part in _wrapped(line, room, terminal)]


def marked(shown: str, terminal: Terminal, *inks: Ink) -> str:
    """A text of a card in these inks, what stands for hidden characters set off."""
    return "".join(
        terminal.paint(piece.text, *(MARK_INKS if piece.is_escape else inks)) for piece in pieces(shown)
    )


def _wrapped(line: Line, room: int, terminal: Terminal) -> list[str]:
    begin = " " * line.indent
    if not (line.text or line.mark):
        names = wrap(line.name, room, first=begin, rest=begin, at_blanks=False)
        return [marked(name, terminal, Ink.CYAN) for name in names]
    hanging = begin + " " * columns_of(line.name)
    inks = (Ink.YELLOW,) if line.kind is NodeKind.HIDDEN else ()
    left = room - columns_of(hanging + line.end)
    texts = wrap(line.text, left, at_blanks=False) if line.text else []
    lines = [hanging + marked(text, terminal, *inks) for text in texts]
    if texts and line.mark and columns_of(f"{texts[-1]} {line.mark}") <= left:
        lines[-1] += " " + terminal.paint(line.mark, *MARK_INKS)
    elif line.mark:
        lines += [hanging + terminal.paint(part, *MARK_INKS) for part in wrap(line.mark, left)]
    lines[0] = begin + marked(line.name, terminal, Ink.CYAN) + lines[0][len(hanging) :]
    lines[-1] += line.end
    return lines
