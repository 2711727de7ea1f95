"""Durations as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain import durations


@pytest.mark.parametrize(
    ("text", "ms"), [("90s", 90_000), ("15m", 900_000), ("12h", 43_200_000), ("30d", 2_592_000_000)]
)
def test_a_number_and_a_unit(text: str, ms: int) -> None:
    """Seconds, minutes, hours, days."""
    assert durations.read(text) == ms


@pytest.mark.parametrize(
    "text",
    [
        "",
        "15",
        "m",
        "0s",
        "-1s",
        "1.5h",
        "1 h",
        "15M",
        "1w",
        "1h30m",
        "\u0661m",
        "1m\n",
        "9" * 10 + "s",
        "01s",
    ],
)
def test_everything_else_is_none(text: str) -> None:
    """And it is said how one is written."""
    with pytest.raises(ValueError, match="write a whole number and a unit, as in 90s, 15m, 12h or 30d"):
        durations.read(text)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (1_000, "1s"),
        (90_000, "90s"),
        (3_600_000, "1h"),
        (2_592_000_000, "30d"),
        (1_500, "1500 ms"),
        (0, "0 ms"),
    ],
)
def test_it_is_spelled_in_its_greatest_whole_unit(ms: int, text: str) -> None:
    """Milliseconds where there is none."""
    assert durations.spell(ms) == text


@given(st.integers(1, 999_999_999), st.sampled_from("smhd"))
def test_what_is_spelled_is_read_again(count: int, unit: str) -> None:
    """As the same time."""
    ms = durations.read(f"{count}{unit}")
    assert durations.read(durations.spell(ms)) == ms


@pytest.mark.parametrize(
    ("ms", "short", "read", "calm"),
    [
        (-5, "0s", "0 s", "0 s"),
        (0, "0s", "0 s", "0 s"),
        (999, "0s", "0 s", "0 s"),
        (45_999, "45s", "45 s", "45 s"),
        (60_000, "1m", "1 min", "1 min"),
        (65_000, "1m 5s", "1 min 5 s", "1 min 5 s"),
        (599_000, "9m 59s", "9 min 59 s", "9 min 59 s"),
        (892_000, "14m 52s", "14 min 52 s", "14 min"),
        (3_600_000, "1h", "1 h", "1 h"),
        (11_100_000, "3h 5m", "3 h 5 min", "3 h 5 min"),
        (43_500_000, "12h 5m", "12 h 5 min", "12 h"),
        (86_400_000, "1d", "1 day", "1 day"),
        (187_200_000, "2d 4h", "2 days 4 h", "2 days 4 h"),
        (2_606_400_000, "30d 4h", "30 days 4 h", "30 days"),
    ],
)
def test_it_is_told_in_two_units_at_most(ms: int, short: str, read: str, calm: str) -> None:
    """Short where there are columns, to be read aloud elsewhere, and without what need not move."""
    assert durations.duration(ms) == short
    assert durations.read_out(ms) == read
    assert durations.read_out(ms, calm=True) == calm
