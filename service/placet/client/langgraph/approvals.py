"""How tools of LangGraph are gated, and what a graph that has paused for them is resumed with."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import cycle
from typing import Any, Final, Generic, TypeAlias, TypeVar, Unpack

from langchain_core.tools import BaseTool, tool
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Command

from placet.client.decorating import given
from placet.client.errors import StillPending
from placet.client.hook_async import Hook
from placet.client.hook_options import Decorating
from placet.client.hook_sync import SyncHook
from placet.client.langgraph.calls import KIND, Gate, H
from placet.client.langgraph.tools import gated
from placet.client.questions import Actor
from placet.client.shapes import Approval
from placet.domain.canonical import canonicalize, sha256_hex

T = TypeVar("T")
Given: TypeAlias = T | Callable[[Runtime[Any]], T]
"""A value, or a function of the graph's runtime: its context, its user, its thread."""

_TURN_S: Final = 2.0
"""How long threads wait for one of several questions, before they look at the next."""


class _Faces(Generic[H]):
    """What both faces have in common.

    Args:
        hook: The hook, which stays open.
        actor: On whose behalf the tools are called.
        run: What groups calls, and within which their ids are unique. By default the graph's thread, whose id
            outlives a process; where that is not one that a run can have, say another.
        context: Further facts that are bound.
    """

    def __init__(
        self,
        hook: H,
        *,
        actor: Given[Actor],
        run: Given[str] | None = None,
        context: Given[Mapping[str, Any]] | None = None,
    ) -> None:
        self._hook: H = hook
        self._actor, self._run, self._context = actor, run, context

    def requires_approval(
        self, capability: str, *, effect: str, **said: Unpack[Decorating]
    ) -> Callable[[Callable[..., Any] | BaseTool], BaseTool]:
        """Have a function, or a tool, run only when its call was approved. It becomes a tool.

        The graph pauses; with ``suspend=False`` it waits in the call. Parameters that a graph injects are no
        part of what is approved. ``key`` and those of ``unbound`` are injected too, by an annotation.

        Raises:
            TypeError: It can't be used so.
        """
        gate = Gate(self._hook, self._turn, capability, effect, said)

        def decorate(given: Callable[..., Any] | BaseTool) -> BaseTool:
            return gated(given if isinstance(given, BaseTool) else tool(given), gate)

        return decorate

    def _turn(self, capability: str, value: object, call_id: str | None) -> dict[str, Any]:
        runtime = _runtime_of_now()
        info = runtime.execution_info
        run = info and info.thread_id if self._run is None else given(self._run, runtime)
        if not run or not info:
            raise TypeError("a gated tool takes a graph with a checkpointer, called with a thread_id")
        return {
            "actor": given(self._actor, runtime),
            "context": given(self._context, runtime),
            "run": str(run),
            "call_id": call_id or _place(info.checkpoint_ns, capability, value),
        }


class Approvals(_Faces[Hook]):
    """Approvals in graphs of asyncio: ``ainvoke``, ``astream``."""

    async def decided(self, found: object, *, timeout_s: float | None = None) -> Command[Any] | None:
        """Wait until one of the questions is decided that a graph has paused for.

        Args:
            found: What the graph answered, or its state (``graph.aget_state``), in whichever process.
            timeout_s: How long at most.

        Returns:
            What to resume it with, by the ids of its interrupts; others are left as they are. None where it
            has paused for none of ours.

        Raises:
            StillPending: Nobody has decided in time.
        """
        paused, client = _paused(found), self._hook.client
        ids = list(dict.fromkeys(paused.values()))
        while ids:
            if command := _command(paused, [await client.get(each) for each in ids]):
                return command
            await _first(client.wait(each, timeout_s=timeout_s) for each in ids)
        return None


class SyncApprovals(_Faces[SyncHook]):
    """Approvals in graphs of threads: ``invoke``, ``stream``. See :class:`Approvals`."""

    def decided(self, found: object, *, timeout_s: float | None = None) -> Command[Any] | None:
        """Wait until one of the questions is decided. See :meth:`Approvals.decided`."""
        paused, client = _paused(found), self._hook.client
        ids = list(dict.fromkeys(paused.values()))
        left_s = float("inf") if timeout_s is None else timeout_s
        ends_s = time.monotonic() + left_s
        for each in cycle(ids):
            seen = [client.get(each) for each in ids]
            if command := _command(paused, seen):
                return command
            if left_s <= 0:
                raise StillPending(seen[0])
            with suppress(StillPending):
                client.wait(each, timeout_s=timeout_s if len(ids) == 1 else min(left_s, _TURN_S))
            left_s = ends_s - time.monotonic()
        return None


def _runtime_of_now() -> Runtime[Any]:
    runtime: Runtime[Any] | None = None
    with suppress(RuntimeError, KeyError):
        runtime = get_runtime()
    if runtime is None:
        raise TypeError("a gated tool is called within a graph")
    return runtime


def _place(namespace: str, capability: str, value: object) -> str:
    """An id for a call that has none: the same when its node runs again, and for no other input."""
    return sha256_hex(canonicalize([namespace, capability, value]))


async def _first(waiting: Iterable[Any]) -> None:
    """Wait for the first of them."""
    tasks = [asyncio.ensure_future(each) for each in waiting]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _paused(found: Any) -> dict[str, str]:  # noqa: ANN401 - an answer of either version, or a state
    """The interrupts that are ours, by their ids: for which approval each is."""
    those = found.get("__interrupt__", ()) if isinstance(found, Mapping) else getattr(found, "interrupts", ())
    values = {one.id: one.value for one in those if isinstance(one.value, Mapping)}
    return {each: str(value["approval"]) for each, value in values.items() if value.get("type") == KIND}


def _command(paused: Mapping[str, str], seen: Iterable[Approval]) -> Command[Any] | None:
    status = {each.id: each.status for each in seen if not each.is_pending}
    answers = {one: status[approval] for one, approval in paused.items() if approval in status}
    return Command(resume=answers) if answers else None
