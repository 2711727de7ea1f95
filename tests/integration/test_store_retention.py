"""Retention: nothing goes while it lives, everything goes after it has ended, refusals are bounded."""

import pytest
from redis.asyncio import Redis

from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.domain.model import Ask, Status
from placet.store.opened import Store
from tests.conftest import a_store
from tests.factories import T0_MS, ManualClock
from tests.steps import (
    TENANT,
    WAIT_MS,
    approval_of,
    approved,
    asked,
    cancel,
    consumed,
    dump,
    in_status,
    read,
    report,
    spend,
    trail_of,
)

TAG = "{placet:default}:"
KEYED = {"idempotency": ("key", b"a" * 32)}
DAY_MS = 86_400_000
RECORD_MS, INPUT_MS = 40 * DAY_MS, 3 * DAY_MS
SLACK_MS = 60_000
"""The server counts down while the test looks."""


@pytest.fixture
def limits() -> Limits:
    """Retention unlike the defaults, and few refusals."""
    return Limits(record_retention_ms=RECORD_MS, input_retention_ms=INPUT_MS, trail_refusals_kept=3)


@pytest.fixture
def store(client: Redis, clock: ManualClock, limits: Limits) -> Store:
    """A store with these limits."""
    return a_store(client, clock, limits=limits)


async def lives(client: Redis) -> dict[str, int]:
    """Every key that has an end, with the milliseconds left."""
    ends = {}
    for key in await dump(client):
        left: int = await client.pttl(key)
        if left >= 0:
            ends[key.removeprefix(TAG)] = left
    return ends


def about(expected_ms: int, left_ms: int) -> bool:
    """Whether a countdown has just begun at ``expected_ms``."""
    return expected_ms - SLACK_MS < left_ms <= expected_ms


@pytest.mark.parametrize("status", [Status.PENDING, Status.APPROVED])
async def test_nothing_of_a_live_record_has_an_end(
    store: Store, client: Redis, clock: ManualClock, status: Status
) -> None:
    """Deadlines are compared, never left to key expiry: only the run's index has an end, a late one."""
    await in_status(store, clock, status, new=KEYED, run="run-1")
    ends = await lives(client)
    assert set(ends) == {"x:r:run-1"}
    assert about(WAIT_MS + DAY_MS + RECORD_MS, ends["x:r:run-1"])


async def test_a_refusal_gives_a_live_record_no_end(store: Store, client: Redis) -> None:
    """An attempt that changes nothing changes no retention."""
    ask = await asked(store)
    await spend(store, ask)
    assert await lives(client) == {}


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.PENDING, Status.APPROVED}))
async def test_what_has_ended_is_kept_for_a_while(
    store: Store, client: Redis, clock: ManualClock, status: Status
) -> None:
    """Record, log and idempotency key for the record's retention, the input for its own.

    So is that it was rejected, under its digest.

    An input that nobody decided on goes sooner: a client alone can make any number of them.
    """
    ask = await in_status(store, clock, status, new=KEYED, run="run-1")
    await store.approvals.sweep(TENANT, limit=1)
    ends = await lives(client)
    for name in (f"a:{ask.id}", f"l:{ask.id}", "k:runtime:key"):
        assert about(RECORD_MS, ends.pop(name))
    undecided = status in {Status.EXPIRED, Status.CANCELLED}
    assert about(DAY_MS if undecided else INPUT_MS, ends.pop(f"i:{ask.id}"))
    if status is Status.REJECTED:
        (rejected,) = (name for name in ends if name.startswith("x:d:"))
        assert about(RECORD_MS, ends.pop(rejected))
    assert set(ends) == {"x:r:run-1"}
    assert ends["x:r:run-1"] > RECORD_MS


async def test_an_expired_grant_is_kept_for_a_while(store: Store, client: Redis, clock: ManualClock) -> None:
    """The other way to expire; somebody decided it, so that its input is kept like any other."""
    ask = await approved(store, use_within_ms=1)
    clock.move(2)
    await store.approvals.sweep(TENANT, limit=1)
    ends = await lives(client)
    assert about(RECORD_MS, ends[f"a:{ask.id}"])
    assert about(INPUT_MS, ends[f"i:{ask.id}"])


async def test_a_withdrawn_grant_is_kept_for_a_while(store: Store, client: Redis) -> None:
    """It was decided before."""
    ask = await approved(store)
    await cancel(store, ask)
    assert about(INPUT_MS, (await lives(client))[f"i:{ask.id}"])


async def test_a_retention_under_a_day_is_that_of_undecided_inputs_too(
    client: Redis, clock: ManualClock
) -> None:
    """The day is the longest, not the least."""
    store = a_store(client, clock, limits=Limits(input_retention_ms=3_600_000))
    ask = await asked(store)
    await cancel(store, ask)
    assert about(3_600_000, (await lives(client))[f"i:{ask.id}"])


async def test_it_counts_from_the_moment_the_end_was_written(
    store: Store, client: Redis, clock: ManualClock
) -> None:
    """However late that is, so that nobody loses the record of what they are still looking at."""
    ask = await asked(store)
    clock.move(100 * DAY_MS)
    await store.approvals.sweep(TENANT, limit=1)
    assert about(RECORD_MS, (await lives(client))[f"a:{ask.id}"])


