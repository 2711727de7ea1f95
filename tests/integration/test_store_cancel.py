"""Withdrawing: by the client that asked or an administrator, while nothing has been spent."""

from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock, an_ask
from tests.steps import approval_of, asked, cancel, dump, events, in_status, read, trail_of

OPEN = [Status.PENDING, Status.APPROVED]


@pytest.mark.parametrize("status", OPEN)
async def test_the_asker_withdraws(store: Store, clock: ManualClock, client: Redis, status: Status) -> None:
    """A question or an unused grant ends, with one event."""
    ask = await in_status(store, clock, status)
    answer = await cancel(store, ask)
    assert (answer.ruling, approval_of(answer).status) == (Ruling.OK, Status.CANCELLED)
    assert (await events(client))[-1] == (ask.id, "cancelled")


async def test_it_is_recorded_who_and_when(store: Store, clock: ManualClock) -> None:
    """The trail names the client that withdrew, and the moment."""
    ask = await asked(store)
    clock.move(1_000)
    last = trail_of(await cancel(store, ask))[-1]
    assert (last.type, last.by, last.at_ms) == ("cancelled", "runtime", T0_MS + 1_000)


async def test_an_administrator_withdraws_for_others(store: Store) -> None:
    """With ``admin`` anyone's record can be withdrawn; the trail says by whom."""
    ask = await asked(store)
    answer = await cancel(store, ask, "operations", admin=True)
    assert (answer.ruling, trail_of(answer)[-1].by) == (Ruling.OK, "operations")


async def test_again_is_the_same(store: Store, client: Redis) -> None:
    """A withdrawal repeated changes nothing and is no refusal."""
    ask = await asked(store)
    await cancel(store, ask)
    before = await dump(client)
    assert (await cancel(store, ask)).ruling is Ruling.UNCHANGED
    assert await dump(client) == before


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.REJECTED, "APPROVAL_REJECTED"),
        (Status.EXPIRED, "APPROVAL_EXPIRED"),
        (Status.CONSUMED, "APPROVAL_CONSUMED"),
    ],
)
async def test_what_has_ended_stays(store: Store, clock: ManualClock, status: Status, code: str) -> None:
    """The answer is the state that forbids it, and the attempt is recorded."""
    ask = await in_status(store, clock, status)
    answer = await cancel(store, ask)
    assert (answer.ruling, approval_of(answer).status) == (status.value, status)
    assert (trail_of(answer)[-1].type, trail_of(answer)[-1].code) == ("refused", code)


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize(
    "caller", [{"by": "tool-server"}, {"by": "auditor", "sees": True}], ids=["audience", "sees"]
)
async def test_only_the_asker_may(
    store: Store, clock: ManualClock, status: Status, caller: dict[str, Any]
) -> None:
    """Who sees the record hears whose it is, in every state."""
    ask = await in_status(store, clock, status, audience="tool-server")
    answer = await cancel(store, ask, **caller)
    assert (answer.ruling, approval_of(answer).status) == (Ruling.NOT_ASKER, status)
    assert (trail_of(answer)[-1].by, trail_of(answer)[-1].code) == (caller["by"], "FORBIDDEN")


@pytest.mark.parametrize("status", list(Status))
async def test_an_outsider_hears_of_none(store: Store, clock: ManualClock, status: Status) -> None:
    """In every state the answer is that of an unknown record; the trail has the truth."""
    ask = await in_status(store, clock, status)
    answer = await cancel(store, ask, "other")
    assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
    assert trail_of(await read(store, ask))[-1].code == "APPROVAL_RESUME_MISMATCH"


@pytest.mark.parametrize("admin", [False, True])
async def test_an_unknown_record_is_missing(store: Store, client: Redis, *, admin: bool) -> None:
    """For administrators too; nothing is written."""
    answer = await cancel(store, an_ask(), admin=admin)
    assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
    assert await dump(client) == {}
