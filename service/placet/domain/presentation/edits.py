"""What an approver changed: the input that was asked for beside the effective one, place by place.

Members are compared by name. Of two arrays, what is alike at the front and at the end stays, and what lies
between is compared by place. Nothing is looked for elsewhere: what moved was removed and added.
"""

from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Any, Final

from msgspec import Raw, Struct, structs

from placet.domain.presentation.budget import Budget
from placet.domain.presentation.fitting import Fitter, fair_shares
from placet.domain.presentation.hazards import Hazard, pointer
from placet.domain.presentation.nodes import Layout, Node
from placet.domain.presentation.tree import Builder, Places, decode, places_of
from placet.domain.presentation.writing import quoted

DEPTH: Final = 1
"""The depth that the values of a change are laid out for: below the place that was changed."""
_STEPS_MAX: Final = 32
_STEP_CHARS_MAX: Final = 100
_PATH_SHARE: Final = 3
"""A path takes a third of the room at most."""


class ChangeKind(StrEnum):
    """What was done in a place."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Change(Struct, frozen=True, kw_only=True):
    """A place in which the two inputs differ.

    Attributes:
        path: A JSON Pointer, visible: into the effective input where something was added, else into the
            original. Empty for the whole.
        before: What was asked; None where it was added.
        after: What it is now; None where it was removed.
    """

    path: str
    before: Node | None
    after: Node | None

    @property
    def kind(self) -> ChangeKind:
        """What was done."""
        if self.before is None:
            return ChangeKind.ADDED
        return ChangeKind.REMOVED if self.after is None else ChangeKind.CHANGED


class Edits(Struct, frozen=True, kw_only=True):
    """All that was changed.

    Attributes:
        changes: Place by place.
        missing: How many more there are.
        was_cut: Whether not all is shown.
        hazards: What could mislead in what was there before.
    """

    changes: tuple[Change, ...]
    missing: int
    was_cut: bool
    hazards: tuple[Hazard, ...]

    @property
    def mark(self) -> str:
        """What to write below where some are missing; else nothing."""
        return f"⟨cut: {self.missing:,} more⟩" if self.missing else ""


_Path = tuple[Any, str] | None
"""A step and those above it: made in one go, however long they are."""
_Side = tuple[Any, ...]
"""A value of one of the two inputs, or nothing where there is none."""


def edits(before: Raw, after: Raw, budget: Budget, *, redacted: Sequence[str] = ()) -> Edits:
    """Compare the input that was asked for with the effective one.

    Args:
        before: The original.
        after: The effective one.
        budget: The room there is: a change takes the lines of its path and those of its values.
        redacted: JSON Pointers of what is hidden in both; it is not compared.
    """
    differ = _Differ()
    differ.compare(decode(before), decode(after), None, places_of(redacted))
    original, effective = Builder(budget, "what was changed"), Builder(budget, "the input")
    whole = [
        Change(
            path=_path_of(found.path, budget) if place < budget.lines else "",
            before=_node(original, found.before, found.hidden),
            after=_node(effective, found.after, found.hidden),
        )
        for place, found in enumerate(differ.found)
    ]
    fitter = Fitter(budget)
    changes = _fitted(whole, budget, fitter)
    missing = len(whole) - len(changes)
    return Edits(
        changes=tuple(changes),
        missing=missing,
        was_cut=missing > 0 or fitter.was_cut or original.was_cut or effective.was_cut,
        hazards=tuple(structs.replace(each, path=None) for each in original.tally.hazards()),
    )


def _fitted(whole: Sequence[Change], budget: Budget, fitter: Fitter) -> list[Change]:
    """As many of the changes as there is room for, each with its fair share."""
    layout = Layout(columns=budget.columns, cost=budget.cost)
    paths = [layout.rows(change.path, budget.columns) for change in whole[: budget.lines]]
    least = [rows + len(_nodes(change)) for rows, change in zip(paths, whole, strict=False)]
    room = budget.lines
    if len(paths) < len(whole) or sum(least) > room:
        room -= 1  # for the mark
    kept = whole[: bisect_right(list(accumulate(least)), room)]
    wanted = [node.rows for change in kept for node in _nodes(change)]
    shares = iter(fair_shares(wanted, [1] * len(wanted), room - sum(paths[: len(kept)])))
    return [
        Change(
            path=change.path,
            before=change.before and fitter.fitted(change.before, DEPTH, next(shares)),
            after=change.after and fitter.fitted(change.after, DEPTH, next(shares)),
        )
        for change in kept
    ]


def _nodes(change: Change) -> list[Node]:
    return [node for node in (change.before, change.after) if node is not None]


def _node(builder: Builder, value: _Side, hidden: Places | None) -> Node | None:
    return builder.build(value[0], hidden, depth=DEPTH) if value else None


def _path_of(path: _Path, budget: Budget) -> str:
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(quoted(step)[1:-1])
    shown = pointer(steps[::-1], most=_STEPS_MAX, step_chars=_STEP_CHARS_MAX)
    kept = budget.clip(shown, min(budget.text_chars, budget.lines * budget.columns // _PATH_SHARE))
    return kept if kept == shown else f"{kept}…"


class _Found(Struct, frozen=True):
    """A difference: where, what is hidden there, and the value on each side, if there is one."""

    path: _Path
    hidden: Places | None
    before: _Side
    after: _Side


class _Differ:
    """Finds differences. What is equal is known by its number, so that nothing is compared twice."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._known: dict[int, int] = {}

    # As in `Builder`, one frame for each level of nesting.
    def compare(self, before: Any, after: Any, path: _Path, hidden: Places | None) -> None:  # noqa: ANN401
        """Note down where two values differ."""
        if hidden == {} or self._number(before) == self._number(after):
            return
        if isinstance(before, dict) and isinstance(after, dict):
            pairs = [(name, _side(before, name), _side(after, name)) for name in before]
            pairs += [(name, (), _side(after, name)) for name in after if name not in before]
        elif isinstance(before, list) and isinstance(after, list):
            pairs = self._pairs(before, after)
        else:
            self.found.append(_Found(path, hidden, (before,), (after,)))
            return
        for step, was, now in pairs:
            below = None if hidden is None else hidden.get(step)
            if was and now:
                self.compare(was[0], now[0], (path, step), below)
            else:
                self.found.append(_Found((path, step), below, was, now))

    def _pairs(self, before: list[Any], after: list[Any]) -> list[tuple[str, _Side, _Side]]:
        """The items between a like front and a like end, side by side."""
        least = min(len(before), len(after))
        front = 0
        while front < least and self._number(before[front]) == self._number(after[front]):
            front += 1
        end = 0
        while end < least - front and self._number(before[-1 - end]) == self._number(after[-1 - end]):
            end += 1
        was, now = before[front : len(before) - end], after[front : len(after) - end]
        return [
            (str(front + place), tuple(was[place : place + 1]), tuple(now[place : place + 1]))
            for place in range(max(len(was), len(now)))
        ]

    def _number(self, value: Any) -> int:  # noqa: ANN401 - any JSON
        """The same for equal values only; ``"1"`` and ``1`` are none."""
        if id(value) in self._known:
            return self._known[id(value)]
        key: list[Any] = [type(value)]
        if isinstance(value, dict):
            for name, member in value.items():
                key += (name, self._number(member))
        elif isinstance(value, list):
            for item in value:
                key.append(self._number(item))
        else:
            key.append(value)
        number = self._known[id(value)] = self._numbers.setdefault(tuple(key), len(self._numbers))
        return number


def _side(members: dict[str, Any], name: str) -> _Side:
    return (members[name],) if name in members else ()
