"""Statistics: of what a person may see, and for an operator of all of a tenant."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Final

from msgspec import Struct, structs

from placet.application.callers import Caller
from placet.application.clock import Clock
from placet.application.directory import Directory
from placet.application.grants import Seals
from placet.application.query import check_shown
from placet.application.views import sight_of
from placet.domain.errors import InternalError
from placet.domain.events import EventType
from placet.domain.facts import Fact, fact_of
from placet.domain.limits import USE_WITHIN_MAX_MS, Limits
from placet.domain.model import Approval, Status
from placet.domain.statistics import Statistics, begin_ms, statistics
from placet.store import keys
from placet.store.approvals import Approvals
from placet.store.record import Record

LOOKED_AT_MAX: Final = 10_000
"""Records that are looked at for one person, the newest first; it takes a second or two of a processor."""
KEPT_S: Final = 60.0
"""For how long what was counted is good enough for whoever asks again."""
KEPT_MAX: Final = 256
"""So many results are kept, of some 100 KB each at the very most."""
LINES_MAX: Final = 50
"""Capabilities, people and runs that a person is told of."""
_PAGE: Final = 200
_TURN: Final = 20
"""Records after which others get their turn: some three milliseconds of work."""

Shown = Callable[[Record, Approval], bool]


class Counted(Struct, frozen=True, kw_only=True):
    """Statistics, and what they were made of.

    Attributes:
        statistics: The statistics.
        looked_at: How many records were looked at for them.
        is_all: Whether these were all that can have a part in them.
        spoilt: How many of these were not as Placet wrote them, and are not counted.
    """

    statistics: Statistics
    looked_at: int
    is_all: bool
    spoilt: int


class ReadStatistics:
    """The use cases.

    Args:
        store: The approvals.
        seals: Prove what is counted.
        directory: Says whether who may see what is still as it was.
        limits: How long a question may wait, and so how far back one may have been asked.
        clock: For how long a result is kept.
    """

    def __init__(
        self, store: Approvals, seals: Seals, directory: Directory, limits: Limits, clock: Clock
    ) -> None:
        self._store = store
        self._seals = seals
        self._directory = directory
        self._reach_ms = limits.expires_in_max_ms + USE_WITHIN_MAX_MS
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Counted]] = {}
        # One at a time: many who look at once take no more of the processor than one of them.
        self._turn = asyncio.Lock()

    async def of(self, caller: Caller, days: int) -> Counted:
        """The statistics of what the caller may see, as of a minute ago at most.

        Raises:
            Rejudge: Credentials changed meanwhile.
            StoreUnavailable: The store can't be asked.
        """
        # By all that the caller is: what an issuer says of somebody may differ between their sessions.
        name = (caller.principal, caller.epoch, days)
        kept = self._lately(name)
        if kept is not None:
            await self._directory.confirm(caller)
            return kept
        async with self._turn:
            kept = self._lately(name)
            if kept is None:
                began_s = self._clock.monotonic_s()
                kept = await self._counted(caller, days)
                self._keep(name, began_s, kept)
            return kept

    async def of_tenant(self, tenant: str, days: int) -> Counted:
        """The statistics of all of a tenant.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        return await self._count(
            _Reading(tenant, days), epoch=None, pages_max=None, shown=lambda _record, _approval: True
        )

    async def _counted(self, caller: Caller, days: int) -> Counted:
        def shown(record: Record, approval: Approval) -> bool:
            sight = sight_of(caller, approval)
            if sight is not None:
                check_shown(self._seals, record, approval, sight)
            return sight is not None

        reading = _Reading(caller.tenant, days)
        pages_max = LOOKED_AT_MAX // _PAGE
        found = await self._count(reading, epoch=caller.epoch, pages_max=pages_max, shown=shown)
        return structs.replace(found, statistics=found.statistics.brief(LINES_MAX))

    async def _count(
        self, reading: "_Reading", *, epoch: int | None, pages_max: int | None, shown: Shown
    ) -> Counted:
        """Page by page, the newest first, until none that follows can have a part in it."""
        after, pages, is_all = None, 0, False
        while not is_all and (pages_max is None or pages < pages_max):
            page = await self._store.page(
                reading.tenant, keys.all_index(), after=after, limit=_PAGE, epoch=epoch
            )
            if not pages:
                reading.now_ms = reading.oldest_ms = page.now_ms
            for record in page.records:
                if not record.small or reading.looked_at % _TURN == 0:
                    await asyncio.sleep(0)
                self._look(reading, record, shown)
            pages += 1
            after = page.last
            is_all = after is None or reading.oldest_ms < reading.begin_ms - self._reach_ms
        # Of ten thousand it takes a tenth of a second, which nobody else should have to wait for.
        found = await asyncio.to_thread(statistics, reading.facts, now_ms=reading.now_ms, days=reading.days)
        return Counted(
            statistics=found,
            looked_at=reading.looked_at,
            is_all=is_all,
            spoilt=reading.spoilt,
        )

    def _look(self, reading: "_Reading", record: Record, shown: Shown) -> None:
        reading.looked_at += 1
        try:
            approval = self._seals.opened(record)
            if shown(record, approval):
                reading.facts.append(fact_of(approval, _cancelled_at_ms(record, approval)))
            reading.oldest_ms = approval.requested_at_ms
        except InternalError:  # of one that was spoilt the log has told
            reading.spoilt += 1

    def _lately(self, name: Hashable) -> Counted | None:
        kept = self._kept.get(name)
        return None if kept is None or self._clock.monotonic_s() - kept[0] >= KEPT_S else kept[1]

    def _keep(self, name: Hashable, began_s: float, counted: Counted) -> None:
        self._kept.pop(name, None)
        if len(self._kept) >= KEPT_MAX:
            del self._kept[next(iter(self._kept))]
        self._kept[name] = (began_s, counted)


class _Reading(Struct):
    """What was found so far."""

    tenant: str
    days: int
    facts: list[Fact] = []
    now_ms: int = 0
    oldest_ms: int = 0
    looked_at: int = 0
    spoilt: int = 0

    @property
    def begin_ms(self) -> int:
        """When the first of the days began."""
        return begin_ms(self.now_ms, self.days)


def _cancelled_at_ms(record: Record, approval: Approval) -> int | None:
    """When it was withdrawn: nothing but the trail says so."""
    if approval.status is not Status.CANCELLED:
        return None
    try:
        found = [entry.at_ms for entry in record.trail() if entry.type == EventType.CANCELLED]
    except (ValueError, LookupError, RecursionError):  # a later release may have written a line of it
        return None
    return found[-1] if found else None
