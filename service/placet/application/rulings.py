"""From the store's rulings to the errors that callers see: one dict, held complete by a test."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache

from placet.domain.error_terms import ForbiddenReason, PendingFace
from placet.domain.errors import (
    ApprovalAlreadyDecided,
    ApprovalAlreadyExists,
    ApprovalCancelled,
    ApprovalConsumed,
    ApprovalExpired,
    ApprovalInputMismatch,
    ApprovalNotFound,
    ApprovalPending,
    ApprovalRejected,
    ApprovalTokenInvalid,
    Forbidden,
    InvocationConflict,
    PlacetError,
)
from placet.domain.machine import Ruling
from placet.domain.model import Approval
from placet.store.codec import Refused


def rfc3339(at_ms: int) -> str:
    """UTC with milliseconds, as every time leaves the service."""
    return f"{_to_the_second(at_ms // 1000)}.{at_ms % 1000:03d}Z"


@lru_cache(maxsize=4096)  # formatting costs 5 µs, a record has several, and they cluster
def _to_the_second(at_s: int) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%dT%H:%M:%S}"


def pending_face(approval: Approval) -> PendingFace:
    """What a runtime may tell of a question that waits: the runtime's own words, or the capability."""
    words = approval.ask.presentation
    return PendingFace(
        approval_id=approval.ask.id,
        summary=words.summary or words.title or approval.ask.capability,
        expires_at=rfc3339(approval.expires_at_ms),
        effect=approval.ask.effect.value,
    )


def _consumed(approval: Approval, *, party: bool) -> PlacetError:
    return ApprovalConsumed(approval.consumption.execution_id if party and approval.consumption else None)


_WITH_RECORD: Mapping[Ruling, Callable[[Approval, bool], PlacetError]] = {
    Ruling.PENDING: lambda approval, _: ApprovalPending(pending_face(approval)),
    Ruling.CONSUMED: lambda approval, party: _consumed(approval, party=party),
    Ruling.DECIDED: lambda approval, _: ApprovalAlreadyDecided(approval.status),
}

_WITHOUT_RECORD: Mapping[Ruling, Callable[[], PlacetError]] = {
    Ruling.MISSING: ApprovalNotFound,
    Ruling.EXISTS: ApprovalAlreadyExists,
    Ruling.CONFLICT: InvocationConflict,
    Ruling.REJECTED: ApprovalRejected,
    Ruling.EXPIRED: ApprovalExpired,
    Ruling.CANCELLED: ApprovalCancelled,
    Ruling.MISMATCH: ApprovalInputMismatch,
    Ruling.TOKEN: ApprovalTokenInvalid,
    Ruling.REVERSED: lambda: Forbidden(ForbiddenReason.DECISION_NOT_ALLOWED),
    Ruling.NOT_AUDIENCE: lambda: Forbidden(ForbiddenReason.NOT_THE_AUDIENCE),
    Ruling.NOT_ASKER: lambda: Forbidden(ForbiddenReason.NOT_THE_ASKER),
    Ruling.NOT_CONSUMER: lambda: Forbidden(ForbiddenReason.NOT_THE_CONSUMER),
}


def word_of(refusal: PlacetError) -> str:
    """What a refusal that was judged before the script ran is logged under."""
    return Refused(refusal.code, refusal.reason if isinstance(refusal, Forbidden) else None).word


def error_for(ruling: Ruling, approval: Approval | None = None, *, party: bool = False) -> PlacetError:
    """The error for a refusal; ``party``: the caller is the asker or the audience."""
    if approval is not None and ruling in _WITH_RECORD:
        return _WITH_RECORD[ruling](approval, party)
    return _WITHOUT_RECORD[ruling]()
