"""The event stream over the wire: what is written, and what happens to whoever does not listen."""

from collections.abc import AsyncGenerator

import pytest

from placet.application.event_lines import begun, last_entry
from placet.application.feed import Sign, Told
from placet.domain.errors import InputInvalid, Unauthenticated
from placet.store.stream import Transition
from tests.factories import T0_MS
from tests.unit.application.test_views import an_approval

TOLD = Told(
    transition=Transition(tenant="default", entry="7-1", approval_id="apr_1", type="voted", at_ms=T0_MS),
    approval=an_approval(),
)


async def several(*each: Told | Sign | Exception) -> AsyncGenerator[Told | Sign]:
    """These, one after another."""
    for one in each:
        if isinstance(one, Exception):
            raise one
        yield one


async def test_what_is_written() -> None:
    """A field a line, a blank line behind each; when to come back, first of all."""
    chunks = [chunk async for chunk in await begun(several(Sign.GAP, TOLD, Sign.BEAT))]
    first, second, third = chunks
    assert first == b"retry: 2000\nevent: gap\ndata: {}\n\n"
    head, _, data = second.partition(b"data: ")
    assert head == b"id: 7-1\nevent: voted\n"
    assert data.startswith(b'{"id":"apr_1","type":"voted","at":"2027-01-15T08:00:00.000Z"')
    assert data.endswith(b"}\n\n")
    assert third == b": \n\n"


async def test_what_can_not_begin_is_refused() -> None:
    """Before anything was written."""
    with pytest.raises(Unauthenticated):
        await begun(several(Unauthenticated()))


@pytest.mark.parametrize(("header", "entry"), [(None, None), ("", None), ("17-0", "17-0")])
def test_where_to_go_on(header: str | None, entry: str | None) -> None:
    """Behind an entry, or from now."""
    assert last_entry(header) == entry


def test_what_is_no_entry_is_refused() -> None:
    """It says what it has to be."""
    with pytest.raises(InputInvalid) as refusal:
        last_entry("17")
    assert refusal.value.issues[0].message == "Last-Event-ID must be an id of this stream."
