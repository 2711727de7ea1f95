"""What the service counts and times, as methods named for what happened.

The children of labels are made once. Label values are words of the code (routes, event types, error codes),
with a bound where this module can't know them all, so that nobody can grow the number of series by asking.
Capabilities, actors and clients are no labels; tenants are one in a single gauge, where the smallest share
one series.
"""

import heapq
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from placet.domain.deliveries import SLACK, WEBHOOK, Failure
from placet.domain.errors import TABLE
from placet.domain.events import IN_STREAM

OTHER: Final = "_other"
"""Stands for what has no series of its own. No route, code or tenant is called so."""
DELIVERED: Final = "delivered"
"""The result of an attempt that did not fail."""
ROUTES_MAX: Final = 64
"""Routes with series of their own; the API has about a quarter of it."""
TENANTS_MAX: Final = 100
"""Tenants with a series of their own, those with the most pending approvals."""

# A consume takes milliseconds; a wait for a decision up to a minute.
_REQUEST_BOUNDS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30, 60)
# People answer in minutes; the bounds follow the default and the longest usual deadlines.
_DECISION_BOUNDS_S: Final = (1, 5, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 14_400, 86_400)
# A script takes 50 µs, an fsync a few milliseconds, a time-out two seconds.
_STORE_BOUNDS_S: Final = (1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5)
_BATCH_BOUNDS: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_MS_PER_S: Final = 1_000


class Metrics:
    """The metrics of one process.

    Attributes:
        registry: what `/metrics` shows; nothing of other libraries is in it.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._pending = _LivePending()
        registry.register(self._pending)
        self._requests = _Requests()
        registry.register(self._requests)
        changes = Counter("placet_transitions", "Transitions by type.", ("type",), registry=registry)
        self._transitions = {name: changes.labels(name) for name in (*sorted(IN_STREAM), OTHER)}
        refusals = Counter("placet_refusals", "Refusals by error code.", ("code",), registry=registry)
        self._refusals = {code: refusals.labels(code) for code in (*TABLE, OTHER)}
        failures = Counter(
            "placet_failed_authentications",
            "Credentials refused (401), and those refused for being too many (429).",
            ("answer",),
            registry=registry,
        )
        self._failures = {answer: failures.labels(answer) for answer in ("refused", "limited", OTHER)}
        attempts = Counter(
            "placet_deliveries",
            "Attempts to tell somebody, by the kind of target and by what came of it.",
            ("channel", "result"),
            registry=registry,
        )
        self._deliveries = {
            (channel, result): attempts.labels(channel, result)
            for channel in (SLACK, WEBHOOK, OTHER)
            for result in (DELIVERED, *Failure)
        }
        self._lanes = {
            state: Gauge(f"placet_deliveries_{state}", words, registry=registry)
            for state, words in (
                ("waiting", "Approvals that somebody is still to be told of."),
                ("failed", "Approvals that somebody could not be told of."),
            )
        }
        self._standing: dict[str, tuple[int, int]] = {}
        self._waiters = Gauge("placet_waiters", "Calls now waiting for a decision.", registry=registry)
        self._followers = Gauge("placet_followers", "Event streams now open.", registry=registry)
        self._lag = Gauge(
            "placet_stream_lag_seconds", "Age of the newest event when it was read.", registry=registry
        )
        self._decisions = Histogram(
            "placet_decision_seconds",
            "From the question to the decision.",
            buckets=_DECISION_BOUNDS_S,
            registry=registry,
        )
        self._store_seconds = Histogram(
            "placet_store_seconds",
            "From the sending of a batch of calls to the store to its confirmed replies.",
            buckets=_STORE_BOUNDS_S,
            registry=registry,
        )
        self._store_calls = Histogram(
            "placet_store_batch_calls",
            "Calls that travelled to the store together.",
            buckets=_BATCH_BOUNDS,
            registry=registry,
        )

    def request(self, route: str, status: int, code: str, seconds: float) -> None:
        """Count and time an answer.

        Args:
            route: the route's name, one of a closed set.
            status: the HTTP status.
            code: the error code; "" for a success.
            seconds: how long it took, waiting included.
        """
        self._requests.answered(route, status, seconds)
        if code:
            self.refusal(code)

    def refusal(self, code: str) -> None:
        """Count a refusal that is no answer of its own, such as one of a batch of decisions."""
        self._refusals.get(code, self._refusals[OTHER]).inc()

    def failed_authentication(self, answer: str) -> None:
        """Count a credential that is nobody's: ``refused``, or ``limited`` for being too many."""
        self._failures.get(answer, self._failures[OTHER]).inc()

    def transition(self, event_type: str) -> None:
        """Count a change of a record."""
        self._transitions.get(event_type, self._transitions[OTHER]).inc()

    def decision(self, asked_at_ms: int, decided_at_ms: int) -> None:
        """Time a decision, both moments on the store's clock."""
        self._decisions.observe((decided_at_ms - asked_at_ms) / _MS_PER_S)

    def delivery(self, channel: str, failure: Failure | None) -> None:
        """Count an attempt to tell somebody, and what came of it."""
        place = channel if channel in {SLACK, WEBHOOK} else OTHER
        self._deliveries[place, failure or DELIVERED].inc()

    def deliveries(self, tenant: str, waiting: int, failed: int) -> None:
        """Record of how many approvals of a tenant somebody is still to be told, or could not be."""
        self._standing[tenant] = (waiting, failed)
        for place, state in enumerate(("waiting", "failed")):
            self._lanes[state].set(sum(each[place] for each in self._standing.values()))

    def waiter_joined(self) -> None:
        """Count a call that begins to wait for a decision."""
        self._waiters.inc()

    def waiter_left(self) -> None:
        """Take it off again, however its wait ended."""
        self._waiters.dec()

    def follower_joined(self) -> None:
        """Count an event stream that begins."""
        self._followers.inc()

    def follower_left(self) -> None:
        """Take it off again, however it ended."""
        self._followers.dec()

    def stream_lag(self, lag_ms: int) -> None:
        """Record how old the newest event was when it was read; between two clocks it is never negative."""
        self._lag.set(max(lag_ms, 0) / _MS_PER_S)

    def store_batch(self, calls: int, seconds: float) -> None:
        """Record a round trip to the store: how many calls travelled together, and how long they took."""
        self._store_calls.observe(calls)
        self._store_seconds.observe(seconds)

    def live_pending(self, tenant: str, count: int) -> None:
        """Record how many approvals of a tenant are pending now."""
        self._pending.by_tenant[tenant] = count


