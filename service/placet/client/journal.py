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

import errno
import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import Final, Literal, Protocol

import msgspec

from placet.client.quiet import Quiet

Phase = Literal["begun", "started", "ended", "over"]

_PRIVATE: Final = 0o600
_OTHERS_WRITE: Final = 0o022
_LINES_MIN: Final = 10_000
_LINES_EACH: Final = 8
"""The file is written anew once it has more lines than either says, for each that counts: it stays small."""


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

    What is over is dropped when it is opened, and when much of the file is. A last line that was cut off does
    not count: its step was never taken.

    Args:
        path: The file; made. Beside it files ``.lock`` and, for a moment, ``.new``.

    Raises:
        OSError: It can't be had, as where it is a symbolic link, or another user's to write;
            ``BlockingIOError`` where another process holds it.
        msgspec.DecodeError: A line of it is none of a journal's.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._mutex = Lock()
        self._process = os.getpid()
        self._broken = False  # what a failed fsync has kept nobody knows, and the next one doesn't say
        self._known: dict[tuple[str, str], Entry] = {}
        self._file = -1
        self._lines = 0
        self._held = _own(f"{self._path}.lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read()
            self._compact()
        except BaseException:
            os.close(self._held)
            raise

    def write(self, entry: Entry) -> None:
        """Append, and wait for the disk."""
        if os.getpid() != self._process:  # before the mutex, which a thread that is not here may hold
            raise OSError("the journal is another process's, from which this one was forked")
        with self._mutex:
            if self._broken:
                raise OSError("the journal could not be written before; what is in it is not known")
            if self._file < 0:  # its number may be another file's by now
                raise OSError("the journal is closed")
            self._broken = True
            _append(self._file, [entry])
            _learn(self._known, entry)
            self._lines += 1
            if self._lines > _LINES_MIN and self._lines > _LINES_EACH * len(self._known):
                self._compact()
            self._broken = False

    def find(self, approval: str, execution: str) -> Entry | None:
        """The last step of an execution; None where it is over, or of somebody else."""
        return self._known.get((approval, execution))  # nobody waits here for the disk

    def close(self) -> None:
        """Let another process have it. Nothing more can be written."""
        with self._mutex:
            file, self._file = self._file, -1
            if file >= 0:
                os.close(file)
                os.close(self._held)

    def _read(self) -> None:
        try:
            file = _own(self._path, os.O_RDONLY)
        except FileNotFoundError:
            return
        with os.fdopen(file, "rb") as opened:
            *lines, _cut = opened.read().split(b"\n")
        for line in lines:
            _learn(self._known, msgspec.json.decode(line, type=Entry))

    def _compact(self) -> None:
        """A new file with what counts, in the place of the old one; left open to be appended to."""
        beside = self._path.with_name(f"{self._path.name}.new")
        beside.unlink(missing_ok=True)
        file = _own(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        try:
            _append(file, self._known.values())
            beside.replace(self._path)
            directory = os.open(self._path.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)
        except BaseException:
            os.close(file)
            raise
        old, self._file = self._file, file
        if old >= 0:
            os.close(old)
        self._lines = len(self._known)


def _own(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file of this user's, in its own place: elsewhere another might write it, or be written over."""
    file = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    found = os.fstat(file)
    if found.st_uid != os.geteuid() or found.st_mode & _OTHERS_WRITE:
        os.close(file)
        raise PermissionError(errno.EPERM, "the journal is another user's to write", os.fspath(path))
    return file


def _learn(known: dict[tuple[str, str], Entry], entry: Entry) -> None:
    name = (entry.approval, entry.execution)
    if entry.phase == "over":
        known.pop(name, None)
    else:
        known[name] = entry


def _append(file: int, entries: Iterable[Entry]) -> None:
    lines = b"".join(msgspec.json.encode(each) + b"\n" for each in entries)
    if lines and os.write(file, lines) != len(lines):
        raise OSError("the journal's disk is full")
    os.fsync(file)
