"""An agent of pydantic-ai in processes of its own, which are killed where it hurts and started again."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from placet.client.refusals import UNKNOWN
from tests.e2e.machines import Machine
from tests.e2e.stage import Stage
from tests.harness import record

pytestmark = [pytest.mark.e2e, pytest.mark.real]

DONE = [["refunded A-1", "success"]]
USED = [["This approval was used already. Do not repeat the action.", "failed"]]
LOOK = [[UNKNOWN["message"], "failed"]]


class Desk:
    """Where the agent runs, and who decides."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    async def run(self, **orders: Any) -> Any:
        """Let the agent run, and go on twice with the same pause; what it said."""
        told = {"orders": ["A-1"], "timeout_s": 30, "keeps": False, "times": 2, **orders}
        return await self.machine.run(**told)

    async def decide(self, order: str, decision: str, **members: Any) -> None:
        """Decide on the call for an order."""
        ann = self.machine.ann
        items = record(await ann.list(status="pending"))["items"]
        seen = [await ann.seen(each["id"]) for each in items]
        [asked] = [each for each in seen if each["input"] == {"order": order}]
        record(await ann.decide(asked, decision, **members))


@pytest.fixture
async def desk(service: Stage, tmp_path: Path) -> AsyncIterator[Desk]:
    """A machine, in a tenant of its own."""
    async with Machine.at_work(service, tmp_path, "tests.e2e.pydantic_ai_agent") as machine:
        yield Desk(machine)


@pytest.mark.parametrize("at", ["asked", "begun"])
async def test_what_was_killed_before_it_had_spent_runs_once(desk: Desk, at: str) -> None:
    """The conversation is gone on with, and the question is found again, with its answer."""
    assert await desk.run(at=at, decision="approve") == {"at": at}
    assert await desk.run() == {"answers": [DONE, USED]}
    assert (len(desk.machine.effects), await desk.machine.outcome()) == (1, "succeeded")


@pytest.mark.parametrize(
    ("at", "effects", "after", "outcome"),
    [
        ("spent", 0, LOOK, None),
        ("running", 1, LOOK, None),
        ("ended", 1, USED, "succeeded"),
    ],
)
async def test_what_was_killed_does_not_run_again(
    desk: Desk, at: str, effects: int, after: Any, outcome: str | None
) -> None:
    """Whether it had run or not; the model reads that a person has to look, or that it was done."""
    assert await desk.run(at=at, decision="approve") == {"at": at}
    assert await desk.run() == {"answers": [after, after]}
    assert (len(desk.machine.effects), await desk.machine.outcome()) == (effects, outcome)


@pytest.mark.parametrize(("at", "effects"), [("spent", 1), ("running", 2)])
async def test_an_idempotent_tool_runs_again_under_its_key(desk: Desk, at: str, effects: int) -> None:
    """Until it is over."""
    assert await desk.run(at=at, decision="approve", idempotent=True) == {"at": at}
    assert await desk.run(idempotent=True) == {"answers": [DONE, USED]}
    assert (len(desk.machine.effects), len(set(desk.machine.effects))) == (effects, 1)
    assert await desk.machine.outcome() == "succeeded"


async def test_what_was_killed_at_the_pause_goes_on_call_by_call(desk: Desk) -> None:
    """In three processes: one call is approved, one rejected, and the third is decided later."""
    orders: Any = {"orders": ["A-1", "A-2", "A-3"], "keeps": True, "times": 1}
    assert await desk.run(at="paused", **orders) == {"at": "paused"}
    await desk.decide("A-2", "reject", comment="Too late.")
    await desk.decide("A-1", "approve")
    assert await desk.run(timeout_s=0, **orders) == {"answers": [[]]}
    assert [each.split()[0] for each in desk.machine.effects] == ["A-1"]
    await desk.decide("A-3", "approve")
    [answers] = (await desk.run(**orders))["answers"]
    assert [how for _, how in answers] == ["success", "denied", "success"]
    assert answers[1][0].endswith('An approver said: "Too late."')
    assert [each.split()[0] for each in desk.machine.effects] == ["A-1", "A-3"]
