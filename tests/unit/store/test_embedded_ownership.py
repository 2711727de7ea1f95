"""Ownership: one process per data directory, known by name, and never two servers on one file."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from placet.store import ownership, probe
from placet.store.datadir import DataDir
from placet.store.embedded_errors import DataDirBusy, DataDirRefused
from placet.store.ownership import Owner, claim, lock_store, owner_of

AT_ONCE_S = 0.0


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[DataDir]:
    """An empty data directory."""
    with DataDir.open(tmp_path / "data", create=True) as directory:
        yield directory


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for anybody."""
    for patience in ("LOOK_PATIENCE_S", "PASSING_PATIENCE_S", "LEFTOVER_PATIENCE_S"):
        monkeypatch.setattr(ownership, patience, AT_ONCE_S)


def silent(event: str, /, **facts: object) -> None:
    """Reports nothing."""


class TestOwnerOf:
    """Looking."""

    def test_nobody_owns_what_does_not_exist(self, tmp_path: Path) -> None:
        """An absent directory has no owner, and looking makes none."""
        assert owner_of(tmp_path / "absent") is None
        assert not (tmp_path / "absent").exists()

    def test_nobody_owns_an_empty_directory(self, directory: DataDir) -> None:
        """A directory never used has no owner."""
        assert owner_of(directory.path) is None

    async def test_the_owner_is_named(self, directory: DataDir) -> None:
        """While it is claimed, the owner's process, address and kind are known."""
        held = await claim(directory, url="http://127.0.0.1:8420", passing=False)
        owner = owner_of(directory.path)
        held.release()
        assert owner is not None
        assert owner.pid == os.getpid()
        assert owner.url == "http://127.0.0.1:8420"
        assert not owner.passing

    async def test_the_time_is_that_of_the_claim(self, directory: DataDir) -> None:
        """Since when is read off the lock file, in UTC."""
        held = await claim(directory, url=None, passing=True)
        os.utime(directory.path / "owner.lock", (86_400, 86_400))
        owner = owner_of(directory.path)
        held.release()
        assert owner == Owner(pid=os.getpid(), passing=True, since="1970-01-02T00:00:00Z")

    async def test_a_released_directory_has_no_owner(self, directory: DataDir) -> None:
        """After the release nobody owns it."""
        held = await claim(directory, url=None, passing=False)
        held.release()
        assert owner_of(directory.path) is None

    def test_a_name_without_a_lock_means_nothing(self, directory: DataDir) -> None:
        """What a killed owner wrote names nobody once the kernel has let its lock go."""
        (directory.path / "owner.lock").write_text('{"pid": 1}')
        assert owner_of(directory.path) is None


class TestClaim:
    """Taking."""

    async def test_a_second_claim_is_refused(self, directory: DataDir, impatient: None) -> None:
        """The refusal says who holds the directory, where it serves, since when, and what to do."""
        held = await claim(directory, url="http://127.0.0.1:8420", passing=False)
        with pytest.raises(DataDirBusy) as caught:
            await claim(directory, url=None, passing=False)
        held.release()
        assert f"in use by process {os.getpid()}, serving at http://127.0.0.1:8420 (since " in str(
            caught.value
        )
        assert "PLACET_DATA_DIR" in str(caught.value)

    async def test_an_owner_that_has_not_written_its_name(self, directory: DataDir, impatient: None) -> None:
        """A lock without a name is respected all the same."""
        fd = directory.open_file("owner.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(fd, fcntl.LOCK_EX)
        with pytest.raises(DataDirBusy, match="in use by another process"):
            await claim(directory, url=None, passing=False)
        os.close(fd)

    async def test_those_who_look_are_outwaited(self, directory: DataDir) -> None:
        """A look that locks the file for an instant makes no claim fail."""
        looking = directory.open_file("owner.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(looking, fcntl.LOCK_SH)
        asyncio.get_running_loop().call_soon(os.close, looking)
        held = await claim(directory, url=None, passing=False)
        held.release()

    async def test_a_passing_owner_is_waited_for(
        self, directory: DataDir, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A command that holds the directory for a moment keeps no service out."""
        monkeypatch.setattr(ownership, "LOOK_PATIENCE_S", AT_ONCE_S)
        passing = await claim(directory, url=None, passing=True)
        asyncio.get_running_loop().call_soon(passing.release)
        held = await claim(directory, url=None, passing=False)
        held.release()

    async def test_the_lock_is_not_inherited(self, directory: DataDir) -> None:
        """No child process can keep the directory taken after its owner."""
        held = await claim(directory, url=None, passing=False)
        assert not os.get_inheritable(held._fd)
        held.release()

    async def test_a_full_disk_is_named(self, directory: DataDir, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the name can't be written, the reason is told and the directory is free again."""

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(DataDirRefused, match="No space left on device"):
            await claim(directory, url=None, passing=False)
        assert owner_of(directory.path) is None


class TestLockStore:
    """Following an owner that was killed."""

    @pytest.fixture
    def leftover(self, directory: DataDir) -> Iterator[int]:
        """The lock, held as by a Valkey that outlived its owner."""
        fd = directory.open_file("store.lock", os.O_RDWR | os.O_CREAT)
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
        os.close(fd)

    async def test_a_free_store_is_locked(self, directory: DataDir) -> None:
        """The first start takes the lock, and a second server couldn't."""
        fd = await lock_store(directory, report=silent)
        second = directory.open_file("store.lock", os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(second)
        os.close(fd)

    async def test_a_leftover_is_shut_down_and_waited_for(
        self, directory: DataDir, leftover: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A server left behind is asked to end through its socket, and its end is waited for."""
        asked: list[Path] = []

        async def shut_down(socket_path: Path) -> None:
            asked.append(socket_path)
            asyncio.get_running_loop().call_later(0, fcntl.flock, leftover, fcntl.LOCK_UN)

        told: list[str] = []
        monkeypatch.setattr(probe, "shut_down", shut_down)
        fd = await lock_store(directory, report=lambda event, /, **facts: told.append(event))
        os.close(fd)
        assert asked == [directory.socket_path]
        assert told == ["store.leftover_found"]

    @pytest.mark.parametrize(
        ("pid_text", "who"), [("4321\n", "process 4321"), ("", "see who has"), (None, "see who has")]
    )
    async def test_a_leftover_that_stays_is_named(
        self, directory: DataDir, leftover: int, impatient: None, pid_text: str | None, who: str
    ) -> None:
        """No second server is started beside one that doesn't end; the message says which."""
        if pid_text is not None:
            (directory.path / "valkey.pid").write_text(pid_text)
        with pytest.raises(DataDirBusy, match=rf"left behind \({who}.* still holds"):
            await lock_store(directory, report=silent)
