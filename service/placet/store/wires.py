"""Connections to the server: each carries one exchange at a time, commands out and replies back.

The client library connects: address, TLS, credentials, database. Then the connection's transport is taken
over and read by the library's own parser in C, and whoever asked hears of each reply the moment it arrives.
What the library does around its pool and each reply, and a task for each exchange, cost more than a short
call itself, and turns of the event loop in which the server had nothing to do. A connection that has no
transport, as that to a server in memory, is read through the library.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from typing import Any

import hiredis
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as LinkDown
from redis.exceptions import InvalidResponse, NoScriptError, ReadOnlyError, RedisError, ResponseError

_NOTHING: Any = object()
"""No whole reply is there yet."""
_REFUSALS: dict[str, type[ResponseError]] = {"NOSCRIPT": NoScriptError, "READONLY": ReadOnlyError}


class Exchange(ABC):
    """Commands that travel together, and what hears of their replies.

    Attributes:
        packed: The commands, as the protocol has them.
        count: How many they are.
        until_s: When to give up, on the loop's clock. It covers the handshake of a new connection too: a
            server that has stopped still lets itself be connected to.
    """

    packed: bytes
    count: int
    until_s: float

    @abstractmethod
    def replied(self, reply: Any) -> None:  # noqa: ANN401 - any reply
        """The next reply; a refusal is a ``ResponseError`` in its place."""

    @abstractmethod
    def ended(self, fault: Exception | None) -> None:
        """There are no more: all have come, or a ``RedisError`` or ``OSError`` kept the rest away.

        Of what has no reply it is unknown whether it was carried out.
        """


class Wires:
    """The connections of one client.

    Args:
        client: A redis client built with no retries and no time-outs of its own.
    """

    def __init__(self, client: Redis) -> None:
        self._pool: Any = client.connection_pool
        self._idle: list[_Taken] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def carry(self, exchange: Exchange) -> None:
        """Have an exchange carried out. Raises nothing: it is the exchange that hears of everything."""
        while self._idle:
            wire = self._idle.pop()
            if wire.is_open:
                wire.carry(exchange)
                return
        self.work(self._carry_anew(exchange))

    async def _carry_anew(self, exchange: Exchange) -> None:
        try:
            await self._connect(exchange)
        except (RedisError, OSError) as fault:
            exchange.ended(fault)
        except BaseException:  # nobody is left waiting for what failed in a way nobody foresaw
            exchange.ended(LinkDown("the exchange was given up"))
            raise

    async def _connect(self, exchange: Exchange) -> None:
        async with asyncio.timeout_at(exchange.until_s):
            connection = await self._pool.get_connection()
        writer = getattr(connection, "_writer", None)
        if isinstance(writer, asyncio.StreamWriter):
            _Taken(self, connection, writer.transport).carry(exchange)
            return
        try:
            async with asyncio.timeout_at(exchange.until_s):
                await _read_through(connection, exchange)
        except BaseException:
            # Replies that are still to come would be taken for those of the next exchange.
            await self.drop(connection)
            raise
        await self._pool.release(connection)
        exchange.ended(None)

    def rest(self, wire: "_Taken") -> None:
        """It can carry another exchange."""
        self._idle.append(wire)

    async def drop(self, connection: Any, *, nowait: bool = True) -> None:  # noqa: ANN401 - the library's type
        """Close a connection, wait for its end if so asked, and let another have its place."""
        try:
            await connection.disconnect(nowait=nowait)
        finally:
            await self._pool.release(connection)

    def work(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something in a task of its own, which :meth:`close` waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def disconnect(self) -> None:
        """Let those go that carry nothing."""
        idle, self._idle = self._idle, []
        for wire in idle:
            wire.close()
        await self._pool.disconnect(inuse_connections=False)

    async def close(self) -> None:
        """Let all go, once nothing is under way any more, and wait until they have gone."""
        await self.disconnect()
        while self._tasks:
            await asyncio.wait(self._tasks)


async def _read_through(connection: Any, exchange: Exchange) -> None:  # noqa: ANN401 - as above
    await connection.send_packed_command([exchange.packed], check_health=False)
    for _ in range(exchange.count):
        exchange.replied(await _reply(connection))


async def _reply(connection: Any) -> Any:  # noqa: ANN401 - as above
    try:
        return await connection.read_response(disable_decoding=True)
    except ResponseError as refusal:
        return refusal


class _Taken(asyncio.Protocol):
    """A connection whose transport was taken over."""

    def __init__(self, wires: Wires, connection: Any, transport: Any) -> None:  # noqa: ANN401 - as above
        self._wires = wires
        self._connection = connection
        self._transport = transport
        self._reader = hiredis.Reader(
            protocolError=InvalidResponse, replyError=_refusal, notEnoughData=_NOTHING
        )
        self._exchange: Exchange | None = None
        self._missing = 0
        self._late: asyncio.TimerHandle | None = None
        self._library: asyncio.Protocol = transport.get_protocol()  # it waits for the end of what it began
        transport.set_protocol(self)
        self.is_open = True

    def carry(self, exchange: Exchange) -> None:
        self._exchange, self._missing = exchange, exchange.count
        self._late = asyncio.get_running_loop().call_at(exchange.until_s, self._close, TimeoutError())
        self._transport.write(exchange.packed)

    def data_received(self, data: bytes) -> None:
        """Some replies, or parts of them."""
        try:
            self._reader.feed(data)
            self._hear()
        except Exception as fault:  # noqa: BLE001 - whatever the parser says of it, it can't be read on
            self._close(
                fault if isinstance(fault, InvalidResponse) else InvalidResponse(type(fault).__name__)
            )
            return
        if self._missing > 0 or (exchange := self._rest()) is None:
            return
        if self._reader.has_data():  # the beginning of what nobody asked for
            self._close(InvalidResponse())
        else:
            self._wires.rest(self)
        exchange.ended(None)

    def _hear(self) -> None:
        exchange = self._exchange
        while (reply := self._reader.gets()) is not _NOTHING:
            if type(reply) is hiredis.PushNotification:
                continue
            if exchange is None or self._missing == 0:
                raise InvalidResponse("a reply that nobody asked for")
            self._missing -= 1
            exchange.replied(reply)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server has gone, or we have."""
        self._close(LinkDown("the connection was lost"))
        self._library.connection_lost(exc)

    def close(self) -> None:
        """Nobody needs it any more."""
        self._close(LinkDown("the connection was closed"), nowait=False)

    def _close(self, fault: Exception, *, nowait: bool = True) -> None:
        if self.is_open:
            self.is_open = False
            self._wires.work(self._wires.drop(self._connection, nowait=nowait))
        exchange = self._rest()
        if exchange is not None:
            exchange.ended(fault)

    def _rest(self) -> Exchange | None:
        exchange, self._exchange = self._exchange, None
        if self._late is not None:
            self._late.cancel()
            self._late = None
        return exchange


def _refusal(text: str) -> ResponseError:
    return _REFUSALS.get(text.partition(" ")[0], ResponseError)(text)
