"""A machine on which an agent's process runs, again and again, and is killed where it stops."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from tests.e2e.processes import WITHIN_S
from tests.e2e.stage import Cast, Stage, casting
from tests.harness import Party, record

ROOT = Path(__file__).parents[2]
PATH = os.pathsep.join([str(ROOT / "service"), str(ROOT)])
"""Where its processes find their modules."""


class Machine:
    """Where the agent runs.

    Args:
        stage: Where the service is.
        cast: Who takes part.
        party: The runtime.
        ann: Who approves.
        directory: What outlives its processes.
        module: The agent.
    """

    def __init__(
        self, stage: Stage, cast: Cast, party: Party, ann: Party, directory: Path, module: str
    ) -> None:
        self.party, self.ann, self.directory = party, ann, directory
        self._module = module
        url = stage.replicas[0].url
        self._orders = {
            "url": url,
            "issuer": url,
            "credential": party.credential,
            "tenant": cast.tenant,
            "directory": str(directory),
        }

    @classmethod
    @asynccontextmanager
    async def at_work(cls, stage: Stage, directory: Path, module: str) -> AsyncIterator[Self]:
        """One in a tenant of its own."""
        async with casting(stage) as cast:
            [party], [ann] = await cast.client(), await cast.approver()
            yield cls(stage, cast, party, ann, directory, module)

    def told(self, **orders: Any) -> str:
        """Orders, as a line."""
        usual = {"at": None, "idempotent": False, "suspend": False, "handle": None}
        return json.dumps({**self._orders, **usual, **orders})

    async def run(self, *, at: str | None = None, decision: str | None = None, **orders: Any) -> Any:
        """Let it make its call, and kill it if it stops; what it said."""
        told = self.told(at=at, **orders)
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            self._module,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": PATH},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(told.encode() + b"\n")
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

    async def decide(self, decision: str, **members: Any) -> dict[str, Any]:
        """Decide what comes; the record."""
        found: list[dict[str, Any]] = []
        while not found:
            found = record(await self.ann.list(status="pending"))["items"]
            await asyncio.sleep(0.02)
        decided: dict[str, Any] = record(await self.ann.decide(found[0], decision, **members))
        return decided

    @property
    def effects(self) -> list[str]:
        """What the tool did."""
        file = self.directory / "effects"
        return file.read_text().splitlines() if file.exists() else []

    async def outcome(self) -> Any:
        """What was reported."""
        [item] = record(await self.party.list())["items"]
        return ((await self.party.seen(item["id"]))["outcome"] or {}).get("status")
