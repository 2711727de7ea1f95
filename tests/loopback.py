"""Servers of a test's own, on this machine."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def listening(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve connections on a free port; the URL is without a slash at its end."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"{'https' if tls else 'http'}://{host}:{port}"
    finally:
        server.close()
