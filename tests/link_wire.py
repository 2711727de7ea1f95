"""A wire that a test holds both ends of, in place of the link's client."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

from redis.asyncio import Redis

from placet.store.link import Confirmation, Link
from placet.store.scripts import load
from placet.store.wires import Exchange

META = "{placet:default}:m"
SHA = {name: script.sha1.encode() for name, script in load().items()}
WAITAOF = Confirmation(("WAITAOF", 1, 0, 100), lambda reply: reply[0] >= 1)
WAIT = Confirmation(("WAIT", 2, 100), lambda reply: reply >= 2)

Command = tuple[bytes, ...]
Answering = Callable[[Command], Any]


class Wire:
    """A client of one pool whose server answers each command as ``answer`` says.

    An exception in place of a reply is raised at the reader, as the client library does it. ``faults``
    are raised instead of taking an exchange at all, in their order.
    """

    def __init__(self, answer: Answering, faults: Sequence[BaseException] = ()) -> None:
        self.answer = answer
        self.faults = list(faults)
        self.exchanges: list[list[Command]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.in_use = 0
        self.dropped = 0
        self.emptied = 0
        self.closed = False

    @property
    def connection_pool(self) -> "Wire":
        return self

    async def get_connection(self) -> "Connection":
        self.in_use += 1
        return Connection(self)

    async def release(self, connection: "Connection") -> None:
        self.in_use -= 1

    async def disconnect(self, *, inuse_connections: bool) -> None:
        assert not inuse_connections
        self.emptied += 1

    async def aclose(self) -> None:
        self.closed = True


class Connection:
    """One connection of a wire."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._replies: list[Any] = []

    async def send_packed_command(self, packed: list[bytes], *, check_health: bool) -> None:
        commands = unpacked(b"".join(packed))
        self._wire.exchanges.append(commands)
        if self._wire.faults:
            raise self._wire.faults.pop(0)
        self._replies = [self._wire.answer(command) for command in commands]

    async def read_response(self, *, disable_decoding: bool) -> Any:
        await self._wire.open.wait()
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def disconnect(self, *, nowait: bool) -> None:
        self._wire.dropped += 1


def unpacked(packed: bytes) -> list[Command]:
    """The commands in a piece of the protocol (RESP arrays of bulk strings)."""
    commands = []
    while packed:
        head, _, packed = packed.partition(b"\r\n")
        words = []
        for _ in range(int(head[1:])):
            size, _, packed = packed.partition(b"\r\n")
            words.append(packed[: int(size[1:])])
            packed = packed[int(size[1:]) + 2 :]
        commands.append(tuple(words))
    return commands


def echo(command: Command) -> Any:
    """Answer a script with its first argument, a wait with plenty."""
    return {b"EVALSHA": [command[-1]], b"WAITAOF": [1, 0], b"WAIT": 2}.get(command[0], b"OK")


def a_link(wire: Wire, **options: Any) -> Link:
    """A link over a wire."""
    return Link(cast("Redis", wire), **options)


async def call(link: Link, argument: str, script: str = "get", key: str = META) -> Any:
    """One call, awaited in a task of its own."""
    return await link.call(script, key, (argument,))


async def calls(link: Link, *arguments: str) -> list[Any]:
    """Calls of one tick: their replies or faults."""
    return await asyncio.gather(*(call(link, each) for each in arguments), return_exceptions=True)


class Unheard(Exchange):
    """An exchange that the server carries out, but for all that its caller knows the link broke."""

    def __init__(self, exchange: Exchange) -> None:
        self.packed, self.count, self.until_s = exchange.packed, exchange.count, exchange.until_s
        self._exchange = exchange

    def replied(self, reply: Any) -> None:
        """Nobody hears."""

    def ended(self, fault: Exception | None) -> None:
        self._exchange.ended(fault or ConnectionError())
