"""What lives for a while and then is gone: web sessions, and secrets that can be used once.

The service keeps sealed documents under hashes of what a browser holds: whoever reads the store can't come in
with what is there, and whoever writes it can't make any of it.

Keys (all with an expiry, all under the tenant's tag):
  :u:<hash>  string  a session
  :q:<hash>  string  a secret that signs somebody in, once
  :n:<hash>  string  a mark: whoever goes by a name was signed out; what it is tells one time from another

Marks are not sealed: whoever writes the store could take them away, sealed or not.
"""

import logging
from collections.abc import Awaitable, Collection
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from placet.domain.errors import StoreUnavailable
from placet.store import keys

_log = logging.getLogger(__name__)

_OTHER_TYPE: Final = "WRONGTYPE"
"""What the server says of a key that something else was written to."""


class Sessions:
    """Plain reads and writes of single keys.

    Args:
        client: A client of the server.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def keep(self, tenant: str, hashed: str, document: bytes, *, idle_ms: int) -> None:
        """Keep a session, for as long as it is used at least every ``idle_ms``.

        Raises:
            StoreUnavailable: Whether it is kept is unknown.
        """
        try:
            await self._client.set(_session(tenant, hashed), document, px=idle_ms)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def find(self, tenant: str, hashed: str, *, idle_ms: int | None) -> bytes | None:
        """A session, which lasts ``idle_ms`` from now on where that is given; ``None`` where there is none.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        name = _session(tenant, hashed)
        asking = self._client.get(name) if idle_ms is None else self._client.getex(name, px=idle_ms)
        return await self._taken(name, asking)

    async def drop(self, tenant: str, hashed: str) -> None:
        """End a session.

        Raises:
            StoreUnavailable: Whether it has ended is unknown.
        """
        try:
            await self._client.delete(_session(tenant, hashed))
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def offer(self, tenant: str, hashed: str, document: bytes, *, lives_ms: int) -> None:
        """Keep what one use takes away.

        Raises:
            StoreUnavailable: Whether it is kept is unknown.
        """
        try:
            await self._client.set(_once(tenant, hashed), document, px=lives_ms)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def redeem(self, tenant: str, hashed: str) -> bytes | None:
        """Take it: nobody else gets it after this, or at the same time.

        Raises:
            StoreUnavailable: Whether it was taken is unknown.
        """
        name = _once(tenant, hashed)
        return await self._taken(name, self._client.getdel(name))

    async def mark(self, tenant: str, hashes: Collection[str], mark: str, *, lives_ms: int) -> None:
        """Mark names.

        Raises:
            StoreUnavailable: Which of them are marked is unknown.
        """
        try:
            for hashed in hashes:
                await self._client.set(_mark(tenant, hashed), mark, px=lives_ms)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def marks(self, tenant: str, hashes: Collection[str]) -> tuple[str, ...]:
        """The marks of some names.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            found: Any = await self._client.mget([_mark(tenant, hashed) for hashed in hashes])
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return tuple(each.decode("latin-1") for each in found if each is not None)

    async def _taken(self, name: str, asking: Awaitable[Any]) -> bytes | None:
        """What is there. What is no string is none of ours: it is told of, and taken away."""
        try:
            try:
                found = await asking
            except ResponseError as fault:
                if not str(fault).startswith(_OTHER_TYPE):
                    raise
                _log.error("a session was spoilt in the store: something else was there")
                await self._client.delete(name)
                return None
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return None if found is None else bytes(found)


def _session(tenant: str, hashed: str) -> str:
    return f"{keys.tag(tenant)}u:{hashed}"


def _mark(tenant: str, hashed: str) -> str:
    return f"{keys.tag(tenant)}n:{hashed}"


def _once(tenant: str, hashed: str) -> str:
    return f"{keys.tag(tenant)}q:{hashed}"
