"""The agent's side of Placet, for threads."""

import time
from collections.abc import Callable, Iterator, Sequence
from secrets import token_hex
from threading import Event as Flag
from types import TracebackType
from typing import Any, Final, Self, TypeVar, Unpack

import httpx
from msgspec import UNSET

from placet.client import calls
from placet.client.calls import Call
from placet.client.errors import StillPending
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
Progress = Callable[[Approval], object]

_RETRIES: Final = Retries()
_KEY_BYTES: Final = 16
_LOOKS_UP_S: Final = 5
"""How long a poll waits where the wait may be stopped: nothing else interrupts it."""


class Client:
    """A client of the service: one for a process, shared by all of its threads. A context manager.

    Whatever can't be done raises: a :class:`~placet.domain.errors.PlacetError` (the class of the code, with
    its faces), or :class:`~placet.client.errors.StillPending`. Calls that got lost are made again where that
    can't do anything twice.

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
        http: httpx.Client | None = None,
        sleep: Callable[[float], Any] = time.sleep,
    ) -> None:
        self._where = Where.of(url, token, timeout_s=timeout_s, allow_http=allow_http)
        self._retries = retries
        self._own = http is None
        self._http = httpx.Client(**self._where.pool()) if http is None else http
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the connections go."""
        if self._own:
            self._http.close()

    @property
    def url(self) -> str:
        """Where the service is."""
        return self._where.url

    def ask(
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
        return self._made(calls.ask(call, terms, key))

    def get(self, approval_id: str) -> Approval:
        """Read an approval; while it is approved, with a fresh token."""
        return self._made(calls.get(approval_id))

    def wait(
        self,
        approval_id: str,
        *,
        timeout_s: float | None = None,
        on_progress: Progress | None = None,
        poll_s: int = POLL_S,
        stop: Flag | None = None,
    ) -> Approval:
        """Wait until an approval is no longer pending, for as long as it takes.

        Args:
            approval_id: Which.
            timeout_s: How long at most. While there is time, outages are sat out; without a limit, only as
                long as ``retries`` says.
            on_progress: Called with the record after each poll that ended without a decision.
            poll_s: How long one poll waits; up to 60, where the service has no other limit.
            stop: Set by another thread, it ends the wait within some seconds.

        Raises:
            StillPending: Nobody has decided in time, or before it was stopped.
        """
        poll_s = poll_s if stop is None else min(poll_s, _LOOKS_UP_S)
        steps = waited(approval_id, self._retries, timeout_s=timeout_s, poll_s=poll_s)
        return self._run(steps, on_progress, stop)

    def page(self, *, cursor: str | None = None, **filters: Unpack[ListFilters]) -> Page:
        """One page of the approvals that one may see, newest first."""
        return self._made(calls.page(filters, cursor))

    def list(self, **filters: Unpack[ListFilters]) -> Iterator[Approval]:
        """All of them, page after page; ``limit`` is how many there are on a page."""
        page = self.page(**filters)
        while True:
            yield from page.items
            if page.next_cursor is None:
                return
            page = self.page(cursor=page.next_cursor, **filters)

    def trail(self, approval_id: str) -> tuple[TrailLine, ...]:
        """An approval's audit trail."""
        return self._made(calls.trail(approval_id))

    def decide(
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
        return self._made(calls.decide(vote))

    def decide_many(self, votes: Sequence[Vote]) -> tuple[Decided, ...]:
        """Decide several, each by itself; what became of them, in their order."""
        return self._made(calls.decide_many(votes))

    def cancel(self, approval_id: str) -> Approval:
        """Withdraw a question, or a grant that was not used."""
        return self._made(calls.cancel(approval_id))

    def cancel_run(self, run: str) -> RunCancelled:
        """Withdraw whatever a run still has open."""
        return self._made(calls.cancel_run(run))

    def consume(
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
        return self._made(calls.consume(approval_id, call, token=token, execution_id=execution, fresh=fresh))

    def report(
        self, approval_id: str, execution_id: str, status: str, *, summary: str | None = None
    ) -> Approval:
        """Report how the execution ended: ``succeeded`` or ``failed``."""
        return self._made(calls.report(approval_id, execution_id, status, summary))

    def introspect(self, call: ToolCall, token: str, *, execution_id: str | None = None) -> Introspection:
        """Whether a token would be taken for a call; changes nothing."""
        return self._made(calls.introspect(call, token, execution_id))

    def jwks(self) -> bytes:
        """The keys to verify tokens with offline (:mod:`placet.tokens.jwks`)."""
        return self._made(calls.jwks())

    def events(
        self, *, last_event_id: str | None = None, **filters: Unpack[Filters]
    ) -> Iterator[Event | Gap]:
        """Follow what happens, without end: a connection that broke is made again where it was left off.

        Leave it in good order with ``contextlib.closing``.

        Args:
            last_event_id: The ``entry`` of the last event that is known; by default from now on.
            filters: What to hear of.
        """
        following = Following(filters, last_event_id, self._retries)
        while True:
            call, request_id, fault = following.call(), token_hex(_KEY_BYTES), None
            request = self._http.build_request(**self._where.stream(call, request_id))
            try:
                response = self._http.send(request, stream=True, follow_redirects=False, auth=None)
                try:
                    head = reply_of(response.status_code, response.headers, b"")
                    if not is_answer(call, head.status, head.media_type):
                        answer_of(call, reply_of(head.status, response.headers, response.read()))
                    for chunk in response.iter_bytes():
                        yield from following.heard(chunk)
                finally:
                    response.close()
            except httpx.HTTPError as broken:
                fault = self._where.fault(call, broken)
            except PlacetError as refused:
                fault = refused
            if fault is not None:
                fault.request_id = fault.request_id or request_id
            self._sleep(following.pause_s(fault))

    def _made(self, call: Call[T]) -> T:
        return self._run(settled(call, self._retries))

    def _run(self, steps: Steps[T], on_progress: Progress | None = None, stop: Flag | None = None) -> T:
        heard: Heard = None
        seen: Approval | None = None
        while True:
            if stop is not None and stop.is_set():
                raise StillPending(seen)
            try:
                step = steps.send(heard)
            except StopIteration as end:
                answer: T = end.value
                return answer
            heard = None
            match step:
                case Attempt():
                    heard = self._sent(step)
                case Pause():
                    (self._sleep if stop is None else stop.wait)(step.seconds)
                case _:
                    seen = step.approval
                    if on_progress is not None:
                        on_progress(seen)

    def _sent(self, attempt: Attempt) -> Heard:
        request = self._http.build_request(**self._where.request(attempt.call, attempt.request_id))
        try:
            response = self._http.send(request, follow_redirects=False, auth=None)
        except httpx.HTTPError as fault:
            return self._where.fault(attempt.call, fault)
        return reply_of(response.status_code, response.headers, response.content)
