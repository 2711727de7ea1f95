"""Connections that are read here: replies in whatever pieces, faults, and nothing left for the next one."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as LinkDown
from redis.exceptions import InvalidResponse, NoScriptError, ReadOnlyError, ResponseError

from placet.store.wires import Exchange, Wires
from tests.tools import until

PING = b"*1\r\n$4\r\nPING\r\n"


class Heard(Exchange):
    """An exchange that notes what it hears."""

    def __init__(self, count: int = 1, patience_s: float = 5.0) -> None:
        self.packed, self.count = PING * count, count
        self.until_s = asyncio.get_running_loop().time() + patience_s
        self.replies: list[Any] = []
        self.over: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()

    def replied(self, reply: Any) -> None:
        self.replies.append(reply)

    def ended(self, fault: Exception | None) -> None:
        self.over.set_result(fault)


class Connection:
    """One of the library's, over a pair of sockets of which the test has the other end."""

    def __init__(self, pool: "Pool", writer: asyncio.StreamWriter, peer: socket.socket) -> None:
        self._pool = pool
        self._writer = writer
        self.peer = peer

    async def disconnect(self, *, nowait: bool) -> None:
        self._pool.dropped += 1
        self._writer.close()
        if not nowait:
            await self._writer.wait_closed()

    async def sent(self) -> bytes:
        return await asyncio.get_running_loop().sock_recv(self.peer, 4096)

    async def say(self, said: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.peer, said)


class Pool:
    """The client library's pool, as far as it is used."""

    def __init__(self) -> None:
        self.made: list[Connection] = []
        self.in_use = 0
        self.dropped = 0

    @property
    def connection_pool(self) -> "Pool":
        return self

    async def get_connection(self) -> Connection:
        ours, peer = socket.socketpair()
        peer.setblocking(False)
        _, writer = await asyncio.open_unix_connection(sock=ours)
        self.in_use += 1
        self.made.append(Connection(self, writer, peer))
        return self.made[-1]

    async def release(self, connection: Connection) -> None:
        self.in_use -= 1

    async def disconnect(self, *, inuse_connections: bool) -> None:
        assert not inuse_connections


@pytest.fixture
def pool() -> Pool:
    """A pool of connections to the test."""
    return Pool()


@pytest.fixture
async def wires(pool: Pool) -> AsyncIterator[Wires]:
    """Its wires, which leave nothing behind."""
    wires = Wires(cast("Redis", pool))
    yield wires
    await wires.close()
    assert pool.in_use == 0
    for connection in pool.made:
        await connection._writer.wait_closed()
        connection.peer.close()


async def carried(wires: Wires, pool: Pool, exchange: Heard) -> Connection:
    """The connection that carries it, once it has been sent."""
    wires.carry(exchange)
    await until(lambda: bool(pool.made), "it is connected")
    assert await pool.made[-1].sent() == exchange.packed
    return pool.made[-1]


async def test_replies_are_heard_as_they_come(wires: Wires, pool: Pool) -> None:
    """In whatever pieces, each at once and in its order; nested ones whole."""
    exchange = Heard(3)
    connection = await carried(wires, pool, exchange)
    await connection.say(b"+OK\r\n*2\r\n$2\r\nok\r\n:")
    await until(lambda: exchange.replies == [b"OK"], "the first is heard")
    await connection.say(b"7\r\n$-1\r\n")
    assert await exchange.over is None
    assert exchange.replies == [b"OK", [b"ok", 7], None]


async def test_a_connection_carries_one_after_the_other(wires: Wires, pool: Pool) -> None:
    """It is taken out of the pool once."""
    for _ in range(3):
        exchange = Heard()
        connection = await carried(wires, pool, exchange)
        await connection.say(b":1\r\n")
        assert await exchange.over is None
    assert (len(pool.made), pool.in_use, pool.dropped) == (1, 1, 0)


async def test_two_at_once_have_a_connection_each(wires: Wires, pool: Pool) -> None:
    """No reply crosses over."""
    one, other = Heard(), Heard()
    wires.carry(one)
    wires.carry(other)
    await until(lambda: len(pool.made) == 2, "both are connected")
    for place, connection in enumerate(pool.made):
        await connection.sent()
        await connection.say(b":%d\r\n" % place)
    assert (await one.over, await other.over) == (None, None)
    assert sorted(one.replies + other.replies) == [0, 1]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (b"-NOSCRIPT No matching script.", NoScriptError),
        (b"-READONLY You can't write against a read only replica.", ReadOnlyError),
        (b"-ERR user_script:1: no", ResponseError),
        (b"-NOSCRIPTS", ResponseError),
    ],
)
async def test_a_refusal_is_a_reply(wires: Wires, pool: Pool, said: bytes, kind: type[ResponseError]) -> None:
    """Of the library's kinds; the exchange goes on."""
    exchange = Heard(2)
    connection = await carried(wires, pool, exchange)
    await connection.say(said + b"\r\n:1\r\n")
    assert await exchange.over is None
    assert (type(exchange.replies[0]), exchange.replies[1]) == (kind, 1)


