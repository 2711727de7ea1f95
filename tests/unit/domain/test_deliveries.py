"""How long a delivery waits after an attempt that failed, and when it is given up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.deliveries import (
    ATTEMPTS_MAX,
    BACKOFF_MS,
    HOPELESS,
    JITTER,
    RETRY_AFTER_MAX_MS,
    Failure,
    quiet_ms,
    wait_ms,
)

HOURS_MS = 3_600_000
MENDABLE = sorted(set(Failure) - HOPELESS - {Failure.RATE_LIMITED})


@pytest.mark.parametrize("failure", sorted(HOPELESS))
def test_what_is_hopeless_is_not_tried_again(failure: Failure) -> None:
    """Not once, whatever the receiver says."""
    assert wait_ms(1, failure, 5_000, 0.5) is None


@pytest.mark.parametrize("failure", MENDABLE)
def test_it_is_given_up_after_some_hours(failure: Failure) -> None:
    """Each pause is longer than the one before."""
    waits = [wait_ms(attempt, failure, None, 0.5) for attempt in range(1, ATTEMPTS_MAX + 1)]
    assert waits == [*BACKOFF_MS, None]
    assert list(BACKOFF_MS) == sorted(set(BACKOFF_MS))
    assert 7.5 * HOURS_MS < sum(BACKOFF_MS) < 8.5 * HOURS_MS


@given(st.integers(1, ATTEMPTS_MAX - 1), st.sampled_from(MENDABLE), st.floats(0, 1), st.integers(0, 10**9))
def test_many_that_failed_at_once_come_back_apart(
    attempts: int, failure: Failure, chance: float, asked_ms: int
) -> None:
    """By a fifth either way; and none before the receiver wants it, within reason."""
    waits = wait_ms(attempts, failure, asked_ms, chance)
    assert waits is not None
    own = BACKOFF_MS[attempts - 1]
    assert own * (1 - JITTER) - 1 <= waits <= max(own * (1 + JITTER) + 1, min(asked_ms, RETRY_AFTER_MAX_MS))
    assert waits >= min(asked_ms, RETRY_AFTER_MAX_MS)


@pytest.mark.parametrize(
    ("asked_ms", "waits"), [(None, 1_000), (0, 1_000), (1_500, 1_500), (10 * HOURS_MS, HOURS_MS)]
)
def test_patience_is_what_was_asked_for(asked_ms: int | None, waits: int) -> None:
    """However often it was asked for: it is no failure."""
    assert quiet_ms(asked_ms) == waits
    for attempts in (1, ATTEMPTS_MAX, 10 * ATTEMPTS_MAX):
        assert wait_ms(attempts, Failure.RATE_LIMITED, asked_ms, 0.9) == waits
