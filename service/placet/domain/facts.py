"""What statistics take of a record: who decided when, how and when it ended; nothing of what it is about."""

from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct

from placet.domain.model import Approval, Person, Status, Verdict


class Ending(StrEnum):
    """How a question ended. What expired is told apart by whether people had said yes."""

    USED = "used"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    UNANSWERED = "unanswered"
    """It expired while it waited for people."""
    UNUSED = "unused"
    """It was approved, and expired before it was used."""


class Ended(NamedTuple):
    """The end of a question."""

    how: Ending
    at_ms: int


class Said(NamedTuple):
    """What one person said of it."""

    person: Person
    verdict: Verdict
    at_ms: int
    channel: str = ""


class Fact(Struct, frozen=True, kw_only=True):
    """A record, as far as it is counted.

    Attributes:
        approval_id: Its id.
        capability: What was asked for.
        requested_at_ms: When.
        said: The decisions of people, in their order.
        decided_at_ms: When it no longer waited for people, by what they said; ``None`` where it did not come
            to that.
        ended: How it ended; ``None`` while it may still be decided or used.
    """

    approval_id: str
    capability: str
    requested_at_ms: int
    said: tuple[Said, ...] = ()
    decided_at_ms: int | None = None
    ended: Ended | None = None

    @property
    def took_ms(self) -> int | None:
        """From asking to the decision."""
        return None if self.decided_at_ms is None else self.decided_at_ms - self.requested_at_ms


def fact_of(approval: Approval, cancelled_at_ms: int | None = None) -> Fact:
    """The facts of a record as of its ``now_ms``; when it was cancelled, a record's trail alone can tell."""
    said = tuple(
        Said(cast.vote.approver, cast.vote.decision, cast.at_ms, cast.vote.channel) for cast in approval.votes
    )
    decided = approval.status is Status.REJECTED or approval.use_by_ms is not None
    decided_at_ms = said[-1].at_ms if decided and said else None
    return Fact(
        approval_id=approval.ask.id,
        capability=approval.ask.capability,
        requested_at_ms=approval.requested_at_ms,
        said=said,
        decided_at_ms=decided_at_ms,
        ended=_ended(approval, decided_at_ms, cancelled_at_ms),
    )


def _ended(approval: Approval, decided_at_ms: int | None, cancelled_at_ms: int | None) -> Ended | None:
    at_ms: int | None
    match approval.status:
        case Status.CONSUMED:
            how = Ending.USED
            at_ms = None if approval.consumption is None else approval.consumption.at_ms
        case Status.REJECTED:
            how, at_ms = Ending.REJECTED, decided_at_ms
        case Status.CANCELLED:
            how, at_ms = Ending.CANCELLED, cancelled_at_ms
        case Status.EXPIRED if approval.use_by_ms is None:
            how, at_ms = Ending.UNANSWERED, approval.expires_at_ms
        case Status.EXPIRED:
            how, at_ms = Ending.UNUSED, approval.use_by_ms
        case _:
            return None
    return None if at_ms is None else Ended(how, at_ms)
