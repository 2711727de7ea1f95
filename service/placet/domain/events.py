"""The event types: what a trail can say happened, and which of it the tenant's stream carries."""

from enum import StrEnum


class EventType(StrEnum):
    """A line of an approval's trail."""

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
    ESCALATED = "escalated"
    """It waits for so long that more people may decide it."""
    REMINDED = "reminded"
    """It still waits, and not for much longer."""
    DELIVERED = "delivered"
    """A target was told for the first time, or again after that had failed."""
    UNDELIVERED = "undelivered"
    """A target could not be told, and it is not tried again by itself."""
    REFUSED = "refused"
    """An attempt that changed nothing; never in the stream, so that nobody can fill it."""


SYSTEM = "system"
"""Who a deadline acts as."""

APART = frozenset({EventType.REFUSED, EventType.DELIVERED, EventType.UNDELIVERED})
"""What is of the trail alone: nothing of the question has changed."""

IN_STREAM = frozenset(EventType) - APART
"""What waiters, live views and deliveries hear of."""
