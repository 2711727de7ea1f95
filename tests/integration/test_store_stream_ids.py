"""A stream whose ids are not what they should be keeps no transition from being written whole."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.store import keys
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock
from tests.steps import TENANT, approval_of, asked, events, read, spend, trail_of, voted

STREAM, META = keys.stream(TENANT), keys.meta(TENANT)
YEARS_MS = 10 * 366 * 86_400_000
LATE_MS = T0_MS + YEARS_MS

Spoiling = Callable[[Any], Awaitable[Any]]


async def _removed(client: Any) -> None:
    await client.xadd(STREAM, {"i": "x", "t": "requested"}, id=f"{LATE_MS}-0")
    await client.xdel(STREAM, f"{LATE_MS}-0")


SPOILT: dict[str, Spoiling] = {
    "an entry in the future": lambda client: client.xadd(
        STREAM, {"i": "x", "t": "requested"}, id=f"{LATE_MS}-7"
    ),
    "one that is removed again": _removed,
    "an entry beyond what a double can hold": lambda client: client.xadd(
        STREAM, {"i": "x", "t": "requested"}, id=f"{2**53 + 1}-7"
    ),
    "ahead, a word": lambda client: client.hset(META, "ahead", "far"),
    "ahead, nothing": lambda client: client.hset(META, "ahead", ""),
    "ahead, below nothing": lambda client: client.hset(META, "ahead", "-5"),
    "ahead, a fraction": lambda client: client.hset(META, "ahead", "0.5"),
    "ahead, beyond all ids": lambda client: client.hset(META, "ahead", "9" * 30),
}
everyhow = pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())


@everyhow
async def test_what_happens_is_written_whole(
    store: Store, client: Redis, clock: ManualClock, spoil: Spoiling
) -> None:
    """Record, log and event of every transition, in the order in which they happened."""
    await spoil(client)
    strange = await events(client)
    ask = await asked(store)
    clock.move(1)
    assert (await voted(store, ask)).ruling is Ruling.OK
    clock.move(1)
    assert (await spend(store, ask)).ruling is Ruling.OK
    answer = await read(store, ask)
    happened = ["requested", "approved", "consumed"]
    assert approval_of(answer).status is Status.CONSUMED
    assert [(line.type, line.at_ms - T0_MS) for line in trail_of(answer)] == list(
        zip(happened, [0, 1, 2], strict=True)
    )
    assert await events(client) == [*strange, *((ask.id, event) for event in happened)]


@everyhow
async def test_ids_keep_rising(store: Store, client: Redis, clock: ManualClock, spoil: Spoiling) -> None:
    """Whoever resumes after the last one that they saw misses none."""
    await spoil(client)
    asks = []
    for _ in range(5):
        asks.append(await asked(store))
        clock.move(1)
    entries: Any = await client.xrange(STREAM)
    ids = [tuple(map(int, entry.split(b"-"))) for entry, _ in entries]
    assert ids == sorted(set(ids))
    resumed: Any = await client.xrange(STREAM, min=b"(" + entries[-3][0])
    assert [fields[b"i"].decode() for _, fields in resumed] == [ask.id for ask in asks[-2:]]


@everyhow
async def test_an_expiry_is_written_whole(
    store: Store, client: Redis, clock: ManualClock, spoil: Spoiling
) -> None:
    """The sweeper's too."""
    ask = await asked(store, new={"expires_in_ms": 1_000})
    await spoil(client)
    clock.move(1_001)
    assert (await store.approvals.sweep(TENANT, limit=10)).settled == 1
    assert (await events(client))[-1] == (ask.id, "expired")
    assert trail_of(await read(store, ask))[-1].type == "expired"
