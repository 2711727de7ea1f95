"""Callers who wait, hang up, dawdle or vanish: places and connections come back, and nobody else notices."""

import asyncio
import random
import signal
import socket
import struct
from contextlib import suppress
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.application.query import FALLBACK_S
from placet.store.link import MAX_BATCHES_IN_FLIGHT
from tests.e2e.processes import Replica
from tests.e2e.stage import INPUT, Cast, Stage, alone, casting
from tests.harness import Party, record
from tests.tools import until

pytestmark = [pytest.mark.e2e, pytest.mark.real]

STORM = 300
VANISHING = 500
PARKED = 50

_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER on, for no time: closing resets the connection (socket(7))."""
_IMPATIENT = """
from placet.api import bodies
from placet.cli import main

bodies.BODY_TIMEOUT_S = 1
raise SystemExit(main())
"""
"""Placet, with its patience for a body cut from half a minute to a second."""


class TestWaking:
    """Whoever waits hears of it, wherever it happens."""

    async def test_from_another_replica(self, pair: Stage, cast: Cast) -> None:
        """A decision at one replica wakes those who wait at the other, by the stream and not by the clock."""
        runtime, ann = await cast.client(), await cast.approver()
        asked = await runtime[0].asked(input=INPUT)
        waits = await park(pair.replicas[1], runtime[1], asked["id"])
        async with asyncio.timeout(FALLBACK_S / 2):
            record(await ann[0].decide(asked))
            seen = [record(each) for each in await asyncio.gather(*waits)]
        assert {each["status"] for each in seen} == {"approved"}
        assert all(each["token"] for each in seen)

    async def test_at_a_deadline(self, pair: Stage, cast: Cast) -> None:
        """Those who wait for a question that dies are told so when it does."""
        runtime = await cast.client()
        asked = await runtime[0].asked(input=INPUT, expires_in_ms=1_000)
        waits = [runtime[i % 2].read(asked["id"], wait=60) for i in range(PARKED)]
        async with asyncio.timeout(FALLBACK_S / 2):
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
                async with asyncio.timeout(FALLBACK_S / 2):
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
        callers, clients = replica.connections(), await store_clients(pair)
        await asyncio.gather(*(hang_up(runtime, a["id"]) for _ in range(STORM)))
        await until(lambda: replica.metric("placet_waiters") == 0, "nobody waits")
        for _ in range(10):
            seen = await asyncio.gather(*(runtime.seen(b["id"]) for _ in range(100)))
            assert {each["id"] for each in seen} == {b["id"]}
        await cast.lines[0].aclose()
        await until(lambda: replica.connections() <= callers, "their connections are closed")
        assert await store_clients(pair) <= clients + MAX_BATCHES_IN_FLIGHT

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
        await until(lambda: replica.metric("placet_waiters") == 0, "nobody waits")
        await until(lambda: replica.connections() <= callers, "their connections are closed")
        assert (await runtime.seen(asked["id"]))["status"] == "pending"


class TestDawdling:
    """Callers who hold a connection open and send next to nothing."""

    async def test_a_body_in_trickles(self) -> None:
        """A body that does not come to its end in time is refused, and its connection closed."""
        with alone(("-c", _IMPATIENT)) as stage:
            async with casting(stage) as cast:
                (replica,), (runtime,) = stage.replicas, await cast.client()
                reader, writer = await asyncio.open_connection("127.0.0.1", replica.port)
                writer.write(a_post(runtime, b" " * 100_000)[:-100_000])
                trickle = asyncio.create_task(drip(writer))
                async with asyncio.timeout(FALLBACK_S):
                    said = await reader.read()
                await trickle
                assert said.startswith(b"HTTP/1.1 400 ")
                assert b'"INPUT_INVALID"' in said


async def park(replica: Replica, runtime: Party, approval_id: str) -> list[asyncio.Task[Any]]:
    """Have many wait for one record; they do when this returns."""
    waits = [asyncio.create_task(runtime.read(approval_id, wait=60)) for _ in range(PARKED)]
    await until(lambda: replica.metric("placet_waiters") == PARKED, "all of them wait")
    return waits


async def hang_up(runtime: Party, approval_id: str) -> None:
    """Wait, but not for long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(random.uniform(0.01, 0.05)):
            await runtime.read(approval_id, wait=60)


async def drip(writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then for as long as somebody takes them."""
    with suppress(ConnectionError):
        while not writer.transport.is_closing():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)
    writer.close()


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
