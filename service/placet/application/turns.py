"""Turns: so many do something at once, some wait for a place, and nobody takes all of them."""

from asyncio import Semaphore
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

AT_ONCE: Final = 16
WAITING_MAX: Final = 64
"""Beyond these nobody waits: whoever comes then is told to come again."""
OF_ONE_MAX: Final = 4
"""Of one source, doing it or waiting: many people may share an address."""


class Crowded(Exception):  # noqa: N818 - whoever asked is told when to come again
    """There is no place to wait."""


class Turns:
    """The turns at one thing."""

    def __init__(self) -> None:
        self._places = Semaphore(AT_ONCE)
        self._present: Counter[str] = Counter()

    @asynccontextmanager
    async def take(self, source: str) -> AsyncIterator[None]:
        """Around what is done, once there is a place for it.

        Raises:
            Crowded: There is none, or the source has as many as it gets.
        """
        if self._present[source] >= OF_ONE_MAX or self._present.total() >= AT_ONCE + WAITING_MAX:
            raise Crowded
        self._present[source] += 1
        try:
            async with self._places:
                yield
        finally:
            self._present[source] -= 1
            if not self._present[source]:
                del self._present[source]
