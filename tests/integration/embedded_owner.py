"""A small service over an embedded store, for tests that kill it: ``embedded_owner.py DATA_DIR``.

It tells, a line of JSON each: first ``{"guard": PID, "server": PID, "socket": PATH}``, then each value
of the counter ``n`` that the store has acknowledged. On SIGINT it counts once more, with the store
still there, tells ``"drained"``, and stops cleanly. Where it can't start it tells ``{"refused": …}``.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import redis.asyncio

from placet.store.embedded import EmbeddedServer
from placet.store.embedded_errors import EmbeddedError


def tell(fact: object) -> None:
    """Tells the test something."""
    sys.stdout.write(json.dumps(fact) + "\n")
    sys.stdout.flush()


async def serve(data_dir: Path) -> None:
    """Counts until it is interrupted."""
    interrupted = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted.set)
    try:
        server = await EmbeddedServer.start(data_dir, url_hint="http://127.0.0.1:8420")
    except EmbeddedError as refusal:
        tell({"refused": str(refusal), "kind": type(refusal).__name__})
        return
    tell({"guard": server.guard_pid, "server": server.server_pid, "socket": str(server.socket_path)})
    async with redis.asyncio.Redis(unix_socket_path=str(server.socket_path)) as client:
        while not interrupted.is_set():
            tell(await client.incr("n"))
            await asyncio.sleep(0)
        tell(await client.incr("n"))
    await server.stop()
    tell("drained")


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
