"""The hook in processes of its own, which are killed where it hurts and started again."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.processes import WITHIN_S
from tests.e2e.stage import Cast, Stage, alone, casting
from tests.harness import Party, record

pytestmark = [pytest.mark.e2e, pytest.mark.real]

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def service() -> Iterator[Stage]:
    """One service over its own store."""
    with alone() as stage:
        yield stage


class Machine:
    """Where the agent runs, again and again."""

    def __init__(self, stage: Stage, cast: Cast, party: Party, ann: Party, directory: Path) -> None:
        self.party, self.ann, self.directory = party, ann, directory
        url = stage.replicas[0].url
        self._orders = {
            "url": url,
            "issuer": url,
            "credential": party.credential,
            "tenant": cast.tenant,
            "directory": str(directory),
        }

    async def run(self, *, at: str | None = None, decision: str | None = None, **orders: Any) -> Any:
        """Let it make its call, and kill it if it stops; what it said."""
        told = {**self._orders, "at": at, "idempotent": False, "suspend": False, "handle": None, **orders}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.e2e.hooked",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "service"), str(ROOT)])},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(told).encode() + b"\n")
            async with asyncio.timeout(WITHIN_S):
                if decision is not None:
                    await self.decide(decision)
                said = json.loads(await process.stdout.readline())
                if at is None:
                    assert await process.wait() == 0
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
        return said

    async def decide(self, decision: str) -> None:
        """Decide what comes."""
        found: list[dict[str, Any]] = []
        while not found:
            found = record(await self.ann.list(status="pending"))["items"]
            await asyncio.sleep(0.02)
        record(await self.ann.decide(found[0], decision))

    @property
    def effects(self) -> list[str]:
        """What the tool did."""
        file = self.directory / "effects"
        return file.read_text().splitlines() if file.exists() else []

    async def outcome(self) -> Any:
        """What was reported."""
        [item] = record(await self.party.list())["items"]
        return ((await self.party.seen(item["id"]))["outcome"] or {}).get("status")


@pytest.fixture
async def machine(service: Stage, tmp_path: Path) -> AsyncIterator[Machine]:
    """A machine, in a tenant of its own."""
    async with casting(service) as cast:
        [party], [ann] = await cast.client(), await cast.approver()
        yield Machine(service, cast, party, ann, tmp_path)


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
