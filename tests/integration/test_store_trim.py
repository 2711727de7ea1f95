"""Housekeeping: forgotten members leave the indexes, old entries the stream, and nothing goes too early."""

from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.model import Ask
from placet.store import keys
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock
from tests.steps import TENANT, asked, cancel, dump, several

STREAM = "{placet:default}:s"


async def entries_of(client: Redis) -> list[bytes]:
    """The ids of the stream's entries."""
    entries: Any = await client.xrange(STREAM)
    return [entry for entry, _ in entries]


class TestTrim:
    """Housekeeping takes members of forgotten records out of an index, a bounded number at a time."""

    async def forget(self, client: Redis, *asks: Ask) -> None:
        """Let records go as their retention does."""
        await client.delete(*["{placet:default}:a:" + ask.id for ask in asks])

    async def trim(self, store: Store, index: str = "x", **changes: Any) -> tuple[int, str | None]:
        """One look at the ten oldest members."""
        look = {"after": None, "limit": 10, "cutoff_ms": T0_MS + 1_000_000, **changes}
        return await store.approvals.trim(TENANT, index, **look)

    @pytest.mark.parametrize("index", ["x", "x:c:runtime"])
    async def test_forgotten_members_go(
        self, store: Store, client: Redis, clock: ManualClock, index: str
    ) -> None:
        """And those of records that are still there stay."""
        asks = await several(store, clock, 3)
        await self.forget(client, asks[0], asks[2])
        assert await self.trim(store, index) == (2, None)
        assert await client.zrange("{placet:default}:" + index, 0, -1) == [
            keys.member(T0_MS + 2, asks[1].id).encode()
        ]

    async def test_it_goes_on_where_it_stopped(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """The cursor is the last member that was looked at."""
        asks = await several(store, clock, 5)
        await self.forget(client, *asks[2:])
        first = await self.trim(store, limit=2)
        second = await self.trim(store, after=first[1], limit=2)
        third = await self.trim(store, after=second[1], limit=2)
        assert (first, second, third) == (
            (0, keys.member(T0_MS + 2, asks[1].id)),
            (2, keys.member(T0_MS + 4, asks[3].id)),
            (1, None),
        )

    @pytest.mark.parametrize(("cutoff_ms", "removed"), [(T0_MS + 2, 1), (T0_MS + 3, 2)])
    async def test_younger_members_are_not_looked_at(
        self, store: Store, client: Redis, clock: ManualClock, cutoff_ms: int, removed: int
    ) -> None:
        """Only those asked for before the cutoff."""
        asks = await several(store, clock, 3)
        await self.forget(client, *asks)
        assert await self.trim(store, cutoff_ms=cutoff_ms) == (removed, None)

    async def test_a_run_without_end_forgets_its_oldest(self, store: Store, client: Redis) -> None:
        """Once it is long, each new record takes two members of forgotten ones along: it stays bounded."""
        asks = [await asked(store, id=f"run-{i:03}", run="for-ever") for i in range(99)]
        await self.forget(client, *asks[:5])
        lengths = []
        for i in range(99, 104):
            await asked(store, id=f"run-{i:03}", run="for-ever")
            lengths.append(await client.zcard("{placet:default}:x:r:for-ever"))
        assert lengths == [100, 99, 100, 99, 100]


class TestTrimStream:
    """Old entries of the stream go, but never past the slowest consumer group."""

    async def trim(self, store: Store, cutoff_ms: int) -> tuple[int, str | None]:
        """Trim the stream."""
        return await store.approvals.trim(TENANT, "", after=None, limit=0, cutoff_ms=cutoff_ms)

    async def test_there_may_be_no_stream(self, store: Store, client: Redis) -> None:
        """A tenant that has asked nothing has none; none is made."""
        assert await self.trim(store, T0_MS) == (0, None)
        assert await dump(client) == {}

    @pytest.mark.parametrize(("cutoff_ms", "removed"), [(T0_MS + 1, 0), (T0_MS + 3, 2), (T0_MS + 9, 4)])
    async def test_by_age(self, store: Store, clock: ManualClock, cutoff_ms: int, removed: int) -> None:
        """Entries written before the cutoff, on the store's clock."""
        await several(store, clock, 4)
        assert await self.trim(store, cutoff_ms) == (removed, None)

    async def test_never_what_a_group_has_not_been_given(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """A dispatcher that is behind finds everything from where it stands."""
        await several(store, clock, 4)
        entries = await entries_of(client)
        await client.xgroup_create(STREAM, "slow", id=entries[1])
        await client.xgroup_create(STREAM, "fast", id="$")
        await self.trim(store, T0_MS + 9)
        assert await entries_of(client) == entries[1:]

    async def test_never_what_a_group_has_yet_to_acknowledge(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """Delivered is not done: the oldest unacknowledged entry stays."""
        await several(store, clock, 4)
        entries = await entries_of(client)
        await client.xgroup_create(STREAM, "group", id="0")
        await client.xreadgroup("group", "one", {STREAM: ">"}, count=4)
        await client.xack(STREAM, "group", entries[0], entries[2])
        await self.trim(store, T0_MS + 9)
        assert await entries_of(client) == entries[1:]

    async def test_a_group_that_is_done_holds_nothing_up(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """All acknowledged: only its position stays."""
        await several(store, clock, 4)
        entries = await entries_of(client)
        await client.xgroup_create(STREAM, "group", id="0")
        await client.xreadgroup("group", "one", {STREAM: ">"}, count=4)
        await client.xack(STREAM, "group", *entries)
        await self.trim(store, T0_MS + 9)
        assert await entries_of(client) == entries[3:]

    async def test_positions_within_a_millisecond_are_told_apart(self, store: Store, client: Redis) -> None:
        """Two entries of one moment differ in their sequence number."""
        for _ in range(12):
            await asked(store)
        entries = await entries_of(client)
        await client.xgroup_create(STREAM, "slow", id=entries[9])
        await client.xgroup_create(STREAM, "fast", id=entries[10])
        await self.trim(store, T0_MS + 9)
        assert await entries_of(client) == entries[9:]


async def test_entries_follow_the_stores_clock(store: Store, client: Redis, clock: ManualClock) -> None:
    """Their ids begin with the moment they were written at, and only rise."""
    ask = await asked(store)
    clock.move(-5_000)
    await cancel(store, ask)
    assert await entries_of(client) == [b"%d-0" % T0_MS, b"%d-1" % T0_MS]
