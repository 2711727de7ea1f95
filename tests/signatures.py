"""Functions of any signature, and calls of them as Python takes them."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from tests.strategies import json_values

_NAMES = ("a", "b", "c", "d", "e", "f", "self", "args", "kwargs")
_FURTHER = ("x", "key", "kwargs ", "")
"""Names that no parameter has; a call may have any text for one."""


class Called(Struct, frozen=True, kw_only=True):
    """A function, and a call of it.

    Attributes:
        function: Returns what it was called with, by its parameters' names.
        text: Its head.
        unbound: Parameters that are no part of what is approved.
        key: The parameter for the execution's id; the call leaves it to the hook.
    """

    function: Callable[..., dict[str, Any]]
    text: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    unbound: frozenset[str]
    key: str | None


class _Shape(Struct, frozen=True, kw_only=True):
    """A signature: the names of each kind, and which have a default."""

    only: tuple[str, ...]
    plain: tuple[str, ...]
    rest: tuple[str, ...]
    named: tuple[str, ...]
    more: tuple[str, ...]
    optional: frozenset[str]

    def text(self) -> str:
        """As it is written."""
        said = {name: f"{name}=_{name}" if name in self.optional else name for name in _NAMES}
        parts = [said[name] for name in self.only] + ["/"] * bool(self.only)
        parts += [said[name] for name in self.plain]
        parts += [f"*{name}" for name in self.rest] or ["*"] * bool(self.named)
        parts += [said[name] for name in self.named] + [f"**{name}" for name in self.more]
        return f"def tool({', '.join(parts)})"


@st.composite
def _shapes(draw: st.DrawFn) -> _Shape:
    names = list(draw(st.permutations(_NAMES)))

    def some(most: int) -> tuple[str, ...]:
        return tuple(names.pop() for _ in range(draw(st.integers(0, most))))

    only, plain, rest, named, more = some(2), some(2), some(1), some(2), some(1)
    places = only + plain
    optional = frozenset(places[draw(st.integers(0, len(places))) :])
    optional |= draw(st.frozensets(st.sampled_from(named))) if named else frozenset()
    return _Shape(only=only, plain=plain, rest=rest, named=named, more=more, optional=optional)


@st.composite
def calls(draw: st.DrawFn) -> Called:
    """Functions, and good calls of them with JSON."""
    shape, value = draw(_shapes()), json_values(max_leaves=4)
    places = shape.only + shape.plain
    needed = [name for name in shape.only if name not in shape.optional]
    by_place = draw(st.integers(len(needed), len(places)))
    args = [draw(value) for _ in range(by_place)]
    by_name = {*places[by_place:], *shape.named} - {*shape.only}
    key = draw(st.sampled_from([None, *sorted(by_name)]))
    kwargs = {
        name: draw(value)
        for name in sorted(by_name - {key})
        if name not in shape.optional or draw(st.booleans())
    }
    if shape.rest and by_place == len(places):
        args += draw(st.lists(value, max_size=2))
    if shape.more:
        # Of a parameter that is left out here, inspect takes no namesake before Python 3.13; such a call is
        # refused, and no more.
        free = st.sampled_from([*_FURTHER, *shape.only[:by_place], *shape.rest, *shape.more])
        kwargs |= draw(st.dictionaries(free, value, max_size=3))
    every = places + shape.rest + shape.named + shape.more
    unbound = draw(st.frozensets(st.sampled_from(every), max_size=2)) if every else frozenset()
    space: dict[str, Any] = {f"_{name}": draw(value) for name in sorted(shape.optional)}
    exec(f"{shape.text()}: return locals()", space)  # noqa: S102 - so that Python itself says what a call is
    return Called(
        function=space["tool"],
        text=shape.text(),
        args=tuple(args),
        kwargs=kwargs,
        unbound=unbound,
        key=key,
    )
