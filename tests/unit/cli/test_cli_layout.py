"""Text in columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.cli.layout import Column, columns_of, duration, fit, sentence, table, wrap

PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "))


class TestWidth:
    """How wide a text is."""

    @pytest.mark.parametrize(
        ("text", "columns"), [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("👍", 2)]
    )
    def test_it_is_counted_in_columns(self, text: str, columns: int) -> None:
        """Wide characters take two columns, combining marks none."""
        assert columns_of(text) == columns

    @given(PRINTABLE, st.integers(2, 40))
    def test_fitted_text_has_exactly_the_columns_asked_for(self, text: str, columns: int) -> None:
        """Whatever the text, a cell keeps its column straight."""
        assert columns_of(fit(text, columns)) == columns

    def test_what_does_not_fit_is_cut_with_a_mark(self) -> None:
        """A cut is visible; what fits is whole."""
        assert fit("abcdef", 4) == "abc…"
        assert fit("abcd", 4) == "abcd"
        assert fit("日本語", 4) == "日… "


class TestWrap:
    """Long text in several lines."""

    @given(PRINTABLE, st.integers(4, 40))
    def test_hard_wrapping_loses_nothing_and_keeps_to_the_width(self, text: str, columns: int) -> None:
        """Without blanks as places to part, the lines joined are the text."""
        lines = wrap(text, columns, at_blanks=False)
        assert "".join(lines) == text
        assert all(columns_of(line) <= columns for line in lines)

    @given(PRINTABLE, st.integers(4, 40))
    def test_soft_wrapping_loses_blanks_only(self, text: str, columns: int) -> None:
        """Every other character is there, in order."""
        lines = wrap(text, columns)
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert all(columns_of(line) <= columns for line in lines)

    def test_lines_begin_as_they_are_told_to(self) -> None:
        """The first line has its own beginning; blanks at a parting go."""
        assert wrap("one two three", 8, first="- ", rest="  ") == ["- one", "  two", "  three"]

    def test_there_is_progress_even_without_room(self) -> None:
        """A beginning as wide as the line still leaves one character each."""
        assert wrap("ab", 2, first="--", rest="--") == ["--a", "--b"]


class TestTable:
    """Cells of equal widths."""

    def test_columns_are_as_wide_as_their_widest_cell(self) -> None:
        """Heads count too."""
        rows = table([Column(title="ID"), Column(title="STATE")], [["longer", "x"]], 80)
        assert rows == [["ID    ", "STATE"], ["longer", "x    "]]

    def test_what_may_be_cut_is_cut_until_the_rows_fit(self) -> None:
        """The widest goes first; ids are never cut."""
        columns = [Column(title="ID"), Column(title="A", least=3), Column(title="B", least=3)]
        rows = table(columns, [["i" * 10, "a" * 20, "b" * 8]], 24)
        assert rows[1] == ["i" * 10, "aaaa…", "bbbb…"]

    def test_a_terminal_too_narrow_for_all_gets_whole_ids(self) -> None:
        """Cutting stops at the least widths, and the line is then too long."""
        columns = [Column(title="ID"), Column(title="A", least=2)]
        assert table(columns, [["i" * 10, "aaaa"]], 5)[1] == ["i" * 10, "a…"]


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (-5, "0s"),
        (0, "0s"),
        (999, "0s"),
        (45_000, "45s"),
        (60_000, "1m"),
        (872_000, "14m 32s"),
        (3_600_000, "1h"),
        (3_605_000, "1h"),
        (90_061_000, "1d 1h"),
        (3 * 86_400_000, "3d"),
    ],
)
def test_durations_have_two_units_at_most(ms: int, text: str) -> None:
    """The greatest unit there is, and the one below it unless that is nothing."""
    assert duration(ms) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the key", "The key"),
        ("/dev/null is", "/dev/null is"),
        ("http://x is", "http://x is"),
        ("d, used", "d, used"),
    ],
)
def test_sentences_begin_with_a_capital(text: str, shown: str) -> None:
    """Paths and addresses are no words: they stay as they are."""
    assert sentence(text) == shown
