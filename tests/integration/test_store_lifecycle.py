"""One approval through its life, on every kind of server."""

from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock, a_ballot, a_creation, a_spending, an_ask


async def test_ask_decide_consume(store: Store, clock: ManualClock) -> None:
    """An approved question is consumed once, and the record says all of it."""
    ask = an_ask()
    asked = await store.approvals.create(ask, a_creation(ask), epoch=0)
    assert asked.ruling is Ruling.OK
    assert asked.record is not None
    assert asked.record.approval().status is Status.PENDING
    assert asked.record.approval().expires_at_ms == T0_MS + 900_000
    clock.move(1_000)
    decided = await store.approvals.decide("default", ask.id, a_ballot(ask), epoch=0)
    assert decided.ruling is Ruling.OK
    consumed = await store.approvals.consume("default", ask.id, a_spending(ask), epoch=0)
    assert consumed.ruling is Ruling.OK
    again = await store.approvals.consume("default", ask.id, a_spending(ask, execution_id="exec-2"), epoch=0)
    assert again.ruling is Ruling.CONSUMED
    assert again.record is not None
    approval = again.record.approval()
    assert approval.status is Status.CONSUMED
    assert approval.consumption is not None
    assert approval.consumption.execution_id == "exec-1"
    assert [cast.at_ms for cast in approval.votes] == [T0_MS + 1_000]
    assert [entry.type for entry in again.record.trail()] == ["requested", "approved", "consumed", "refused"]
