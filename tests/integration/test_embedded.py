"""The embedded store with real processes: durable, private, one owner."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest
import uvloop

from placet.store.embedded import EmbeddedServer, attach, open_embedded
from placet.store.embedded_errors import DataDirBusy, DataDirRefused, StartFailed
from placet.store.ownership import owner_of
from tests.integration.embedded_stage import ask, owning, ready, require_binary, running
from tests.tools import gone, require

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path) -> Path:
    """A data directory that doesn't exist yet, where there is a Valkey to put into it."""
    require_binary()
    return tmp_path / "data"


def open_to_others(data_dir: Path) -> list[Path]:
    """What in a data directory grants group or others anything."""
    return [p for p in [data_dir, *data_dir.rglob("*")] if stat.S_IMODE(p.stat().st_mode) & 0o077]


class TestStartAndStop:
    """The ordinary life."""

    async def test_it_answers_when_started(self, data_dir: Path) -> None:
        """A started server is ready, and set to lose nothing and to listen on nothing but its socket."""
        async with running(data_dir) as server:
            assert await ask(server.socket_path, "ECHO", "up") == "up"
            wanted = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
            wanted |= {"save": "", "port": "0", "no-appendfsync-on-rewrite": "no"}
            for name, value in wanted.items():
                assert await ask(server.socket_path, "CONFIG", "GET", name) == {name: value}

    async def test_nobody_else_may_read_it(self, data_dir: Path) -> None:
        """Directory, socket and every file are the user's alone."""
        async with running(data_dir) as server:
            await ask(server.socket_path, "SET", "k", "v")
            assert open_to_others(data_dir) == []

    async def test_it_survives_a_stop(self, data_dir: Path) -> None:
        """What was written before a clean stop is there after the next start."""
        async with running(data_dir) as server:
            await ask(server.socket_path, "SET", "k", "kept")
        async with running(data_dir) as server:
            assert await ask(server.socket_path, "GET", "k") == "kept"

    async def test_a_stop_leaves_no_process(self, data_dir: Path) -> None:
        """When ``stop`` returns, Valkey, guard and socket are gone and the directory is free."""
        async with running(data_dir) as server:
            processes = [psutil.Process(server.guard_pid), psutil.Process(server.server_pid)]
        assert all(gone(process) for process in processes)
        assert not (data_dir / "store.sock").exists()
        assert owner_of(data_dir) is None

    async def test_two_directories_side_by_side(self, tmp_path: Path) -> None:
        """Two stores on one machine know nothing of each other."""
        async with running(tmp_path / "a") as first, running(tmp_path / "b") as second:
            await ask(first.socket_path, "SET", "k", "first")
            assert await ask(second.socket_path, "GET", "k") is None

    async def test_a_long_path(self, tmp_path: Path) -> None:
        """A path longer than a socket's address allows works all the same, from other processes too."""
        require(sys.platform == "linux", "/proc/self/fd")
        data_dir = tmp_path / ("long " * 40) / ("path " * 40)
        async with running(data_dir) as server:
            await ask(server.socket_path, "SET", "k", "far")
            async with attach(data_dir) as socket_path:
                assert socket_path != server.socket_path
                assert await ask(socket_path, "GET", "k") == "far"

    def test_on_uvloop(self, data_dir: Path) -> None:
        """Under uvloop too every descriptor is closed once, and only once (pytest fails on warnings)."""

        async def start_and_stop() -> None:
            for _ in range(2):
                async with running(data_dir) as server:
                    await ready(server.socket_path)
                gc.collect()

        uvloop.run(start_and_stop())

    async def test_a_file_that_valkey_can_not_read(self, data_dir: Path) -> None:
        """Where Valkey refuses to start, the error quotes what it said, and the directory is free again."""
        async with running(data_dir) as server:
            await ask(server.socket_path, "SET", "k", "v")
        manifest = data_dir / "appendonlydir" / "appendonly.aof.manifest"
        manifest.write_text("nonsense\n")
        with pytest.raises(StartFailed, match=r"ended while it was starting(.|\n)*manifest"):
            await EmbeddedServer.start(data_dir)
        assert owner_of(data_dir) is None

    async def test_a_binary_that_does_not_run(
        self, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A binary for another system is named with the system's reason."""
        broken = tmp_path / "valkey-server"
        broken.write_bytes(b"\x7fELF nonsense")
        broken.chmod(0o755)
        monkeypatch.setattr("placet.store.embedded.find_binary", lambda: broken)
        with pytest.raises(StartFailed, match="valkey-server can't be run: Exec format error"):
            await EmbeddedServer.start(data_dir)


def list_of(path: Path) -> list[Path]:
    """What is in a directory, or behind a link to one; nothing where it is a file."""
    return list(path.glob("*"))


def make_a_link(path: Path) -> None:
    """A link to a directory that would do."""
    path.with_name("real").mkdir(mode=0o700)
    path.symlink_to("real")


def make_it_open(path: Path) -> None:
    """A directory that others may enter."""
    path.mkdir()
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("make", "why"), [(make_a_link, "symbolic link"), (make_it_open, "chmod 700"), (Path.touch, "a file")]
)
async def test_no_place_for_a_store(data_dir: Path, make: Callable[[Path], None], why: str) -> None:
    """A link, a directory open to others, a file in its place: refused, and nothing is put there."""
    make(data_dir)
    with pytest.raises(DataDirRefused, match=why):
        await EmbeddedServer.start(data_dir)
    assert list_of(data_dir) == []


class TestOneOwner:
    """Two processes, one directory."""

    async def test_a_second_start_is_refused(self, data_dir: Path) -> None:
        """Another process's start is refused, naming the first by process id and address."""
        async with owning(data_dir) as first:
            await first.started()
            with pytest.raises(DataDirBusy) as caught:
                await EmbeddedServer.start(data_dir)
            assert f"process {first.process.pid}, serving at http://127.0.0.1:8420" in str(caught.value)
            await first.count_to(first.acknowledged + 1)

    async def test_of_many_starts_one_wins(self, data_dir: Path) -> None:
        """Of processes started at the same time one gets the directory, the others its name."""
        async with contextlib.AsyncExitStack() as stack:
            owners = [await stack.enter_async_context(owning(data_dir)) for _ in range(3)]
            facts = await asyncio.gather(*(owner.told() for owner in owners))
            refused = [fact for fact in facts if isinstance(fact, dict) and "refused" in fact]
            started = [fact for fact in facts if isinstance(fact, dict) and "server" in fact]
            winner = owners[facts.index(started[0])]
            assert len(started) == 1
            assert [fact["kind"] for fact in refused] == ["DataDirBusy"] * 2
            assert all(f"process {winner.process.pid}" in fact["refused"] for fact in refused)

    async def test_a_command_uses_the_service_s_store(self, data_dir: Path) -> None:
        """A command beside a running service reads the same data, and leaves the service running."""
        async with owning(data_dir) as service:
            await service.started()
            await service.count_to(5)
            async with open_embedded(data_dir) as socket_path:
                assert int(str(await ask(socket_path, "GET", "n"))) >= 5
            await service.count_to(service.acknowledged + 1)

    async def test_commands_before_the_service(self, data_dir: Path) -> None:
        """Two commands at once take turns, and what each wrote is there for the next."""

        async def command() -> None:
            async with open_embedded(data_dir) as socket_path:
                await ask(socket_path, "INCR", "n")

        await asyncio.gather(command(), command())
        async with open_embedded(data_dir) as socket_path:
            assert await ask(socket_path, "GET", "n") == "2"
