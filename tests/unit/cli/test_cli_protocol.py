"""The bounds on the size of a head, and on waiting for one."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from placet.cli.protocol import HEAD_MAX_BYTES, BoundedProtocol
from tests.tools import until


class Line(asyncio.Transport):
    """A connection that remembers what was written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written = b""
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


class Moved:
    """A loop whose time a test tells."""

    def __init__(self, loop: asyncio.AbstractEventLoop, time: Callable[[], float]) -> None:
        self._loop = loop
        self.time = time

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)

    def call_at(self, when_s: float, callback: Any) -> asyncio.TimerHandle:
        return self._loop.call_later(3600, callback)


async def app(_scope: Any, _receive: Any, send: Any) -> None:
    """Answers 204 to everything."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def connected(app: Any, *, keep_alive_s: int = 75) -> tuple[BoundedProtocol, Line]:
    """A connection that has just been made."""
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        timeout_keep_alive=keep_alive_s,
    )
    config.load()
    protocol = BoundedProtocol(config=config, server_state=ServerState(), app_state={})
    made = Line()
    protocol.connection_made(made)
    return protocol, made


@pytest.fixture
async def line() -> tuple[BoundedProtocol, Line]:
    """A connection to an application that answers at once."""
    return connected(app)


async def answered(made: Line) -> bytes:
    """The first line of the answer."""
    await until(lambda: bool(made.written), "an answer")
    return made.written.partition(b"\r\n")[0]


async def test_usual_requests_are_answered(line: tuple[BoundedProtocol, Line]) -> None:
    """One after the other, on one connection."""
    protocol, made = line
    for _ in range(3):
        made.written = b""
        protocol.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert await answered(made) == b"HTTP/1.1 204 No Content"


async def test_a_head_may_come_in_pieces(line: tuple[BoundedProtocol, Line]) -> None:
    """Up to the bound."""
    protocol, made = line
    protocol.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n")
    for number in range(60):
        protocol.data_received(b"x-%d: " % number + b"a" * 1_000 + b"\r\n")
    protocol.data_received(b"\r\n")
    assert await answered(made) == b"HTTP/1.1 204 No Content"


@pytest.mark.parametrize("piece", [b"a" * 1_024, b"\r\nx-more: " + b"a" * 1_000], ids=["one header", "many"])
async def test_a_head_that_does_not_end_is_hung_up_on(
    line: tuple[BoundedProtocol, Line], piece: bytes
) -> None:
    """431 (RFC 6585 §5), once, and the connection goes."""
    protocol, made = line
    protocol.data_received(b"GET / HTTP/1.1\r\nhost: x\r\nx-long: a")
    for _ in range(HEAD_MAX_BYTES // 1_000 + 2):
        protocol.data_received(piece)
    assert made.closed
    assert made.written.count(b"HTTP/1.1 431 ") == 1


async def test_bodies_are_not_counted(line: tuple[BoundedProtocol, Line]) -> None:
    """They have a bound of their own, with an answer of its own."""
    protocol, made = line
    protocol.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 200000\r\n\r\n")
    for _ in range(200):
        protocol.data_received(b"b" * 1_000)
    assert await answered(made) == b"HTTP/1.1 204 No Content"
    assert not made.closed


@pytest.mark.parametrize(
    "begun", [b"", b"\r\n", b"GET / HTTP/1.1\r\nhost: x\r\n"], ids=["nothing", "blank", "half"]
)
async def test_a_head_that_does_not_come_is_not_waited_for(begun: bytes) -> None:
    """The connection goes when its time is over, whatever has come of a head until then."""
    protocol, made = connected(app, keep_alive_s=0)
    protocol.data_received(begun)
    await until(lambda: made.closed, "it is hung up on")
    assert made.written == b""


async def test_each_answer_begins_the_time_for_a_head_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long ago the first one had its time; and that time is over too, in the end."""
    now_s = 0.0
    protocol, made = connected(app)
    monkeypatch.setattr(protocol, "loop", Moved(protocol.loop, lambda: now_s))
    for _ in range(3):
        made.written = b""
        protocol.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert await answered(made) == b"HTTP/1.1 204 No Content"
        now_s += 74
        protocol._look()
        assert not made.closed
    protocol.data_received(b"GET / HTTP/1.1\r\n")
    now_s += 2
    protocol._look()
    assert made.closed


async def test_a_timer_of_earlier_ends_nothing_early() -> None:
    """It looks at what is so by then."""
    protocol, made = connected(app, keep_alive_s=75)
    protocol._look()
    assert not made.closed
    protocol.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    protocol._look()
    assert await answered(made) == b"HTTP/1.1 204 No Content"
    protocol._look()
    assert not made.closed
    protocol.connection_lost(None)


async def test_what_is_served_has_its_own_time() -> None:
    """The time for the next head begins with the answer, though the rest of a body should still be coming."""
    released = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await released.wait()
        await app(scope, receive, send)

    protocol, made = connected(slow, keep_alive_s=0)
    protocol.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n")
    for _ in range(3):
        await asyncio.sleep(0)
    assert not made.closed
    released.set()
    assert await answered(made) == b"HTTP/1.1 204 No Content"
    protocol.data_received(b"b")
    await until(lambda: made.closed, "it is hung up on")


@pytest.mark.parametrize("trailers", [b"x-a: b\r\n" * 1_000, b"a" * 8_000], ids=["many", "one"])
async def test_trailers_without_an_end_are_cut_off(
    line: tuple[BoundedProtocol, Line], trailers: bytes
) -> None:
    """What follows the last chunk is kept by the parser, and so bounded as a head is."""
    protocol, made = line
    protocol.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx-b: ")
    fed = 0
    while not made.closed:
        assert fed <= HEAD_MAX_BYTES
        protocol.data_received(trailers)
        fed += len(trailers)
    assert b"HTTP/1.1 431" in made.written


async def test_a_long_body_is_no_head(line: tuple[BoundedProtocol, Line]) -> None:
    """Bytes of a body are counted by whoever reads it."""
    protocol, made = line
    protocol.data_received(b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
    for _ in range(3 * HEAD_MAX_BYTES // 8_192):
        protocol.data_received(b"2000\r\n" + b"a" * 8_192 + b"\r\n")
    assert not made.closed
