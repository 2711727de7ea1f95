"""An agent of pydantic-ai with one tool, as a process that goes on with the conversation that it finds."""

import asyncio
from pathlib import Path
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, RunContext
from pydantic_ai.conversation import Conversation, ConversationTypeAdapter

from placet.client.pydantic_ai import Approvals
from tests.e2e.stopping import AGENT, Orders, say, stop
from tests.pydantic_ai_script import Scripted, call


class Kept:
    """A conversation that outlives its process."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / "conversation"

    def read(self) -> Conversation | None:
        """It, where there is one."""
        if not self._file.exists():
            return None
        return ConversationTypeAdapter.validate_json(self._file.read_bytes())

    def write(self, conversation: Conversation) -> None:
        """Keep it."""
        self._file.write_bytes(ConversationTypeAdapter.dump_json(conversation))


def agent_of(orders: Orders, script: Scripted, approvals: Approvals) -> Agent[Any, Any]:
    """The agent."""
    agent: Agent[Any, Any] = Agent(script.model, output_type=[str, DeferredToolRequests])

    @agent.tool
    @approvals.requires_approval("orders.refund", effect="external", key="key", idempotent=orders.idempotent)
    def refund(ctx: RunContext[None], order: str, *, key: str = "") -> str:
        orders.run(order, key)
        return f"refunded {order}"

    return agent


async def main() -> None:
    """A run until it pauses, or what is left of it, as often as told; says what the model was answered."""
    orders = Orders()
    kept = Kept(orders.directory)
    script = Scripted([call("refund", f"c-{order}", order=order) for order in orders.said["orders"]])
    answers = []
    async with orders.async_hook() as hook:
        approvals = Approvals(hook, actor=AGENT)
        agent = agent_of(orders, script, approvals)
        if kept.read() is None:
            kept.write((await agent.run("Refund them.")).conversation)
            stop("paused", orders.at)
        for _ in range(orders.said["times"]):
            conversation = kept.read()
            assert conversation is not None
            assert conversation.deferred_tool_requests is not None
            requests, limit = conversation.deferred_tool_requests, orders.said["timeout_s"]
            decided = await approvals.results(requests, timeout_s=limit)
            result = await agent.run(conversation=conversation, deferred_tool_results=decided)
            answers.append(script.answers)
            if orders.said["keeps"]:
                kept.write(result.conversation)
    say(answers=answers)


if __name__ == "__main__":
    asyncio.run(main())
