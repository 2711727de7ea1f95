"""The embedded server's order of things: refusals, readiness, attaching; on a Valkey by script."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

from placet.store import embedded, ownership, probe
from placet.store.datadir import DataDir
from placet.store.embedded import EmbeddedServer, attach, open_embedded
from placet.store.embedded_errors import DataDirBusy, NotRunning, StartFailed
from placet.store.ownership import Owner, claim, owner_of


class ScriptedGuarded:
    """A guard that does what a test says."""

    guard_pid = 31
    server_pid = 32

    def __init__(self, *, ends: int = 0, lost: bool = False) -> None:
        self.ends = ends
        self.lost = lost
        self.stopped = 0

    def launch(self, server: Path, directory: DataDir, **_: object) -> Self:
        os.close(directory.open_log())
        (directory.path / "valkey.log").write_text("# Bad file format reading the append only file\n")
        return self

    async def wait_lost(self) -> str:
        return "gone"

    async def stop(self) -> None:
        self.stopped += 1


class Stage:
    """A data directory and a scripted Valkey: ``percents`` is how ready it is, look by look."""

    def __init__(self, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.data_dir = data_dir
        self.percents: Iterator[float | None] = iter([100.0])
        self.reports: list[object] = []
        self._monkeypatch = monkeypatch
        self.guarded = ScriptedGuarded()
        monkeypatch.setattr(embedded, "find_binary", lambda: Path("/valkey-server"))
        monkeypatch.setattr(probe, "loaded_percent", self._loaded_percent)
        monkeypatch.setattr(embedded, "_FIRST_POLL_S", 0.0)
        monkeypatch.setattr(embedded, "_LAST_POLL_S", 0.0)
        monkeypatch.setattr(ownership, "LOOK_PATIENCE_S", 0.0)

    async def _loaded_percent(self, socket_path: Path) -> float | None:
        return next(self.percents)

    def report(self, event: str, /, **facts: object) -> None:
        self.reports.append((event, facts))

    async def start(self, *, passing: bool = False) -> EmbeddedServer:
        self._monkeypatch.setattr(embedded, "Guarded", self.guarded)
        return await EmbeddedServer.start(self.data_dir, passing=passing, report=self.report)


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage with an absent data directory and a Valkey that is ready at once."""
    return Stage(tmp_path / "data", monkeypatch)


