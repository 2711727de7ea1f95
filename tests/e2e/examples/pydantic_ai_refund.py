"""An agent of pydantic-ai with one tool. In PLACET_TOKEN, the credential of a client named ``agent``."""

# [readme]
import asyncio
import os

from pydantic_ai import Agent, DeferredToolRequests, RunContext

from placet.client import Actor, AsyncClient
from placet.client.hook import Hook
from placet.client.pydantic_ai import Approvals

# [/readme]
# isort: split
from pydantic_ai import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.messages import ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """In place of a model: it calls the tool, and then says what it was answered."""
    told = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
    if told:
        return ModelResponse([TextPart(f"I was told: {told[-1].content}")])
    return ModelResponse([ToolCallPart("refund", {"order": "A-1042"})])


model = FunctionModel(script)

# [readme]
placet = AsyncClient(os.environ["PLACET_URL"], os.environ["PLACET_TOKEN"])
hook = Hook(placet, audience="agent")
approvals = Approvals(hook, actor=Actor(id="agent-7", kind="agent"))
agent = Agent(model, output_type=[str, DeferredToolRequests])


@approvals.tool(agent.tool, "orders.refund", effect="external", risk="high")
async def refund(ctx: RunContext, order: str, amount: int = 5) -> str:
    return f"refunded {amount} of {order}"


async def main() -> None:
    async with placet, hook:
        result = await agent.run("Refund order A-1042.")
        while isinstance(result.output, DeferredToolRequests):  # paused; result.conversation can be kept
            decided = await approvals.results(result.output)
            result = await agent.run(conversation=result.conversation, deferred_tool_results=decided)
        print(result.output)


asyncio.run(main())
# [/readme]
