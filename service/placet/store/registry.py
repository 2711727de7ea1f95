"""The registry: the one key outside the tenants' tags. Which tenants there are, and the keyring in use."""

import re
from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import TENANT_PATTERN
from placet.store import keys

_KEYRING = "keyring"
_ISSUER = "issuer"


class Registry:
    """Plain reads and writes; each repeats to the same end, so none needs a script.

    Args:
        client: A redis client built with no retries of its own.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def add_tenant(self, tenant: str) -> None:
        """Enter a tenant. Entering it again changes nothing.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            await self._client.hset(keys.REGISTRY, f"t:{tenant}", "1")
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def remove_tenant(self, tenant: str) -> None:
        """Forget a tenant and everything under its tag.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            # First out of the registry, so that no sweeper comes by and makes a key again. Then its people
            # at once, so that nobody meets a part of them and takes it for a forgery.
            await self._client.hdel(keys.REGISTRY, f"t:{tenant}")
            await self._client.unlink(keys.meta(tenant), keys.principals(tenant), keys.credentials(tenant))
            async for key in self._client.scan_iter(match=keys.tag(tenant) + "*", count=500):
                await self._client.unlink(key)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def tenants(self) -> Sequence[str]:
        """All tenants, in order of their names.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            fields: Any = await self._client.hkeys(keys.REGISTRY)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        names = [field[2:].decode("ascii", "replace") for field in fields if field.startswith(b"t:")]
        return sorted(name for name in names if re.fullmatch(TENANT_PATTERN, name))

    async def show_issuer(self, issuer: str) -> None:
        """Say under which public URL this replica issues tokens; the last to say so is right.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            await self._client.hset(keys.REGISTRY, _ISSUER, issuer)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def issuer(self) -> str | None:
        """The public URL that the replica which started last issues tokens under.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            shown: Any = await self._client.hget(keys.REGISTRY, _ISSUER)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return None if shown is None else shown.decode()

    async def agree_on_keyring(self, generation: int, fingerprint: str, seal: str) -> str | None:
        """Compare this replica's keyring with the newest any replica has shown; show it where it is newer.

        Returns:
            What is wrong, as a sentence that says what to do; ``None`` where they agree.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        ours = f"{generation}:{fingerprint}:{seal}"
        try:
            await self._client.hsetnx(keys.REGISTRY, _KEYRING, ours)
            shown: Any = await self._client.hget(keys.REGISTRY, _KEYRING)
            theirs_generation, theirs_fingerprint, theirs_seal = shown.decode().split(":")
            if theirs_seal != seal:
                return "The keyring is not the one this store's votes are sealed with: install the right one."
            if int(theirs_generation) > generation:
                return "Another replica has a newer keyring: install that one here too."
            if int(theirs_generation) < generation:
                await self._client.hset(keys.REGISTRY, _KEYRING, ours)
            elif theirs_fingerprint != fingerprint:
                return "Replicas have different keyrings of the same generation: install one on all."
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return None
