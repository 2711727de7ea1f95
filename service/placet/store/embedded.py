"""The embedded store: a durable, private Valkey of our own, for whoever has no Redis.

Valkey runs on a unix socket in the data directory, writes every change to its append-only file
before it is acknowledged, and lives exactly as long as the process that started it:

    placet serve ──pipe──▶ guard ──PR_SET_PDEATHSIG──▶ valkey-server
        │ owner.lock          └────── store.lock ───────────┘

The pipe ends with the service, however that ends, and the guard then stops Valkey (``guard``). One
process owns a directory at a time; others of the same user attach to its socket (``ownership``).
While Valkey is being restarted, calls fail as they do for any store that is away.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Self

from placet.store import probe
from placet.store.binary import find_binary
from placet.store.datadir import DataDir
from placet.store.embedded_errors import DataDirBusy, NotRunning, StartFailed
from placet.store.guarded import Guarded
from placet.store.ownership import Owner, Report, claim, lock_store, owner_of

START_PATIENCE_S = 300.0
"""How long Valkey may take to be ready: some hundred megabytes of file take it seconds, many take minutes."""

_FIRST_POLL_S = 0.005
_LAST_POLL_S = 0.1


_APPEND_ONLY_NAME = "appendonlydir"
"""The directory of the append-only files (``appenddirname``): the first start of Valkey makes it."""


def has_begun(data_dir: Path) -> bool:
    """Whether there is a store in a data directory, as far as this user may look; nothing is made."""
    try:
        (data_dir / _APPEND_ONLY_NAME).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # whoever opens it says what is wrong
        return True
    return True


def _silent(event: str, /, **facts: object) -> None:
    """Reports nothing."""


class EmbeddedServer:
    """A running embedded store, owned by this process. ``start`` makes one, ``stop`` ends it."""

    def __init__(self, directory: DataDir, guarded: Guarded, exits: contextlib.AsyncExitStack) -> None:
        self._directory = directory
        self._guarded = guarded
        self._exits = exits

    @classmethod
    async def start(
        cls,
        data_dir: Path,
        *,
        url_hint: str | None = None,
        passing: bool = False,
        report: Report = _silent,
    ) -> Self:
        """Takes a data directory, starts Valkey in it, and waits until it has loaded its data.

        Args:
            data_dir: Where the data is, or is to be; made (0700) if absent.
            url_hint: Where the caller serves, for the message that a second start gets.
            passing: The caller is a command that soon ends; a start meanwhile waits for it.
            report: Told of progress, as a structured logger's ``info`` is.

        Raises:
            EmbeddedUnavailable: There is no Valkey binary for this platform.
            DataDirRefused: The directory is not a private directory of this user.
            DataDirBusy: Another process owns it.
            StartFailed: Valkey did not become ready; the message quotes its log.
        """
        server = find_binary()
        async with contextlib.AsyncExitStack() as stack:
            directory = stack.enter_context(DataDir.open(data_dir, create=True))
            held = await claim(directory, url=url_hint, passing=passing)
            stack.callback(held.release)
            store_lock_fd = await lock_store(directory, report=report)
            try:
                guarded = Guarded.launch(server, directory, store_lock_fd=store_lock_fd, report=report)
            finally:
                os.close(store_lock_fd)  # from here on guard and Valkey hold it, and only they
            stack.push_async_callback(guarded.stop)
            await _until_ready(directory, guarded, report)
            return cls(directory, guarded, stack.pop_all())

    @property
    def socket_path(self) -> Path:
        """Valkey's unix socket, for clients in this process."""
        return self._directory.socket_path

    @property
    def guard_pid(self) -> int:
        """Process id of the guard."""
        return self._guarded.guard_pid

    @property
    def server_pid(self) -> int | None:
        """Process id of Valkey; None while it is down, which calls to the store will find out too."""
        return self._guarded.server_pid

    async def wait_lost(self) -> str:
        """Waits until Valkey is gone for good: it ended too often in a row, lost its guard, or was stopped.

        A service can't heal from the first two and should end itself, so that what runs it sees it.

        Returns:
            The reason, for a log.
        """
        return await self._guarded.wait_lost()

    async def stop(self) -> None:
        """Stops Valkey, which flushes first, and gives the directory up. Bounded; may be repeated."""
        await self._exits.aclose()


async def _until_ready(directory: DataDir, guarded: Guarded, report: Report) -> None:
    clock = asyncio.get_running_loop()
    deadline_s = clock.time() + START_PATIENCE_S
    poll_s = _FIRST_POLL_S
    told_tenths = 0
    while (percent := await probe.loaded_percent(directory.socket_path)) != probe.LOADED_PERCENT:
        if guarded.ends or guarded.lost:
            raise StartFailed(_with_log("Valkey ended while it was starting", directory))
        if clock.time() >= deadline_s:
            raise StartFailed(_with_log(f"Valkey was not ready within {START_PATIENCE_S:.0f} s", directory))
        if percent and percent // 10 > told_tenths:
            told_tenths = int(percent // 10)
            report("store.loading", percent=int(percent))
        await asyncio.sleep(poll_s)
        poll_s = min(poll_s * 2, _LAST_POLL_S)


def _with_log(problem: str, directory: DataDir) -> str:
    return f"{problem}. The end of its log in {directory.path}:\n{directory.log_tail()}"


@contextlib.asynccontextmanager
async def attach(data_dir: Path) -> AsyncIterator[Path]:
    """Uses the store of the process that owns a data directory, beside it.

    Yields:
        The path of the socket, valid in this process while the context lasts.

    Raises:
        NotRunning: Nobody owns the directory, or its owner's store doesn't become ready.
        DataDirRefused: It is not a private directory of this user.
    """
    owner = owner_of(data_dir)
    if owner is None:
        raise NotRunning(f"No placet runs on {data_dir}. Start `placet serve` there first.")
    with DataDir.open(data_dir, create=False) as directory:
        await _until_owner_is_ready(directory, owner)
        yield directory.socket_path


async def _until_owner_is_ready(directory: DataDir, owner: Owner) -> None:
    clock = asyncio.get_running_loop()
    deadline_s = clock.time() + START_PATIENCE_S
    while await probe.loaded_percent(directory.socket_path) != probe.LOADED_PERCENT:
        if clock.time() >= deadline_s or owner_of(directory.path) is None:
            raise NotRunning(f"The store of {owner} on {directory.path} is not ready. Look at that process.")
        await asyncio.sleep(_LAST_POLL_S)


@contextlib.asynccontextmanager
async def open_embedded(data_dir: Path, *, report: Report = _silent) -> AsyncIterator[Path]:
    """Opens the store of a data directory for the length of one command.

    Where a service runs on it, attaches to that; else starts a store and stops it at the end. A
    command never attaches to another command, whose store would end under it: it waits its turn.

    Yields:
        The path of the socket, valid in this process while the context lasts.

    Raises:
        EmbeddedError: As ``EmbeddedServer.start`` and ``attach``.
    """
    async with contextlib.AsyncExitStack() as stack:
        if not _served(data_dir):
            try:
                server = await EmbeddedServer.start(data_dir, passing=True, report=report)
            except DataDirBusy:
                if not _served(data_dir):
                    raise
            else:
                stack.push_async_callback(server.stop)
                yield server.socket_path
                return
        yield await stack.enter_async_context(attach(data_dir))


def _served(data_dir: Path) -> bool:
    owner = owner_of(data_dir)
    return owner is not None and not owner.passing
