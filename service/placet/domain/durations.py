"""Lengths of time: as people write them in files (``90s``, ``15m``), and as they read them.

Where there are columns, short (``14m 32s``); in sentences and on pages with units that read aloud as what
they are (``14 min 32 s``): an ``m`` by itself is a metre to a screen reader.
"""

import re
from typing import Final

FORM: Final = "a whole number and a unit, as in 90s, 15m, 12h or 30d"
"""How to write one, to follow the word "write"."""

_UNITS_MS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000}
_READ: Final = {"d": "day", "h": "h", "m": "min", "s": "s"}
_FEW_MAX: Final = 9
_WRITTEN: Final = re.compile(r"([1-9][0-9]{0,8})([smhd])", re.ASCII)


def read(text: str) -> int:
    """The milliseconds of a duration.

    Raises:
        ValueError: It is not written as :data:`FORM` says.
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueError(f"write {FORM}")
    return int(match[1]) * _UNITS_MS[match[2]]


def spell(ms: int) -> str:
    """A duration in the greatest unit that it is a whole number of, milliseconds where that is none."""
    for unit, unit_ms in _UNITS_MS.items():
        if ms and ms % unit_ms == 0:
            return f"{ms // unit_ms}{unit}"
    return f"{ms} ms"


def duration(ms: int) -> str:
    """A length of time in its greatest unit and the one below: ``45s``, ``14m 32s``, ``3d 4h``."""
    return " ".join(f"{count}{unit}" for count, unit in _parts(ms))


def read_out(ms: int, *, calm: bool = False) -> str:
    """The same as it is read: ``45 s``, ``14 min 32 s``, ``3 days 4 h``.

    Args:
        ms: The length.
        calm: Leave out the unit below where there are ten of the greatest or more: what counts down then
            changes with the minutes, until it matters.
    """
    parts = _parts(ms)
    if calm and parts[0][0] > _FEW_MAX:
        del parts[1:]
    return " ".join(f"{count} {_READ[unit]}{'s' * (unit == 'd' and count > 1)}" for count, unit in parts)


def _parts(ms: int) -> list[tuple[int, str]]:
    """How many of the greatest unit, and of the one below where there are any."""
    left_ms = max(ms, 0)
    counts = []
    for unit, unit_ms in _UNITS_MS.items():
        count, left_ms = divmod(left_ms, unit_ms)
        counts.append((count, unit))
    greatest = next((place for place, (count, _) in enumerate(counts) if count), len(counts) - 1)
    first, *below = counts[greatest : greatest + 2]
    return [first, *(part for part in below if part[0])]
