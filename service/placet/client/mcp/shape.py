"""Between a tool as the MCP SDK calls it, with typed arguments, and the JSON that is approved.

The JSON is what the SDK's own model of the function makes of the arguments, defaults and all; what runs is
what that model makes of the JSON. Where the two don't agree, nobody is asked.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from inspect import Parameter
from typing import Any, Final

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import find_resolved_parameters, returns_input_required
from mcp.server.mcpserver.utilities.context_injection import find_context_parameter
from mcp.server.mcpserver.utilities.func_metadata import func_metadata
from mcp.types import CallToolResult, TextContent

from placet.client.decorating import Form
from placet.client.hook_values import Gate
from placet.client.refusals import changed
from placet.domain.canonical import canonicalize
from placet.domain.errors import ApprovalUnserializableInput

CONTEXT: Final = "placet_context"
"""The parameter that the SDK gives its context in."""

_NAMED: Final = frozenset({Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY})


class Shape:
    """How a function is called.

    Args:
        function: It.
        key: Its parameter that gets the execution's id, and that no client sees.

    Attributes:
        signature: What the SDK sees.
        is_async: Whether it is a coroutine function; any other may block.

    Raises:
        TypeError: It can't be a tool that takes an approval.
    """

    def __init__(self, function: Callable[..., Any], key: str | None) -> None:
        signature = inspect.signature(function, eval_str=True)
        _check(function, signature, key)
        self._function, self._key = function, key
        self._context = find_context_parameter(function)
        apart = [name for name in (key, self._context) if name is not None]
        self._meta = func_metadata(function, skip_names=apart)
        seen = [each for name, each in signature.parameters.items() if name not in apart]
        context = Parameter(CONTEXT, Parameter.KEYWORD_ONLY, annotation=Context)
        self.signature = signature.replace(parameters=[*seen, context])
        self.is_async = inspect.iscoroutinefunction(function)

    @property
    def annotations(self) -> dict[str, Any]:
        """The types of the signature, where the SDK looks for them too."""
        named = {each.name: each.annotation for each in self.signature.parameters.values()}
        named["return"] = self.signature.return_annotation
        return {name: each for name, each in named.items() if each is not Parameter.empty}

    def plain(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as JSON.

        Raises:
            ApprovalUnserializableInput: They don't come through that unchanged.
        """
        with suppress(Exception):  # whatever it is, it may hold a value
            model = self._meta.arg_model.model_construct(**given)
            said: dict[str, Any] = model.model_dump(mode="json", by_alias=True, warnings="error")
            if self._typed(said) == given:
                return said
        raise ApprovalUnserializableInput("/input")

    def judge(self, own: Gate | None) -> Gate:
        """A gate: the input has to be one for this function, and what its own gate lets pass."""

        def gate(said: Any) -> Any:  # noqa: ANN401 - any JSON
            if not self._fits(said):
                return False
            return None if own is None else own(said)

        return gate

    def call(self, said: Mapping[str, Any], execution_id: str, context: Context[Any, Any]) -> Any:  # noqa: ANN401 - its result
        """Call the function with what was approved."""
        apart: dict[str, Any] = {}
        if self._key is not None:
            apart[self._key] = execution_id
        if self._context is not None:
            apart[self._context] = context
        return self._function(**self._typed(said), **apart)

    def edited(self, result: Any, ran: Any) -> Any:  # noqa: ANN401 - the tool's own result, and JSON
        """The result, with what the tool was called with in place of what the client wrote."""
        made = self._meta.convert_result(result)
        if not isinstance(made, CallToolResult):
            return made
        told = TextContent(type="text", text=changed(ran))
        return made.model_copy(update={"content": [*made.content, told]})

    def _typed(self, said: Mapping[str, Any]) -> dict[str, Any]:
        return self._meta.arg_model.model_validate(said).model_dump_one_level()

    def _fits(self, said: Any) -> bool:  # noqa: ANN401 - any JSON
        with suppress(Exception):
            again = self._meta.arg_model.model_validate(said).model_dump(mode="json", by_alias=True)
            return canonicalize(again) == canonicalize(said)
        return False


def _check(function: Callable[..., Any], signature: inspect.Signature, key: str | None) -> None:
    Form(function, unbound=(), key=key)  # says what no tool can be
    if any(each.kind not in _NAMED for each in signature.parameters.values()):
        raise TypeError("a tool that takes an approval has a name for each argument")
    if find_resolved_parameters(function) or returns_input_required(function):
        raise TypeError("what a tool asks its client for is none of its arguments, and nobody approves it")
