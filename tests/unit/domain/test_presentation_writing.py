"""The texts of a card: visible, quoted so that nothing passes for anything else, and cut at a mark."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.presentation import COLUMNS_MIN, Budget, Listing, Piece, in_quotes, pieces
from placet.domain.presentation.writing import Writer, canonical, is_plain, quoted, quoted_lines
from placet.domain.text import Kind, findings, visible
from tests.hostile import escaped, hostile_texts

HOSTILE = hostile_texts() | st.text(st.sampled_from("a\ud800\udfff\n"))
ROOMY = Budget(lines=100, text_chars=10_000)
TIGHT = Budget(lines=4, columns=COLUMNS_MIN, text_chars=64, items=2)


def read_back(spelt: str) -> str:
    """The text that a spelling is of."""
    inside = re.sub(r"\\(.)", lambda pair: {"n": "\n", "t": "\t"}.get(pair[1], pair[1]), spelt[1:-1])
    return re.sub(r"⟨U\+([0-9A-F]{4,6})⟩", lambda escape: chr(int(escape[1], 16)), inside)


@given(HOSTILE)
def test_a_quoted_text_can_be_read_back(text: str) -> None:
    """Different texts have different spellings, whatever is in them."""
    assert read_back(quoted(text)) == text


@given(HOSTILE)
def test_a_quoted_text_ends_at_its_last_quote(text: str) -> None:
    """No quote inside it stands free, so no text can end early and go on as something else."""
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', quoted(text))


@given(HOSTILE)
def test_a_quoted_text_hides_nothing(text: str) -> None:
    """No control character and nothing invisible is left in it; line feeds and tabs are two characters."""
    assert {finding.kind for finding in findings(quoted(text))} <= {Kind.CONFUSABLE}
    assert not set(quoted(text)) & set("\n\t\r\x1b\x7f")


def test_a_control_character_is_spelled_as_everywhere_else() -> None:
    """One notation for all hazards; line feed and tab are as JSON has them."""
    assert quoted("a\x1b\u202e\n\tb\\n") == r'"a⟨U+001B⟩⟨U+202E⟩\n\tb\\n"'


def test_lines_of_a_script_are_lines() -> None:
    """Parted behind each line feed, a last one excepted, after which there is nothing."""
    assert quoted_lines("a\n\nb\n") == ('"a\\n', "\\n", 'b\\n"')
    assert quoted_lines("\n") == ('"\\n"',)
    assert quoted_lines("") == ('""',)


def test_a_line_feed_before_a_word_does_not_spoil_it() -> None:
    """The ``n`` of an escape is no letter of the word behind it."""
    assert quoted("\n\u0440\u043e\u0441\u0442") == '"\\n\u0440\u043e\u0441\u0442"'


def test_somebodys_words_can_not_leave_their_quotes() -> None:
    """A name can't close them and claim something in a line of ours."""
    assert in_quotes('x" (verified) \\') == r'"x\" (verified) \\"'


@given(HOSTILE)
def test_pieces_are_the_text(text: str) -> None:
    """Set off or not, together they are what was shown, and every escape is a piece of its own."""
    shown = visible(text)
    found = list(pieces(shown))
    assert "".join(piece.text for piece in found) == shown
    assert [piece.text for piece in found if piece.is_escape] == re.findall(r"⟨U\+[0-9A-F]{4,6}⟩", shown)


def test_escapes_are_told_from_the_rest() -> None:
    """So that a medium can set them off."""
    assert list(pieces("a⟨U+202E⟩b")) == [Piece("a", False), Piece("⟨U+202E⟩", True), Piece("b", False)]


def test_canonical_json_keeps_its_escapes() -> None:
    """What JSON spells out stays; what it does not is made visible, word by word."""
    assert canonical('{"a":"\\u001b\\n\u0440\u043e\u0441\u0442\u202e\x7f"}') == (
        '{"a":"\\u001b\\n\u0440\u043e\u0441\u0442⟨U+202E⟩⟨U+007F⟩"}'
    )
    assert canonical('{"a":"\\n"}') == '{"a":"\\n"}'


@given(st.text(st.characters(max_codepoint=0x17F)))
def test_plain_is_what_needs_no_spelling_out(text: str) -> None:
    """The quick look is right where it says yes."""
    if is_plain(text):
        assert (visible(text), findings(text)) == (text, ())


