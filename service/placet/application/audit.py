"""Audit: the trails of a tenant as lines, each complete in itself, for people and for other systems.

A line tells what happened to which approval: never an input, a context, a comment or a secret. Whoever reads
them does so with the rights of whoever can open the store.
"""

from collections.abc import AsyncIterator, Sequence

from msgspec import UNSET, UnsetType
from msgspec.structs import asdict

from placet.application.grants import Seals
from placet.application.record_shapes import TrailView
from placet.application.rulings import rfc3339
from placet.application.views import Sight, trail_view
from placet.domain.errors import ApprovalNotFound, InternalError
from placet.store import keys
from placet.store.approvals import Approvals
from placet.store.record import Record
from placet.store.stream import Transition

_PAGE = 200


class AuditLine(TrailView, frozen=True, kw_only=True, omit_defaults=True):
    """A line of a trail, with what it is a trail of. ``spoilt``: the record is not as Placet wrote it."""

    tenant: str
    approval: str
    capability: str | UnsetType = UNSET
    actor: str | UnsetType = UNSET
    asked_by: str | UnsetType = UNSET
    spoilt: bool = False


class Audit:
    """The use cases.

    Args:
        store: The approvals.
        seals: Tell which records are as they were written.
    """

    def __init__(self, store: Approvals, seals: Seals) -> None:
        self._store = store
        self._seals = seals

    async def trail(self, tenant: str, approval_id: str) -> Sequence[AuditLine]:
        """The trail of one approval, oldest first.

        Raises:
            ApprovalNotFound: There is none of this name.
            StoreUnavailable: The store can't be asked.
        """
        answer = await self._store.get(tenant, approval_id, epoch=None)
        if answer.record is None:
            raise ApprovalNotFound
        return self._lines(answer.record)

    async def told_by(self, transition: Transition) -> Sequence[AuditLine]:
        """The line of a trail that a transition is; none where the record has been forgotten since.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        try:
            lines = await self.trail(transition.tenant, transition.approval_id)
        except ApprovalNotFound:
            return ()
        at = rfc3339(transition.at_ms)
        return [line for line in lines if (line.type, line.at) == (transition.type, at)][-1:]

    async def trails(self, tenant: str, *, since_ms: int = 0) -> AsyncIterator[AuditLine]:
        """Every line of every trail since a moment: approval by approval, the latest asked for first.

        Raises:
            StoreUnavailable: The store can't be asked.
        """
        after: str | None = None
        while True:
            page = await self._store.page(tenant, keys.all_index(), after=after, limit=_PAGE, epoch=None)
            for record in page.records:
                for line in self._lines(record, since_ms):
                    yield line
            after = page.last
            if after is None:
                return

    def _lines(self, record: Record, since_ms: int = 0) -> Sequence[AuditLine]:
        try:
            self._seals.opened(record)
            self._seals.prove_asked(record)
            spoilt = False
        except InternalError:
            spoilt = True
        try:
            entries = [entry for entry in record.trail() if entry.at_ms >= since_ms]
            ask = record.written().ask
        except (InternalError, ValueError, LookupError, RecursionError):
            return [_unreadable(record)]
        return [
            AuditLine(
                **asdict(trail_view(entry, Sight.WHOLE)),
                tenant=record.tenant,
                approval=record.id,
                capability=ask.capability,
                actor=ask.actor.id,
                asked_by=ask.asked_by,
                spoilt=spoilt,
            )
            for entry in entries
        ]


def _unreadable(record: Record) -> AuditLine:
    """All that can be told of a record whose trail can't be."""
    return AuditLine(
        tenant=record.tenant,
        approval=record.id,
        seq=0,
        at=rfc3339(record.now_ms),
        type="unreadable",
        by="unknown",
        spoilt=True,
    )
