"""A wire that a test holds both ends of, and a link over it."""

from collections.abc import AsyncIterator

import pytest

from placet.store.link import Link
from tests.link_wire import Wire, a_link, echo


@pytest.fixture
def wire() -> Wire:
    """A wire that echoes."""
    return Wire(echo)


@pytest.fixture
async def link(wire: Wire) -> AsyncIterator[Link]:
    """A link over it that leaves nothing behind."""
    link = a_link(wire)
    yield link
    await link.drain()
    assert wire.in_use == 0
