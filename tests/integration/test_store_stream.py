"""The stream reader: it wakes, it survives its connection, it follows whom it is told to, it ends."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.settings import StoreSettings
from placet.store import stream
from placet.store.connection import connect
from placet.store.opened import Store
from placet.store.stream import StreamReader, Transition
from tests.conftest import a_store
from tests.factories import T0_MS, ManualClock
from tests.steps import TENANT, asked, cancel, voted
from tests.tools import until


@pytest.fixture
def heard() -> list[Transition]:
    """What the reader told."""
    return []


@pytest.fixture
async def store(client: Redis, clock: ManualClock, heard: list[Transition]) -> AsyncIterator[Store]:
    """A store whose reader runs."""
    store = a_store(client, clock, heard)
    store.stream.start()
    yield store
    await store.stream.stop()


async def told(heard: list[Transition], count: int) -> list[tuple[str, str, str]]:
    """The first transitions, as soon as there are so many."""
    await until(lambda: len(heard) >= count, f"{count} transitions are heard")
    return [(each.tenant, each.approval_id, each.type) for each in heard]


async def connections(client: Redis) -> list[dict[str, str]]:
    """The connections that a real server has."""
    found: Any = await client.client_list()
    return list(found)


async def down_to(client: Redis, count: int) -> int:
    """How many connections there are, once they are so many: a server hears of an end a moment later."""
    async with asyncio.timeout(20):
        while True:
            found = len(await connections(client))
            if found <= count:
                return found
            await asyncio.sleep(0.01)


async def blocked(client: Redis) -> list[dict[str, str]]:
    """Those of them that wait for news; a reader sends its next read a moment after it has told."""
    async with asyncio.timeout(20):
        while True:
            waiting = [each for each in await connections(client) if each["cmd"] == "xread"]
            if waiting:
                return waiting
            await asyncio.sleep(0.01)


async def test_every_transition_is_heard(store: Store, heard: list[Transition]) -> None:
    """In the order of the stream, with its moment."""
    await store.stream.follow(TENANT)
    ask = await asked(store)
    await voted(store, ask)
    await cancel(store, ask)
    assert await told(heard, 3) == [
        (TENANT, ask.id, "requested"),
        (TENANT, ask.id, "approved"),
        (TENANT, ask.id, "cancelled"),
    ]
    assert (heard[0].at_ms, heard[0].entry_ms) == (T0_MS, T0_MS)


async def test_an_expiry_has_two_moments(store: Store, clock: ManualClock, heard: list[Transition]) -> None:
    """When it happened, and when it was written."""
    await store.stream.follow(TENANT)
    await asked(store, new={"expires_in_ms": 1_000})
    clock.move(5_000)
    await store.approvals.sweep(TENANT, limit=1)
    await told(heard, 2)
    assert (heard[1].at_ms, heard[1].entry_ms) == (T0_MS + 1_000, T0_MS + 5_000)


async def test_refusals_wake_nobody(store: Store, heard: list[Transition]) -> None:
    """They change nothing."""
    await store.stream.follow(TENANT)
    ask = await asked(store)
    await cancel(store, ask, "auditor", sees=True)
    await voted(store, ask)
    assert [kind for _, _, kind in await told(heard, 2)] == ["requested", "approved"]


async def test_what_was_before_is_not_heard(store: Store, heard: list[Transition]) -> None:
    """Following begins now: whoever waits has just read the record."""
    await asked(store)
    await store.stream.follow(TENANT)
    ask = await asked(store)
    assert await told(heard, 1) == [(TENANT, ask.id, "requested")]


async def test_following_twice_is_following(store: Store, heard: list[Transition]) -> None:
    """Every waiter asks for it; what came in between is not skipped."""
    await store.stream.follow(TENANT)
    ask = await asked(store)
    await store.stream.follow(TENANT)
    await voted(store, ask)
    assert len(await told(heard, 2)) == 2


async def test_another_tenant_is_followed_while_it_reads(store: Store, heard: list[Transition]) -> None:
    """The read under way is given up for one that covers both, at once."""
    await store.stream.follow("one")
    await asked(store, tenant="one")
    await told(heard, 1)
    await store.stream.follow("two")
    second = await asked(store, tenant="two")
    third = await asked(store, tenant="one")
    assert sorted((await told(heard, 3))[1:]) == [
        ("one", third.id, "requested"),
        ("two", second.id, "requested"),
    ]


async def test_many_tenants_at_once(store: Store, heard: list[Transition]) -> None:
    """Giving up one read tears no other's question for its position."""
    names = [f"tenant-{i}" for i in range(30)]
    await asyncio.gather(*(store.stream.follow(name) for name in names))
    await asyncio.gather(*(asked(store, tenant=name) for name in names))
    await told(heard, 30)
    assert sorted(each.tenant for each in heard) == sorted(names)


