"""The journal of executions: what a restart knows of those that were begun.

One line for each step, on the disk before the step is taken:

=========  ===================================  =====================================================
last line  the process ended                    after a restart
=========  ===================================  =====================================================
(none)     before the grant was spent           asked and waited for as before; nothing has run
begun      before or after the grant was        not spent: spent now, in a new execution. Spent:
           spent, and before the tool started   unknown, though the tool had not started
started    while it ran, or before its end      unknown: it may have run
           was written
ended      before the outcome was reported      reported now; it does not run again
over       later                                it does not run again
=========  ===================================  =====================================================

*Unknown* is :class:`~placet.client.refusals.ExecutionUnknown`, except for tools that are declared idempotent:
these run again under the same key. Without a journal the service's record alone is gone by; it knows whether
a grant is spent, so that nothing runs twice, but not how far an execution came.
"""

import fcntl
import os
from pathlib import Path
from threading import Lock
from typing import Final, Literal, Protocol

import msgspec

from placet.client.quiet import Quiet

Phase = Literal["begun", "started", "ended", "over"]

_PRIVATE: Final = 0o600


class Entry(Quiet, frozen=True, kw_only=True):
    """A step of an execution. No input, no token and no result is in it.

    Attributes:
        approval: The approval's id.
        execution: The execution's.
        digest: What was granted.
        phase: Which step.
        status: How it ended, where it did.
    """

    approval: str
    execution: str
    digest: str
    phase: Phase
    status: str | None = None


class Journal(Protocol):
    """Where steps are kept. Called from any thread."""

    def write(self, entry: Entry) -> None:
        """Keep it: on return it outlives this process. Whatever is raised, the step is not taken."""

    def find(self, approval: str, execution: str) -> Entry | None:
        """The last step of an execution; None where it is over, or of somebody else."""


class FileJournal:
    """A journal in a file of this process alone: a line of JSON for each step, readable by its owner.

    What is over is dropped when it is opened. A last line that was cut off does not count: its step was
    never taken.

    Args:
        path: The file; made. Beside it a file ``.lock``.

    Raises:
        OSError: It can't be had; ``BlockingIOError`` where another process holds it.
        msgspec.DecodeError: A line of it is none of a journal's.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._mutex = Lock()
        self._broken = False  # what a failed fsync has kept nobody knows, and the next one doesn't say
        self._held = os.open(f"{self._path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._known = self._read()
            self._file = self._compacted()
        except BaseException:
            os.close(self._held)
            raise

    def write(self, entry: Entry) -> None:
        """Append, and wait for the disk."""
        with self._mutex:
            if self._broken:
                raise OSError("the journal could not be written before; what is in it is not known")
            self._broken = True
            _append(self._file, entry)
            self._broken = False
            _learn(self._known, entry)

    def find(self, approval: str, execution: str) -> Entry | None:
        """The last step of an execution; None where it is over, or of somebody else."""
        with self._mutex:
            return self._known.get((approval, execution))

    def close(self) -> None:
        """Let another process have it."""
        os.close(self._file)
        os.close(self._held)

    def _read(self) -> dict[tuple[str, str], Entry]:
        try:
            *lines, _cut = self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        known: dict[tuple[str, str], Entry] = {}
        for line in lines:
            _learn(known, msgspec.json.decode(line, type=Entry))
        return known

    def _compacted(self) -> int:
        """A new file with what counts, in the place of the old one; left open to be appended to."""
        beside = self._path.with_name(f"{self._path.name}.new")
        beside.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        file = os.open(beside, flags, _PRIVATE)
        for entry in self._known.values():
            _append(file, entry)
        os.fsync(file)
        beside.replace(self._path)
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
        return file


def _learn(known: dict[tuple[str, str], Entry], entry: Entry) -> None:
    name = (entry.approval, entry.execution)
    if entry.phase == "over":
        known.pop(name, None)
    else:
        known[name] = entry


def _append(file: int, entry: Entry) -> None:
    line = msgspec.json.encode(entry) + b"\n"
    if os.write(file, line) != len(line):
        raise OSError("the journal's disk is full")
    os.fsync(file)
