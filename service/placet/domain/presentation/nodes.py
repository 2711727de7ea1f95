"""The nodes of a tree, and how many lines they take."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from placet.domain.presentation.budget import cut_mark
from placet.domain.presentation.hazards import HazardKind

HIDDEN: Final = "⟨hidden from approvers⟩"
"""What stands in place of a redacted value; every text has quotes, so none can pass for it."""
INDENT: Final = 2
"""Blanks for a level of nesting."""
_COLUMNS_OF_A_LEVEL: Final = 5
"""Indentation stops growing at two of five columns: something must be left for the values."""
_ROOM_MIN: Final = 40
"""Room that a value has at least, in a line of 80 or more: a name that leaves less has a line of its own."""
_FOLDED_MEMBERS_MAX: Final = 24
"""Most members of a container in one line."""


class NodeKind(StrEnum):
    """What a node is; it tells ``"true"`` from ``true`` where quotes are easily overlooked."""

    OBJECT = "object"
    ARRAY = "array"
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    HIDDEN = "hidden"


CONTAINERS: Final = frozenset({NodeKind.OBJECT, NodeKind.ARRAY})
"""Kinds that have members."""


class Node(Struct, frozen=True, kw_only=True):
    """A value of JSON, as it is shown.

    Attributes:
        kind: What it is.
        key: The name of the member it is, in quotes; None of an item and of the root. One that was cut ends
            in a mark behind its beginning, and has no closing quote.
        lines: A scalar or an empty container, in one or more lines.
        members: The members or items of a container that are shown.
        size: How much it is in full: members, items, characters.
        was_cut: Whether not all of the value itself is here; :attr:`mark` says what is missing.
        hazards: What could mislead in its key and its text.
        is_rtl: Whether it has letters that run from right to left, beside which others move on screen. A
            medium keeps it apart from its neighbours.
        rows: The lines that it takes in full, its key and its members included.
    """

    kind: NodeKind
    key: str | None = None
    key_size: int = 0
    lines: tuple[str, ...] = ()
    members: tuple["Node", ...] = ()
    size: int = 0
    was_cut: bool = False
    hazards: tuple[HazardKind, ...] = ()
    is_rtl: bool = False
    rows: int = 1

    @property
    def is_open(self) -> bool:
        """Whether it is a container with something in it."""
        return self.kind in CONTAINERS and self.size > 0

    @property
    def brackets(self) -> str:
        """The two characters around a container."""
        return "{}" if self.kind is NodeKind.OBJECT else "[]"

    @property
    def mark(self) -> str:
        """What to write where something is missing; else nothing."""
        if not self.was_cut:
            return ""
        if not self.is_open:
            return cut_mark(self.size)
        of = "member" if self.kind is NodeKind.OBJECT else "item"
        noun = of if self.size == 1 else f"{of}s"
        if not self.members:
            return f"⟨cut: {self.size:,} {noun}⟩"
        return f"⟨cut: {self.size - len(self.members):,} more of {self.size:,} {noun}⟩"


class Layout(Struct, frozen=True, kw_only=True):
    """How nodes lie in lines: one for those who count them and those who write them.

    Attributes:
        columns: Of a line.
        cost: What a text takes of them.
    """

    columns: int
    cost: Callable[[str], int]

    def indent(self, depth: int) -> int:
        """Blanks before a node."""
        return INDENT * min(depth, self.columns // _COLUMNS_OF_A_LEVEL)

    def is_parted(self, depth: int, key: str | None) -> bool:
        """Whether a key has lines of its own, with the value below it."""
        least = min(_ROOM_MIN, self.columns // 2)
        return key is not None and self.indent(depth) + self.cost(key) + len(": ") > self.columns - least

    def key_rows(self, depth: int, key: str | None) -> int:
        """Lines that a key has for its own."""
        return self.rows(key, self.key_room(depth)) if key is not None and self.is_parted(depth, key) else 0

    def key_room(self, depth: int) -> int:
        """Room in a line for such a key; the colon and the line feed come after it."""
        return self.columns - self.indent(depth) - len(":\n")

    def room(self, depth: int, key: str | None) -> int:
        """Room in a line for a value; a comma and the line feed come after it."""
        left = self.columns - self.indent(depth) - len(",\n")
        if key is None:
            return left
        return left - (INDENT if self.is_parted(depth, key) else self.cost(key) + len(": "))

    def rows(self, text: str, room: int) -> int:
        """Lines that a text takes."""
        return max(1, -(-self.cost(text) // room))

    def folded(self, node: Node, depth: int) -> str | None:
        """A container in one line, where it has a few short scalars and nothing that must be seen apart."""
        members = node.members
        if not depth or not members or node.was_cut or len(members) > _FOLDED_MEMBERS_MAX:
            return None
        if not all(map(_is_short, members)):
            return None
        inside = ", ".join(
            each.lines[0] if each.key is None else f"{each.key}: {each.lines[0]}" for each in members
        )
        text = f"{node.brackets[0]}{inside}{node.brackets[1]}"
        return text if self.cost(text) <= self.room(depth, node.key) else None


def _is_short(node: Node) -> bool:
    return (
        len(node.lines) == 1
        and not (node.was_cut or node.is_rtl or node.hazards)
        and node.kind is not NodeKind.HIDDEN
    )
