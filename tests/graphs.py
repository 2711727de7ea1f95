"""A runtime with graphs of LangGraph before the service in this process, and who approves."""

import asyncio
from typing import Any, Self

from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from placet.client.hook import Journal
from placet.client.langgraph import Approvals, SyncApprovals
from tests.chat_models import Scripted, call
from tests.harness import Harness, Party, record
from tests.hooks import AGENT, People, Runtime

THREAD: Any = {"configurable": {"thread_id": "t-1"}}
ASK: Any = {"messages": [("user", "refund A-1")]}
ONE = [call("refund", "c-1", order="A-1")]
THREE = [call("refund", f"c-{n}", order=f"A-{n}") for n in (1, 2, 3)]


class Office:
    """A runtime with graphs.

    Attributes:
        ran: What tools were called with.
        saver: What outlives a process.
        runtime: The process.
    """

    def __init__(self, h: Harness, face: str, party: Party, ann: Party) -> None:
        self.h, self.face, self.party, self.ann = h, face, party, ann
        self.people = People(ann)
        self.ran: list[Any] = []
        self.saver = InMemorySaver()
        self.runtime = Runtime(h, party, face)

    @classmethod
    async def of(cls, h: Harness, face: str) -> Self:
        """One whose service runs."""
        h.services.store.stream.start()
        return cls(h, face, await h.client(), await h.approver())

    def restart(self, journal: Journal | None = None) -> None:
        """Another process."""
        self.runtime = Runtime(self.h, self.party, self.face, journal)

    @property
    def is_async(self) -> bool:
        """Which face it has."""
        return self.face == "async"

    def approvals(self, **said: Any) -> Any:
        """The adapter."""
        kind: Any = Approvals if self.is_async else SyncApprovals
        return kind(self.runtime.hook, **{"actor": AGENT, **said})

    def refund(self, order: str, amount: int = 5) -> str:
        """Refund an order."""
        self.ran.append((order, amount))
        return f"refunded {amount} of {order}"

    def tool(self, body: Any = None, **said: Any) -> BaseTool:
        """A gated tool."""
        gate = self.approvals().requires_approval("orders.refund", **{"effect": "write", **said})
        tool: BaseTool = gate(body or self.refund)
        return tool

    def agent(self, *turns: Any, tools: Any = None, **said: Any) -> Any:
        """An agent whose model makes these calls, one turn after another."""
        model = Scripted(turns=list(turns))
        options = {"checkpointer": self.saver, **said}
        return create_agent(model, [self.tool()] if tools is None else tools, **options)

    def graph(self, called: Any, acalled: Any, **said: Any) -> Any:
        """A graph of one node, of the face's kind."""
        node = acalled if self.is_async else called
        builder = StateGraph(MessagesState).add_node("first", node, **said)
        return builder.add_edge(START, "first").compile(checkpointer=self.saver)

    async def play(self, graph: Any, value: Any = ASK, config: Any = THREAD, **said: Any) -> Any:
        """Run a graph on, until it ends or pauses."""
        try:
            if self.is_async:
                return await graph.ainvoke(value, config, **said)
            return await asyncio.to_thread(graph.invoke, value, config, **said)
        finally:
            await self.runtime.settle()

    async def decided(self, found: Any, **said: Any) -> Any:
        """Wait for people; what to go on with."""
        decided = self.approvals().decided
        return await (decided(found, **said) if self.is_async else asyncio.to_thread(decided, found, **said))

    async def played(self, graph: Any, *decisions: str, config: Any = THREAD, **members: Any) -> Any:
        """Run a graph to its end: at each pause the next question is decided, and it goes on."""
        found = await self.play(graph, config=config)
        for decision in decisions:
            await self.people.decide(decision, **members)
            found = await self.play(graph, await self.decided(found), config)
        assert "__interrupt__" not in found
        return found

    async def questions(self) -> dict[str, Any]:
        """All there are, by the order they are about."""
        items = record(await self.party.list())["items"]
        seen = [await self.party.seen(each["id"]) for each in items]
        return {each["input"].get("order", ""): each for each in seen}

    async def only(self) -> dict[str, Any]:
        """The one question there is."""
        [item] = record(await self.party.list())["items"]
        return await self.party.seen(item["id"])


def answers(found: Any) -> dict[str, ToolMessage]:
    """What tools answered, by their calls."""
    messages = found["messages"]
    return {each.tool_call_id: each for each in messages if isinstance(each, ToolMessage)}


def pauses(found: Any) -> dict[str, Any]:
    """What it has paused with, by the call: the interrupts."""
    return {each.value["tool_call_id"]: each for each in found["__interrupt__"]}
