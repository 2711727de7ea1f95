"""A tool server before the service in this process, and a person who approves."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult

from placet.client import Actor
from placet.client.hook import FileJournal
from placet.client.mcp import Approvals
from tests.harness import Harness, Party, record
from tests.hooks import AGENT, People, Runtime

CALL = {"order": "A-1", "amount": 5}


class Shop:
    """A tool server, which can be opened several times: as after a restart, or side by side.

    Attributes:
        people: Who approve.
        ran: What the tool was called with.
        actor: For whom calls are.
        runtime: The process that was opened last.
    """

    def __init__(self, h: Harness, party: Party, ann: Party, directory: Path) -> None:
        self.h, self.party, self.people = h, party, People(ann)
        self.ran: list[Any] = []
        self.actor: Actor = AGENT
        self.runtime: Runtime
        self._journal = directory / "journal"

    @asynccontextmanager
    async def opened(
        self,
        body: Callable[..., Any] | None = None,
        *,
        again_after_s: float = 300,
        run: Any = None,
        journaled: bool = False,
        mode: str = "auto",
        **said: Any,
    ) -> AsyncIterator[Client]:
        """A client of a new process of the server."""

        def refund(order: str, amount: int = 5) -> str:
            """Give money back."""
            self.ran.append((order, amount))
            return f"refunded {amount} of {order}"

        journal = FileJournal(self._journal) if journaled else None
        runtime = self.process(journal)
        approvals = Approvals(runtime.hook, actor=lambda _: self.actor, run=run, again_after_s=again_after_s)
        server = MCPServer("shop", log_level="CRITICAL")
        gated = approvals.requires_approval("orders.refund", **{"effect": "write", **said})
        server.tool(name="refund")(gated(body or refund))
        try:
            async with Client(server, mode=mode) as client:
                yield client
        finally:
            await runtime.settle()
            if journal is not None:
                journal.close()

    def process(self, journal: FileJournal | None = None) -> Runtime:
        """A new process, with a hook."""
        self.runtime = Runtime(self.h, self.party, "async", journal)
        return self.runtime

    async def questions(self) -> list[dict[str, Any]]:
        """All that was asked, the newest first."""
        items: list[dict[str, Any]] = record(await self.party.list())["items"]
        return items

    async def asked(self) -> dict[str, Any]:
        """The only question."""
        [item] = await self.questions()
        return await self.party.seen(item["id"])


def code(result: CallToolResult) -> str:
    """Why a call did not run."""
    assert result.is_error
    assert result.structured_content is not None
    return str(result.structured_content["code"])


def text(result: CallToolResult) -> str:
    """What a model reads."""
    return "\n".join(getattr(each, "text", "") for each in result.content)


async def refund(client: Client, **changes: Any) -> CallToolResult:
    """The call."""
    return await client.call_tool("refund", {**CALL, **changes})


async def both(*calls: Any) -> list[Any]:
    """At once."""
    return list(await asyncio.gather(*calls))
