"""Servers of a test's own, configured as it likes, and stores opened on them as the service does."""

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from placet.domain.limits import Limits
from placet.settings import StoreSettings
from placet.store.opened import Store, open_store
from tests import servers
from tests.tools import require

EVERYSEC = ("--appendfsync", "everysec")
META = "{placet:default}:m"


class Fleet:
    """Servers of one test, each in a directory of its own."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._exits = ExitStack()

    def run(self, kind: str, *options: str) -> Path:
        """Start a ``valkey`` or a ``redis``; its socket."""
        binary = servers.valkey_binary() if kind == "valkey" else servers.redis_binary()
        require(binary is not None, kind)
        directory = self._root / f"{kind}-{len(list(self._root.iterdir()))}"
        directory.mkdir()
        return self._exits.enter_context(servers.running(str(binary), directory, *options))

    def stop(self) -> None:
        """End them all."""
        self._exits.close()


def settings_of(socket: Path, **changes: Any) -> StoreSettings:
    """Settings of a store on ``socket`` that is not patient."""
    members = {"call_timeout_ms": 2_000, "confirm_timeout_ms": 1_500, **changes}
    return StoreSettings(data_dir=socket.parent, **members)


@asynccontextmanager
async def opened(socket: Path, **changes: Any) -> AsyncIterator[Store]:
    """A store as the service opens it."""
    store = await open_store(
        settings_of(socket, **changes),
        Limits(),
        socket_path=socket,
        clock=None,
        heard=lambda _: None,
        observe=lambda _calls, _seconds: None,
    )
    try:
        yield store
    finally:
        await store.close()


async def calls_of(client: Redis, command: str) -> int:
    """How often the server has run a command."""
    stats: Any = await client.info("commandstats")
    return int(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"])
