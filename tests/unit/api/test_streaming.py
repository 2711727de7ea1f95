"""Answers that go on: what is sent, and what becomes of whoever does not listen."""

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

import pytest

from placet.api import streaming
from placet.api.call import Answer
from placet.domain.errors import Unauthenticated


class Wire:
    """A connection: what was sent on it, and whether the other end reads."""

    def __init__(self, *, reads: bool = True) -> None:
        self.sent: list[dict[str, Any]] = []
        self.reads = reads

    async def receive(self) -> MutableMapping[str, Any]:
        """The client stays."""
        await asyncio.Event().wait()
        return {}

    async def send(self, message: Any) -> None:
        """Bodies are stuck where the other end does not read."""
        if message["type"] == "http.response.body" and not self.reads:
            await asyncio.Event().wait()
        self.sent.append(dict(message))


async def chunks(*each: bytes | Exception) -> AsyncGenerator[bytes]:
    """A stream of these."""
    for one in each:
        if isinstance(one, Exception):
            raise one
        yield one


async def streamed(wire: Wire, stream: AsyncGenerator[bytes]) -> Answer:
    """What became of the answer."""
    answer = Answer(status=200, body=b"", content_type=b"text/event-stream", stream=stream)
    return await streaming.streamed(wire.receive, wire.send, answer, stream, "r-1")


@pytest.mark.parametrize(
    ("fault", "code"), [(Unauthenticated(), "UNAUTHENTICATED"), (ValueError("?"), "INTERNAL_ERROR")]
)
async def test_a_stream_ends_with_its_fault(fault: Exception, code: str) -> None:
    """In good order, and the answer tells the metrics why."""
    wire = Wire()
    answer = await streamed(wire, chunks(b"a", fault))
    assert (answer.status, answer.code) == (200, code)
    assert [each.get("body") for each in wire.sent] == [None, b"a", b""]


async def test_whoever_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while, and the stream is let go."""
    monkeypatch.setattr(streaming, "SENT_WITHIN_S", 0.01)
    wire, stream = Wire(reads=False), chunks(b"a", b"b")
    assert (await streamed(wire, stream)).code == ""
    assert [each["type"] for each in wire.sent] == ["http.response.start"]
    assert [chunk async for chunk in stream] == []
