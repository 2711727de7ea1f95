"""The guard: a small process that runs Valkey exactly as long as its owner lives.

Laws:

- The owner holds the only writing end of the guard's standard input. However the owner ends,
  ``kill -9`` included, the kernel closes that end, and the guard stops Valkey: SIGTERM, by which
  Valkey flushes its append-only file, and SIGKILL after ``STOP_GRACE_S``.
- However the guard ends, Linux kills Valkey (PR_SET_PDEATHSIG, armed by the guard's only thread,
  since that signal fires when the *thread* that forked ends). Elsewhere the owner, or the next one,
  shuts such a leftover down through its socket.
- A Valkey that ends by itself is started again, for what it acknowledged is on the disk: at most
  ``RESTARTS`` times in a row, with a doubling pause; a run of ``CALM_S`` clears the count.
- The lock of the store (``ownership.lock_store``) is inherited by guard and Valkey alike, so that
  it is held for as long as either of them, or a rewriting child of Valkey, can write to the store.
- Signals of the terminal or of a service manager's group don't end the guard: its life is the pipe.

It runs as a file (``python -I -S guard.py BINARY ARGUMENT…``) and imports a few modules of the
standard library and nothing of ours, so that it is up in about 20 ms and stays small. On standard
output it tells its owner, a line each: ``up PID``, ``down STATUS`` (a restart follows), ``lost STATUS``
(none does). STATUS is an exit status, or minus the number of the signal that killed Valkey.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

STOP_GRACE_S = 10.0
"""How long Valkey may take to flush and end after SIGTERM, before SIGKILL."""

RESTARTS = 8
"""How many times in a row an ended Valkey is started again."""

CALM_S = 60.0
"""A Valkey that ran this long was healthy: the count of restarts begins anew."""

FIRST_PAUSE_S = 0.1
"""The pause before the first restart; it doubles with each one in a row (12.8 s at last, 25 s in all)."""

_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>; prctl(2)
_CANNOT_RUN = 127  # what a shell answers for a command that can't be run


class Processes:
    """What the guard needs of the operating system: one child, one owner, a clock.

    Args:
        command: Path of the binary, then its arguments.
        owner_fd: Readable as soon as the owner has gone (end of file).
        wakeup_fd: Readable, without blocking, after a signal such as SIGCHLD.
        status_fd: Where the owner reads what happens.
    """

    def __init__(self, command: list[str], *, owner_fd: int, wakeup_fd: int, status_fd: int) -> None:
        self._command = command
        self._owner_fd = owner_fd
        self._wakeup_fd = wakeup_fd
        self._status_fd = status_fd
        self._libc = ctypes.CDLL(None)  # loaded before any fork: a forked child should only exec

    def now_s(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.monotonic()

    def tell(self, line: str) -> None:
        """Tells the owner, if there still is one."""
        try:
            os.write(self._status_fd, f"{line}\n".encode())
        except BrokenPipeError:
            return  # it has gone; the end of standard input says so too, and ends the guard

    def spawn(self) -> int:
        """Starts the command, its output appended to the log that is our standard error.

        Returns:
            The child's process id.
        """
        guard_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._become_command(guard_pid)
        return pid

    def _become_command(self, guard_pid: int) -> None:
        """In the child: never returns."""
        try:
            if sys.platform == "linux":
                self._libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
            if os.getppid() == guard_pid:  # else the guard died before the signal was armed
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(2, 1)
                os.execv(self._command[0], self._command)  # noqa: S606 - a fixed command, no shell wanted
        except OSError as fault:
            os.write(2, f"{self._command[0]} can't be run: {fault.strerror}\n".encode())
        finally:
            os._exit(_CANNOT_RUN)

    def wait(self, pid: int) -> int | None:
        """Waits for the end of the child or of the owner.

        Returns:
            The child's exit status (minus the signal's number where one killed it), or None where
            the owner has gone, whatever the child does.
        """
        while True:
            readable, _, _ = select.select([self._owner_fd, self._wakeup_fd], [], [])
            if self._owner_fd in readable:
                return None
            os.read(self._wakeup_fd, 512)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)

    def stop(self, pid: int) -> None:
        """Ends the child: SIGTERM, and SIGKILL where that takes longer than ``STOP_GRACE_S``."""
        os.kill(pid, signal.SIGTERM)
        deadline_s = time.monotonic() + STOP_GRACE_S
        while (left_s := deadline_s - time.monotonic()) > 0:
            if os.waitpid(pid, os.WNOHANG)[0]:
                return
            if select.select([self._wakeup_fd], [], [], left_s)[0]:
                os.read(self._wakeup_fd, 512)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def owner_goes_within(self, pause_s: float) -> bool:
        """Waits out a pause; True at once where the owner goes during it."""
        return bool(select.select([self._owner_fd], [], [], pause_s)[0])


def supervise(processes: Processes) -> int:
    """Runs the command until the owner goes, and again where it ends by itself.

    Returns:
        The guard's exit status: 0 where the owner went, 1 where the command kept ending.
    """
    ends_in_a_row = 0
    while True:
        started_s = processes.now_s()
        pid = processes.spawn()
        processes.tell(f"up {pid}")
        status = processes.wait(pid)
        if status is None:
            processes.stop(pid)
            return 0
        was_calm = processes.now_s() - started_s >= CALM_S
        ends_in_a_row = 1 if was_calm else ends_in_a_row + 1
        if ends_in_a_row > RESTARTS:
            processes.tell(f"lost {status}")
            return 1
        processes.tell(f"down {status}")
        if processes.owner_goes_within(FIRST_PAUSE_S * 2 ** (ends_in_a_row - 1)):
            return 0


def main(command: list[str]) -> int:
    """Guards ``command``; standard input, output and error are as the module says.

    Returns:
        The exit status, see ``supervise``.
    """
    wakeup_fd, signalled_fd = os.pipe()
    os.set_blocking(signalled_fd, False)
    signal.set_wakeup_fd(signalled_fd, warn_on_full_buffer=False)
    # Handlers, not SIG_IGN: what is ignored would stay ignored in Valkey, and SIGTERM is how we stop it.
    for wakes in (signal.SIGCHLD, signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(wakes, lambda *_: None)
    return supervise(Processes(command, owner_fd=0, wakeup_fd=wakeup_fd, status_fd=1))


if __name__ == "__main__":  # pragma: no cover - runs as a process of its own only
    sys.exit(main(sys.argv[1:]))
