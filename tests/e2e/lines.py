"""Lines to a replica: kept alive, one call at a time on each, and cheap enough for tens of thousands.

An ``httpx`` transport, so that tests speak to a process as they speak to the application in-process. Calls
made in one turn of the event loop are written in the next one, together: a race is not decided by who was
built first. Nothing is sent twice: a line that breaks under a call is a ``ConnectionError``, and the outcome
unknown.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple, Self, cast

import httptools
import httpx

PATIENCE_S = 90.0
"""No call takes longer; the longest wait that may be asked for is a minute."""


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Line(asyncio.Protocol):
    """A connection that carries one call at a time."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._answer: asyncio.Future[Answer] | None = None
        self.open = False

    @classmethod
    async def to(cls, port: int) -> Self:
        """A connection to a server on loopback."""
        loop = asyncio.get_running_loop()
        _, line = await loop.create_connection(cls, "127.0.0.1", port)
        return line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket's end."""
        self._transport = cast("asyncio.Transport", transport)
        self.open = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the call that was under way."""
        self.open = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionResetError("the line broke before an answer came"))

    async def call(self, request: bytes) -> Answer:
        """Send a request and have its answer.

        Raises:
            ConnectionError: The line broke; whether the request was taken is unknown.
            TimeoutError: There was no answer within :data:`PATIENCE_S`.
        """
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        async with asyncio.timeout(PATIENCE_S):
            return await self._answer

    def data_received(self, data: bytes) -> None:
        """Take a piece of an answer."""
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, told by the parser."""
        self._headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        """A piece of the body, likewise."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """The answer is complete."""
        answer = Answer(self._parser.get_status_code(), self._headers, b"".join(self._body))
        self._headers, self._body = [], []
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def hang_up(self) -> None:
        """Close it at once, whatever is under way."""
        self.open = False
        self._transport.abort()


class Lines(httpx.AsyncBaseTransport):
    """As many lines to one replica as calls are under way.

    Args:
        port: Where it listens; also after it was started again.
        heard: Told the body of every answer.
    """

    def __init__(self, port: int, heard: Callable[[bytes], None] = lambda _body: None) -> None:
        self._port = port
        self._heard = heard
        self._idle: list[Line] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a call of an ``httpx`` client."""
        head = [b"%b: %b" % (name, value) for name, value in request.headers.raw]
        line = f"{request.method} {request.url.raw_path.decode()} HTTP/1.1"
        answer = await self.send(b"\r\n".join([line.encode(), *head, b"", request.content]))
        return httpx.Response(answer.status, headers=answer.headers, content=answer.body)

    async def send(self, request: bytes) -> Answer:
        """Carry one call as it goes over the line; a caller that is cancelled hangs up.

        Raises:
            ConnectionError: The replica can't be reached, or the line broke under the call.
            TimeoutError: There was no answer within :data:`PATIENCE_S`.
        """
        await asyncio.sleep(0)
        line = await self._free()
        try:
            answer = await line.call(request)
        except BaseException:
            line.hang_up()
            raise
        self._idle.append(line)
        self._heard(answer.body)
        return answer

    async def aclose(self) -> None:
        """Hang up everywhere."""
        for line in self._idle:
            line.hang_up()
        self._idle.clear()
        await asyncio.sleep(0)  # the loop closes aborted sockets in its next turn

    async def _free(self) -> Line:
        while self._idle:
            line = self._idle.pop()
            if line.open:
                return line
        return await Line.to(self._port)


def post(path: str, credential: str, body: bytes) -> bytes:
    """A call as it goes over the line, where building it must cost nothing to speak of."""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {credential}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
