"""The link before faults: what is sent again, once, and what is an unknown outcome."""

import asyncio
from typing import Any, cast

import pytest
from redis.exceptions import ConnectionError as LinkDown
from redis.exceptions import NoScriptError, OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as LinkTimeout

from placet.domain.errors import StoreUnavailable
from placet.store.link import Link
from placet.store.scripts import load
from tests.link_wire import META, SHA, Command, Wire, a_link, call, calls, echo
from tests.tools import until


class TestUnknownScript:
    """NOSCRIPT is answered by one load and one re-send."""

    async def test_it_is_loaded_and_sent_again(self, link: Link, wire: Wire) -> None:
        """Each script once, only the calls that were refused, in one exchange."""
        known = {SHA["cancel"]}

        def answer(command: Command) -> Any:
            if command[0] == b"EVALSHA" and command[1] not in known:
                return NoScriptError("No matching script.")
            if command[0] == b"SCRIPT":
                known.update(SHA.values())
            return echo(command)

        wire.answer = answer
        replies = await asyncio.gather(call(link, "1"), call(link, "2", "cancel"), call(link, "3"))
        assert list(replies) == [[b"1"], [b"2"], [b"3"]]
        again = wire.exchanges[1]
        assert [command[:2] for command in again] == [
            (b"SCRIPT", b"LOAD"),
            (b"EVALSHA", SHA["get"]),
            (b"EVALSHA", SHA["get"]),
        ]
        assert again[0][2].decode() == load()["get"].text

    async def test_once(self, link: Link, wire: Wire) -> None:
        """A server that forgets at once is of no use."""
        wire.answer = lambda command: NoScriptError() if command[0] == b"EVALSHA" else b"OK"
        with pytest.raises(StoreUnavailable):
            await call(link, "1")
        assert len(wire.exchanges) == 2


