"""Charts: where their parts are."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from placet.web.charts import ROOM_PX, Part, Stack, Text, columns, rows


def test_columns_pile_up() -> None:
    """From the line they stand on; nothing is drawn of nothing, and each has its total above it."""
    stacks = [
        Stack(counts=(("approved", 3), ("rejected", 1)), lines=("Thu", "14")),
        Stack(counts=(("approved", 0), ("rejected", 0)), lines=("Fri", "15")),
    ]
    chart = columns("In words", stacks, tells_all=True)
    assert chart.label == "In words"
    assert chart.base_y is not None
    below, above = chart.parts
    assert (below.kind, above.kind) == ("approved", "rejected")
    assert below.y + below.height == chart.base_y - 1
    assert above.y == chart.base_y - ROOM_PX
    assert above.y + above.height < below.y
    assert (below.x, below.width) == (7.0, 36.0)
    assert [text.words for text in chart.texts] == ["4", "Thu", "14", "Fri", "15"]
    assert [text.x for text in chart.texts] == [25.0, 25.0, 25.0, 75.0, 75.0]


def test_of_many_columns_the_highest_is_told() -> None:
    """Once; near an edge no text is cut off."""
    stacks = [Stack(counts=(("approved", count),)) for count in (1, 9, 9, *[0] * 26, 2)]
    chart = columns("", stacks, tells_all=False)
    assert [(text.words, text.x, text.anchor) for text in chart.texts] == [("9", 0, "start")]
    stacks = [*[Stack(counts=())] * 29, Stack(counts=(("approved", 9),))]
    assert [(text.x, text.anchor) for text in columns("", stacks, tells_all=False).texts] == [(100, "end")]


def test_rows_are_named_and_numbered() -> None:
    """The longest takes all the room between its name and its number; a little can be seen."""
    chart = rows(
        "In words", [("used", "plain", 1_000), ("never used", "expired", 1), ("cancelled", "plain", 0)]
    )
    assert chart.base_y is None
    assert chart.parts == [
        Part(kind="plain", x=34.0, y=6, width=54.0, height=14),
        Part(kind="expired", x=34.0, y=32, width=0.5, height=14),
    ]
    assert [text.words for text in chart.texts] == [
        "used",
        "\xa01000",
        "never used",
        "\xa01",
        "cancelled",
        "\xa00",
    ]
    assert chart.texts[0] == Text(words="used", x=0, y=18, anchor="start")
    assert chart.height == 3 * 26


def test_of_nothing_there_is_nothing() -> None:
    """Neither columns nor bars, and no division by none."""
    assert columns("", [], tells_all=True).parts == []
    assert columns("", [Stack(counts=(("approved", 0),))], tells_all=True).texts == []
    assert rows("", [("used", "plain", 0)]).parts == []


@given(st.lists(st.tuples(*[st.integers(0, 10**6)] * 3), min_size=1, max_size=31))
def test_nothing_is_drawn_beyond_the_chart(counts: list[tuple[int, int, int]]) -> None:
    """Or upon something else; and what there is at all can be seen."""
    kinds = ("approved", "rejected", "changed")
    chart = columns(
        "", [Stack(counts=tuple(zip(kinds, each, strict=True))) for each in counts], tells_all=True
    )
    assert len(chart.parts) == sum(bool(count) for each in counts for count in each)
    for part in chart.parts:
        assert part.height >= 1
        assert part.x >= 0
        assert part.x + part.width <= 100.01
        assert part.y >= 0
        assert part.y + part.height <= chart.height
    for before, after in pairwise(chart.parts):
        is_beside = after.x >= before.x + before.width
        assert is_beside or after.y + after.height <= before.y
