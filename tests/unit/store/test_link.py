"""The link on a wire that a test holds both ends of."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as LinkDown
from redis.exceptions import NoScriptError, OutOfMemoryError, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as LinkTimeout

from placet.domain.errors import StoreUnavailable
from placet.store.link import MAX_BATCH_CALLS, MAX_BATCHES_IN_FLIGHT, Confirmation, Link
from placet.store.scripts import load
from tests.tools import until

META = "{placet:default}:m"
SHA = {name: script.sha1.encode() for name, script in load().items()}
WAITAOF = Confirmation(("WAITAOF", 1, 0, 100), lambda reply: reply[0] >= 1)
WAIT = Confirmation(("WAIT", 2, 100), lambda reply: reply >= 2)

Command = tuple[bytes, ...]
Answering = Callable[[Command], Any]


class Wire:
    """A client of one pool whose server answers each command as ``answer`` says.

    An exception in place of a reply is raised at the reader, as the client library does it. ``faults``
    are raised instead of taking an exchange at all, in their order.
    """

    def __init__(self, answer: Answering, faults: Sequence[BaseException] = ()) -> None:
        self.answer = answer
        self.faults = list(faults)
        self.exchanges: list[list[Command]] = []
        self.open = asyncio.Event()
        self.open.set()
        self.in_use = 0
        self.dropped = 0
        self.emptied = 0
        self.closed = False

    @property
    def connection_pool(self) -> "Wire":
        return self

    async def get_connection(self) -> "Connection":
        self.in_use += 1
        return Connection(self)

    async def release(self, connection: "Connection") -> None:
        self.in_use -= 1

    async def disconnect(self, *, inuse_connections: bool) -> None:
        assert not inuse_connections
        self.emptied += 1

    async def aclose(self) -> None:
        self.closed = True


class Connection:
    """One connection of a wire."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._replies: list[Any] = []

    async def send_packed_command(self, packed: list[bytes], *, check_health: bool) -> None:
        commands = unpacked(b"".join(packed))
        self._wire.exchanges.append(commands)
        if self._wire.faults:
            raise self._wire.faults.pop(0)
        self._replies = [self._wire.answer(command) for command in commands]

    async def read_response(self, *, disable_decoding: bool) -> Any:
        await self._wire.open.wait()
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def disconnect(self, *, nowait: bool) -> None:
        self._wire.dropped += 1


def unpacked(packed: bytes) -> list[Command]:
    """The commands in a piece of the protocol (RESP arrays of bulk strings)."""
    commands = []
    while packed:
        head, _, packed = packed.partition(b"\r\n")
        words = []
        for _ in range(int(head[1:])):
            size, _, packed = packed.partition(b"\r\n")
            words.append(packed[: int(size[1:])])
            packed = packed[int(size[1:]) + 2 :]
        commands.append(tuple(words))
    return commands


def echo(command: Command) -> Any:
    """Answer a script with its first argument, a wait with plenty."""
    return {b"EVALSHA": [command[-1]], b"WAITAOF": [1, 0], b"WAIT": 2}.get(command[0], b"OK")


def a_link(wire: Wire, **options: Any) -> Link:
    """A link over a wire."""
    return Link(cast("Redis", wire), **options)


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


async def call(link: Link, argument: str, script: str = "get", key: str = META) -> Any:
    """One call, awaited in a task of its own."""
    return await link.call(script, key, (argument,))


async def calls(link: Link, *arguments: str) -> list[Any]:
    """Calls of one tick: their replies or faults."""
    return await asyncio.gather(*(call(link, each) for each in arguments), return_exceptions=True)


