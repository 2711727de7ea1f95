"""The store is the clock, it never goes back, and a changed epoch stops everyone who was judged before."""

from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.limits import CLOCK_BEHIND_MAX_MS
from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.store.approvals import Rejudge
from placet.store.opened import Store
from tests.conftest import a_store
from tests.factories import T0_MS, ManualClock, a_ballot, a_creation, an_ask
from tests.steps import (
    CALLS,
    TENANT,
    WAIT_MS,
    Moving,
    approval_of,
    approved,
    asked,
    cancel,
    change_counted,
    consumed,
    dump,
    high_water_ms,
    in_status,
    read,
    report,
    spend,
    trail_of,
    voted,
)


class TestHighWaterMark:
    """``now`` is the later of the given time and the latest moment anything was judged by."""

    @pytest.mark.parametrize("back_ms", [1, 1_000, CLOCK_BEHIND_MAX_MS])
    async def test_a_clock_set_back_stands_still(
        self, store: Store, clock: ManualClock, client: Redis, back_ms: int
    ) -> None:
        """It goes on from where it had been."""
        ask = await asked(store)
        clock.move(-back_ms)
        answer = await voted(store, ask)
        assert answer.now_ms == T0_MS
        assert approval_of(answer).votes[0].at_ms == T0_MS
        assert await high_water_ms(client) == T0_MS

    async def test_it_goes_on_from_there(self, store: Store, clock: ManualClock) -> None:
        """Once the given time has caught up it counts again."""
        ask = await asked(store)
        clock.move(-1_000)
        await read(store, ask)
        clock.move(1_001)
        assert (await read(store, ask)).now_ms == T0_MS + 1

    @pytest.mark.parametrize(
        "move",
        [
            pytest.param(voted, id="decide"),
            pytest.param(cancel, id="cancel"),
            pytest.param(spend, id="consume"),
            pytest.param(report, id="outcome"),
            pytest.param(lambda store, ask: asked(store), id="create"),
        ],
    )
    async def test_whatever_is_judged_raises_it(
        self, store: Store, clock: ManualClock, client: Redis, move: Moving
    ) -> None:
        """Successes and refusals alike."""
        ask = await asked(store)
        clock.move(1_234)
        await move(store, ask)
        assert await high_water_ms(client) == T0_MS + 1_234

    @pytest.mark.parametrize(
        "move",
        [
            pytest.param(voted, id="decide"),
            pytest.param(spend, id="consume"),
            pytest.param(report, id="outcome"),
        ],
    )
    async def test_an_answer_that_changes_nothing_raises_it_too(
        self, store: Store, clock: ManualClock, client: Redis, move: Moving
    ) -> None:
        """A repetition asserts a state as of now."""
        ask = await consumed(store)
        await report(store, ask)
        clock.move(1_234)
        await move(store, ask)
        assert await high_water_ms(client) == T0_MS + 1_234

    async def test_a_repeated_withdrawal_raises_it(
        self, store: Store, clock: ManualClock, client: Redis
    ) -> None:
        """The same for the one repetition left."""
        ask = await in_status(store, clock, Status.CANCELLED)
        clock.move(1_234)
        await cancel(store, ask)
        assert await high_water_ms(client) == T0_MS + 1_234

    @pytest.mark.parametrize("new", [{"join": "same"}, {"idempotency": ("key", b"a" * 32)}])
    async def test_a_found_record_raises_it(
        self, store: Store, clock: ManualClock, client: Redis, new: dict[str, Any]
    ) -> None:
        """Joined and replayed creates assert a state as well."""
        await asked(store, new=new)
        clock.move(1_234)
        ask = an_ask()
        await store.approvals.create(ask, a_creation(ask, **new), epoch=0)
        assert await high_water_ms(client) == T0_MS + 1_234

    async def test_deadlines_are_set_from_it(self, store: Store, clock: ManualClock) -> None:
        """A question asked under a clock set back waits as long as any other."""
        await asked(store)
        clock.move(-5_000)
        assert approval_of(await read(store, await asked(store))).expires_at_ms == T0_MS + WAIT_MS

    async def test_the_sweeper_judges_by_it(self, store: Store, clock: ManualClock) -> None:
        """It settles nothing that a clock set back would call alive, nor the other way round."""
        ask = await asked(store)
        clock.move(WAIT_MS + 1)
        await spend(store, await approved(store))
        clock.move(-CLOCK_BEHIND_MAX_MS)
        assert (await store.approvals.sweep(TENANT, limit=10)).settled == 1
        assert trail_of(await read(store, ask))[-1].at_ms == T0_MS + WAIT_MS

    async def test_tenants_have_their_own(self, store: Store, clock: ManualClock, client: Redis) -> None:
        """What one tenant has seen does not move another's clock."""
        await asked(store)
        clock.move(-1_000)
        await asked(store, tenant="other")
        assert (await high_water_ms(client), await high_water_ms(client, "other")) == (T0_MS, T0_MS - 1_000)


class TestServerTime:
    """Without an injected clock the server's TIME decides."""

    async def now_ms(self, client: Redis) -> int:
        """What the server says."""
        seconds, micros = await client.time()
        return int(seconds) * 1_000 + int(micros) // 1_000

    async def test_records_are_dated_by_it(self, client: Redis) -> None:
        """To the millisecond."""
        store = a_store(client, None)
        before_ms = await self.now_ms(client)
        ask = await asked(store)
        at_ms = approval_of(await read(store, ask)).requested_at_ms
        assert before_ms <= at_ms <= await self.now_ms(client)

    async def test_it_never_goes_back_either(self, client: Redis, clock: ManualClock) -> None:
        """A mark ahead of the server's time, as after a failover to a slow clock, holds."""
        ahead_ms = await self.now_ms(client) + CLOCK_BEHIND_MAX_MS // 2
        await client.hset("{placet:default}:m", "now", str(ahead_ms))
        ask = await asked(a_store(client, None))
        assert approval_of(await read(a_store(client, None), ask)).requested_at_ms == ahead_ms


class TestEpoch:
    """One count of all changes of credentials: whoever was judged under another is judged anew."""

    @pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
    async def test_after_a_change_nothing_is_written(
        self, store: Store, client: Redis, clock: ManualClock, call: Moving
    ) -> None:
        """Not even the expiry of a record that has died meanwhile."""
        ask = await approved(store, use_within_ms=1_000)
        await change_counted(store)
        clock.move(1_001)
        before = await dump(client)
        with pytest.raises(Rejudge):
            await call(store, ask)
        assert await dump(client) == before

    async def test_under_the_new_epoch_it_goes_on(self, store: Store) -> None:
        """Judged anew, the same call is taken."""
        ask = await asked(store)
        epoch = await change_counted(store)
        answer = await store.approvals.decide(TENANT, ask.id, a_ballot(ask), epoch=epoch)
        assert answer.ruling is Ruling.OK

    async def test_the_system_is_not_judged(self, store: Store, clock: ManualClock) -> None:
        """Reading for itself, sweeping and trimming need no credentials."""
        ask = await asked(store)
        await change_counted(store)
        clock.move(WAIT_MS + 1)
        assert (await store.approvals.get(TENANT, ask.id, epoch=None)).ruling is Ruling.OK
        assert (await store.approvals.sweep(TENANT, limit=10)).settled == 1
        assert await store.approvals.trim(TENANT, "x", after=None, limit=1, cutoff_ms=T0_MS) == (0, None)

    async def test_another_tenants_change_is_no_change(self, store: Store) -> None:
        """Epochs are per tenant."""
        await change_counted(store, "other")
        assert (await read(store, await asked(store))).ruling is Ruling.OK
