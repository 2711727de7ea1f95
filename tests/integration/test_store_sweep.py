"""The sweeper: it makes the events of expiries prompt, and nothing depends on it."""

import pytest
from redis.asyncio import Redis

from placet.domain.model import Status
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock
from tests.steps import (
    TENANT,
    WAIT_MS,
    approval_of,
    approved,
    asked,
    dump,
    events,
    in_status,
    read,
)

USE_MS = 5_000


class TestSweep:
    """The sweeper only makes events prompt."""

    async def test_it_settles_what_is_dead(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """Questions and grants, and nothing that lives."""
        question = await asked(store, new={"expires_in_ms": 2_000})
        grant = await approved(store, use_within_ms=1_999)
        living = await asked(store)
        clock.move(2_001)
        swept = await store.approvals.sweep(TENANT, limit=10)
        assert (swept.now_ms, swept.settled, swept.live_pending) == (T0_MS + 2_001, 2, 1)
        assert swept.next_due_ms == T0_MS + WAIT_MS
        assert set((await events(client))[-2:]) == {(question.id, "expired"), (grant.id, "expired")}
        assert approval_of(await read(store, living)).status is Status.PENDING

    @pytest.mark.parametrize(("late_ms", "settled"), [(0, 0), (1, 1)])
    @pytest.mark.parametrize(("status", "life_ms"), [(Status.PENDING, WAIT_MS), (Status.APPROVED, USE_MS)])
    async def test_it_compares_as_everyone_does(
        self, store: Store, clock: ManualClock, status: Status, life_ms: int, late_ms: int, settled: int
    ) -> None:
        """Alive at the exact instant."""
        await in_status(store, clock, status, use_within_ms=USE_MS)
        clock.move(life_ms + late_ms)
        assert (await store.approvals.sweep(TENANT, limit=10)).settled == settled

    async def test_it_says_when_the_next_dies(self, store: Store, clock: ManualClock) -> None:
        """The earlier of the next question's and the next grant's deadline."""
        await asked(store)
        await approved(store, use_within_ms=USE_MS)
        assert (await store.approvals.sweep(TENANT, limit=10)).next_due_ms == T0_MS + USE_MS

    async def test_it_has_nothing_to_do_in_an_empty_store(self, store: Store, client: Redis) -> None:
        """And writes nothing there."""
        swept = await store.approvals.sweep(TENANT, limit=10)
        assert (swept.settled, swept.next_due_ms, swept.live_pending) == (0, None, 0)
        assert await dump(client) == {}

    async def test_it_settles_at_most_so_many(self, store: Store, clock: ManualClock) -> None:
        """The rest comes with the next sweep; live questions are counted by their deadline meanwhile."""
        for _ in range(3):
            await asked(store, new={"expires_in_ms": 1_000})
        await approved(store, use_within_ms=1)
        clock.move(1_001)
        swept = [await store.approvals.sweep(TENANT, limit=2) for _ in range(3)]
        assert [(each.settled, each.live_pending) for each in swept] == [(2, 0), (2, 0), (0, 0)]

    async def test_it_clears_what_has_no_record(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """An entry whose record is gone is taken out and counted for nothing."""
        ask = await asked(store)
        await client.delete("{placet:default}:a:" + ask.id)
        clock.move(WAIT_MS + 1)
        assert (await store.approvals.sweep(TENANT, limit=10)).settled == 0
        assert await client.zcard("{placet:default}:w") == 0

    async def test_a_key_of_another_kind_stops_nothing(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """What stands in a record's place and is none is cleared as a leftover; the others are settled."""
        first, last = await asked(store), await asked(store, new={"expires_in_ms": WAIT_MS + 1})
        await client.delete("{placet:default}:a:" + first.id)
        await client.set("{placet:default}:a:" + first.id, "no record")
        clock.move(WAIT_MS + 2)
        swept = await store.approvals.sweep(TENANT, limit=10)
        assert (swept.settled, swept.next_due_ms, swept.live_pending) == (1, None, 0)
        assert approval_of(await read(store, last)).status is Status.EXPIRED


@pytest.mark.parametrize("index", ["w", "g"])
async def test_a_leftover_is_cleared_not_settled(
    store: Store, client: Redis, clock: ManualClock, index: str
) -> None:
    """An entry whose record no longer waits for it is taken out, and the record stays as it is."""
    ask = await in_status(store, clock, Status.CANCELLED)
    await client.zadd("{placet:default}:" + index, {ask.id: T0_MS - 1})
    assert (await store.approvals.sweep(TENANT, limit=10)).settled == 0
    assert await client.zcard("{placet:default}:" + index) == 0
    assert approval_of(await read(store, ask)).status is Status.CANCELLED


async def test_an_expired_record_leaves_the_pending_indexes(
    store: Store, client: Redis, clock: ManualClock
) -> None:
    """Once the expiry is written nothing waits any more."""
    await asked(store)
    await approved(store, use_within_ms=1)
    clock.move(WAIT_MS + 1)
    await store.approvals.sweep(TENANT, limit=10)
    left = {key.removeprefix("{placet:default}:") for key in await dump(client)}
    assert {name for name in left if name.split(":")[0] in {"w", "g", "j"} or name == "x:p"} == set()
