"""Deadlines: one comparison everywhere, whoever looks and whether or not anyone has written it down."""

from collections.abc import Awaitable, Callable

import pytest
from redis.asyncio import Redis

from placet.domain.events import SYSTEM
from placet.domain.machine import Ruling
from placet.domain.model import Approval, Ask, Status
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock, a_creation, an_ask
from tests.steps import (
    TENANT,
    WAIT_MS,
    approval_of,
    approved,
    asked,
    cancel,
    dump,
    events,
    high_water_ms,
    read,
    report,
    spend,
    trail_of,
    voted,
)

USE_MS = 5_000
META = "{placet:default}:m"

Making = Callable[[Store], Awaitable[Ask]]
Looking = Callable[[Store, Ask], Awaitable[Approval]]


async def _pending(store: Store) -> Ask:
    return await asked(store)


async def _granted(store: Store) -> Ask:
    return await approved(store, use_within_ms=USE_MS)


async def _get(store: Store, ask: Ask) -> Approval:
    return approval_of(await read(store, ask))


async def _list(store: Store, ask: Ask) -> Approval:
    page = await store.approvals.page(TENANT, "x", after=None, limit=10, epoch=0)
    return page.records[0].approval()


async def _decide(store: Store, ask: Ask) -> Approval:
    return approval_of(await voted(store, ask, "bob"))


async def _cancel(store: Store, ask: Ask) -> Approval:
    return approval_of(await cancel(store, ask))


async def _consume(store: Store, ask: Ask) -> Approval:
    return approval_of(await spend(store, ask))


async def _report(store: Store, ask: Ask) -> Approval:
    return approval_of(await report(store, ask))


async def _replay(store: Store, ask: Ask) -> Approval:
    again = an_ask()
    new = a_creation(again, idempotency=("key", b"a" * 32))
    return approval_of(await store.approvals.create(again, new, epoch=0))


LIVES = [
    pytest.param(_pending, WAIT_MS, id="expires_at"),
    pytest.param(_granted, USE_MS, id="use_by"),
]
POSTS: list[Looking] = [_decide, _cancel, _consume, _report]


@pytest.mark.parametrize("look", [_get, _list, *POSTS])
@pytest.mark.parametrize(("make", "life_ms"), LIVES)
async def test_everyone_sees_a_dead_record_as_expired(
    store: Store, clock: ManualClock, make: Making, life_ms: int, look: Looking
) -> None:
    """One millisecond after its deadline, in get, list, decide, cancel, consume and outcome alike."""
    ask = await make(store)
    clock.move(life_ms + 1)
    assert (await look(store, ask)).status is Status.EXPIRED


@pytest.mark.parametrize("early_ms", [0, 1])
@pytest.mark.parametrize("look", [_get, _list, _cancel, _consume])
@pytest.mark.parametrize(("make", "life_ms"), LIVES)
async def test_at_the_exact_instant_it_lives(
    store: Store, clock: ManualClock, make: Making, life_ms: int, look: Looking, early_ms: int
) -> None:
    """Dead when ``now > deadline``, and not before."""
    ask = await make(store)
    clock.move(life_ms - early_ms)
    assert (await look(store, ask)).status is not Status.EXPIRED


@pytest.mark.parametrize(
    ("late_ms", "ruling"), [(-1, Ruling.OK), (0, Ruling.OK), (1, Ruling.EXPIRED), (200, Ruling.EXPIRED)]
)
async def test_a_vote_counts_until_the_deadline(
    store: Store, client: Redis, clock: ManualClock, late_ms: int, ruling: Ruling
) -> None:
    """An approval after it is refused though no sweeper runs, and never an event (B16)."""
    ask = await asked(store)
    clock.move(WAIT_MS + late_ms)
    assert (await voted(store, ask)).ruling is ruling
    assert ((ask.id, "approved") in await events(client)) is (ruling is Ruling.OK)


@pytest.mark.parametrize(
    ("late_ms", "ruling"), [(-1, Ruling.OK), (0, Ruling.OK), (1, Ruling.EXPIRED), (200, Ruling.EXPIRED)]
)
async def test_a_grant_can_be_used_until_its_deadline(
    store: Store, clock: ManualClock, late_ms: int, ruling: Ruling
) -> None:
    """The same comparison for ``use_by``."""
    ask = await approved(store, use_within_ms=USE_MS)
    clock.move(USE_MS + late_ms)
    assert (await spend(store, ask)).ruling is ruling


