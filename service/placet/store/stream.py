"""The stream reader: one blocking read per process over all tenants' streams.

It remembers the last entry it has seen of each stream and goes on from there after a broken link, so
that a wake-up is late rather than lost. What it reads are hints; nothing is decided by them.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import RedisError

from placet.store import keys

BLOCK_MS = 5_000
"""How long one read waits for news."""
REPLY_S = 2.0
"""How long a reply may take beyond that: together they bound how long a dead link goes unnoticed."""
BATCH = 1_000
RECONNECT_S = 0.5
GIVE_UP_S = 0.05
"""After how long a read that was given up and goes on is given up again."""

_log = logging.getLogger(__name__)


class Transition(Struct, frozen=True, kw_only=True):
    """A line of a tenant's stream.

    ``entry`` is its id there, whose first half is the store's clock; or runs ahead of it since that was
    set back (:mod:`placet.store.clock`), and then ``written_ms`` is not ``None``.
    """

    tenant: str
    entry: str
    approval_id: str
    type: str
    at_ms: int
    written_ms: int | None = None

    @property
    def entry_ms(self) -> int:
        """When it was written, on the store's clock."""
        return int(self.entry.partition("-")[0]) if self.written_ms is None else self.written_ms


class StreamReader:
    """Reads on and tells ``heard`` of every transition.

    Args:
        client: A client of its own: a blocking read holds a connection.
        heard: Called for each transition, in the order of its stream.
    """

    def __init__(self, client: Redis, heard: Callable[[Transition], None]) -> None:
        self._client = client
        self._heard = heard
        self._positions: dict[str, str] = {}
        self._added = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read, in a task of its own."""
        self._task = asyncio.get_running_loop().create_task(self._read_on())

    async def stop(self) -> None:
        """Stop reading and let the connection go."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        await self._client.aclose()

    async def follow(self, tenant: str) -> None:
        """Have every transition of ``tenant`` from now on be heard.

        A store that can't be asked is no reason to refuse a waiter: it looks for itself now and then.
        """
        if tenant in self._positions:
            return
        try:
            async with asyncio.timeout(REPLY_S):
                last: Any = await self._client.xrevrange(keys.stream(tenant), count=1)
        except (RedisError, OSError):
            return
        self._positions.setdefault(tenant, last[0][0].decode() if last else "0-0")
        self._added.set()

    async def _read_on(self) -> None:
        while True:
            if not self._positions:
                await self._added.wait()
            self._added.clear()
            read = asyncio.ensure_future(self._read_once())
            added = asyncio.ensure_future(self._added.wait())
            try:
                await asyncio.wait({read, added}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                added.cancel()
                await _give_up(read)

    async def _read_once(self) -> None:
        positions: dict[Any, Any] = {keys.stream(tenant): entry for tenant, entry in self._positions.items()}
        try:
            async with asyncio.timeout(BLOCK_MS / 1_000 + REPLY_S):
                news: Any = await self._client.xread(positions, count=BATCH, block=BLOCK_MS)
        except (RedisError, OSError) as fault:
            _log.warning("the stream can't be read, trying again", extra={"fault": type(fault).__name__})
            await asyncio.sleep(RECONNECT_S)
            return
        for stream, entries in news:
            tenant = stream.decode().removeprefix("{placet:").removesuffix("}:s")
            for entry, fields in entries:
                self._positions[tenant] = entry.decode()
                self._heard(transition_of(tenant, entry.decode(), fields))


def transition_of(tenant: str, entry: str, fields: dict[bytes, bytes]) -> Transition:
    """An entry of a tenant's stream, read."""
    return Transition(
        tenant=tenant,
        entry=entry,
        approval_id=fields[b"i"].decode(),
        type=fields[b"t"].decode(),
        at_ms=int(fields[b"n"]),
        written_ms=int(fields[b"w"]) if b"w" in fields else None,
    )


def place_of(entry: str) -> tuple[int, int]:
    """An entry's place in its stream."""
    at, _, number = entry.partition("-")
    return int(at), int(number)


async def _give_up(read: asyncio.Future[None]) -> None:
    """End a read that may still be waiting.

    The client library closes the connection of a cancelled read, and only that one: nothing is left a
    reply behind, and a ``follow`` in flight is not torn. A cancellation can be lost on its way
    (``asyncio.wait_for`` before Python 3.12, which the library uses where there is a time-out), so it is
    repeated; and ``asyncio.wait``, unlike ``await read``, never mistakes our own end for that of the read.
    """
    while not read.done():
        read.cancel()
        await asyncio.wait({read}, timeout=GIVE_UP_S)
