"""Long text is cut with a visible mark, and no character is torn apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.text import Cut, cut, visible


def test_a_text_that_fits_is_left_alone() -> None:
    """No mark where nothing is missing."""
    assert cut("abcde", 5) == Cut(text="abcde", full_chars=5, was_cut=False)


def test_a_cut_says_so_and_says_how_much_there_is() -> None:
    """The mark names the full length and counts towards the room."""
    result = cut("x" * 10_240, 60)
    assert result == Cut(text="x" * 28 + "… ⟨cut: 10240 characters in all⟩", full_chars=10_240, was_cut=True)
    assert len(result.text) == 60


def test_a_small_room_gets_a_small_mark() -> None:
    """Where the whole mark doesn't fit, an ellipsis stands for it."""
    assert cut("abcdefgh", 4).text == "abc…"
    assert cut("abcdefgh", 1).text == "…"


def test_no_room_is_refused() -> None:
    """A cut without a mark would be a lie."""
    with pytest.raises(ValueError, match="at least 1"):
        cut("ab", 0)


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "\u0915\u094d\u0937",  # Devanagari conjunct
        "\u0928\u093f",  # spacing vowel sign
        "\U0001f44d\U0001f3fd",  # skin tone
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f",
        "\U0001f1eb\U0001f1f7",  # flag
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",  # tag sequence
        "\r\n",
        "\u1112\u1161\u11ab",  # Hangul in jamo
        "\u1100\u1100",
        "\ud55c\u11ab",
        "⟨U+202E⟩",
        "⟨U+10FFFF⟩",
    ],
)
def test_a_cluster_is_kept_whole_or_left_out(cluster: str) -> None:
    """The cut falls before a cluster that doesn't fit wholly."""
    text = "ab" + cluster + "z" * 20
    for room in range(1, len(cluster)):
        assert cut(text, 2 + room + 1).text == "ab…"
    assert cut(text, 2 + len(cluster) + 1).text == f"ab{cluster}…"


def test_flags_are_parted_between_pairs() -> None:
    """Two flags side by side are two clusters."""
    flags = "\U0001f1eb\U0001f1f7" * 3
    assert cut(flags, 4).text == flags[:2] + "…"
    assert cut(flags, 5).text == flags[:4] + "…"


@pytest.mark.parametrize("text", ["a\u1161bcd", "a\u1100bcd", "a\U0001f1ebbcd"])
def test_jamo_and_half_flags_after_latin_stand_alone(text: str) -> None:
    """A letter before them doesn't hold them."""
    assert cut(text, 2).text == "a…"


def test_a_cluster_longer_than_any_honest_one_is_cut() -> None:
    """A flood of marks can't push the cut back to nothing."""
    flood = "a" + "\u0301" * 499
    assert cut(flood, 100).text == flood[:70] + "… ⟨cut: 500 characters in all⟩"


def test_a_cluster_at_the_start_that_does_not_fit_is_left_out() -> None:
    """Rather nothing than half a character."""
    assert cut("e\u0301\u0301\u0301", 3).text == "…"


@given(st.text(), st.integers(min_value=1, max_value=80))
def test_a_cut_fits_and_begins_like_the_text(text: str, room: int) -> None:
    """The result fits, keeps a beginning of the text, and tells its length."""
    result = cut(text, room)
    assert len(result.text) <= room
    assert result.full_chars == len(text)
    assert result.was_cut == (len(text) > room)
    if result.was_cut:
        assert text.startswith(result.text[: result.text.rindex("…")])


@given(st.text(st.sampled_from("ab\u202e\u200b\ud800")), st.integers(min_value=1, max_value=80))
def test_an_escape_is_never_torn(text: str, room: int) -> None:
    """What is cut after it was made visible has only whole escapes."""
    kept = cut(visible(text), room)
    shown = kept.text.split("…")[0]
    assert shown.count("⟨") == shown.count("⟩")
