"""Tools of LangChain that ask before they run: a tool within a tool, which looks the same from outside."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from langchain_core.runnables.config import run_in_executor
from langchain_core.tools import BaseTool, InjectedToolCallId, Tool
from langchain_core.tools.base import _is_injected_arg_type, get_all_basemodel_annotations
from langgraph.prebuilt.tool_node import _get_all_injected_args
from langgraph.types import interrupt
from pydantic import Field

from placet.client.decorating import no_generator
from placet.client.hook_async import Grant, Hook
from placet.client.hook_sync import SyncGrant
from placet.client.langgraph.calls import LANGCHAINS, Call, Gate, visible
from placet.client.refusals import ApprovalPending, HookRefusal


def gated(tool: BaseTool, gate: Gate[Any]) -> BaseTool:
    """A tool with a gate before it.

    Raises:
        TypeError: It can't be gated so.
    """
    if isinstance(tool, Gated):
        raise TypeError(f"{tool.name} is gated already")
    if isinstance(tool, Tool) and tool.args_schema is None:
        raise TypeError(f"{tool.name} has no parameters that could be approved: give it an args_schema")
    hidden = gate.unbound | ({gate.key} if gate.key else set())
    if shown := visible(tool, dict.fromkeys(hidden)):
        raise TypeError(f"a model sees {', '.join(sorted(shown))}: annotate it with InjectedToolArg")
    bodies: Any = (getattr(tool, name, None) for name in ("func", "coroutine", "_run", "_arun"))
    for body in bodies:
        no_generator(body)
    is_async = isinstance(gate.hook, Hook)
    if not is_async and getattr(tool, "coroutine", None) and not getattr(tool, "func", None):
        raise TypeError("a coroutine takes Approvals, with the Hook of asyncio")
    kind = AsyncGated if is_async else SyncGated
    said = {name: getattr(tool, name) for name in BaseTool.model_fields}
    return kind(**said, tool=tool, gate=gate, apart=_given_by_langgraph(tool) | hidden)


class Gated(BaseTool):
    """A tool in whose place this one is: what there is to see of it is the tool's."""

    tool: BaseTool = Field(exclude=True, repr=False)
    gate: Any = Field(exclude=True, repr=False)
    apart: frozenset[str] = Field(exclude=True, repr=False)

    @property
    def func(self) -> Callable[..., Any] | None:
        """What is inspected for parameters that are injected. It runs nothing, whoever calls it."""
        body = getattr(self.tool, "func", None) or getattr(self.tool, "coroutine", None)
        return None if body is None else wraps(body)(lambda *_, **__: self._run())

    def get_input_schema(self, config: Any = None) -> Any:  # noqa: ANN401 - as LangChain has it
        """The tool's."""
        return self.tool.get_input_schema(config)

    def _run(self, *_args: object, **_kwargs: object) -> Any:  # noqa: ANN401
        raise NotImplementedError  # the tool runs by itself, once it may

    def _call(self, value: object, call_id: str | None) -> Call:
        return Call(self.tool, self.gate, self.apart, value, call_id)

    def _pause(self, call: Call, pending: ApprovalPending) -> None:
        """Pause the graph. If this returns, it was resumed, with whatever: a reason to look again."""
        if not self.gate.pauses:
            raise pending
        interrupt(call.card(pending))


class AsyncGated(Gated):
    """One for asyncio."""

    def run(self, *_args: object, **_kwargs: object) -> Any:  # noqa: ANN401
        """Refuse: it is awaited."""
        raise TypeError("this tool is for asyncio; for threads there is SyncApprovals")

    async def arun(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        """Ask, and run."""
        call = self._call(tool_input, tool_call_id)
        try:
            grant = await self._granted(call)
        except HookRefusal as refusal:
            return call.refused(refusal)
        running = self.tool.arun(call.arguments(grant), *args, tool_call_id=tool_call_id, **kwargs)
        reported = self._reported(call, grant, running)
        if not _blocks(self.tool):
            return await reported
        # A thread goes on whatever becomes of who waits for it: so does what tells how it ended.
        return await asyncio.shield(self.gate.hook.aside(reported))

    async def _granted(self, call: Call) -> Grant:
        question = call.question()
        while True:
            try:
                grant: Grant = await self.gate.hook.authorize(**question)
            except ApprovalPending as found:
                pending = found
            else:
                return grant
            self._pause(call, pending)

    async def _reported(self, call: Call, grant: Grant, running: Awaitable[Any]) -> Any:  # noqa: ANN401
        try:
            output = await running
        except BaseException as error:
            await grant.failed(self.gate.telling.failure(error))
            raise
        verb, summary = call.ended(output)
        await getattr(grant, verb)(summary)
        return call.noted(output, grant)


class SyncGated(Gated):
    """One for threads."""

    async def arun(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Run in one."""
        return await run_in_executor(None, self.run, *args, **kwargs)

    def run(self, tool_input: Any, *args: Any, tool_call_id: str | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        """Ask, and run."""
        call = self._call(tool_input, tool_call_id)
        try:
            grant = self._granted(call)
        except HookRefusal as refusal:
            return call.refused(refusal)
        try:
            output = self.tool.run(call.arguments(grant), *args, tool_call_id=tool_call_id, **kwargs)
        except BaseException as error:
            grant.failed(self.gate.telling.failure(error))
            raise
        verb, summary = call.ended(output)
        getattr(grant, verb)(summary)
        return call.noted(output, grant)

    def _granted(self, call: Call) -> SyncGrant:
        question = call.question()
        while True:
            try:
                grant: SyncGrant = self.gate.hook.authorize(**question)
            except ApprovalPending as found:
                pending = found
            else:
                return grant
            self._pause(call, pending)


def _given_by_langgraph(tool: BaseTool) -> frozenset[str]:
    """Parameters that a graph gives, whatever a model wrote."""
    those = _get_all_injected_args(tool)
    shapes = get_all_basemodel_annotations(tool.get_input_schema()).items()
    ids = {name for name, each in shapes if _is_injected_arg_type(each, InjectedToolCallId)}
    return LANGCHAINS | ids | {*those.state, *filter(None, (those.store, those.runtime))}


def _blocks(tool: BaseTool) -> bool:
    """Whether its body runs in a thread: LangChain's own way of awaiting what can't be awaited."""
    awaits: Any = type(tool)._arun  # noqa: SLF001 - whose it is
    return getattr(tool, "coroutine", None) is None and awaits.__module__.startswith("langchain_core.")
