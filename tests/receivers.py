"""A receiver of webhooks for tests: real HTTP on loopback, as good or bad as a test wants it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, tzinfo
from http import HTTPStatus
from typing import Any, NamedTuple, Self
from unittest.mock import patch

from standardwebhooks import Webhook, WebhookVerificationError

from tests.loopback import listening

Behaviour = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""What a receiver does once it has read a message, while the other side listens. Then it hangs up."""


class Message(NamedTuple):
    """One that arrived.

    ``said`` is what the library of the standard made of it: the body's JSON, or its refusal.
    """

    path: str
    headers: list[tuple[str, str]]
    body: bytes
    said: Any

    def header(self, name: str) -> str:
        """The one value of a header."""
        (value,) = (value for each, value in self.headers if each == name)
        return value


class Receiver:
    """An endpoint on this machine.

    Attributes:
        url: Where it is.
        next: What it does with what comes next, one after another; then it answers 204.
        messages: What arrived.
        connections: How many were made, those included on which nothing came.
        arrived: Set once something has.
        ended: Set for as long as nobody is connected.
        name: What the last client asked for by SNI.
    """

    def __init__(self, secret: bytes, now_ms: Callable[[], int] | None = None) -> None:
        self._library = Webhook(secret)
        self._now_ms = now_ms
        self.url = ""
        self.next: list[Behaviour] = []
        self.messages: list[Message] = []
        self.connections = 0
        self.arrived = asyncio.Event()
        self.ended = asyncio.Event()
        self.name: str | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.url.rpartition(":")[2])

    @property
    def ids(self) -> list[str]:
        """The ids of what arrived and was proved, in their order."""
        proved = (message for message in self.messages if not isinstance(message.said, Exception))
        return [message.header("webhook-id") for message in proved]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one message."""
        self.connections += 1
        self.ended.clear()
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                self.messages.append(await self._read(reader))
                self.arrived.set()
                await self._behave(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.ended.set()

    async def _behave(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until it is done, or the other side hangs up."""
        behaving = asyncio.ensure_future((self.next.pop(0) if self.next else answers(204))(writer))
        hung_up = asyncio.ensure_future(reader.read())
        try:
            await asyncio.wait({behaving, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (behaving, hung_up):
                each.cancel()
            await asyncio.gather(behaving, hung_up, return_exceptions=True)

    async def _read(self, reader: asyncio.StreamReader) -> Message:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(": ") for line in lines if line)
        headers = [(name.lower(), value) for name, _, value in pairs]
        body = await reader.readexactly(int(dict(headers)["content-length"]))
        try:
            said = self._verified(body, dict(headers))
        except WebhookVerificationError as refusal:
            said = refusal
        return Message(first.split(" ")[1], headers, body, said)

    def _verified(self, body: bytes, headers: dict[str, str]) -> Any:
        if self._now_ms is None:
            return self._library.verify(body, headers)
        now = datetime.fromtimestamp(self._now_ms() / 1_000, UTC)

        class Then(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Self:
                return cls.fromtimestamp(now.timestamp(), tz)

        with patch("standardwebhooks.webhooks.datetime", Then):
            return self._library.verify(body, headers)


@asynccontextmanager
async def receiving(
    secret: bytes, *, now_ms: Callable[[], int] | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Receiver]:
    """A receiver on a free port; ``now_ms`` is its clock, the machine's where there is none."""
    receiver = Receiver(secret, now_ms)
    if tls is not None:
        tls.sni_callback = lambda _socket, name, _context: setattr(receiver, "name", name)
    async with listening(receiver.serve, tls) as receiver.url:
        yield receiver


def answers(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    """Answer with this."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
        length = f"content-length: {len(body)}\r\n" if body else ""
        writer.write(f"HTTP/1.1 {status} {phrase}\r\n{named}{length}\r\n".encode() + body)
        await writer.drain()

    return behave


def redirects(to: str, status: int = 307) -> Behaviour:
    """Send them elsewhere."""
    return answers(status, location=to)


def says(*pieces: bytes, pause_s: float = 0.0) -> Behaviour:
    """Say this, byte for byte, with pauses between, and hang up."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


def endlessly(head: bytes, piece: bytes, pause_s: float = 0.0) -> Behaviour:
    """Say ``head``, and ``piece`` again and again."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


def when(event: asyncio.Event, then: Behaviour) -> Behaviour:
    """Do something once it is time."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        await event.wait()
        await then(writer)

    return behave


drops: Behaviour = says()
"""Take a message and hang up: whoever sent it can't know, and sends it again."""
