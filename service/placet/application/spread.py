"""From the outbox to the lanes: each transition is looked at once, and whoever is to hear of it is woken.

Whom that is says :mod:`placet.application.outreach`. An entry is done with in the same step that wakes its
targets. One that a replica took and died over is taken by another, which at worst wakes somebody for nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from typing import Final

from placet.application.callers import Snapshot
from placet.application.clock import Clock, sleep
from placet.application.directory import Directory
from placet.application.ending import end
from placet.application.grants import Seals
from placet.application.outreach import wanted
from placet.domain.errors import InternalError, StoreUnavailable
from placet.domain.limits import JUDGED_MAX
from placet.store.approvals import Approvals, Rejudge
from placet.store.deliveries import Deliveries
from placet.store.outbox import GROUP, Outbox
from placet.store.stream import Transition

BATCH: Final = 200
"""Transitions that are looked at together."""
AT_ONCE: Final = 16
"""Of these, whose records are read at the same time: each may have inputs of half a MiB."""
FORSAKEN_MS: Final = 30_000
"""After how long an entry that was taken and not done with is anybody's."""
LOOK_EVERY_S: Final = 5.0
"""How often new tenants and forsaken entries are looked for, and how long a fault is waited out."""
SILENT_FOR_S: Final = 2.0
"""How long it may take until a tenant in which nobody was told of anything is one in which somebody is."""

_log = logging.getLogger(__name__)


class Spreader:
    """Reads the outbox of all tenants. :meth:`start` has it run; a test calls :meth:`spread` itself.

    Args:
        outbox: The streams.
        deliveries: The lanes.
        store: The approvals.
        seals: Prove what is told of.
        directory: Who and what there is.
        tenants: The tenants.
        clock: For the pauses.
        woken: Told of each target that something waits for.
    """

    def __init__(
        self,
        outbox: Outbox,
        deliveries: Deliveries,
        store: Approvals,
        seals: Seals,
        directory: Directory,
        tenants: Callable[[], Awaitable[Collection[str]]],
        clock: Clock,
        *,
        woken: Callable[[str, str], None],
    ) -> None:
        self._outbox = outbox
        self._deliveries = deliveries
        self._store = store
        self._seals = seals
        self._directory = directory
        self._tenants = tenants
        self._clock = clock
        self._woken = woken
        self._telling: tuple[str, ...] = ()
        self._looked_s = -LOOK_EVERY_S
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin, in tasks of its own."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._read_on()), loop.create_task(self._look_again())]

    async def stop(self) -> None:
        """Stop; what was taken and is not done with is another replica's, after a while."""
        await asyncio.gather(*map(end, self._tasks))
        self._tasks = []

    async def once(self, *, wait: bool = False) -> int:
        """Spread what is there, or comes in a moment: how much that was."""
        if not wait or self._clock.monotonic_s() - self._looked_s >= SILENT_FOR_S:
            await self._look()
        news = await self._outbox.news(self._telling, BATCH, wait=wait)
        if not self._outbox.followed:  # a stream is another by now: it is looked at once what there is
            self._looked_s = -LOOK_EVERY_S
        await self.spread(news)
        return len(news)

    async def _look(self) -> None:
        """Find out in which tenants anybody is told of anything. Those of the others cost nothing more."""
        tenants = await self._tenants()
        await self._outbox.follow(tenants)
        tells = await asyncio.gather(*map(self._tells, tenants))
        self._telling = tuple(tenant for tenant, does in zip(tenants, tells, strict=True) if does)
        self._looked_s = self._clock.monotonic_s()

    async def _tells(self, tenant: str) -> bool:
        try:
            for _ in range(JUDGED_MAX):
                snapshot = await self._directory.snapshot(tenant)
                if _tells_anybody(snapshot):
                    return True
                try:
                    await self._deliveries.pass_by(tenant, GROUP, epoch=snapshot.epoch)
                except Rejudge:
                    self._directory.forget(tenant)
                else:
                    return False
        except (InternalError, StoreUnavailable):  # what it has waits
            self._outbox.forget(tenant)
            _log.warning("a tenant's transitions can't be told now", extra={"tenant": tenant})
        return False

    async def again(self) -> int:
        """Spread what another replica has left: how much that was."""
        found = 0
        for tenant in self._outbox.followed:
            forsaken = await self._outbox.forsaken(tenant, idle_ms=FORSAKEN_MS, count=BATCH)
            await self.spread(forsaken)
            found += len(forsaken)
        return found

    async def spread(self, transitions: Iterable[Transition]) -> None:
        """Wake whoever is to hear of these transitions."""
        by_tenant: dict[str, list[Transition]] = {}
        for transition in transitions:
            by_tenant.setdefault(transition.tenant, []).append(transition)
        for tenant, those in by_tenant.items():
            try:
                for at in range(0, len(those), AT_ONCE):
                    await asyncio.gather(*map(self._wake, those[at : at + AT_ONCE]))
            except (InternalError, StoreUnavailable):  # they come again, once that is mended
                _log.warning("a tenant's transitions can't be told now", extra={"tenant": tenant})

    async def _wake(self, transition: Transition) -> None:
        tenant, approval_id = transition.tenant, transition.approval_id
        targets: tuple[str, ...] = ()
        timers = {}
        for _ in range(JUDGED_MAX):
            snapshot = await self._directory.snapshot(tenant)
            try:
                read = await self._store.get(tenant, approval_id, epoch=snapshot.epoch)
            except Rejudge:
                self._directory.forget(tenant)
                continue
            if read.record is not None:
                with suppress(InternalError):  # of one that was spoilt the log has told
                    plan = wanted(snapshot, self._seals.opened(read.record), transition.type)
                    targets, timers = plan.targets, dict(plan.timers)
            break
        else:
            raise StoreUnavailable
        await self._deliveries.wake(
            tenant, approval_id, targets, timers=timers, group=GROUP, entry=transition.entry
        )
        for target in targets:
            self._woken(tenant, target)

    async def _read_on(self) -> None:
        while True:
            await self._kept_up(partial(self.once, wait=True))
            if not self._telling:
                await sleep(self._clock, SILENT_FOR_S)

    async def _look_again(self) -> None:
        while True:
            await sleep(self._clock, LOOK_EVERY_S)
            await self._kept_up(self.again)

    async def _kept_up(self, work: Callable[[], Awaitable[int]]) -> None:
        try:
            await work()
        except StoreUnavailable:
            _log.warning("the outbox can't be read now, trying again")
            await sleep(self._clock, LOOK_EVERY_S)
        except Exception:  # noqa: BLE001 - whatever it is, what was taken comes again
            _log.exception("the outbox can't be spread, trying again")
            await sleep(self._clock, LOOK_EVERY_S)


def _tells_anybody(snapshot: Snapshot) -> bool:
    """Whether there is anybody outside who may be told of anything, or a rule that means somebody."""
    policies = snapshot.authority.policies
    named = (rule.terms.tell or rule.terms.escalation for rule in (policies.rules if policies else ()))
    return bool(snapshot.endpoints or snapshot.slack) or any(named)
