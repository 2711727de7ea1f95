"""A command line typed in memory: what it takes in, what comes out, and how it ends."""

import errno
import io
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from msgspec import Struct

from placet.application.rulebooks import Source
from placet.bootstrap import Services
from placet.cli import deliveries, explain, principals, program
from tests.factories import ManualClock
from tests.harness import Harness, opened

TOKEN = "plc_default_abcdefghijkl_" + "s" * 43
"""A credential, for what must never be shown."""


class Screen(io.StringIO):
    """A stream that says it is a terminal, or that it is not."""

    def __init__(self, text: str = "", *, terminal: bool) -> None:
        super().__init__(text)
        self._terminal = terminal

    def isatty(self) -> bool:
        """What was said at the start."""
        return self._terminal


class Full(Screen):
    """A stream that takes nothing: its disk is full, or, with EPIPE, its reader has gone."""

    def __init__(self, number: int = errno.ENOSPC, *, terminal: bool = False) -> None:
        super().__init__(terminal=terminal)
        self._number = number

    def write(self, _: str) -> int:
        """Refuse."""
        raise OSError(self._number, os.strerror(self._number))


class Ran(Struct, frozen=True, kw_only=True):
    """A command that has ended."""

    status: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """Standard error without its line ends: where a sentence was wrapped is nobody's concern."""
        return " ".join(self.err.split())

    def json(self) -> Any:
        """Standard output, all of which must be one JSON document."""
        return json.loads(self.out)


Type = Callable[..., Ran]


def begun(data_dir: Path) -> Path:
    """A data directory in which there is a store, as far as a look can tell."""
    (data_dir / "appendonlydir").mkdir(mode=0o700, parents=True)
    data_dir.chmod(0o700)
    return data_dir


@pytest.fixture(autouse=True)
def usual_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal is as wide as one that does not say, wherever the tests run."""
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def cli(tmp_path: Any) -> Type:
    """Types a command line: ``cli("approvals", "list", answer=…)``.

    ``answer`` takes each HTTP request and gives its response; ``typed`` is what the person types, who
    sits at a terminal where ``terminal`` says so. ``out`` and ``err`` take the places of the streams that
    are made for it.
    """

    def run(
        *argv: str,
        answer: Callable[[httpx.Request], httpx.Response] | None = None,
        typed: str = "",
        terminal: bool = False,
        environ: Mapping[str, str] | None = None,
        out: Screen | None = None,
        err: Screen | None = None,
    ) -> Ran:
        streams = [
            Screen(typed, terminal=terminal),
            *(each or Screen(terminal=terminal) for each in (out, err)),
        ]
        world = {"HOME": str(tmp_path), "PLACET_TOKEN": TOKEN, "NO_COLOR": "1", **(environ or {})}
        try:
            status = program.run(
                argv,
                *streams,
                environ={name: value for name, value in world.items() if value},
                transport=None if answer is None else httpx.MockTransport(answer),
            )
        except SystemExit as ended:
            status = int(ended.code or 0)
        return Ran(status=int(status), out=streams[1].getvalue(), err=streams[2].getvalue())

    return run


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeServer:
    """A store that outlives each command, in place of the one that settings name."""
    server = FakeServer(server_type="valkey")
    begun(tmp_path / ".local" / "state" / "placet")

    @asynccontextmanager
    async def operating(*_: Any, **__: Any) -> AsyncIterator[Services]:
        async with over(server, tmp_path) as harness:
            yield harness.services

    monkeypatch.setattr(principals, "operating", operating)
    monkeypatch.setattr(explain, "opening", operating)
    monkeypatch.setattr(deliveries, "opening", operating)
    monkeypatch.setattr(deliveries, "operating", operating)
    return server


@asynccontextmanager
async def over(server: FakeServer, directory: Path, rules: Source | None = None) -> AsyncIterator[Harness]:
    """A service over that store; ``rules`` are put in force."""
    async with opened(FakeAsyncRedis(server=server), directory, ManualClock(), rules=rules) as harness:
        yield harness
