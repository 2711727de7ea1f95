"""Deliveries: what is told to whom outside, how often it is tried, and what may go wrong (design §9).

1. A *target* is somebody who is told: ``slack:<team>:<channel or user id>``, ``webhook:<name>``. What is told
   of one approval to one target is a *lane*; lanes don't wait for each other.
2. A lane follows the approval's own log, which is the outbox: ``covered`` counts the lines of it that the
   target knows of. Whatever is beyond is still to be told, in its order; nothing else is kept anywhere, so a
   wake-up that is lost is late and nothing more.
3. At least once: an attempt whose end is unknown is made again.
4. A delivery decides nothing. One that fails is there to be looked at and tried again; the question waits.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct

SLACK: Final = "slack"
WEBHOOK: Final = "webhook"

BACKOFF_MS: Final = (
    1_000,
    5_000,
    15_000,
    60_000,
    300_000,
    900_000,
    1_800_000,
    3_600_000,
    7_200_000,
    14_400_000,
)
"""How long it waits after each attempt that failed; after the last it has failed. Some 8 hours in all."""
ATTEMPTS_MAX: Final = len(BACKOFF_MS) + 1
RETRY_AFTER_MAX_MS: Final = 3_600_000
"""A receiver that asks for more patience than this is asked again then."""
JITTER: Final = 0.2
"""By which part of it a wait is changed, by chance: many that failed at once come back apart."""
LEASE_MS: Final = 60_000
"""How long an attempt may take before another replica takes the lane over."""


class DeliveryState(StrEnum):
    """How a lane stands."""

    QUEUED = "queued"
    """Something is still to be told."""
    DELIVERED = "delivered"
    """The target knows all there is to know."""
    FAILED = "failed"
    """It was tried for long enough. ``placet deliveries retry`` tries again, and so does what comes next."""


class Failure(StrEnum):
    """Why an attempt failed: the class of it, for people and metrics, never the receiver's words."""

    UNREACHABLE = "unreachable"
    """No connection, or it broke, or its certificate is not good."""
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate-limited"
    SERVER_ERROR = "server-error"
    """5xx, or Slack's own trouble."""
    REFUSED = "refused"
    """The receiver does not take it: another 4xx, a redirect, ``invalid_blocks``."""
    CREDENTIAL = "credential"
    """Our credential there does not count, or can't be had."""
    NO_SUCH_TARGET = "no-such-target"
    """There is no such channel, user or endpoint, or none that is ours to write to."""
    FORBIDDEN_ADDRESS = "forbidden-address"
    """The address is no public one, and nobody has allowed it."""
    TOO_LARGE = "too-large"
    UNREADABLE = "unreadable"
    """The record can't be read, or the attempt ended in a way that it should not."""
    INTERRUPTED = "interrupted"
    """The process that tried it is gone."""


HOPELESS: Final = frozenset(
    {Failure.REFUSED, Failure.NO_SUCH_TARGET, Failure.FORBIDDEN_ADDRESS, Failure.TOO_LARGE}
)
"""What trying again does not mend."""


class Undelivered(Exception):  # noqa: N818 - reads as what happened
    """An attempt failed.

    Attributes:
        failure: Why.
        retry_after_ms: How long the receiver asks for patience.
        status: The HTTP status that it answered; ``None`` where it did not, or with something else.
        ref: What the channel keeps of what it has done all the same; ``None`` for what it kept before.
    """

    def __init__(
        self,
        failure: Failure,
        *,
        retry_after_ms: int | None = None,
        status: int | None = None,
        ref: str | None = None,
    ) -> None:
        super().__init__(failure.value)
        self.failure = failure
        self.retry_after_ms = retry_after_ms
        self.status = status
        self.ref = ref


class Delivery(Struct, frozen=True, kw_only=True):
    """A lane, as it stands.

    Attributes:
        target: Who is told.
        state: How it stands.
        attempts: How often what comes next has been tried.
        covered: Lines of the approval's log that the target knows of.
        error: Why the last attempt failed; ``None`` where it did not.
        at_ms: When that was, or when it was first heard of; Unix milliseconds.
        ref: What the channel keeps of it: where its message is.
    """

    target: str
    state: DeliveryState
    attempts: int
    covered: int
    error: Failure | None
    at_ms: int
    ref: str = ""


def wait_ms(attempts: int, failure: Failure, retry_after_ms: int | None, chance: float) -> int | None:
    """How long to wait after an attempt that failed; ``None``: it is not tried again.

    Args:
        attempts: How many were made, this one included.
        failure: Why it failed.
        retry_after_ms: How long the receiver asks for.
        chance: From 0 to 1, for the jitter.
    """
    if failure is Failure.RATE_LIMITED:  # which is no failure of theirs or ours, and does not count as one
        return quiet_ms(retry_after_ms)
    if failure in HOPELESS or attempts >= ATTEMPTS_MAX:
        return None
    wait = BACKOFF_MS[attempts - 1] * (1 + JITTER * (2 * chance - 1))
    asked = min(retry_after_ms or 0, RETRY_AFTER_MAX_MS)
    return max(round(wait), asked)


def quiet_ms(retry_after_ms: int | None) -> int:
    """For how long a receiver that wants patience is told nothing: as long as it asks, a second at least."""
    return min(max(retry_after_ms or 0, BACKOFF_MS[0]), RETRY_AFTER_MAX_MS)
