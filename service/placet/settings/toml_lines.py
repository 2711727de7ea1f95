"""Where in a TOML document each value is: the line numbers that :mod:`tomllib` does not tell.

A scanner of TOML 1.0 for documents that :mod:`tomllib` has taken already. It reads no values, only where
they begin, and names them as :mod:`tomllib` gives them: by keys, and by places in arrays and in arrays of
tables. In anything else it may find less, but raises nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from placet.domain.people import Path

_BLANK: Final = re.compile(r"[ \t]*")
_SKIPPED: Final = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR: Final = re.compile(r"[^,\]}#\n]*")
# A multi-line string may end in two quotes of its own, before the three that close it.
_STRING: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_CLOSING: Final = {"[": "]", "{": "}"}


def lines_of(text: str) -> Mapping[Path, int]:
    """The line (from 1) at which each table, key and element of ``text`` first stands, by its path."""
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.scan()
    return scanner.lines


def line_at(lines: Mapping[Path, int], path: Path) -> int:
    """The line of a value, or of the nearest that it is in; the first line where nothing is."""
    return next((lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in lines), 1)


class _Container:
    """An array or an inline table that was not yet closed."""

    def __init__(self, path: Path, closing: str) -> None:
        self.path = path
        self.closing = closing
        self.count = 0


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._counts: dict[Path, int] = {}
        self.lines: dict[Path, int] = {}

    def scan(self) -> None:
        """Go through the document: headers of tables, and keys with their values."""
        table: Path = ()
        while True:
            self._skip(_SKIPPED)
            begun = self._at
            if self._takes("["):
                table = self._header()
            else:
                self._value(self._assigned(table))
            if self._at == begun:  # the end, or nothing that we know
                return

    def _header(self) -> Path:
        """``[a.b]`` or ``[[a.b]]``: the table that the keys below belong to."""
        is_array = self._takes("[")
        line = self._line()
        path: Path = ()
        keys = self._key()
        for depth, key in enumerate(keys, start=1):
            path = (*path, key)
            self._found(path, line)
            if is_array and depth == len(keys):
                self._counts[path] = self._counts.get(path, 0) + 1
            if path in self._counts:  # in an array of tables, the latest is meant
                path = (*path, self._counts[path] - 1)
                self._found(path, line)
        self._skip(_BLANK)
        while self._takes("]"):
            pass
        return path

    def _assigned(self, table: Path) -> Path:
        """``key =``: the path of what follows."""
        line, path = self._line(), table
        for key in self._key():
            path = (*path, key)
            self._found(path, line)
        self._takes("=")
        return path

    def _value(self, path: Path) -> None:
        """A value with all that is in it, however deep: without recursion."""
        open_: list[_Container] = []
        self._begin(path, open_)
        while open_:
            begun, container = self._at, open_[-1]
            self._skip(_SKIPPED)
            if self._takes(container.closing):
                open_.pop()
            elif self._takes(","):
                pass
            elif container.closing == "}":
                self._begin(self._assigned(container.path), open_)
            else:
                path = (*container.path, container.count)
                container.count += 1
                self._found(path, self._line())
                self._begin(path, open_)
            if self._at == begun:
                return

    def _begin(self, path: Path, open_: list[_Container]) -> None:
        """Go past a scalar, or into a container."""
        self._skip(_BLANK)
        opening = self._text[self._at : self._at + 1]
        if opening in _CLOSING:
            self._at += 1
            open_.append(_Container(path, _CLOSING[opening]))
        elif _STRING.match(self._text, self._at):
            self._skip(_STRING)
        else:
            self._skip(_SCALAR)

    def _key(self) -> list[str]:
        """A key and those it is dotted with, as they are meant."""
        keys = []
        while True:
            self._skip(_BLANK)
            begun = self._at
            if self._skip(_BARE_KEY):
                keys.append(self._text[begun : self._at])
            elif self._skip(_STRING):
                keys.append(_unquoted(self._text[begun : self._at]))
            self._skip(_BLANK)
            if not self._takes("."):
                return keys

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Go past what matches here; whether something did."""
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match is not None

    def _takes(self, text: str) -> bool:
        taken = self._text.startswith(text, self._at)
        self._at += len(text) if taken else 0
        return taken

    def _line(self) -> int:
        return bisect_right(self._starts, self._at)

    def _found(self, path: Path, line: int) -> None:
        self.lines.setdefault(path, line)


def _unquoted(quoted: str) -> str:
    if quoted.startswith("'"):
        return quoted[1:-1]
    return _ESCAPE.sub(_spelled_out, quoted[1:-1])


def _spelled_out(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return _ESCAPED.get(match[3], match[3])
    point = int(code, 16)
    return chr(point) if point <= 0x10FFFF else ""  # noqa: PLR2004 - the last code point there is
