"""What a tenant's stream still has: transitions from behind an entry on."""

from collections.abc import AsyncIterator, Awaitable
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from placet.domain.errors import StoreUnavailable
from placet.store import keys
from placet.store.stream import Transition, place_of, transition_of

Entries = list[tuple[bytes, dict[bytes, bytes]]]


class Past:
    """Reads streams. Entries are hints: nothing is decided by them.

    Args:
        client: A client of the server.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def back_to(self, tenant: str, entry: str) -> tuple[bool, str]:
        """Whether all that came after ``entry`` is still there, and from behind which entry on to read.

        It is where an entry of that place, or an earlier one, is: of what was taken out nothing is left that
        would tell. An entry that the stream has not come to yet is of another stream: then nothing is behind
        the last one.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        stream = keys.stream(tenant)
        last: Entries = await self._asked(self._client.xrevrange(stream, count=1))
        if not last or place_of(last[0][0].decode()) < place_of(entry):
            return False, last[0][0].decode() if last else entry
        before: Entries = await self._asked(self._client.xrevrange(stream, max=entry, count=1))
        return bool(before), entry

    async def since(self, tenant: str, entry: str, chunk: int) -> AsyncIterator[Transition]:
        """Every transition after ``entry``, oldest first, read in chunks.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        stream, after = keys.stream(tenant), entry
        while True:
            found: Entries = await self._asked(self._client.xrange(stream, min=f"({after}", count=chunk))
            for at, fields in found:
                after = at.decode()
                yield transition_of(tenant, after, fields)
            if len(found) < chunk:
                return

    async def _asked(self, call: Awaitable[Any]) -> Entries:
        try:
            found: Entries = await call
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return found
