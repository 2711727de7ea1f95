"""Reading a table of a TOML file by members: what is wrong is noted with its place, and reading goes on.

A member that is wrong reads as if it were not there, so that one mistake is told once.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, time
from enum import StrEnum
from typing import Any, Final, TypeVar

from placet.domain import durations
from placet.domain.people import Fault, Path
from placet.settings import remedies
from placet.settings.remedies import meant, nearest, shown

_E = TypeVar("_E", bound=StrEnum)
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
_IN_A_LINE: Final = ("oidc", "slack")
"""Lists of tables that are small enough for one."""


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
        self._begun = what[:1].upper() + what[1:]
        self._faults = faults
        self._asked_for: set[str] = set()
        self._missing: list[tuple[tuple[str, ...], str]] = []
        self.path = path

    def has(self, name: str) -> bool:
        """Whether a member is there, right or wrong."""
        self._asked_for.add(name)
        return name in self._members

    def fault(
        self, message: str, *steps: str | int, warns: bool = False, unsure: Iterable[str] | None = None
    ) -> None:
        """Note what is wrong with the table, or with what is so many steps below it.

        Args:
            message: What, and what to write instead.
            steps: Where, from the table.
            warns: Whether it can be used all the same.
            unsure: The table's members that can't be known for it; that place, where nothing is said.
        """
        hidden = None if unsure is None else tuple((*self.path, name) for name in unsure)
        self._faults.append(Fault(path=(*self.path, *steps), message=message, warns=warns, unsure=hidden))

    def note(self, fault: Fault) -> None:
        """Note a fault that was found elsewhere."""
        self._faults.append(fault)

    def required(self, *names: str) -> bool:
        """Whether these members are there; whichever is not, is noted at the end."""
        missing = [name for name in names if not self.has(name)]
        for name in missing:
            example = remedies.example(self._what, name)
            self._missing.append(((name,), f"{self._begun} needs {name}, as in {example}."))
        return not missing

    def one_of(self, *names: str, otherwise: str) -> None:
        """Note at the end, in these words, that not one of these members is there."""
        if sum(map(self.has, names)) == 0:  # each is asked for, whether or not another is there
            example = remedies.example(self._what, names[0])
            self._missing.append((names, f"{otherwise}, as in {example}."))

    def text(self, name: str) -> str | None:
        """A text that is not blank."""
        value = self._typed(name, str, lambda wrong: remedies.of_text(self._what, name, wrong))
        if isinstance(value, str) and not value.strip():
            self.fault(f"{name} is blank: write something, or remove it.", name)
            return None
        return value if isinstance(value, str) else None

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts, at least one, none blank and none twice."""
        value = self._typed(name, list, lambda wrong: remedies.of_texts(self._what, name, wrong))
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
                self.fault(f"{shown(item)} is there twice: remove one.", name, place)
        return tuple(dict.fromkeys(value))

    def whole(self, name: str, least: int, most: int) -> int | None:
        """A whole number in a range."""
        value = self._typed(name, int, lambda wrong: remedies.of_whole(name, wrong, least, most))
        if not isinstance(value, int):
            return None
        if not least <= value <= most:
            self.fault(f"{name} must be {least} to {most}.", name)
            return None
        return value

    def flag(self, name: str) -> bool | None:
        """True or false."""
        value = self._typed(name, bool, lambda wrong: remedies.of_flag(name, wrong))
        return value if isinstance(value, bool) else None

    def duration_ms(self, name: str) -> int | None:
        """A duration, in milliseconds."""
        value = self._typed(name, str, lambda _: f"write it in quotes: {durations.FORM}")
        if not isinstance(value, str):
            return None
        try:
            return durations.read(value)
        except ValueError as error:
            self.fault(f"{shown(value)} is no duration: {error}.", name)
            return None

    def choice(self, name: str, words: type[_E]) -> _E | None:
        """One of some words."""
        value = self._typed(name, str, lambda _: remedies.of_words(words))
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
        value = self._typed(name, dict, lambda wrong: remedies.of_table(self._what, name, wrong))
        return Table(value, (*self.path, name), what, self._faults) if isinstance(value, dict) else None

    def tables(self, name: str, what: str) -> list["Table"]:
        """A list of tables below this one; an empty list where there is none."""
        value = self._typed(name, list, lambda _: self._listed(name))
        if not isinstance(value, list):
            return []
        found = []
        for place, item in enumerate(value):
            if isinstance(item, dict):
                found.append(Table(item, (*self.path, name, place), what, self._faults))
            else:
                self.fault(
                    f"Each of {name} must be a table, not {_kind(item)}: {self._listed(name)}.", name, place
                )
        return found

    def names(self) -> list[str]:
        """The names of all members, where these are not known beforehand."""
        return list(self._members)

    def end(self) -> None:
        """Note every member that nobody has asked for, and whichever is missing.

        One that seems to be a missing one, misspelt, is told as that alone.
        """
        known = sorted(self._asked_for)
        unknown = {name: nearest(name, known) for name in self._members if name not in self._asked_for}
        for names, message in self._missing:
            if set(unknown.values()).isdisjoint(names):
                self.fault(message, unsure=names)
        for name, near in unknown.items():
            hint = meant(name, known) or f"; there {'is' if len(known) == 1 else 'are'} {', '.join(known)}."
            said = f"{self._begun} has no {shown(name)}{hint}"
            self.fault(said, name, unsure=(name,) if near is None else (name, near))

    def _typed(self, name: str, kind: type, remedy: Callable[[object], str]) -> object:
        if not self.has(name):
            return None
        value = self._members[name]
        if type(value) is not kind:  # True is an int to isinstance
            self.fault(f"{name} must be {_KINDS[kind]}, not {_kind(value)}: {remedy(value)}.", name)
            return None
        return value

    def _word(self, value: str, words: type[_E], *steps: str | int) -> _E | None:
        try:
            return words(value)
        except ValueError:
            hint = meant(value, words) or f": {remedies.of_words(words)}."
            self.fault(f"{steps[0]} can't be {shown(value)}{hint}", *steps)
            return None

    def _listed(self, name: str) -> str:
        """How to begin a table of a list: by a header of its own, where it can't be written in a line."""
        if name in _IN_A_LINE:
            return f"write it as in {remedies.example(self._what, name)}"
        return f"write [[{'.'.join(step for step in (*self.path, name) if isinstance(step, str))}]]"


def _kind(value: object) -> str:
    return next((word for kind, word in _KINDS.items() if isinstance(value, kind)), "this")