class _Requests(Collector):
    """Answers by route and status, and how long they took.

    They are counted in plain numbers: the library's own children, each with a lock, took longer than all else
    that is done about an answer. One thread counts; a scrape, which has another, reads copies.
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, int], int] = {}
        self._buckets: dict[str, list[int]] = {}
        self._sums_s: dict[str, float] = {}

    def answered(self, route: str, status: int, seconds: float) -> None:
        buckets = self._buckets.get(route)
        if buckets is None:
            route, buckets = self._new(route)
        buckets[bisect_left(_REQUEST_BOUNDS_S, seconds)] += 1
        self._sums_s[route] += seconds
        self._counts[route, status] = self._counts.get((route, status), 0) + 1

    def _new(self, route: str) -> tuple[str, list[int]]:
        if len(self._buckets) >= ROUTES_MAX:
            route = OTHER
        self._sums_s.setdefault(route, 0.0)
        return route, self._buckets.setdefault(route, [0] * (len(_REQUEST_BOUNDS_S) + 1))

    def collect(self) -> Iterable[Metric]:
        answers = CounterMetricFamily(
            "placet_http_requests", "Answers by route and HTTP status.", labels=("route", "code")
        )
        for (route, status), count in self._counts.copy().items():
            answers.add_metric((route, str(status)), count)
        yield answers
        times = HistogramMetricFamily(
            "placet_http_request_seconds",
            "From a request to its answer, waiting included.",
            labels=("route",),
        )
        for route, buckets in self._buckets.copy().items():
            upto = accumulate(buckets.copy())
            bounds = (*map(floatToGoString, _REQUEST_BOUNDS_S), "+Inf")
            times.add_metric((route,), list(zip(bounds, upto, strict=True)), self._sums_s[route])
        yield times


class _LivePending(Collector):
    """The gauge of pending approvals, bounded in its series."""

    def __init__(self) -> None:
        self.by_tenant: dict[str, int] = {}

    def collect(self) -> Iterable[GaugeMetricFamily]:
        gauge = GaugeMetricFamily(
            "placet_live_pending", "Approvals now pending, by tenant.", labels=("tenant",)
        )
        by_tenant = self.by_tenant.copy()  # scrapes run in a thread of their own
        shown = heapq.nlargest(TENANTS_MAX, by_tenant, key=by_tenant.__getitem__)
        for tenant in shown:
            gauge.add_metric((tenant,), by_tenant.pop(tenant))
        if by_tenant:
            gauge.add_metric((OTHER,), sum(by_tenant.values()))
        yield gauge
