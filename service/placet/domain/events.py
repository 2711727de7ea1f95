"""The event types: what a trail can say happened, and which of it the tenant's stream carries."""

from enum import StrEnum


class EventType(StrEnum):
    """A line of an approval's trail. All but ``voted`` and ``refused`` are transitions."""

    REQUESTED = "requested"
    VOTED = "voted"
    """A vote that did not yet decide: the quorum wants more people."""
    EDITED = "edited"
    """An approver changed the input, which did not decide yet: earlier votes count no more."""
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    CONSUMED = "consumed"
    REPORTED = "reported"
    REFUSED = "refused"
    """An attempt that changed nothing; never in the stream, so that nobody can fill it."""


SYSTEM = "system"
"""Who a deadline acts as."""

IN_STREAM = frozenset(EventType) - {EventType.REFUSED}
"""What waiters, live views and deliveries hear of."""
