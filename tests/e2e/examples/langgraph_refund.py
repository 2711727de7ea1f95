"""An agent of LangChain with a gated tool. In PLACET_TOKEN, the credential of a client ``agent``."""

# [readme]
import asyncio
import os
from uuid import uuid4

from langchain.agents import create_agent

# [/readme]
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

# [readme]
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from placet.client import Actor, AsyncClient
from placet.client.hook import Hook
from placet.client.langgraph import Approvals

# [/readme]


class Scripted(BaseChatModel):
    """Stands for a model: it calls the tool, and then says what that has answered."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: object, **_: object) -> "Scripted":
        """It knows them already."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        said = AIMessage(messages[-1].content)
        if not isinstance(messages[-1], ToolMessage):
            said = AIMessage("", tool_calls=[{"name": "refund", "args": {"order": "A-1042"}, "id": "call-1"}])
        return ChatResult(generations=[ChatGeneration(message=said)])


model = Scripted()
# [readme]
placet = AsyncClient(os.environ["PLACET_URL"], os.environ["PLACET_TOKEN"])
hook = Hook(placet, audience="agent")
approvals = Approvals(hook, actor=Actor(id="agent-7", kind="agent"))


@approvals.requires_approval("orders.refund", effect="external", risk="high")
def refund(order: str, amount: int = 5) -> str:
    """Refund an order."""
    return f"refunded {amount} of {order}"


async def main() -> None:
    agent = create_agent(model, tools=[refund], checkpointer=InMemorySaver())
    thread = RunnableConfig(configurable={"thread_id": f"thread-{uuid4()}"})
    async with placet, hook:
        answer = await agent.ainvoke({"messages": [{"role": "user", "content": "Refund A-1042."}]}, thread)
        while command := await approvals.decided(answer):
            answer = await agent.ainvoke(command, thread)
    print(answer["messages"][-1].content)


asyncio.run(main())
# [/readme]
