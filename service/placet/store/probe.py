"""Short questions to a Valkey that may be starting, loading, leaving or not there at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError

LOADED_PERCENT = 100.0

_ANSWER_WITHIN_S = 5.0


def _client(socket_path: Path) -> redis.asyncio.Redis:
    return redis.asyncio.Redis(
        unix_socket_path=str(socket_path),
        socket_connect_timeout=_ANSWER_WITHIN_S,
        socket_timeout=_ANSWER_WITHIN_S,
        retry=Retry(NoBackoff(), 0),
    )


async def loaded_percent(socket_path: Path) -> float | None:
    """How ready a server is.

    Returns:
        ``LOADED_PERCENT`` where it answers commands; less while it reads its append-only file;
        None where nobody answers.
    """
    async with _client(socket_path) as client:
        try:
            await client.ping()
        except BusyLoadingError:
            with contextlib.suppress(RedisError):
                return await _still_loading_percent(client)
            return 0.0
        except RedisError:
            return None
    return LOADED_PERCENT


async def _still_loading_percent(client: redis.asyncio.Redis) -> float:
    """How much of its file a loading server has read; "100.00" is not yet ready."""
    persistence = await client.info("persistence")
    return min(float(persistence.get("loading_loaded_perc", 0.0)), LOADED_PERCENT - 1)


async def shut_down(socket_path: Path) -> None:
    """Asks whatever serves a socket to flush and end, and returns without waiting for that."""
    with contextlib.suppress(RedisError):  # nobody there, or too busy: the caller looks at what remains
        async with _client(socket_path) as client:
            await client.shutdown(nosave=True)
