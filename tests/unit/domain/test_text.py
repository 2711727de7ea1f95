"""Hostile text is made visible and flagged, and nothing else is touched."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.text import POSITIONS_MAX, Finding, Kind, findings, visible

_HOSTILE = st.text(
    st.one_of(
        st.characters(), st.sampled_from("a \n\u202e\u200b\u0301\u27e8U+\u0430\ud800\u200d\ufe0f\u2764")
    )
)


def _only(text: str) -> Finding:
    (finding,) = findings(text)
    return finding


def test_an_override_and_a_zero_width_space_are_spelled_out() -> None:
    """The command on the card is the command that runs, to the character."""
    assert visible("rm \u202etxt.sh\u200b /") == "rm ⟨U+202E⟩txt.sh⟨U+200B⟩ /"


@pytest.mark.parametrize("code", [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C])
def test_bidirectional_controls(code: int) -> None:
    """Every character that reorders its neighbours is shown and flagged."""
    text = f"a{chr(code)}b"
    assert visible(text) == f"a⟨U+{code:04X}⟩b"
    assert _only(text) == Finding(kind=Kind.BIDI, count=1, positions=(1,))


@pytest.mark.parametrize(
    "code",
    [0x00AD, 0x034F, 0x115F, 0x180E, 0x200B, 0x200C, 0x200D, 0x2060, 0x2063, 0x3164, 0xFE0F, 0xFEFF,
     0xFFA0, 0xFFF9, 0xE0001, 0xE0041, 0xE007F, 0xE0100],
)  # fmt: skip
def test_invisible_characters(code: int) -> None:
    """Zero-width, default-ignorable and tag characters are shown and flagged."""
    text = f"a{chr(code)}b"
    assert visible(text) == f"a⟨U+{code:04X}⟩b"
    assert _only(text) == Finding(kind=Kind.INVISIBLE, count=1, positions=(1,))


BLANKS = [0x00A0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x2800, 0x3000]
EVERYDAY = [0x00A0, 0x202F, 0x3000]


def test_the_blanks_are_those_of_unicode() -> None:
    """Each that is a space separator and not the space, and the Braille pattern without a dot."""
    separators = [code for code in range(0x110000) if unicodedata.category(chr(code)) == "Zs"]
    assert sorted({*separators, 0x2800} - {0x20}) == BLANKS


@pytest.mark.parametrize("code", BLANKS)
def test_blanks_that_are_no_plain_spaces(code: int) -> None:
    """In a name or an input each is another value: it is shown and flagged."""
    text = f"a{chr(code)}b"
    assert visible(text) == f"a⟨U+{code:04X}⟩b"
    assert _only(text) == Finding(kind=Kind.BLANK, count=1, positions=(1,))


@pytest.mark.parametrize("code", BLANKS)
def test_the_blanks_of_everyday_typography_stay_in_prose(code: int) -> None:
    """A reader of French or Japanese meets them in every sentence; thin spaces are shown there too."""
    text = f"a{chr(code)}b"
    is_everyday = code in EVERYDAY
    assert visible(text, prose=True) == (text if is_everyday else f"a⟨U+{code:04X}⟩b")
    assert bool(findings(text, prose=True)) is not is_everyday


@pytest.mark.parametrize(
    "code",
    [0x00, 0x07, 0x08, 0x0B, 0x0D, 0x1B, 0x7F, 0x80, 0x85, 0x9B, 0x2028, 0x2029, 0xD800, 0xDFFF,
     0xE000, 0xF0000, 0xFDD0, 0xFFFE, 0x10FFFF],
)  # fmt: skip
def test_control_characters(code: int) -> None:
    """Controls, separators, surrogates, private use and non-characters are shown and flagged."""
    text = f"a{chr(code)}b"
    assert visible(text) == f"a⟨U+{code:04X}⟩b"
    assert _only(text) == Finding(kind=Kind.CONTROL, count=1, positions=(1,))


def test_line_feeds_and_tabs_are_shown_in_a_single_line() -> None:
    """A title can't be broken into lines."""
    assert visible("a\n\tb") == "a⟨U+000A⟩⟨U+0009⟩b"


def test_line_feeds_and_tabs_stay_in_many_lines() -> None:
    """A script keeps its lines; a carriage return, which could overwrite one, is shown."""
    assert visible("a\r\n\tb", multiline=True) == "a⟨U+000D⟩\n\tb"