class TestGet:
    """Reading writes no record and no event."""

    @pytest.mark.parametrize("look", [_get, _list])
    @pytest.mark.parametrize(("make", "life_ms"), LIVES)
    async def test_of_a_dead_record_only_raises_the_high_water_mark(
        self, store: Store, client: Redis, clock: ManualClock, make: Making, life_ms: int, look: Looking
    ) -> None:
        """So that no later answer contradicts this one."""
        ask = await make(store)
        before = await dump(client)
        clock.move(life_ms + 1)
        await look(store, ask)
        after = await dump(client)
        assert after.pop(META) == {**before.pop(META), b"now": b"%d" % (T0_MS + life_ms + 1)}
        assert after == before

    @pytest.mark.parametrize("look", [_get, _list])
    @pytest.mark.parametrize(("make", "life_ms"), LIVES)
    async def test_of_a_live_record_writes_nothing(
        self, store: Store, client: Redis, clock: ManualClock, make: Making, life_ms: int, look: Looking
    ) -> None:
        """Nothing at all."""
        ask = await make(store)
        before = await dump(client)
        clock.move(life_ms)
        await look(store, ask)
        assert await dump(client) == before

    async def test_of_an_unknown_record_writes_nothing(self, store: Store, client: Redis) -> None:
        """Not even a clock."""
        assert (await read(store, an_ask())).ruling is Ruling.MISSING
        assert await dump(client) == {}

    @pytest.mark.parametrize(("make", "life_ms"), LIVES)
    async def test_the_trail_has_the_expiry_at_once(
        self, store: Store, clock: ManualClock, make: Making, life_ms: int
    ) -> None:
        """Where nobody has written it down the reader adds it: by the system, at the deadline (B73)."""
        ask = await make(store)
        clock.move(life_ms + 1_000)
        last = trail_of(await read(store, ask))[-1]
        assert (last.type, last.by, last.at_ms) == ("expired", SYSTEM, T0_MS + life_ms)


class TestPost:
    """A POST that meets a dead record first writes the expiry, then answers."""

    @pytest.mark.parametrize("post", POSTS)
    @pytest.mark.parametrize(("make", "life_ms"), LIVES)
    async def test_the_event_is_the_systems_at_the_deadline(
        self, store: Store, client: Redis, clock: ManualClock, make: Making, life_ms: int, post: Looking
    ) -> None:
        """Nobody answered, and the record does not say that anybody did (B73)."""
        ask = await make(store)
        clock.move(life_ms + 1_000)
        approval = await post(store, ask)
        expiry, refusal = trail_of(await read(store, ask))[-2:]
        assert (expiry.type, expiry.by, expiry.at_ms) == ("expired", SYSTEM, T0_MS + life_ms)
        assert (refusal.type, refusal.at_ms) == ("refused", T0_MS + life_ms + 1_000)
        assert "bob" not in {cast.vote.approver.id for cast in approval.votes}
        assert (await events(client))[-1] == (ask.id, "expired")

    async def test_also_an_outsiders(self, store: Store, clock: ManualClock) -> None:
        """The trail is in the order of time, whoever came by."""
        ask = await asked(store)
        clock.move(WAIT_MS + 1)
        await cancel(store, ask, "other")
        await spend(store, ask, client="other")
        await report(store, ask, by="other")
        trail = trail_of(await read(store, ask))
        assert [entry.type for entry in trail] == ["requested", "expired", "refused", "refused", "refused"]

    async def test_the_same_vote_again(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """Also one that is answered 200."""
        ask = await approved(store, use_within_ms=USE_MS)
        clock.move(USE_MS + 1)
        assert (await voted(store, ask)).ruling is Ruling.UNCHANGED
        assert (await events(client))[-1] == (ask.id, "expired")

    async def test_the_replay_of_a_create(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """The idempotency key's record is a record like any other."""
        ask = await asked(store, new={"idempotency": ("key", b"a" * 32)})
        clock.move(WAIT_MS + 1)
        assert (await _replay(store, ask)).status is Status.EXPIRED
        assert (await events(client))[-1] == (ask.id, "expired")

    async def test_it_is_written_once(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """However many come by."""
        ask = await asked(store)
        clock.move(WAIT_MS + 1)
        for post in (_decide, _cancel, _consume, _report):
            await post(store, ask)
        await store.approvals.sweep(TENANT, limit=10)
        assert await events(client) == [(ask.id, "requested"), (ask.id, "expired")]


async def test_the_mark_holds_what_was_read(store: Store, client: Redis, clock: ManualClock) -> None:
    """Once a read has said expired, a clock set back does not make it pending again."""
    ask = await asked(store)
    clock.move(WAIT_MS + 1)
    assert (await _get(store, ask)).status is Status.EXPIRED
    clock.move(-10_000)
    assert (await voted(store, ask)).ruling is Ruling.EXPIRED
    assert await high_water_ms(client) == T0_MS + WAIT_MS + 1
