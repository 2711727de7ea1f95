"""An agent of LangChain with one tool, as a process; its thread is in a file that outlives it."""

import asyncio
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolArg
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from placet.client import StillPending
from placet.client.langgraph import Approvals
from tests.chat_models import Scripted, call
from tests.e2e.stopping import AGENT, Orders, say, stop

ASK: Any = {"messages": [("user", "refund them")]}
THREAD: Any = {"configurable": {"thread_id": "t-1"}}


async def found_in(agent: Any) -> Any:
    """Where the thread is: at its start, where it paused, or where it was killed."""
    state = await agent.aget_state(THREAD)
    return state if state.interrupts else await agent.ainvoke(None if state.next else ASK, THREAD)


async def played_again(agent: Any) -> Any:
    """The same from the checkpoint before its calls."""
    history = [each async for each in agent.aget_state_history(THREAD)]
    return await agent.ainvoke(None, next(each for each in history if set(each.next) == {"tools"}).config)


def told(found: Any) -> list[str]:
    """What its tools answered."""
    return [str(each.content) for each in found["messages"] if isinstance(each, ToolMessage)]


async def main() -> None:
    """Its part of a conversation."""
    orders = Orders()
    hook = orders.async_hook()
    approvals = Approvals(hook, actor=AGENT)

    @approvals.requires_approval("orders.refund", effect="external", key="key", idempotent=orders.idempotent)
    def refund(order: str, key: Annotated[str, InjectedToolArg] = "") -> str:
        """Refund an order."""
        orders.run(order, key)
        return "refunded"

    calls = [call("refund", f"c-{n}", order=f"A-{n}") for n in range(1, orders.said.get("calls", 1) + 1)]
    async with hook, AsyncSqliteSaver.from_conn_string(str(orders.directory / "threads")) as saver:
        agent = create_agent(Scripted(turns=[calls]), [refund], checkpointer=saver)
        found = await found_in(agent)
        try:
            while (await agent.aget_state(THREAD)).interrupts:
                stop("paused", orders.at)
                command = await approvals.decided(found, timeout_s=0 if orders.suspend else 30)
                found = await agent.ainvoke(command, THREAD)
        except StillPending:
            return say(paused=True)
        return say(told=told(found), again=told(await played_again(agent)))


if __name__ == "__main__":
    asyncio.run(main())
