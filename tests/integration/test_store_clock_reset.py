"""A clock that an operator sets back: what was open under the wrong time is over, and then time goes on."""

from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import CLOCK_BEHIND_MAX_MS, Limits
from placet.domain.machine import Ruling
from placet.domain.model import Ask, Status
from placet.store import keys
from placet.store.clock import Lag, SetBack
from placet.store.codec import Who
from placet.store.opened import Store
from placet.store.stream import Transition
from tests.conftest import a_store
from tests.factories import T0_MS, ManualClock
from tests.steps import (
    TENANT,
    WAIT_MS,
    approval_of,
    approved,
    asked,
    consumed,
    dump,
    events,
    high_water_ms,
    in_status,
    read,
    spend,
    trail_of,
    voted,
)
from tests.tools import until

JUMP_MS = 3_600_000
META = keys.meta(TENANT)
STREAM = keys.stream(TENANT)
OPERATOR = Who(by="operator")


async def set_back(store: Store, limit: int = 100) -> SetBack:
    """A step of it."""
    return await store.clocks.set_back(TENANT, OPERATOR, limit=limit)


async def statuses(store: Store, *asks: Ask) -> list[Status]:
    """What readers are told."""
    return [approval_of(await read(store, ask)).status for ask in asks]


async def entries_of(client: Redis) -> list[int]:
    """The first halves of the stream's ids: milliseconds."""
    entries: Any = await client.xrange(STREAM)
    return [int(entry.split(b"-")[0]) for entry, _ in entries]


@pytest.fixture
async def jumped(store: Store, clock: ManualClock) -> list[Ask]:
    """A question and a grant from during a jump ahead that is over, and a grant of two hours from before."""
    before = await approved(store, use_within_ms=2 * JUMP_MS)
    clock.move(JUMP_MS)
    asks = [before, await asked(store), await approved(store)]
    clock.move(-JUMP_MS)
    return asks


class TestLag:
    """How far a clock is behind can be asked for, and nothing comes of it."""

    @pytest.mark.usefixtures("jumped")
    async def test_it_is_told_where_it_is_too_much(self, store: Store, client: Redis) -> None:
        """Without a trace."""
        before = await dump(client)
        assert await store.clocks.lag(TENANT) == Lag(ms=JUMP_MS)
        assert await dump(client) == before

    @pytest.mark.parametrize("back_ms", [-1, 0, CLOCK_BEHIND_MAX_MS])
    async def test_a_little_is_none(self, store: Store, clock: ManualClock, back_ms: int) -> None:
        """Time stands still for so long, which needs nobody."""
        await asked(store)
        clock.move(-back_ms)
        assert await store.clocks.lag(TENANT) is None

    async def test_a_mark_that_is_no_time_has_none(self, store: Store, client: Redis) -> None:
        """It is behind, and nobody can say by how much."""
        await client.hset(META, "now", "9" * 16)
        assert await store.clocks.lag(TENANT) == Lag(ms=None)

    async def test_a_tenant_without_a_mark_is_in_time(self, store: Store, client: Redis) -> None:
        """It has seen nothing, and is made nothing."""
        assert await store.clocks.lag("nobody") is None
        assert await dump(client) == {}


