"""Long text cut for display: with a visible mark, its full length, and no character torn apart."""

import re
import unicodedata
from typing import Final

from msgspec import Struct

# Longest run of code points held together at a cut; an honest cluster is shorter (the longest emoji has 10).
_CLUSTER_MAX: Final = 32
_ESCAPE: Final = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩")
_ESCAPE_CHARS: Final = 10
_ZWJ: Final = "\u200d"
_VIRAMA: Final = 9  # Canonical_Combining_Class of the sign that joins two Indic consonants
_SKIN_TONE: Final = re.compile("[\U0001f3fb-\U0001f3ff]")
_TAG: Final = re.compile("[\U000e0020-\U000e007f]")
_REGIONAL: Final = re.compile("[\U0001f1e6-\U0001f1ff]+$")
_LEADING_JAMO: Final = re.compile("[\u1100-\u115f\ua960-\ua97c]")
_HANGUL: Final = re.compile("[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]")
_TRAILING_JAMO: Final = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")


class Cut(Struct, frozen=True, kw_only=True):
    """A text as it fits.

    Attributes:
        text: what to show; where cut, it ends in a mark that says so.
        full_chars: length of the whole text, in code points.
        was_cut: whether anything is missing.
    """

    text: str
    full_chars: int
    was_cut: bool


def cut(text: str, max_chars: int) -> Cut:
    """Shorten a text to at most `max_chars` code points, the mark included.

    The cut falls between grapheme clusters (UAX #29) and never inside an escape that
    `placet.domain.text.visible` made; a cluster longer than any honest one is cut where the room ends.

    Args:
        text: the text, before or after `visible`.
        max_chars: room there is, at least 1.

    Raises:
        ValueError: there is no room even for the mark.
    """
    if max_chars < 1:
        raise ValueError("max_chars must be at least 1")
    full = len(text)
    if full <= max_chars:
        return Cut(text=text, full_chars=full, was_cut=False)
    mark = f"… ⟨cut: {full} characters in all⟩"
    if len(mark) >= max_chars:
        mark = "…"
    end = boundary(text, max_chars - len(mark))
    return Cut(text=text[:end] + mark, full_chars=full, was_cut=True)


def boundary(text: str, end: int) -> int:
    """Find the last place at or before `end`, which lies inside the text, where it may be parted."""
    for escape in _ESCAPE.finditer(text, max(0, end - _ESCAPE_CHARS), end + _ESCAPE_CHARS):
        if escape.start() < end < escape.end():
            return escape.start()
    for place in range(end, max(0, end - _CLUSTER_MAX), -1):
        if not _holds_together(text, place):
            return place
    return end if end > _CLUSTER_MAX else 0


def _holds_together(text: str, place: int) -> bool:
    """Say whether the characters before and after `place` are one to the reader (after UAX #29 §3.1.1)."""
    before, after = text[place - 1], text[place]
    if unicodedata.category(after).startswith("M") or _ZWJ in {before, after}:
        return True  # GB9, GB9a, GB11
    if unicodedata.combining(before) == _VIRAMA:
        return True  # GB9c
    if _SKIN_TONE.match(after) or _TAG.match(after) or before + after == "\r\n":
        return True  # GB9, GB3
    if _TRAILING_JAMO.match(after):
        return _HANGUL.match(before) is not None  # GB7, GB8
    if _LEADING_JAMO.match(after):
        return _LEADING_JAMO.match(before) is not None  # GB6
    flags = _REGIONAL.search(text[max(0, place - 2 * _CLUSTER_MAX) : place])
    return flags is not None and _REGIONAL.match(after) is not None and len(flags[0]) % 2 == 1  # GB12, GB13
