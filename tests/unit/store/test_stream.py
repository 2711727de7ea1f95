"""The stream reader before a server that has stopped: nobody waits for it for ever."""

import asyncio
from typing import Any, cast

import pytest
from redis.asyncio import Redis

from placet.store import stream
from placet.store.stream import StreamReader
from tests.tools import until


class Silent:
    """A client whose server never replies: it has stopped, or its host has gone without a word."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def xrevrange(self, _name: str, **_options: Any) -> None:
        await self._wait("xrevrange")

    async def xread(self, _positions: dict[str, str], **_options: Any) -> None:
        await self._wait("xread")

    async def aclose(self) -> None:
        self.asked.append("aclose")

    async def _wait(self, command: str) -> None:
        self.asked.append(command)
        await asyncio.Event().wait()


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Silent:
    """Such a client, and a reader that loses patience soon."""
    monkeypatch.setattr(stream, "BLOCK_MS", 1)
    for name in ("REPLY_S", "RECONNECT_S"):
        monkeypatch.setattr(stream, name, 0.01)
    return Silent()


async def test_following_gives_up(silent: Silent) -> None:
    """A waiter is not held up: it looks for itself now and then."""
    reader = StreamReader(cast("Redis", silent), lambda _: None)
    async with asyncio.timeout(10):
        await reader.follow("default")
    assert reader._positions == {}


async def test_reading_begins_anew(silent: Silent) -> None:
    """A read that has taken longer than it may block is given up for a new one."""
    reader = StreamReader(cast("Redis", silent), lambda _: None)
    reader._positions["default"] = "0-0"
    reader.start()
    await until(lambda: silent.asked.count("xread") >= 2, "it reads again")
    await reader.stop()
    assert silent.asked[-1] == "aclose"


async def test_a_lost_cancellation_is_repeated(silent: Silent, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library can swallow one; stopping ends the read all the same."""
    monkeypatch.setattr(stream, "BLOCK_MS", 60_000)
    swallowed = asyncio.Event()

    async def deaf(_command: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            swallowed.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(silent, "_wait", deaf)
    reader = StreamReader(cast("Redis", silent), lambda _: None)
    reader._positions["default"] = "0-0"
    reader.start()
    await asyncio.sleep(0.01)
    async with asyncio.timeout(10):
        await reader.stop()
    assert swallowed.is_set()
