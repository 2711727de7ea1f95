"""A signed message goes to where it was judged to go, or there is a word for why it did not.

1. One POST over a connection of its own: the address is judged for each delivery anew, so there is none to be
   kept open. It costs a handshake, and nothing that a receiver does to one delivery is left for the next.
2. No proxy, whatever the environment says: it would look the name up itself, where we can't judge it. No
   redirect, no cookie, no compression, no second try in here.
3. The transport under httpx is used, not httpx: there, where a connection leads is an argument.
4. Each step has its time, all of it together has one, and only so much of an answer is taken in.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

import httpcore
from msgspec import Struct

from placet.channels.trust import Trust
from placet.channels.webhooks.addresses import AddressForbidden, Networks, judged
from placet.channels.webhooks.answers import failure_of, retry_after_ms
from placet.channels.webhooks.pinned import Pinned
from placet.channels.webhooks.urls import Place, place_of
from placet.domain.deliveries import Failure, Undelivered

ANSWER_MAX_BYTES: Final = 16 * 1_024
"""Of an answer, its head and whatever comes before it included. What counts is its status."""

_HEADERS: Final = {
    "accept": "*/*",
    "accept-encoding": "identity",
    "connection": "close",
    "content-type": "application/json",
    "user-agent": "placet",
}

_FAILURES: Final[tuple[tuple[type[Exception], Failure], ...]] = (
    (AddressForbidden, Failure.FORBIDDEN_ADDRESS),
    (TimeoutError, Failure.TIMEOUT),
    (httpcore.TimeoutException, Failure.TIMEOUT),
    (httpcore.LocalProtocolError, Failure.UNREADABLE),
    (httpcore.NetworkError, Failure.UNREACHABLE),
    (httpcore.ProtocolError, Failure.UNREACHABLE),
    (OSError, Failure.UNREACHABLE),
    (ValueError, Failure.UNREADABLE),
)
"""What may be raised, and what it comes to: the first that fits."""
_RAISED: Final = tuple(kind for kind, _ in _FAILURES)

Find = Callable[[str], Awaitable[Sequence[str]]]
"""From a name to all its addresses, or an `OSError`; `placet.channels.webhooks.lookup.Lookup` is one."""


class Caps(Struct, frozen=True, kw_only=True):
    """How long a delivery may take, in seconds.

    Attributes:
        connect_s: To find the name, to connect, and to agree on TLS, each.
        whole_s: All of it, up to the status of the answer.
        rest_s: What follows the status, which is read, so that the receiver can end, and thrown away.
    """

    connect_s: float = 3.0
    whole_s: float = 10.0
    rest_s: float = 1.0


class WebhookSender:
    """Sends signed messages.

    Args:
        allowed: The networks that the operator names, besides all public ones.
        trust: Whose certificates count.
        find: Who is asked for a name.
        now_ms: Our clock, for a receiver that names a date to wait for; Unix milliseconds.
        caps: How long it may take.
    """

    def __init__(
        self,
        *,
        allowed: Networks,
        trust: Trust,
        find: Find,
        now_ms: Callable[[], int],
        caps: Caps | None = None,
    ) -> None:
        self._allowed = allowed
        self._trust = trust
        self._find = find
        self._now_ms = now_ms
        self._caps = caps or Caps()

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Deliver a message.

        Args:
            url: Of the endpoint.
            headers: Those of `signing.headers`.
            body: What was signed; JSON.

        Raises:
            Undelivered: It is not there, or nobody can tell whether it is.
        """
        try:
            place = place_of(url)
        except ValueError:
            raise Undelivered(Failure.NO_SUCH_TARGET) from None
        try:
            status, retry_after = await self._answered(place, headers, body)
        except _RAISED as raised:
            failure = next(failure for kind, failure in _FAILURES if isinstance(raised, kind))
            raise Undelivered(failure) from None
        refusal = failure_of(status)
        if refusal is not None:
            patience_ms = retry_after_ms(retry_after, self._now_ms())
            raise Undelivered(refusal, retry_after_ms=patience_ms, status=status)

    async def _answered(
        self, place: Place, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, Sequence[str]]:
        """The status of the answer, and each of its ``Retry-After``."""
        async with (
            asyncio.timeout(self._caps.whole_s) as limit,
            self._asked(place, {**_HEADERS, **headers, "host": place.authority}, body) as answer,
        ):
            limit.reschedule(None)  # what counts is said
            with suppress(*_RAISED):
                async with asyncio.timeout(self._caps.rest_s):
                    async for _ in answer.aiter_stream():
                        pass
        named = [value for name, value in answer.headers if name.lower() == b"retry-after"]
        return answer.status, [value.decode("latin-1") for value in named]

    @asynccontextmanager
    async def _asked(
        self, place: Place, headers: Mapping[str, str], body: bytes
    ) -> AsyncIterator[httpcore.Response]:
        caps = self._caps
        async with asyncio.timeout(caps.connect_s):
            answer = await self._find(place.host)
        addresses = judged(answer, self._allowed, plain=place.plain)
        if not addresses:
            raise OSError("The name has no address.")
        context = None if place.plain else await self._trust.context()
        url = httpcore.URL(
            scheme=place.scheme.encode(), host=place.host.encode(), port=place.port, target=place.target
        )
        named = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        steps = {"connect": caps.connect_s, "read": caps.whole_s, "write": caps.whole_s, "pool": caps.whole_s}
        pinned = Pinned(addresses, ANSWER_MAX_BYTES)
        async with (
            httpcore.AsyncConnectionPool(context, network_backend=pinned) as connection,
            connection.stream(
                "POST", url, headers=named, content=body, extensions={"timeout": steps}
            ) as received,
        ):
            yield received
