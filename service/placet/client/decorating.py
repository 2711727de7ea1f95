"""Between a function's arguments and the JSON that is approved: an object with a member for each parameter.

Defaults are part of it, ``*args`` are an array and ``**kwargs`` an object under their names. What the
function is called with is read back from that JSON, so that it gets what was approved and nothing else: a
tuple comes as a list, 5.0 as 5. What can't be JSON is refused before anybody is asked.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Final, TypeVar

from placet.client.hook_values import Gate
from placet.client.questions import Actor
from placet.client.quiet import Quiet
from placet.domain.errors import ApprovalInputMismatch, InputInvalid, Issue

if TYPE_CHECKING:
    from collections.abc import Iterator

C = TypeVar("C")
T = TypeVar("T")


class Turn(Quiet, frozen=True, kw_only=True):
    """For whom and within what a tool is called; the runtime knows, the tool does not.

    Attributes:
        actor: On whose behalf.
        run: What groups the calls of a run.
        call_id: The call in that run: asked again, it is the same question, after a restart too.
        context: Further facts that are bound.
        handle: The question to go on with, where one was asked before.
    """

    actor: Actor
    run: str | None = None
    call_id: str | None = None
    context: Mapping[str, Any] = {}
    handle: object = None


def given(value: T | Callable[[C], T], context: C) -> T:
    """What a runtime's author gave: a value, or what finds it out from the framework's own context."""
    return value(context) if callable(value) else value


_BY_NAME: Final = {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY}
_TURN: Final[ContextVar[Turn]] = ContextVar("placet.turn")


@contextmanager
def during(turn: Turn) -> "Iterator[None]":
    """Have the tools that are called in here ask in this turn."""
    before = _TURN.set(turn)
    try:
        yield
    finally:
        _TURN.reset(before)


def turn_of_now() -> Turn:
    """The turn that this call is in.

    Raises:
        TypeError: None.
    """
    turn = _TURN.get(None)
    if turn is None:
        raise TypeError(
            "a tool that takes an approval is called within a turn: say which with during(Turn(...))"
        )
    return turn


class Bound(Quiet, frozen=True, kw_only=True):
    """Arguments as they were given."""

    arguments: inspect.BoundArguments
    input: dict[str, Any]


def no_generator(function: Callable[..., Any]) -> None:
    """Refuse one.

    Raises:
        TypeError: It is one.
    """
    for each in (function, type(function).__call__):
        if inspect.isgeneratorfunction(each) or inspect.isasyncgenfunction(each):
            raise TypeError("a generator runs when it is read from, not when it is called")


class Form:
    """How a function is called.

    Args:
        function: It.
        unbound: Parameters that are no part of what is approved, such as ``self``: given as they are.
        key: The parameter that gets the execution's id, for the function's own idempotency.

    Raises:
        TypeError: There is no such parameter, or none that can get a key, or it is a generator.
    """

    def __init__(self, function: Callable[..., Any], *, unbound: Collection[str], key: str | None) -> None:
        no_generator(function)
        self._signature = inspect.signature(function)
        parameters = self._signature.parameters
        self._key = key
        self._apart = frozenset(unbound) | ({key} if key else set())
        self._named = frozenset(name for name, each in parameters.items() if each.kind in _BY_NAME)
        strange = self._apart - parameters.keys()
        if strange:
            raise TypeError(f"no such parameter: {', '.join(sorted(strange))}")
        if key and key not in self._named:
            raise TypeError(f"a key is given by name, which {key} can't be")

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Bound:
        """What is to be approved of a call.

        Raises:
            InputInvalid: It can't be called so.
        """
        given = dict(kwargs)
        if self._key:
            given[self._key] = None
        try:
            arguments = self._signature.bind(*args, **given)
        except TypeError:
            pass
        else:
            arguments.apply_defaults()
            named = {name: value for name, value in arguments.arguments.items() if name not in self._apart}
            return Bound(arguments=arguments, input=named)
        raise InputInvalid([Issue(path="", message="The tool takes other arguments.")])

    def judge(self, own: Gate | None) -> Gate:
        """A gate: the input has to be one for this function, and what its own gate lets pass."""

        def gate(value: Any) -> Any:  # noqa: ANN401 - any JSON
            if not self._fits(value):
                raise ApprovalInputMismatch
            return None if own is None else own(value)

        return gate

    def call(self, bound: Bound, approved: Mapping[str, Any], execution_id: str) -> inspect.BoundArguments:
        """How to call the function with what was approved."""
        arguments = inspect.BoundArguments(self._signature, bound.arguments.arguments.copy())
        for name, value in approved.items():
            is_rest = self._signature.parameters[name].kind is Parameter.VAR_POSITIONAL
            arguments.arguments[name] = tuple(value) if is_rest else value
        if self._key:
            arguments.arguments[self._key] = execution_id
        return arguments

    def _fits(self, value: object) -> bool:
        wanted = {name: each for name, each in self._signature.parameters.items() if name not in self._apart}
        if not isinstance(value, dict) or value.keys() != wanted.keys():
            return False
        return all(self._takes(each, value[name]) for name, each in wanted.items())

    def _takes(self, parameter: Parameter, given: object) -> bool:
        if parameter.kind is Parameter.VAR_POSITIONAL:
            return isinstance(given, list)
        if parameter.kind is Parameter.VAR_KEYWORD:
            return isinstance(given, dict) and not given.keys() & self._named
        return True
