"""How an input begins, in a few words: it tells one line of a list from another, and stands for no card.

``amount: 5000, to: ACME``. Texts that could pass for anything else, be it a number or the next member, are in
quotes; what is hidden is passed over, and of a large input nothing is said.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec
from msgspec import Raw, Struct

from placet.domain.presentation.budget import Budget
from placet.domain.presentation.fitting import beginning
from placet.domain.presentation.tree import Places, places_of
from placet.domain.presentation.writing import quoted

INPUT_BYTES_MAX: Final = 8 * 1024
"""Of an input that is larger nothing is said: a list has many lines, and each takes reading all of it."""
_FACTS_MAX: Final = 3
_MEMBERS_MAX: Final = 32
"""Of one container no more are looked at."""
_NAME_CHARS: Final = 24
_VALUE_CHARS: Final = 40
_STUB_CHARS: Final = 12
"""A value that was cut to less is left out, unless it is the first."""
_SPARE: Final = 4
"""Times as many characters as there is room for are spelled out of one text, as in a tree."""
_MORE: Final = "…"

# What needs no quotes: it begins as no number does, and has nothing that parts members or escapes.
_BARE: Final = re.compile(r"(?:[^\W\d]|[/@])(?:[\w.@/+-]| (?=\S))*")
_WORDS: Final = frozenset({"true", "false", "null"})

_object = msgspec.json.Decoder(dict[str, Raw]).decode
_array = msgspec.json.Decoder(list[Raw]).decode
_text = msgspec.json.Decoder(str).decode


class Fact(Struct, frozen=True, kw_only=True):
    """A scalar of an input.

    Attributes:
        name: The names that lead to it, with dots between them; empty where it is the whole input.
        value: What it is.
    """

    name: str
    value: str

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.name}: {self.value}" if self.name else self.value


def gist(raw: Raw, budget: Budget, *, redacted: Sequence[str] = ()) -> tuple[Fact, ...]:
    """The first scalars of a value, those nearest to its root before others.

    Args:
        raw: JSON.
        budget: The room there is.
        redacted: JSON Pointers of what is hidden in it.
    """
    if len(bytes(raw)) > INPUT_BYTES_MAX:
        return ()
    facts: list[Fact] = []
    left = budget.gist_chars
    for path, scalar in islice(_scalars(raw, places_of(redacted)), _FACTS_MAX):
        name = _within(budget, ".".join(path), min(_NAME_CHARS, left // 2))
        value = _value(scalar)
        room = min(left - budget.cost(f"{name}: "), _VALUE_CHARS)
        if facts and room < min(budget.cost(value), _STUB_CHARS):
            break
        facts.append(Fact(name=name, value=_within(budget, value, room)))
        left -= budget.cost(f"{facts[-1].text}, ")
    return tuple(facts)


def _scalars(raw: Raw, hidden: Places | None) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Each with the names that lead to it, as they are shown."""
    waiting: deque[tuple[tuple[str, ...], Raw, Places | None]] = deque([((), raw, hidden)])
    while waiting:
        path, each, places = waiting.popleft()
        value = bytes(each)
        if places == {}:
            continue
        if value[:1] not in {b"{", b"["}:
            yield path, value
        for step, name, member in islice(_members(value), _MEMBERS_MAX):
            waiting.append(((*path, name), member, None if places is None else places.get(step)))


def _members(value: bytes) -> Iterator[tuple[str, str, Raw]]:
    """What is in a container: steps as JSON Pointers spell them, names as they are shown, values."""
    if value[:1] == b"{":
        for step, member in _object(value).items():
            yield step, quoted(step) if "." in step else _spelt(step), member
    elif value[:1] == b"[":
        for place, item in enumerate(_array(value)):
            yield str(place), str(place), item


def _value(scalar: bytes) -> str:
    return _spelt(_text(scalar)) if scalar[:1] == b'"' else scalar.decode()


def _spelt(text: str) -> str:
    """A text as it is where it can't be taken for anything else, in quotes where it can."""
    part = text[: _SPARE * _VALUE_CHARS]
    spelt = quoted(part)
    if part != text:
        return spelt[:-1] + _MORE
    return text if spelt[1:-1] == text and _BARE.fullmatch(text) and text not in _WORDS else spelt


def _within(budget: Budget, spelt: str, most: int) -> str:
    """As much of it as there is room for; quotes that were opened and not closed say too that it goes on."""
    if budget.cost(spelt) <= most:
        return spelt
    return beginning(budget, spelt, max(most - budget.cost(_MORE), 1)) + _MORE
