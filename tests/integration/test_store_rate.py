"""The rate limit: what a client asks pours into its bucket; what is there already or is refused does not."""

import asyncio
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from hypothesis import given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from placet.domain.limits import ASK_BYTES, CLOCK_BEHIND_MAX_MS, Limits
from placet.domain.machine import Ruling
from placet.domain.model import Sealed
from placet.store.approvals import Answer
from placet.store.opened import Store
from tests.conftest import a_store
from tests.factories import T0_MS, ManualClock, a_creation, an_ask
from tests.steps import asked, cancel, dump

BUCKET = "{placet:default}:b:runtime"
KEYED = {"idempotency": ("key", b"a" * 32)}
MINUTE_MS = 60_000

# The server forgets a bucket by its own clock, when it is empty: at two asks a minute no test takes as long.
LIMITS = Limits(ask_rate_per_minute=2, ask_burst=3)


@pytest.fixture
def store(client: Redis, clock: ManualClock) -> Store:
    """Three asks at once, then two a minute."""
    return a_store(client, clock, limits=LIMITS)


async def ask_for(store: Store, by: str = "runtime", **changes: Any) -> Answer:
    """Ask once more."""
    ask = an_ask(asked_by=by, audience=by)
    return await store.approvals.create(ask, a_creation(ask, **changes), epoch=0)


async def wait_of(store: Store, **changes: Any) -> int | None:
    """For how long the next ask is refused; ``None`` where it is not."""
    answer = await ask_for(store, **changes)
    if answer.ruling is Ruling.OK:
        return None
    assert (answer.ruling, answer.record) == (Ruling.RATE, None)
    assert answer.free_at_ms is not None
    return answer.free_at_ms - answer.now_ms


async def drained(store: Store, clock: ManualClock, *, by: int = 3) -> None:
    """Ask ``by`` times, all of them at once."""
    assert [await wait_of(store) for _ in range(by)] == [None] * by


async def test_what_is_too_much_creates_nothing(store: Store, client: Redis, clock: ManualClock) -> None:
    """The fourth is refused until there is room for it; neither record nor bucket is written."""
    await drained(store, clock)
    before, bucket = await dump(client), await client.get(BUCKET)
    assert await wait_of(store) == 30_000
    assert (await dump(client), await client.get(BUCKET)) == (before, bucket)


@pytest.mark.parametrize(("later_ms", "wait_ms"), [(0, 30_000), (1, 29_999), (29_999, 1), (30_000, None)])
async def test_the_wait_is_exact(
    store: Store, clock: ManualClock, later_ms: int, wait_ms: int | None
) -> None:
    """To the millisecond: one less is too early, and then it is in time."""
    await drained(store, clock)
    clock.move(later_ms)
    assert await wait_of(store) == wait_ms


async def test_a_wait_is_rounded_up_and_nothing_is_lost(client: Redis, clock: ManualClock) -> None:
    """Seven a minute are one in 8571.43 ms: whoever came back after 8571 would be too early."""
    store = a_store(client, clock, limits=Limits(ask_rate_per_minute=7, ask_burst=2))
    await drained(store, clock, by=2)
    assert await wait_of(store) == 8_572
    clock.move(8_571)
    assert await wait_of(store) == 1
    clock.move(1)
    assert await wait_of(store) is None
    assert await wait_of(store) == 8_571, "two are 17142.86 ms, of which 8572 have passed"


async def test_a_bucket_holds_no_more_than_its_burst(store: Store, clock: ManualClock) -> None:
    """A long pause saves up nothing."""
    await drained(store, clock)
    clock.move(100 * MINUTE_MS)
    await drained(store, clock)
    assert await wait_of(store) == 30_000


async def test_each_client_has_its_own(store: Store, clock: ManualClock) -> None:
    """One that asks too fast is in nobody else's way, and neither does its audience pay."""
    await drained(store, clock)
    assert (await ask_for(store, "second")).ruling is Ruling.OK
    ask = an_ask(asked_by="second", audience="runtime")
    assert (await store.approvals.create(ask, a_creation(ask), epoch=0)).ruling is Ruling.OK
    assert await wait_of(store) == 30_000


