"""Following events: over as many connections as it takes, from where they were left off."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from placet.client import AnswerNotUnderstood, Event, Gap, ServiceUnreachable
from placet.domain.errors import InternalError, PlacetError, RateLimited, RateLimitReason, Unauthenticated
from tests.agents import RECORD, Scene, problem

Making = Callable[..., Scene]
DATA = {
    "id": "apr_1",
    "type": "requested",
    "at": RECORD["requested_at"],
    "status": "pending",
    "capability": "orders.refund",
    "run": None,
    "asked_by": "runtime",
    "novelty": 1,
}


def told(entry: str, **changes: Any) -> bytes:
    """An event of the stream."""
    return f"id: {entry}\nevent: requested\ndata: {json.dumps({**DATA, **changes})}\n\n".encode()


def stream(*chunks: bytes) -> httpx.Response:
    """A connection that ends in good order."""
    content = b"retry: 2000\n" + b"".join(chunks)
    return httpx.Response(200, content=content, headers={"content-type": "text/event-stream; charset=utf-8"})


class Breaking(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A stream that breaks."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    def __iter__(self) -> Any:
        yield from self._chunks
        raise httpx.ReadError("broken")

    async def __aiter__(self) -> Any:
        for chunk in self._chunks:
            yield chunk
        raise httpx.ReadError("broken")


def broken(*chunks: bytes) -> httpx.Response:
    """A connection that breaks after these."""
    return httpx.Response(200, stream=Breaking(*chunks), headers={"content-type": "text/event-stream"})


async def test_what_happens_is_told(scene: Making) -> None:
    """Heartbeats are not; events of a kind that a newer service has are left out, and their id counts."""
    s = scene(stream(b": \n\n", told("1-0"), b"id: 2-0\nevent: novel\ndata: {}\n\n"), stream(told("3-0")))
    first, second = await s.agent.first(2, "events", run="r")
    assert isinstance(first, Event)
    assert (first.id, first.type, first.entry, first.status) == ("apr_1", "requested", "1-0", "pending")
    assert second.entry == "3-0"
    assert [each.headers.get("last-event-id") for each in s.requests] == [None, "2-0"]
    assert str(s.requests[0].url) == "https://placet.example/v1/events?run=r"
    assert s.pauses == [2.125], "the service says after how long"


async def test_it_goes_on_where_it_broke(scene: Making) -> None:
    """What was half told is told again by the service, once."""
    s = scene(broken(told("1-0"), told("2-0")[:20]), stream(told("2-0")))
    found = await s.agent.first(2, "events", last_event_id="0-1")
    assert [each.entry for each in found] == ["1-0", "2-0"]
    assert [each.headers["last-event-id"] for each in s.requests] == ["0-1", "1-0"]
    assert len({each.headers["x-request-id"] for each in s.requests}) == 2


async def test_a_gap_is_told(scene: Making) -> None:
    """The service's, and that of whoever was away without having heard of anything."""
    s = scene(stream(b"event: gap\ndata: {}\n\n"), stream(told("1-0")))
    assert [type(each) for each in await s.agent.first(3, "events")] == [Gap, Gap, Event]


async def test_an_outage_is_sat_out_for_a_while(scene: Making) -> None:
    """Counted from when something was last heard."""
    away = [httpx.ConnectError("x"), problem(RateLimited(RateLimitReason.RATE, retry_after_ms=5000))]
    s = scene(*away, stream(told("1-0")), *away, stream(told("2-0")), most=2)
    assert [each.entry for each in await s.agent.first(2, "events")] == ["1-0", "2-0"]
    assert s.pauses == [0.125, 5.25, 2.125, 2.125, 5.25]
    s = scene(*[httpx.ConnectError("x")] * 3, most=2)
    with pytest.raises(ServiceUnreachable) as gone:
        await s.agent.first(1, "events")
    assert gone.value.request_id == s.requests[-1].headers["x-request-id"]


async def test_a_service_that_ends_it_at_once_is_not_stormed(scene: Making) -> None:
    """Each time nothing was heard it takes longer, and is no fault."""
    nothing = httpx.Response(200, content=b"", headers={"content-type": "text/event-stream"})
    s = scene(*[nothing] * 4, stream(told("1-0")), most=2)
    assert len(await s.agent.first(1, "events")) == 1
    assert s.pauses == [0.125, 0.25, 0.5, 1]


@pytest.mark.parametrize("error", [Unauthenticated(), InternalError()])
async def test_a_refusal_ends_it(scene: Making, error: PlacetError) -> None:
    """Also where it comes later: that a credential counts no more."""
    s = scene(stream(told("1-0")), problem(error, **{"x-request-id": "rid"}))
    with pytest.raises(type(error)) as refused:
        await s.agent.first(2, "events")
    assert refused.value.request_id == "rid"


@pytest.mark.parametrize(
    "said",
    [httpx.Response(200, text="<html>"), stream(b"data: " + b"x" * (2 * 1024 * 1024))],
    ids=["page", "x"],
)
async def test_what_is_no_stream_is_not_understood(scene: Making, said: httpx.Response) -> None:
    """A page of a proxy, and what has no end."""
    with pytest.raises(AnswerNotUnderstood):
        await scene(said).agent.first(1, "events")
