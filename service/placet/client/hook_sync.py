"""The hook for threads. The laws of it are in :mod:`placet.client.hook`."""

import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import wraps
from threading import Lock
from types import TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar, Unpack

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
from placet.client.shapes import Approval
from placet.client.synchronous import Client
from placet.client.verifying import KeyCache, wall_ms
from placet.tokens.jwks import VerificationKeys

_REPORTS_AT_ONCE: Final = 4

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class SyncGrant:
    """The tool may run, now, once, with ``input``. ``with`` reports how that ended.

    Attributes:
        input: The effective input.
        approval: The record as it was approved.
        execution_id: The execution; for an idempotent tool its key.
    """

    def __init__(self, hook: "SyncHook", go: GoAhead, telling: Telling) -> None:
        self._hook = hook
        self._go = go
        self._telling = telling
        self._told = False
        self.input: Any = go.call.input
        self.approval: Approval = go.approval
        self.execution_id = go.execution_id

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.succeeded()
        else:
            self.failed(self._telling.failure(error))

    def succeeded(self, summary: str | None = None) -> None:
        """Report that it did what it should; only the first report counts."""
        self._report("succeeded", summary)

    def failed(self, summary: str | None = None) -> None:
        """Report that it did not."""
        self._report("failed", summary)

    def _report(self, status: str, summary: str | None) -> None:
        if not self._told:
            self._told = True
            self._hook.tell(self._go, status, summary)


class SyncHook:
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
        client: Client,
        *,
        audience: str,
        surface: str = "direct",
        tenant: str = "default",
        issuer: str | None = None,
        journal: Journal | None = None,
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        given: object = client
        if isinstance(given, AsyncClient):
            raise TypeError("threads take a Client; for an AsyncClient there is Hook")
        self.client = client
        self.surface = surface
        self._journal = journal
        self._desk = desk_of(
            client, audience=audience, tenant=tenant, issuer=issuer, journal=journal, now_ms=now_ms
        )
        self.expected = self._desk.expected
        self._keys = KeyCache()
        self._one = Lock()
        self._aside = ThreadPoolExecutor(max_workers=_REPORTS_AT_ONCE, thread_name_prefix="placet-report")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the reports that are on their way."""
        self._aside.shutdown()

    def link(self, approval: Approval) -> str:
        """Where people decide it: the page's address."""
        return self.expected.link(approval)

    def authorize(
        self,
        capability: str,
        input: Any,  # noqa: A002, ANN401 - the API's own name; any JSON
        *,
        actor: Actor,
        effect: str,
        context: Mapping[str, Any] | None = None,
        call_id: str | None = None,
        **asking: Unpack[Asking],
    ) -> SyncGrant:
        """Ask, wait, prove, spend. Once it returns, run the tool with the grant's input, and report.

        Raises:
            ApprovalPending: Nobody has decided in time, or it was asked not to wait.
            ApprovalRefused: It may not run.
            ExecutionUnknown: It may have run before.
        """
        call = called(capability, input, actor, effect, context, self.surface)
        go = self._walked(self._desk.asked(question_of(call, call_id, asking)))
        return SyncGrant(self, go, Telling())

    def look(
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
        return self._walked(self._desk.looked(question_of(call, call_id, asking)))

    def resume(
        self,
        handle: object,
        input: Any,  # noqa: A002, ANN401 - as above
        *,
        actor: Actor,
        effect: str,
        context: Mapping[str, Any] | None = None,
        **asking: Unpack[Asking],
    ) -> SyncGrant:
        """Go on with a question, in whichever process: ``handle`` or its JSON, and the call as it was.

        Raises as :meth:`authorize` does.
        """
        known = handle_of(handle)
        call = called(known.capability, input, actor, effect, context, self.surface)
        said = {**asking, **({"run": known.run} if known.run else {})}
        go = self._walked(self._desk.resumed(question_of(call, known.call_id, said), known))
        return SyncGrant(self, go, Telling())

    def requires_approval(
        self, capability: str, *, effect: str, **said: Unpack[Decorating]
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Have a function run only when its call was approved; it is called in a :class:`Turn`.

        Raises:
            TypeError: The function can't be used so.
        """

        def decorate(function: Callable[P, R]) -> Callable[P, R]:
            if any(inspect.iscoroutinefunction(each) for each in (function, said.get("gate"))):
                raise TypeError("a coroutine takes the Hook of asyncio")
            tool = Tool.of(function, capability, effect, said)

            @wraps(function)
            def run(*args: P.args, **kwargs: P.kwargs) -> R:
                result: R = self._ran(function, tool, args, kwargs)
                return result

            return run

        return decorate

    def tell(self, go: GoAhead, status: str, summary: str | None) -> None:
        """Report an outcome on the side, and wait for it a moment."""
        try:
            task = self._aside.submit(self._told, go, status, summary)
        except RuntimeError as closed:  # by now, or the interpreter ends
            unreported(go.approval.id, closed)
        else:
            wait([task], timeout=PATIENCE_S)

    def _ran(
        self, function: Callable[..., Any], tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:  # noqa: ANN401 - the tool's own result
        bound, question, handle = prepared(tool, args, kwargs, self.surface)
        steps = self._desk.asked(question) if handle is None else self._desk.resumed(question, handle)
        go = self._walked(steps)
        with SyncGrant(self, go, tool.telling) as grant:
            how = tool.form.call(bound, go.call.input, go.execution_id)
            result = function(*how.args, **how.kwargs)
            if inspect.isawaitable(result):
                raise TypeError("a coroutine takes the Hook of asyncio")
            grant.succeeded(tool.telling.result(result))
        return result

    def _told(self, go: GoAhead, status: str, summary: str | None) -> None:
        try:
            self._written(go.entry("ended", status))
            self.client.report(go.approval.id, go.execution_id, status, summary=summary)
            self._written(go.entry("over"))
        except Exception as fault:  # noqa: BLE001 - the tool has run; nothing here may hide that
            unreported(go.approval.id, fault)
        finally:
            self._desk.running.over(go)

    def _written(self, entry: Entry) -> None:
        if self._journal is not None:
            self._journal.write(entry)

    def _walked(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                fault, heard = None, None
                try:
                    heard = self._taken(step)
                except BaseException as broken:  # noqa: BLE001 - the procedure judges it
                    fault = broken
                # Out here, so that no refusal drags it along: it may hold anything.
                step = steps.send(heard) if fault is None else steps.throw(fault)
        except StopIteration as end:
            value: T = end.value
            return value

    def _taken(self, step: Step) -> Any:  # noqa: ANN401 - what came of it
        match step:
            case Verb():
                return getattr(self.client, step.method)(*step.said, **step.options)
            case Keys():
                return self._fetched(step.refused)
            case Judged():
                return step.gate(step.input)
            case _:
                return self._written(step.entry)

    def _fetched(self, refused: VerificationKeys | None) -> VerificationKeys | None:
        with self._one:
            if self._keys.wants(refused):
                self._keys.keep(self.client.jwks())
            return self._keys.keys
