"""The owner's end of a guard (``guard.py``): start it, hear from it, end it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Self, cast

from placet.store import binary, guard, probe
from placet.store.datadir import DataDir
from placet.store.embedded_errors import StartFailed
from placet.store.ownership import Report

STOP_PATIENCE_S = guard.STOP_GRACE_S + 5
"""How long a guard may take to end; longer than it allows Valkey."""


class Guarded:
    """A Valkey under its guard. ``launch`` makes one.

    Attributes:
        guard_pid: The guard's process id.
        server_pid: Valkey's process id; None while it is down.
        ends: How often Valkey has ended by itself.
    """

    def __init__(self, process: subprocess.Popen[bytes], directory: DataDir, report: Report) -> None:
        self.guard_pid = process.pid
        self.server_pid: int | None = None
        self.ends = 0
        self._process = process
        self._lifeline = cast("IO[bytes]", process.stdin)  # both are pipes: launch asks for them
        self._directory = directory
        self._report = report
        self._stopping = False
        self._reason = "the process that guards it ended"
        self._ended = asyncio.Event()
        self._told = cast("IO[bytes]", process.stdout)
        self._unfinished = b""
        asyncio.get_running_loop().add_reader(self._told, self._listen)

    @classmethod
    def launch(cls, server: Path, directory: DataDir, *, store_lock_fd: int, report: Report) -> Self:
        """Starts a guard, which starts Valkey in ``directory``; does not wait for Valkey to be ready.

        Args:
            server: The Valkey binary.
            directory: Where it keeps its data.
            store_lock_fd: The lock both inherit (``ownership.lock_store``).
            report: Told of ``store.up``, ``store.down``, ``store.lost``.

        Raises:
            StartFailed: No process can be started.
        """
        log_fd = directory.open_log()
        try:
            process = subprocess.Popen(  # noqa: S603 - fixed arguments
                [sys.executable, "-I", "-S", guard.__file__, str(server), *binary.arguments()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log_fd,
                bufsize=0,
                cwd=directory.path,
                env=_environment(),
                pass_fds=[store_lock_fd],
                start_new_session=True,  # a terminal's Ctrl-C must not end the store before the service
                umask=0o077,
            )
        except OSError as fault:
            raise StartFailed(f"The process that guards Valkey can't be started: {fault}.") from fault
        finally:
            os.close(log_fd)
        return cls(process, directory, report)

    def _listen(self) -> None:
        """Takes what the guard has told, or its end; called when there is something to read."""
        # Not connect_read_pipe: uvloop's transport would close the same descriptor a second time.
        told = os.read(self._told.fileno(), 4096)
        if not told:
            asyncio.get_running_loop().remove_reader(self._told)
            self._told.close()
            self._hear_the_end()
        *lines, self._unfinished = (self._unfinished + told).split(b"\n")
        for line in lines:
            self._hear(line.decode())

    def _hear(self, line: str) -> None:
        event, _, number = line.partition(" ")
        if event == "up":
            self.server_pid = int(number)
            self._report("store.up", pid=self.server_pid)
            return
        self.server_pid = None
        self.ends += 1
        if event == "lost":
            self._reason = f"it kept ending, the last time with status {number}"
        else:
            self._report("store.down", status=int(number))

    def _hear_the_end(self) -> None:
        self.server_pid = None
        self._ended.set()
        if not self._stopping:
            self._report("store.lost", reason=self._reason, log=self._directory.log_tail())

    async def wait_lost(self) -> str:
        """Waits until Valkey is gone for good, by ``stop`` or otherwise, and says why."""
        await self._ended.wait()
        return self._reason

    @property
    def lost(self) -> bool:
        """Whether Valkey is gone for good."""
        return self._ended.is_set()

    async def stop(self) -> None:
        """Has the guard stop Valkey, and waits until both have ended, ``STOP_PATIENCE_S`` at most."""
        self._stopping = True
        if not self.lost:
            self._reason = "it was stopped"
        self._lifeline.close()
        try:
            async with asyncio.timeout(STOP_PATIENCE_S):
                await self._ended.wait()
        except TimeoutError:
            self._process.kill()
            await self._ended.wait()
        if self._process.wait() != 0:  # its output has ended, so it has: this doesn't block
            # A guard that did not end well may have left Valkey behind, where no kernel ends that with it.
            await probe.shut_down(self._directory.socket_path)


def _environment() -> dict[str, str]:
    """Ours without our settings, which may hold secrets, and in a locale every Valkey knows."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLACET_")}
    return {**kept, "LC_ALL": "C"}
