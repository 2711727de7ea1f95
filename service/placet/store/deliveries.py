"""Lanes in the store: what is still to be told to whom, by a lease that one replica holds at a time.

The rules are :mod:`placet.domain.deliveries`'s; one method is one script and one round trip.
"""

import logging
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from placet.domain.deliveries import Delivery, DeliveryState, Failure
from placet.domain.errors import StoreUnavailable
from placet.domain.events import EventType
from placet.store import keys
from placet.store.approvals import PAGE_BYTES, Rejudge
from placet.store.codec import STATE_LETTERS, lane_name, unpacked
from placet.store.link import Argument, Link, Reply
from placet.store.record import Record

_NONE = "-"

_log = logging.getLogger(__name__)


class Leased(Struct, frozen=True, kw_only=True):
    """A lane that is ours for a while.

    Attributes:
        delivery: How it stands, this attempt counted.
        record: The approval, as it is now.
        nonce: Of the lease.
    """

    delivery: Delivery
    record: Record
    nonce: str


class Lease(Struct, frozen=True, kw_only=True):
    """Lanes of a target that were due; and when the next is, ``None`` where nothing waits."""

    lanes: tuple[Leased, ...]
    next_due_ms: int | None
    now_ms: int


class Due(Struct, frozen=True, kw_only=True):
    """A target that something waits for: when the first of it is due, and how many lanes that is."""

    target: str
    due_ms: int
    lanes: int


class Rung(Struct, frozen=True, kw_only=True):
    """What there is to do for a tenant.

    Attributes:
        now_ms: When.
        next_timer_ms: When the next of what was put off happens.
        failed: How many lanes have failed.
        due: The targets that something waits for.
    """

    now_ms: int
    next_timer_ms: int | None
    failed: int
    due: tuple[Due, ...]


class Settlement(Struct, frozen=True, kw_only=True):
    """What came of an attempt.

    Attributes:
        state: How the lane stands now.
        covered: Lines of the log that the target knows of.
        ref: What the channel keeps.
        failure: Why it failed, where it did.
        wait_ms: Until it is tried again.
        event: What the record's own log says of it, ``None`` for nothing.
        document: Its document.
    """

    state: DeliveryState
    covered: int
    ref: str
    failure: Failure | None = None
    wait_ms: int = 0
    event: EventType | None = None
    document: bytes = b""


