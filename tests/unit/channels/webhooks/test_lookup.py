"""Names to addresses, by a resolver that can hang."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from placet.channels.webhooks.lookup import Lookup


class Resolver:
    """One that answers once a test lets it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = threading.Event()
        self.fault: OSError | None = None

    def __call__(self, host: str, port: None, *, type: int) -> list[Any]:  # noqa: A002 - as getaddrinfo's
        assert type == socket.SOCK_STREAM
        self.asked.append(host)
        self.go.wait(10)
        if self.fault:
            raise self.fault
        kind = (socket.AF_INET, type, 6, "")
        return [(*kind, ("10.0.0.1", 0)), (*kind, ("10.0.0.2", 0)), (*kind, ("10.0.0.1", 0))]


@pytest.fixture
def resolver() -> Iterator[Resolver]:
    """It lets everybody go in the end."""
    resolver = Resolver()
    yield resolver
    resolver.go.set()


async def test_all_addresses_in_their_order(resolver: Resolver) -> None:
    """Each once; and asked for anew each time."""
    resolver.go.set()
    lookup = Lookup(resolver)
    assert await lookup("a.example") == ("10.0.0.1", "10.0.0.2")
    assert await lookup("a.example") == ("10.0.0.1", "10.0.0.2")
    assert resolver.asked == ["a.example", "a.example"]


async def test_a_name_is_asked_for_once_at_a_time(resolver: Resolver) -> None:
    """However many wait for it; another name does not wait."""
    lookup = Lookup(resolver)
    waiting = [asyncio.ensure_future(lookup(name)) for name in ("a.example", "a.example", "b.example")]
    await asyncio.sleep(0)
    resolver.go.set()
    assert await asyncio.gather(*waiting) == [("10.0.0.1", "10.0.0.2")] * 3
    assert sorted(resolver.asked) == ["a.example", "b.example"]


async def test_whoever_gives_up_spoils_nothing(resolver: Resolver) -> None:
    """The others still hear, and what fails when all have gone is nobody's fault."""
    lookup = Lookup(resolver)
    leaving, staying = (asyncio.ensure_future(lookup("a.example")) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    resolver.go.set()
    assert await staying == ("10.0.0.1", "10.0.0.2")
    assert leaving.cancelled()


async def test_a_failure_is_heard_and_forgotten(resolver: Resolver) -> None:
    """By all who wait; the next one asks anew."""
    resolver.fault = socket.gaierror(socket.EAI_NONAME, "no such name")
    resolver.go.set()
    lookup = Lookup(resolver)
    for _ in range(2):
        with pytest.raises(OSError, match="no such name"):
            await lookup("a.example")
    resolver.fault = None
    assert await lookup("a.example") == ("10.0.0.1", "10.0.0.2")


async def test_the_machines_own() -> None:
    """It knows this machine, and takes an address for itself; what can be no name is none."""
    lookup = Lookup()
    assert {*await lookup("localhost")} <= {"127.0.0.1", "::1"}
    assert await lookup("127.0.0.1") == ("127.0.0.1",)
    assert await lookup("::1") == ("::1",)
    with pytest.raises((OSError, UnicodeError)):
        await lookup("a" * 64)
    lookup.close()
