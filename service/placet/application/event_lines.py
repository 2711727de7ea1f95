"""The event stream as it goes over the wire (WHATWG HTML §9.2), for programs and for pages."""

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing

from placet.application.feed import Sign, Told
from placet.application.views import event_view
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid
from placet.store.codec import encode

CONTENT_TYPE = b"text/event-stream"
RETRY_MS = 2_000
"""After how long a client that was let go comes back."""

_ENTRY = re.compile("[0-9]{1,15}-[0-9]{1,15}")
_SIGNS = {Sign.GAP: b"event: gap\ndata: {}\n\n", Sign.BEAT: b": \n\n"}


def last_entry(header: str | None) -> str | None:
    """What ``Last-Event-ID`` names; ``None`` where there is none, or an empty one.

    Raises:
        InputInvalid: It is no id of ours.
    """
    if not header:
        return None
    if not _ENTRY.fullmatch(header):
        raise InputInvalid([Issue(path="", message="Last-Event-ID must be an id of this stream.")])
    return header


async def begun(followed: AsyncGenerator[Told | Sign]) -> AsyncGenerator[bytes]:
    """The stream, once there is something of it: what keeps it from beginning is refused before.

    Raises:
        PlacetError: It does not begin.
    """
    first = await anext(followed)

    async def lines() -> AsyncGenerator[bytes]:
        async with aclosing(followed):
            yield b"retry: %d\n" % RETRY_MS + _lines(first)
            async for each in followed:
                yield _lines(each)

    return lines()


def _lines(each: Told | Sign) -> bytes:
    if isinstance(each, Sign):
        return _SIGNS[each]
    transition = each.transition
    data = encode(event_view(each.approval, transition))
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (transition.entry.encode(), transition.type.encode(), data)
