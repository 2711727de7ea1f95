"""What is done one after another for a call: sent, put off, sent again, waited for. Without talking itself.

Each procedure is a generator. It yields what is to happen next, is sent what came of it, and returns the
answer or raises; a client carries out the steps, in its own way of waiting.
"""

import math
import time
from collections.abc import Callable, Generator
from random import SystemRandom
from secrets import token_hex
from typing import Any, Final, TypeVar

from msgspec import structs

from placet.client import calls
from placet.client.calls import Call
from placet.client.errors import ServiceUnreachable, StillPending
from placet.client.quiet import Quiet
from placet.client.shapes import Approval
from placet.client.wire import Reply, answer_of
from placet.domain.errors import InputInvalid, IssuerUnavailable, PlacetError, RateLimited

T = TypeVar("T")

POLL_S: Final = 50
"""How long one poll waits: less than the minute after which usual proxies cut a silent connection."""
_BREATH_S: Final = 1.0
"""Shortest time between the beginnings of two polls: a service that is stopping answers them at once."""
_DOUBLINGS_MAX: Final = 16
_ENDLESS: Final = 2**31
_TOO_MANY_REQUESTS: Final = 429
_SERVER_FAULT: Final = 500


class Attempt(Quiet, frozen=True, kw_only=True):
    """Send this, and say what came back."""

    call: Call[Any]
    request_id: str


class Pause(Quiet, frozen=True, kw_only=True):
    """Let this much time pass."""

    seconds: float


class Seen(Quiet, frozen=True, kw_only=True):
    """A poll is over, and the record is still pending."""

    approval: Approval


Step = Attempt | Pause | Seen
Heard = Reply | PlacetError | None
Steps = Generator[Step, Heard, T]


class Retries(Quiet, frozen=True, kw_only=True):
    """How often a call is sent again that can be, and after how long.

    A pause is as long as ``Retry-After`` says, and by chance up to twice as long each time ("full jitter"):
    so a crowd that was turned away does not come back as one.

    Attributes:
        most: How often at most; 0 for never.
        first_s: The first pause, at most.
        longest_s: Any pause, at most, but for what the service asks for.
        within_s: The whole call, at most, up to where it is sent for the last time.
        chance: Numbers from 0 to 1.
        now_s: A clock that only goes forward.
    """

    most: int = 6
    first_s: float = 0.25
    longest_s: float = 8.0
    within_s: float = 60.0
    chance: Callable[[], float] = SystemRandom().random
    now_s: Callable[[], float] = time.monotonic

    def pause_s(self, attempt: int, asked_ms: int | None = None) -> float:
        """How long to wait after this many attempts failed, and one more."""
        most_s = min(self.longest_s, self.first_s * float(1 << min(attempt, _DOUBLINGS_MAX)))
        return (asked_ms or 0) / 1000 + self.chance() * most_s

    def persistent(self, within_s: float) -> "Retries":
        """The same for as long as there is time."""
        return structs.replace(self, most=_ENDLESS if self.most else 0, within_s=within_s)


def settled(call: Call[T], retries: Retries) -> Steps[T]:
    """Make a call.

    Raises:
        PlacetError: It was refused, or could not be made.
    """
    request_id = token_hex(16)
    until_s = retries.now_s() + retries.within_s
    attempt = 0
    while True:
        heard = yield Attempt(call=call, request_id=request_id)
        try:
            return _answer(call, heard)
        except PlacetError as error:
            refusal = error
        refusal.request_id = refusal.request_id or request_id
        pause_s = retries.pause_s(attempt, refusal.retry_after_ms)
        if (
            attempt >= retries.most
            or not may_come_again(call, refusal)
            or retries.now_s() + pause_s > until_s
        ):
            raise refusal
        yield Pause(seconds=pause_s)
        attempt += 1


def waited(approval_id: str, retries: Retries, *, timeout_s: float | None, poll_s: int) -> Steps[Approval]:
    """Wait until an approval leaves pending, poll after poll. While there is time, outages are sat out.

    Raises:
        StillPending: It has not, within ``timeout_s``.
        PlacetError: It can't be read.
    """
    until_s = math.inf if timeout_s is None else retries.now_s() + timeout_s
    while True:
        began_s = retries.now_s()
        left_s = max(until_s - began_s, 0)
        wait_s = min(poll_s, math.ceil(left_s)) if timeout_s is not None else poll_s
        patient = retries if timeout_s is None else retries.persistent(left_s)
        try:
            approval = yield from settled(calls.get(approval_id, wait_s), patient)
        except InputInvalid as refused:
            if wait_s <= 1 or all(issue.path != "/wait" for issue in refused.issues):
                raise
            poll_s = wait_s // 2  # an operator has set a lower limit
            continue
        if not approval.is_pending:
            return approval
        yield Seen(approval=approval)
        now_s = retries.now_s()
        if now_s >= until_s:
            raise StillPending(approval)
        if now_s - began_s < _BREATH_S:
            yield Pause(seconds=min(began_s + _BREATH_S, until_s) - now_s)


def may_come_again(call: Call[Any], refusal: PlacetError) -> bool:
    """Whether sending it again may help, and can't do it twice."""
    if not refusal.retryable or not (refusal.status == _TOO_MANY_REQUESTS or refusal.status >= _SERVER_FAULT):
        return False
    if call.again or isinstance(refusal, RateLimited | IssuerUnavailable):
        return True
    return isinstance(refusal, ServiceUnreachable) and not refusal.effect_unknown


def _answer(call: Call[T], heard: Heard) -> T:
    if isinstance(heard, Reply):
        return answer_of(call, heard)
    assert heard is not None, "a client says what came back"  # noqa: S101 - for the reader and mypy
    raise heard
