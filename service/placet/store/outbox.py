"""The tenants' streams as an outbox: each transition is given to one replica, until it says that it is done.

All replicas read as one consumer of one group: an entry goes to whoever asks first, and one that was not done
with in time is anybody's again. Trimming waits for the group (``trim.lua``).
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from placet.domain.errors import StoreUnavailable
from placet.store import keys
from placet.store.stream import REPLY_S, Transition, transition_of

GROUP: Final = "deliveries"
_CONSUMER: Final = "replicas"
BLOCK_MS: Final = 2_000
"""How long one read waits for news."""

_log = logging.getLogger(__name__)


class Outbox:
    """Reads the streams.

    Args:
        client: A client of its own: a blocking read holds a connection.
    """

    def __init__(self, client: Redis) -> None:
        self._client: Any = client  # the library's types know no plain bytes
        self._followed: set[str] = set()

    async def follow(self, tenants: Collection[str]) -> None:
        """Have the transitions of these tenants be given out, those that there are included.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        for tenant in tenants:
            if tenant not in self._followed:
                try:
                    await self._client.xgroup_create(keys.stream(tenant), GROUP, id="0", mkstream=True)
                except ResponseError as fault:
                    if not str(fault).startswith("BUSYGROUP"):
                        raise StoreUnavailable from fault
                except (RedisError, OSError) as fault:
                    raise StoreUnavailable from fault
                self._followed.add(tenant)

    @property
    def followed(self) -> tuple[str, ...]:
        """The tenants whose transitions are given out."""
        return tuple(self._followed)

    def forget(self, tenant: str) -> None:
        """Follow a tenant anew the next time: its stream may be another by now."""
        self._followed.discard(tenant)

    async def news(self, tenants: Collection[str], count: int, *, wait: bool) -> list[Transition]:
        """Transitions of these tenants that nobody was given yet; none where there is no news.

        Args:
            tenants: Followed ones.
            count: How many at most.
            wait: Wait a while for news.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        if not tenants:
            return []
        streams: dict[Any, Any] = dict.fromkeys(map(keys.stream, tenants), ">")
        try:
            async with asyncio.timeout(BLOCK_MS / 1_000 + REPLY_S):
                found = await self._client.xreadgroup(
                    GROUP, _CONSUMER, streams, count=count, block=BLOCK_MS if wait else None
                )
        except ResponseError as fault:
            if str(fault).startswith("NOGROUP"):  # a tenant was removed, and may be made again
                self._followed.clear()
                return []
            raise StoreUnavailable from fault
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        given = [await self._given(_tenant_of(stream), entries) for stream, entries in found or ()]
        return [transition for transitions in given for transition in transitions]

    async def forsaken(self, tenant: str, *, idle_ms: int, count: int) -> list[Transition]:
        """Transitions that somebody was given so long ago, and never was done with.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            _, entries, *_ = await self._client.xautoclaim(
                keys.stream(tenant), GROUP, _CONSUMER, idle_ms, count=count
            )
        except (RedisError, OSError) as fault:
            if not str(fault).startswith("NOGROUP"):
                raise StoreUnavailable from fault
            self.forget(tenant)  # it was removed, as above
            return []
        return await self._given(tenant, entries)

    async def _given(
        self, tenant: str, entries: Iterable[tuple[bytes, dict[bytes, bytes] | None]]
    ) -> list[Transition]:
        """What entries say. Those that say nothing are done with: else they would come again for ever."""
        found, spoilt = [], []
        for entry, fields in entries:
            try:
                found.append(transition_of(tenant, entry.decode(), fields or {}))
            except (LookupError, ValueError):
                spoilt.append(entry.decode())
        if spoilt:
            _log.error("lines of the outbox can't be read", extra={"tenant": tenant, "lines": len(spoilt)})
            await self.done(tenant, spoilt)
        return found

    async def done(self, tenant: str, entries: Sequence[str]) -> None:
        """Be done with entries that nobody is to be told of.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            await self._client.xack(keys.stream(tenant), GROUP, *entries)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def close(self) -> None:
        """Let the connection go."""
        await self._client.aclose()


def _tenant_of(stream: bytes) -> str:
    return stream.decode().removeprefix("{placet:").removesuffix("}:s")
