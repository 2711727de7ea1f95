"""The hook in processes of its own, which are killed where it hurts and started again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.machines import Machine
from tests.e2e.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.real]


@pytest.fixture
async def machine(service: Stage, tmp_path: Path) -> AsyncIterator[Machine]:
    """A machine, in a tenant of its own."""
    async with Machine.at_work(service, tmp_path, "tests.e2e.hooked") as machine:
        yield machine


@pytest.mark.parametrize("at", ["asked", "begun"])
async def test_what_was_killed_before_it_had_spent_runs_once(machine: Machine, at: str) -> None:
    """The question is found again, with its answer."""
    assert await machine.run(at=at, decision="approve") == {"at": at}
    assert await machine.run() == {"done": True}
    assert await machine.run() == {"refused": "APPROVAL_CONSUMED"}
    assert (len(machine.effects), await machine.outcome()) == (1, "succeeded")


@pytest.mark.parametrize(
    ("at", "effects", "after", "outcome"),
    [
        ("spent", 0, "EXECUTION_UNKNOWN", None),
        ("running", 1, "EXECUTION_UNKNOWN", None),
        ("ended", 1, "APPROVAL_CONSUMED", "succeeded"),
        ("reported", 1, "APPROVAL_CONSUMED", "succeeded"),
    ],
)
async def test_what_was_killed_does_not_run_again(
    machine: Machine, at: str, effects: int, after: str, outcome: str | None
) -> None:
    """Whether it had run or not; what the journal knows of its end is reported after all."""
    assert await machine.run(at=at, decision="approve") == {"at": at}
    for _ in range(2):
        assert await machine.run() == {"refused": after}
    assert (len(machine.effects), await machine.outcome()) == (effects, outcome)


@pytest.mark.parametrize(("at", "effects"), [("spent", 1), ("running", 2)])
async def test_an_idempotent_tool_runs_again_under_its_key(machine: Machine, at: str, effects: int) -> None:
    """Until it is over."""
    assert await machine.run(at=at, decision="approve", idempotent=True) == {"at": at}
    assert await machine.run(idempotent=True) == {"done": True}
    assert await machine.run(idempotent=True) == {"refused": "APPROVAL_CONSUMED"}
    assert (len(machine.effects), len(set(machine.effects))) == (effects, 1)
    assert await machine.outcome() == "succeeded"


async def test_what_was_suspended_goes_on_in_another_process(machine: Machine) -> None:
    """By its handle; once."""
    handle = (await machine.run(suspend=True))["handle"]
    assert (await machine.run(suspend=True, handle=handle))["handle"] == handle
    await machine.decide("approve")
    assert await machine.run(handle=handle) == {"done": True}
    assert await machine.run(handle=handle) == {"refused": "APPROVAL_CONSUMED"}
    assert (len(machine.effects), await machine.outcome()) == (1, "succeeded")


async def test_a_rejection(machine: Machine) -> None:
    """Is one."""
    assert await machine.run(decision="reject") == {"refused": "APPROVAL_REJECTED"}
    assert not machine.effects
