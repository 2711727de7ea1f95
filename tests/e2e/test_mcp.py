"""A tool server that is killed where it hurts and started again, called by clients over stdio."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.e2e.machines import PATH, ROOT, Machine
from tests.e2e.stage import Stage
from tests.mcp_shop import code, text
from tests.tools import until

pytestmark = [pytest.mark.e2e, pytest.mark.real]


class Shop(Machine):
    """Where the tool server runs. It has a session with one client, and starts anew for the next."""

    @asynccontextmanager
    async def session(self, **orders: Any) -> AsyncIterator[Client]:
        """A client's session."""
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tests.e2e.mcp_agent"],
            env={"ORDERS": self.told(**orders), "PYTHONPATH": PATH},
            cwd=ROOT,
        )
        with self._log.open("w") as log:
            async with Client(stdio_client(parameters, errlog=log)) as client:
                yield client

    async def twice(self, **orders: Any) -> list[str]:
        """The call and once more, in a session of its own; what came of it."""
        async with self.session(**orders) as client:
            results = [await refund(client) for _ in range(2)]
        return [code(each) if each.is_error else text(each) for each in results]

    async def killed(self, at: str, **orders: Any) -> None:
        """Ask, have it approved, call again, and kill the server where it stops."""
        async with self.session(at=at, **orders) as client:
            assert code(await refund(client)) == "APPROVAL_REQUIRED"
            await self.decide("approve")
            calling = asyncio.ensure_future(refund(client))
            await until(lambda: f'{{"at": "{at}"}}' in self._log.read_text(), "it has stopped")
            self.kill()
            with pytest.raises(MCPError):
                await calling

    def kill(self) -> None:
        """Kill the server."""
        os.kill(int((self.directory / "pid").read_text()), signal.SIGKILL)

    @property
    def _log(self) -> Path:
        return self.directory / "log"


async def refund(client: Client) -> Any:
    """The call."""
    return await client.call_tool("refund", {"order": "A-1"})


@pytest.fixture
async def shop(service: Stage, tmp_path: Path) -> AsyncIterator[Shop]:
    """A machine, in a tenant of its own."""
    async with Shop.at_work(service, tmp_path, "tests.e2e.mcp_agent") as shop:
        yield shop


async def test_what_was_killed_while_the_question_waits_runs_once(shop: Shop) -> None:
    """For whoever comes after."""
    async with shop.session() as client:
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
        shop.kill()
    await shop.decide("approve")
    assert await shop.twice() == ["refunded", "APPROVAL_CONSUMED"]
    assert (len(shop.effects), await shop.outcome()) == (1, "succeeded")


@pytest.mark.parametrize("at", ["asked", "begun"])
async def test_what_was_killed_before_it_had_spent_runs_once(shop: Shop, at: str) -> None:
    """The question is found again, with its answer."""
    await shop.killed(at)
    assert await shop.twice() == ["refunded", "APPROVAL_CONSUMED"]
    assert (len(shop.effects), await shop.outcome()) == (1, "succeeded")


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
    shop: Shop, at: str, effects: int, after: str, outcome: str | None
) -> None:
    """Whether it had run or not; what the journal knows of its end is reported after all."""
    await shop.killed(at)
    assert await shop.twice() == [after] * 2
    assert (len(shop.effects), await shop.outcome()) == (effects, outcome)


@pytest.mark.parametrize(("at", "effects"), [("spent", 1), ("running", 2)])
async def test_an_idempotent_tool_runs_again_under_its_key(shop: Shop, at: str, effects: int) -> None:
    """Until it is over."""
    await shop.killed(at, idempotent=True)
    assert await shop.twice(idempotent=True) == ["refunded", "APPROVAL_CONSUMED"]
    assert (len(shop.effects), len(set(shop.effects))) == (effects, 1)
    assert await shop.outcome() == "succeeded"