class TestStart:
    """Starting and stopping."""

    async def test_a_started_server(self, stage: Stage) -> None:
        """It is owned by this process, and tells where and what it is."""
        server = await stage.start()
        owner = owner_of(stage.data_dir)
        assert owner is not None
        assert owner.pid == os.getpid()
        assert server.socket_path == stage.data_dir / "store.sock"
        assert (server.guard_pid, server.server_pid) == (31, 32)
        assert await server.wait_lost() == "gone"
        await server.stop()

    async def test_a_stopped_server(self, stage: Stage) -> None:
        """Stopping ends Valkey once, however often it is asked for, and frees the directory."""
        server = await stage.start()
        await server.stop()
        await server.stop()
        assert stage.guarded.stopped == 1
        assert owner_of(stage.data_dir) is None

    async def test_loading_is_reported_by_tenths(self, stage: Stage) -> None:
        """A long load is told at every tenth of the way, not at every look."""
        stage.percents = iter([None, 0.0, 5.0, 12.0, 19.9, 47.0, 48.0, 100.0])
        server = await stage.start()
        await server.stop()
        assert stage.reports == [("store.loading", {"percent": 12}), ("store.loading", {"percent": 47})]

    @pytest.mark.parametrize("guarded", [ScriptedGuarded(ends=1), ScriptedGuarded(lost=True)])
    async def test_an_end_while_starting_fails(self, stage: Stage, guarded: ScriptedGuarded) -> None:
        """A Valkey that ends before it is ready isn't tried again: its log is quoted instead."""
        stage.guarded = guarded
        stage.percents = iter([None])
        with pytest.raises(StartFailed, match=r"ended while it was starting(.|\n)*Bad file format"):
            await stage.start()
        assert guarded.stopped == 1
        assert owner_of(stage.data_dir) is None

    async def test_a_start_is_bounded(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        """A Valkey that doesn't become ready in time is stopped, and its log quoted."""
        monkeypatch.setattr(embedded, "START_PATIENCE_S", 0.0)
        stage.percents = iter([50.0])
        with pytest.raises(StartFailed, match=r"not ready within 0 s(.|\n)*Bad file format"):
            await stage.start()
        assert stage.guarded.stopped == 1

    async def test_a_second_start_is_refused(self, stage: Stage) -> None:
        """The second start is refused and takes nothing from the first."""
        server = await stage.start()
        with pytest.raises(DataDirBusy, match=f"in use by process {os.getpid()}"):
            await stage.start()
        assert stage.guarded.stopped == 0
        await server.stop()


class TestAttach:
    """Using another process's store."""

    async def test_nobody_to_attach_to(self, stage: Stage) -> None:
        """Without an owner the error says what to start."""
        with pytest.raises(NotRunning, match="Start `placet serve`"):
            async with attach(stage.data_dir):
                pass

    async def test_attached_when_ready(self, stage: Stage) -> None:
        """A store that is still loading is waited for."""
        server = await stage.start()
        stage.percents = iter([None, 30.0, 100.0])
        async with attach(stage.data_dir) as socket_path:
            assert socket_path == server.socket_path
        await server.stop()

    async def test_the_owner_goes_meanwhile(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        """An owner that ends before its store is ready is not waited for."""
        owners = iter([Owner(pid=77), None])
        monkeypatch.setattr(embedded, "owner_of", lambda path: next(owners))
        stage.data_dir.mkdir(mode=0o700)
        stage.percents = iter([None])
        with pytest.raises(NotRunning, match=r"process 77 .* is not ready"):
            async with attach(stage.data_dir):
                pass

    async def test_attaching_is_bounded(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        """A store that stays unready is given up."""
        server = await stage.start()
        monkeypatch.setattr(embedded, "START_PATIENCE_S", 0.0)
        stage.percents = iter([99.0])
        with pytest.raises(NotRunning, match="is not ready"):
            async with attach(stage.data_dir):
                pass
        await server.stop()


class TestOpenEmbedded:
    """What a command does."""

    @pytest.fixture(autouse=True)
    def _staged(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(embedded, "Guarded", stage.guarded)
        stage.percents = iter([100.0] * 9)

    async def test_a_store_of_its_own(self, stage: Stage) -> None:
        """Where nothing runs, a store is started for the command and stopped after it."""
        async with open_embedded(stage.data_dir) as socket_path:
            owner = owner_of(stage.data_dir)
            assert owner is not None
            assert owner.passing
            assert socket_path == stage.data_dir / "store.sock"
        assert stage.guarded.stopped == 1
        assert owner_of(stage.data_dir) is None

    async def test_the_store_of_the_service(self, stage: Stage) -> None:
        """Where a service runs, the command uses its store and leaves it running."""
        server = await stage.start()
        async with open_embedded(stage.data_dir) as socket_path:
            assert socket_path == server.socket_path
        assert stage.guarded.stopped == 0
        await server.stop()

    async def test_a_command_waits_for_another(self, stage: Stage) -> None:
        """A command doesn't attach to a store that ends with another command: it waits its turn."""
        other = await stage.start(passing=True)
        ending = asyncio.create_task(other.stop())
        async with open_embedded(stage.data_dir):
            assert ending.done()
        await ending
        assert stage.guarded.stopped == 2

    async def test_a_command_that_does_not_end(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        """Another command that holds on is named in the end, not attached to."""
        monkeypatch.setattr(ownership, "PASSING_PATIENCE_S", 0.0)
        other = await stage.start(passing=True)
        with pytest.raises(DataDirBusy, match="in use by process"):
            async with open_embedded(stage.data_dir):
                pass
        await other.stop()

    async def test_a_service_that_was_faster(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        """A service that takes the directory between look and start is attached to."""
        with DataDir.open(stage.data_dir, create=True) as directory:
            service = await claim(directory, url=None, passing=False)
            looks = iter([None])
            monkeypatch.setattr(embedded, "owner_of", lambda path: next(looks, Owner(pid=77)))
            async with open_embedded(stage.data_dir) as socket_path:
                assert socket_path == directory.socket_path
            service.release()
        assert stage.guarded.stopped == 0
