"""Hostile text made visible, flagged and cut, for every channel in which a person reads it.

What a runtime, a model or an approver wrote is untrusted (design §10). A right-to-left override, a zero-width
space or an escape sequence can make the command on the card differ from the command that runs. Here such
characters become plain text like ``⟨U+202E⟩``. Everything is a pure function of the text; what is stored,
bound and run stays as it was.

Escaping for a medium (HTML, Slack's markup) comes after this and is not done here.
"""

import re
import unicodedata
from collections.abc import Container
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
from placet.domain.marks import covers, is_astray, is_keycap, is_mark

__all__ = [
    "POSITIONS_MAX",
    "Cut",
    "Finding",
    "Kind",
    "cut",
    "findings",
    "runs_right_to_left",
    "says_something",
    "visible",
]

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
_BRAILLE_BLANK: Final = "\u2800"
# Blanks of everyday typography: French sets them before its punctuation, Japanese between its words.
_EVERYDAY_BLANKS: Final = "\u00a0\u202f\u3000"


class Kind(StrEnum):
    """What is wrong with a piece of text."""

    BIDI = "bidi"
    """Reorders what is read: embeddings, overrides, isolates, marks (U+202E, U+2066 …)."""
    INVISIBLE = "invisible"
    """Shows as nothing: zero-width, default-ignorable, tags."""
    BLANK = "blank"
    """Passes for a space, and is another character: no-break, ideographic, thin ones, the Braille blank."""
    CONTROL = "control"
    """Has no agreed look: C0 and C1 controls, line separators, surrogates, private use, non-characters."""
    CONFUSABLE = "confusable"
    """A word that passes for a Latin one."""
    OVERLAY = "overlay"
    """Marks that are drawn across other characters, or around them."""
    COMBINING_FLOOD = "combining-flood"
    """Combining marks stacked past reading, or on what takes none: a figure, a blank, nothing at all."""


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


def visible(text: str, *, multiline: bool = False, prose: bool = False) -> str:
    """Spell out every character that hides, reorders, covers, or passes for another.

    Different texts stay different: a ``⟨`` that would begin a false escape is spelled out too. Hence apply
    it once.

    Args:
        text: any text, lone surrogates included.
        multiline: keep line feeds and tabs as they are.
        prose: keep the blanks of everyday typography. In a comment or a summary they say nothing, and a
            reader who met their escapes in every French sentence would soon read none; in a name, an
            identifier or an input they make another value.

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
    spelt = foreign | _hazards(text, prose=prose, spelt=foreign).keys()

    def show(match: re.Match[str]) -> str:
        char, position = match[0], match.start()
        if char not in kept and (position in spelt or text.startswith("⟨U+", position)):
            return f"⟨U+{ord(char):04X}⟩"
        return char

    return (_NOT_ASCII if foreign else _UNUSUAL).sub(show, text)


def findings(text: str, *, prose: bool = False) -> tuple[Finding, ...]:
    """Say what in a text could mislead its reader; line feeds and tabs alone could not.

    Args:
        text: any text.
        prose: whether it is one in which the blanks of everyday typography mislead nobody.

    Returns:
        At most one finding per kind, in the order of `Kind`; empty for a harmless text.
    """
    found: dict[Kind, list[int]] = {}
    for position, kind in _hazards(text, prose=prose).items():
        if text[position] not in _BREAKS:
            found.setdefault(kind, []).append(position)
    words = [word.start() for word in _confusable_words(text)]
    if words:
        found[Kind.CONFUSABLE] = words
    return tuple(
        Finding(kind=kind, count=len(found[kind]), positions=tuple(found[kind][:POSITIONS_MAX]))
        for kind in Kind
        if kind in found
    )


def _hazards(text: str, *, prose: bool, spelt: Container[int] = ()) -> dict[int, Kind]:
    """Judge each character where it stands; ``spelt``: where others are spelled out anyway."""
    found: dict[int, Kind] = {}
    for match in _UNUSUAL.finditer(text):
        char, position = match[0], match.start()
        kind = None if prose and char in _EVERYDAY_BLANKS else _hazard(text, position)
        if kind is None and (position - 1 in found or position - 1 in spelt) and is_mark(char):
            kind = Kind.COMBINING_FLOOD  # it would sit on an escape
        if kind is not None:
            found[position] = kind
    return found


def _hazard(text: str, position: int) -> Kind | None:
    """Judge one character where it stands, in a text that is no prose."""
    char = text[position]
    category = unicodedata.category(char)
    if char in BIDI_CONTROLS:
        return Kind.BIDI
    if category in {"Cc", "Co", "Cs", "Zl", "Zp"} or is_noncharacter(char):
        return Kind.CONTROL
    if DEFAULT_IGNORABLE.match(char):
        return None if _belongs_to_emoji(text, position) else Kind.INVISIBLE
    if category == "Cf":
        return Kind.INVISIBLE
    if char == _BRAILLE_BLANK or category == "Zs":
        return Kind.BLANK
    return _marked(text, position) if category[0] == "M" else None


def _marked(text: str, position: int) -> Kind | None:
    """Judge a combining mark."""
    if is_keycap(text, position):
        return None
    if covers(text[position]):
        return Kind.OVERLAY
    return Kind.COMBINING_FLOOD if is_astray(text, position) else None


def _belongs_to_emoji(text: str, position: int) -> bool:
    """Say whether a variation selector or joiner stands where an emoji needs it (UTS #51 §1.4).

    Without this every warning sign of a chatty runtime would be flagged, and nobody would read flags.
    """
    char, before, after = text[position], text[position - 1 : position], text[position + 1 : position + 2]
    if char in _EMOJI_STYLES:
        return _is_symbol(before) or (after != "" and is_keycap(text, position + 1))
    return char == _ZWJ and (_is_symbol(before) or before in _EMOJI_STYLES) and _is_symbol(after)


def _is_symbol(char: str) -> bool:
    """Say whether this is a pictograph, an arrow or a skin tone; "" is none."""
    return char > "\u00a0" and char != _BRAILLE_BLANK and unicodedata.category(char) in {"So", "Sm", "Sk"}


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
