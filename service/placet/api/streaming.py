"""Answers that go on: sent bit by bit, until there is no more or nobody listens."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from msgspec import structs

from placet.api.bodies import Receive
from placet.api.call import Answer
from placet.domain.errors import InternalError, PlacetError

Send = Callable[[Mapping[str, Any]], Awaitable[None]]

SENT_WITHIN_S = 20.0
"""How long a bit of a stream may take to be sent: whoever does not read for so long has left."""

_log = logging.getLogger("placet.api")


async def streamed(
    receive: Receive,
    send: Send,
    answer: Answer,
    stream: AsyncGenerator[bytes],
    request_id: str,
    *,
    head: bool = False,
) -> Answer:
    """Send a stream until the client hangs up or there is no more; the answer, as it turned out."""
    headers = [*headers_of(answer, request_id), (b"x-accel-buffering", b"no")]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    left = asyncio.ensure_future(gone(receive))
    try:
        async for chunk in _until(stream, left):
            if head:
                break
            async with asyncio.timeout(SENT_WITHIN_S):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
    except TimeoutError:
        return answer  # it listens no more: there is no end that it would hear either
    except PlacetError as error:  # that its credential counts no more
        answer = structs.replace(answer, code=error.code)
    except Exception:  # noqa: BLE001 - the answer has begun: all that is left is to end it
        _log.exception("a stream failed in a way nobody foresaw")
        answer = structs.replace(answer, code=InternalError.code)
    finally:
        left.cancel()
        await stream.aclose()
    await send({"type": "http.response.body", "body": b""})
    return answer


async def gone(receive: Receive) -> None:
    """Return when the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _until(stream: AsyncGenerator[bytes], left: asyncio.Future[None]) -> AsyncIterator[bytes]:
    """What a stream brings, until the client is gone."""
    while not left.done():
        following: asyncio.Future[bytes | None] = asyncio.ensure_future(anext(stream, None))
        try:
            either: tuple[asyncio.Future[Any], ...] = (following, left)
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            chunk = following.result() if following.done() else None
        finally:
            following.cancel()
            await asyncio.wait({following})  # it holds on to the stream until then
        if chunk is None:
            return
        yield chunk


def headers_of(answer: Answer, request_id: str) -> list[tuple[bytes, bytes]]:
    """What stands before any answer; the length is the sender's to know."""
    return [
        (b"content-type", answer.content_type),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-request-id", request_id.encode()),
        *answer.headers,
    ]
