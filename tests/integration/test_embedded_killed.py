"""The embedded store with every process of it killed in turn: nothing lost, nobody left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest

from placet.store import binary, ownership, probe
from placet.store.datadir import DataDir
from placet.store.embedded import EmbeddedServer
from placet.store.embedded_errors import DataDirBusy
from tests.integration.embedded_stage import WITHIN_S, ask, owning, ready, require_binary, running
from tests.tools import gone, require, until

pytestmark = pytest.mark.real


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path) -> Path:
    """A data directory that doesn't exist yet, where there is a Valkey to put into it."""
    require_binary()
    return tmp_path / "data"


class TestKilled:
    """Every process of it killed, in turn."""

    async def test_the_owner(self, data_dir: Path) -> None:
        """SIGKILL to the service leaves neither guard nor Valkey, and loses nothing acknowledged."""
        async with owning(data_dir) as owner:
            processes = await owner.started()
            await owner.count_to(100)
            owner.process.kill()
            await owner.read_to_the_end()
            await until(lambda: all(map(gone, processes)), "guard and Valkey are gone")
        async with running(data_dir) as server:
            assert int(str(await ask(server.socket_path, "GET", "n"))) >= owner.acknowledged

    async def test_the_owner_and_at_once_another(self, data_dir: Path) -> None:
        """A service that follows a killed one at once waits for its Valkey and finds its data."""
        async with owning(data_dir) as owner:
            await owner.started()
            await owner.count_to(20)
            owner.process.kill()
            async with running(data_dir) as server:
                assert int(str(await ask(server.socket_path, "GET", "n"))) >= 20

    async def test_the_guard(self, data_dir: Path) -> None:
        """SIGKILL to the guard ends Valkey, and the service is told that the store is lost."""
        require(sys.platform == "linux", "PR_SET_PDEATHSIG")
        async with running(data_dir) as server:
            valkey = psutil.Process(server.server_pid)
            await ask(server.socket_path, "SET", "k", "kept")
            psutil.Process(server.guard_pid).kill()
            async with asyncio.timeout(WITHIN_S):
                assert await server.wait_lost() == "the process that guards it ended"
            await until(lambda: gone(valkey), "Valkey is gone")
        async with running(data_dir) as server:
            assert await ask(server.socket_path, "GET", "k") == "kept"

    @pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
    async def test_valkey(self, data_dir: Path, number: int) -> None:
        """A Valkey that is killed comes back with its data, at the same place."""
        async with running(data_dir) as server:
            await ask(server.socket_path, "SET", "k", "kept")
            first = psutil.Process(server.server_pid)
            first.send_signal(number)
            await until(lambda: server.server_pid not in {None, first.pid}, "another Valkey")
            await ready(server.socket_path)
            assert await ask(server.socket_path, "GET", "k") == "kept"

    async def test_ctrl_c_reaches_the_service_only(self, data_dir: Path) -> None:
        """A terminal's interrupt of the whole process group leaves the store up until it is stopped."""
        async with owning(data_dir) as owner:
            processes = await owner.started()
            await owner.count_to(5)
            os.killpg(owner.process.pid, signal.SIGINT)
            assert (await owner.read_to_the_end())[-1] == "drained"
            assert owner.process.returncode == 0
            assert all(map(gone, processes))

    async def test_signals_do_not_end_the_guard(self, data_dir: Path) -> None:
        """A service manager that signals every process doesn't take the store from the service."""
        async with running(data_dir) as server:
            guard = psutil.Process(server.guard_pid)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                guard.send_signal(number)
            assert await ask(server.socket_path, "ECHO", "up") == "up"
            assert not gone(guard)


def without_guard(data_dir: Path, lock_fd: int) -> subprocess.Popen[bytes]:
    """Valkey as a guard would have started it, ended by nobody."""
    command = [str(binary.find_binary()), *binary.arguments()]
    with (data_dir / "valkey.log").open("wb") as log:
        return subprocess.Popen(command, cwd=data_dir, stdout=log, pass_fds=[lock_fd])


@contextlib.asynccontextmanager
async def left_over(data_dir: Path) -> AsyncIterator[psutil.Process]:
    """Such a Valkey, with ``k`` stored in it."""
    with DataDir.open(data_dir, create=True) as directory:
        lock_fd = await ownership.lock_store(directory, report=lambda event, /, **facts: None)
        process = without_guard(data_dir, lock_fd)
        os.close(lock_fd)
        leftover = psutil.Process(process.pid)
        await ready(directory.socket_path)
        await ask(directory.socket_path, "SET", "k", "kept")
    try:
        yield leftover
    finally:
        process.kill()
        process.wait()


class TestLeftover:
    """A Valkey whose owner and guard are gone, as where the kernel doesn't end it with its guard."""

    async def test_it_is_shut_down_first(self, data_dir: Path) -> None:
        """A start ends the leftover, then serves its data."""
        async with left_over(data_dir) as leftover, running(data_dir) as server:
            assert gone(leftover)
            assert await ask(server.socket_path, "GET", "k") == "kept"

    async def test_no_second_server_beside_it(self, data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A leftover that doesn't end keeps the store: the start is refused and names it."""
        monkeypatch.setattr(ownership, "LEFTOVER_PATIENCE_S", 0.1)
        monkeypatch.setattr(probe, "_ANSWER_WITHIN_S", 0.1)
        async with left_over(data_dir) as leftover:
            leftover.suspend()
            with pytest.raises(DataDirBusy, match=rf"left behind \(process {leftover.pid}\) still holds"):
                await EmbeddedServer.start(data_dir)
            leftover.resume()
            assert await ask(data_dir / "store.sock", "GET", "k") == "kept"
