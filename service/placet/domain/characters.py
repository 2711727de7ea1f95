"""What single characters are: default-ignorable, a bidirectional control, a look-alike, of which script.

Python's ``unicodedata`` has neither the Default_Ignorable_Code_Point nor the Script property. The first is a
short table here. The second is read from character names: over folded text (`placet.domain.identity.fold`
has removed width and compatibility variants) the first word of a letter's name *is* its script, up to the few
exceptions below, and so the answer follows the Unicode version of the running Python instead of a table of
two thousand ranges that would age beside it.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

# DerivedCoreProperties.txt, Default_Ignorable_Code_Point, Unicode 14. The blocks keep room for characters yet
# to come, so that the set of *assigned* members has been the same through Unicode 16.
_DEFAULT_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
DEFAULT_IGNORABLE: Final = re.compile(f"[{_DEFAULT_IGNORABLE}]")
"""Matches one character that a renderer shows as nothing at all."""

BIDI_CONTROLS: Final = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Unicode property Bidi_Control (PropList.txt): characters that reorder what stands around them."""

# Letters that most fonts draw like a Latin one: single-letter rows of UTS #39's confusables.txt in scripts
# that usual fonts have, and the mathematical alphabets, whose sans-serif is plain text to the eye.
_LATIN_LOOKALIKES: Final = (
    # Latin's own alpha and script g, from phonetics
    "\u0251\u0261"
    # Greek: capitals Alpha to Chi; alpha, gamma, iota, nu, omicron, rho, sigma, upsilon, lunate sigma, yot
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u037f"
    "\u03b1\u03b3\u03b9\u03bd\u03bf\u03c1\u03c3\u03c5\u03f2\u03f3"
    # Cyrillic: capitals, small letters, then those of single languages
    "\u0405\u0406\u0408\u0410\u0412\u0415\u041a\u041c-\u041e\u0420-\u0423\u0425"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458"
    "\u0474\u0475\u04ae\u04af\u04ba\u04bb\u04c0\u04cf\u0501\u050c\u051a-\u051d"
    # Armenian
    "\u054d\u0555\u0566\u0570\u0575\u0578\u057d\u0581\u0584\u0585"
    # Cherokee
    "\u13a0-\u13a2\u13a5\u13aa-\u13ac\u13b3\u13b7\u13bb\u13bd\u13c0\u13c3"
    "\u13cf\u13d2\u13d4\u13d5\u13d9\u13da\u13de\u13df\u13e2\u13e6\u13f4"
    # Coptic
    "\u2c82\u2c88\u2c8e\u2c92-\u2c94\u2c98\u2c9a\u2c9e\u2c9f\u2ca2-\u2ca6\u2ca8\u2cac"
    # Lisu
    "\ua4d0\ua4d1\ua4d3\ua4d4\ua4d6\ua4d7\ua4d9\ua4da\ua4dc\ua4dd\ua4df-\ua4e3"
    "\ua4e6\ua4e7\ua4ea-\ua4ec\ua4ee\ua4f0\ua4f2-\ua4f4"
    # Mathematical alphabets
    "\U0001d400-\U0001d7ff"
)
LATIN_LOOKALIKE: Final = re.compile(f"[{_LATIN_LOOKALIKES}]")
"""Matches one letter, not of the Latin alphabet as it is typed, that can pass for one of it."""

# First words of the names of letters, marks and digits that belong to no one script (Common, Inherited).
_SHARED_WORDS: Final = frozenset(
    {"CARON", "COMBINING", "DIGIT", "MODIFIER", "MUSICAL", "PHAISTOS", "VERTICAL", "ZNAMENNY"}
)
# First words that are not the script's own name.
_SCRIPT_OF_WORD: Final = {
    "CJK": "HAN",
    "EXTENDED": "ARABIC",  # EXTENDED ARABIC-INDIC DIGIT …
    "HANGZHOU": "HAN",
    "HENTAIGANA": "HIRAGANA",
    "IDEOGRAPHIC": "HAN",
    "ROMAN": "LATIN",  # ROMAN NUMERAL …
    "TURNED": "LATIN",  # TURNED SMALL F
}
# First words that several scripts begin with: OLD ITALIC, TAI LE, LINEAR B …
_AMBIGUOUS_WORDS: Final = frozenset({"INSCRIPTIONAL", "LINEAR", "MEROITIC", "OLD", "TAI"})

# UTS #39 §5.2, Highly Restrictive: the only scripts that are written together (with Latin among them).
_WRITTEN_TOGETHER: Final = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)


def is_noncharacter(char: str) -> bool:
    """Say whether `char` is one of the 66 code points that are never characters (Unicode §23.7)."""
    code = ord(char)
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE  # noqa: PLR2004 (the code points themselves)


def script_of(char: str) -> str | None:
    """Name the script of one folded character.

    Args:
        char: one code point of a text that `placet.domain.identity.fold` has folded.

    Returns:
        The script in capitals ("LATIN", "HAN"), or None for what is common to all scripts: digits 0 to 9,
        punctuation, symbols, combining marks of no one script.
    """
    if unicodedata.category(char)[0] not in "LMN":
        return None
    # A letter without a name (Tangut before Python 3.12) is of a script of its own, whichever that is.
    words = unicodedata.name(char, "UNNAMED").replace("-", " ").split()
    first = words[0]
    if first in _SHARED_WORDS:
        return None
    if first in _AMBIGUOUS_WORDS:
        return " ".join(words[:2])
    return _SCRIPT_OF_WORD.get(first, first)


def scripts_of(folded: str) -> frozenset[str]:
    """Collect the scripts of a folded text, what is common to all scripts left out."""
    return frozenset(script for char in folded if (script := script_of(char)) is not None)


def mixes_scripts(scripts: Iterable[str]) -> bool:
    """Say whether nobody writes these scripts in one word (UTS #39 §5.2, Highly Restrictive)."""
    found = frozenset(scripts)
    return len(found) > 1 and not any(found <= together for together in _WRITTEN_TOGETHER)
