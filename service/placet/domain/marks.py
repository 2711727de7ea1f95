"""Combining marks: which are written on what, and which only cover, pile up, or belong to nothing.

A mark has no place of its own: it is drawn on the character before it. Accents, vowel signs and tone marks
sit there in ordinary writing, on letters. A stroke through a figure, a ring around it or a mark behind a
quotation mark is in no orthography; it makes ``100`` look struck out, and ``ab`` look like ``a/b``.

After UTS #39 §5.4, "Optional Detection", and the properties General_Category, Canonical_Combining_Class and
Name of the running Python.
"""

import unicodedata
from functools import lru_cache
from typing import Final

STACKED_MARKS_MAX: Final = 4
"""Marks that all scripts share on one base, beyond which they are a flood: the number of UTS #39 §5.4. Three
are not enough: Greek with a macron takes four."""
_MARKS_MAX: Final = 8
"""The same of all marks: what Tibetan piles up in a mantra, and more than Hebrew does with cantillation."""

_OVERLAY: Final = 1  # Canonical_Combining_Class of what is drawn across its base
_DOTTED_CIRCLE: Final = "\u25cc"  # stands for any base where a mark is spoken of (Unicode §2.11)
_EMOJI_STYLE: Final = "\ufe0f"
_KEYCAP: Final = "\u20e3"
_KEYCAP_BASES: Final = frozenset("0123456789#*")

# First words of the names of letters that take no marks but those that all scripts share ("COMBINING …").
_PLAIN_LETTERS: Final = frozenset(
    {"ARMENIAN", "CYRILLIC", "FULLWIDTH", "GREEK", "LATIN", "MATHEMATICAL", "MODIFIER"}
)
_SHARED: Final = "COMBINING"


def is_mark(char: str) -> bool:
    """Say whether this is drawn on, below or beside the character before it."""
    return unicodedata.category(char)[0] == "M"


def covers(mark: str) -> bool:
    """Say whether a mark is drawn across its base, or around it.

    The strokes of single scripts (Bassa tones, Vedic accents) are their letters' own: they are judged by what
    they stand on alone.
    """
    if unicodedata.category(mark) == "Me":
        return True
    return unicodedata.combining(mark) == _OVERLAY and _word(mark) == _SHARED


def is_keycap(text: str, position: int) -> bool:
    """Say whether the mark there closes the emoji of a key: figure, selector, frame (UTS #51 §1.4.3)."""
    if text[position] != _KEYCAP or position < 2:  # noqa: PLR2004 - a figure and a selector
        return False
    return text[position - 1] == _EMOJI_STYLE and text[position - 2] in _KEYCAP_BASES


def is_astray(text: str, position: int) -> bool:
    """Say whether the mark there is one too many, the same again, or on what takes none such."""
    mark = text[position]
    if text[position - 1 : position] == mark:
        return True
    base, shared = position - 1, int(_word(mark) == _SHARED)
    while base >= 0 and is_mark(text[base]):
        shared += _word(text[base]) == _SHARED
        base -= 1
        if shared > STACKED_MARKS_MAX or position - base > _MARKS_MAX:
            return True
    return base < 0 or not _takes(text[base], mark)


def _takes(base: str, mark: str) -> bool:
    """Say whether anybody writes such a mark on such a character.

    Figures and signs take what is of their own script or notation; letters take what is shared by all, and
    what scripts borrow from one another.
    """
    word, other = _word(mark), _word(base)
    if word == other:
        return True
    if unicodedata.category(base)[0] != "L" and base != _DOTTED_CIRCLE:
        return False
    return word == _SHARED or other not in _PLAIN_LETTERS


@lru_cache(maxsize=4096)
def _word(char: str) -> str:
    """The first word of a character's name, which is that of its script (:mod:`placet.domain.characters`)."""
    return unicodedata.name(char, "").replace("-", " ").partition(" ")[0]
