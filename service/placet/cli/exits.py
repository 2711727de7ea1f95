"""How a command ends: its exit status, and what it says where it did not do what was asked."""

from enum import IntEnum


class Exit(IntEnum):
    """Exit statuses. They are part of the interface: additions allowed, meanings never changed."""

    OK = 0
    """It was done."""
    FAILED = 1
    """It was refused, or did not succeed."""
    USAGE = 2
    """The command line, or a ``PLACET_`` variable, is wrong. The parser's own status too."""
    UNREACHABLE = 3
    """The service or the store can't be reached, or was lost."""
    UNWRITTEN = 4
    """The output could not be written. What was to be changed may have been: standard error says."""
    INTERRUPTED = 130
    """Ctrl-C; 128 and the signal's number, as shells have it."""
    BROKEN_PIPE = 141
    """Whoever read the output has gone; likewise."""


class Stop(Exception):  # noqa: N818 - an end, not always an error
    """A foreseeable end before the end. The message says what happened and what to do.

    Args:
        message: Whole sentences.
        status: The exit status.
        notes: Further lines, each a fault of its own.
    """

    def __init__(self, message: str, status: Exit = Exit.FAILED, *, notes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.notes = notes
