"""Asking: the record that comes of it, its deadline, its place in the queue."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.canonical import canonicalize
from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.domain.model import Status, Verdict
from placet.store.opened import Store
from tests.conftest import a_store
from tests.factories import INPUT, T0_MS, ManualClock, a_creation, an_ask, call_of, digest_of
from tests.steps import (
    TENANT,
    WAIT_MS,
    approval_of,
    approved,
    asked,
    cancel,
    dump,
    events,
    read,
    record_of,
    spend,
    trail_of,
    voted,
)

BODY, OTHER_BODY = b"a" * 32, b"b" * 32
KEYED = {"idempotency": ("key", BODY)}
TODAY = 86_400_000


async def test_a_new_record_is_pending(store: Store) -> None:
    """A question becomes a pending record that says what was asked, and when."""
    ask = an_ask(audience="tool-server", run="run-1", use_within_ms=5_000)
    answer = await store.approvals.create(ask, a_creation(ask, required=2), epoch=0)
    approval = approval_of(answer)
    assert (answer.ruling, answer.now_ms) == (Ruling.OK, T0_MS)
    assert (approval.status, approval.ask, approval.digest) == (Status.PENDING, ask, digest_of(ask))
    assert (approval.requested_at_ms, approval.expires_at_ms) == (T0_MS, T0_MS + WAIT_MS)
    assert (approval.use_by_ms, approval.required, approval.approved) == (None, 2, 0)
    assert approval.input is not None
    assert bytes(approval.input) == INPUT


@pytest.mark.parametrize("plain", [True, False])
async def test_what_was_written_is_known_without_asking(store: Store, *, plain: bool) -> None:
    """The record that a create answers with is, part for part, the one that is read afterwards."""
    members = {} if plain else {"audience": "tool-server", "run": "run-1", "use_within_ms": 5_000}
    ask = an_ask(**members)
    new = a_creation(ask) if plain else a_creation(ask, required=2, **KEYED)
    made = record_of(await store.approvals.create(ask, new, epoch=0))
    found = record_of(await read(store, ask))
    assert (made.flat, made.log, made.input) == (found.flat, found.log, found.input)
    assert made.approval() == found.approval()
    assert made.kept is found.kept, "it is rendered once"


async def test_a_new_record_has_what_the_judges_compare(store: Store) -> None:
    """The compared fields are those that the reference judges take."""
    ask = an_ask(audience="tool-server", use_within_ms=5_000)
    answer = await store.approvals.create(ask, a_creation(ask, required=2), epoch=0)
    state = record_of(answer).state()
    assert (state.call, state.asked_by, state.audience) == (call_of(ask), "runtime", "tool-server")
    assert (state.use_within_ms, state.required, state.input) == (5_000, 2, INPUT)


async def test_a_hidden_input_is_not_held(store: Store, client: Redis) -> None:
    """Where only the hash was sent there is no input to keep."""
    ask = await asked(store, input_held=False)
    assert approval_of(await read(store, ask)).input is None
    assert not [key for key in await dump(client) if ":i:" in key]


async def test_a_plain_question_takes_these_keys(store: Store, client: Redis) -> None:
    """Record, log, input; the indexes, what it waits in, what may join it; the stream and the clock."""
    ask = await asked(store, new={"join": "same"})
    assert {key.removeprefix("{placet:default}:") for key in await dump(client)} == {
        *(f"{part}:{ask.id}" for part in "ali"),
        *("x", "x:p", "x:c:runtime", "w", "w:runtime", "j:same"),
        *("s", "m"),
    }


async def test_asking_is_one_event(store: Store, client: Redis) -> None:
    """One question, one event."""
    ask = await asked(store)
    assert await events(client) == [(ask.id, "requested")]


@pytest.mark.parametrize(
    ("distance_ms", "ruling"),
    [
        (999, Ruling.DEADLINE),
        (1_000, Ruling.OK),
        (30 * TODAY, Ruling.OK),
        (30 * TODAY + 1, Ruling.DEADLINE),
        (-1, Ruling.DEADLINE),
    ],
)
async def test_an_absolute_deadline_has_bounds(store: Store, distance_ms: int, ruling: Ruling) -> None:
    """``expires_at`` must be between the least and the greatest wait from the store's now, both included."""
    ask = an_ask()
    new = a_creation(ask, expires_in_ms=None, expires_at_ms=T0_MS + distance_ms)
    answer = await store.approvals.create(ask, new, epoch=0)
    assert (answer.ruling, answer.record is None) == (ruling, ruling is Ruling.DEADLINE)


async def test_a_chosen_id_that_is_taken_is_refused(store: Store, client: Redis) -> None:
    """An id names one question for ever; whose it is is not said, and nothing is written."""
    ask = await asked(store, new={"chosen_id": True})
    before = await dump(client)
    answer = await store.approvals.create(ask, a_creation(ask, chosen_id=True), epoch=0)
    assert (answer.ruling, answer.record) == (Ruling.EXISTS, None)
    assert await dump(client) == before