def test_line_feeds_and_tabs_are_no_finding() -> None:
    """Lines alone mislead nobody."""
    assert findings("a\n\tb") == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "DELETE FROM orders WHERE id = 7;",
        "Stra\u00dfe 7, \u00c5sa \u00d6berg, 5\u00a0\u20ac, \u00ab\u202fbonjour\u202f\u00bb",
        "\u041f\u0440\u0438\u0432\u0435\u0442, \u0441\u043e\u0440",
        "\u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u03bd\u03b1\u03b9",
        "\u65e5\u672c\u8a9e\u3000Google\u30bf\u30ed\u30fc",
        "\u3000\u4e00\u6bb5\u843d",
        "10 \u00b5s, \u0394t, \u03b1 = 0.05",
        "e\u0301\u0323 \u0928\u092e\u0938\u094d\u0924\u0947 \u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd",
        "\u26a0\ufe0f Delete \u2764\ufe0f 1\ufe0f\u20e3 \u00a9\ufe0f",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd",
        "\U0001f44b\U0001f3fd\u200d\u2642\ufe0f",
        "\u2764\ufe0f\u200d\U0001f525",
        "\u27e8 quoted \u27e9",
    ],
)
def test_honest_text_stays_as_it_is(text: str) -> None:
    """The world's scripts, everyday blanks and emoji are neither changed nor flagged in prose."""
    assert visible(text, multiline=True, prose=True) == text
    assert findings(text, prose=True) == ()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("1\ufe0f", "1⟨U+FE0F⟩"),
        ("\u26a0\ufe0f\ufe0f", "\u26a0\ufe0f⟨U+FE0F⟩"),
        ("\U0001f468\u200dx", "\U0001f468⟨U+200D⟩x"),
        ("\U0001f468\u200d", "\U0001f468⟨U+200D⟩"),
        ("x\u200d\U0001f468", "x⟨U+200D⟩\U0001f468"),
        ("\u26a0\U000e0100", "\u26a0⟨U+E0100⟩"),
        ("\u2800\ufe0f", "⟨U+2800⟩⟨U+FE0F⟩"),
        ("\u2764\u200d\u2800", "\u2764⟨U+200D⟩⟨U+2800⟩"),
    ],
)
def test_parts_of_emoji_elsewhere_are_shown(text: str, shown: str) -> None:
    """A selector or joiner that no emoji needs can smuggle bits, so it is shown."""
    assert visible(text) == shown


def test_an_escape_written_by_the_author_is_no_escape() -> None:
    """Nobody can fake the mark, nor hide a real one among fakes."""
    assert visible("⟨U+202E⟩") == "⟨U+27E8⟩U+202E⟩"


@given(_HOSTILE, st.booleans())
def test_different_texts_look_different(text: str, multiline: bool) -> None:  # noqa: FBT001 (Hypothesis passes it)
    """What is shown can be read back to exactly what was stored."""
    shown = visible(text, multiline=multiline)
    assert re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda escape: chr(int(escape[1], 16)), shown) == text


@given(_HOSTILE)
def test_what_is_shown_has_nothing_left_to_flag(text: str) -> None:
    """Shown text has no hazard any more but words that wholly look Latin, which stay readable."""
    assert {finding.kind for finding in findings(visible(text))} <= {Kind.CONFUSABLE}


@given(_HOSTILE)
def test_every_flagged_character_is_shown(text: str) -> None:
    """A text with a finding other than a confusable word looks different from what it is."""
    if {finding.kind for finding in findings(text)} - {Kind.CONFUSABLE}:
        assert visible(text, multiline=True) != text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p\u0430ypal", "p⟨U+0430⟩ypal"),  # Cyrillic a
        ("g\u03bf\u03bfgle", "g⟨U+03BF⟩⟨U+03BF⟩gle"),  # Greek omicron
        ("pa\U0001d606", "pa⟨U+1D606⟩"),  # mathematical sans-serif y
        ("\u0251dmin", "⟨U+0251⟩dmin"),  # phonetic alpha
        ("\uff50\u0430\uff59", "\uff50⟨U+0430⟩\uff59"),  # full-width Latin around a Cyrillic a
        ("na\u0308\u0430", "na\u0308⟨U+0430⟩"),  # a combining mark doesn't part the word
    ],
)
def test_a_foreign_letter_in_a_latin_word_is_shown(text: str, shown: str) -> None:
    """A look-alike among Latin letters is spelled out and its word flagged."""
    assert visible(f"ok {text}") == f"ok {shown}"
    assert _only(f"ok {text}") == Finding(kind=Kind.CONFUSABLE, count=1, positions=(3,))


def test_a_word_wholly_of_lookalikes_is_flagged_and_stays_readable() -> None:
    """Cyrillic that spells a Latin word is flagged where the text is not otherwise Cyrillic."""
    text = "pay \u0440\u0430\u0443 now"
    assert visible(text) == text
    assert _only(text) == Finding(kind=Kind.CONFUSABLE, count=1, positions=(4,))


def test_a_lookalike_word_in_a_text_of_its_script_is_no_finding() -> None:
    """Russian has words that look Latin; in a Russian text they are just Russian."""
    assert findings("\u0441\u043e\u0440 \u0438 \u043f\u044b\u043b\u044c") == ()


def test_a_single_lookalike_letter_is_no_finding() -> None:
    """A lone Greek letter is a formula, not a disguise."""
    assert findings("\u03b1 = 1") == ()


def test_a_foreign_word_with_letters_that_do_not_look_latin_is_no_finding() -> None:
    """One letter that no Latin word has gives the script away."""
    assert findings("\u043c\u0438\u0440 \u0436\u0430\u0440") == ()


def test_counts_are_exact_where_positions_are_cut() -> None:
    """A flood of hazards doesn't make a flood of positions."""
    finding = _only("\u200b" * (POSITIONS_MAX + 5))
    assert finding.count == POSITIONS_MAX + 5
    assert finding.positions == tuple(range(POSITIONS_MAX))


def test_findings_come_in_one_order() -> None:
    """One finding per kind, in the order of the kinds."""
    found = findings("\u0301 p\u0430y b\u0338 \x00\u200b\u202e\u202e\u00a0")
    assert [(finding.kind, finding.count) for finding in found] == [
        (Kind.BIDI, 2),
        (Kind.INVISIBLE, 1),
        (Kind.BLANK, 1),
        (Kind.CONTROL, 1),
        (Kind.CONFUSABLE, 1),
        (Kind.OVERLAY, 1),
        (Kind.COMBINING_FLOOD, 1),
    ]
