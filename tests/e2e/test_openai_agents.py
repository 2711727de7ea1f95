"""Agents of the OpenAI Agents SDK in processes of their own, which are killed where it hurts and go on."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from placet.client.hook import ApprovalRefused
from placet.client.refusals import UNKNOWN
from placet.domain.errors import ApprovalConsumed
from tests.e2e.machines import Machine
from tests.e2e.stage import Stage
from tests.harness import record

pytestmark = [pytest.mark.e2e, pytest.mark.real]

DONE = {"says": "refunded A-1"}
SPENT = {"says": ApprovalRefused(ApprovalConsumed()).text}
LOST = {"says": UNKNOWN["message"]}


@pytest.fixture
async def machine(service: Stage, tmp_path: Path) -> AsyncIterator[Machine]:
    """A machine, in a tenant of its own."""
    async with Machine.at_work(service, tmp_path, "tests.e2e.openai_agents_agent") as machine:
        yield machine


async def test_what_was_killed_before_it_had_spent_runs_once(machine: Machine) -> None:
    """However often that happens, and however often the run goes on from the state that was kept."""
    assert await machine.run(at="paused") == {"at": "paused"}
    assert await machine.run(at="asked", decision="approve") == {"at": "asked"}
    assert await machine.run(at="begun") == {"at": "begun"}
    assert await machine.run(forgets=True) == DONE
    assert await machine.run() == SPENT
    assert (len(machine.effects), await machine.outcome()) == (1, "succeeded")


@pytest.mark.parametrize(
    ("at", "effects", "after", "outcome"),
    [("spent", 0, LOST, None), ("running", 1, LOST, None), ("ended", 1, SPENT, "succeeded")],
)
async def test_what_was_killed_does_not_run_again(
    machine: Machine, at: str, effects: int, after: dict[str, str], outcome: str | None
) -> None:
    """Whether it had run or not; the model hears which."""
    assert await machine.run(at=at, decision="approve") == {"at": at}
    assert await machine.run() == after
    assert (len(machine.effects), await machine.outcome()) == (effects, outcome)


async def test_an_idempotent_tool_runs_again_under_its_key(machine: Machine) -> None:
    """Until it is over."""
    assert await machine.run(at="spent", decision="approve", idempotent=True) == {"at": "spent"}
    assert await machine.run(at="running", idempotent=True) == {"at": "running"}
    assert await machine.run(idempotent=True) == DONE
    assert (len(machine.effects), len(set(machine.effects))) == (2, 1)
    assert await machine.outcome() == "succeeded"


async def test_of_several_calls_each_is_decided(machine: Machine) -> None:
    """By its id, in another process than asked: one runs, one is rejected, one waits."""
    assert await machine.run(calls=3, suspend=True) == {"waits": ["A-1", "B-2", "C-3"]}
    pending = record(await machine.ann.list(status="pending"))["items"]
    asked = {each["input"]["order"]: each["id"] for each in pending}
    for order, decision in (("B-2", "reject"), ("A-1", "approve")):
        record(await machine.ann.decide(await machine.ann.seen(asked[order]), decision))
    assert await machine.run(calls=3, suspend=True) == {"waits": ["C-3"]}
    assert [each.split()[0] for each in machine.effects] == ["A-1"]
