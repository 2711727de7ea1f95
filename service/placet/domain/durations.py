"""Lengths of time as people write them in files (``90s``, ``15m``, ``12h``, ``30d``), and read them."""

import re
from typing import Final

FORM: Final = "a whole number and a unit, as in 90s, 15m, 12h or 30d"
"""How to write one, to follow the word "write"."""

_UNITS_MS: Final = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000}
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
    left_ms = max(ms, 0)
    counts = []
    for unit, unit_ms in _UNITS_MS.items():
        count, left_ms = divmod(left_ms, unit_ms)
        counts.append((count, unit))
    greatest = next((place for place, (count, _) in enumerate(counts) if count), len(counts) - 1)
    (count, unit), *below = counts[greatest : greatest + 2]
    return " ".join([f"{count}{unit}", *(f"{count}{unit}" for count, unit in below if count)])
