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