async def test_what_the_server_says_of_itself_is_no_reply(wires: Wires, pool: Pool) -> None:
    """Push messages (RESP3) may come between any two."""
    exchange = Heard()
    connection = await carried(wires, pool, exchange)
    await connection.say(b">2\r\n+MOVING\r\n:1\r\n:7\r\n")
    assert await exchange.over is None
    assert exchange.replies == [7]


async def test_a_server_that_goes_ends_the_exchange(wires: Wires, pool: Pool) -> None:
    """What was heard was heard; the next one has a connection of its own."""
    exchange = Heard(2)
    connection = await carried(wires, pool, exchange)
    await connection.say(b":1\r\n")
    await until(lambda: exchange.replies == [1], "the first is heard")
    connection.peer.close()
    assert isinstance(await exchange.over, LinkDown)
    again = Heard()
    wires.carry(again)
    await until(lambda: len(pool.made) == 2, "it is connected anew")
    await pool.made[1].say(b":2\r\n")
    assert (await again.over, again.replies, pool.dropped) == (None, [2], 1)


async def test_a_connection_that_was_cut_while_idle_is_not_used(wires: Wires, pool: Pool) -> None:
    """Nothing is sent into it."""
    exchange = Heard()
    connection = await carried(wires, pool, exchange)
    await connection.say(b":1\r\n")
    await exchange.over
    connection.peer.close()
    await until(lambda: pool.dropped == 1, "its end was noticed")
    again = Heard()
    wires.carry(again)
    await until(lambda: len(pool.made) == 2, "it is connected anew")
    await pool.made[1].say(b":2\r\n")
    assert await again.over is None


async def test_a_late_reply_is_nobodys(wires: Wires, pool: Pool) -> None:
    """The connection on which it would come is closed."""
    exchange = Heard(patience_s=0.01)
    connection = await carried(wires, pool, exchange)
    assert isinstance(await exchange.over, TimeoutError)
    assert await connection.sent() == b"", "it was closed"
    assert (exchange.replies, pool.dropped) == ([], 1)


@pytest.mark.parametrize("said", [b":1\r\n:2\r\n", b":1\r\n?", b"?", b"%1\r\n*0\r\n:1\r\n"])
async def test_what_nobody_asked_for_is_not_believed(wires: Wires, pool: Pool, said: bytes) -> None:
    """A reply too many, or what is none: what else comes on that connection could be anything."""
    exchange = Heard()
    connection = await carried(wires, pool, exchange)
    await connection.say(said)
    assert isinstance(await exchange.over, InvalidResponse)
    await until(lambda: pool.dropped == 1, "it is let go")


async def test_a_reply_to_nothing_closes_an_idle_connection(wires: Wires, pool: Pool) -> None:
    """It would be taken for that to the next command."""
    exchange = Heard()
    connection = await carried(wires, pool, exchange)
    await connection.say(b":1\r\n")
    assert await exchange.over is None
    await connection.say(b":2\r\n")
    await until(lambda: pool.dropped == 1, "it is let go")


async def test_what_nobody_asked_for_does_not_wait_for_the_next(wires: Wires, pool: Pool) -> None:
    """Its beginning stands behind a reply, its end would stand before the next one."""
    exchange = Heard()
    connection = await carried(wires, pool, exchange)
    await connection.say(b":1\r\n*1\r\n$7\r\nFOREI")
    assert (await exchange.over, exchange.replies) == (None, [1])
    again = Heard()
    wires.carry(again)
    await until(lambda: len(pool.made) == 2, "it is connected anew")
    await pool.made[1].say(b":2\r\n")
    assert (await again.over, again.replies, pool.dropped) == (None, [2], 1)


async def test_false_is_a_reply(wires: Wires, pool: Pool) -> None:
    """As RESP3 has it."""
    exchange = Heard()
    connection = await carried(wires, pool, exchange)
    await connection.say(b"#f\r\n")
    assert (await exchange.over, exchange.replies) == (None, [False])


async def test_closing_waits_until_all_have_gone(pool: Pool) -> None:
    """A loop that is closed before they have complains, over TLS."""
    wires = Wires(cast("Redis", pool))
    exchange = Heard()
    connection = await carried(wires, pool, exchange)
    await connection.say(b":1\r\n")
    await exchange.over
    await wires.close()
    await asyncio.wait_for(connection._writer.wait_closed(), 0.1)
    assert (pool.in_use, pool.dropped) == (0, 1)
    connection.peer.close()


async def test_disconnecting_spares_what_is_under_way(wires: Wires, pool: Pool) -> None:
    """Idle ones go."""
    idle, busy = Heard(), Heard()
    wires.carry(idle)
    wires.carry(busy)
    await until(lambda: len(pool.made) == 2, "both are connected")
    await pool.made[0].say(b":1\r\n")
    await until(lambda: bool(idle.replies or busy.replies), "one is heard")
    await wires.disconnect()
    await until(lambda: pool.dropped == 1, "the idle one is let go")
    await pool.made[1].say(b":2\r\n")
    assert (await idle.over, await busy.over) == (None, None)
