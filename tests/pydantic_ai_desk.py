"""Agents of pydantic-ai before the service in this process, and a model that does as its script says."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RunContext,
    TextPart,
    ToolCallPart,
    models,
)
from pydantic_ai.messages import ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from placet.client.pydantic_ai import Approvals
from tests.harness import Harness, Party, record
from tests.hooks import AGENT, People, Runtime

models.ALLOW_MODEL_REQUESTS = False


def call(tool: str, call_id: str = "c-1", **args: Any) -> ToolCallPart:
    """A call of a tool."""
    return ToolCallPart(tool, args, tool_call_id=call_id)


A1, A2, A3 = (call("refund", f"c-{n}", order=f"A-{n}", amount=n) for n in (1, 2, 3))


class Scripted:
    """A model that calls tools as its script says, a step each turn, and then says that it is done.

    Attributes:
        model: The model.
        tools: What it was told of tools.
        heard: The results that it was given.
        told: What else it was told in the course of it.
    """

    def __init__(self, *steps: Sequence[ToolCallPart]) -> None:
        self._steps = steps
        self.model = FunctionModel(self._says, stream_function=self._streams)
        self.tools: list[Any] = []
        self.heard: list[ToolReturnPart] = []
        self.told: list[str] = []

    @property
    def answers(self) -> list[tuple[Any, str]]:
        """The results and how each is called, in the order of calls."""
        return [
            (each.content, each.outcome) for each in sorted(self.heard, key=lambda each: each.tool_call_id)
        ]

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> Sequence[ToolCallPart]:
        self.tools = info.function_tools
        parts = [part for each in messages if isinstance(each, ModelRequest) for part in each.parts]
        self.heard = [each for each in parts if isinstance(each, ToolReturnPart)]
        self.told = [str(each.content) for each in parts if isinstance(each, UserPromptPart)][1:]
        said = sum(isinstance(each, ModelResponse) for each in messages)
        return self._steps[said] if said < len(self._steps) else ()

    def _says(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        calls = self._next(messages, info)
        return ModelResponse(parts=list(calls) or [TextPart("It is done.")])

    async def _streams(
        self, messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        calls = self._next(messages, info)
        if not calls:
            yield "It is done."
        for index, each in enumerate(calls):
            args = json.dumps(each.args)
            yield {index: DeltaToolCall(each.tool_name, args, tool_call_id=each.tool_call_id)}


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
