"""A tool server over stdio with one tool, as a process.

Its orders are in its environment, for its standard input is the client's; so is its standard output, and what
else is written there comes out at standard error.
"""

import asyncio
import os

from mcp.server.mcpserver import MCPServer

from placet.client.mcp import Approvals
from tests.e2e.stopping import AGENT, Orders


async def main() -> None:
    """Serve a client, to its end."""
    orders = Orders(os.environ["ORDERS"])
    (orders.directory / "pid").write_text(str(os.getpid()))
    server = MCPServer("shop", log_level="CRITICAL")
    async with orders.async_hook() as hook, hook.client:
        approvals = Approvals(hook, actor=AGENT)

        @server.tool()
        @approvals.requires_approval(
            "orders.refund", effect="external", key="key", idempotent=orders.idempotent
        )
        def refund(order: str, *, key: str) -> str:
            orders.run(order, key)
            return "refunded"

        await server.run_stdio_async()


if __name__ == "__main__":
    asyncio.run(main())
