"""The tenants' clocks: which are too far behind to judge by, and how one is set right.

A tenant remembers the latest moment that anything of it was judged by. Where the server's clock comes
back from a jump ahead (a machine that was suspended, a wrong time server, a failover), standing still
until it has caught up would keep deadlines from passing: a grant could be used long after its
``use_by``. So the scripts refuse (``scripts/prelude.lua``), and an operator sets the clock back.
"""

import logging
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.store import keys
from placet.store.codec import Who, encode
from placet.store.link import Argument, Link, Reply

_log = logging.getLogger(__name__)


class Lag(Struct, frozen=True, kw_only=True):
    """How far the store's clock is behind a tenant's latest moment; ``None`` where that is no time at all."""

    ms: int | None

    @classmethod
    def of(cls, told: bytes) -> "Lag":
        """As a script tells it."""
        return cls(ms=int(told) if told else None)


class Lags(Mapping[str, Lag]):
    """The tenants whose clock was too far behind when the store was last asked, as this process knows.

    Each is logged once, when it begins and when it ends, however many calls are refused meanwhile; the
    lag is the one that it began with.
    """

    def __init__(self) -> None:
        self._by_tenant: dict[str, Lag] = {}

    def __getitem__(self, tenant: str) -> Lag:
        return self._by_tenant[tenant]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_tenant)

    def __len__(self) -> int:
        return len(self._by_tenant)

    def begin(self, tenant: str, lag: Lag) -> None:
        """A call was refused for it."""
        if tenant not in self._by_tenant:
            self._by_tenant[tenant] = lag
            _log.error(
                "the store's clock is behind what a tenant has seen: nothing of the tenant is judged",
                extra={"tenant": tenant, "lag_ms": lag.ms},
            )

    def end(self, tenant: str) -> None:
        """A call was judged."""
        if self._by_tenant.pop(tenant, None) is not None:
            _log.warning("the store's clock serves a tenant again", extra={"tenant": tenant})


class SetBack(Struct, frozen=True, kw_only=True):
    """What a step towards a right clock did: the ids it cancelled, and whether it was the last one."""

    cancelled: tuple[str, ...]
    done: bool


class Clocks:
    """The clocks of all tenants, for an operator.

    Args:
        link: The door to the server.
        limits: Retention of what is cancelled.
        clock: Milliseconds under an injected test clock; ``None`` leaves the clock to the server.
    """

    def __init__(self, link: Link, limits: Limits, clock: Callable[[], int] | None = None) -> None:
        self._link = link
        self._clock = clock
        self._retain: tuple[Argument, ...] = (limits.record_retention_ms, limits.input_retention_ms)

    async def lag(self, tenant: str) -> Lag | None:
        """How far a tenant's clock is behind, where that is too far. Writes nothing.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        ruling, _, *rest = await self._run(tenant, 0, b"", asserts=False)
        return None if ruling == Ruling.UNCHANGED.encode() else Lag.of(rest[0])

    async def set_back(self, tenant: str, who: Who, *, limit: int) -> SetBack:
        """Cancel at most ``limit`` open records; where none are left, set the clock to the server's.

        A clock that is not too far behind is left alone. Until the last step nothing of the tenant is
        judged, so whoever is interrupted in between goes on by calling again.

        Raises:
            StoreUnavailable: Whether it took effect is unknown. Calling again is fine.
        """
        ruling, _, *rest = await self._run(tenant, limit, encode(who))
        cancelled = tuple(each.decode() for each in rest[1]) if rest else ()
        return SetBack(cancelled=cancelled, done=ruling != Ruling.CLOCK.encode())

    async def _run(self, tenant: str, limit: int, who: bytes, *, asserts: bool = True) -> Reply:
        now = "" if self._clock is None else str(self._clock())
        args = (now, "", limit, who, *self._retain)
        return await self._link.call("clock", keys.meta(tenant), args, asserts=asserts)