class TestCaps:
    """Live pending records are counted; dead and decided ones are not."""

    @pytest.fixture
    def store(self, client: Redis, clock: ManualClock) -> Store:
        """Two places a client, three a tenant."""
        return a_store(client, clock, limits=Limits(live_pending_per_client=2, live_pending_per_tenant=3))

    async def one_more(self, store: Store, by: str = "runtime", **changes: Any) -> tuple[Ruling, int | None]:
        """Ask once more."""
        ask = an_ask(asked_by=by, audience=by)
        answer = await store.approvals.create(ask, a_creation(ask, **changes), epoch=0)
        return answer.ruling, answer.free_at_ms

    async def test_a_client_can_fill_its_places_only(
        self, store: Store, client: Redis, clock: ManualClock
    ) -> None:
        """The third is refused with the moment at which the first place becomes free; nothing is written."""
        await asked(store, new={"expires_in_ms": 60_000})
        clock.move(1)
        await asked(store)
        before = await dump(client)
        assert await self.one_more(store) == (Ruling.CLIENT_FULL, T0_MS + 60_000)
        assert await dump(client) == before

    async def test_a_tenant_can_be_full_for_a_client_that_is_not(self, store: Store) -> None:
        """Other clients' questions count for the tenant."""
        await asked(store, new={"expires_in_ms": 60_000})
        await asked(store)
        assert (await self.one_more(store, "second"))[0] is Ruling.OK
        assert await self.one_more(store, "second") == (Ruling.TENANT_FULL, T0_MS + 60_000)

    async def test_the_audience_is_not_charged(self, store: Store) -> None:
        """A question takes its asker's place, whoever is to consume it."""
        await asked(store, audience="second")
        await asked(store, audience="second")
        assert (await self.one_more(store, "second"))[0] is Ruling.OK

    @pytest.mark.parametrize(("later_ms", "ruling"), [(60_000, Ruling.CLIENT_FULL), (60_001, Ruling.OK)])
    async def test_a_dead_one_frees_its_place(
        self, store: Store, clock: ManualClock, later_ms: int, ruling: Ruling
    ) -> None:
        """From one millisecond after its deadline on, though nobody has written that down."""
        await asked(store, new={"expires_in_ms": 60_000})
        await asked(store)
        clock.move(later_ms)
        assert (await self.one_more(store))[0] is ruling

    async def test_the_next_free_place_is_that_of_a_live_one(self, store: Store, clock: ManualClock) -> None:
        """The dead have no place to give."""
        for wait_ms in (60_000, 70_000):
            await asked(store, new={"expires_in_ms": wait_ms})
        clock.move(60_001)
        await asked(store)
        assert await self.one_more(store) == (Ruling.CLIENT_FULL, T0_MS + 70_000)

    @pytest.mark.parametrize("verdict", [Verdict.APPROVE, Verdict.REJECT])
    async def test_a_decision_frees_the_place(self, store: Store, verdict: Verdict) -> None:
        """Only what waits for a decision counts."""
        ask = await asked(store)
        await asked(store)
        await voted(store, ask, verdict=verdict)
        assert (await self.one_more(store))[0] is Ruling.OK

    @pytest.mark.parametrize(
        ("changes", "ruling"), [({"join": "same"}, Ruling.JOINED), (KEYED, Ruling.REPLAYED)]
    )
    async def test_finding_ones_record_needs_no_place(
        self, store: Store, changes: dict[str, Any], ruling: Ruling
    ) -> None:
        """A full queue does not keep anybody from what is already in it."""
        await asked(store, new={"join": "same", **KEYED})
        await asked(store)
        assert (await self.one_more(store, **changes))[0] is ruling


async def test_a_run_of_fifty_at_once_is_fifty_records(store: Store) -> None:
    """Parallel calls of one run never share an id, and a decision changes exactly one (B06)."""
    asks = await asyncio.gather(*(asked(store, run="run-1") for _ in range(50)))
    assert len({ask.id for ask in asks}) == 50
    await voted(store, asks[7])
    page = await store.approvals.page(TENANT, "x:r:run-1", after=None, limit=100, epoch=0)
    approvals = [record.approval() for record in page.records]
    assert [each.ask.id for each in approvals if each.status is Status.APPROVED] == [asks[7].id]
    assert len(approvals) == 50


async def test_a_cancelled_question_stays_so_beside_its_successor(store: Store) -> None:
    """A late answer to the first says so, and leaves the second alone (B03)."""
    first = await asked(store, run="run-1")
    await cancel(store, first)
    second = await asked(store, run="run-1")
    assert (await voted(store, first)).ruling is Ruling.CANCELLED
    assert approval_of(await read(store, second)).status is Status.PENDING


async def test_a_megabyte_lives_like_a_byte(store: Store) -> None:
    """The size of the input changes nothing about its life (B24)."""
    big = canonicalize({"text": "é" * 500_000})
    ask = await approved(store, new={"input": big})
    assert (await spend(store, ask, input=big)).ruling is Ruling.OK
    assert [entry.type for entry in trail_of(await read(store, ask))] == ["requested", "approved", "consumed"]
