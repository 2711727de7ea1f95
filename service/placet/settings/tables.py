"""Reading a table of a TOML file by members: what is wrong is noted with its place, and reading goes on.

A member that is wrong reads as if it were not there, so that one mistake is told once.
"""

import difflib
from collections.abc import Iterable, Mapping
from datetime import date, time
from enum import StrEnum
from typing import Any, Final, TypeVar

from placet.domain import durations
from placet.domain.people import Fault, Path

_E = TypeVar("_E", bound=StrEnum)
_SHOWN_MAX_CHARS: Final = 60
_KINDS: Final[Mapping[type, str]] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number with a point",
    str: "a text",
    list: "a list",
    dict: "a table",
    date: "a date",  # a date with a time is one too
    time: "a time",
}


class Table:
    """A table that is being read.

    Args:
        members: As :mod:`tomllib` gives them.
        path: Where it is in the file.
        what: What it is, as in "a rule".
        faults: Where faults are noted.
    """

    def __init__(self, members: Mapping[str, Any], path: Path, what: str, faults: list[Fault]) -> None:
        self._members = members
        self._what = what
        self._faults = faults
        self._asked_for: set[str] = set()
        self.path = path

    def has(self, name: str) -> bool:
        """Whether a member is there, right or wrong."""
        self._asked_for.add(name)
        return name in self._members

    def fault(self, message: str, *steps: str | int, warns: bool = False) -> None:
        """Note what is wrong with the table, or with what is so many steps below it."""
        self._faults.append(Fault(path=(*self.path, *steps), message=message, warns=warns))

    def note(self, fault: Fault) -> None:
        """Note a fault that was found elsewhere."""
        self._faults.append(fault)

    def required(self, *names: str) -> bool:
        """Whether these members are there; whichever is not, is noted."""
        missing = [name for name in names if not self.has(name)]
        for name in missing:
            self.fault(f"{self._what.capitalize()} needs {name}: write it here.")
        return not missing

    def text(self, name: str) -> str | None:
        """A text that is not blank."""
        value = self._typed(name, str, f'{name} = "…"')
        if isinstance(value, str) and not value.strip():
            self.fault(f"{name} is blank: write something, or remove it.", name)
            return None
        return value if isinstance(value, str) else None

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, at least one, none blank and none twice."""
        value = self._typed(name, list, f'{name} = ["…"]')
        if not isinstance(value, list):
            return None
        if not value:
            self.fault(f"{name} is empty: write something into it, or remove it.", name)
            return None
        wrong = [place for place, item in enumerate(value) if not (isinstance(item, str) and item.strip())]
        for place in wrong:
            self.fault(f"Each of {name} must be a text in quotes that is not blank.", name, place)
        if wrong:
            return None
        for place, item in enumerate(value):
            if item in value[:place]:
                self.fault(f"{_shown(item)} is there twice: remove one.", name, place)
        return tuple(dict.fromkeys(value))

    def whole(self, name: str, least: int, most: int) -> int | None:
        """A whole number in a range."""
        value = self._typed(name, int, f"{name} = {least}")
        if not isinstance(value, int):
            return None
        if not least <= value <= most:
            self.fault(f"{name} must be {least} to {most}.", name)
            return None
        return value

    def flag(self, name: str) -> bool | None:
        """True or false."""
        value = self._typed(name, bool, f"{name} = true")
        return value if isinstance(value, bool) else None

    def duration_ms(self, name: str) -> int | None:
        """A duration, in milliseconds."""
        value = self._typed(name, str, f'{name} = "15m": {durations.FORM}')
        if not isinstance(value, str):
            return None
        try:
            return durations.read(value)
        except ValueError as error:
            self.fault(f"{_shown(value)} is no duration: {error}.", name)
            return None

    def choice(self, name: str, words: type[_E]) -> _E | None:
        """One of some words."""
        value = self._typed(name, str, f'{name} = "{next(iter(words))}"')
        return self._word(value, words, name) if isinstance(value, str) else None

    def choices(self, name: str, words: type[_E]) -> tuple[_E, ...] | None:
        """Some of some words, at least one."""
        value = self.texts(name)
        if value is None:
            return None
        found = [self._word(item, words, name, place) for place, item in enumerate(value)]
        return tuple(word for word in found if word is not None) or None

    def table(self, name: str, what: str) -> "Table | None":
        """A table below this one."""
        value = self._typed(name, dict, f"{name} = {{ … }}")
        return Table(value, (*self.path, name), what, self._faults) if isinstance(value, dict) else None

    def tables(self, name: str, what: str) -> list["Table"]:
        """A list of tables below this one; an empty list where there is none."""
        value = self._typed(name, list, f"[[{name}]]")
        if not isinstance(value, list):
            return []
        found = []
        for place, item in enumerate(value):
            if isinstance(item, dict):
                found.append(Table(item, (*self.path, name, place), what, self._faults))
            else:
                self.fault(f"Each of {name} must be a table, {{ … }}, not {_kind(item)}.", name, place)
        return found

    def names(self) -> list[str]:
        """The names of all members, where these are not known beforehand."""
        return list(self._members)

    def end(self) -> None:
        """Note every member that nobody has asked for."""
        for name in self._members:
            if name not in self._asked_for:
                known = sorted(self._asked_for)
                hint = meant(name, known) or f"; there are {', '.join(known)}."
                self.fault(f"{self._what.capitalize()} has no {_shown(name)}{hint}", name)

    def _typed(self, name: str, kind: type, example: str) -> object:
        if not self.has(name):
            return None
        value = self._members[name]
        if type(value) is not kind:  # True is an int to isinstance
            self.fault(f"{name} must be {_KINDS[kind]}, not {_kind(value)}: write {example}.", name)
            return None
        return value

    def _word(self, value: str, words: type[_E], *steps: str | int) -> _E | None:
        try:
            return words(value)
        except ValueError:
            hint = meant(value, words) or f": write {' or '.join(words)}."
            self.fault(f"There is no {_shown(value)} here{hint}", *steps)
            return None


def meant(word: str, known: Iterable[str]) -> str:
    """What was probably meant, to end a sentence with; empty where nothing is near."""
    candidates = {each.lower(): str(each) for each in known}
    near = difflib.get_close_matches(word.lower(), candidates, n=1)
    return f"; did you mean {candidates[near[0]]!r}?" if near else ""


def _shown(text: str) -> str:
    """A text of the file in a message: its beginning, with what could mislead a reader spelled out."""
    return repr(text if len(text) <= _SHOWN_MAX_CHARS else f"{text[:_SHOWN_MAX_CHARS]}…")


def _kind(value: object) -> str:
    return next((word for kind, word in _KINDS.items() if isinstance(value, kind)), "this")