class TestWhatIsOpen:
    """It was asked and granted under a time that nobody can trust."""

    async def test_it_is_cancelled(self, store: Store, client: Redis, jumped: list[Ask]) -> None:
        """Questions and grants, from before the jump too; then the clock is the server's."""
        step = await set_back(store)
        assert (set(step.cancelled), step.done) == ({ask.id for ask in jumped}, True)
        assert await high_water_ms(client) == T0_MS
        assert await statuses(store, *jumped) == [Status.CANCELLED] * 3
        assert (await spend(store, jumped[0])).ruling is Ruling.CANCELLED

    async def test_trails_name_the_operator_and_the_servers_time(
        self, store: Store, jumped: list[Ask]
    ) -> None:
        """What stood in them before stays as it was, the wrong times included."""
        await set_back(store)
        answer = await read(store, jumped[1])
        assert [(each.type, each.by, each.at_ms) for each in trail_of(answer)] == [
            ("requested", "runtime", T0_MS + JUMP_MS),
            ("cancelled", "operator", T0_MS),
        ]
        assert approval_of(answer).requested_at_ms == T0_MS + JUMP_MS

    async def test_nothing_of_it_is_left_anywhere(
        self, store: Store, client: Redis, jumped: list[Ask]
    ) -> None:
        """Neither in an index of what is open, nor among what may be joined; and it will be forgotten."""
        await set_back(store)
        for index in ("w", "w:runtime", "g", "x:p"):
            assert await client.zcard(keys.tag(TENANT) + index) == 0
        assert [key async for key in client.scan_iter(match=keys.tag(TENANT) + "j:*")] == []
        ttl_ms = await client.pttl(f"{keys.tag(TENANT)}a:{jumped[0].id}")
        assert 0 < ttl_ms <= Limits().record_retention_ms

    async def test_what_has_ended_stays_as_it_ended(self, store: Store, clock: ManualClock) -> None:
        """Consumed, rejected, cancelled."""
        clock.move(JUMP_MS)
        ended = [Status.CONSUMED, Status.REJECTED, Status.CANCELLED]
        asks = [await in_status(store, clock, status) for status in ended]
        clock.move(-JUMP_MS)
        assert await set_back(store) == SetBack(cancelled=(), done=True)
        assert await statuses(store, *asks) == ended

    async def test_what_was_shown_as_expired_stays_that(self, store: Store, clock: ManualClock) -> None:
        """A reader was told so by the wrong time; written down as it would have been: at its deadline."""
        ask = await asked(store)
        clock.move(JUMP_MS)
        assert await statuses(store, ask) == [Status.EXPIRED]
        clock.move(-JUMP_MS)
        assert await set_back(store) == SetBack(cancelled=(), done=True)
        last = trail_of(await read(store, ask))[-1]
        assert (last.type, last.by, last.at_ms) == ("expired", "system", T0_MS + WAIT_MS)
        assert (await voted(store, ask)).ruling is Ruling.EXPIRED

    @pytest.mark.parametrize("mark", ["9000000000000000", "soon", ""])
    async def test_under_a_mark_that_is_no_time_all_is_cancelled(
        self, store: Store, client: Redis, mark: str
    ) -> None:
        """It says nothing about deadlines."""
        asks = [await asked(store), await approved(store)]
        await client.hset(META, "now", mark)
        assert set((await set_back(store)).cancelled) == {ask.id for ask in asks}
        assert await high_water_ms(client) == T0_MS
        assert await statuses(store, *asks) == [Status.CANCELLED] * 2

    async def test_leftovers_of_the_indexes_go(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """A record that is gone is nobody's to cancel."""
        clock.move(JUMP_MS)
        ask = await asked(store)
        clock.move(-JUMP_MS)
        await client.delete(f"{keys.tag(TENANT)}a:{ask.id}")
        assert await set_back(store) == SetBack(cancelled=(), done=True)
        assert await client.zcard(keys.tag(TENANT) + "w") == 0


class TestSteps:
    """A bounded number at a time; whoever is interrupted goes on by calling again."""

    async def test_the_mark_goes_back_last(self, store: Store, client: Redis, jumped: list[Ask]) -> None:
        """Until nothing is open any more the tenant is not judged."""
        cancelled: list[str] = []
        for _ in jumped:
            step = await set_back(store, limit=1)
            cancelled += step.cancelled
            assert (len(step.cancelled), step.done) == (1, False)
            assert await high_water_ms(client) == T0_MS + JUMP_MS
            with pytest.raises(StoreUnavailable):
                await read(store, jumped[0])
        assert set(cancelled) == {ask.id for ask in jumped}
        assert await set_back(store, limit=1) == SetBack(cancelled=(), done=True)
        assert await high_water_ms(client) == T0_MS

    async def test_a_clock_that_is_right_is_left_alone(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """So a step that is sent again after the last one, or by mistake, cancels nothing."""
        await approved(store)
        clock.move(-CLOCK_BEHIND_MAX_MS)
        before = await dump(client)
        assert await set_back(store) == SetBack(cancelled=(), done=True)
        assert await dump(client) == before

    async def test_there_may_be_nothing(self, store: Store, client: Redis) -> None:
        """Not even a stream."""
        await client.hset(META, "now", str(T0_MS + JUMP_MS))
        assert await set_back(store) == SetBack(cancelled=(), done=True)
        assert await high_water_ms(client) == T0_MS

    async def test_the_servers_time_is_gone_by(self, client: Redis) -> None:
        """Without an injected clock."""
        store = a_store(client, None)
        ask = await asked(store)
        seconds, _ = await client.time()
        now_ms = int(seconds) * 1_000
        await client.hset(META, "now", str(now_ms + 2 * CLOCK_BEHIND_MAX_MS))
        assert await set_back(store) == SetBack(cancelled=(ask.id,), done=True)
        mark_ms = await high_water_ms(client)
        assert mark_ms is not None
        assert 0 <= mark_ms - now_ms < CLOCK_BEHIND_MAX_MS


class TestAfterwards:
    """The tenant goes on as if nothing had been, and so does its stream."""

    @pytest.mark.usefixtures("jumped")
    async def test_a_new_question_runs_its_course(self, store: Store) -> None:
        """Asked, approved and consumed in the right time."""
        await set_back(store)
        again = await consumed(store)
        assert approval_of(await read(store, again)).requested_at_ms == T0_MS

    @pytest.mark.usefixtures("jumped")
    async def test_the_streams_ids_only_rise(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """From where they had been, by as much as the clock moves; what happens to it again included."""
        await set_back(store)
        clock.move(5)
        await asked(store)
        clock.move(2 * JUMP_MS)
        await asked(store)
        clock.move(-2 * JUMP_MS)
        await set_back(store)
        clock.move(7)
        await asked(store)
        at_ms = [each - T0_MS for each in await entries_of(client)]
        first, second = JUMP_MS, 3 * JUMP_MS + 5
        assert at_ms == [0, 0, *[first] * 6, first + 5, second, *[second] * 2, second + 7]

    async def test_they_rise_where_the_clock_had_been_no_time(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """The stream itself says where they are, also where it is empty."""
        await asked(store)
        await client.xadd(STREAM, {"i": "x", "t": "requested", "n": "1"}, id="9000000000000000-5")
        await client.xtrim(STREAM, maxlen=0, approximate=False)
        await client.hset(META, "now", "9000000000000000")
        await set_back(store)
        clock.move(3)
        await asked(store)
        assert await entries_of(client) == [9_000_000_000_000_000, 9_000_000_000_000_003]

    async def test_they_follow_the_clock_where_it_is_ahead_again(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """A mark that alone was wrong, as in a store that somebody wrote to, leaves them as they are."""
        await asked(store)
        await client.hset(META, "now", str(T0_MS + JUMP_MS))
        clock.move(10)
        await set_back(store)
        await asked(store)
        assert await entries_of(client) == [T0_MS, T0_MS + 10, T0_MS + 10]
        entries: Any = await client.xrange(STREAM)
        assert {b"w" in fields for _, fields in entries} == {False}

    @pytest.mark.usefixtures("jumped")
    async def test_old_entries_are_trimmed_by_their_age(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """As ever, on the tenant's clock: ids that run ahead don't keep them for longer."""
        await set_back(store)
        clock.move(1_000)
        ask = await asked(store)
        await store.approvals.trim(TENANT, "", after=None, limit=0, cutoff_ms=T0_MS + 1_000)
        assert await events(client) == [(ask.id, "requested")]
        await store.approvals.trim(TENANT, "", after=None, limit=0, cutoff_ms=T0_MS + 1_001)
        assert await events(client) == []

    async def test_readers_hear_on_and_know_the_moment(self, client: Redis, clock: ManualClock) -> None:
        """From where they were; an entry says when it was written where its id can't."""
        heard: list[Transition] = []
        store = a_store(client, clock, heard)
        store.stream.start()
        clock.move(JUMP_MS)
        await asked(store)
        await store.stream.follow(TENANT)
        ask = await asked(store)
        clock.move(-JUMP_MS)
        await set_back(store)
        clock.move(9)
        after = await asked(store)
        await until(lambda: len(heard) == 4, "everything since is heard")
        await store.stream.stop()
        assert [(each.approval_id, each.type, each.entry_ms - T0_MS) for each in (heard[0], heard[-1])] == [
            (ask.id, "requested", JUMP_MS),
            (after.id, "requested", 9),
        ]
        assert {(each.type, each.entry_ms - T0_MS) for each in heard[1:-1]} == {("cancelled", 0)}