async def test_other_tenants_are_not_heard(store: Store, heard: list[Transition]) -> None:
    """Only those that someone here waits for."""
    await store.stream.follow("one")
    await asked(store, tenant="two")
    ask = await asked(store, tenant="one")
    assert await told(heard, 1) == [("one", ask.id, "requested")]


async def test_a_long_silence_is_no_fault(
    store: Store, heard: list[Transition], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read that ends without news is followed by the next."""
    monkeypatch.setattr(stream, "BLOCK_MS", 10)
    await store.stream.follow(TENANT)
    await asyncio.sleep(0.05)
    await asked(store)
    assert len(await told(heard, 1)) == 1


async def test_more_than_a_batch_is_heard(
    store: Store, heard: list[Transition], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next read goes on where the last one ended."""
    monkeypatch.setattr(stream, "BATCH", 2)
    await store.stream.follow(TENANT)
    asks = [await asked(store) for _ in range(7)]
    assert [found for _, found, _ in await told(heard, 7)] == [ask.id for ask in asks]


async def test_stopping_leaves_nothing(client: Redis, clock: ManualClock, heard: list[Transition]) -> None:
    """No task, and what happens later is not heard."""
    before = asyncio.all_tasks()
    store = a_store(client, clock, heard)
    store.stream.start()
    await store.stream.follow(TENANT)
    await asked(store)
    await told(heard, 1)
    await store.stream.stop()
    await asked(store)
    await asyncio.sleep(0.02)
    assert len(heard) == 1
    assert asyncio.all_tasks() == before


async def test_stopping_before_anything_is_followed(store: Store) -> None:
    """It may never have had anything to read, nor even have been started."""
    await store.stream.stop()
    await store.stream.stop()


async def test_a_store_stops_its_reader(client: Redis, clock: ManualClock, heard: list[Transition]) -> None:
    """Closing answers what was asked and lets everything go."""
    before = asyncio.all_tasks()
    store = a_store(client, clock, heard)
    store.stream.start()
    await store.stream.follow(TENANT)
    await store.close()
    await until(lambda: asyncio.all_tasks() == before, "nothing is left running")


async def test_an_unreachable_store_refuses_no_waiter(tmp_path: Path, heard: list[Transition]) -> None:
    """A waiter that can't be woken looks for itself now and then; following is tried again with the next."""
    client = connect(StoreSettings(data_dir=tmp_path), tmp_path / "nothing", patient=True)
    reader = StreamReader(client, heard.append)
    await reader.follow(TENANT)
    assert reader._positions == {}
    await reader.stop()


@pytest.mark.real
@pytest.mark.parametrize("client", ["valkey", "redis"], indirect=True)
class TestRealServers:
    """What only a connection that can break shows, on a client as the service makes them."""

    @pytest.fixture
    async def reader(
        self, client: Redis, heard: list[Transition], monkeypatch: pytest.MonkeyPatch
    ) -> AsyncIterator[StreamReader]:
        """A reader that runs, with a connection of its own."""
        monkeypatch.setattr(stream, "RECONNECT_S", 0.05)
        socket = Path(client.connection_pool.connection_kwargs["path"])
        settings = StoreSettings(data_dir=socket.parent)
        reader = StreamReader(connect(settings, socket, patient=True), heard.append)
        reader.start()
        yield reader
        await reader.stop()

    async def test_it_survives_its_connection(
        self, store: Store, reader: StreamReader, client: Redis, heard: list[Transition]
    ) -> None:
        """It reconnects and goes on where it stood: late, not lost."""
        await reader.follow(TENANT)
        first = await asked(store)
        await told(heard, 1)
        (reading,) = await blocked(client)
        await client.client_kill_filter(_id=reading["id"])
        second = await asked(store)
        await voted(store, second)
        assert [found for _, found, _ in await told(heard, 3)] == [first.id, second.id, second.id]

    async def test_one_connection_reads(
        self, store: Store, reader: StreamReader, client: Redis, heard: list[Transition]
    ) -> None:
        """However many tenants came one after the other: what was given up is closed.

        One reads, one asks for positions, one is the link's.
        """
        before = len(await connections(client))
        for i in range(20):
            await reader.follow(f"tenant-{i}")
            await asyncio.sleep(0.005)
        await asked(store, tenant="tenant-19")
        await told(heard, 1)
        assert len(await blocked(client)) == 1
        assert len(await connections(client)) <= before + 3

    async def test_stopping_lets_its_connections_go(
        self, reader: StreamReader, client: Redis, heard: list[Transition]
    ) -> None:
        """The one that read and the one that asked for positions."""
        before = len(await connections(client))
        await reader.follow("one")
        await reader.follow("two")
        await reader.stop()
        assert await down_to(client, before) == before
