"""A tool server, and a client that calls until it is decided, in one program.

In PLACET_TOKEN, the credential of a client named ``agent``: here that is the server.
"""

# [readme]
import asyncio
import os

from mcp import Client
from mcp.server.mcpserver import MCPServer

from placet.client import Actor, AsyncClient
from placet.client.hook import Hook
from placet.client.mcp import Approvals

placet = AsyncClient(os.environ["PLACET_URL"], os.environ["PLACET_TOKEN"])
hook = Hook(placet, audience="agent", surface="mcp")
approvals = Approvals(hook, actor=Actor(id="agent-7", kind="agent"))
server = MCPServer("shop", log_level="WARNING")


@approvals.tool(server.tool(), "orders.refund", effect="external")
def refund(order: str, amount: int = 5) -> str:
    """Give money back for an order."""
    return f"refunded {amount} of {order}"


async def main() -> None:
    async with placet, hook, Client(server) as client:  # to serve it: await server.run_stdio_async()
        while True:
            answer = await client.call_tool("refund", {"order": "A-1042"})
            if (answer.structured_content or {}).get("code") != "APPROVAL_REQUIRED":
                break
            await asyncio.sleep(0.2)  # here in place of a model, which is told to call again
    print(*(getattr(each, "text", "") for each in answer.content))


asyncio.run(main())
# [/readme]
