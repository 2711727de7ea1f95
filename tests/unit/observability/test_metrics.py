"""Metrics: what happened is counted under its name, and nobody can grow the number of series."""

import pytest

from placet.domain.errors import TABLE
from placet.domain.events import IN_STREAM
from placet.observability.metrics import OTHER, ROUTES_MAX, TENANTS_MAX, Metrics


@pytest.fixture
def metrics() -> Metrics:
    """Give each test a process's metrics of its own."""
    return Metrics()


def _value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def _series(metrics: Metrics, name: str) -> set[tuple[str, ...]]:
    return {
        tuple(sample.labels.values())
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == name
    }


def test_answers_are_counted_by_route_and_status(metrics: Metrics) -> None:
    """And timed by route."""
    metrics.request("get_approval", 200, "", 0.5)
    metrics.request("get_approval", 200, "", 1.5)
    metrics.request("get_approval", 404, "APPROVAL_NOT_FOUND", 0.01)
    assert _value(metrics, "placet_http_requests_total", route="get_approval", code="200") == 2
    assert _value(metrics, "placet_http_requests_total", route="get_approval", code="404") == 1
    assert _value(metrics, "placet_http_request_seconds_sum", route="get_approval") == pytest.approx(2.01)


def test_a_refused_answer_counts_as_a_refusal(metrics: Metrics) -> None:
    """By its error code; a success counts as none."""
    metrics.request("consume_approval", 200, "", 0.01)
    metrics.request("consume_approval", 409, "APPROVAL_CONSUMED", 0.01)
    metrics.refusal("APPROVAL_CONSUMED")
    assert _value(metrics, "placet_refusals_total", code="APPROVAL_CONSUMED") == 2
    assert sum(_value(metrics, "placet_refusals_total", code=code) or 0 for code in (*TABLE, OTHER)) == 2


def test_every_code_and_transition_has_its_series_from_the_start(metrics: Metrics) -> None:
    """An alert on a rate needs the zero before the first."""
    assert _series(metrics, "placet_refusals_total") == {(code,) for code in (*TABLE, OTHER)}
    transitions = {(str(event),) for event in IN_STREAM}
    assert _series(metrics, "placet_transitions_total") == transitions | {(OTHER,)}


def test_failed_authentications_are_counted_by_answer(metrics: Metrics) -> None:
    """From the start, in a closed set."""
    for answer in ("refused", "limited", "limited", "shouted at"):
        metrics.failed_authentication(answer)
    found = {answer: _value(metrics, "placet_failed_authentications_total", answer=answer)
             for (answer,) in _series(metrics, "placet_failed_authentications_total")}  # fmt: skip
    assert found == {"refused": 1, "limited": 2, OTHER: 1}


def test_transitions_are_counted_by_type(metrics: Metrics) -> None:
    """As the stream names them."""
    metrics.transition("approved")
    assert _value(metrics, "placet_transitions_total", type="approved") == 1


def test_unknown_words_are_counted_as_other(metrics: Metrics) -> None:
    """A newer replica's event type, or a code that is in no table, makes no series."""
    metrics.transition("teleported")
    metrics.refusal("NEVER_HEARD_OF")
    assert _value(metrics, "placet_transitions_total", type=OTHER) == 1
    assert _value(metrics, "placet_refusals_total", code=OTHER) == 1


def test_routes_beyond_the_bound_share_one_series(metrics: Metrics) -> None:
    """Whatever is passed as a route, the number of series ends."""
    for number in range(ROUTES_MAX + 50):
        metrics.request(f"route-{number}", 200, "", 0.1)
    assert len(_series(metrics, "placet_http_requests_total")) == ROUTES_MAX + 1
    assert _value(metrics, "placet_http_requests_total", route=OTHER, code="200") == 50
    assert _value(metrics, "placet_http_request_seconds_count", route=OTHER) == 50


def test_waiters_come_and_go(metrics: Metrics) -> None:
    """The gauge is how many wait now."""
    metrics.waiter_joined()
    metrics.waiter_joined()
    metrics.waiter_left()
    assert _value(metrics, "placet_waiters") == 1


def test_a_decision_is_timed_from_the_question(metrics: Metrics) -> None:
    """In seconds, from milliseconds of the store's clock."""
    metrics.decision(1_000, 91_000)
    assert _value(metrics, "placet_decision_seconds_sum") == 90
    assert _value(metrics, "placet_decision_seconds_bucket", le="60.0") == 0
    assert _value(metrics, "placet_decision_seconds_bucket", le="120.0") == 1


def test_a_round_trip_to_the_store_is_timed_and_sized(metrics: Metrics) -> None:
    """How long, and how many calls shared it."""
    metrics.store_batch(3, 0.004)
    assert _value(metrics, "placet_store_seconds_bucket", le="0.0025") == 0
    assert _value(metrics, "placet_store_seconds_bucket", le="0.005") == 1
    assert _value(metrics, "placet_store_batch_calls_sum") == 3


@pytest.mark.parametrize(("lag_ms", "seconds"), [(1_500, 1.5), (-20, 0)])
def test_stream_lag(metrics: Metrics, lag_ms: int, seconds: float) -> None:
    """In seconds; two clocks that differ make no negative lag."""
    metrics.stream_lag(lag_ms)
    assert _value(metrics, "placet_stream_lag_seconds") == seconds


def test_live_pending_by_tenant(metrics: Metrics) -> None:
    """The last number of each tenant stands."""
    metrics.live_pending("default", 7)
    metrics.live_pending("default", 5)
    metrics.live_pending("acme", 0)
    assert _value(metrics, "placet_live_pending", tenant="default") == 5
    assert _value(metrics, "placet_live_pending", tenant="acme") == 0


def test_tenants_beyond_the_bound_are_added_up(metrics: Metrics) -> None:
    """The busiest have their own series, the rest share one, and the sum is right."""
    for number in range(TENANTS_MAX + 10):
        metrics.live_pending(f"t{number}", number)
    assert len(_series(metrics, "placet_live_pending")) == TENANTS_MAX + 1
    assert _value(metrics, "placet_live_pending", tenant="t109") == 109
    assert _value(metrics, "placet_live_pending", tenant=OTHER) == sum(range(10))


def test_two_processes_worth_of_metrics_do_not_meet() -> None:
    """Each has its own registry, so a test or a second service can have its own."""
    one, other = Metrics(), Metrics()
    one.waiter_joined()
    assert _value(other, "placet_waiters") == 0
