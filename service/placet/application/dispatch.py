"""The dispatcher: tells targets what their lanes say is still to be told, on whichever replica (design §9).

1. A target has one worker here while something waits for it, and each is on its own: one that is slow or dead
   holds up nobody else.
2. A lane is told by whoever holds its lease; if that process dies, another takes it over, and tells it again.
3. How often and when it is tried again says :mod:`placet.domain.deliveries`; what a receiver asks for (429)
   holds for the whole target.
4. Nothing here is waited for by a request, and nothing decides anything.
"""

import asyncio
import logging
import random
import secrets
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Final, Protocol

from msgspec import Struct

from placet.application.callers import Snapshot
from placet.application.clock import Clock, sleep
from placet.application.directory import Directory
from placet.application.ending import end
from placet.application.grants import Seals
from placet.domain.deliveries import (
    ATTEMPTS_MAX,
    LEASE_MS,
    Delivery,
    DeliveryState,
    Failure,
    Undelivered,
    quiet_ms,
    wait_ms,
)
from placet.domain.errors import InternalError, PlacetError, StoreUnavailable
from placet.domain.events import EventType
from placet.domain.limits import JUDGED_MAX
from placet.domain.model import Approval, TrailEntry
from placet.store.approvals import Rejudge
from placet.store.codec import Told, encode
from placet.store.deliveries import Deliveries, Lease, Leased, Settlement

LOOK_EVERY_S: Final = 1.0
"""How often every replica looks what is due: what this one has spread itself is told at once."""
STOP_S: Final = 5.0
"""How long a process that goes down lets what is being told come to its end."""
SEND_MAX_S: Final = 40.0
"""How long an attempt may take: less than its lease, so that nobody else tells the same meanwhile."""
_TIMERS: Final = 100

_log = logging.getLogger(__name__)


class Job(Struct, frozen=True, kw_only=True):
    """Something to tell.

    Attributes:
        snapshot: Who and what there is in the tenant.
        delivery: How the lane stands, this attempt counted.
        approval: The approval, as it is now.
        log: All that has happened to it; its entries from ``delivery.covered`` on are news.
    """

    snapshot: Snapshot
    delivery: Delivery
    approval: Approval
    log: tuple[TrailEntry, ...]


class Sent(Struct, frozen=True, kw_only=True):
    """What has been told: so many lines of the log the target knows of, and what the channel keeps."""

    covered: int
    ref: str = ""


class Sender(Protocol):
    """Tells targets of one kind."""

    @property
    def width(self) -> int:
        """How many lanes of one target it tells at the same time."""
        ...

    async def send(self, job: Job) -> Sent | None:
        """Tell.

        Returns:
            What was; ``None`` where there is no such target any more, which is no fault.

        Raises:
            Undelivered: It could not be.
        """
        ...


