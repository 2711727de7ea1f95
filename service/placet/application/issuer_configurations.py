"""What issuers say of themselves, kept: asked for when it is needed, by one for all, and then left alone.

1. Whoever needs it while it is asked for waits for the one answer. After a failure an issuer is left alone
   for a while: its people hear at once that it is away, and it is not asked the more for it.
2. What is known serves while it is asked for anew, and for a day where that fails.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from placet.application.clock import Clock
from placet.application.issuer_calls import IssuerFault
from placet.application.issuer_documents import Configuration
from placet.domain.people import Issuer

RETRY_EVERY_S: Final = 5
STALE_MAX_S: Final = 24 * 60 * 60

Fetch = Callable[[Issuer], Awaitable[tuple[Configuration, int]]]
"""Asks an issuer; for how many seconds that may be kept. Raises :class:`IssuerFault`."""


class IssuerConfigurations:
    """Those of all issuers.

    Args:
        clock: For its ``monotonic_s``.
        fetch: Asks one.
    """

    def __init__(self, clock: Clock, fetch: Fetch) -> None:
        self._clock = clock
        self._fetch = fetch
        self._kept: dict[str, _Kept] = {}

    async def find(self, issuer: Issuer) -> Configuration:
        """What an issuer says of itself.

        Raises:
            IssuerFault: It can't be had.
        """
        kept = self._kept.setdefault(issuer.iss, _Kept())
        now_s = self._clock.monotonic_s()
        if now_s >= kept.ask_from_s and kept.asking is None:
            kept.asking = asyncio.get_running_loop().create_task(self._renew(issuer, kept))
        if kept.found is not None and now_s < kept.usable_until_s:
            return kept.found
        if kept.asking is not None:
            await asyncio.wait((kept.asking,))  # which leaves it alone if this caller goes away
        if kept.found is None or self._clock.monotonic_s() >= kept.usable_until_s:
            raise kept.fault
        return kept.found

    async def close(self) -> None:
        """Stop asking."""
        asking = [kept.asking for kept in self._kept.values() if kept.asking is not None]
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    async def _renew(self, issuer: Issuer, kept: "_Kept") -> None:
        try:
            found, max_age_s = await self._fetch(issuer)
        except IssuerFault as fault:
            kept.fault = fault
            kept.ask_from_s = self._clock.monotonic_s() + RETRY_EVERY_S
        else:
            kept.found, kept.ask_from_s = found, self._clock.monotonic_s() + max_age_s
            kept.usable_until_s = kept.ask_from_s + STALE_MAX_S
        finally:
            kept.asking = None


class _Kept:
    """What is known of one issuer."""

    def __init__(self) -> None:
        self.found: Configuration | None = None
        self.fault = IssuerFault("it was not asked yet")
        self.ask_from_s = self.usable_until_s = float("-inf")
        self.asking: asyncio.Task[None] | None = None
