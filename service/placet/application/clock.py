"""Timers and wall time for what never touches a record.

Records are judged on the store's clock; this one only says when to look again, and how far a foreign
token's times may be off. A test injects its own and moves it by hand.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    """A call that has been put off and can be taken back."""

    def cancel(self) -> None:
        """Take it back; once it has run this does nothing."""
        ...


class Clock(Protocol):
    """Where timers and wall time come from."""

    def now_ms(self) -> int:
        """Wall time, Unix milliseconds."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since some moment; never goes back."""
        ...

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call back after ``seconds``."""
        ...


class SystemClock:
    """The machine's own."""

    def now_ms(self) -> int:
        """Wall time, Unix milliseconds."""
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    def call_later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call back after ``seconds`` on the running loop."""
        return asyncio.get_running_loop().call_later(seconds, callback)


async def sleep(clock: Clock, seconds: float) -> None:
    """Sleep on ``clock``."""
    slept: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not slept.done():
            slept.set_result(None)

    timer = clock.call_later(seconds, wake)
    try:
        await slept
    finally:
        timer.cancel()
