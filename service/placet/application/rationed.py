"""Rationing: what many want to know is found out once, for all of them, and not again for a while."""

import asyncio
from collections.abc import Awaitable, Callable

from placet.application.clock import Clock


class Rationed:
    """Lets a thing be looked at by one at a time, and then be left alone for ``every_s``.

    Args:
        clock: For its ``monotonic_s``.
        every_s: For how long what was found counts, from when it was asked for.
    """

    def __init__(self, clock: Clock, every_s: float) -> None:
        self._clock = clock
        self._every_s = every_s
        self._looked_s: dict[str, float] = {}
        self._looking: dict[str, asyncio.Task[None]] = {}

    async def look(self, thing: str, look: Callable[[], Awaitable[object]]) -> None:
        """Have been looked at ``thing``: lately, with somebody else, or now.

        Raises:
            Exception: Whatever ``look`` raises; everybody who waits for it hears the same.
        """
        looked_s = self._looked_s.get(thing)
        if looked_s is not None and self._clock.monotonic_s() - looked_s < self._every_s:
            return
        looking = self._looking.get(thing)
        if looking is None:
            # A task of its own: whoever began it may go away before the others.
            looking = asyncio.get_running_loop().create_task(self._look(thing, look))
            self._looking[thing] = looking
            looking.add_done_callback(_heard)
        await asyncio.shield(looking)

    def forget(self, thing: str) -> None:
        """Look again the next time."""
        self._looked_s.pop(thing, None)

    async def _look(self, thing: str, look: Callable[[], Awaitable[object]]) -> None:
        began_s = self._clock.monotonic_s()
        try:
            await look()
            self._looked_s[thing] = began_s
        finally:
            del self._looking[thing]


def _heard(looking: asyncio.Task[None]) -> None:
    """Take a fault for heard: perhaps nobody waits any more."""
    if not looking.cancelled():
        looking.exception()
