"""The character tables say what Unicode says."""

import unicodedata

import pytest

from placet.domain.characters import (
    BIDI_CONTROLS,
    DEFAULT_IGNORABLE,
    LATIN_LOOKALIKE,
    is_noncharacter,
    mixes_scripts,
    script_of,
    scripts_of,
)


@pytest.mark.parametrize(
    ("char", "script"),
    [
        ("a", "LATIN"),
        ("\u00f8", "LATIN"),
        ("\u0430", "CYRILLIC"),
        ("\u03b1", "GREEK"),
        ("\u0561", "ARMENIAN"),
        ("\u05d0", "HEBREW"),
        ("\u0628", "ARABIC"),
        ("\u06f1", "ARABIC"),  # EXTENDED ARABIC-INDIC DIGIT ONE
        ("\u0663", "ARABIC"),  # ARABIC-INDIC DIGIT THREE
        ("\u0915", "DEVANAGARI"),
        ("\u093e", "DEVANAGARI"),  # a vowel sign, a mark
        ("\u6f22", "HAN"),
        ("\u3005", "HAN"),  # IDEOGRAPHIC ITERATION MARK
        ("\u3021", "HAN"),  # HANGZHOU NUMERAL ONE
        ("\u3042", "HIRAGANA"),
        ("\u30a2", "KATAKANA"),
        ("\u30fc", "KATAKANA"),  # KATAKANA-HIRAGANA PROLONGED SOUND MARK
        ("\ud55c", "HANGUL"),
        ("\u3105", "BOPOMOFO"),
        ("\U00010300", "OLD ITALIC"),
        ("\U000103a0", "OLD PERSIAN"),
        ("\u1950", "TAI LE"),
        ("\u1a20", "TAI THAM"),
        ("\u2180", "LATIN"),  # ROMAN NUMERAL ONE THOUSAND C D
        ("7", None),
        ("-", None),
        (" ", None),
        ("\u0301", None),  # COMBINING ACUTE ACCENT
        ("\u02bc", None),  # MODIFIER LETTER APOSTROPHE, at home in Latin and Cyrillic
        ("\U0001f680", None),
    ],
)
def test_script_of_a_character(char: str, script: str | None) -> None:
    """A character's script is the one of Unicode's Scripts.txt; what all scripts share has none."""
    assert script_of(char) == script


def test_a_letter_without_a_name_has_a_script_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 has no names for Tangut: such a letter still mixes with nothing."""
    monkeypatch.setattr(unicodedata, "name", lambda _char, default: default)
    assert mixes_scripts(["LATIN", script_of("\U00017000") or ""])


def test_scripts_of_a_text_leave_out_what_all_share() -> None:
    """Digits and punctuation add no script."""
    assert scripts_of("a1-\u0430!") == {"LATIN", "CYRILLIC"}


@pytest.mark.parametrize(
    "scripts",
    [
        [],
        ["LATIN"],
        ["CYRILLIC"],
        ["LATIN", "HAN", "HIRAGANA", "KATAKANA"],
        ["LATIN", "HANGUL"],
        ["HAN", "BOPOMOFO"],
    ],
)
def test_scripts_that_are_written_together_do_not_mix(scripts: list[str]) -> None:
    """One script alone and the East Asian combinations are how people write."""
    assert not mixes_scripts(scripts)


@pytest.mark.parametrize(
    "scripts", [["LATIN", "CYRILLIC"], ["LATIN", "GREEK"], ["HAN", "HANGUL", "HIRAGANA"], ["CYRILLIC", "HAN"]]
)
def test_scripts_that_nobody_writes_together_mix(scripts: list[str]) -> None:
    """Latin with a script of look-alikes is a disguise."""
    assert mixes_scripts(scripts)


@pytest.mark.parametrize("char", ["\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe", "\U0010ffff"])
def test_noncharacters(char: str) -> None:
    """The last two code points of each plane and U+FDD0 to U+FDEF are never characters."""
    assert is_noncharacter(char)


@pytest.mark.parametrize("char", ["a", "\ufdcf", "\ufdf0", "\ufffd", "\U00010000"])
def test_characters_beside_the_noncharacters(char: str) -> None:
    """Their neighbours are."""
    assert not is_noncharacter(char)


def test_there_are_66_noncharacters() -> None:
    """Unicode §23.7 counts them."""
    assert sum(is_noncharacter(chr(code)) for code in range(0x110000)) == 66


def test_assigned_default_ignorable_characters_are_formats_marks_or_fillers() -> None:
    """The table takes in no letter, digit or symbol but the four Hangul fillers, which show as nothing."""
    assigned = [
        char
        for char in map(chr, range(0x110000))
        if DEFAULT_IGNORABLE.match(char) and unicodedata.category(char) not in {"Cf", "Mn", "Cn"}
    ]
    assert assigned == ["\u115f", "\u1160", "\u3164", "\uffa0"]


def test_every_bidirectional_control_is_a_format_character_or_default_ignorable() -> None:
    """The twelve members of Bidi_Control all show as nothing."""
    assert len(BIDI_CONTROLS) == 12
    assert all(DEFAULT_IGNORABLE.match(char) for char in BIDI_CONTROLS)


def test_every_lookalike_is_a_letter_and_none_is_ascii() -> None:
    """Look-alikes are letters (and mathematical digits), so that they are found inside words."""
    alike = [char for char in map(chr, range(0x1D400)) if LATIN_LOOKALIKE.match(char)]
    assert all(char.isalpha() and not char.isascii() for char in alike)
    assert LATIN_LOOKALIKE.match("\U0001d5ee")
