"""Hostile text made visible, flagged and cut, for every channel in which a person reads it.

What a runtime, a model or an approver wrote is untrusted (design §10). A right-to-left override, a zero-width
space or an escape sequence can make the command on the card differ from the command that runs. Here such
characters become plain text like ``⟨U+202E⟩``. Everything is a pure function of the text; what is stored,
bound and run stays as it was.

Escaping for a medium (HTML, Slack's markup) comes after this and is not done here.
"""

import re
import unicodedata
from enum import StrEnum
from typing import Final

from msgspec import Struct

from placet.domain.characters import (
    BIDI_CONTROLS,
    DEFAULT_IGNORABLE,
    LATIN_LOOKALIKE,
    is_noncharacter,
    script_of,
)
from placet.domain.cutting import Cut, cut

__all__ = [
    "POSITIONS_MAX",
    "STACKED_MARKS_MAX",
    "Cut",
    "Finding",
    "Kind",
    "cut",
    "findings",
    "runs_right_to_left",
    "says_something",
    "visible",
]

STACKED_MARKS_MAX: Final = 4
"""Combining marks on one base beyond which they are a flood (UTS #39 §5.4 gives the same number)."""
POSITIONS_MAX: Final = 100
"""Most positions kept in one finding; its count is exact all the same."""

# What can't be a hazard, so that a long text in one of the great scripts costs no call per letter.
_ORDINARY: Final = (
    " -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0559\u3041-\u3096\u4e00-\u9fff\uac00-\ud7a3"
)
_UNUSUAL: Final = re.compile(f"[^{_ORDINARY}]")
_NOT_ASCII: Final = re.compile("[^ -~]")
# U+0300 to U+036F are the combining marks of Latin, Greek and Cyrillic; `\w` has none.
_WORD: Final = re.compile(r"(?:[^\W_]|[\u0300-\u036f])+")
_LATIN_LETTER: Final = re.compile(r"[A-Za-z\u00c0-\u02af\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a]")

# Strong right-to-left letters: the blocks that Unicode keeps for such scripts (DerivedBidiClass.txt).
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

_BREAKS: Final = "\n\t"
_ZWJ: Final = "\u200d"
_EMOJI_STYLES: Final = frozenset("\ufe0e\ufe0f")
_KEYCAP_BASES: Final = frozenset("0123456789#*")
_KEYCAP: Final = "\u20e3"
_BRAILLE_BLANK: Final = "\u2800"
# Spaces of everyday typography: a reader takes them for what they are. Thin, hair and figure spaces hide.
_EVERYDAY_SPACES: Final = " \u00a0\u202f\u3000"


class Kind(StrEnum):
    """What is wrong with a piece of text."""

    BIDI = "bidi"
    """Reorders what is read: embeddings, overrides, isolates, marks (U+202E, U+2066 …)."""
    INVISIBLE = "invisible"
    """Shows as nothing: zero-width, default-ignorable, tags, blanks that pass for a space or for nothing."""
    CONTROL = "control"
    """Has no agreed look: C0 and C1 controls, line separators, surrogates, private use, non-characters."""
    CONFUSABLE = "confusable"
    """A word that passes for a Latin one."""
    COMBINING_FLOOD = "combining-flood"
    """Combining marks stacked past reading, or with nothing to sit on but their neighbours."""


class Finding(Struct, frozen=True, kw_only=True):
    """One kind of hazard in a text.

    Attributes:
        kind: what was found.
        count: how often: characters, or words where the kind is `Kind.CONFUSABLE`.
        positions: where, in code points from 0, ascending; the first `POSITIONS_MAX` of them.
    """

    kind: Kind
    count: int
    positions: tuple[int, ...]


