"""The examples, as the README shows them: programs of their own, before a real service."""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.machines import ROOT
from tests.e2e.processes import WITHIN_S, environment
from tests.e2e.stage import alone, casting
from tests.harness import Party, record

pytestmark = [pytest.mark.e2e, pytest.mark.real]

README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = re.compile(r"^# \[readme\]\n(.*?\n)\n*# \[/readme\]$", re.DOTALL | re.MULTILINE)
FOLDER = Path(__file__).parent / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))

TOLD = "INFO:placet.client.hook:"
"""How a line begins that says who is waited for."""
QUESTION = {"capability": "orders.refund", "input": {"order": "A-1042", "amount": 5}}
"""What each asks."""


class Company:
    """A service, and who takes part.

    Args:
        url: Where it is.
        agent: The client ``agent``, that asks.
        server: The client ``tool-server``, for which one of them asks.
        ann: Who approves.
    """

    def __init__(self, url: str, agent: Party, server: Party, ann: Party) -> None:
        self.agent, self.ann = agent, ann
        self._variables = {
            "PLACET_URL": url,
            "PLACET_TOKEN": agent.credential,
            "SERVER_TOKEN": server.credential,
            "PYTHONPATH": str(ROOT / "service"),
        }

    async def play(self, example: Path, decision: str) -> str:
        """Run an example while somebody decides all that it asks; what it prints."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(example),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(self._variables),
        )
        deciding = asyncio.create_task(self._decide(decision))
        try:
            async with asyncio.timeout(WITHIN_S):
                said, complained = await process.communicate()
        finally:
            deciding.cancel()
            if process.returncode is None:
                process.kill()
                await process.wait()
        told = complained.decode().splitlines()
        assert (process.returncode, [line for line in told if not line.startswith(TOLD)]) == (0, [])
        return said.decode()

    async def _decide(self, decision: str) -> None:
        while True:
            for item in record(await self.ann.list(status="pending"))["items"]:
                seen = await self.ann.seen(item["id"])
                record(await self.ann.decide(seen, decision, comment="By Ann."))
            await asyncio.sleep(0.05)


@pytest.fixture
async def company() -> AsyncIterator[Company]:
    """A fresh one, in the tenant that clients are in if nobody says otherwise."""
    with alone() as stage:
        async with casting(stage) as cast:
            cast.tenant = "default"
            [agent], [server], [ann] = (
                await cast.client("agent"),
                await cast.client("tool-server", "consume"),
                await cast.approver(),
            )
            yield Company(stage.replicas[0].url, agent, server, ann)


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.stem for each in EXAMPLES])
@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_an_example_runs_what_was_approved(company: Company, example: Path, decision: str) -> None:
    """And nothing else: one question, one execution, and a model that is told."""
    said = await company.play(example, decision)
    [item] = record(await company.agent.list())["items"]
    seen = await company.ann.seen(item["id"])
    assert {name: seen[name] for name in QUESTION} == QUESTION
    if decision == "approve":
        assert "refunded 5 of A-1042" in said
        assert (seen["status"], seen["outcome"]["status"]) == ("consumed", "succeeded")
    else:
        assert "refunded" not in said
        assert "An approver rejected this action. Do not try it again" in said
        assert seen["status"] == "rejected"


@pytest.mark.parametrize("example", EXAMPLES, ids=[each.stem for each in EXAMPLES])
def test_the_readme_shows_it(example: Path) -> None:
    """As it runs."""
    lines = "\n".join(SHOWN.findall(example.read_text()))
    shown = f"<!-- example: {example.stem} -->\n```python\n{lines}```\n"
    assert len(shown.splitlines()) > 3
    assert shown in README
