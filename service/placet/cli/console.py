"""What a command says, and to whom: results to standard output, everything else to standard error.

With ``--json`` standard output carries JSON and nothing else. Colour and width are asked of each stream
by itself. Whatever came from outside goes through :func:`placet.domain.text.visible` before it gets here;
JSON is ASCII, so that nothing in it can steer a terminal. A stream that takes no more ends the command
(:class:`Unwritten`).
"""

import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import Any, Final, TextIO

from placet.cli.layout import wrap

PATIENCE_S: Final = 1.0
"""Whoever waits longer than this is told what for."""
_LINE_CHARS: Final = 100
_PLAIN: Final = str.maketrans(
    {"✓": "+", "✗": "x", "…": "...", "│": "|", "●": "*", "█": "#", "▒": "x", "░": "o"}
)
"""What our own marks become where a stream can't carry them (an ASCII locale)."""


class Ink(StrEnum):
    """Looks, by their SGR parameters (ECMA-48 §8.3.117)."""

    BOLD = "1"
    DIM = "2"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"
    CYAN = "36"


class Unwritten(Exception):  # noqa: N818 - an end, as Stop is
    """Something could not be written.

    Args:
        fault: What the system says.
        lost: Whole sentences on what is lost with it, and what to do; empty where nothing is.
    """

    def __init__(self, fault: OSError, lost: str = "") -> None:
        super().__init__(fault.strerror or str(fault))
        self.fault = fault
        self.lost = lost


class Terminal:
    """A stream that people may read.

    Attributes:
        stream: The stream itself.
        is_terminal: Whether a person reads it.
        width: Columns of a line, at most 100: longer lines are hard to read.
        room: Columns of a table; None where no window ends it.
    """

    def __init__(self, stream: TextIO, environ: Mapping[str, str]) -> None:
        self.stream = stream
        self.is_terminal = stream.isatty()
        # https://no-color.org: present and not empty, whatever its value.
        self._colours = self.is_terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
        self.room = shutil.get_terminal_size((_LINE_CHARS, 24)).columns if self.is_terminal else None
        self.width = min(self.room or _LINE_CHARS, _LINE_CHARS)
        self._is_plain = not _carries_marks(stream)

    def paint(self, text: str, *inks: Ink) -> str:
        """The text in these inks, or as it is where there are no colours."""
        if not (self._colours and inks and text):
            return text
        return f"\x1b[{';'.join(inks)}m{text}\x1b[0m"

    def line(self, text: str = "", *, end: str = "\n") -> None:
        """Write a line, at once.

        Raises:
            Unwritten: The stream takes no more.
        """
        if self._is_plain:
            text = text.translate(_PLAIN)
        try:
            self.stream.write(text + end)
            self.stream.flush()
        except OSError as fault:
            raise self.lost(fault) from fault

    def wrapped(self, text: str, *, first: str = "", rest: str = "") -> list[str]:
        """The text in lines that a person can read, in one line where something else reads it."""
        return wrap(text, self.width, first=first, rest=rest) if self.is_terminal else [first + text]

    def marked(self, ink: Ink, text: str) -> list[str]:
        """A text behind a mark, wrapped as :meth:`wrapped` does, its further lines below its beginning."""
        first, *others = self.wrapped(text, first="  ", rest="  ")
        return [f"{self.mark(ink)} {first.removeprefix('  ')}", *others]

    def mark(self, ink: Ink) -> str:
        """The mark a line begins with: done, beware, or failed."""
        return self.paint({Ink.GREEN: "✓", Ink.YELLOW: "!", Ink.RED: "✗"}[ink], ink, Ink.BOLD)

    def lost(self, fault: OSError) -> Unwritten:
        """Give the stream up: all that it is given from now on goes nowhere.

        The interpreter flushes it once more at its end, and would complain in words of its own.

        Returns:
            The end to raise.
        """
        with suppress(OSError):  # not every stream has a file
            number = self.stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)
        return Unwritten(fault)


def _carries_marks(stream: TextIO) -> bool:
    try:
        "".join(map(chr, _PLAIN)).encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class Console:
    """A command's two voices.

    Attributes:
        out: Where results go.
        err: Where everything else goes.
        json: Whether results are JSON.
    """

    def __init__(self, out: TextIO, err: TextIO, environ: Mapping[str, str], *, json: bool = False) -> None:
        self.out = Terminal(out, environ)
        self.err = Terminal(err, environ)
        self.json = json

    @property
    def people(self) -> Terminal:
        """Where a text for people goes: beside the JSON, where there is JSON."""
        return self.err if self.json else self.out

    def document(self, value: Any) -> None:  # noqa: ANN401 - any JSON
        """Write a JSON document: on one line, indented for a person at a terminal."""
        self.out.line(json.dumps(value, indent=2 if self.out.is_terminal else None))

    def result(self, value: Any, *lines: str, unless_shown: str = "") -> None:  # noqa: ANN401 - any JSON
        """Write what came out: the document with ``--json``, else the lines; all of it at once.

        Args:
            value: The document.
            lines: The same for people.
            unless_shown: What to say, in whole sentences and without secrets, where it can't be written.

        Raises:
            Unwritten: It can't be.
        """
        try:
            if self.json:
                self.document(value)
            elif lines:
                self.out.line("\n".join(lines))
        except Unwritten as end:
            raise Unwritten(end.fault, unless_shown) from end.fault

    def note(self, text: str) -> None:
        """Say what goes on."""
        for part in text.split("\n"):
            for line in self.err.wrapped(part):
                self.err.line(self.err.paint(line, Ink.DIM))

    def warn(self, text: str) -> None:
        """Say what should be looked at."""
        self._told(Ink.YELLOW, text)

    def fail(self, text: str, *notes: str) -> None:
        """Say why it did not work."""
        self._told(Ink.RED, text)
        for note in notes:
            for line in self.err.wrapped(note, first="  - ", rest="    "):
                self.err.line(line)

    def _told(self, ink: Ink, text: str) -> None:
        first, *others = text.split("\n")
        for line in self.err.marked(ink, first):
            self.err.line(line)
        for part in others:
            for line in self.err.wrapped(part, first="  ", rest="  "):
                self.err.line(line)

    @contextmanager
    def slowly(self, text: str) -> Iterator[None]:
        """Say what is being waited for, should it take longer than :data:`PATIENCE_S`."""

        def explain() -> None:
            with suppress(Unwritten):  # there is nobody to tell, and no command to end from here
                self.note(text)

        timer = threading.Timer(PATIENCE_S, explain)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
