"""Who owns a data directory: two locks of the kernel (flock(2)), which a killed holder always lets go.

- ``owner.lock`` belongs to one process, the *owner*, and is never inherited by a child; its text
  names the holder. It answers "may I start here?" and "whom do I attach to?".
- ``store.lock`` is deliberately inherited by the guard and by Valkey, and so held while anything
  can still write to the append-only file. An owner that follows a killed one waits for it: there
  are never two servers on one file.

The files are never removed, for a lock on a removed file would exclude nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from placet.store import probe
from placet.store.binary import PID_NAME
from placet.store.datadir import DataDir
from placet.store.embedded_errors import DataDirBusy, DataDirRefused

OWNER_LOCK_NAME = "owner.lock"
STORE_LOCK_NAME = "store.lock"

LOOK_PATIENCE_S = 0.5
"""How long a start outwaits those who only look who the owner is: they lock for microseconds."""

PASSING_PATIENCE_S = 15.0
"""How long a start waits for a passing owner, a command that soon ends by itself."""

LEFTOVER_PATIENCE_S = 30.0
"""How long a start waits for a killed owner's Valkey to end; its guard allows it 10 s."""

_POLL_S = 0.02


class Report(Protocol):
    """Where progress is told, in the shape of a structured logger's ``info``."""

    def __call__(self, event: str, /, **facts: object) -> None:
        """Tells that ``event`` happened."""


class Owner(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The process that holds a data directory.

    Attributes:
        pid: Its process id; None in the instant before it has written it.
        url: Where it serves, where known.
        passing: It holds the directory for the length of one command only.
        since: When it took the directory, RFC 3339.
    """

    pid: int | None = None
    url: str | None = None
    passing: bool = False
    since: str | None = None

    def __str__(self) -> str:
        who = f"process {self.pid}" if self.pid else "another process"
        return f"{who}{f', serving at {self.url}' if self.url else ''} (since {self.since})"


class Claim:
    """The ownership of a data directory, until it is released or its process ends."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def release(self) -> None:
        """Gives the directory up."""
        os.ftruncate(self._fd, 0)
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        os.close(self._fd)


def owner_of(data_dir: Path) -> Owner | None:
    """Finds who owns a data directory now; None where nobody does or it doesn't exist.

    Raises:
        DataDirRefused: It is not a private directory of this user.
    """
    try:
        with DataDir.open(data_dir, create=False) as directory:
            fd = directory.open_file(OWNER_LOCK_NAME, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return None if _try_lock(fd, fcntl.LOCK_SH) else _recorded(fd)
    finally:
        os.close(fd)


def busy(path: Path, owner: Owner) -> DataDirBusy:
    """What a second start is told."""
    return DataDirBusy(
        f"{path} is in use by {owner}. Stop that process first, or give this one a data directory "
        "of its own with --data-dir or PLACET_DATA_DIR."
    )


async def claim(directory: DataDir, *, url: str | None, passing: bool) -> Claim:
    """Makes this process the owner of a data directory.

    Args:
        directory: The directory.
        url: Where the owner serves, for the message that a second one gets.
        passing: The claim lasts for one command only; a start then waits instead of giving up.

    Raises:
        DataDirBusy: Another process owns it; the message names it.
        DataDirRefused: The lock can't be taken or written.
    """
    fd = directory.open_file(OWNER_LOCK_NAME, os.O_RDWR | os.O_CREAT)
    with _closed_on_fault(fd, directory.path):
        await _lock_ownership(fd, directory.path)
        os.ftruncate(fd, 0)
        os.pwrite(fd, msgspec.json.encode(Owner(pid=os.getpid(), url=url, passing=passing)), 0)
    return Claim(fd)


async def _lock_ownership(fd: int, path: Path) -> None:
    clock = asyncio.get_running_loop()
    started_s = clock.time()
    while not _try_lock(fd, fcntl.LOCK_EX):
        owner = _recorded(fd)
        if clock.time() - started_s >= (PASSING_PATIENCE_S if owner.passing else LOOK_PATIENCE_S):
            raise busy(path, owner)
        await asyncio.sleep(_POLL_S)


async def lock_store(directory: DataDir, *, report: Report) -> int:
    """Takes the lock that the guard and Valkey are to inherit; only the owner may call this.

    Where a killed owner's server is still there, it is asked to shut down (mostly its guard is at
    that already) and waited for.

    Returns:
        The descriptor that holds the lock. The lock lasts as long as any process has it open.

    Raises:
        DataDirBusy: The leftover did not end in time; the message names it.
        DataDirRefused: The lock can't be taken.
    """
    fd = directory.open_file(STORE_LOCK_NAME, os.O_RDWR | os.O_CREAT)
    with _closed_on_fault(fd, directory.path):
        if not _try_lock(fd, fcntl.LOCK_EX):
            report("store.leftover_found", data_dir=str(directory.path))
            await probe.shut_down(directory.socket_path)
            await _lock_left_store(fd, directory.path)
    return fd


async def _lock_left_store(fd: int, path: Path) -> None:
    clock = asyncio.get_running_loop()
    deadline_s = clock.time() + LEFTOVER_PATIENCE_S
    while not _try_lock(fd, fcntl.LOCK_EX):
        if clock.time() >= deadline_s:
            raise DataDirBusy(_leftover_message(path))
        await asyncio.sleep(_POLL_S)


def _leftover_message(path: Path) -> str:
    try:
        who = f"process {int((path / PID_NAME).read_text())}"
    except (OSError, ValueError):
        who = f"see who has {path / STORE_LOCK_NAME} open"
    return (
        f"A Valkey server that an earlier owner left behind ({who}) still holds {path} and does not end. "
        "End it and start again; a second server on one append-only file would destroy it."
    )


@contextlib.contextmanager
def _closed_on_fault(fd: int, path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as fault:
        os.close(fd)
        if isinstance(fault, OSError):  # a full disk, a file system without locks
            problem = f"{path} can't be locked or written ({fault.strerror})"
            raise DataDirRefused(f"{problem}: mend that, or choose another data directory.") from fault
        raise


def _try_lock(fd: int, kind: int) -> bool:
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _recorded(fd: int) -> Owner:
    """What the holder wrote; the file's own time says since when, on the file system's clock."""
    since = datetime.fromtimestamp(int(os.fstat(fd).st_mtime), UTC).isoformat().replace("+00:00", "Z")
    try:
        owner = msgspec.json.decode(os.pread(fd, 4096, 0), type=Owner)
    except msgspec.DecodeError:
        owner = Owner()
    return msgspec.structs.replace(owner, since=since)