def runs_right_to_left(text: str) -> bool:
    """Whether it has letters that do, beside which others move on a screen."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def says_something(text: str) -> bool:
    """Whether anything of a text can be seen: a letter, a figure, a sign."""
    seen = DEFAULT_IGNORABLE.sub("", text).replace(_BRAILLE_BLANK, "")
    return any(unicodedata.category(char)[0] in "LNPS" for char in seen)


def visible(text: str, *, multiline: bool = False) -> str:
    """Spell out every character that hides, reorders, or passes for another.

    Different texts stay different: a ``⟨`` that would begin a false escape is spelled out too. Hence apply
    it once.

    Args:
        text: any text, lone surrogates included.
        multiline: keep line feeds and tabs as they are.

    Returns:
        The text with each hazard of `Kind` as ``⟨U+XXXX⟩``. Of confusable words only the foreign letters
        among Latin ones are spelled out; a word wholly of look-alikes is left readable, and `findings` says
        so.
    """
    kept = _BREAKS if multiline else ""
    foreign = {
        word.start() + match.start()
        for word in _confusable_words(text)
        if _LATIN_LETTER.search(word[0])
        for match in LATIN_LOOKALIKE.finditer(word[0])
    }

    def show(match: re.Match[str]) -> str:
        char, position = match[0], match.start()
        if char in kept:
            return char
        if position in foreign or text.startswith("⟨U+", position) or _hazard(text, position) is not None:
            return f"⟨U+{ord(char):04X}⟩"
        return char

    return (_NOT_ASCII if foreign else _UNUSUAL).sub(show, text)


def findings(text: str) -> tuple[Finding, ...]:
    """Say what in a text could mislead its reader; line feeds and tabs alone could not.

    Returns:
        At most one finding per kind, in the order of `Kind`; empty for a harmless text.
    """
    found: dict[Kind, list[int]] = {}
    for match in _UNUSUAL.finditer(text):
        kind = None if match[0] in _BREAKS else _hazard(text, match.start())
        if kind is not None:
            found.setdefault(kind, []).append(match.start())
    words = [word.start() for word in _confusable_words(text)]
    if words:
        found[Kind.CONFUSABLE] = words
    return tuple(
        Finding(kind=kind, count=len(found[kind]), positions=tuple(found[kind][:POSITIONS_MAX]))
        for kind in Kind
        if kind in found
    )


def _hazard(text: str, position: int) -> Kind | None:
    """Judge one character where it stands."""
    char = text[position]
    category = unicodedata.category(char)
    if char in BIDI_CONTROLS:
        return Kind.BIDI
    if category in {"Cc", "Co", "Cs", "Zl", "Zp"} or is_noncharacter(char):
        return Kind.CONTROL
    if DEFAULT_IGNORABLE.match(char):
        return None if _belongs_to_emoji(text, position) else Kind.INVISIBLE
    if category == "Cf" or char == _BRAILLE_BLANK or (category == "Zs" and char not in _EVERYDAY_SPACES):
        return Kind.INVISIBLE
    if category in {"Mn", "Me"} and _is_stray_mark(text, position):
        return Kind.COMBINING_FLOOD
    return None


def _belongs_to_emoji(text: str, position: int) -> bool:
    """Say whether a variation selector or joiner stands where an emoji needs it (UTS #51 §1.4).

    Without this every warning sign of a chatty runtime would be flagged, and nobody would read flags.
    """
    char, before, after = text[position], text[position - 1 : position], text[position + 1 : position + 2]
    if char in _EMOJI_STYLES:
        return _is_symbol(before) or (before in _KEYCAP_BASES and after == _KEYCAP)
    return char == _ZWJ and (_is_symbol(before) or before in _EMOJI_STYLES) and _is_symbol(after)


def _is_symbol(char: str) -> bool:
    """Say whether this is a pictograph, an arrow or a skin tone; "" is none."""
    return char > "\u00a0" and unicodedata.category(char) in {"So", "Sm", "Sk"}


def _is_stray_mark(text: str, position: int) -> bool:
    """Say whether a combining mark is one too many on its base, or has no base."""
    base = position - 1
    while base >= 0 and unicodedata.category(text[base]) in {"Mn", "Me"}:
        if position - base >= STACKED_MARKS_MAX:
            return True
        base -= 1
    return base < 0 or unicodedata.category(text[base]) in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}


def _confusable_words(text: str) -> list[re.Match[str]]:
    """Find the words that pass for Latin ones.

    Such is a word with a look-alike among Latin letters, and a word of two or more letters that are all
    look-alikes, unless the text has other letters of their script and so is simply written in it.
    """
    alike = {char: script_of(char) for char in set(LATIN_LOOKALIKE.findall(text))}
    if not alike:
        return []
    spoken = {script_of(char) for char in set(text) - alike.keys()}

    def passes_for_latin(word: str) -> bool:
        members = alike.keys() & set(word)
        if not members:
            return False
        if _LATIN_LETTER.search(word):
            return True
        letters = [char for char in word if char.isalpha()]
        return (
            len(letters) > 1
            and members.issuperset(letters)
            and spoken.isdisjoint(alike[char] for char in members)
        )

    return [word for word in _WORD.finditer(text) if passes_for_latin(word[0])]
