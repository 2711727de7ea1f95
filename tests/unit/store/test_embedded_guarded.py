"""The owner's end of the guard, against guards by script."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from placet.store import guard, guarded, probe
from placet.store.datadir import DataDir
from placet.store.embedded_errors import StartFailed
from placet.store.guarded import Guarded

UNTIL_OWNER_GOES = "sys.stdin.read()"


class Stage:
    """A data directory, a guard that runs a given script, and what was reported."""

    def __init__(self, directory: DataDir, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.reports: list[tuple[str, dict[str, object]]] = []
        self._script = directory.path / "guard.py"
        monkeypatch.setattr(guard, "__file__", str(self._script))

    def report(self, event: str, /, **facts: object) -> None:
        self.reports.append((event, facts))

    def launch(self, *statements: str) -> Guarded:
        self._script.write_text("\n".join(["import os, signal, sys", *statements]))
        lock_fd = self.directory.open_file("store.lock", os.O_RDWR | os.O_CREAT)
        try:
            return Guarded.launch(
                Path("/valkey-server"), self.directory, store_lock_fd=lock_fd, report=self.report
            )
        finally:
            os.close(lock_fd)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """A stage in an empty data directory."""
    with DataDir.open(tmp_path / "data", create=True) as directory:
        yield Stage(directory, monkeypatch)


def say(line: str) -> str:
    """A statement by which a guard tells its owner something."""
    return f"print({line!r}, flush=True)"


async def test_a_stop_is_no_loss(stage: Stage) -> None:
    """A server that was stopped is gone, and nothing is reported lost."""
    server = stage.launch(say("up 4321"), UNTIL_OWNER_GOES)
    await server.stop()
    assert server.lost
    assert server.server_pid is None
    assert await server.wait_lost() == "it was stopped"
    assert stage.reports == [("store.up", {"pid": 4321})]


async def test_a_restart_is_reported(stage: Stage) -> None:
    """An end and the new start after it are told, with what they are known by."""
    server = stage.launch(say("up 21"), say("down -9"), say("up 22"), UNTIL_OWNER_GOES)
    await server.stop()
    assert stage.reports == [
        ("store.up", {"pid": 21}),
        ("store.down", {"status": -9}),
        ("store.up", {"pid": 22}),
    ]
    assert server.ends == 1


async def test_a_server_that_kept_ending_is_lost(stage: Stage) -> None:
    """When the guard gives up, the loss is reported with the reason and the log."""
    server = stage.launch("print('disk full', file=sys.stderr)", say("up 21"), say("lost 1"))
    reason = "it kept ending, the last time with status 1"
    assert await server.wait_lost() == reason
    assert stage.reports[-1] == ("store.lost", {"reason": reason, "log": "disk full"})
    await server.stop()
    assert await server.wait_lost() == reason


async def test_a_guard_that_dies_is_a_loss(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a guard the server counts as gone, and one that stayed all the same is shut down."""
    asked: list[Path] = []

    async def shut_down(socket_path: Path) -> None:
        asked.append(socket_path)

    monkeypatch.setattr(probe, "shut_down", shut_down)
    server = stage.launch(say("up 21"), "os.kill(os.getpid(), signal.SIGKILL)")
    assert await server.wait_lost() == "the process that guards it ended"
    assert server.server_pid is None
    await server.stop()
    assert asked == [stage.directory.socket_path]


async def test_a_guard_that_does_not_end_is_killed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop is bounded, whatever the guard does."""
    monkeypatch.setattr(guarded, "STOP_PATIENCE_S", 0.05)
    server = stage.launch("signal.pause()")
    await server.stop()
    assert server.lost


async def test_a_guard_that_can_not_be_started(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no process can be started, that is what the error says."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(StartFailed, match="can't be started"):
        stage.launch()


async def test_what_a_guard_is_given(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in the data directory and a session of its own, without our settings and secrets."""
    monkeypatch.setenv("PLACET_REDIS_PASSWORD", "s3cret")
    monkeypatch.setenv("LC_ALL", "xx_YY.UTF-8")
    told = "[os.getcwd(), os.getsid(0) == os.getpid(), [n for n in os.environ if 'PLACET' in n]]"
    server = stage.launch(
        f"print({told}, os.environ['LC_ALL'], sys.argv[1:4], file=sys.stderr)", UNTIL_OWNER_GOES
    )
    await server.stop()
    where = str(stage.directory.path)
    assert stage.directory.log_tail() == f"{[where, True, []]} C ['/valkey-server', '--port', '0']"
