"""A JSON value as a tree of nodes that can be trusted: exact, typed, and what is hidden or cut is marked.

Everything is linear in the size of the value, whatever it holds: a node is made once, its text is costed a
few times, and what is left out is not looked at again.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Raw, Struct, structs

from placet.domain.presentation.budget import Budget
from placet.domain.presentation.fitting import Fitter
from placet.domain.presentation.hazards import Hazard, HazardKind, Tally
from placet.domain.presentation.nodes import CONTAINERS, HIDDEN, Layout, Node, NodeKind
from placet.domain.presentation.writing import canonical, is_plain, quoted, quoted_lines
from placet.domain.redaction import parse_pointer
from placet.domain.text import runs_right_to_left

DEPTH_MAX: Final = 256
"""Levels that are shown; no service can be set to admit more (:class:`placet.domain.limits.Limits`)."""

_SPARE: Final = 4
"""Times as many characters as there is room for are spelled out of one text: some may take no room at all."""

Places = dict[str, Any]
"""Where something is hidden: dicts by step, an empty one for a value that is hidden as a whole."""


class Number(str):
    """A number, in the spelling it came in."""

    __slots__ = ()


def decode(raw: Raw) -> Any:  # noqa: ANN401 - JSON of any shape
    """Decode JSON, its numbers as :class:`Number`."""
    return json.loads(bytes(raw), parse_float=Number, parse_int=Number)


def places_of(pointers: Sequence[str]) -> Places | None:
    """What JSON Pointers name; None where they name nothing."""
    places: Places = {}
    for pointer in pointers:
        try:
            *above, last = ("", *parse_pointer(pointer))
        except ValueError:  # no service admits it, and none hides anything for it
            continue
        inside = places
        for step in above:
            if inside.get(step) == {}:
                break  # hidden with all that is in it
            inside = inside.setdefault(step, {})
        else:
            inside[last] = {}
    return places.get("")


_KINDS: Final = MappingProxyType(
    {
        dict: NodeKind.OBJECT,
        list: NodeKind.ARRAY,
        str: NodeKind.TEXT,
        Number: NodeKind.NUMBER,
        bool: NodeKind.BOOLEAN,
        type(None): NodeKind.NULL,
    }
)


class Tree(Struct, frozen=True, kw_only=True):
    """A value, as it is shown.

    Attributes:
        root: Its nodes, those that there is room for.
        json: All of it in one line, as it came but visible, cut where there is no room for it.
        size_bytes: What it takes as JSON.
        hidden: How many values in it are hidden.
        was_cut: Whether not all of it is shown.
        hazards: What in it could mislead, in what was cut off too.
    """

    root: Node
    json: str
    size_bytes: int
    hidden: int
    was_cut: bool
    hazards: tuple[Hazard, ...]


def tree(raw: Raw, budget: Budget, *, where: str, redacted: Sequence[str] = ()) -> Tree:
    """Make the tree of a value.

    Args:
        raw: JSON.
        budget: The room there is.
        where: What it is, in words, for the hazards: ``the input``.
        redacted: JSON Pointers of what is hidden in it.
    """
    builder = Builder(budget, where)
    whole = builder.build(decode(raw), places_of(redacted))
    fitter = Fitter(budget)
    root = fitter.fitted(whole, 0, budget.lines)
    text, most = bytes(raw).decode(), budget.lines * budget.columns
    part = text[: _SPARE * most]
    return Tree(
        root=root,
        json=budget.within(canonical(part), most, of=len(text), is_part=len(part) < len(text)),
        size_bytes=len(bytes(raw)),
        hidden=builder.hidden,
        was_cut=fitter.was_cut or builder.was_cut,
        hazards=builder.tally.hazards(),
    )


class Builder:
    """Makes the nodes of values, all of them.

    Args:
        budget: Gives columns, and what texts take of them.
        where: What the values are, in words.

    Attributes:
        tally: The hazards it met.
        hidden: How many values were hidden.
        was_cut: Whether something lay too deep.
    """

    def __init__(self, budget: Budget, where: str) -> None:
        self.tally = Tally(where)
        self.hidden = 0
        self.was_cut = False
        self._layout = Layout(columns=budget.columns, cost=budget.cost)
        self._lines_max = budget.lines
        self._chars_max = _SPARE * budget.lines * budget.columns
        self._path: list[str] = []

    def build(self, value: Any, hidden: Places | None = None, *, depth: int = 0) -> Node:  # noqa: ANN401
        """The nodes of a decoded value that is shown at such a depth."""
        return self._node(value, None, depth, hidden)

    # One frame for each level of nesting: a comprehension would take a second.
    def _node(self, value: Any, name: str | None, depth: int, hidden: Places | None) -> Node:  # noqa: ANN401
        """The node of a value, and of all in it."""
        members: list[Node] = []
        is_hidden = hidden == {}
        if is_hidden:
            self.hidden += 1
        elif isinstance(value, (dict, list)) and depth < DEPTH_MAX:
            for step, key, member in _members(value):
                self._path.append(step)
                below = None if hidden is None else hidden.get(step)
                members.append(self._node(member, key, depth + 1, below))
                self._path.pop()
        node = self._one(None if is_hidden else value, name, tuple(members), is_hidden=is_hidden)
        self.was_cut |= node.was_cut
        rows = self._rows(node, depth)
        return node if rows == node.rows else structs.replace(node, rows=rows)

    def _one(
        self,
        value: Any,  # noqa: ANN401 - any JSON
        name: str | None,
        members: tuple[Node, ...],
        *,
        is_hidden: bool,
    ) -> Node:
        """The node of a value by itself."""
        kind = NodeKind.HIDDEN if is_hidden else _KINDS[type(value)]
        text, key = value if kind is NodeKind.TEXT else "", name or ""
        size = len(value) if isinstance(value, (str, list, dict)) else 0
        hazards = (*self.tally.text(key, self._path), *self.tally.text(text, self._path))
        if kind is NodeKind.OBJECT and self._has_twins(value):
            hazards = (*hazards, HazardKind.TWIN_NAMES)
        return Node(
            kind=kind,
            key=None if name is None else quoted(name),
            key_size=len(key),
            lines=(HIDDEN,) if is_hidden else self._lines(kind, value),
            members=members,
            size=size,
            was_cut=size > len(members) and kind in CONTAINERS,
            hazards=tuple(sorted(set(hazards))) if hazards else (),
            is_rtl=runs_right_to_left(text + key),
        )

    def _lines(self, kind: NodeKind, value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any JSON
        """A scalar or an empty container in its lines; none of what has members."""
        if kind is NodeKind.NUMBER:
            return (str(value),)
        if kind is NodeKind.TEXT:
            # Of a text that is cut wherever it stands, what is cut off need not be spelled out.
            return quoted_lines(value if len(value) <= self._chars_max else value[: self._chars_max])
        return () if kind in CONTAINERS and value else (json.dumps(value),)

    def _rows(self, node: Node, depth: int) -> int:
        layout = self._layout
        own = layout.key_rows(depth, node.key)
        if not node.members:
            room = layout.room(depth, node.key)
            rows = sum(layout.rows(line, room) for line in node.lines) or 1
            return own + (rows if node.size <= self._chars_max else max(rows, self._lines_max + 1))
        if layout.folded(node, depth) is not None:
            return own + 1
        return own + 2 + sum(member.rows for member in node.members)

    def _has_twins(self, members: dict[str, Any]) -> bool:
        """Whether names differ and still look the same once they are made visible; they are counted."""
        if all(map(is_plain, members)):
            return False
        looks = Counter(unicodedata.normalize("NFKC", quoted(name)) for name in members)
        count = sum(times for times in looks.values() if times > 1)
        if count:
            self.tally.count(HazardKind.TWIN_NAMES, count, self._path)
        return count > 0


def _members(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, str | None, Any]]:
    """What is in a container: steps as JSON Pointers spell them, names, values."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield name, name, member
    else:
        for place, item in enumerate(value):
            yield str(place), None, item
