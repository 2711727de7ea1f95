"""Reporting how an execution ended: the first report stands."""

from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import OutcomeStatus, Status
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock, an_ask
from tests.steps import WAIT_MS, approval_of, consumed, dump, events, in_status, read, report, trail_of


@pytest.mark.parametrize("status", list(OutcomeStatus))
async def test_a_report_is_recorded(
    store: Store, clock: ManualClock, client: Redis, status: OutcomeStatus
) -> None:
    """The record says how it went, in which words and when; the state stays consumed."""
    ask = await consumed(store)
    clock.move(1_000)
    answer = await report(store, ask, status, summary="Refund 17 made.")
    outcome = approval_of(answer).outcome
    assert (answer.ruling, approval_of(answer).status) == (Ruling.OK, Status.CONSUMED)
    assert outcome is not None
    assert (outcome.status, outcome.summary, outcome.at_ms) == (status, "Refund 17 made.", T0_MS + 1_000)
    assert (await events(client))[-1] == (ask.id, "reported")


async def test_the_judges_see_it(store: Store) -> None:
    """The compared fields carry the report's words."""
    ask = await consumed(store)
    answer = await report(store, ask, summary="done")
    assert answer.record is not None
    assert answer.record.state().outcome == (OutcomeStatus.SUCCEEDED, "done")


async def test_the_same_report_again_changes_nothing(store: Store, client: Redis) -> None:
    """A report whose reply was lost can be sent again."""
    ask = await consumed(store)
    await report(store, ask, summary="done")
    before = await dump(client)
    assert (await report(store, ask, summary="done")).ruling is Ruling.UNCHANGED
    assert await dump(client) == before


@pytest.mark.parametrize(
    "other",
    [
        {"status": OutcomeStatus.FAILED, "summary": "done"},
        {"summary": "something else"},
        {"summary": None},
        {"summary": "done", "execution_id": "exec-2"},
    ],
)
async def test_the_first_report_stands(store: Store, other: dict[str, Any]) -> None:
    """Other words, another status or another execution are a conflict."""
    ask = await consumed(store)
    await report(store, ask, summary="done")
    answer = await report(store, ask, **other)
    outcome = approval_of(answer).outcome
    assert (answer.ruling, trail_of(answer)[-1].code) == (Ruling.CONFLICT, "INVOCATION_CONFLICT")
    assert outcome is not None
    assert (outcome.status, outcome.summary) == (OutcomeStatus.SUCCEEDED, "done")


async def test_only_the_execution_that_consumed_reports(store: Store) -> None:
    """Another execution id is a conflict from the start."""
    ask = await consumed(store)
    assert (await report(store, ask, execution_id="exec-2")).ruling is Ruling.CONFLICT


async def test_there_is_no_deadline(store: Store, clock: ManualClock) -> None:
    """Executions take as long as they take."""
    ask = await consumed(store)
    clock.move(10 * WAIT_MS)
    assert (await report(store, ask)).ruling is Ruling.OK


@pytest.mark.parametrize(
    ("status", "ruling"),
    [
        (Status.PENDING, Ruling.PENDING),
        (Status.APPROVED, Ruling.CONFLICT),
        (Status.REJECTED, Ruling.REJECTED),
        (Status.EXPIRED, Ruling.EXPIRED),
        (Status.CANCELLED, Ruling.CANCELLED),
    ],
)
async def test_what_was_not_consumed_has_no_outcome(
    store: Store, clock: ManualClock, status: Status, ruling: Ruling
) -> None:
    """The answer is the state, or a conflict where a grant lies unused."""
    ask = await in_status(store, clock, status)
    answer = await report(store, ask)
    assert (answer.ruling, approval_of(answer).status) == (ruling, status)
    assert approval_of(answer).outcome is None


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize(
    "caller", [{"by": "runtime"}, {"by": "auditor", "sees": True}], ids=["asker", "sees"]
)
async def test_only_the_consumer_may(
    store: Store, clock: ManualClock, status: Status, caller: dict[str, Any]
) -> None:
    """Who sees the record hears whose it is, in every state."""
    ask = await in_status(store, clock, status, audience="tool-server")
    answer = await report(store, ask, **caller)
    assert (answer.ruling, approval_of(answer).status) == (Ruling.NOT_CONSUMER, status)
    assert (trail_of(answer)[-1].by, trail_of(answer)[-1].code) == (caller["by"], "FORBIDDEN")


@pytest.mark.parametrize("status", list(Status))
async def test_an_outsider_hears_of_none(store: Store, clock: ManualClock, status: Status) -> None:
    """In every state the answer is that of an unknown record; the trail has the truth."""
    ask = await in_status(store, clock, status)
    answer = await report(store, ask, by="other")
    assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
    assert trail_of(await read(store, ask))[-1].code == "APPROVAL_RESUME_MISMATCH"


async def test_an_unknown_record_is_missing(store: Store, client: Redis) -> None:
    """Nothing is written."""
    answer = await report(store, an_ask())
    assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
    assert await dump(client) == {}
