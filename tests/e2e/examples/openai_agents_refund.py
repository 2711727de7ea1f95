"""An agent of the OpenAI Agents SDK. In PLACET_TOKEN, the credential of a client named ``agent``."""

# [readme]
import asyncio
import os
from uuid import uuid4

from agents import Agent, Runner, set_tracing_disabled

from placet.client import Actor, AsyncClient
from placet.client.hook import Hook
from placet.client.openai_agents import Approvals

# [/readme]
# isort: split
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

call = function_call("refund", {"order": "A-1042"}, call_id="call-1")
says = ModelStep.respond(lambda asked: [assistant_message(asked.input[-1]["output"])])
model = ScriptedModel([[call], says])  # in place of a real one, to run offline

# [readme]
set_tracing_disabled(True)  # tracing sends what tools are given and give to the SDK's vendor
placet = AsyncClient(os.environ["PLACET_URL"], os.environ["PLACET_TOKEN"])
hook = Hook(placet, audience="agent")
approvals = Approvals(hook, actor=Actor(id="agent-7", kind="agent"), run=lambda run: run.context["ticket"])


@approvals.requires_approval("orders.refund", effect="external", risk="high")
async def refund(order: str, amount: int = 5) -> str:
    """Refund an order."""
    return f"refunded {amount} of {order}"


async def main() -> None:
    agent = Agent(name="clerk", model=model, tools=[refund])
    async with placet, hook:
        result = await Runner.run(agent, "Refund order A-1042.", context={"ticket": f"T-{uuid4()}"})
        while result.interruptions:
            state = await approvals.answer(result)  # asks, and waits
            result = await Runner.run(agent, state)
        print(result.final_output)


asyncio.run(main())
# [/readme]