async def test_what_happens_later_prolongs_nothing(store: Store, client: Redis) -> None:
    """Reports, replays and refusals leave the countdown alone."""
    ask = await consumed(store)
    for name in (f"a:{ask.id}", f"l:{ask.id}"):
        await client.pexpire(TAG + name, 1_000_000)
    await report(store, ask)
    await spend(store, ask)
    await cancel(store, ask)
    ends = await lives(client)
    assert about(1_000_000, ends[f"a:{ask.id}"])
    assert about(1_000_000, ends[f"l:{ask.id}"])


async def test_a_run_index_outlives_its_last_record(store: Store, client: Redis) -> None:
    """A later record prolongs it, an earlier end does not cut it."""
    first = await asked(store, run="run-1")
    await asked(store, new={"expires_in_ms": 10 * DAY_MS}, run="run-1")
    await cancel(store, first)
    assert about(11 * DAY_MS + RECORD_MS, (await lives(client))["x:r:run-1"])


async def test_a_shorter_question_does_not_cut_its_run(store: Store, client: Redis) -> None:
    """The longest life counts, in whatever order they were asked."""
    await asked(store, new={"expires_in_ms": 10 * DAY_MS}, run="run-1")
    await asked(store, run="run-1")
    assert about(11 * DAY_MS + RECORD_MS, (await lives(client))["x:r:run-1"])


async def test_a_run_index_whose_end_is_near_is_prolonged(store: Store, client: Redis) -> None:
    """A record that ends late still finds its run kept as long as itself."""
    ask = await asked(store, run="run-1")
    await client.pexpire(TAG + "x:r:run-1", 1_000_000)
    await cancel(store, ask)
    assert about(RECORD_MS, (await lives(client))["x:r:run-1"])


async def test_an_erased_input_leaves_the_rest(store: Store, client: Redis) -> None:
    """The record goes on without it: hash, digest, votes, trail."""
    ask = await consumed(store)
    before = approval_of(await read(store, ask))
    await client.delete(TAG + "i:" + ask.id)
    after = approval_of(await read(store, ask))
    assert (before.input is None, after.input) == (False, None)
    assert (after.input_hash, after.digest, after.votes) == (before.input_hash, before.digest, before.votes)
    assert after.ask.input_held


async def test_a_forgotten_record_is_missing(store: Store, client: Redis) -> None:
    """To everyone, also to its asker and its consumer."""
    ask = await consumed(store)
    await client.delete(*[f"{TAG}{part}:{ask.id}" for part in "ali"])
    answers = [await read(store, ask), await spend(store, ask), await cancel(store, ask)]
    assert {answer.ruling for answer in answers} == {Ruling.MISSING}


class TestRefusals:
    """An approval's trail keeps the first refusals singly and counts the others, by their code."""

    async def refuse(self, store: Store, ask: Ask, times: int) -> None:
        """Be refused as not the asker."""
        for _ in range(times):
            await cancel(store, ask, "auditor", sees=True)

    async def test_the_first_are_kept_singly(self, store: Store) -> None:
        """Each with its moment and caller."""
        ask = await asked(store)
        await self.refuse(store, ask, 3)
        trail = trail_of(await read(store, ask))
        assert [(entry.type, entry.by) for entry in trail[1:]] == [("refused", "auditor")] * 3

    async def test_the_others_are_counted(self, store: Store, client: Redis) -> None:
        """The log stops growing, the count goes on."""
        ask = await asked(store)
        await self.refuse(store, ask, 5)
        await spend(store, ask)
        trail = trail_of(await read(store, ask))
        counted = [(entry.code, entry.count) for entry in trail[4:]]
        assert counted == [("FORBIDDEN", 2), ("APPROVAL_PENDING", 1)]
        assert await client.llen(TAG + "l:" + ask.id) == 4

    async def test_a_coalesced_refusal_is_still_answered(self, store: Store) -> None:
        """Counting is only how it is kept."""
        ask = await asked(store)
        await self.refuse(store, ask, 4)
        assert (await cancel(store, ask, "auditor", sees=True)).ruling is Ruling.NOT_ASKER

    async def test_what_happens_is_always_kept(self, store: Store) -> None:
        """No number of refusals keeps a transition out of the trail."""
        ask = await asked(store)
        await self.refuse(store, ask, 5)
        await cancel(store, ask)
        assert "cancelled" in [entry.type for entry in trail_of(await read(store, ask))]

    async def test_they_never_fill_the_stream(self, store: Store, client: Redis) -> None:
        """Refusals are no transitions."""
        ask = await asked(store)
        await self.refuse(store, ask, 5)
        assert await client.xlen(TAG + "s") == 1

    async def test_two_hundred_are_kept_by_default(self, client: Redis, clock: ManualClock) -> None:
        """Design section 8."""
        store = a_store(client, clock)
        ask = await asked(store)
        await self.refuse(store, ask, 203)
        trail = trail_of(await read(store, ask))
        assert len(trail) == 1 + 200 + 1
        assert (trail[-1].code, trail[-1].count, trail[-1].at_ms) == ("FORBIDDEN", 3, T0_MS)

    async def test_they_move_the_clock(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """A recorded moment is one that has been."""
        ask = await asked(store)
        clock.move(1_000)
        await self.refuse(store, ask, 4)
        assert await client.hget(TAG + "m", "now") == b"%d" % (T0_MS + 1_000)
