"""Patterns over names: ``*`` stands for any characters, also none, and everything else for itself."""

import fnmatch
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class Names(StrEnum):
    """What a pattern is over; the words are the members of a rule."""

    TENANTS = "tenants"
    CLIENTS = "clients"
    CAPABILITIES = "capabilities"
    SURFACES = "surfaces"


# The names of domain.limits, each character of which may be a star.
_FORMS: Final[Mapping[Names, tuple[re.Pattern[str], str]]] = MappingProxyType(
    {
        Names.TENANTS: (re.compile(r"[a-z0-9*][a-z0-9*-]*"), "a to z, 0 to 9 and -"),
        Names.CLIENTS: (re.compile(r"[A-Za-z0-9*][A-Za-z0-9*._:-]*"), "A to Z, a to z, 0 to 9 and ._:-"),
        Names.CAPABILITIES: (re.compile(r"[!-~]+"), "visible ASCII"),
        Names.SURFACES: (re.compile(r"[!-~]+"), "visible ASCII"),
    }
)
_MAX_CHARS: Final[Mapping[Names, int]] = MappingProxyType(
    {Names.TENANTS: 63, Names.CLIENTS: 128, Names.CAPABILITIES: 200, Names.SURFACES: 200}
)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern is for this name: case matters, ``*`` spans dots, nothing else is special."""
    return any(fnmatch.fnmatchcase(name, _literal(pattern)) for pattern in patterns)


def covers(wider: str, narrower: str) -> bool:
    """Whether every name that ``narrower`` is for is one that ``wider`` is for.

    A star of ``narrower`` is taken for one character that stands nowhere in ``wider``: only a star of that
    can match it, and so matches whatever may come in its place.
    """
    return fnmatch.fnmatchcase(narrower.replace("*", "\0"), _literal(wider))


def never_matches(pattern: str, names: Names) -> str | None:
    """Why there can be no name that a pattern is for, as a sentence; ``None`` where there can."""
    form, alphabet = _FORMS[names]
    if len(pattern.replace("*", "")) > _MAX_CHARS[names] or form.fullmatch(pattern) is None:
        most = _MAX_CHARS[names]
        return (
            f"{pattern!r} can never match: {names} are made of {alphabet}, {most} characters at most. "
            "Write a name, with * for any characters."
        )
    return None


def _literal(pattern: str) -> str:
    """A pattern in which ``*`` alone is special, as :mod:`fnmatch` takes it."""
    return pattern.replace("[", "[[]").replace("?", "[?]")