class TestBatches:
    """Calls of one tick travel together."""

    async def test_one_tick_is_one_exchange(self, link: Link, wire: Wire) -> None:
        """However many callers, in the order in which they called."""
        replies = await asyncio.gather(*(call(link, f"{i}") for i in range(5)))
        assert replies == [[b"%d" % i] for i in range(5)]
        assert wire.exchanges == [
            [(b"EVALSHA", SHA["get"], b"1", META.encode(), b"%d" % i) for i in range(5)]
        ]

    async def test_later_calls_travel_later(self, link: Link, wire: Wire) -> None:
        """One exchange after the other."""
        await call(link, "1")
        await call(link, "2")
        assert [len(commands) for commands in wire.exchanges] == [1, 1]

    async def test_an_exchange_is_bounded(self, link: Link, wire: Wire) -> None:
        """What is too much for one is cut in two."""
        await asyncio.gather(*(call(link, f"{i}") for i in range(MAX_BATCH_CALLS + 1)))
        assert [len(commands) for commands in wire.exchanges] == [MAX_BATCH_CALLS, 1]

    async def test_few_are_under_way_at_once(self, link: Link, wire: Wire) -> None:
        """The others wait, grow, and go as soon as one has landed."""
        wire.open.clear()
        full = MAX_BATCH_CALLS * MAX_BATCHES_IN_FLIGHT
        tasks = [asyncio.create_task(call(link, f"{i}")) for i in range(full + 2)]
        await until(lambda: len(wire.exchanges) == MAX_BATCHES_IN_FLIGHT, "all places are taken")
        tasks.append(asyncio.create_task(call(link, "late")))
        await asyncio.sleep(0.02)
        assert len(wire.exchanges) == MAX_BATCHES_IN_FLIGHT
        wire.open.set()
        await asyncio.gather(*tasks)
        assert [len(commands) for commands in wire.exchanges[MAX_BATCHES_IN_FLIGHT:]] == [3]

    async def test_batches_are_observed(self, wire: Wire) -> None:
        """Their calls and their seconds."""
        seen: list[tuple[int, float]] = []
        link = a_link(wire, observe=lambda calls, seconds: seen.append((calls, seconds)))
        await calls(link, "1", "2")
        await link.drain()
        assert [calls for calls, _ in seen] == [2]
        assert seen[0][1] >= 0

    async def test_draining_waits_for_all(self, link: Link, wire: Wire) -> None:
        """Calls that have not left yet and calls under way."""
        wire.open.clear()
        first = asyncio.create_task(call(link, "1"))
        await until(lambda: bool(wire.exchanges), "the first is under way")
        second = link.call("get", META, ("2",))
        draining = asyncio.create_task(link.drain())
        await asyncio.sleep(0.02)
        assert not draining.done()
        wire.open.set()
        await draining
        assert (first.done(), await second) == (True, [b"2"])

    async def test_draining_takes_nothing_with_it(self, link: Link, wire: Wire) -> None:
        """A shutdown that loses patience leaves the calls their answers."""
        wire.open.clear()
        waiting = asyncio.create_task(call(link, "1"))
        draining = asyncio.create_task(link.drain())
        await until(lambda: bool(wire.exchanges), "it is under way")
        draining.cancel()
        await asyncio.wait([draining])
        wire.open.set()
        assert await waiting == [b"1"]

    async def test_closing_answers_first(self, link: Link, wire: Wire) -> None:
        """Then it lets the connections go."""
        reply = link.call("get", META, ("1",))
        await link.close()
        assert (await reply, wire.closed) == ([b"1"], True)


class TestCancelled:
    """A caller that has gone takes nothing with it (B64, B65)."""

    async def test_the_others_are_answered(self, link: Link, wire: Wire) -> None:
        """Each with its own reply."""
        wire.open.clear()
        tasks = [asyncio.create_task(call(link, f"{i}")) for i in range(10)]
        await until(lambda: bool(wire.exchanges), "they are under way")
        for task in tasks[::2]:
            task.cancel()
        wire.open.set()
        replies = await asyncio.gather(*tasks, return_exceptions=True)
        assert replies[1::2] == [[b"%d" % i] for i in range(1, 10, 2)]
        assert all(isinstance(reply, asyncio.CancelledError) for reply in replies[::2])

    async def test_the_connection_is_read_to_its_end(self, link: Link, wire: Wire) -> None:
        """Nothing is left on it for the next batch, so it need not be dropped."""
        wire.open.clear()
        task = asyncio.create_task(call(link, "1"))
        await until(lambda: bool(wire.exchanges), "it is under way")
        task.cancel()
        wire.open.set()
        await link.drain()
        assert (wire.dropped, wire.in_use) == (0, 0)

    async def test_a_call_that_has_not_left_still_runs(self, link: Link, wire: Wire) -> None:
        """Whether it has been applied is unknown to its caller either way."""
        task = asyncio.create_task(call(link, "1"))
        await asyncio.sleep(0)
        task.cancel()
        await link.drain()
        assert len(wire.exchanges) == 1


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
        """All are asked again: each script knows its own earlier call."""
        replies = iter([b"", LinkDown("gone")])
        wire.answer = lambda command: next(replies, None) or echo(command)
        assert await calls(link, "1", "2") == [[b"1"], [b"2"]]

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

    async def test_nobody_is_left_waiting(self, link: Link, wire: Wire) -> None:
        """Also where the fault is our own: what can't be packed can't be sent."""
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        good = asyncio.create_task(call(link, "1"))
        with pytest.raises(StoreUnavailable):
            await link.call("get", META, (cast("str", object()),))
        with pytest.raises(StoreUnavailable):
            await good
        assert wire.exchanges == []


@pytest.mark.parametrize("fault", [ResponseError("ERR user_script:1"), OutOfMemoryError("OOM")])
async def test_a_script_that_fails_fails_alone(link: Link, wire: Wire, fault: Exception) -> None:
    """What the server refused is unknown to its caller; the batch goes on."""
    wire.answer = lambda command: fault if command[-1] == b"2" else echo(command)
    replies = await calls(link, "1", "2", "3")
    assert (replies[0], replies[2]) == ([b"1"], [b"3"])
    assert isinstance(replies[1], StoreUnavailable)
    assert wire.dropped == 0


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
