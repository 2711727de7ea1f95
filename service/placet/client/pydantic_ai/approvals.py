"""Approvals for tools: the decorator, and what turns decisions into the framework's answers to a pause."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar, Unpack

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolApproved, ToolDenied

from placet.client.decorating import Turn, during, given
from placet.client.errors import StillPending
from placet.client.hook_async import Hook
from placet.client.hook_options import Decorating
from placet.client.pydantic_ai.calls import OURS, GatedTool
from placet.client.questions import Actor
from placet.client.refusals import ApprovalPending, ApprovalRefused, HookRefusal
from placet.client.shapes import Approval
from placet.domain.errors import ApprovalNotFound
from placet.domain.model import Status

P = ParamSpec("P")
D = TypeVar("D")
T = TypeVar("T")

_REFUSED: Final = frozenset({Status.REJECTED, Status.EXPIRED, Status.CANCELLED})
_log: Final = logging.getLogger("placet.client.pydantic_ai")


class Approvals:
    """Approvals for the tools of agents.

    Args:
        hook: Asks, proves, spends and reports.
        actor: On whose behalf a tool is called, or what tells it from the run's context; from what you know
            of who is there, never from messages.
        run: What groups calls whose ids differ. By default the conversation's id, which outlives a restart.
            Where histories come from others, give one of your own.
        context: Further facts that are bound.
    """

    def __init__(
        self,
        hook: Hook,
        *,
        actor: Actor | Callable[[RunContext[Any]], Actor],
        run: str | Callable[[RunContext[Any]], str] | None = None,
        context: Mapping[str, Any] | Callable[[RunContext[Any]], Mapping[str, Any]] | None = None,
    ) -> None:
        self._hook = hook
        self._actor = actor
        self._run = run
        self._context = context

    def requires_approval(
        self, capability: str, *, effect: str, **said: Unpack[Decorating]
    ) -> Callable[
        [Callable[Concatenate[RunContext[D], P], Any]],
        Callable[Concatenate[RunContext[D], P], Coroutine[Any, Any, Any]],
    ]:
        """Have a tool run only when its call was approved; it takes a ``RunContext`` first.

        Options are the hook's, but ``suspend`` is the default: the run pauses. With ``suspend=False`` the
        tool waits for ``timeout_s`` before it does; give it no ``timeout`` of the framework's then.
        ``unbound`` parameters and ``key`` are hidden from the model. ``gate`` is given JSON.

        It goes directly above the function: above ``agent.tool`` it would gate what the agent does not call.
        :meth:`tool` does both, in that order.

        A refusal is a failed result, which the model reads. That an execution is unknown is one too, and is
        logged as an error besides: a person has to look.

        Raises:
            TypeError: The function can't be used so.
        """

        def decorate(
            function: Callable[Concatenate[RunContext[D], P], Any],
        ) -> Callable[Concatenate[RunContext[D], P], Coroutine[Any, Any, Any]]:
            tool = GatedTool(function, said)
            options: dict[str, Any] = {"suspend": True, **said, "unbound": ()}

            @wraps(function)
            async def run(ctx: RunContext[D], /, *args: P.args, **kwargs: P.kwargs) -> Any:  # noqa: ANN401 - its own
                try:
                    call = tool.called(ctx, args, kwargs)
                    saying: Any = {**options, "gate": call.judge}
                    gated = self._hook.requires_approval(capability, effect=effect, **saying)(call.body())
                    with during(self._turn(ctx)):
                        return call.told(await gated(**call.asked))
                except ApprovalPending as pending:
                    shown = self._shown(pending.approval)
                except HookRefusal as refused:
                    raise ToolFailed(refused.text) from None
                raise ApprovalRequired(metadata={OURS: shown})

            run.__signature__ = tool.signature  # type: ignore[attr-defined] # what the model may give
            run.__annotations__ = tool.annotations
            return run

        return decorate

    def tool(
        self,
        register: Callable[[Callable[Concatenate[RunContext[D], P], Any]], T],
        capability: str,
        *,
        effect: str,
        **said: Unpack[Decorating],
    ) -> Callable[[Callable[Concatenate[RunContext[D], P], Any]], T]:
        """Gate a function and make a tool of it: ``@approvals.tool(agent.tool, "orders.refund", effect=…)``.

        Options are those of :meth:`requires_approval`; those of the framework go to ``agent.tool(…)``.
        """
        gated = self.requires_approval(capability, effect=effect, **said)
        return lambda function: register(gated(function))

    async def results(
        self, requests: DeferredToolRequests, *, timeout_s: float | None = None
    ) -> DeferredToolResults:
        """Wait for decisions on what a run is paused for, and answer each of its calls that is ours.

        What is still pending after ``timeout_s``, at once with 0, pauses the run again, so that it goes on
        with the others. Whatever is no refusal is an approval to the framework, by which the tool looks
        for itself.

        Raises:
            PlacetError: A question could not be read.
        """
        clock = asyncio.get_running_loop().time
        until_s = None if timeout_s is None else clock() + timeout_s
        results = DeferredToolResults()
        for call in requests.approvals:
            kept = requests.metadata.get(call.tool_call_id, {}).get(OURS)
            if isinstance(kept, dict):
                left_s = None if until_s is None else max(until_s - clock(), 0)
                decided = await self._decided(str(kept.get("id")), left_s)
                results.update(_answer(call, decided))
        return results

    def _turn(self, ctx: RunContext[Any]) -> Turn:
        run = ctx.conversation_id if self._run is None else given(self._run, ctx)
        if not run or not ctx.tool_call_id:
            raise TypeError("a tool that takes an approval is called in a conversation, and calls have ids")
        actor, context = given(self._actor, ctx), given(self._context or {}, ctx)
        return Turn(actor=actor, run=run, call_id=ctx.tool_call_id, context=context)

    def _shown(self, approval: Approval) -> dict[str, Any]:
        """What is shown of a question where a run is paused; it grants nothing."""
        expires = approval.expires_at.isoformat()
        return {"id": approval.id, "link": self._hook.link(approval), "expires_at": expires}

    async def _decided(self, approval_id: str, left_s: float | None) -> Approval | None:
        try:
            return await self._hook.client.wait(approval_id, timeout_s=left_s)
        except (StillPending, ApprovalNotFound):
            return None


def _answer(call: ToolCallPart, decided: Approval | None) -> DeferredToolResults:
    """The answer to one call; where nobody has decided, and of what is spent by now, its tool judges."""
    answers = DeferredToolResults(approvals={call.tool_call_id: ToolApproved()})
    if decided is not None and decided.status in _REFUSED:
        answers.approvals[call.tool_call_id] = ToolDenied(ApprovalRefused.of(decided).text)
    elif decided is not None and decided.requested is not None and _is_by_name(call, decided.input):
        answers.approvals[call.tool_call_id] = ToolApproved(override_args=decided.input)
        answers.metadata[call.tool_call_id] = {OURS: {"asked": decided.requested.input}}
    return answers


def _is_by_name(call: ToolCallPart, value: object) -> bool:
    """Whether the framework takes them as they are bound: it gives the fields of a lone model no name."""
    return isinstance(value, dict) and call.args_as_dict().keys() <= value.keys()
