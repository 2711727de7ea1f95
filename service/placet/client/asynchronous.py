"""The agent's side of Placet, for asyncio."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from secrets import token_hex
from types import TracebackType
from typing import Any, Final, Self, TypeVar, Unpack

import httpx
from msgspec import UNSET

from placet.client import calls
from placet.client.calls import Call
from placet.client.following import Following
from placet.client.questions import Filters, ListFilters, Terms, ToolCall, Vote
from placet.client.shapes import (
    Approval,
    Decided,
    Event,
    Gap,
    Introspection,
    Page,
    RunCancelled,
    Spent,
    TrailLine,
)
from placet.client.steps import POLL_S, Attempt, Heard, Pause, Retries, Steps, settled, waited
from placet.client.wire import Where, answer_of, is_answer, reply_of
from placet.domain.errors import PlacetError

T = TypeVar("T")
Progress = Callable[[Approval], Awaitable[None] | None]

_RETRIES: Final = Retries()
_KEY_BYTES: Final = 16


class AsyncClient:
    """A client of the service: one for a process, shared by all of its tasks. A context manager.

    Whatever can't be done raises: a :class:`~placet.domain.errors.PlacetError` (the class of the code, with
    its faces), or :class:`~placet.client.errors.StillPending`. Calls that got lost are made again where that
    can't do anything twice. A call can be cancelled like any task.

    Args:
        url: ``https://host[:port]``; ``http://`` on this machine.
        token: The credential. It goes to that host alone.
        timeout_s: How long an answer may take.
        retries: How often a call that got lost, or was put off, is made again.
        allow_http: Send the credential unencrypted to other machines too.
        http: The HTTP client to use, which stays open then; by default one of its own.
        sleep: How to let time pass.

    Raises:
        ValueError: The URL or the token can't be one.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = 15.0,
        retries: Retries = _RETRIES,
        allow_http: bool = False,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        self._where = Where.of(url, token, timeout_s=timeout_s, allow_http=allow_http)
        self._retries = retries
        self._own = http is None
        self._http = httpx.AsyncClient(**self._where.pool()) if http is None else http
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Let the connections go."""
        if self._own:
            await self._http.aclose()

    @property
    def url(self) -> str:
        """Where the service is."""
        return self._where.url

    async def ask(
        self,
        call: ToolCall,
        *,
        idempotency_key: str | None = None,
        join: bool = False,
        **terms: Unpack[Terms],
    ) -> Approval:
        """Ask for approval of a call.

        Args:
            call: The call as it would run.
            idempotency_key: Makes asking again, after a restart too, the same question. By default a new one.
            join: Send none, and get an identical question of this client that is still pending, if there is
                one; then a question that got lost is not asked again by itself.
            terms: What else there is to say.
        """
        key = idempotency_key or (None if join else token_hex(_KEY_BYTES))
        return await self._made(calls.ask(call, terms, key))

    async def get(self, approval_id: str) -> Approval:
        """Read an approval; while it is approved, with a fresh token."""
        return await self._made(calls.get(approval_id))

    async def wait(
        self,
        approval_id: str,
        *,
        timeout_s: float | None = None,
        on_progress: Progress | None = None,
        poll_s: int = POLL_S,
    ) -> Approval:
        """Wait until an approval is no longer pending, for as long as it takes.

        Args:
            approval_id: Which.
            timeout_s: How long at most. While there is time, outages are sat out; without a limit, only as
                long as ``retries`` says.
            on_progress: Called with the record after each poll that ended without a decision.
            poll_s: How long one poll waits; up to 60, where the service has no other limit.

        Raises:
            StillPending: Nobody has decided in time.
        """
        steps = waited(approval_id, self._retries, timeout_s=timeout_s, poll_s=poll_s)
        return await self._run(steps, on_progress)

    async def page(self, *, cursor: str | None = None, **filters: Unpack[ListFilters]) -> Page:
        """One page of the approvals that one may see, newest first."""
        return await self._made(calls.page(filters, cursor))

    async def list(self, **filters: Unpack[ListFilters]) -> AsyncIterator[Approval]:
        """All of them, page after page; ``limit`` is how many there are on a page."""
        page = await self.page(**filters)
        while True:
            for approval in page.items:
                yield approval
            if page.next_cursor is None:
                return
            page = await self.page(cursor=page.next_cursor, **filters)

    async def trail(self, approval_id: str) -> tuple[TrailLine, ...]:
        """An approval's audit trail."""
        return await self._made(calls.trail(approval_id))

    async def decide(
        self,
        approval_id: str,
        decision: str,
        digest: str,
        *,
        comment: str | None = None,
        input: Any = UNSET,  # noqa: A002, ANN401 - the API's own name; any JSON
        approver: str | None = None,
    ) -> Approval:
        """Decide on the card that was shown: ``digest`` is its."""
        vote = Vote(
            id=approval_id, decision=decision, digest=digest, comment=comment, input=input, approver=approver
        )
        return await self._made(calls.decide(vote))

    async def decide_many(self, votes: Sequence[Vote]) -> tuple[Decided, ...]:
        """Decide several, each by itself; what became of them, in their order."""
        return await self._made(calls.decide_many(votes))

    async def cancel(self, approval_id: str) -> Approval:
        """Withdraw a question, or a grant that was not used."""
        return await self._made(calls.cancel(approval_id))

    async def cancel_run(self, run: str) -> RunCancelled:
        """Withdraw whatever a run still has open."""
        return await self._made(calls.cancel_run(run))

    async def consume(
        self,
        approval_id: str,
        call: ToolCall,
        *,
        token: str | None,
        execution_id: str | None = None,
        fresh: bool | None = None,
    ) -> Spent:
        """Spend a grant. Run the tool where the answer has ``go_ahead``, and nowhere else.

        Args:
            approval_id: Whose.
            call: The call about to run (:meth:`Approval.effective`).
            token: The token of the approval as it was read.
            execution_id: The execution it is to run in. By default a new one, of which nobody else knows:
                then an answer that got lost is resolved here. With one of your own, to be given again after
                a restart, ``replayed`` says that it was spent before, and there is no ``go_ahead``.
            fresh: That an id of your own is as new: drawn at random for this very call, never given again.
        """
        execution = execution_id or token_hex(_KEY_BYTES)
        fresh = execution_id is None if fresh is None else fresh
        return await self._made(
            calls.consume(approval_id, call, token=token, execution_id=execution, fresh=fresh)
        )

    async def report(
        self, approval_id: str, execution_id: str, status: str, *, summary: str | None = None
    ) -> Approval:
        """Report how the execution ended: ``succeeded`` or ``failed``."""
        return await self._made(calls.report(approval_id, execution_id, status, summary))

    async def introspect(
        self, call: ToolCall, token: str, *, execution_id: str | None = None
    ) -> Introspection:
        """Whether a token would be taken for a call; changes nothing."""
        return await self._made(calls.introspect(call, token, execution_id))

    async def jwks(self) -> bytes:
        """The keys to verify tokens with offline (:mod:`placet.tokens.jwks`)."""
        return await self._made(calls.jwks())

    async def events(
        self, *, last_event_id: str | None = None, **filters: Unpack[Filters]
    ) -> AsyncIterator[Event | Gap]:
        """Follow what happens, without end: a connection that broke is made again where it was left off.

        Leave it in good order with ``contextlib.aclosing``.

        Args:
            last_event_id: The ``entry`` of the last event that is known; by default from now on.
            filters: What to hear of.
        """
        following = Following(filters, last_event_id, self._retries)
        while True:
            call, request_id, fault = following.call(), token_hex(_KEY_BYTES), None
            request = self._http.build_request(**self._where.stream(call, request_id))
            try:
                response = await self._http.send(request, stream=True, follow_redirects=False, auth=None)
                try:
                    head = reply_of(response.status_code, response.headers, b"")
                    if not is_answer(call, head.status, head.media_type):
                        answer_of(call, reply_of(head.status, response.headers, await response.aread()))
                    async for chunk in response.aiter_bytes():
                        for each in following.heard(chunk):
                            yield each
                finally:
                    await response.aclose()
            except httpx.HTTPError as broken:
                fault = self._where.fault(call, broken)
            except PlacetError as refused:
                fault = refused
            if fault is not None:
                fault.request_id = fault.request_id or request_id
            await self._sleep(following.pause_s(fault))

    async def _made(self, call: Call[T]) -> T:
        return await self._run(settled(call, self._retries))

    async def _run(self, steps: Steps[T], on_progress: Progress | None = None) -> T:
        heard: Heard = None
        while True:
            try:
                step = steps.send(heard)
            except StopIteration as end:
                answer: T = end.value
                return answer
            heard = None
            match step:
                case Attempt():
                    heard = await self._sent(step)
                case Pause():
                    await self._sleep(step.seconds)
                case _ if on_progress is not None:
                    told = on_progress(step.approval)
                    if told is not None:
                        await told

    async def _sent(self, attempt: Attempt) -> Heard:
        request = self._http.build_request(**self._where.request(attempt.call, attempt.request_id))
        try:
            response = await self._http.send(request, follow_redirects=False, auth=None)
        except httpx.HTTPError as fault:
            return self._where.fault(attempt.call, fault)
        return reply_of(response.status_code, response.headers, response.content)
