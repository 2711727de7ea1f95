"""A clock that went back by more than a minute judges nothing: it would keep deadlines from passing."""

import pytest
from redis.asyncio import Redis

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import CLOCK_BEHIND_MAX_MS
from placet.domain.machine import Ruling
from placet.store import keys
from placet.store.clock import Lag
from placet.store.opened import Store
from tests.conftest import a_store
from tests.factories import T0_MS, ManualClock
from tests.steps import (
    CALLS,
    TENANT,
    Moving,
    approved,
    asked,
    change_counted,
    dump,
    high_water_ms,
    read,
    spend,
)

META = keys.meta(TENANT)
TIMED: dict[str, Moving] = {
    **CALLS,
    "expire": lambda store, _: store.approvals.sweep(TENANT, limit=9),
    "trim": lambda store, _: store.approvals.trim(TENANT, "x", after=None, limit=9, cutoff_ms=T0_MS * 2),
    "trim-stream": lambda store, _: store.approvals.trim(
        TENANT, "", after=None, limit=0, cutoff_ms=T0_MS * 2
    ),
}
"""All that is judged by the clock."""
NO_TIME = ["", "soon", "nan", "inf", "-1", "+1", "0x7fffffffffff", "1e15", " 1", "1.5", "9" * 15, "9" * 400]
"""Marks that no clock has made, though Lua reads some as numbers; or that no clock will reach."""


class TestTooFarBehind:
    """Refused as a store that can't be reached, and as harmless."""

    @pytest.mark.parametrize("call", TIMED.values(), ids=TIMED)
    async def test_nothing_is_said_or_written(
        self, store: Store, client: Redis, clock: ManualClock, call: Moving
    ) -> None:
        """Whatever is asked for: a read would give a token for a grant that may be over."""
        ask = await approved(store)
        clock.move(-CLOCK_BEHIND_MAX_MS - 1)
        before = await dump(client)
        with pytest.raises(StoreUnavailable):
            await call(store, ask)
        assert await dump(client) == before

    @pytest.mark.parametrize("call", TIMED.values(), ids=TIMED)
    async def test_the_servers_time_is_judged_alike(self, client: Redis, call: Moving) -> None:
        """After a failover, say, to a machine whose clock is right where that before was not."""
        store = a_store(client, None)
        ask = await approved(store)
        seconds, _ = await client.time()
        await client.hset(META, "now", str(int(seconds) * 1_000 + 2 * CLOCK_BEHIND_MAX_MS))
        before = await dump(client)
        with pytest.raises(StoreUnavailable):
            await call(store, ask)
        assert await dump(client) == before

    @pytest.mark.parametrize("call", TIMED.values(), ids=TIMED)
    @pytest.mark.parametrize("mark", NO_TIME)
    async def test_a_mark_that_is_no_time_is_never_reached(
        self, store: Store, client: Redis, mark: str, call: Moving
    ) -> None:
        """Whoever wrote it: it opens nothing, and breaks nothing."""
        ask = await approved(store)
        await client.hset(META, "now", mark)
        before = await dump(client)
        with pytest.raises(StoreUnavailable):
            await call(store, ask)
        assert await dump(client) == before

    async def test_a_grant_does_not_outlive_its_use_by(self, store: Store, clock: ManualClock) -> None:
        """A jump ahead and back: it can't be used until time has reached the jump, and then it is over."""
        clock.move(3_600_000)
        ask = await approved(store, use_within_ms=1_000)
        clock.move(-3_600_000)
        for _ in range(59):
            with pytest.raises(StoreUnavailable):
                await spend(store, ask)
            clock.move(CLOCK_BEHIND_MAX_MS)
        clock.move(CLOCK_BEHIND_MAX_MS + 1_001)
        assert (await spend(store, ask)).ruling is Ruling.EXPIRED

    async def test_once_it_has_caught_up_it_judges_again(self, store: Store, clock: ManualClock) -> None:
        """Up to the bound; from there time stands still, as for any small step back."""
        ask = await asked(store)
        clock.move(-CLOCK_BEHIND_MAX_MS - 1)
        with pytest.raises(StoreUnavailable):
            await read(store, ask)
        clock.move(1)
        assert (await read(store, ask)).now_ms == T0_MS

    async def test_credentials_can_be_changed(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """They don't depend on the time, and an operator may need them; the mark stays as it is."""
        await asked(store)
        clock.move(-3_600_000)
        epoch = await change_counted(store)
        assert (await store.principals.all(TENANT)).epoch == epoch
        assert await high_water_ms(client) == T0_MS

    async def test_credentials_outlive_a_mark_that_is_no_time(self, store: Store, client: Redis) -> None:
        """Likewise."""
        await client.hset(META, "now", "soon")
        epoch = await change_counted(store)
        roll = await store.principals.all(TENANT)
        assert roll.epoch == epoch
        assert roll.now_ms < T0_MS * 2

    async def test_other_tenants_go_on(self, store: Store, clock: ManualClock) -> None:
        """Those that have not seen the wrong time."""
        ask = await asked(store, tenant="other")
        clock.move(3_600_000)
        await asked(store)
        clock.move(-3_600_000)
        assert (await read(store, ask)).ruling is Ruling.OK

    async def test_it_is_logged_once(
        self, store: Store, clock: ManualClock, caplog: pytest.LogCaptureFixture
    ) -> None:
        """With tenant and lag, however many are refused; and once that it is over."""
        ask = await asked(store)
        clock.move(-3_600_000)
        for _ in range(3):
            clock.move(1)
            with pytest.raises(StoreUnavailable):
                await read(store, ask)
        assert dict(store.approvals.lags) == {TENANT: Lag(ms=3_599_999)}
        clock.move(3_600_000)
        await read(store, ask)
        await read(store, ask)
        assert len(store.approvals.lags) == 0
        first, last = caplog.records
        assert (first.levelname, first.__dict__["tenant"], first.__dict__["lag_ms"]) == (
            "ERROR",
            TENANT,
            3_599_999,
        )
        assert (last.levelname, last.__dict__["tenant"]) == ("WARNING", TENANT)
