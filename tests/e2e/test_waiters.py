"""Callers who wait, hang up, dawdle or vanish: places and connections come back, and nobody else notices."""

import asyncio
import random
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.application.query import FALLBACK_S
from placet.store import connection, link
from tests.e2e.processes import Replica
from tests.e2e.stage import INPUT, Cast, Stage, alone, casting
from tests.harness import Party, record
from tests.tools import until

pytestmark = [pytest.mark.e2e, pytest.mark.real]

STORM = 300
VANISHING = 500
PARKED = 100
STORE_CLIENTS_MAX = 2 * 3 * (link.MAX_BATCHES_IN_FLIGHT + connection._SPARE_CONNECTIONS) + 1
"""Two replicas with three full pools each, and whoever counts."""

SOON_S = FALLBACK_S / 2
"""What happens by then did not wait for a waiter to look for itself."""
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER on, for no time: closing resets the connection (socket(7))."""
_IMPATIENT = """
from placet.api import bodies
from placet.cli import main, running

bodies.BODY_TIMEOUT_S = running._KEEP_ALIVE_S = 1
raise SystemExit(main())
"""
"""Placet with a second's patience where it otherwise has half a minute, or more than one."""


class TestWaking:
    """Whoever waits hears of it, wherever it happens."""

    async def test_from_another_replica(self, pair: Stage, cast: Cast) -> None:
        """A decision at one replica wakes those who wait at the other, by the stream and not by the clock."""
        runtime, ann = await cast.client(), await cast.approver()
        asked = await runtime[0].asked(input=INPUT)
        waits = await park(pair.replicas[1], runtime[1], asked["id"])
        async with asyncio.timeout(SOON_S):
            record(await ann[0].decide(asked))
            seen = [record(each) for each in await asyncio.gather(*waits)]
        assert {each["status"] for each in seen} == {"approved"}
        assert all(each["token"] for each in seen)

    async def test_at_a_deadline(self, pair: Stage, cast: Cast) -> None:
        """Those who wait for a question that dies are told so when it does."""
        runtime = await cast.client()
        asked = await runtime[0].asked(input=INPUT, expires_in_ms=1_000)
        waits = [runtime[i % 2].read(asked["id"], wait=60) for i in range(PARKED)]
        async with asyncio.timeout(SOON_S):
            seen = [record(each) for each in await asyncio.gather(*waits)]
        assert {each["status"] for each in seen} == {"expired"}

    async def test_at_the_end_of_the_service(self) -> None:
        """SIGTERM answers those who wait with what is known, and the service ends in good order."""
        with alone() as stage:
            async with casting(stage) as cast:
                (replica,), (runtime,) = stage.replicas, await cast.client()
                asked = await runtime.asked(input=INPUT)
                waits = await park(replica, runtime, asked["id"])
                replica.process.send_signal(signal.SIGTERM)
                async with asyncio.timeout(SOON_S):
                    seen = [record(each) for each in await asyncio.gather(*waits)]
                    await asyncio.to_thread(replica.process.wait)
                assert {each["status"] for each in seen} == {"pending"}
                assert replica.process.returncode == 0


class TestLeaving:
    """Callers who go before they have an answer."""

    async def test_waits_that_are_closed(self, pair: Stage, cast: Cast) -> None:
        """300 of them leave no waiter, no connection, and no reply for somebody else to find."""
        replica, runtime = pair.replicas[0], (await cast.client())[0]
        a = await runtime.asked(input=INPUT, context={"call": "a"})
        b = await runtime.asked(input=INPUT, context={"call": "b"})
        await cast.lines[0].aclose()
        callers = replica.connections()
        parked = await park(replica, runtime, a["id"])
        for each in parked:
            each.cancel()
        await asyncio.gather(*(hang_up(replica, a_wait(runtime, a["id"])) for _ in range(STORM - PARKED)))
        await until(lambda: replica.metric("placet_waiters") == 0, "nobody waits", within_s=SOON_S)
        for _ in range(10):
            seen = await asyncio.gather(*(runtime.seen(b["id"]) for _ in range(100)))
            assert {each["id"] for each in seen} == {b["id"]}
        await cast.lines[0].aclose()
        await until(lambda: replica.connections() <= callers, "their connections are closed")
        assert await store_clients(pair) <= STORE_CLIENTS_MAX

    async def test_connections_that_are_reset(self, pair: Stage, cast: Cast) -> None:
        """500 of them, anywhere in a request or in a wait, leave nothing behind either."""
        replica, runtime = pair.replicas[0], (await cast.client())[0]
        asked = await runtime.asked(input=INPUT)
        callers = replica.connections()
        calls = [a_post(runtime, b'{"input": 1}'), a_wait(runtime, asked["id"])]
        for number in range(VANISHING):
            call = random.choice(calls)
            sent = len(call) if number % 2 else random.randrange(len(call))
            reset(replica, call[:sent])
        await until(lambda: replica.metric("placet_waiters") == 0, "nobody waits", within_s=SOON_S)
        await until(lambda: replica.connections() <= callers, "their connections are closed")
        assert (await runtime.seen(asked["id"]))["status"] == "pending"


