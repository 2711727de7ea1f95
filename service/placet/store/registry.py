"""The registry: the one key outside the tenants' tags. Which tenants there are, and what all agree on."""

import re
from collections.abc import Sequence
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import RedisError

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import TENANT_PATTERN
from placet.store import keys

_KEYRING = "keyring"
_ISSUER = "issuer"
_GENERATION = "generation"

_SWAP = """
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""
"""Put a field's value in the place of another: ARGV field, the value that must be there, the new one."""

_LEASE = """
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local lease_ms = tonumber(ARGV[3])
local until_ms, held = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+) (.*)$')
local left_ms = until_ms and until_ms - now_ms or -1
if left_ms < 0 or left_ms > lease_ms then
  held = ''
end
if ARGV[2] == '' or (held ~= '' and held ~= ARGV[2]) then
  return held
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now_ms + lease_ms) .. ARGV[2])
return ARGV[2]
"""
"""Take or renew what one name at a time can have: ARGV field, name (empty: only look), how long it lasts.

Back comes who has it. A deadline further ahead than a lease reaches is of a clock that was wrong.
"""

ISSUER_LEASE_MS: Final = 75_000
"""How long an issuer stays registered; every replica under it renews that twice a minute."""


class Registry:
    """Plain reads and writes; each repeats to the same end, so that few need a script.

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

    async def hold_issuer(self, issuer: str, lease_ms: int = ISSUER_LEASE_MS) -> str:
        """Say under which public URL this replica issues tokens: the first to say so is right.

        It stays right, by the server's clock, until nobody has said so again for as long as a lease lasts.

        Returns:
            The URL that is right: this one, or another that is in use.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        return await self._lease(issuer, lease_ms)

    async def issuer(self) -> str | None:
        """The public URL that tokens are issued under; ``None`` where no service has run for a while.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        return await self._lease("", ISSUER_LEASE_MS) or None

    async def _lease(self, issuer: str, lease_ms: int) -> str:
        try:
            held: Any = await self._client.eval(_LEASE, 1, keys.REGISTRY, _ISSUER, issuer, lease_ms)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return str(held.decode("utf-8", "replace"))

    async def generation(self) -> bytes:
        """What names the operator's rules in force, as whoever put them in force has sealed it; or nothing.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            held: Any = await self._client.hget(keys.REGISTRY, _GENERATION)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return held or b""

    async def replace_generation(self, generation: bytes, *, instead_of: bytes) -> bool:
        """Put rules in force; False, and nothing is changed, where others are than ``instead_of``.

        Raises:
            StoreUnavailable: The store can't be asked; whether they are in force is unknown.
        """
        try:
            done: Any = await self._client.eval(_SWAP, 1, keys.REGISTRY, _GENERATION, instead_of, generation)
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        return bool(done)

    async def has_keyring(self) -> bool:
        """Whether some service has shown a keyring here: then what there is may be sealed with it.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            return bool(await self._client.hexists(keys.REGISTRY, _KEYRING))
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

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
