"""Strangers: how much is done about credentials that nobody here knows.

As long as they seldom fail, each is looked up in the store at once. Where they fail too often, as
:mod:`placet.application.failures` counts, they are looked for among what was so a second ago at most, which
is found out once for all of them. So a flood, from wherever it comes, has the store asked once a second about
each tenant there is, and never about one that there is not; and whoever is good gets in all the while.
"""

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractContextManager

from placet.application.clock import Clock
from placet.application.failures import Failures
from placet.application.rationed import Rationed
from placet.domain.errors import Unauthenticated
from placet.domain.limits import NEWCOMERS_EVERY_S

_LIST = ""
"""No tenant is called so."""


class Strangers:
    """Admission of attempts to prove a credential.

    Args:
        clock: For its ``monotonic_s``.
        tenants: Names those there are.
        counted: Told of each failure whether it was ``refused``, or ``limited`` for being too many.
    """

    def __init__(
        self,
        clock: Clock,
        tenants: Callable[[], Awaitable[Collection[str]]],
        counted: Callable[[str], None] = lambda _answer: None,
    ) -> None:
        self._failures = Failures(clock, counted)
        self._rationed = Rationed(clock, NEWCOMERS_EVERY_S)
        self._tenants = tenants
        self._named: Collection[str] = ()

    def attempt(self, address: str) -> AbstractContextManager[bool]:
        """Around an attempt; gives whether the store may be asked about it at once.

        Raises:
            Unauthenticated: The attempt failed.
            RateLimited: It failed, and was one too many.
        """
        return self._failures.attempt(address)

    async def meet(self, tenant: str, catch_up: Callable[[], Awaitable[None]]) -> None:
        """Have ``catch_up`` done for the tenant, if that is not long ago or under way.

        Raises:
            Unauthenticated: There is no such tenant.
        """
        await self._rationed.look(_LIST, self._list)
        if tenant not in self._named:
            raise Unauthenticated
        await self._rationed.look(tenant, catch_up)

    def forget(self, tenant: str) -> None:
        """Have it caught up with the next time: it has changed."""
        self._rationed.forget(tenant)

    async def _list(self) -> None:
        self._named = frozenset(await self._tenants())
