"""Failed authentication: how much of it is looked into before it is told to come more slowly.

1. Whoever's credential is known here never comes by: nothing that others do can keep them out.
2. Each other attempt is paid for in advance, out of its source's budget and out of everyone's, and repaid
   where it was no failure. So a flood is bounded however many of its calls are under way at once, and from
   however many addresses it comes.
3. A budget that is spent locks nobody out either. It takes away only the right to have the store asked at
   once (:mod:`placet.application.directory`): a good credential is let in still, one that is newer than a
   second perhaps at its next attempt. What fails then is told when to come again.

Therefore it does no harm that many share an address: behind a NAT, or behind a proxy that is not declared in
``PLACET_TRUSTED_PROXIES``. The budgets are this process's own.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, IPv6Network, ip_address

from placet.application.clock import Clock
from placet.domain.error_terms import RateLimitReason
from placet.domain.errors import RateLimited, Unauthenticated
from placet.domain.limits import (
    FAILURE_SOURCES_MAX,
    FAILURES_BURST,
    FAILURES_EVERY_MS,
    FAILURES_OF_ALL_BURST,
    FAILURES_OF_ALL_EVERY_MS,
)

_PREFIX_BITS = 64
"""Of an IPv6 address: whoever has one has the whole subnet (RFC 7421 §2)."""
_SOURCE_MAX_CHARS = 64

_log = logging.getLogger(__name__)


class Failures:
    """The budgets of failed attempts.

    Args:
        clock: For its ``monotonic_s``.
        counted: Told of each failure whether it was ``refused``, or ``limited`` for being too many.
    """

    def __init__(self, clock: Clock, counted: Callable[[str], None] = lambda _answer: None) -> None:
        self._clock = clock
        self._counted = counted
        self._everyone = _Budget(FAILURES_OF_ALL_BURST, FAILURES_OF_ALL_EVERY_MS)
        self._sources: OrderedDict[str, _Budget] = OrderedDict()

    @contextmanager
    def attempt(self, address: str) -> Iterator[bool]:
        """Around an attempt to prove a credential; gives whether it is within the budgets.

        Args:
            address: Where it comes from; ``""`` where that is unknown.

        Raises:
            Unauthenticated: The attempt failed.
            RateLimited: It failed, and was beyond the budgets.
        """
        source = source_of(address)
        budgets = (self._of(source), self._everyone)
        paid = within = self._wait_ms(budgets) == 0
        if paid:
            for budget in budgets:
                budget.pay()
        try:
            yield within
        except Unauthenticated:
            paid = False
            self._counted("refused" if within else "limited")
            if within:
                raise
            wait_ms = self._wait_ms(budgets)
            self._tell(source, budgets[0])
            raise RateLimited(RateLimitReason.RATE, retry_after_ms=max(wait_ms, 1)) from None
        finally:
            if paid:  # for what was no failure
                for budget in budgets:
                    budget.repay()

    def _wait_ms(self, budgets: "tuple[_Budget, _Budget]") -> int:
        now_ms = int(self._clock.monotonic_s() * 1_000)
        return max([budget.wait_ms(now_ms) for budget in budgets])

    def _of(self, source: str) -> "_Budget":
        budget = self._sources.get(source)
        if budget is None:
            budget = self._sources[source] = _Budget(FAILURES_BURST, FAILURES_EVERY_MS)
            if len(self._sources) > FAILURE_SOURCES_MAX:
                self._sources.popitem(last=False)
        self._sources.move_to_end(source)
        return budget

    def _tell(self, source: str, budget: "_Budget") -> None:
        """Log an address once; it is told again when it has been good in between."""
        if budget.is_spent and not budget.told:
            budget.told = True
            _log.warning("an address fails to authenticate again and again", extra={"address": source})


class _Budget:
    """Attempts that may fail: ``burst`` at once, and one more every ``every_ms``.

    What is owed is kept as the time that it takes to be forgotten.
    """

    def __init__(self, burst: int, every_ms: int) -> None:
        self._every_ms = every_ms
        self._most_ms = burst * every_ms
        self._owed_ms = 0
        self._as_of_ms = 0
        self.told = False

    @property
    def is_spent(self) -> bool:
        """Whether there was no room for another when it was last looked at."""
        return self._owed_ms + self._every_ms > self._most_ms

    def wait_ms(self, now_ms: int) -> int:
        """How long it takes from now until there is room for another."""
        passed_ms = max(now_ms - self._as_of_ms, 0)
        self._owed_ms = max(self._owed_ms - passed_ms, 0)
        self._as_of_ms = now_ms
        self.told = self.told and self._owed_ms > 0
        return max(self._owed_ms + self._every_ms - self._most_ms, 0)

    def pay(self) -> None:
        """Take the room of one."""
        self._owed_ms += self._every_ms

    def repay(self) -> None:
        """Give it back."""
        self._owed_ms = max(self._owed_ms - self._every_ms, 0)


def source_of(address: str) -> str:
    """Whose budget an attempt from this address is paid out of.

    An IPv4 address, also where it is written as an IPv6 one; of an IPv6 address its /64. What a proxy says
    in place of an address is taken as it is.
    """
    try:
        known = ip_address(address)
    except ValueError:
        return address[:_SOURCE_MAX_CHARS]
    if not isinstance(known, IPv6Address):
        return str(known)
    mapped = known.ipv4_mapped
    return str(mapped or IPv6Network((int(known), _PREFIX_BITS), strict=False))
