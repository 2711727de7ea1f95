"""Questions that wait: those that expire first come first, however many there are."""

import pytest
from redis.asyncio import Redis

from placet.domain.canonical import canonicalize
from placet.domain.model import Ask, Status
from placet.store.approvals import PAGE_BYTES, Waiting
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock
from tests.steps import TENANT, WAIT_MS, asked, dump, voted


async def waiting(store: Store, *ids: str, limit: int = 10, most: int = 100) -> Waiting:
    """What waits in the default tenant."""
    return await store.approvals.waiting(TENANT, ids, limit=limit, most=most, epoch=0)


async def lasting(store: Store, *minutes: int) -> list[Ask]:
    """Questions that wait for so long."""
    return [await asked(store, new={"expires_in_ms": each * 60_000}) for each in minutes]


def ids_of(found: Waiting) -> list[str]:
    """Those that were read, in order."""
    return [record.approval().ask.id for record in found.records]


async def test_where_nothing_waits(store: Store) -> None:
    """The moment it was read at."""
    found = await waiting(store)
    assert (found.records, found.rest, found.count, found.now_ms) == ((), (), 0, T0_MS)


async def test_what_expires_first_comes_first(store: Store) -> None:
    """However new it is; of the same moment by id."""
    late, soon, middle, other = await lasting(store, 9, 1, 5, 5)
    assert ids_of(await waiting(store)) == [soon.id, *sorted([middle.id, other.id]), late.id]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
async def test_all_are_read_in_the_end(store: Store, limit: int) -> None:
    """Once each, a few at a time."""
    asks = await lasting(store, 4, 2, 3, 1)
    found = await waiting(store, limit=limit)
    read = ids_of(found)
    assert len(read) == min(limit, 4)
    while found.rest:
        found = await waiting(store, *found.rest, limit=limit)
        read += ids_of(found)
    assert read == [asks[each].id for each in (3, 1, 2, 0)]
    assert found.count == 4


async def test_of_very_many_the_first_are_named(store: Store) -> None:
    """And how many there are."""
    asks = await lasting(store, 4, 2, 3, 1)
    found = await waiting(store, limit=1, most=3)
    assert (ids_of(found), found.rest, found.count) == ([asks[3].id], (asks[1].id, asks[2].id), 4)


async def test_nothing_that_has_expired_waits(store: Store, client: Redis, clock: ManualClock) -> None:
    """At the very instant it does; and looking writes nothing."""
    ask = await asked(store)
    clock.move(WAIT_MS)
    assert ids_of(await waiting(store)) == [ask.id]
    clock.move(1)
    before = await dump(client)
    found = await waiting(store)
    assert (found.records, found.count) == ((), 0)
    assert await dump(client) == before


async def test_what_ended_since_is_read_as_it_ended(store: Store, client: Redis) -> None:
    """What comes in between hides nothing; what is forgotten by then is passed over."""
    first, second, third, fourth = await lasting(store, 1, 2, 3, 4)
    found = await waiting(store, limit=1)
    assert ids_of(found) == [first.id]
    await lasting(store, 1)
    await voted(store, second)
    await client.delete("{placet:default}:a:" + third.id)
    found = await waiting(store, *found.rest)
    assert ids_of(found) == [second.id, fourth.id]
    assert [each.approval().status for each in found.records] == [Status.APPROVED, Status.PENDING]


async def test_an_answer_ends_early_by_bytes(store: Store) -> None:
    """What it left out is named."""
    big = canonicalize("x" * (PAGE_BYTES // 4))
    asks = [await asked(store, new={"input": big, "expires_in_ms": each * 60_000}) for each in range(1, 7)]
    found = await waiting(store)
    assert (ids_of(found), found.rest) == ([each.id for each in asks[:4]], (asks[4].id, asks[5].id))
