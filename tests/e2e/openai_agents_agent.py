"""An agent of the OpenAI Agents SDK with one tool and a scripted model, as a process that keeps its run."""

import asyncio
import json
from typing import Any

from agents import Agent, Runner, RunState, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from placet.client.openai_agents import Approvals
from tests.e2e.stopping import AGENT, Orders, say, stop

ORDERS = ("A-1", "B-2", "C-3")


class Clerk:
    """The agent, on the machine that its orders name."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._asked = ORDERS[: orders.said.get("calls", 1)]
        self.hook = orders.async_hook()
        self._approvals = Approvals(self.hook, actor=AGENT, run="r")
        self._kept = orders.directory / "run.json"
        decorate = self._approvals.requires_approval(
            "orders.refund", effect="external", key="key", idempotent=orders.idempotent
        )
        model = ScriptedModel([ModelStep.respond(self._thinks)] * 2)
        self._agent: Agent[Any] = Agent(name="clerk", model=model, tools=[decorate(self._refund)])

    async def works(self) -> None:
        """Begin the run or go on with it, until it ends or nobody has decided."""
        if not self._kept.exists():
            self._keep((await Runner.run(self._agent, "Refund them.")).to_state())
        stop("paused", self._orders.at)
        state = await RunState.from_json(self._agent, json.loads(self._kept.read_text()))
        limit_s = 0 if self._orders.suspend else 30
        state = await self._approvals.answer(state, timeout_s=limit_s)
        if not self._orders.said.get("forgets", False):
            self._keep(state)
        result = await Runner.run(self._agent, state)
        if result.interruptions:
            self._keep(result.to_state())
            say(waits=[each.call_id for each in result.interruptions])
        else:
            say(says=result.final_output)

    async def _refund(self, order: str, key: str = "") -> str:
        self._orders.run(order, key)
        return f"refunded {order}"

    def _thinks(self, call: ModelCall) -> list[Any]:
        heard = [each["output"] for each in call.input if each.get("type") == "function_call_output"]
        if heard:
            return [assistant_message("\n".join(heard))]
        return [function_call("_refund", {"order": order}, call_id=order) for order in self._asked]

    def _keep(self, state: RunState[Any, Any]) -> None:
        self._kept.write_text(json.dumps(state.to_json()))


async def main() -> None:
    """One run."""
    set_tracing_disabled(True)  # or it would send what is traced to its vendor
    clerk = Clerk(Orders())
    async with clerk.hook.client, clerk.hook:
        await clerk.works()


if __name__ == "__main__":
    asyncio.run(main())
