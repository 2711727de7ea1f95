"""The link where a server has to be waited for: no answer before its state is durable."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import NoScriptError, OutOfMemoryError, ResponseError

from placet.domain.errors import StoreUnavailable
from tests.link_wire import META, WAIT, WAITAOF, Wire, a_link, call, calls, echo


class TestConfirmation:
    """Every answer follows a confirmation of its state on its connection (B67)."""

    async def test_a_batch_ends_in_markers_and_waits(self, wire: Wire) -> None:
        """One marker a tenant, so that a replay too has something to wait for; then the waits."""
        link = a_link(wire, confirmations=[WAITAOF, WAIT])
        other = META.replace("default", "other")
        await asyncio.gather(call(link, "1"), call(link, "2"), call(link, "3", key=other))
        (commands,) = wire.exchanges
        assert [command[0] for command in commands[:3]] == [b"EVALSHA"] * 3
        assert sorted(commands[3:5]) == [
            (b"HSET", META.encode(), b"mark", b"1"),
            (b"HSET", other.encode(), b"mark", b"1"),
        ]
        assert commands[5:] == [(b"WAITAOF", b"1", b"0", b"100"), (b"WAIT", b"2", b"100")]

    @pytest.mark.parametrize(
        ("word", "reply"),
        [
            (b"WAITAOF", [0, 0]),
            (b"WAITAOF", ResponseError("ERR appendonly is disabled")),
            (b"WAIT", 1),
            (b"WAIT", 0),
            (b"WAIT", ResponseError("ERR")),
            (b"HSET", OutOfMemoryError("OOM")),
        ],
    )
    async def test_what_is_not_confirmed_is_not_answered(self, wire: Wire, word: bytes, reply: Any) -> None:
        """To none of the batch: it may be lost with the server."""
        link = a_link(wire, confirmations=[WAITAOF, WAIT])
        wire.answer = lambda command: reply if command[0] == word else echo(command)
        replies = await calls(link, "1", "2")
        assert [type(each) for each in replies] == [StoreUnavailable] * 2
        assert (len(wire.exchanges), wire.dropped) == (1, 0)

    async def test_what_asserts_nothing_is_not_confirmed(self, wire: Wire) -> None:
        """A lookup writes no marker and waits for nothing."""
        link = a_link(wire, confirmations=[WAITAOF, WAIT])
        assert await link.call("principals", META, ("1",), asserts=False) == [b"1"]
        assert [command[0] for command in wire.exchanges[0]] == [b"EVALSHA"]

    async def test_only_what_asserts_is_marked(self, wire: Wire) -> None:
        """In a batch of both, the tenants whose state is asserted."""
        link = a_link(wire, confirmations=[WAITAOF])
        other = META.replace("default", "other")
        lookup = link.call("principals", other, ("2",), asserts=False)
        await asyncio.gather(link.call("get", META, ("1",)), lookup)
        (commands,) = wire.exchanges
        assert [command[1] for command in commands if command[0] == b"HSET"] == [META.encode()]

    async def test_a_loaded_script_is_confirmed_too(self, wire: Wire) -> None:
        """The re-send ends in its own marker and wait."""
        link = a_link(wire, confirmations=[WAITAOF])
        refusals = iter([NoScriptError()])
        wire.answer = lambda command: next(refusals, None) or echo(command)
        assert await call(link, "1") == [b"1"]
        words = [command[0] for command in wire.exchanges[1]]
        assert words == [b"SCRIPT", b"EVALSHA", b"HSET", b"WAITAOF"]
