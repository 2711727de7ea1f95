"""The sweeper: prompt expiry events, tidy indexes, and nothing that depends on it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.application.sweep import STREAM_RETENTION_MS, SWEEP_EVERY_S, TRIM_EVERY_SWEEPS
from placet.domain.errors import StoreUnavailable
from placet.domain.limits import Limits
from tests.factories import ManualClock
from tests.harness import Harness, opened, record
from tests.tools import until

TAG = "{placet:default}:"


@pytest.fixture
async def brief(client: Redis, ring_directory: Path, clock: ManualClock) -> AsyncIterator[Harness]:
    """A service that keeps records for an hour, on every kind of store."""
    limits = Limits(record_retention_ms=3_600_000, input_retention_ms=60_000)
    async with opened(client, ring_directory, clock, limits=limits) as harness:
        yield harness


async def test_a_sweep_writes_down_what_has_happened(anywhere: Harness) -> None:
    """Expired questions and grants are settled, at their deadlines, once; what lives is left alone."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    other = await anywhere.client(tenant="other")
    await runtime.asked(id="a", expires_in_ms=1_000)
    record(await ann.decide(await runtime.asked(id="b", use_within_ms=1_000)))
    await runtime.asked(id="c")
    await other.asked(id="d", expires_in_ms=1_000)
    sweeper = anywhere.services.sweeper
    assert await sweeper.sweep() == 0
    anywhere.clock.move(5_000)
    assert await sweeper.sweep() == 3
    assert await sweeper.sweep() == 0
    trail = record(await runtime.trail("a"))["items"]
    assert (trail[-1]["type"], trail[-1]["by"], trail[-1]["at"]) == (
        "expired",
        "system",
        "2027-01-15T08:00:01.000Z",
    )
    assert await anywhere.redis.hget(f"{TAG}a:b", "s") == b"expired"
    assert (await runtime.seen("c"))["status"] == "pending"
    gauge = anywhere.services.metrics.registry.get_sample_value
    assert gauge("placet_live_pending", {"tenant": "default"}) == 1
    assert gauge("placet_live_pending", {"tenant": "other"}) == 0


async def test_more_than_a_batch_is_swept_whole(anywhere: Harness) -> None:
    """However many have died, one sweep settles all of them."""
    runtime = await anywhere.client()
    for n in range(401):
        await runtime.asked(context={"n": n}, expires_in_ms=1_000)
    anywhere.clock.move(1_001)
    assert await anywhere.services.sweeper.sweep() == 401


async def test_forgotten_records_leave_the_indexes(brief: Harness) -> None:
    """Once the store has dropped a record its members go; living records stay."""
    runtime = await brief.client()
    await runtime.asked(id="gone")
    await runtime.asked(id="kept")
    for kind in "ali":
        await brief.redis.delete(f"{TAG}{kind}:gone")
    brief.clock.move(7_200_000)
    assert await brief.services.sweeper.trim() >= 2
    for index in ("x", "x:c:runtime"):
        members = await brief.redis.zrange(f"{TAG}{index}", 0, -1)
        assert [member.split(b":")[1] for member in members] == [b"kept"]


async def test_a_long_index_is_walked_in_pieces(brief: Harness) -> None:
    """Each look takes a bounded number of members, and the next goes on from there."""
    runtime = await brief.client()
    asked = [await runtime.asked(context={"n": n}) for n in range(450)]
    await brief.redis.delete(*(f"{TAG}a:{each['id']}" for each in asked))
    brief.clock.move(7_200_000)
    sweeper = brief.services.sweeper
    for left in (250, 50, 0):
        await sweeper.trim()
        assert await brief.redis.zcard(f"{TAG}x") == left


async def test_old_entries_leave_the_stream(anywhere: Harness) -> None:
    """What is older than a week is of no use to anybody any more."""
    runtime = await anywhere.client()
    await runtime.asked(id="old")
    anywhere.clock.move(STREAM_RETENTION_MS)
    await runtime.asked(id="new")
    anywhere.clock.move(1)
    await anywhere.services.sweeper.trim()
    entries = await anywhere.redis.xrange(f"{TAG}s")
    assert [fields[b"i"] for _, fields in entries if fields[b"t"] == b"requested"] == [b"new"]


async def test_it_sweeps_again_and_again_until_it_is_stopped(
    h: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Once a second; it outlives a store that is away, trims now and then, and leaves no timer behind."""
    sweeper, done = h.services.sweeper, {"sweep": 0, "trim": 0}

    async def sweep() -> int:
        done["sweep"] += 1
        if done["sweep"] == 2:
            raise StoreUnavailable
        return 0

    async def trim() -> int:
        done["trim"] += 1
        return 0

    monkeypatch.setattr(sweeper, "sweep", sweep)
    monkeypatch.setattr(sweeper, "trim", trim)
    sweeper.start()
    for _ in range(TRIM_EVERY_SWEEPS + 1):
        await until(lambda: h.clock.timers == 1, "it rests")
        h.clock.move(round(SWEEP_EVERY_S * 1000))
        await asyncio.sleep(0)
    await until(lambda: h.clock.timers == 1, "it rests")
    assert done == {"sweep": TRIM_EVERY_SWEEPS + 2, "trim": 2}
    assert caplog.messages.count("the store can't be swept now, trying again") == 1
    await sweeper.stop()
    await sweeper.stop()
    assert h.clock.timers == 0


async def test_a_tenant_that_fails_does_not_hold_up_the_others(
    h: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong with one, the next is swept, and the log says which it was."""
    parties = [await h.client(tenant=tenant) for tenant in ("a", "b", "c")]
    for party in parties:
        await party.asked(expires_in_ms=1_000)
    h.clock.move(1_001)
    genuine = h.services.store.approvals.sweep

    async def sweep(tenant: str, *, limit: int) -> Any:
        if tenant == "a":
            raise StoreUnavailable
        if tenant == "b":
            raise RuntimeError("unforeseen")
        return await genuine(tenant, limit=limit)

    monkeypatch.setattr(h.services.store.approvals, "sweep", sweep)
    assert await h.services.sweeper.sweep() == 1
    told = [(line.levelname, line.__dict__.get("tenant")) for line in caplog.records]
    assert told == [("WARNING", "a"), ("ERROR", "b")]
    monkeypatch.undo()
    assert await h.services.sweeper.sweep() == 2
