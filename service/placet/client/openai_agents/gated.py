"""A tool that takes an approval: what is asked about a call of it, and how it is called."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from agents import Agent, FunctionTool, RunContextWrapper, RunState, ToolApprovalItem
from agents.tool_context import ToolContext

from placet.client.decorating import Turn, during, given
from placet.client.hook_async import Hook
from placet.client.hook_options import Asking
from placet.client.openai_agents.arguments import CONTEXT, Arguments
from placet.client.questions import Actor
from placet.client.refusals import ApprovalPending, ApprovalRefused, HookRefusal

Run = RunContextWrapper[Any]
"""The framework's context of a run; its ``context`` is the runtime's own."""
State = RunState[Any, Agent[Any]]

_log: Final = logging.getLogger("placet.client.openai_agents")


class Runtime(NamedTuple):
    """What a runtime's author said of all its tools."""

    hook: Hook
    actor: Actor | Callable[[Run], Actor]
    run: str | Callable[[Run], str]
    context: Mapping[str, Any] | Callable[[Run], Mapping[str, Any]]

    def turn(self, context: Run, call_id: str | None) -> Turn:
        """For whom and within what a tool is called.

        Raises:
            ValueError: The run or the call has no id.
        """
        run = given(self.run, context)
        if not run or not call_id:
            raise ValueError("a call is known again by its run and its id: one of them is empty")
        actor, facts = given(self.actor, context), given(self.context, context)
        return Turn(actor=actor, run=run, call_id=call_id, context=facts)


class Gated:
    """A function that runs only when its call was approved.

    Args:
        runtime: Whose it is.
        function: What runs.
        question: The capability and the effect.
        said: The hook's options.
    """

    def __init__(
        self,
        runtime: Runtime,
        function: Callable[..., Any],
        question: Mapping[str, str],
        said: Mapping[str, Any],
    ) -> None:
        self.runtime = runtime
        self._arguments = Arguments(function, said.get("key"), said.get("unbound", ()))
        self._question = {**question, **{name: said[name] for name in said.keys() & Asking.__optional_keys__}}
        decorate: Any = runtime.hook.requires_approval
        self._run = decorate(**question, **{**said, "unbound": [CONTEXT]})(self._arguments.body())

    def tool(self, make: Callable[[Callable[..., Any]], FunctionTool]) -> FunctionTool:
        """The framework's tool."""
        function: Any = self._arguments.stand_in(self._called)
        function.placet_gated = self
        return make(function)

    @classmethod
    def of(cls, tool: FunctionTool) -> "Gated | None":
        """What a tool was made of, if it is one of these; a copy of one is."""
        found = getattr(getattr(tool, "__wrapped__", None), "placet_gated", None)
        return found if isinstance(found, cls) else None

    async def answer(self, state: State, item: ToolApprovalItem, timeout_s: float | None) -> None:
        """Tell a state what was decided of a call, once it is.

        Raises:
            ApprovalRefused: The service can't be asked now.
        """
        try:
            await self._look(state, item, timeout_s)
        except ApprovalPending:
            return
        except ApprovalRefused as refused:
            if refused.error.retryable:
                raise
            state.reject(item, rejection_message=refused.text)
        else:
            state.approve(item)

    async def _look(self, state: State, item: ToolApprovalItem, timeout_s: float | None) -> None:
        try:
            value = self._arguments.read(item.arguments)
        except ApprovalRefused:
            raise
        except Exception:  # noqa: BLE001 - the framework finds the same, and tells the model in its own way
            return
        context: Any = state._context  # noqa: SLF001 - a state shows it nowhere else
        turn = self.runtime.turn(context, item.call_id)
        limit = {} if timeout_s is None else {"timeout_s": timeout_s}
        said = {**self._question, "run": turn.run, "suspend": timeout_s == 0, **limit}
        look: Any = self.runtime.hook.look
        await look(input=value, actor=turn.actor, context=turn.context, call_id=turn.call_id, **said)

    async def _called(self, context: ToolContext[Any]) -> Any:  # noqa: ANN401 - the tool's own result
        try:
            value = self._arguments.read(context.tool_arguments)
            with during(self.runtime.turn(context, context.tool_call_id)):
                return await self._run(**{CONTEXT: context}, **value)
        except HookRefusal as refused:
            return refused.text