@pytest.mark.parametrize(("changes", "ruling"), [({"join": "same"}, Ruling.JOINED), (KEYED, Ruling.REPLAYED)])
async def test_finding_ones_record_costs_nothing(
    store: Store, client: Redis, clock: ManualClock, changes: dict[str, Any], ruling: Ruling
) -> None:
    """Neither a bucket that is full is in the way, nor does a repeat fill it."""
    await asked(store, new={"join": "same", **KEYED})
    bucket = await client.get(BUCKET)
    assert [(await ask_for(store, **changes)).ruling for _ in range(9)] == [ruling] * 9
    assert await client.get(BUCKET) == bucket
    await drained(store, clock, by=2)
    assert await wait_of(store) == 30_000
    assert (await ask_for(store, **changes)).ruling is ruling


async def test_a_re_sent_ask_is_paid_once(store: Store, clock: ManualClock) -> None:
    """The very same call, sent again because its reply was lost."""
    ask = an_ask()
    new = a_creation(ask)
    for _ in range(5):
        assert (await store.approvals.create(ask, new, epoch=0)).ruling is Ruling.OK
    await drained(store, clock, by=2)
    assert await wait_of(store) == 30_000


async def test_what_is_refused_costs_nothing(client: Redis, clock: ManualClock) -> None:
    """A taken id, a deadline out of bounds, another body under a key, a full queue: none is an ask."""
    store = a_store(
        client, clock, limits=Limits(ask_rate_per_minute=2, ask_burst=2, live_pending_per_client=1)
    )
    first = await asked(store, new=KEYED)
    taken = a_creation(first, chosen_id=True)
    for _ in range(3):
        assert (await store.approvals.create(first, taken, epoch=0)).ruling is Ruling.EXISTS
        late: dict[str, Any] = {"expires_in_ms": None, "expires_at_ms": T0_MS}
        assert (await ask_for(store, **late)).ruling is Ruling.DEADLINE
        assert (await ask_for(store, idempotency=("key", b"b" * 32))).ruling is Ruling.CONFLICT
        assert (await ask_for(store)).ruling is Ruling.CLIENT_FULL
    await cancel(store, first)
    assert await wait_of(store) is None


async def test_cancelling_gives_nothing_back(store: Store, clock: ManualClock) -> None:
    """Asking and withdrawing in turns is asking."""
    for _ in range(3):
        await cancel(store, await asked(store))
    assert await wait_of(store) == 30_000


async def test_at_once_as_many_as_it_holds(store: Store) -> None:
    """Of many asks at the same time exactly the burst gets through."""
    answers = await asyncio.gather(*(ask_for(store) for _ in range(20)))
    assert sorted(answer.ruling for answer in answers) == [Ruling.OK] * 3 + [Ruling.RATE] * 17


@pytest.mark.parametrize(
    ("size", "room"), [(ASK_BYTES, 2), (ASK_BYTES + 1, 1), (2 * ASK_BYTES, 1), (2 * ASK_BYTES + 1, 0)]
)
async def test_what_is_large_counts_as_several(
    store: Store, clock: ManualClock, size: int, room: int
) -> None:
    """Once for each part of what the store has to keep, words of the question and input together."""
    sealed = Sealed(document=b"d" * 100, seal="")
    answer = await ask_for(store, sealed=sealed, input=b"i" * (size - len(sealed.stored)))
    assert answer.ruling is Ruling.OK
    await drained(store, clock, by=room)
    assert await wait_of(store) == 30_000


async def test_the_words_count_like_the_input(store: Store, clock: ManualClock) -> None:
    """They are kept for longer than that."""
    sealed = Sealed(document=b"d" * (2 * ASK_BYTES), seal="")
    assert (await ask_for(store, sealed=sealed)).ruling is Ruling.OK
    assert await wait_of(store) == 30_000


async def test_the_largest_takes_the_whole_bucket(store: Store, clock: ManualClock) -> None:
    """What is larger than all of it is in time once the bucket is empty: nothing is refused for ever."""
    huge = b"i" * (9 * ASK_BYTES)
    assert await wait_of(store) is None
    assert await wait_of(store, input=huge) == 30_000
    clock.move(30_000)
    assert await wait_of(store, input=huge) is None
    assert await wait_of(store, input=huge) == 90_000


