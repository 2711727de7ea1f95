"""The keys of OIDC issuers, kept: asked for when they are needed, and then left alone for a while.

1. Known keys are used for as long as the issuer lets them be kept. Then it is asked again behind the callers'
   backs: while it can't be reached, what is known is used for another day.
2. A key that is not known is asked for at once, with everybody who wants to know waiting for the one answer;
   but not more often than once a minute. Tokens that name made-up keys make no more traffic than that.
3. Where nothing is known, or the issuer could not be asked about the key, the caller hears that asking again
   can help. A credential is called bad only by keys the issuer has just shown.
4. Issuers don't know of each other: one that is slow delays its own people, nobody else.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from placet.application.clock import Clock
from placet.application.issuer_calls import IssuerFault
from placet.application.issuer_documents import KeySet
from placet.domain.errors import IssuerUnavailable
from placet.domain.people import Issuer
from placet.tokens.foreign_keys import ForeignKey, ForeignKeys

ASK_EVERY_S: Final = 60
"""An issuer is not asked more often while some of its keys are known."""
RETRY_EVERY_S: Final = 10
"""Nor, while none is known, than this."""
STALE_MAX_S: Final = 24 * 60 * 60
"""For so long keys are used beyond what the issuer allowed, if it can't be reached."""

_log = logging.getLogger(__name__)

Fetch = Callable[[Issuer], Awaitable[KeySet]]


class IssuerKeys:
    """The keys of all issuers.

    Args:
        clock: For its ``monotonic_s``.
        fetch: Asks an issuer; raises :class:`IssuerFault`.
    """

    def __init__(self, clock: Clock, fetch: Fetch) -> None:
        self._clock = clock
        self._fetch = fetch
        self._kept: dict[tuple[str, str | None], _Kept] = {}

    async def find(self, issuer: Issuer, algorithm: str, kid: str | None) -> ForeignKey | None:
        """The key that a token of this issuer was signed with; ``None`` where the issuer has no such key.

        Raises:
            IssuerUnavailable: The issuer can't be asked.
        """
        place = (issuer.iss, issuer.jwks_url)
        kept = self._kept.get(place)
        if kept is None:
            kept = self._kept[place] = _Kept(self._clock)
        key = kept.find(algorithm, kid)
        if key is not None:
            if not kept.is_fresh:
                self._ask(issuer, kept)
            return key
        asking = self._ask(issuer, kept)
        if asking is not None:
            await asyncio.wait((asking,))  # which leaves it alone if this caller goes away
            key = kept.find(algorithm, kid)
        if key is None and (kept.failed or not kept.is_usable):
            raise IssuerUnavailable(retry_after_ms=kept.pause_ms)
        return key

    async def close(self) -> None:
        """Stop asking."""
        asking = [kept.asking for kept in self._kept.values() if kept.asking is not None]
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _ask(self, issuer: Issuer, kept: "_Kept") -> asyncio.Task[None] | None:
        """The asking under way, or one that begins now; ``None`` where it is too early for another."""
        if kept.asking is None and kept.pause_ms == 0:
            kept.begin(asyncio.get_running_loop().create_task(self._renew(issuer, kept)))
        return kept.asking

    async def _renew(self, issuer: Issuer, kept: "_Kept") -> None:
        try:
            kept.take(await self._fetch(issuer))
        except IssuerFault as fault:
            told = {"iss": issuer.iss, "tenant": issuer.tenant, "fault": str(fault)}
            _log.warning("the keys of an issuer can't be fetched", extra=told)
        finally:
            kept.asking = None


class _Kept:
    """What is known of one issuer's keys."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._keys = ForeignKeys(keys=())
        self._fresh_until_s = self._usable_until_s = float("-inf")
        self._asked_s = float("-inf")
        self.failed = False
        self.asking: asyncio.Task[None] | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether the issuer lets them be kept still."""
        return self._clock.monotonic_s() < self._fresh_until_s

    @property
    def is_usable(self) -> bool:
        """Whether they count still."""
        return self._clock.monotonic_s() < self._usable_until_s

    @property
    def pause_ms(self) -> int:
        """How long to wait before the issuer may be asked again."""
        every_s = ASK_EVERY_S if self.is_usable else RETRY_EVERY_S
        return round(max(0.0, self._asked_s + every_s - self._clock.monotonic_s()) * 1_000)

    def find(self, algorithm: str, kid: str | None) -> ForeignKey | None:
        """The key, where it is known and counts."""
        return self._keys.find(algorithm, kid) if self.is_usable else None

    def begin(self, asking: asyncio.Task[None]) -> None:
        """The issuer is being asked."""
        self._asked_s = self._clock.monotonic_s()
        self.failed, self.asking = True, asking  # until it has answered

    def take(self, found: KeySet) -> None:
        """The issuer has answered: from now on these, and no others."""
        self._keys = found.keys
        self._fresh_until_s = self._clock.monotonic_s() + found.max_age_s
        self._usable_until_s = self._fresh_until_s + STALE_MAX_S
        self.failed = False
