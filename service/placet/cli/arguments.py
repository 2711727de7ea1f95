"""What may stand behind an option, read for argparse: a value, or a sentence on what it must be."""

import argparse
from collections.abc import Callable
from typing import Any, Final

from placet.domain.events import IN_STREAM, EventType
from placet.domain.principals import Scope

_SHA256_CHARS: Final = 64


def _reader(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A reader whose sentence argparse passes on; it drops that of a plain ValueError."""

    def reader(text: str) -> Any:  # noqa: ANN401 - whatever `read` gives
        try:
            return read(text)
        except ValueError as fault:
            raise argparse.ArgumentTypeError(str(fault)) from None

    return reader


def _listed(text: str) -> tuple[str, ...]:
    items = tuple(item.strip() for item in text.split(","))
    if not all(items):
        raise ValueError("must be a list separated by commas, without empty places")
    return items


def _scopes(text: str) -> frozenset[Scope]:
    items = _listed(text)
    unknown = [item for item in items if item not in set(Scope)]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no scope; there are {', '.join(Scope)}")
    return frozenset(map(Scope, items))


def _events(text: str) -> frozenset[str]:
    items = [item.removeprefix("approval.") for item in _listed(text)]
    unknown = [item for item in items if item not in IN_STREAM]
    if unknown:
        known = ", ".join(event for event in EventType if event in IN_STREAM)
        raise ValueError(f"{unknown[0]!r} is no event; there are {known}")
    return frozenset(items)


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError("must be a whole number from 1")
    return int(text)


def _digest(text: str) -> str:
    if len(text) != _SHA256_CHARS or set(text) - set("0123456789abcdef"):
        raise ValueError("must be the 64 hexadecimal digits that the card shows")
    return text


listed, scopes, events, count, digest = map(_reader, (_listed, _scopes, _events, _count, _digest))