class Dispatcher:
    """Tells what is due. :meth:`start` has it run; a test calls :meth:`look` and :meth:`drain`.

    Args:
        deliveries: The lanes.
        seals: Prove what is told of.
        directory: Who and what there is.
        tenants: The tenants.
        senders: By the kind of target, the word before the first colon.
        clock: For the pauses.
        came_of: Told of every attempt: the kind of target, and why it failed or ``None``.
        standing: Told how many lanes wait, and have failed, in a tenant.
    """

    def __init__(
        self,
        deliveries: Deliveries,
        seals: Seals,
        directory: Directory,
        tenants: Callable[[], Awaitable[Collection[str]]],
        senders: Mapping[str, Sender],
        clock: Clock,
        *,
        came_of: Callable[[str, Failure | None], None] = lambda _kind, _failure: None,
        standing: Callable[[str, int, int], None] = lambda _tenant, _waiting, _failed: None,
    ) -> None:
        self._deliveries = deliveries
        self._seals = seals
        self._directory = directory
        self._tenants = tenants
        self._senders = senders
        self._clock = clock
        self._came_of = came_of
        self._standing = standing
        self._workers: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._again: set[tuple[str, str]] = set()
        self._quiet_until_s: dict[tuple[str, str], float] = {}
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False

    def start(self) -> None:
        """Begin to look what is due, in a task of its own."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Stop. What can't be told by then is another replica's to tell, once its lease is over."""
        self._is_stopping = True
        if self._task is not None:
            await end(self._task)
            self._task = None
        workers = tuple(self._workers.values())
        if workers:
            await asyncio.wait(workers, timeout=STOP_S)
        await asyncio.gather(*map(end, workers))

    def wake(self, tenant: str, target: str) -> None:
        """Something waits for a target."""
        place = (tenant, target)
        if self._is_stopping or self._clock.monotonic_s() < self._quiet_until_s.get(place, 0.0):
            return
        if place in self._workers:
            self._again.add(place)
            return
        worker = asyncio.get_running_loop().create_task(self._work(tenant, target))
        self._workers[place] = worker
        worker.add_done_callback(lambda _: self._left(place))

    async def look(self) -> None:
        """Have happen what was put off, and wake what is due."""
        await asyncio.gather(*map(self._look, await self._tenants()))

    async def _look(self, tenant: str) -> None:
        try:
            rung = await self._deliveries.ring(tenant, limit=_TIMERS)
        except StoreUnavailable:
            _log.warning("what is due can't be looked up now, trying again", extra={"tenant": tenant})
            return
        self._standing(tenant, sum(each.lanes for each in rung.due), rung.failed)
        for each in rung.due:
            if each.due_ms <= rung.now_ms:
                self.wake(tenant, each.target)

    async def drain(self) -> None:
        """Wait until nothing is being told here."""
        while self._workers:
            await asyncio.wait(self._workers.values())

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except StoreUnavailable:
                _log.warning("what is due can't be looked up now, trying again")
            except Exception:  # noqa: BLE001 - whatever it is, the next look tries again
                _log.exception("what is due can't be looked up, trying again")
            await sleep(self._clock, LOOK_EVERY_S)

    def _left(self, place: tuple[str, str]) -> None:
        self._workers.pop(place, None)
        if place in self._again:
            self._again.discard(place)
            self.wake(*place)

    async def _work(self, tenant: str, target: str) -> None:
        sender = self._senders.get(target.partition(":")[0])
        if sender is None:
            return
        try:
            while await self._round(tenant, target, sender):
                self._again.discard((tenant, target))
        except (StoreUnavailable, InternalError):
            pass  # the log has told; whatever is due is due at the next look
        except Exception:  # noqa: BLE001 - as above
            _log.exception("a target can't be told, trying again", extra={"tenant": tenant})

    async def _round(self, tenant: str, target: str, sender: Sender) -> bool:
        """Tell what is due; whether there may be more."""
        snapshot, lease = await self._leased(tenant, target, sender)
        await asyncio.gather(*(self._tell(sender, snapshot, leased) for leased in lease.lanes))
        quiet_s = self._quiet_until_s.get((tenant, target), 0.0)
        return bool(lease.lanes) and self._clock.monotonic_s() >= quiet_s and not self._is_stopping

    async def _leased(self, tenant: str, target: str, sender: Sender) -> tuple[Snapshot, Lease]:
        """Lanes that are due, and who and what there is as they were taken.

        Raises:
            StoreUnavailable: They can't be had now.
        """
        for _ in range(JUDGED_MAX):
            snapshot = await self._directory.snapshot(tenant)
            with suppress(Rejudge):
                lease = await self._deliveries.lease(
                    tenant,
                    target,
                    limit=sender.width,
                    lease_ms=LEASE_MS,
                    nonce=secrets.token_hex(8),
                    epoch=snapshot.epoch,
                )
                return snapshot, lease
            self._directory.forget(tenant)
        raise StoreUnavailable

    async def _tell(self, sender: Sender, snapshot: Snapshot, leased: Leased) -> None:
        kind = leased.delivery.target.partition(":")[0]
        try:
            settled = await self._told(sender, snapshot, leased)
            self._came_of(kind, None)
        except Undelivered as fault:
            settled = self._failed(leased, fault)
            self._came_of(kind, fault.failure)
        try:
            await self._deliveries.settle(leased, settled)
        except StoreUnavailable:  # it is told again, once the lease is over
            _log.warning("what came of a delivery can't be kept", extra={"target": leased.delivery.target})

    async def _told(self, sender: Sender, snapshot: Snapshot, leased: Leased) -> Settlement:
        """Tell a lane.

        Raises:
            Undelivered: It could not be told.
        """
        before = leased.delivery
        if before.error is Failure.INTERRUPTED and before.attempts > ATTEMPTS_MAX:
            raise Undelivered(Failure.INTERRUPTED)  # whatever it is, it ends whoever tries it
        try:
            approval = self._seals.opened(leased.record)
            self._seals.prove_asked(leased.record)
            log = tuple(leased.record.trail())[: len(leased.record.log)]  # what is written, and no more
            job = Job(snapshot=snapshot, delivery=before, approval=approval, log=log)
            async with asyncio.timeout(SEND_MAX_S):
                sent = await sender.send(job)
        except TimeoutError:
            raise Undelivered(Failure.TIMEOUT) from None
        except PlacetError:
            raise Undelivered(Failure.UNREADABLE) from None
        except Undelivered:
            raise
        except Exception:  # noqa: BLE001 - a fault of ours keeps nobody else from being told
            _log.exception("a target could not be told", extra={"target": before.target})
            raise Undelivered(Failure.UNREADABLE) from None
        if sent is None:
            return Settlement(state=DeliveryState.DELIVERED, covered=len(leased.record.log), ref=before.ref)
        ours = [entry.type for entry in log if entry.target == before.target]
        is_first = not ours or ours[-1] == EventType.UNDELIVERED
        return Settlement(
            state=DeliveryState.DELIVERED,
            covered=sent.covered,
            ref=sent.ref,
            event=EventType.DELIVERED if is_first else None,
            document=encode(Told(target=before.target, attempts=before.attempts)),
        )

    def _failed(self, leased: Leased, fault: Undelivered) -> Settlement:
        before = leased.delivery
        wait = wait_ms(before.attempts, fault.failure, fault.retry_after_ms, random.random())  # noqa: S311 - spreads load
        if fault.failure is Failure.RATE_LIMITED:
            place = (leased.record.tenant, before.target)
            self._quiet_until_s[place] = self._clock.monotonic_s() + quiet_ms(fault.retry_after_ms) / 1_000
        facts = {"target": before.target, "approval_id": leased.record.id, "fault": fault.failure.value}
        if wait is None:
            _log.error("a delivery has failed", extra=facts)
        return Settlement(
            state=DeliveryState.FAILED if wait is None else DeliveryState.QUEUED,
            covered=before.covered,
            ref=before.ref if fault.ref is None else fault.ref,
            failure=fault.failure,
            wait_ms=wait or 0,
            event=EventType.UNDELIVERED if wait is None else None,
            document=encode(Told(target=before.target, attempts=before.attempts, error=fault.failure)),
        )
