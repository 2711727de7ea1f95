"""The hook for asyncio. The laws of it are in :mod:`placet.client.hook`."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, Unpack

from placet.client.asynchronous import AsyncClient
from placet.client.hook_options import (
    Asking,
    Decorating,
    Tool,
    called,
    desk_of,
    handle_of,
    prepared,
    question_of,
)
from placet.client.hook_values import GoAhead, Judged, Keys, Step, Steps, Verb
from placet.client.journal import Entry, Journal
from placet.client.questions import Actor
from placet.client.reporting import PATIENCE_S, Telling, unreported
from placet.client.running import in_thread
from placet.client.shapes import Approval
from placet.client.synchronous import Client
from placet.client.verifying import KeyCache, wall_ms
from placet.tokens.jwks import VerificationKeys

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Grant:
    """The tool may run, now, once, with ``input``. ``async with`` reports how that ended.

    Attributes:
        input: The effective input.
        approval: The record as it was approved.
        execution_id: The execution; for an idempotent tool its key.
    """

    def __init__(self, hook: "Hook", go: GoAhead, telling: Telling) -> None:
        self._hook = hook
        self._go = go
        self._telling = telling
        self._told = False
        self.input: Any = go.call.input
        self.approval: Approval = go.approval
        self.execution_id = go.execution_id

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            await self.succeeded()
        else:
            await self.failed(self._telling.failure(error))

    async def succeeded(self, summary: str | None = None) -> None:
        """Report that it did what it should; only the first report counts."""
        await self._report("succeeded", summary)

    async def failed(self, summary: str | None = None) -> None:
        """Report that it did not."""
        await self._report("failed", summary)

    async def _report(self, status: str, summary: str | None) -> None:
        if not self._told:
            self._told = True
            await self._hook.tell(self._go, status, summary)


class Hook:
    """A hook: one for a process, beside its client. A context manager, which waits for the last reports.

    Args:
        client: The client, which stays open.
        audience: The name of the client that consumes, as tokens have it: this one's own.
        surface: Where its tools are called.
        tenant: Its tenant.
        issuer: The service's public URL, where it is called by another.
        journal: What outlives this process.
        now_ms: This machine's clock, Unix milliseconds.

    Attributes:
        expected: Whose tokens count, and for whom.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        audience: str,
        surface: str = "direct",
        tenant: str = "default",
        issuer: str | None = None,
        journal: Journal | None = None,
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        given: object = client
        if isinstance(given, Client):
            raise TypeError("asyncio takes an AsyncClient; for a Client there is SyncHook")
        self.client = client
        self.surface = surface
        self._journal = journal
        self._desk = desk_of(
            client, audience=audience, tenant=tenant, issuer=issuer, journal=journal, now_ms=now_ms
        )
        self.expected = self._desk.expected
        self._keys = KeyCache()
        self._one = asyncio.Lock()
        self._tasks: set[asyncio.Future[Any]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Wait for what still runs in threads, and for reports that are on their way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def link(self, approval: Approval) -> str:
        """Where people decide it: the page's address."""
        return self.expected.link(approval)

    async def authorize(
        self,
        capability: str,
        input: Any,  # noqa: A002, ANN401 - the API's own name; any JSON
        *,
        actor: Actor,
        effect: str,
        context: Mapping[str, Any] | None = None,
        call_id: str | None = None,
        **asking: Unpack[Asking],
    ) -> Grant:
        """Ask, wait, prove, spend. Once it returns, run the tool with the grant's input, and report.

        Raises:
            ApprovalPending: Nobody has decided in time, or it was asked not to wait.
            ApprovalRefused: It may not run.
            ExecutionUnknown: It may have run before.
        """
        call = called(capability, input, actor, effect, context, self.surface)
        go = await self._walked(self._desk.asked(question_of(call, call_id, asking)))
        return Grant(self, go, Telling())

    async def look(
        self,
        capability: str,
        input: Any,  # noqa: A002, ANN401 - as above
        *,
        actor: Actor,
        effect: str,
        context: Mapping[str, Any] | None = None,
        call_id: str | None = None,
        **asking: Unpack[Asking],
    ) -> Approval:
        """Ask, and see what was decided; nothing is spent. The record is approved, or spent by now.

        For a runtime that pauses by its own means: to run the tool, the same is authorized afterwards.

        Raises:
            ApprovalPending: Nobody has decided in time, or it was asked not to wait.
            ApprovalRefused: It may not run.
        """
        call = called(capability, input, actor, effect, context, self.surface)
        return await self._walked(self._desk.looked(question_of(call, call_id, asking)))

    async def resume(
        self,
        handle: object,
        input: Any,  # noqa: A002, ANN401 - as above
        *,
        actor: Actor,
        effect: str,
        context: Mapping[str, Any] | None = None,
        **asking: Unpack[Asking],
    ) -> Grant:
        """Go on with a question, in whichever process: ``handle`` or its JSON, and the call as it was.

        Raises as :meth:`authorize` does.
        """
        known = handle_of(handle)
        call = called(known.capability, input, actor, effect, context, self.surface)
        said = {**asking, **({"run": known.run} if known.run else {})}
        go = await self._walked(self._desk.resumed(question_of(call, known.call_id, said), known))
        return Grant(self, go, Telling())

    def requires_approval(
        self, capability: str, *, effect: str, **said: Unpack[Decorating]
    ) -> Callable[[Callable[P, Awaitable[R] | R]], Callable[P, Coroutine[Any, Any, R]]]:
        """Have a function run only when its call was approved; it is called in a :class:`Turn`.

        One that blocks runs in a thread.

        Raises:
            TypeError: The function can't be used so.
        """

        def decorate(function: Callable[P, Any]) -> Callable[P, Coroutine[Any, Any, R]]:
            tool = Tool.of(function, capability, effect, said)

            @wraps(function)
            async def run(*args: P.args, **kwargs: P.kwargs) -> R:
                result: R = await self._ran(function, tool, args, kwargs)
                return result

            return run

        return decorate

    async def tell(self, go: GoAhead, status: str, summary: str | None) -> None:
        """Report an outcome on the side, and wait for it a moment."""
        task = self.aside(self._told(go, status, summary))
        await asyncio.wait({task}, timeout=PATIENCE_S)

    def aside(self, running: Coroutine[Any, Any, R]) -> "asyncio.Task[R]":
        """Have something go on by itself; closing waits for it."""
        task = asyncio.create_task(running)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def _ran(
        self, function: Callable[..., Any], tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:  # noqa: ANN401 - the tool's own result
        bound, question, handle = prepared(tool, args, kwargs, self.surface)
        steps = self._desk.asked(question) if handle is None else self._desk.resumed(question, handle)
        go = await self._walked(steps)
        blocks = not inspect.iscoroutinefunction(function)

        def running() -> Awaitable[Any]:
            how = tool.form.call(bound, go.call.input, go.execution_id)
            if blocks:
                return in_thread(function, *how.args, **how.kwargs)
            started: Awaitable[Any] = function(*how.args, **how.kwargs)
            return started

        reported = self._reported(go, tool.telling, running)
        # A thread goes on whatever becomes of who waits for it: so does what tells how it ended.
        return await (asyncio.shield(self.aside(reported)) if blocks else reported)

    async def _reported(self, go: GoAhead, telling: Telling, running: Callable[[], Awaitable[R]]) -> R:
        async with Grant(self, go, telling) as grant:
            result = await running()
            if inspect.isawaitable(result):  # of a callable that does not look like a coroutine
                result = await result
            await grant.succeeded(telling.result(result))
        return result

    async def _told(self, go: GoAhead, status: str, summary: str | None) -> None:
        try:
            await self._written(go.entry("ended", status))
            await self.client.report(go.approval.id, go.execution_id, status, summary=summary)
            await self._written(go.entry("over"))
        except Exception as fault:  # noqa: BLE001 - the tool has run; nothing here may hide that
            unreported(go.approval.id, fault)
        finally:
            self._desk.running.over(go)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # told to who waits, if anybody still does

    async def _written(self, entry: Entry) -> None:
        if self._journal is not None:
            await asyncio.to_thread(self._journal.write, entry)

    async def _walked(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                fault, heard = None, None
                try:
                    heard = await self._taken(step)
                except BaseException as broken:  # noqa: BLE001 - the procedure judges it
                    fault = broken
                # Out here, so that no refusal drags it along: it may hold anything.
                step = steps.send(heard) if fault is None else steps.throw(fault)
        except StopIteration as end:
            value: T = end.value
            return value

    async def _taken(self, step: Step) -> Any:  # noqa: ANN401 - what came of it
        match step:
            case Verb(within_s=None):
                return await self._done(step)
            case Verb():
                # It is withdrawn because of a cancellation, and anyio goes on cancelling whoever waits.
                return await asyncio.shield(self.aside(self._done(step)))
            case Keys():
                return await self._fetched(step.refused)
            case Judged():
                said = step.gate(step.input)
                return await said if inspect.isawaitable(said) else said
            case _:
                return await self._written(step.entry)

    async def _done(self, step: Verb) -> Any:  # noqa: ANN401 - as above
        async with asyncio.timeout(step.within_s):
            return await getattr(self.client, step.method)(*step.said, **step.options)

    async def _fetched(self, refused: VerificationKeys | None) -> VerificationKeys | None:
        async with self._one:
            if self._keys.wants(refused):
                self._keys.keep(await self.client.jwks())
            return self._keys.keys
