"""Somebody who listens to the event stream, as a server would hand them to the application."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct

from tests.harness import Harness, Party
from tests.wire import HOST, bearer

WITHIN_S = 5.0


class Event(Struct, frozen=True, kw_only=True):
    """What was heard; a comment has neither id nor type."""

    id: str = ""
    type: str = ""
    data: Any = None
    retry: str = ""


class Listener:
    """One connection. ``status`` and ``headers`` are there once it has been answered."""

    def __init__(self, h: Harness, credential: str, target: str, headers: list[tuple[bytes, bytes]]) -> None:
        path, _, query = target.partition("?")
        self._scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [HOST, bearer(credential), *headers],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8420),
        }
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.body = b""
        self.ended = asyncio.Event()
        self.reading = asyncio.Event()
        self.reading.set()
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._answered = asyncio.Event()
        app: Any = h.app
        self._task = asyncio.get_running_loop().create_task(app(self._scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status, self.headers = message["status"], dict(message["headers"])
            self._answered.set()
            return
        await self.reading.wait()
        self.body += message["body"]
        for block in message["body"].decode().split("\n\n"):
            if block.strip():
                self._events.put_nowait(_event(block))
        if not message.get("more_body"):
            self.ended.set()

    async def answered(self) -> None:
        """Wait for the head of the answer."""
        async with asyncio.timeout(WITHIN_S):
            await self._answered.wait()

    async def next(self) -> Event:
        """The next that is heard, comments included."""
        async with asyncio.timeout(WITHIN_S):
            return await self._events.get()

    async def heard(self, count: int) -> list[tuple[str, str]]:
        """Type and approval of the next so many, comments left out."""
        found: list[tuple[str, str]] = []
        while len(found) < count:
            event = await self.next()
            if event.type:
                found.append((event.type, event.data.get("id", "")))
        return found

    @property
    def is_silent(self) -> bool:
        """Whether nothing is there that was not looked at."""
        return self._events.empty()

    async def over(self) -> None:
        """Wait for the service to have ended it."""
        async with asyncio.timeout(WITHIN_S):
            await self._task

    async def hang_up(self) -> None:
        """Leave, and wait for the service to have noticed."""
        self._gone.set()
        await self.over()


def _event(block: str) -> Event:
    fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":") and line)
    data = json.loads(fields["data"]) if "data" in fields else None
    return Event(
        id=fields.get("id", ""),
        type=fields.get("event", ""),
        data=data,
        retry=fields.get("retry", ""),
    )


@asynccontextmanager
async def listening(
    h: Harness, party: Party, query: str = "", *, after: str | None = None
) -> AsyncIterator[Listener]:
    """Somebody who has begun to listen, and hangs up in the end."""
    headers = [] if after is None else [(b"last-event-id", after.encode())]
    listener = Listener(h, party.credential, f"/v1/events{query}", headers)
    try:
        await listener.answered()
        yield listener
    finally:
        await listener.hang_up()
