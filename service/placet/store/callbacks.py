"""What callbacks were answered, for as long as the same message could come again.

Key, with an expiry, under the tenant's tag:
  :r:<hash>  string  JSON of placet.application.bridge_callbacks.Answered, by the hash of a bridge's name and
                     a message's id

It is not sealed. Whoever writes the store could keep a bridge from deciding by it, sealed or not, and have
nothing decided.
"""

from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from placet.domain.errors import StoreUnavailable
from placet.store import keys


class Callbacks:
    """Plain reads and writes of single keys.

    Args:
        client: A client of the server.
    """

    def __init__(self, client: Redis) -> None:
        self._client: Any = client  # the library's types know no plain bytes

    async def find(self, tenant: str, hashed: str) -> bytes | None:
        """What is kept; ``None`` where nothing is.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            found: bytes | None = await self._client.get(_answer(tenant, hashed))
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return found

    async def keep(self, tenant: str, hashed: str, document: bytes, *, lives_ms: int) -> None:
        """Keep an answer, where none is kept.

        Raises:
            StoreUnavailable: Whether it is kept is unknown.
        """
        try:
            await self._client.set(_answer(tenant, hashed), document, px=lives_ms, nx=True)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault


def _answer(tenant: str, hashed: str) -> str:
    return f"{keys.tag(tenant)}r:{hashed}"