class TestWriter:
    """Texts outside trees."""

    def test_a_line_feed_does_not_part_a_line(self) -> None:
        """A capability or a name stays in its line."""
        assert Writer(ROOMY).text("a\nRisk: low") == "a⟨U+000A⟩Risk: low"

    def test_what_fits_is_not_cut(self) -> None:
        """To the very character."""
        writer = Writer(TIGHT)
        assert writer.text("x" * 64) == "x" * 64
        assert writer.lines("x" * 30 + "\n" + "x" * 32) == ("x" * 30, "x" * 32)
        assert not writer.was_cut

    def test_a_cut_says_how_much_there_is(self) -> None:
        """Characters as they were written, not as they are spelled out."""
        writer = Writer(TIGHT)
        assert writer.text("\x1b" * 3_000) == "⟨U+001B⟩" * 4 + "… ⟨cut: 3,000 characters in all⟩"
        assert writer.was_cut

    def test_lines_are_cut_where_the_room_ends(self) -> None:
        """In the middle of one, with the mark behind it."""
        writer = Writer(TIGHT)
        found = writer.lines("one\n" + "x" * 100)
        assert found == ("one", "x" * 29 + "… ⟨cut: 104 characters in all⟩")
        assert writer.was_cut

    def test_there_are_no_more_lines_than_there_is_room_for(self) -> None:
        """Line feeds alone can't fill a screen."""
        writer = Writer(TIGHT)
        assert writer.lines("a\n" * 9) == ("a", "a", "a", "a… ⟨cut: 18 characters in all⟩")
        assert writer.was_cut

    def test_lines_whose_room_is_used_up_end_there(self) -> None:
        """Nothing is begun that has no room."""
        found = Writer(Budget(lines=40, text_chars=64)).lines("x" * 31 + "\ny" * 20)
        assert found[0].startswith("x" * 31)
        assert found[-1].endswith("⟨cut: 71 characters in all⟩")

    def test_no_text_has_no_lines(self) -> None:
        """Absent and empty are alike."""
        assert (Writer(ROOMY).lines(None), Writer(ROOMY).lines("")) == ((), ())
        assert (Writer(ROOMY).optional(None), Writer(ROOMY).optional("")) == (None, None)

    def test_a_list_says_how_many_more_there_are(self) -> None:
        """Cut by items."""
        writer = Writer(TIGHT)
        assert writer.listing(["a", "b", "c", "d"]) == Listing(items=("a", "b"), missing=2)
        assert writer.was_cut
        assert Listing(items=("a", "b"), missing=1_000).mark == "⟨cut: 1,000 more⟩"
        assert Writer(TIGHT).listing(["a"]).mark == ""

    @given(HOSTILE.filter(bool), st.integers(64, 200), st.integers(4, 8))
    def test_no_text_takes_more_than_its_room(self, text: str, chars: int, lines: int) -> None:
        """As one line or as several, after escaping too."""
        budget = Budget(lines=lines, text_chars=chars, cost=escaped)
        shown = Writer(budget).lines(text * 9)
        assert escaped(Writer(budget).text(text * 9)) <= chars
        assert escaped("\n".join(shown)) <= chars
        assert len(shown) <= lines


class TestBudget:
    """How much room there is."""

    @pytest.mark.parametrize(
        "wrong",
        [{"lines": 3}, {"lines": 4, "columns": 79}, {"lines": 4, "text_chars": 63}, {"lines": 4, "items": 0}],
    )
    def test_there_is_room_for_a_mark(self, wrong: dict[str, Any]) -> None:
        """A card without a mark where it was cut would be a lie."""
        with pytest.raises(ValueError, match="at least"):
            Budget(**wrong)

    def test_boundless_shows_everything(self) -> None:
        """However narrow the screen is."""
        budget = Budget.boundless(columns=40)
        assert budget.whole_view
        assert budget.columns == COLUMNS_MIN
        assert budget.clip("x" * 100_000, budget.text_chars) == "x" * 100_000

    @given(HOSTILE, st.integers(0, 70))
    def test_clipping_finds_the_longest_beginning(self, text: str, most: int) -> None:
        """Not a character less than fits, unless one would be torn apart."""
        shown = visible(text)
        budget = Budget(lines=4, cost=escaped)
        kept = budget.clip(shown, most)
        assert shown.startswith(kept)
        assert escaped(kept) <= most
        if is_plain(text) and kept != shown:
            assert escaped(shown[: len(kept) + 1]) > most

    def test_clipping_looks_at_little_of_a_long_text(self) -> None:
        """What can't fit is not costed."""
        looked_at = 0

        def cost(text: str) -> int:
            nonlocal looked_at
            looked_at += len(text)
            return len(text)

        assert Budget(lines=4, cost=cost).clip("x" * 1_000_000, 100) == "x" * 100
        assert looked_at < 3_000

    def test_marks_that_take_no_room_are_clipped_too(self) -> None:
        """A medium may count combining marks as nothing."""
        budget = Budget(lines=4, cost=lambda text: sum(char == "x" for char in text))
        assert budget.clip("x.........x.........x", 2) == "x.........x........."
