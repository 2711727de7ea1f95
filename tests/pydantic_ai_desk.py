"""An agent of pydantic-ai before the service in this process, and who approves."""

import json
from collections.abc import Callable
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, RunContext

from placet.client.pydantic_ai import Approvals
from tests.harness import Harness, Party, record
from tests.hooks import AGENT, People, Runtime
from tests.pydantic_ai_script import Scripted, call

A1, A2, A3 = (call("refund", f"c-{n}", order=f"A-{n}", amount=n) for n in (1, 2, 3))


class Desk:
    """An agent's process, and who approves.

    Attributes:
        ran: What tools were called with.
    """

    def __init__(self, h: Harness, party: Party, ann: Party) -> None:
        self.h, self.party, self.people = h, party, People(ann)
        self.runtime = Runtime(h, party, "async")
        self.approvals = Approvals(self.runtime.hook, actor=AGENT)
        self.ran: list[Any] = []

    def again(self) -> "Desk":
        """Another process of the same agent's."""
        return Desk(self.h, self.party, self.people.ann)

    def agent(self, script: Scripted, *tools: Any, **options: Any) -> Agent[Any, Any]:
        """One that may pause; without tools it has its refund."""
        given = tools or ([] if options.get("toolsets") else [self.gated(self.refund)])
        return Agent(script.model, output_type=[str, DeferredToolRequests], tools=given, **options)

    def gated(self, function: Callable[..., Any], **said: Any) -> Any:
        """A function as a tool."""
        options: Any = {"effect": "external", **said}
        return self.approvals.requires_approval("orders.refund", **options)(function)

    def refund(self, ctx: RunContext[Any], order: str, amount: int = 5) -> str:
        """The tool."""
        self.ran.append((order, amount))
        return f"refunded {amount}"

    async def records(self) -> list[dict[str, Any]]:
        """All there were asked, by order."""
        items = record(await self.party.list())["items"]
        seen = [await self.party.seen(each["id"]) for each in items]
        return sorted(seen, key=lambda each: json.dumps(each["input"]))

    async def decides(self, number: int, decision: str = "approve", **members: Any) -> None:
        """Decide on one of them."""
        record(await self.people.ann.decide((await self.records())[number], decision, **members))

    async def goes_on(self, agent: Agent[Any, Any], paused: Any, *, timeout_s: float | None = None) -> Any:
        """Go on with a run that is paused; what comes of it."""
        decided = await self.approvals.results(paused.output, timeout_s=timeout_s)
        done = await agent.run(conversation=paused.conversation, deferred_tool_results=decided)
        await self.runtime.settle()
        return done
