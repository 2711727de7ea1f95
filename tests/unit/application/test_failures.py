"""Failed authentication: a flood is bounded, and nobody can be kept out by it."""

import logging
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.application.failures import Failures, source_of
from placet.domain.errors import RateLimited, StoreUnavailable, Unauthenticated
from placet.domain.limits import (
    FAILURE_SOURCES_MAX,
    FAILURES_BURST,
    FAILURES_EVERY_MS,
    FAILURES_OF_ALL_BURST,
    FAILURES_OF_ALL_EVERY_MS,
)
from tests.factories import ManualClock

HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def failures(clock: ManualClock) -> Failures:
    """Budgets that nobody has used."""
    return Failures(clock)


def fail(failures: Failures, address: str = HERE) -> int | None:
    """Fail once; how long to wait in milliseconds, ``None`` where it was within the budgets."""
    with pytest.raises((Unauthenticated, RateLimited)) as raised, failures.attempt(address) as within:
        raise Unauthenticated
    limited = raised.value if isinstance(raised.value, RateLimited) else None
    assert within == (limited is None)
    if limited is None:
        return None
    assert limited.details == {"reason": "rate"}
    return limited.retry_after_ms


def is_within(failures: Failures, address: str = HERE) -> bool:
    """Succeed once; whether it was within the budgets."""
    with failures.attempt(address) as within:
        return within


def addresses(count: int) -> Iterator[str]:
    """So many different ones."""
    return (f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}" for n in range(count))


def test_an_address_may_fail_so_often_and_then_in_so_long(failures: Failures, clock: ManualClock) -> None:
    """The wait is exact: one millisecond less is too early."""
    assert [fail(failures) for _ in range(FAILURES_BURST)] == [None] * FAILURES_BURST
    assert fail(failures) == FAILURES_EVERY_MS
    clock.move(FAILURES_EVERY_MS - 1)
    assert fail(failures) == 1
    clock.move(1)
    assert fail(failures) is None
    assert fail(failures) == FAILURES_EVERY_MS


def test_what_is_limited_costs_nothing_more(failures: Failures, clock: ManualClock) -> None:
    """Going on does not make it worse."""
    for _ in range(FAILURES_BURST + 500):
        fail(failures)
    assert fail(failures) == FAILURES_EVERY_MS


def test_a_pause_saves_up_no_more_than_the_burst(failures: Failures, clock: ManualClock) -> None:
    """However long it is."""
    for _ in range(FAILURES_BURST):
        fail(failures)
    clock.move(1_000 * FAILURES_BURST * FAILURES_EVERY_MS)
    assert [fail(failures) for _ in range(FAILURES_BURST)] == [None] * FAILURES_BURST
    assert fail(failures) == FAILURES_EVERY_MS


def test_an_address_is_not_another(failures: Failures) -> None:
    """Each has a budget of its own."""
    for _ in range(FAILURES_BURST + 1):
        fail(failures)
    assert fail(failures, THERE) is None


def test_success_is_free(failures: Failures) -> None:
    """Whatever is good was never paid for."""
    assert all(is_within(failures) for _ in range(3 * FAILURES_OF_ALL_BURST))
    assert fail(failures) is None


@pytest.mark.parametrize("fault", [StoreUnavailable, ValueError])
def test_another_fault_is_no_failure(failures: Failures, fault: type[Exception]) -> None:
    """Where nobody could be asked, nobody was wrong."""
    for _ in range(FAILURES_BURST + 1):
        with pytest.raises(fault), failures.attempt(HERE) as within:
            raise fault
        assert within


def test_whoever_succeeds_beyond_the_budget_succeeds(failures: Failures) -> None:
    """It is only told that there was no room."""
    for _ in range(FAILURES_BURST):
        fail(failures)
    assert is_within(failures) is False
    assert fail(failures) == FAILURES_EVERY_MS, "and gives nothing back that it has not paid"


def test_attempts_under_way_are_paid_for(failures: Failures) -> None:
    """A thousand at once are no more than one after another."""
    under_way = [failures.attempt(HERE) for _ in range(FAILURES_BURST + 5)]
    within = [each.__enter__() for each in under_way]
    assert within == [True] * FAILURES_BURST + [False] * 5
    for each in under_way:
        each.__exit__(None, None, None)
    assert is_within(failures)


def test_many_addresses_have_one_budget_together(failures: Failures, clock: ManualClock) -> None:
    """A flood from everywhere is bounded too; then each address has to wait for all of them."""
    answers = [fail(failures, address) for address in addresses(FAILURES_OF_ALL_BURST)]
    assert answers == [None] * FAILURES_OF_ALL_BURST
    assert fail(failures) == FAILURES_OF_ALL_EVERY_MS
    clock.move(FAILURES_OF_ALL_EVERY_MS)
    assert fail(failures) is None


def test_an_address_that_is_limited_takes_nothing_from_the_others(
    failures: Failures, clock: ManualClock
) -> None:
    """What it may not pay out of its own budget it does not pay out of everyone's."""
    for _ in range(FAILURES_OF_ALL_BURST):
        fail(failures)
    assert fail(failures, THERE) is None


def test_memory_is_bounded(failures: Failures, clock: ManualClock) -> None:
    """The addresses that were longest not heard of are forgotten."""
    fail(failures)
    for address in addresses(FAILURE_SOURCES_MAX + 10):
        clock.move(FAILURES_OF_ALL_EVERY_MS)
        fail(failures, address)
    assert len(failures._sources) == FAILURE_SOURCES_MAX
    assert HERE not in failures._sources


def test_failures_are_counted_by_their_answer(clock: ManualClock) -> None:
    """Refused within the budgets, limited beyond; successes not at all."""
    counted: list[str] = []
    failures = Failures(clock, counted.append)
    is_within(failures)
    for _ in range(FAILURES_BURST + 2):
        fail(failures)
    assert counted == ["refused"] * FAILURES_BURST + ["limited"] * 2


def test_an_address_is_logged_once(
    failures: Failures, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    """And again when it had been good in between; addresses that only suffer from others never."""
    with caplog.at_level(logging.WARNING):
        for _ in range(FAILURES_BURST + 50):
            fail(failures, "2001:db8::1")
        assert [line.__dict__["address"] for line in caplog.records] == ["2001:db8::/64"]
        clock.move(FAILURES_BURST * FAILURES_EVERY_MS)
        for _ in range(FAILURES_BURST + 50):
            fail(failures, "2001:db8::2")
        assert len(caplog.records) == 2
        caplog.clear()
        for address in addresses(FAILURES_OF_ALL_BURST + 50):
            fail(failures, address)
        assert caplog.records == []


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("::ffff:c000:201", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("", ""),
        ("unknown", "unknown"),
        ("_hidden", "_hidden"),
        ("192.0.2.1:443", "192.0.2.1:443"),
        ("x" * 5_000, "x" * 64),
    ],
)
def test_whose_budget_it_is(address: str, source: str) -> None:
    """One IPv4 address, one IPv6 subnet, or whatever a proxy says instead."""
    assert source_of(address) == source


@given(st.text())
def test_any_text_is_an_address_of_a_kind(text: str) -> None:
    """A header of a proxy may hold anything."""
    assert len(source_of(text)) <= 64
