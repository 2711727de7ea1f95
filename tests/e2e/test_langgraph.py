"""Agents of LangChain in processes of their own, which are killed where it hurts and started again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.client.refusals import UNKNOWN
from placet.domain.errors import ApprovalConsumed, ApprovalRejected
from tests.e2e.machines import Machine
from tests.e2e.stage import Stage
from tests.harness import record

pytestmark = [pytest.mark.e2e, pytest.mark.real]

USED = [ApprovalConsumed.message]
LOST = [UNKNOWN["message"]]
DONE = {"told": ["refunded"], "again": USED}
"""What is told of a call that has run, and where its thread is played again."""


@pytest.fixture
async def machine(service: Stage, tmp_path: Path) -> AsyncIterator[Machine]:
    """A machine, in a tenant of its own."""
    async with Machine.at_work(service, tmp_path, "tests.e2e.langgraph_agent") as machine:
        yield machine


@pytest.mark.parametrize("at", ["asked", "begun"])
async def test_what_was_killed_before_it_had_spent_runs_once(machine: Machine, at: str) -> None:
    """The thread is found again, and its question with its answer; played again, it has run."""
    assert await machine.run(at=at, decision="approve") == {"at": at}
    assert await machine.run() == DONE
    assert (len(machine.effects), await machine.outcome()) == (1, "succeeded")


async def test_what_was_killed_at_its_pause_goes_on_in_another_process(machine: Machine) -> None:
    """From the thread as it was saved; nobody is asked again."""
    assert await machine.run(at="paused") == {"at": "paused"}
    assert await machine.run(suspend=True) == {"paused": True}
    await machine.decide("approve")
    assert await machine.run() == DONE
    assert (len(machine.effects), await machine.outcome()) == (1, "succeeded")


@pytest.mark.parametrize(
    ("at", "effects", "after", "outcome"),
    [
        ("spent", 0, LOST, None),
        ("running", 1, LOST, None),
        ("ended", 1, USED, "succeeded"),
    ],
)
async def test_what_was_killed_does_not_run_again(
    machine: Machine, at: str, effects: int, after: list[str], outcome: str | None
) -> None:
    """Whether it had run or not, and the thread is played again or not."""
    assert await machine.run(at=at, decision="approve") == {"at": at}
    assert await machine.run() == {"told": after, "again": after}
    assert (len(machine.effects), await machine.outcome()) == (effects, outcome)


@pytest.mark.parametrize(("at", "effects"), [("spent", 1), ("running", 2)])
async def test_an_idempotent_tool_runs_again_under_its_key(machine: Machine, at: str, effects: int) -> None:
    """Until it is over."""
    assert await machine.run(at=at, decision="approve", idempotent=True) == {"at": at}
    assert await machine.run(idempotent=True) == DONE
    assert (len(machine.effects), len(set(machine.effects))) == (effects, 1)
    assert await machine.outcome() == "succeeded"


async def test_parallel_calls_are_decided_one_by_one(machine: Machine) -> None:
    """By their ids, each process going on with what was decided by then."""
    assert await machine.run(calls=3, suspend=True) == {"paused": True}
    shown = record(await machine.ann.list(status="pending"))["items"]
    asked = {each["input"]["order"]: each for each in [await machine.ann.seen(e["id"]) for e in shown]}
    record(await machine.ann.decide(asked["A-2"], "reject"))
    record(await machine.ann.decide(asked["A-3"], "approve"))
    assert await machine.run(calls=3, suspend=True) == {"paused": True}
    assert [each.split()[0] for each in machine.effects] == ["A-3"]
    record(await machine.ann.decide(asked["A-1"], "approve"))
    said = await machine.run(calls=3)
    assert said["told"] == ["refunded", ApprovalRejected.message, "refunded"]
    assert said["again"] == [*USED, ApprovalRejected.message, *USED]
    assert [each.split()[0] for each in machine.effects] == ["A-3", "A-1"]


async def test_a_rejection(machine: Machine) -> None:
    """Is one."""
    assert (await machine.run(decision="reject"))["told"] == [ApprovalRejected.message]
    assert not machine.effects
