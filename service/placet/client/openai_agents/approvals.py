"""Approvals for agents: what makes a tool of a function, and answers what interrupts a run."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Unpack

from agents import FunctionTool, RunResult, RunResultStreaming, RunState, ToolApprovalItem, function_tool

from placet.client.hook_async import Hook
from placet.client.hook_options import Decorating
from placet.client.openai_agents.gated import Gated, Run, Runtime, State
from placet.client.questions import Actor
from placet.domain.model import Verdict


class Approvals:
    """Approvals for the tools of agents. What it is told is the runtime's own, never what a model wrote.

    Args:
        hook: What asks and spends.
        actor: On whose behalf: an actor, or what finds it out from the framework's context.
        run: The id of the run: one, or what finds it out. It has to be the same after a restart, and another
            for every run, since models number their calls as they like.
        context: Further facts that are bound: some, or what finds them out.
    """

    def __init__(
        self,
        hook: Hook,
        *,
        actor: Actor | Callable[[Run], Actor],
        run: str | Callable[[Run], str],
        context: Mapping[str, Any] | Callable[[Run], Mapping[str, Any]] | None = None,
    ) -> None:
        self._runtime = Runtime(hook, actor, run, context or {})

    def requires_approval(
        self,
        capability: str,
        *,
        effect: str,
        tool: Callable[[Callable[..., Any]], FunctionTool] = function_tool,
        **said: Unpack[Decorating],
    ) -> Callable[[Callable[..., Any]], FunctionTool]:
        """Make a tool of a function that runs only when its call was approved.

        Its first parameter may be the framework's context. A function that blocks runs in a thread. With
        ``suspend=False`` its call takes as long as people do, and interrupts nothing.

        Args:
            capability: As the hook has it; so are all the other options.
            effect: As the hook has it.
            tool: What makes the framework's tool, such as ``partial(function_tool, name_override="refund")``.
            **said: The hook's options.

        Raises:
            TypeError: The function can't be used so, or not with these options.
        """
        if said.get("edits") or Verdict.EDIT in said.get("allowed_decisions", ()):
            raise TypeError(
                "the framework runs a tool with the model's own arguments and no others:"
                " nobody can approve with changes, so leave 'edit' out of allowed_decisions"
            )
        asking: dict[str, Any] = {"suspend": True, **said, "edits": False}

        def decorate(function: Callable[..., Any]) -> FunctionTool:
            gated = Gated(self._runtime, function, {"capability": capability, "effect": effect}, asking)
            made = gated.tool(tool)
            if asking["suspend"]:
                made.needs_approval = True
            return made

        return decorate

    async def answer(
        self, paused: RunResult | RunResultStreaming | State, *, timeout_s: float | None = None
    ) -> State:
        """Ask about the calls that interrupt a run, wait, and tell its state what was decided, one by one.

        Calls of which nothing was decided in time interrupt the run again. Those of other tools are left as
        they are: answer them before the run goes on.

        Args:
            paused: The result of a run, or its state.
            timeout_s: How long to wait, in place of what the tools say; 0 to take what is decided by now.

        Returns:
            The state: to go on with, or to be kept.

        Raises:
            ApprovalRefused: The service could not be asked; try again.
        """
        state = paused if isinstance(paused, RunState) else paused.to_state()
        items = [(item, self._known(item)) for item in state.get_interruptions()]
        answers = (gated.answer(state, item, timeout_s) for item, gated in items if gated is not None)
        for fault in await asyncio.gather(*answers, return_exceptions=True):
            if isinstance(fault, BaseException):
                raise fault
        return state

    def _known(self, item: ToolApprovalItem) -> Gated | None:
        """The tool that a call is for, where it is one of these and no other has its name."""
        tools = [each for each in getattr(item.agent, "tools", ()) if isinstance(each, FunctionTool)]
        named = [each for each in tools if each.qualified_name == item.qualified_name]
        gated = Gated.of(named[0]) if len(named) == 1 else None
        return gated if gated is not None and gated.runtime is self._runtime else None
