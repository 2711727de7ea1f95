"""Waiters: a future each, resolved once, left behind never."""

import asyncio

from placet.application.waiters import Waiters, resolve


async def test_a_change_wakes_those_of_its_record() -> None:
    """And nobody of another record or another tenant."""
    waiters = Waiters()
    first, second = waiters.join("t", "a"), waiters.join("t", "a")
    other, foreign = waiters.join("t", "b"), waiters.join("u", "a")
    assert len(waiters) == 4
    waiters.wake("t", "a")
    assert [each.done() for each in (first, second, other, foreign)] == [True, True, False, False]
    assert len(waiters) == 2


async def test_waking_nobody_is_nothing() -> None:
    """A change that nobody waits for leaves no trace."""
    waiters = Waiters()
    waiters.wake("t", "a")
    assert len(waiters) == 0


async def test_a_place_given_back_is_gone() -> None:
    """Woken or not, and though it be given back twice."""
    waiters = Waiters()
    first, second = waiters.join("t", "a"), waiters.join("t", "a")
    waiters.leave("t", "a", first)
    assert len(waiters) == 1
    waiters.wake("t", "a")
    waiters.leave("t", "a", second)
    waiters.leave("t", "a", second)
    assert (len(waiters), first.done(), second.done()) == (0, False, True)


async def test_places_are_counted() -> None:
    """Whoever keeps the gauge hears of each coming and going."""
    told: list[int] = []
    waiters = Waiters(lambda: told.append(1), lambda: told.append(-1))
    place = waiters.join("t", "a")
    waiters.wake("t", "a")
    waiters.leave("t", "a", place)
    assert told == [1, -1]


async def test_closing_wakes_all_and_whoever_comes_later() -> None:
    """After it nobody waits any more."""
    waiters = Waiters()
    places = [waiters.join("t", "a"), waiters.join("u", "b")]
    waiters.close()
    assert all(place.done() for place in places)
    late = waiters.join("t", "a")
    assert (late.done(), len(waiters), waiters.closing) == (True, 0, True)
    waiters.leave("t", "a", late)


async def test_resolving_twice_is_resolving_once() -> None:
    """Nor does it matter that whoever waited has been cancelled."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    resolve(future)
    resolve(future)
    assert future.result() is None
    abandoned: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    abandoned.cancel()
    resolve(abandoned)
    assert abandoned.cancelled()