class TestDawdling:
    """Callers who hold a connection open and send next to nothing."""

    @pytest.fixture(scope="module")
    @staticmethod
    def impatient() -> Iterator[Stage]:
        """A service that soon loses its patience."""
        with alone(("-c", _IMPATIENT)) as stage:
            yield stage

    async def test_a_body_in_trickles(self, impatient: Stage) -> None:
        """A body that does not come to its end in time is refused, and its connection closed."""
        async with casting(impatient) as cast:
            (runtime,) = await cast.client()
            said = await dawdle(impatient.replicas[0], a_post(runtime, b" " * 100_000)[:-100_000], b" ")
        assert said.startswith(b"HTTP/1.1 400 ")
        assert said.endswith(b"}")

    async def test_a_head_in_trickles(self, impatient: Stage) -> None:
        """A head that does not come to its end in time is not waited for."""
        assert await dawdle(impatient.replicas[0], b"GET /healthz HTTP/1.1\r\nx-padding: ", b"a") == b""

    async def test_nothing_at_all(self, impatient: Stage) -> None:
        """Nor is one that does not begin."""
        assert await dawdle(impatient.replicas[0], b"", b"") == b""

    async def test_a_head_after_an_answer(self, impatient: Stage) -> None:
        """Nor is one that follows an answer."""
        first = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        said = await dawdle(impatient.replicas[0], first, b"\r\n")
        assert said.startswith(b"HTTP/1.1 200 ")


async def park(replica: Replica, runtime: Party, approval_id: str) -> list[asyncio.Task[Any]]:
    """Have many wait for one record; they do when this returns."""
    waits = [asyncio.create_task(runtime.read(approval_id, wait=60)) for _ in range(PARKED)]
    await until(lambda: replica.metric("placet_waiters") == PARKED, "all of them wait")
    return waits


async def hang_up(replica: Replica, call: bytes) -> None:
    """Make a call, and don't stay for the answer."""
    _, writer = await asyncio.open_connection("127.0.0.1", replica.port)
    writer.write(call)
    await asyncio.sleep(random.uniform(0.01, 0.05))
    writer.close()


async def dawdle(replica: Replica, first: bytes, then: bytes) -> bytes:
    """Send something, and then a bit now and then until the other side hangs up; what it said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", replica.port)
    try:
        writer.write(first)
        hearing = asyncio.create_task(hear(reader))
        async with asyncio.timeout(SOON_S):
            while not hearing.done():
                writer.write(then)
                await asyncio.wait({hearing}, timeout=0.05)
            return await hearing
    finally:
        writer.close()


async def hear(reader: asyncio.StreamReader) -> bytes:
    """All that is said until the other side hangs up; that it does so on something unread is no matter."""
    said = b""
    with suppress(ConnectionResetError):
        while piece := await reader.read(65_536):
            said += piece
    return said


async def store_clients(stage: Stage) -> int:
    """How many connections the store has."""
    async with Redis(unix_socket_path=str(stage.socket)) as redis:
        return len(await redis.client_list())


def reset(replica: Replica, sent: bytes) -> None:
    """Connect, send something, and vanish."""
    with socket.create_connection(("127.0.0.1", replica.port)) as line:
        line.sendall(sent)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)


def a_post(runtime: Party, body: bytes) -> bytes:
    """A create, as it goes over the line."""
    head = (
        f"POST /v1/approvals HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {runtime.credential}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def a_wait(runtime: Party, approval_id: str) -> bytes:
    """A long poll, as it goes over the line."""
    return (
        f"GET /v1/approvals/{approval_id}?wait=60 HTTP/1.1\r\nhost: 127.0.0.1\r\n"
        f"authorization: Bearer {runtime.credential}\r\n\r\n"
    ).encode()
