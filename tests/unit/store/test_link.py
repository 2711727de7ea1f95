"""The link: calls travel together, and callers that leave take nothing with them."""

import asyncio

from placet.store.link import MAX_BATCH_CALLS, MAX_BATCHES_IN_FLIGHT, Link
from tests.link_wire import META, SHA, Wire, a_link, call, calls
from tests.tools import until


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
