"""Ids fold to one form per person, and disguises are refused at the door."""

import unicodedata
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.identity import check_id, fold, same_person


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("alice@example.com", "alice@example.com"),
        ("  Alice@Example.COM\n", "alice@example.com"),
        ("\uff21\uff4c\uff49\uff43\uff45", "alice"),  # full-width
        ("\U0001d400lice", "alice"),  # mathematical bold
        ("a\u200bli\u00adce\ufeff", "alice"),  # zero-width space, soft hyphen, byte-order mark
        ("stra\u00dfe", "strasse"),
        ("\ufb01n", "fin"),  # ligature
        ("\u212bngstr\u00f6m", "\u00e5ngstr\u00f6m"),  # ANGSTROM SIGN
        ("e\u0301", "\u00e9"),
        ("\u03a3\u03c2", "\u03c3\u03c3"),  # both lower-case sigmas
        ("\u0390", "\u0390"),  # folds to three code points that compose again
        ("\u00a8x", "\u0308x"),  # DIAERESIS brings forth a space at the edge, which is trimmed
        ("\u13a0", "\u13a0"),  # Cherokee folds to its capitals
        ("\uab70", "\u13a0"),
        ("\u200b \u2060", ""),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    """Folding is trimming and NFKC_Casefold, until nothing changes."""
    assert fold(text) == folded


@given(st.text())
def test_folding_again_changes_nothing(text: str) -> None:
    """A folded id is its own fold."""
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_a_fold_is_in_composed_compatibility_form(text: str) -> None:
    """A folded id is in NFKC, lower case and trimmed, so equal folds are equal bytes."""
    folded = fold(text)
    assert unicodedata.is_normalized("NFKC", folded)
    assert fold(folded.casefold()) == folded
    assert folded.strip() == folded


@given(st.text(), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_normalisation_forms_of_an_id_are_one_person(
    text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"]
) -> None:
    """However an id is composed, it names the same person."""
    assert same_person(text, unicodedata.normalize(form, text))


@given(st.text())
def test_a_case_folded_spelling_is_the_same_person(text: str) -> None:
    """Case makes no second person, in no script."""
    assert same_person(text, text.casefold())


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_upper_and_lower_case_are_the_same_person(text: str) -> None:
    """Nor does the shift key."""
    assert same_person(text.upper(), text.lower())


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E)))
def test_a_full_width_spelling_is_the_same_person(text: str) -> None:
    """Width makes no second person."""
    assert same_person(text, "".join(chr(ord(char) + 0xFEE0) for char in text))


@given(st.lists(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1), min_size=1))
def test_invisible_characters_inside_make_no_second_person(parts: list[str]) -> None:
    """What can't be seen doesn't count."""
    assert same_person("".join(parts), "\u200b".join(parts))


def test_different_ids_are_different_people() -> None:
    """Folding doesn't fold people together."""
    assert not same_person("alice", "alicia")


@pytest.mark.parametrize(
    "text",
    [
        "alice@example.com",
        "svc:billing/eu-1",
        "Jane Doe",
        "\u00c5sa \u00d6berg",
        "e\u0301ric",
        "\u0430\u043b\u0435\u043a\u0441\u0435\u0439",
        "\u0431\u0456\u043b\u043b-7",
        "\u5c71\u7530\u30bf\u30ed\u30fctaro",
        "\ud64d\uae38\ub3d9 Hong",
        "\u5f35\u3105 zhang",
        "\uff21lice",
        "O\u02bcNeill",
        "x" * 256,
    ],
)
def test_an_honest_id_is_admitted(text: str) -> None:
    """Ids of one script, and East Asian ids with Latin in them, are admitted."""
    assert check_id(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must not be blank"),
        (" \u3000", "must not be blank"),
        ("x" * 257, "must have at most 256 characters"),
        ("a\x00b", "must not contain control characters"),
        ("a\nb", "must not contain control characters"),
        ("a\x85b", "must not contain control characters"),
        ("a\u200bb", "must not contain invisible formatting characters"),
        ("a\u202eb", "must not contain invisible formatting characters"),
        ("a\u3164b", "must not contain invisible formatting characters"),  # a letter by category
        ("a\ufe0fb", "must not contain invisible formatting characters"),  # a mark by category
        ("a\U000e0062", "must not contain invisible formatting characters"),  # a tag
        ("a\ufff9b", "must not contain invisible formatting characters"),  # Cf, not default-ignorable
        ("a\u0378", "must not contain unassigned characters"),
        ("a\uffff", "must not contain unassigned characters"),
        ("a\ue000", "must not contain private-use characters"),
        ("a\ud800", "must not contain surrogates"),
        ("a\u2028b", "must not contain line separators"),
        ("a\u2029b", "must not contain paragraph separators"),
        ("\u0430lice", "must not mix letters of several scripts"),  # Cyrillic a
        ("alic\u03b5", "must not mix letters of several scripts"),  # Greek epsilon
        ("\u0440\u0430\u0443@example.com", "must not mix letters of several scripts"),
        ("\u00b5service", "must not mix letters of several scripts"),  # MICRO SIGN folds to Greek mu
        ("room \u0663", "must not mix letters of several scripts"),  # Arabic-Indic digit
        ("\u5c71\ud64d\u30ed", "must not mix letters of several scripts"),
    ],
)
def test_a_disguise_is_refused_with_its_reason(text: str, reason: str) -> None:
    """Control, invisible, unassigned and mixed-script characters are refused in plain words."""
    assert check_id(text) == reason


@given(st.text(max_size=40))
def test_an_admitted_id_stays_apart_only_by_what_is_seen(text: str) -> None:
    """An admitted id has a fold that isn't empty and would itself be admitted or is longer than the limit."""
    if check_id(text) is None:
        folded = fold(text)
        assert folded
        assert check_id(folded) is None or len(folded) > 256
