"""A tool as the framework calls it, with values, and as the hook does, with the JSON that was approved."""

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import Parameter, Signature
from typing import Any, Final, get_origin, get_type_hints

from pydantic_ai import RunContext
from pydantic_ai.messages import ToolCallPart, ToolReturn

from placet.client.decorating import Bound, Form
from placet.client.hook_options import Decorating, known
from placet.client.pydantic_ai.arguments import Arguments
from placet.client.refusals import ApprovalRefused, changed
from placet.domain.canonical import canonicalize
from placet.domain.errors import ApprovalUnserializableInput

OURS: Final = "placet"
"""The member that is ours of what the framework keeps beside a deferred call."""

_log: Final = logging.getLogger("placet.client.pydantic_ai")


class GatedTool:
    """A function that takes the framework's context, and an approval.

    Attributes:
        function: It.
        key: The parameter that gets the execution's id.
        form: How it is called.
        gate: Whether it can be called so, and its own judgement.
        arguments: What it is called with.
        rest: The parameter that takes further arguments by name, where it has one.
        signature: As the framework is shown it, without what is hidden from the model.
        annotations: The same's.

    Raises:
        TypeError: The function can't be used so, or an option is none.
    """

    def __init__(self, function: Callable[..., Any], said: Decorating) -> None:
        known(said)
        self.function = function
        self.key = said.get("key")
        context = _context_of(function)
        hidden = {*said.get("unbound", ()), *([self.key] if self.key else ())}
        self._apart = {*hidden, context}
        self.form = Form(function, unbound=self._apart, key=self.key)
        self.gate = self.form.judge(said.get("gate"))
        self.arguments = Arguments(function, self._apart)
        own = inspect.signature(function)
        if any(own.parameters[name].default is Parameter.empty for name in hidden - {self.key}):
            raise TypeError("what is unbound needs a default: the model does not give it")
        seen = {name: each for name, each in own.parameters.items() if name not in hidden}
        hints = get_type_hints(function, include_extras=True)
        self.rest = next((name for name, each in seen.items() if each.kind is Parameter.VAR_KEYWORD), "")
        self.signature = own.replace(parameters=list(seen.values()))
        self.annotations = {name: each for name, each in hints.items() if name not in hidden}

    def called(self, ctx: RunContext[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> "GatedCall":
        """The call that the framework makes so.

        Raises:
            ApprovalRefused: Its arguments can't be had as JSON, or are none that a model gives.
        """
        try:
            if self._apart & kwargs.keys():  # `**rest` lets a model name them
                raise LookupError  # noqa: TRY301 - as what binding says
            bound = self.form.bind((ctx, *args), kwargs)
            own = self.arguments.json(bound.input, ctx.validation_context)
        except Exception as fault:  # noqa: BLE001 - it may hold anything, so only its name is told
            _log.error("arguments of the tool %r can't be approved: %s", ctx.tool_name, type(fault).__name__)
            refusal = ApprovalUnserializableInput("/input")
        else:
            return GatedCall(self, ctx, bound, own)
        raise ApprovalRefused(refusal)  # out here, nothing hangs on it that holds a value


class GatedCall:
    """A call that the framework makes of a tool.

    Attributes:
        asked: What is asked about: what the framework calls the tool with. Where it was given what an
            approver made of that, it is what was asked about at first.
    """

    def __init__(self, tool: GatedTool, ctx: RunContext[Any], bound: Bound, own: dict[str, Any]) -> None:
        kept = ctx.tool_call_metadata.get(OURS) if isinstance(ctx.tool_call_metadata, dict) else None
        asked = kept.get("asked") if isinstance(kept, dict) else None
        self._tool, self._ctx, self._bound, self._own = tool, ctx, bound, own
        self.asked: dict[str, Any] = asked if isinstance(asked, dict) else own
        self._ran: Mapping[str, Any] = self.asked

    async def judge(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """The hook's gate: whatever the framework has not validated is validated as it would do it."""
        if _differ(value, self._own):
            await self._validated(self._values(value))
        said = self._tool.gate(value)
        return await said if inspect.isawaitable(said) else said

    def body(self) -> Callable[..., Any]:
        """What the hook calls, with what was approved."""
        tool = self._tool

        def plain(**approved: Any) -> Any:  # noqa: ANN401 - the tool's own result
            key = approved.pop(tool.key, "") if tool.key else ""
            self._ran = approved
            how = tool.form.call(self._bound, self._values(approved), key)
            return tool.function(*how.args, **how.kwargs)

        async def coroutine(**approved: Any) -> Any:  # noqa: ANN401 - as above
            return await plain(**approved)

        body: Any = coroutine if inspect.iscoroutinefunction(tool.function) else plain
        names = [*self._own, *([tool.key] if tool.key else ())]
        body.__signature__ = Signature([Parameter(name, Parameter.KEYWORD_ONLY) for name in names])
        return body  # type: ignore[no-any-return] # one of both

    def told(self, result: Any) -> Any:  # noqa: ANN401 - the tool's own
        """The result; with a note of what approvers made of the call, where they did."""
        if not _differ(self._ran, self.asked):
            return result
        note = changed(self._ran)
        if not isinstance(result, ToolReturn):
            return ToolReturn(result, content=note)
        before = [result.content] if isinstance(result.content, str) else result.content or ()
        return replace(result, content=[*before, note])

    def _values(self, approved: Mapping[str, Any]) -> dict[str, Any]:
        return self._tool.arguments.values(approved, self._ctx.validation_context)

    async def _validated(self, values: dict[str, Any]) -> None:
        """Have the tool's ``args_validator`` judge arguments that the framework has not seen.

        Raises:
            LookupError: There is no finding out which that is, as in another process than the run's.
        """
        said = (part for message in reversed(self._ctx.messages) for part in message.parts)
        calls = (part for part in said if isinstance(part, ToolCallPart))
        name = next((each.tool_name for each in calls if each.tool_call_id == self._ctx.tool_call_id), "")
        tools = (self._ctx.tool_manager.tools if self._ctx.tool_manager else None) or {}
        validator = tools[name].args_validator_func
        if validator is not None:
            rest = values.pop(self._tool.rest, {})
            judged = validator(self._ctx, **{**values, **rest})
            if inspect.isawaitable(judged):
                await judged


def _context_of(function: Callable[..., Any]) -> str:
    """The parameter that takes the framework's context."""
    name = next(iter(inspect.signature(function).parameters), "")
    hint = get_type_hints(function).get(name)
    if RunContext not in (hint, get_origin(hint)):
        raise TypeError("a tool that takes an approval takes a RunContext first, and is made with agent.tool")
    return name


def _differ(one: object, other: object) -> bool:
    """Whether they are other JSON; to Python 1 and True are the same."""
    return canonicalize(one) != canonicalize(other)
