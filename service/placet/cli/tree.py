"""A JSON value as an indented tree that can be trusted: exact, and what is hidden is marked.

Lines are parted here: one that wrapped by itself would go on at the margin, and could pass for ours.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Raw, Struct

from placet.cli.console import Ink, Terminal
from placet.cli.layout import columns_of, wrap
from placet.domain.redaction import parse_pointer
from placet.domain.text import visible

HIDDEN: Final = "⟨hidden from approvers⟩"
_INDENT: Final = "  "
_LEAST_COLUMNS: Final = 24
"""Room that a value has at least, however deep it lies and however long its name is."""
_LINE_MEMBERS_MAX: Final = 24
"""Most members of a container that is shown in one line, where that is not too long."""
_ESCAPE: Final = re.compile(r"\\(.)")


class Number(Struct, frozen=True):
    """A number with a point or an exponent, in the spelling it came in."""

    text: str


def decode(raw: Raw) -> Any:  # noqa: ANN401 - JSON of any shape
    """Decode JSON for :func:`tree`."""
    return json.loads(bytes(raw), parse_float=Number)


def tree(
    value: Any,  # noqa: ANN401 - JSON of any shape
    terminal: Terminal,
    *,
    redacted: Sequence[str] = (),
    indent: str = "",
) -> list[str]:
    """The lines of a value.

    Args:
        value: JSON, decoded by :func:`decode`.
        terminal: Gives width and colours.
        redacted: JSON Pointers of what is hidden in it.
        indent: What each line begins with.
    """
    hidden = frozenset(parse_pointer(pointer) for pointer in redacted)
    return list(_Writer(terminal, hidden, indent).value(value, (), "", ""))


class _Writer:
    def __init__(self, terminal: Terminal, hidden: frozenset[tuple[str, ...]], margin: str) -> None:
        self._terminal = terminal
        self._hidden = hidden
        self._margin = margin
        self._levels_max = (terminal.width - columns_of(margin)) // (2 * len(_INDENT))

    def value(self, value: Any, path: tuple[str, ...], name: str, comma: str) -> Iterator[str]:  # noqa: ANN401
        """The lines of a value behind its name (``"key": ``, or nothing)."""
        indent = self._margin + _INDENT * min(len(path), self._levels_max)
        if path in self._hidden:
            yield from self._lines(HIDDEN + comma, indent, name, Ink.YELLOW)
        elif isinstance(value, (dict, list)) and value:
            whole = _in_one_line(value) if path and not self._hides_below(path) else None
            if whole is not None and columns_of(indent + name + whole) < self._terminal.width:
                yield indent + self._terminal.paint(name, Ink.CYAN) + whole + comma
                return
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            yield from self._lines(opening, indent, name)
            yield from self._members(value, path)
            yield indent + closing + comma
        else:
            yield from self._lines(_quoted(value) + comma, indent, name)

    def _hides_below(self, path: tuple[str, ...]) -> bool:
        return any(hidden[: len(path)] == path for hidden in self._hidden)

    def _members(self, value: dict[str, Any] | list[Any], path: tuple[str, ...]) -> Iterator[str]:
        members = (
            [(key, f"{_quoted(key)}: ", member) for key, member in value.items()]
            if isinstance(value, dict)
            else [(str(place), "", item) for place, item in enumerate(value)]
        )
        for place, (step, name, member) in enumerate(members, start=1):
            yield from self.value(member, (*path, step), name, "," if place < len(members) else "")

    def _lines(self, text: str, indent: str, name: str, *inks: Ink) -> Iterator[str]:
        """A name and one line of JSON, in several lines where that is long or has line feeds in it."""
        paint, width = self._terminal.paint, self._terminal.width
        if columns_of(indent + name) > width - _LEAST_COLUMNS:
            yield from wrap(name, width, first=indent, rest=indent, at_blanks=False)
            indent, name = indent + _INDENT, ""
        hanging = indent + " " * columns_of(name)
        parts = _ESCAPE.sub(lambda pair: pair[0] + "\n" * (pair[1] == "n"), text).split("\n")
        lines = [line for part in parts for line in wrap(part, width - columns_of(hanging), at_blanks=False)]
        yield indent + paint(name, Ink.CYAN) + paint(lines[0], *inks)
        for line in lines[1:]:
            yield hanging + paint(line, *inks)


def _in_one_line(value: dict[str, Any] | list[Any]) -> str | None:
    """A container in one line, where it has a few members and each of them is a scalar."""
    members = value.values() if isinstance(value, dict) else value
    if len(value) > _LINE_MEMBERS_MAX or any(isinstance(each, (dict, list)) and each for each in members):
        return None
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {_quoted(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(_quoted, value)) + "]"


def _quoted(value: Any) -> str:  # noqa: ANN401 - a scalar or an empty container
    """JSON in one line, with whatever JSON leaves to mislead a reader spelled out."""
    return value.text if isinstance(value, Number) else visible(json.dumps(value, ensure_ascii=False))
