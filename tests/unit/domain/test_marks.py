"""Combining marks stay on what takes them, and are spelled out wherever they cover, pile up or go astray."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.text import Finding, Kind, findings, visible

SCRIPTS = Path(__file__).parents[2] / "vectors" / "scripts.txt"
ALL_MARKS = [char for char in map(chr, range(0x110000)) if unicodedata.category(char)[0] == "M"]
ENCLOSING = [char for char in ALL_MARKS if unicodedata.category(char) == "Me"]
# What forgers use: tildes, strokes, solidi, rings and arrows across a letter.
OVERLAYS = [
    *map(chr, range(0x334, 0x339)),
    *map(chr, (0x20D2, 0x20D3, 0x20D8, 0x20D9, 0x20DA, 0x20E5, 0x20E6, 0x20EA, 0x20EB)),
]
COVERING = [*ENCLOSING, *OVERLAYS]


def written() -> Iterator[tuple[str, str]]:
    """Languages, and what is written in them."""
    for line in SCRIPTS.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, text = line.partition(": ")
            yield name, text


def kinds(text: str) -> list[Kind]:
    """What is wrong with a text."""
    return [each.kind for each in findings(text)]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize(("name", "text"), list(written()), ids=[name for name, _ in written()])
def test_what_people_write_stays_as_it_is(name: str, text: str, form: Literal["NFC", "NFD"]) -> None:
    """In every script, composed and decomposed, also where the text is no prose."""
    same = unicodedata.normalize(form, text)
    assert (name, visible(same), findings(same)) == (name, same, ())


@pytest.mark.parametrize(
    ("text", "shown", "count"),
    [
        ("a\u0338b", "a⟨U+0338⟩b", 1),
        ("1\u03360\u03360\u0336 5", "1⟨U+0336⟩0⟨U+0336⟩0⟨U+0336⟩ 5", 3),
        ("y\u20dd", "y⟨U+20DD⟩", 1),
        ("1\u20e3", "1⟨U+20E3⟩", 1),
        ("\u0430\u0488", "\u0430⟨U+0488⟩", 1),
    ],
)
def test_a_mark_across_a_character_is_shown(text: str, shown: str, count: int) -> None:
    """Neither is a solidus drawn where none is, nor anything struck out or ringed."""
    assert visible(text) == shown
    (finding,) = findings(text)
    assert (finding.kind, finding.count) == (Kind.OVERLAY, count)


def test_every_mark_that_covers_is_an_overlay() -> None:
    """All enclosing ones, and all that scripts share of combining class 1."""
    shared = [
        char
        for char in ALL_MARKS
        if unicodedata.combining(char) == 1 and unicodedata.name(char).startswith("COMBINING")
    ]
    assert shared == OVERLAYS
    assert "\u0489" in ENCLOSING
    assert {tuple(kinds(f"a{char}")) for char in COVERING} == {(Kind.OVERLAY,)}


@pytest.mark.parametrize(
    ("before", "char"),
    [
        ("", "\u0301"),
        ("\n", "\u0301"),
        ("a\n", "\u0332"),
        ("a ", "\u0301"),
        ("5", "\u0301"),
        ("100.", "\u0301"),
        ('"', "\u0301"),
        ("$", "\u0332"),
        ("\u0663", "\u0301"),  # an Arabic figure
        ("\u00b2", "\u0305"),
        ("\u2764", "\u0301"),
        ("", "\u0903"),  # a spacing mark, which looks like a colon
        ("5", "\u0903"),
        ("a", "\u0903"),
        ("a", "\u064b"),
        ("\u0430", "\u0e48"),
        ("\uff41", "\u1cd4"),  # a Vedic stroke across a full-width letter
        ("a", "\U0001d165"),  # the stem of a note
    ],
)
def test_a_mark_on_what_takes_none_is_shown(before: str, char: str) -> None:
    """It would sit on what the page says before the text, or make a figure or a sign another one."""
    text = f"{before}{char}x"
    assert visible(text, multiline=True) == f"{before}⟨U+{ord(char):04X}⟩x"
    assert findings(text) == (Finding(kind=Kind.COMBINING_FLOOD, count=1, positions=(len(before),)),)


def test_stacked_marks_beyond_four_are_a_flood() -> None:
    """Four marks can be read; the rest would run over the lines above."""
    text = "a" + "\u0301\u0302\u0303\u0304\u0305\u0306"
    assert visible(text) == "a\u0301\u0302\u0303\u0304⟨U+0305⟩⟨U+0306⟩"
    assert findings(text) == (Finding(kind=Kind.COMBINING_FLOOD, count=2, positions=(5, 6)),)


def test_marks_of_one_script_may_be_eight() -> None:
    """Tibetan has such; nothing has nine."""
    stack = "".join(map(chr, range(0xF90, 0xF98)))
    assert visible(f"\u0f40{stack}\u0f99") == f"\u0f40{stack}⟨U+0F99⟩"


def test_the_same_mark_twice_is_shown() -> None:
    """It is drawn on itself, or above: nobody can tell how often it is there (UTS #39 §5.4)."""
    assert visible("e\u0301\u0301") == "e\u0301⟨U+0301⟩"
    assert visible("e\u0301\u0323\u0301") == "e\u0301\u0323\u0301"


def test_a_mark_behind_an_escape_is_shown_too() -> None:
    """Else it would sit on the bracket."""
    assert visible("a\u0338\u0301\u0302b") == "a⟨U+0338⟩⟨U+0301⟩⟨U+0302⟩b"
    assert visible("p\u0430\u0301y") == "p⟨U+0430⟩⟨U+0301⟩y"
    assert kinds("p\u0430\u0301y") == [Kind.CONFUSABLE]


@given(
    st.text(
        st.one_of(
            st.sampled_from(ALL_MARKS),
            st.sampled_from(COVERING),
            st.sampled_from(
                'ab15 .\n"⟨\u0430\u03b1\u05e9\u0915\u0f40\u0301\u0303\ufe0f\u200d\u2764\u25cc\u00a0\u3000'
            ),
        )
    ),
    st.booleans(),
)
def test_what_is_shown_has_no_mark_that_misleads(text: str, prose: bool) -> None:  # noqa: FBT001 - Hypothesis
    """Whatever stands around it: none that covers, none without a letter, and nothing left to flag."""
    shown = visible(text, prose=prose)
    frames = {place for place, char in enumerate(shown) if char == "\u20e3" and shown[place - 1] == "\ufe0f"}
    assert not [char for place, char in enumerate(shown) if char in COVERING and place not in frames]
    assert {each.kind for each in findings(shown, prose=prose)} <= {Kind.CONFUSABLE}
    for place, char in enumerate(shown):
        if char in ALL_MARKS and char != "\ufe0f" and place not in frames:
            assert unicodedata.category(shown[place - 1])[0] in "LMNS"
            assert shown[place - 1] not in "15\u2764"


@given(st.text(st.sampled_from([*OVERLAYS, "a", "\u0301", "\u00a0"])))
def test_every_mark_that_covers_is_counted(text: str) -> None:
    """Each of them, whatever else there is."""
    found = {each.kind: each.count for each in findings(text)}
    assert found.get(Kind.OVERLAY, 0) == sum(char in OVERLAYS for char in text)
