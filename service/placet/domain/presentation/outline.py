"""A tree in lines of text, for media that have nothing better: JSON, indented, with the marks of what is cut.

A medium that wraps lines does it under ``indent``, so that nothing foreign begins at its margin.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct, structs

from placet.domain.presentation.nodes import INDENT, Layout, Node, NodeKind

_CUT_INSIDE: Final = "…"


class Line(Struct, frozen=True, kw_only=True):
    """A line of an outline.

    Attributes:
        indent: Blanks before it.
        name: The name of a member with its colon, or nothing.
        text: The value or a part of it, or nothing.
        mark: What is missing, or nothing.
        end: The comma behind it, or nothing.
        kind: Of the node.
    """

    indent: int
    name: str = ""
    text: str = ""
    mark: str = ""
    end: str = ""
    kind: NodeKind

    def __str__(self) -> str:
        """All of it."""
        gap = " " if self.text and self.mark else ""
        return f"{' ' * self.indent}{self.name}{self.text}{gap}{self.mark}{self.end}"


def outline(node: Node, *, columns: int, cost: Callable[[str], int] = len, depth: int = 0) -> list[Line]:
    """The lines of a node.

    Args:
        node: What is shown.
        columns: The width that small containers are kept in one line for, and that limits indentation.
        cost: What a text takes of it.
        depth: How deep the node lies; a root is never in one line.
    """
    writer = _Outliner(Layout(columns=columns, cost=cost))
    writer.add(node, depth, "")
    return writer.lines


class _Outliner:
    def __init__(self, layout: Layout) -> None:
        self.lines: list[Line] = []
        self._layout = layout

    def add(self, node: Node, depth: int, end: str) -> None:
        """Write a node and all in it."""
        layout, kind = self._layout, node.kind
        indent, name = layout.indent(depth), "" if node.key is None else f"{node.key}: "
        if layout.is_parted(depth, node.key):
            self.lines.append(Line(indent=indent, name=name.rstrip(), kind=kind))
            indent, name = indent + INDENT, ""
        folded = layout.folded(node, depth)
        if node.members and folded is None:
            self.lines.append(Line(indent=indent, name=name, text=node.brackets[0], kind=kind))
            self._members(node, depth + 1)
            self.lines.append(Line(indent=layout.indent(depth), text=node.brackets[1], end=end, kind=kind))
            return
        first, *others = (folded,) if folded is not None else node.lines or (_CUT_INSIDE.join(node.brackets),)
        lines = [Line(indent=indent, name=name, text=first, kind=kind)]
        hanging = indent + layout.cost(name)
        lines += [Line(indent=hanging, text=text, kind=kind) for text in others]
        lines[-1] = structs.replace(lines[-1], mark=node.mark, end=end)
        self.lines += lines

    def _members(self, node: Node, depth: int) -> None:
        for place, member in enumerate(node.members, start=1):
            self.add(member, depth, "," if node.was_cut or place < len(node.members) else "")
        if node.was_cut:
            self.lines.append(Line(indent=self._layout.indent(depth), mark=node.mark, kind=node.kind))
