"""Server-sent events, in whatever pieces they arrive."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.client.sse import BLOCK_MAX_BYTES, Blocks

STREAM = (
    b"\xef\xbb\xbfretry: 2000\n: a comment\nid: 1-0\nevent: requested\ndata: {}\n\n"
    b":\n\nevent: gap\r\ndata\r\ndata:x\r\ndata: y\r\n\r\n"
    b"id: a\0b\nretry: soon\nretry: 1234567\nnovel: x\ndata: last\n\nevent: without data\n\ndata: no end"
)


def read(*chunks: bytes) -> tuple[list[tuple[str, bytes]], str | None, int]:
    """The events in these pieces, the last id, and the delay."""
    blocks = Blocks()
    told = [(block.type, block.data) for chunk in chunks for block in blocks.feed(chunk)]
    return told, blocks.last_id, blocks.retry_ms


EXPECTED = ([("requested", b"{}"), ("gap", b"\nx\ny"), ("message", b"last")], "1-0", 2000)


def test_blocks_are_read_as_the_standard_says() -> None:
    """Fields, comments, every end of line; what is not ended is not told."""
    assert read(STREAM) == EXPECTED


@given(st.lists(st.integers(0, len(STREAM)), max_size=8).map(sorted))
def test_pieces_make_no_difference(cuts: list[int]) -> None:
    """Wherever the stream is cut, between the halves of an end of line too."""
    bounds = [0, *cuts, len(STREAM)]
    assert read(*(STREAM[start:end] for start, end in pairwise(bounds))) == EXPECTED


def test_an_empty_id_forgets_the_last() -> None:
    """As the standard has it."""
    assert read(b"id: 1-0\ndata: x\n\nid\ndata: y\n\n")[1] is None
    assert read(b"data: x\r\rdata: y\r\r")[0] == [("message", b"x")], "a last return may be half an end"


@pytest.mark.parametrize("chunk", [b"x" * 70_000, b"data: " + b"x" * 70_000 + b"\n"])
def test_nobody_fills_the_memory(chunk: bytes) -> None:
    """A line without end, and an event without end."""
    blocks = Blocks()
    for _ in range(BLOCK_MAX_BYTES // len(chunk)):
        assert not list(blocks.feed(chunk))
    with pytest.raises(ValueError, match="no end"):
        list(blocks.feed(chunk))
