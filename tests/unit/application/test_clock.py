"""The clock: the machine's own, and sleeping on any."""

import asyncio
import time
from typing import Any

import pytest

from placet.application.clock import SystemClock, sleep
from tests.factories import T0_MS, ManualClock, ManualTimer
from tests.tools import until


def test_the_machines_clock_is_the_machines() -> None:
    """Wall time in milliseconds, and a monotonic second hand."""
    clock = SystemClock()
    before = time.time_ns() // 1_000_000
    assert before <= clock.now_ms() <= time.time_ns() // 1_000_000
    assert clock.monotonic_s() <= time.monotonic()


async def test_a_call_is_put_off_and_taken_back() -> None:
    """What is cancelled in time never runs; cancelling later does nothing."""
    clock, ran = SystemClock(), []
    clock.call_later(0, lambda: ran.append("a"))
    taken_back = clock.call_later(0, lambda: ran.append("b"))
    taken_back.cancel()
    await until(lambda: bool(ran), "the call runs")
    taken_back.cancel()
    assert ran == ["a"]


async def test_a_sleeper_wakes_by_its_clock() -> None:
    """No sooner than its time, and then at once."""
    clock = ManualClock()
    task = asyncio.create_task(sleep(clock, 5))
    await until(lambda: clock.timers == 1, "it sleeps")
    clock.move(4_999)
    await asyncio.sleep(0)
    assert not task.done()
    clock.move(1)
    await task
    assert clock.now_ms() == T0_MS + 5_000


async def test_a_sleeper_that_is_cancelled_leaves_no_timer() -> None:
    """Whoever stops it stops its timer too."""
    clock = ManualClock()
    task = asyncio.create_task(sleep(clock, 5))
    await until(lambda: clock.timers == 1, "it sleeps")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert clock.timers == 0


async def test_waking_twice_is_waking_once() -> None:
    """A timer that runs though it was just taken back harms nobody."""

    class Eager(ManualClock):
        def call_later(self, seconds: float, callback: Any) -> ManualTimer:
            timer = super().call_later(seconds, callback)
            callback()
            callback()
            return timer

    await sleep(Eager(), 5)
