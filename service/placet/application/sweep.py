"""The sweeper: makes expiry events prompt and keeps indexes and streams from growing.

Nothing depends on it: expiry is judged wherever a record is read or moved. Any number of replicas may
sweep; what one has done the next finds done.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from placet.application.clock import Clock, sleep
from placet.application.directory import Directory
from placet.application.ending import end
from placet.domain.errors import StoreUnavailable
from placet.domain.limits import Limits
from placet.store import keys
from placet.store.approvals import Approvals

SWEEP_EVERY_S = 1.0
TRIM_EVERY_SWEEPS = 60
STREAM_RETENTION_MS = 7 * 24 * 60 * 60 * 1000
"""How far back the stream of transitions reaches, at least."""
_BATCH = 200

_log = logging.getLogger(__name__)


class Sweeper:
    """Sweeps all tenants, again and again.

    Args:
        store: The approvals.
        directory: Knows a tenant's clients, whose indexes are trimmed.
        tenants: Names the tenants.
        limits: Retention.
        clock: For the pauses.
        pending: Told each tenant's live pending records.
    """

    def __init__(
        self,
        store: Approvals,
        directory: Directory,
        tenants: Callable[[], Awaitable[Sequence[str]]],
        limits: Limits,
        clock: Clock,
        pending: Callable[[str, int], None] = lambda _tenant, _count: None,
    ) -> None:
        self._store = store
        self._directory = directory
        self._tenants = tenants
        self._limits = limits
        self._clock = clock
        self._pending = pending
        self._cursors: dict[tuple[str, str], str] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to sweep, in a task of its own."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop between two sweeps."""
        if self._task is not None:
            await end(self._task)
            self._task = None

    async def _run(self) -> None:
        sweeps = 0
        while True:
            try:
                await self.sweep()
                if sweeps % TRIM_EVERY_SWEEPS == 0:
                    await self.trim()
            except StoreUnavailable:
                _log.warning("the store can't be swept now, trying again")
            sweeps += 1
            await sleep(self._clock, SWEEP_EVERY_S)

    async def sweep(self) -> int:
        """Write down every expiry that has happened; how many there were."""
        return await self._each(self._sweep)

    async def trim(self) -> int:
        """Take a bounded look for forgotten records and old stream entries; how many went."""
        return await self._each(self._trim)

    async def _each(self, work: Callable[[str], Awaitable[int]]) -> int:
        """Work on every tenant; what goes wrong with one is no reason to leave out the others."""
        done = 0
        for tenant in await self._tenants():
            try:
                done += await work(tenant)
            except StoreUnavailable:
                if tenant not in self._store.lags:  # its clock has been told of, and may take days
                    _log.warning("a tenant can't be swept now, trying again", extra={"tenant": tenant})
            except Exception:  # noqa: BLE001 - whatever it is, the next round tries again
                _log.exception("a tenant can't be swept", extra={"tenant": tenant})
        return done

    async def _sweep(self, tenant: str) -> int:
        settled = 0
        while True:
            swept = await self._store.sweep(tenant, limit=_BATCH)
            settled += swept.settled
            if swept.settled < _BATCH:
                self._pending(tenant, swept.live_pending)
                return settled

    async def _trim(self, tenant: str) -> int:
        removed = 0
        now_ms = (await self._store.sweep(tenant, limit=1)).now_ms
        clients = (await self._directory.snapshot(tenant)).clients
        for index in (keys.all_index(), *map(keys.client_index, clients)):
            went, last = await self._store.trim(
                tenant,
                index,
                after=self._cursors.get((tenant, index)),
                limit=_BATCH,
                cutoff_ms=now_ms - self._limits.record_retention_ms,
            )
            removed += went
            if last is None:
                self._cursors.pop((tenant, index), None)
            else:
                self._cursors[tenant, index] = last
        went, _ = await self._store.trim(
            tenant, "", after=None, limit=0, cutoff_ms=now_ms - STREAM_RETENTION_MS
        )
        removed += went
        return removed