class TestBrokenLink:
    """A broken link is answered by one re-send of the batch; whatever remains is an unknown outcome."""

    @pytest.mark.parametrize("fault", [LinkDown("gone"), ConnectionResetError(), BrokenPipeError()])
    async def test_the_batch_is_sent_again(self, link: Link, wire: Wire, fault: Exception) -> None:
        """Whole, in the same order, once."""
        wire.faults = [fault]
        replies = await calls(link, "1", "2")
        assert replies == [[b"1"], [b"2"]]
        assert wire.exchanges[0] == wire.exchanges[1]
        assert (len(wire.exchanges), wire.dropped) == (2, 1)

    async def test_once(self, link: Link, wire: Wire) -> None:
        """Then all its callers hear that the store can't be asked."""
        wire.faults = [LinkDown(), LinkDown()]
        replies = await calls(link, "1", "2")
        assert [type(reply) for reply in replies] == [StoreUnavailable] * 2
        assert len(wire.exchanges) == 2

    async def test_the_next_batch_is_not_its_fault(self, link: Link, wire: Wire) -> None:
        """Once the server is there again it is asked."""
        wire.faults = [LinkDown(), LinkDown()]
        with pytest.raises(StoreUnavailable):
            await call(link, "1")
        assert await call(link, "2") == [b"2"]

    async def test_a_link_that_breaks_between_replies(self, link: Link, wire: Wire) -> None:
        """Whoever has no answer is asked for again: each script knows its own earlier call."""
        replies = iter([b"", LinkDown("gone")])
        wire.answer = lambda command: next(replies, None) or echo(command)
        assert await calls(link, "1", "2") == [[b"1"], [b"2"]]

    async def test_what_nobody_waits_for_is_not_sent_again(self, link: Link, wire: Wire) -> None:
        """Whether it was carried out is unknown to whoever has gone, either way."""
        wire.answer = lambda _: LinkDown("gone")
        wire.open.clear()
        task = asyncio.create_task(call(link, "1"))
        await until(lambda: bool(wire.exchanges), "it is under way")
        task.cancel()
        wire.open.set()
        async with asyncio.timeout(1):
            await link.drain()
        assert len(wire.exchanges) == 1

    async def test_who_has_an_answer_is_not_overtaken(self, link: Link, wire: Wire) -> None:
        """What they have gone on to do must stand: their call is not made a second time."""
        replies = iter([[b"first"], LinkDown("gone")])
        wire.answer = lambda command: next(replies, None) or echo(command)
        assert await calls(link, "1", "2") == [[b"first"], [b"2"]]
        assert [command[-1] for command in wire.exchanges[1]] == [b"2"]

    @pytest.mark.parametrize("fault", [LinkTimeout("late"), TimeoutError(), OSError("no route")])
    async def test_other_faults_are_not_sent_again(self, link: Link, wire: Wire, fault: Exception) -> None:
        """A server that is late may still be at it."""
        wire.faults = [fault]
        with pytest.raises(StoreUnavailable):
            await call(link, "1")
        assert (len(wire.exchanges), wire.dropped) == (1, 1)

    async def test_replies_have_a_time_limit(self, wire: Wire) -> None:
        """One for the batch; the connection, which may yet bring them, is dropped."""
        link = a_link(wire, timeout_s=0.01)
        wire.open.clear()
        with pytest.raises(StoreUnavailable):
            await call(link, "1")
        assert (len(wire.exchanges), wire.dropped, wire.in_use) == (1, 1, 0)

    async def test_connecting_has_the_same_limit(self, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
        """A server that has stopped lets itself be connected to and says nothing."""
        monkeypatch.setattr(wire, "get_connection", asyncio.Event().wait)
        with pytest.raises(StoreUnavailable):
            await call(a_link(wire, timeout_s=0.01), "1")
        assert (wire.exchanges, wire.in_use) == ([], 0)

    async def test_what_cannot_be_packed_is_not_sent(self, link: Link, wire: Wire) -> None:
        """That is a fault of our own, and of that call alone."""
        good = asyncio.create_task(call(link, "1"))
        with pytest.raises(TypeError):
            link.call("get", META, (cast("str", object()),))
        assert await good == [b"1"]
        assert len(wire.exchanges) == 1

    async def test_nobody_is_left_waiting(
        self, link: Link, wire: Wire, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also where the fault is our own, and nobody foresaw it."""
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        monkeypatch.setattr(wire, "get_connection", None)
        with pytest.raises(StoreUnavailable):
            await call(link, "1")


@pytest.mark.parametrize("fault", [ResponseError("ERR user_script:1"), OutOfMemoryError("OOM")])
async def test_a_script_that_fails_fails_alone(link: Link, wire: Wire, fault: Exception) -> None:
    """What the server refused is unknown to its caller; the batch goes on."""
    wire.answer = lambda command: fault if command[-1] == b"2" else echo(command)
    replies = await calls(link, "1", "2", "3")
    assert (replies[0], replies[2]) == ([b"1"], [b"3"])
    assert isinstance(replies[1], StoreUnavailable)
    assert wire.dropped == 0


@pytest.mark.parametrize("reply", [b"OK", 1, None, [], {}, [1, b"ok"], [[b"ok"]]])
async def test_what_no_script_answers_is_no_answer(link: Link, wire: Wire, reply: Any) -> None:
    """Whatever it means, its caller does not know what came of the call; the batch goes on."""
    wire.answer = lambda command: reply if command[-1] == b"2" else echo(command)
    replies = await calls(link, "1", "2", "3")
    assert (replies[0], replies[2]) == ([b"1"], [b"3"])
    assert isinstance(replies[1], StoreUnavailable)
    assert len(wire.exchanges) == 1


class TestReplica:
    """After a failover an old connection may lead to a replica."""

    async def test_it_is_asked_over_a_new_connection(self, link: Link, wire: Wire) -> None:
        """Idle connections go, and the batch is sent again."""
        refusals = iter([ReadOnlyError("READONLY")])
        wire.answer = lambda command: next(refusals, None) or echo(command)
        assert await call(link, "1") == [b"1"]
        assert (len(wire.exchanges), wire.emptied) == (2, 1)

    async def test_once(self, link: Link, wire: Wire) -> None:
        """A replica is no store."""
        wire.answer = lambda _: ReadOnlyError("READONLY")
        with pytest.raises(StoreUnavailable):
            await call(link, "1")
        assert len(wire.exchanges) == 2
