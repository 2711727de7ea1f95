"""A small HTTP/1.1 client over raw sockets; run as a module it is the load where wrk is not installed.

``python -m tests.benchmarks.client FILE PORT CONNECTIONS``
"""

import asyncio
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Self, cast

import msgspec
import uvloop

from tests.benchmarks import wire

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD_END = b"\r\n\r\n"


class Connection(asyncio.Protocol):
    """A connection that carries one call at a time.

    Attributes:
        answered_s: When the last answer was complete, on ``time.perf_counter``.
    """

    def __init__(self) -> None:
        self.answered_s = 0.0
        self._received = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    @classmethod
    async def open(cls, port: int) -> Self:
        """A connection to a server on loopback."""
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(cls, "127.0.0.1", port)
        return connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the socket's end."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class

    def call(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        """Send a request; its status and body are the future's."""
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._answer

    def data_received(self, data: bytes) -> None:
        """Resolve the call where its answer is complete."""
        self._received += data
        end = self._received.find(_HEAD_END)
        if end < 0:
            return
        length = _LENGTH.search(self._received, 0, end)
        body = end + len(_HEAD_END)
        if length is None or len(self._received) < body + int(length[1]):
            return
        self.answered_s = time.perf_counter()
        answer = int(self._received[9:12]), self._received[body:]
        self._received = b""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the call that was under way."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionResetError("the server closed the connection"))

    def close(self) -> None:
        """Close it."""
        self._transport.close()


async def _send(calls: Iterator[bytes], port: int, answers: Counter[int]) -> None:
    connection = await Connection.open(port)
    for call in calls:
        status, _ = await connection.call(call)
        answers[status] += 1
    connection.close()


async def _main(path: str, port: str, connections: str) -> None:
    calls = iter(list(wire.unpack(Path(path))))
    answers: Counter[int] = Counter()
    began_s = time.perf_counter()
    await asyncio.gather(*(_send(calls, int(port), answers) for _ in range(int(connections))))
    seconds = time.perf_counter() - began_s
    told = {"seconds": seconds, "answers": {str(status): count for status, count in answers.items()}}
    sys.stdout.buffer.write(msgspec.json.encode(told))


if __name__ == "__main__":
    uvloop.run(_main(*sys.argv[1:]))
