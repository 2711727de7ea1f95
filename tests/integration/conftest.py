"""The service in one process, on the fake or on every kind of store in turn."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import Redis

from tests.factories import ManualClock
from tests.harness import Harness, opened
from tests.ruled import Opening, ruling


@pytest.fixture(scope="session")
def ring_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One keyring for the whole run: making keys and forcing them to disk is the slow part."""
    return tmp_path_factory.mktemp("ring")


@pytest.fixture
async def h(ring_directory: Path, clock: ManualClock) -> AsyncIterator[Harness]:
    """A service over the fake store."""
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    async with opened(redis, ring_directory, clock) as harness:
        yield harness


@pytest.fixture
async def anywhere(client: Redis, ring_directory: Path, clock: ManualClock) -> AsyncIterator[Harness]:
    """A service over a store of every kind in turn."""
    async with opened(client, ring_directory, clock) as harness:
        yield harness


@pytest.fixture
async def pair(
    client: Redis, ring_directory: Path, clock: ManualClock
) -> AsyncIterator[tuple[Harness, Harness]]:
    """Two replicas over one store of every kind."""
    async with opened(client, ring_directory, clock) as here, opened(client, ring_directory, clock) as there:
        yield here, there


@pytest.fixture
async def under(
    client: Redis, ring_directory: Path, clock: ManualClock, tmp_path: Path
) -> AsyncIterator[Opening]:
    """Opens a service under one rule of an operator's, over a store of every kind in turn."""
    async with ruling(client, ring_directory, clock, tmp_path) as opening:
        yield opening