class Deliveries:
    """Lanes, of all tenants.

    Args:
        link: The door to the server.
        clock: A test's own; the server's time without.
    """

    def __init__(self, link: Link, clock: Callable[[], int] | None = None) -> None:
        self._link = link
        self._clock = clock

    async def wake(
        self,
        tenant: str,
        approval_id: str,
        targets: Iterable[str],
        *,
        timers: Mapping[EventType, int] | None = None,
        group: str = "",
        entry: str = "",
    ) -> bool:
        """Have targets told of whatever has happened, and be done with an entry of the stream.

        Args:
            tenant: Whose.
            approval_id: Of what.
            targets: Who is told; those that have failed are tried anew.
            timers: What is to happen if it still waits at a time (Unix milliseconds).
            group: The consumers of the stream.
            entry: Its entry, where one said so.

        Returns:
            Whether there is such a record.
        """
        ruling, _ = await self._run(
            "wake",
            tenant,
            approval_id,
            " ".join(targets),
            " ".join(f"{event} {at_ms}" for event, at_ms in (timers or {}).items()),
            group,
            entry,
        )
        return bool(ruling == b"ok")

    async def pass_by(self, tenant: str, group: str, *, epoch: int) -> None:
        """Be done with all that the tenant's stream has, of which nobody is to be told.

        Raises:
            Rejudge: Somebody may be, since ``epoch``.
        """
        await self._run("pass", tenant, group, epoch=epoch)

    async def lease(
        self, tenant: str, target: str, *, limit: int, lease_ms: int, nonce: str, epoch: int
    ) -> Lease:
        """Take lanes of a target that are due.

        Raises:
            Rejudge: Who and what there is has changed since ``epoch``.
        """
        _, now, next_due, taken = await self._run(
            "lease", tenant, target, limit, PAGE_BYTES, lease_ms, nonce, epoch=epoch
        )
        records = [Record.of(tenant, int(now), *parts) for parts in taken]
        lanes = [
            Leased(delivery=delivery, record=record, nonce=nonce)
            for record in records
            if (delivery := _lane(target, record.fields[lane_name(target)])) is not None
        ]
        return Lease(lanes=tuple(lanes), next_due_ms=int(next_due) if next_due else None, now_ms=int(now))

    async def settle(self, leased: Leased, settled: Settlement) -> bool:
        """Say what came of an attempt.

        Returns:
            Whether it counts: not where the lease was over.
        """
        ruling, _ = await self._run(
            "settle",
            leased.record.tenant,
            leased.delivery.target,
            leased.record.id,
            leased.nonce,
            STATE_LETTERS[settled.state],
            settled.covered,
            settled.wait_ms,
            settled.failure or _NONE,
            settled.ref,
            settled.event or "",
            settled.document,
            len(leased.record.log),
        )
        return bool(ruling == b"ok")

    async def ring(self, tenant: str, *, limit: int) -> Rung:
        """Have happen what was put off until now, and see what there is to do."""
        _, now, next_timer, failed, flat = await self._run("ring", tenant, limit)
        return Rung(
            now_ms=int(now),
            next_timer_ms=int(next_timer) if next_timer else None,
            failed=failed,
            due=tuple(
                Due(target=target.decode(), due_ms=int(due), lanes=lanes)
                for target, due, lanes in zip(flat[::3], flat[1::3], flat[2::3], strict=True)
            ),
        )

    async def failed(self, tenant: str, *, limit: int) -> list[tuple[str, Delivery]]:
        """Lanes that have failed, the latest first: of which approval each."""
        _, _, flat = await self._run("failed", tenant, limit)
        triples = zip(flat[::3], flat[1::3], flat[2::3], strict=True)
        lanes = [(each.decode(), _lane(target.decode(), packed)) for each, packed, target in triples]
        return [(each, lane) for each, lane in lanes if lane is not None]

    async def queued(self, tenant: str, *, limit: int) -> list[tuple[str, Delivery, int]]:
        """Lanes that wait, what is due first, first: of which approval each, and when it is due."""
        _, _, flat = await self._run("queued", tenant, limit)
        fours = zip(flat[::4], flat[1::4], flat[2::4], flat[3::4], strict=True)
        lanes = [
            (each.decode(), _lane(target.decode(), packed), int(due)) for each, packed, target, due in fours
        ]
        return [(each, lane, due) for each, lane, due in lanes if lane is not None]

    async def retry(self, tenant: str, approval_id: str, target: str) -> bool:
        """Have a lane told now that has failed, or waits for its next attempt.

        Returns:
            Whether there is something to tell, and nobody tells it just now.
        """
        ruling, _ = await self._run("retry", tenant, approval_id, target)
        return bool(ruling == b"ok")

    async def _run(self, name: str, tenant: str, *args: Argument, epoch: int | None = None) -> Reply:
        now = "" if self._clock is None else self._clock()
        # What is lost of it is told again: nothing is answered that anybody relies on.
        judged = "" if epoch is None else epoch
        reply = await self._link.call(name, keys.meta(tenant), (now, judged, *args), asserts=False)
        if reply[0] == b"clock":
            raise StoreUnavailable
        if reply[0] == b"rejudge":
            raise Rejudge
        return reply


def _lane(target: str, packed: bytes) -> Delivery | None:
    """A lane; ``None`` where somebody else wrote it, which keeps no other from being told."""
    try:
        return unpacked(target, packed)
    except (ValueError, LookupError):
        _log.error("a delivery in the store can't be read", extra={"target": target})
        return None
