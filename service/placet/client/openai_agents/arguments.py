"""Between what a model writes, the JSON that is approved, and the call of a function."""

import inspect
import json
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from functools import wraps
from inspect import BoundArguments, Parameter, Signature
from typing import Any, Final

from agents.function_schema import function_schema
from agents.tool_context import ToolContext
from pydantic import BaseModel

from placet.client.decorating import Form
from placet.client.refusals import ApprovalRefused
from placet.domain.canonical import canonicalize
from placet.domain.errors import ApprovalUnserializableInput

CONTEXT: Final = "_context"
"""What a body gets the framework's context by. The framework takes no parameter of a tool that begins so."""

_log: Final = logging.getLogger("placet.client.openai_agents")


class Arguments:
    """The arguments of a function as the framework validates them.

    Args:
        function: What runs.
        key: The parameter that gets the execution's id. The model is not shown it.
        unbound: Parameters that have their defaults. The model is not shown them.

    Raises:
        TypeError: The function can't be a tool.
    """

    def __init__(self, function: Callable[..., Any], key: str | None, unbound: Collection[str]) -> None:
        if not inspect.isroutine(function):
            raise TypeError("a tool is made of a function: this stands in the place of function_tool")
        Form(function, unbound=unbound, key=key)  # says what else can't be
        self._function, self._key = function, key
        self._signature = inspect.signature(function)
        for name, each in self._signature.parameters.items():
            if name in unbound and each.default is Parameter.empty:
                raise TypeError(f"nobody gives a value for {name}: it needs a default")
            if each.kind is Parameter.VAR_KEYWORD:
                raise TypeError(f"the arguments of a tool have names, and **{name} has none")
        shown = [
            each for name, each in self._signature.parameters.items() if name not in {*unbound, self._key}
        ]
        self._shown = Signature(shown)
        schema = function_schema(self.stand_in(_never), use_docstring_info=False, strict_json_schema=False)
        self._model = schema.params_pydantic_model
        self._context = shown[0].name if schema.takes_context else None
        if self._context is None:
            first = Parameter(CONTEXT, Parameter.POSITIONAL_ONLY, annotation=ToolContext[Any])
            self._shown = Signature([first, *shown])

    def stand_in(self, run: Callable[[ToolContext[Any]], Awaitable[Any]]) -> Callable[..., Any]:
        """A function that looks to the framework as the model may see it, and calls ``run``."""

        @wraps(self._function)
        async def stand_in(context: ToolContext[Any], /, *_: Any, **__: Any) -> Any:  # noqa: ANN401 - any
            return await run(context)

        stand_in.__signature__ = self._shown  # type: ignore[attr-defined] # as wrappers do
        return stand_in

    def read(self, arguments: str | None) -> dict[str, Any]:
        """What a model wrote, with defaults, as JSON of which the function would be called with just that.

        Raises:
            Exception: It is nothing for this tool; whatever validators raise.
            ApprovalRefused: It changes on its way through JSON, for which the model is not to blame.
        """
        typed = self._model.model_validate(json.loads(arguments or "{}"))
        with suppress(Exception):  # of serializers and validators, which are anybody's
            written = _written(typed)
            value: dict[str, Any] = json.loads(written)
            again = self._typed(value)
            if vars(again) == vars(typed) and _written(again) == written:
                return value
        _log.error("the arguments of %r change on their way through JSON", self._function.__name__)
        raise ApprovalRefused(ApprovalUnserializableInput("/input"))

    def body(self) -> Callable[..., Any]:
        """The function, to be called with members of the JSON, the context and the key by name."""
        function, fields = self._function, list(self._model.model_fields)

        def run(**given: Any) -> Any:  # noqa: ANN401 - the tool's own result
            how = BoundArguments(self._signature, {})
            if self._context is not None:
                how.arguments[self._context] = given[CONTEXT]
            if self._key is not None:
                how.arguments[self._key] = given[self._key]
            how.arguments.update(vars(self._typed({name: given[name] for name in fields})))
            how.apply_defaults()
            return function(*how.args, **how.kwargs)

        async def coroutine(**given: Any) -> Any:  # noqa: ANN401 - as above
            return await run(**given)

        body: Any = coroutine if inspect.iscoroutinefunction(function) else run
        names = [CONTEXT, *fields, *([self._key] if self._key else [])]
        body.__signature__ = Signature([Parameter(name, Parameter.KEYWORD_ONLY) for name in names])
        called: Callable[..., Any] = body
        return called

    def _typed(self, value: dict[str, Any]) -> BaseModel:
        return self._model.model_validate(value, by_name=True, by_alias=False)


def _written(typed: BaseModel) -> bytes:
    return canonicalize(typed.model_dump(mode="json", by_alias=False, warnings=False))


async def _never(_: ToolContext[Any]) -> None: ...