async def test_a_clock_that_stands_still_drains_nothing(store: Store, clock: ManualClock) -> None:
    """Behind what the tenant has seen no time passes: first the clock has to catch up."""
    await drained(store, clock)
    clock.move(-CLOCK_BEHIND_MAX_MS)
    assert await wait_of(store) == CLOCK_BEHIND_MAX_MS + 30_000
    clock.move(CLOCK_BEHIND_MAX_MS)
    assert await wait_of(store) == 30_000


async def test_a_bucket_ends_when_it_is_empty(store: Store, client: Redis, clock: ManualClock) -> None:
    """By itself, and not before the tenant's clock is as far."""
    await drained(store, clock, by=2)
    left: int = await client.pttl(BUCKET)
    assert 59_000 < left <= 60_000
    clock.move(-10_000)
    assert await wait_of(store) is None
    left = await client.pttl(BUCKET)
    assert 99_000 < left <= 100_000


async def test_a_clock_set_right_begins_anew(store: Store, client: Redis, clock: ManualClock) -> None:
    """What was poured at a time that has not come yet would stay for as long."""
    await drained(store, clock)
    await client.hset("{placet:default}:m", "now", T0_MS - 1_000_000)
    clock.move(-1_000_000)
    await drained(store, clock)
    assert await wait_of(store) == 30_000


@pytest.mark.parametrize("held", [b"", b"x", b"-1 0", b"1", b"1.5 0"])
async def test_what_is_no_bucket_is_an_empty_one(
    store: Store, client: Redis, clock: ManualClock, held: bytes
) -> None:
    """Whoever wrote that is not made worse by it."""
    await client.set(BUCKET, held)
    await drained(store, clock)
    assert await wait_of(store) == 30_000


async def test_new_settings_count_for_what_was_asked_before(
    client: Redis, store: Store, clock: ManualClock
) -> None:
    """Replicas with different limits, or a restart with others, go on with the same bucket."""
    await drained(store, clock)
    small = a_store(client, clock, limits=Limits(ask_rate_per_minute=2, ask_burst=1))
    assert await wait_of(small) == 30_000, "of a bucket that is full, and no more than that"
    fast = a_store(client, clock, limits=Limits(ask_rate_per_minute=60, ask_burst=3))
    assert await wait_of(fast) == 1_000
    large = a_store(client, clock, limits=Limits(ask_rate_per_minute=2, ask_burst=4))
    assert await wait_of(large) is None


@given(
    rate=st.integers(1, 60_000_000),
    burst=st.integers(1, 1_000_000),
    pauses=st.lists(st.integers(0, 120_000), min_size=1, max_size=12),
)
@settings(max_examples=60)
def test_it_judges_as_whole_numbers_do(rate: int, burst: int, pauses: list[int]) -> None:
    """At the ends of what an operator may set too, from a full bucket on."""

    async def compare() -> None:
        clock = ManualClock()
        fake = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
        store = a_store(fake, clock, limits=Limits(ask_rate_per_minute=rate, ask_burst=burst))
        level, holds = burst * MINUTE_MS, burst * MINUTE_MS
        for pause_ms in pauses:
            await fake.set(BUCKET, f"{level} {clock.now_ms()}")  # its end is by another clock than the test's
            clock.move(pause_ms)
            level = max(level - pause_ms * rate, 0)
            over = level + MINUTE_MS - holds
            assert await wait_of(store) == (-(-over // rate) if over > 0 else None)
            level += 0 if over > 0 else MINUTE_MS
        await fake.aclose()

    asyncio.run(compare())


async def test_tenants_have_buckets_of_their_own(store: Store, clock: ManualClock) -> None:
    """Clients of one name in two tenants are two."""
    await drained(store, clock)
    ask = an_ask(tenant="other")
    assert (await store.approvals.create(ask, a_creation(ask), epoch=0)).ruling is Ruling.OK
    assert await wait_of(store) == 30_000
