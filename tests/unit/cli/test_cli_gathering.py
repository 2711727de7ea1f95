"""What is written in one turn of the event loop goes out together."""

import asyncio

import pytest

from placet.cli.gathering import _MOST_BYTES, Gathering


class Line(asyncio.Transport):
    """A connection that remembers each write."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.writes: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.closed:
            raise RuntimeError("it is closed")
        self.writes.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


@pytest.fixture
async def line() -> tuple[Gathering, Line]:
    """A connection, gathered."""
    made = Line()
    return Gathering(made, asyncio.get_running_loop()), made


async def test_head_and_body_are_one_write(line: tuple[Gathering, Line]) -> None:
    """In their order; what follows in a later turn is another."""
    gathering, made = line
    gathering.write(b"head ")
    gathering.write(b"body")
    assert made.writes == []
    await asyncio.sleep(0)
    assert made.writes == [b"head body"]
    gathering.write(b"more")
    await asyncio.sleep(0)
    assert made.writes == [b"head body", b"more"]


async def test_much_does_not_wait(line: tuple[Gathering, Line]) -> None:
    """And takes along what waits."""
    gathering, made = line
    large = b"x" * _MOST_BYTES
    gathering.write(b"head ")
    gathering.write(large)
    assert made.writes == [b"head " + large]
    gathering.write(b"rest")
    await asyncio.sleep(0)
    assert made.writes[1:] == [b"rest"]


async def test_a_connection_is_closed_behind_what_was_written(line: tuple[Gathering, Line]) -> None:
    """Nothing is lost, and nothing comes after."""
    gathering, made = line
    gathering.write(b"the last")
    gathering.close()
    await asyncio.sleep(0)
    assert (made.writes, made.closed) == ([b"the last"], True)


async def test_what_a_lost_connection_was_to_carry_is_dropped(line: tuple[Gathering, Line]) -> None:
    """The transport would raise."""
    gathering, made = line
    gathering.write(b"too late")
    made.close()
    await asyncio.sleep(0)
    assert made.writes == []


async def test_in_all_else_it_is_the_transport(line: tuple[Gathering, Line]) -> None:
    """Whatever uvicorn asks it."""
    gathering, made = line
    assert gathering.get_extra_info("peername") == ("127.0.0.1", 1)
    assert gathering.is_closing() is made.is_closing() is False
