"""Probes: ready, loading, or not there, told apart; a shutdown that never fails."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from placet.store import probe

LOADING = b"-LOADING Valkey is loading the dataset in memory\r\n"
HELLO = b"*4\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$5\r\nproto\r\n:3\r\n"


def bulk(text: str) -> bytes:
    """A bulk string (valkey.io/topics/protocol)."""
    return b"$%d\r\n%s\r\n" % (len(text), text.encode())


class ScriptedValkey:
    """Answers each command by its name, hangs up on what it isn't told; notes what it was asked."""

    def __init__(self, answers: Mapping[str, bytes]) -> None:
        self.answers = {"HELLO": HELLO, "CLIENT": b"+OK\r\n", **answers}
        self.asked: list[list[str]] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while (words := await self._command(reader)) and words[0] in self.answers:
                writer.write(self.answers[words[0]])
        writer.close()

    async def _command(self, reader: asyncio.StreamReader) -> list[str]:
        count = int((await reader.readuntil(b"\r\n"))[1:])
        words = []
        for _ in range(count):
            size = int((await reader.readuntil(b"\r\n"))[1:])
            words.append((await reader.readexactly(size + 2))[:-2].decode())
        self.asked.append(words)
        return words


@contextlib.asynccontextmanager
async def scripted(socket_path: Path, answers: Mapping[str, bytes]) -> AsyncIterator[ScriptedValkey]:
    """Runs a scripted server on a socket."""
    valkey = ScriptedValkey(answers)
    async with await asyncio.start_unix_server(valkey.serve, socket_path):
        yield valkey


@pytest.fixture
def socket_path(tmp_path: Path) -> Path:
    """Where the server would be."""
    return tmp_path / "store.sock"


async def test_nobody_there(socket_path: Path) -> None:
    """Without a server there is no readiness at all."""
    assert await probe.loaded_percent(socket_path) is None


async def test_ready(socket_path: Path) -> None:
    """A server that answers PING is ready."""
    async with scripted(socket_path, {"PING": b"+PONG\r\n"}):
        assert await probe.loaded_percent(socket_path) == probe.LOADED_PERCENT


async def test_loading(socket_path: Path) -> None:
    """A server that reads its file says how far it is."""
    info = bulk("# Persistence\r\nloading:1\r\nloading_loaded_perc:42.50\r\n")
    async with scripted(socket_path, {"PING": LOADING, "INFO": info}):
        assert await probe.loaded_percent(socket_path) == 42.5


async def test_loading_to_the_last_byte(socket_path: Path) -> None:
    """A server that has read everything and still says it is loading is not ready."""
    info = bulk("# Persistence\r\nloading:1\r\nloading_loaded_perc:100.00\r\n")
    async with scripted(socket_path, {"PING": LOADING, "INFO": info}):
        assert await probe.loaded_percent(socket_path) == 99.0


async def test_loading_and_gone(socket_path: Path) -> None:
    """A server that goes between the two questions is as far from ready as can be."""
    async with scripted(socket_path, {"PING": LOADING}):
        assert await probe.loaded_percent(socket_path) == 0.0


async def test_just_loaded(socket_path: Path) -> None:
    """A server that finished between the two questions is asked again, not misjudged."""
    async with scripted(socket_path, {"PING": LOADING, "INFO": bulk("# Persistence\r\nloading:0\r\n")}):
        assert await probe.loaded_percent(socket_path) == 0.0


async def test_shut_down(socket_path: Path) -> None:
    """A shutdown asks once, without a snapshot, and a server that hangs up has obeyed."""
    async with scripted(socket_path, {}) as valkey:
        await probe.shut_down(socket_path)
    assert [words for words in valkey.asked if words[0] == "SHUTDOWN"] == [["SHUTDOWN", "NOSAVE"]]


async def test_shut_down_refused(socket_path: Path) -> None:
    """A server that refuses to end is for the caller to see."""
    async with scripted(socket_path, {"SHUTDOWN": b"-ERR no\r\n"}):
        await probe.shut_down(socket_path)


async def test_shut_down_nobody(socket_path: Path) -> None:
    """Nobody there is what was wanted."""
    await probe.shut_down(socket_path)
