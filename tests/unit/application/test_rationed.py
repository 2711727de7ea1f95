"""Rationing: what many want to know is found out once."""

import asyncio
from collections.abc import Awaitable

import pytest

from placet.application.rationed import Rationed
from placet.domain.errors import StoreUnavailable
from tests.factories import ManualClock
from tests.tools import until


class Looks:
    """Counts looks, and can hold them back or have them fail."""

    def __init__(self) -> None:
        self.count = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.fault: Exception | None = None

    def __call__(self) -> Awaitable[None]:
        self.count += 1
        return self._look()

    async def _look(self) -> None:
        await self.gate.wait()
        if self.fault is not None:
            raise self.fault


@pytest.fixture
def rationed(clock: ManualClock) -> Rationed:
    """One look a second."""
    return Rationed(clock, 1.0)


async def test_what_was_seen_lately_is_not_looked_at_again(rationed: Rationed, clock: ManualClock) -> None:
    """For a second from when it was looked for, to the millisecond."""
    look = Looks()
    for later_ms, count in ((0, 1), (1, 1), (998, 1), (1, 2), (999, 2), (1, 3)):
        clock.move(later_ms)
        await rationed.look("a", look)
        assert look.count == count


async def test_things_are_looked_at_apart(rationed: Rationed) -> None:
    """Each has its own second."""
    one, other = Looks(), Looks()
    await rationed.look("a", one)
    await rationed.look("b", other)
    assert (one.count, other.count) == (1, 1)


async def test_many_at_once_look_once(rationed: Rationed, clock: ManualClock) -> None:
    """Everybody waits for the one look that is under way, however long it takes."""
    look = Looks()
    look.gate.clear()
    waiting = [asyncio.create_task(rationed.look("a", look)) for _ in range(100)]
    await until(lambda: look.count > 0, "somebody looks")
    clock.move(5_000)
    waiting += [asyncio.create_task(rationed.look("a", look)) for _ in range(100)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    look.gate.set()
    await asyncio.gather(*waiting)
    assert look.count == 1
    await rationed.look("a", look)
    assert look.count == 2, "a slow look is old when it is done"


async def test_a_fault_is_heard_by_everybody_and_not_kept(rationed: Rationed) -> None:
    """Whoever comes after looks anew."""
    look = Looks()
    look.fault = StoreUnavailable()
    look.gate.clear()
    waiting = [asyncio.create_task(rationed.look("a", look)) for _ in range(3)]
    await asyncio.sleep(0)
    look.gate.set()
    faults = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(fault) for fault in faults] == [StoreUnavailable] * 3
    look.fault = None
    await rationed.look("a", look)
    assert look.count == 2


@pytest.mark.parametrize("fault", [None, StoreUnavailable()])
async def test_whoever_goes_away_takes_nobody_along(rationed: Rationed, fault: Exception | None) -> None:
    """The look goes on for the others, or for nobody."""
    look = Looks()
    look.fault = fault
    look.gate.clear()
    first = asyncio.create_task(rationed.look("a", look))
    await until(lambda: look.count > 0, "it looks")
    second = asyncio.create_task(rationed.look("a", look))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    assert not second.done()
    second.cancel()
    await asyncio.wait({second})
    look.gate.set()
    await until(lambda: not rationed._looking, "the look ends")
    assert look.count == 1


async def test_what_is_forgotten_is_looked_at_again(rationed: Rationed) -> None:
    """Also where it never was."""
    look = Looks()
    rationed.forget("a")
    await rationed.look("a", look)
    rationed.forget("a")
    await rationed.look("a", look)
    assert look.count == 2


async def test_a_look_that_is_called_off_is_looked_at_again(rationed: Rationed) -> None:
    """As at the end of a process, when every task is."""
    look = Looks()
    look.gate.clear()
    waiting = asyncio.create_task(rationed.look("a", look))
    await until(lambda: look.count > 0, "it looks")
    rationed._looking["a"].cancel()
    await asyncio.wait({waiting})
    assert waiting.cancelled()
    look.gate.set()
    await rationed.look("a", look)
    assert look.count == 2
