"""Text in columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.cli.layout import GAP, Column, blocks, columns_of, sentence, table, wrap
from placet.domain.durations import duration

PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "))


class TestWidth:
    """How wide a text is."""

    @pytest.mark.parametrize(
        ("text", "columns"), [("", 0), ("abc", 3), ("é", 1), ("e\u0301", 1), ("日本", 4), ("👍", 2)]
    )
    def test_it_is_counted_in_columns(self, text: str, columns: int) -> None:
        """Wide characters take two columns, combining marks none."""
        assert columns_of(text) == columns


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

    def test_without_an_end_of_the_line_everything_stands_in_one(self) -> None:
        """What is piped on is neither cut nor wrapped."""
        rows = table([Column(title="ID"), Column(title="A", least=2)], [["i", "a" * 5000]])
        assert rows[1] == ["i ", "a" * 5000]

    def test_what_may_be_narrowed_is_wrapped_until_the_rows_fit(self) -> None:
        """The widest goes first; ids stay in one line, and what follows keeps to its column."""
        columns = [Column(title="ID"), Column(title="A", least=3), Column(title="B", least=3)]
        rows = table(columns, [["i" * 10, "a" * 12, "b" * 8]], 24)
        assert rows[1:] == [
            ["i" * 10, "aaaaa", "bbbbb"],
            [" " * 10, "aaaaa", "bbb  "],
            [" " * 10, "aa   ", " " * 5],
        ]

    def test_lists_are_parted_between_their_items(self) -> None:
        """A word stays whole where it can."""
        rows = table([Column(title="ID"), Column(title="A", least=8)], [["i", "request, consume, read"]], 12)
        assert [cell.rstrip() for _, cell in rows[1:]] == ["request,", "consume,", "read"]

    def test_a_terminal_too_narrow_for_that_gets_them_in_a_second_line(self) -> None:
        """Heads and rows alike, indented: at the margin there are ids only."""
        columns = [Column(title="ID"), Column(title="A", least=4), Column(title="RISK")]
        lines = [GAP.join(cells) for cells in table(columns, [["i" * 10, "a" * 6, "high"]], 16)]
        assert lines == ["ID          RISK", "    A     ", "i" * 10 + "  high", "    aaaaaa"]

    def test_one_narrower_still_gets_them_in_as_many_lines_as_it_takes(self) -> None:
        """Those first that can't be narrowed."""
        columns = [
            Column(title="ID"),
            Column(title="A", least=4),
            Column(title="RISK"),
            Column(title="B", least=4),
        ]
        rows = [["i" * 8, "a" * 9, "critical", "b" * 9]]
        lines = [GAP.join(cells).rstrip() for cells in table(columns, rows, 12)]
        assert lines == [
            "ID",
            "    RISK",
            "    A",
            "    B",
            "i" * 8,
            "    critical",
            "    aaaaaaaa",
            "    a",
            "    bbbbbbbb",
            "    b",
        ]

    def test_cells_are_painted_wherever_they_stand(self) -> None:
        """By row and column; the heads are the row before the first."""
        columns = [Column(title="ID"), Column(title="RISK")]
        found = blocks(
            columns, [["1234567", "high"]], 8, paint=lambda row, place, cell: f"{row}.{place}:{cell}"
        )
        assert found == [
            [["-1.0:ID     "], ["  ", "-1.1:RISK"]],
            [["0.0:1234567"], ["  ", "0.1:high"]],
        ]

    def test_the_lines_of_a_row_can_be_kept_together(self) -> None:
        """One block for the heads, one for each row."""
        columns = [Column(title="ID"), Column(title="A", least=2)]
        found = blocks(columns, [["1", "abcd"], ["2", "x"]], 6)
        assert [len(block) for block in found] == [1, 2, 1]

    @given(st.lists(st.tuples(PRINTABLE, PRINTABLE, PRINTABLE), max_size=3), st.integers(30, 90))
    def test_nothing_is_lost_and_every_cell_keeps_to_its_width(
        self, rows: list[tuple[str, str, str]], width: int
    ) -> None:
        """Whatever the texts and however narrow: all but blanks is there, in order."""
        columns = [Column(title=title, least=4) for title in ("ONE", "TWO", "SIX")]
        _, *below = blocks(columns, rows, width)
        for row, block in zip(rows, below, strict=True):
            for text, *parts in zip(row, *block, strict=True):
                assert "".join(parts).replace(" ", "") == text.replace(" ", "")
                assert len(set(map(columns_of, parts))) == 1
            assert all(columns_of(GAP.join(cells)) <= width for cells in block)


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
