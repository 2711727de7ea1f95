"""Trees cut to the room there is: always at a mark, and so that what matters most is still seen.

Of an object every member gets its fair share: one endless text does not push the recipient off the card. An
array is read from its front; no item takes more than half of the room while others wait.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from msgspec import structs

from placet.domain.presentation.budget import Budget, cut_mark
from placet.domain.presentation.nodes import Layout, Node, NodeKind

_BRACKETS: Final = 2
"""Lines of a container that are none of its members."""
_INSIDE_MIN: Final = 2
"""Lines inside a container that was cut: of one member at least, and of the mark."""
_MARK: Final = 1
"""Lines of the mark behind the members that are shown."""
_ELLIPSIS: Final = "… "


class Fitter:
    """Cuts nodes.

    Args:
        budget: The room there is.

    Attributes:
        was_cut: Whether anything was cut.
    """

    def __init__(self, budget: Budget) -> None:
        self.was_cut = False
        self._budget = budget
        self._layout = Layout(columns=budget.columns, cost=budget.cost)

    def fitted(self, node: Node, depth: int, most: int) -> Node:
        """A node in so many lines, of which it has at least as many as :meth:`least` says."""
        if node.rows <= most:
            return node
        self.was_cut = True
        key_rows = self._layout.key_rows(depth, node.key)
        key_most = min(key_rows, most // 2)
        rows, most = node.rows - key_rows, most - key_most
        node = self._with_key(node, depth, key_most) if key_most < key_rows else node
        if rows <= most:
            return node
        return self._container(node, depth, most) if node.is_open else self._scalar(node, depth, most)

    def least(self, node: Node, depth: int) -> int:
        """Lines that a node takes at the very least."""
        return 2 if self._layout.is_parted(depth, node.key) else 1

    def _with_key(self, node: Node, depth: int, most: int) -> Node:
        mark = cut_mark(node.key_size)
        room = most * self._layout.key_room(depth) - self._budget.cost(_ELLIPSIS + mark)
        return structs.replace(node, key=f"{beginning(self._budget, node.key or '', room)}{_ELLIPSIS}{mark}")

    def _scalar(self, node: Node, depth: int, most: int) -> Node:
        node = structs.replace(node, was_cut=True)
        room, place = self._layout.room(depth, node.key), 0
        last = len(node.lines) - 1
        while place < last and (rows := self._layout.rows(node.lines[place], room)) < most:
            most -= rows
            place += 1
        left = most * room - self._budget.cost(_ELLIPSIS + node.mark)
        kept = beginning(self._budget, node.lines[place], left)
        return structs.replace(node, lines=(*node.lines[:place], kept + _ELLIPSIS.strip()))

    def _container(self, node: Node, depth: int, most: int) -> Node:
        inside = most - _BRACKETS
        members: Sequence[Node] = ()
        if inside >= _INSIDE_MIN:
            cut = self._fairly if node.kind is NodeKind.OBJECT else self._in_order
            members = cut(node.members, depth + 1, inside)
        return structs.replace(node, members=tuple(members), was_cut=len(members) < node.size)

    def _fairly(self, members: Sequence[Node], depth: int, most: int) -> list[Node]:
        least = [self.least(member, depth) for member in members]
        if sum(least) > most:
            least = least[: bisect_right(list(accumulate(least)), most - _MARK)]
        shares = fair_shares([member.rows for member in members[: len(least)]], least, most)
        return [self.fitted(member, depth, share) for member, share in zip(members, shares, strict=False)]

    def _in_order(self, members: Sequence[Node], depth: int, most: int) -> list[Node]:
        each_most = most if len(members) == 1 else most // 2
        kept: list[Node] = []
        for member in members:
            rows = min(member.rows, each_most)
            if rows > most - _MARK * (len(kept) + 1 < len(members)):
                break
            kept.append(self.fitted(member, depth, rows))
            most -= rows
        return kept


def fair_shares(wanted: Sequence[int], least: Sequence[int], most: int) -> list[int]:
    """Share out lines: who wants few gets them, and the others get equally many of the rest.

    Args:
        wanted: Lines that each would take.
        least: Lines that each gets; together no more than there are.
        most: Lines there are.
    """
    shares = list(least)
    left = most - sum(least)
    by_need = sorted(range(len(shares)), key=lambda place: wanted[place] - least[place])
    for waiting, place in zip(range(len(shares), 0, -1), by_need, strict=True):
        more = max(min(wanted[place] - least[place], left // waiting), 0)
        shares[place] += more
        left -= more
    return shares


def beginning(budget: Budget, spelt: str, most: int) -> str:
    """As much of a quoted text as there is room for, with no escape torn apart."""
    kept = budget.clip(spelt, most)
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept[:-1] if backslashes % 2 else kept
