"""What the service counts and times, as methods named for what happened.

An answered request costs about two microseconds: the children of labels are made once. Label values are words
of the code (routes, event types, error codes), with a bound where this module can't know them all, so that
nobody can grow the number of series by asking. Capabilities, actors and clients are no labels; tenants are
one in a single gauge, where the smallest share one series.
"""

import heapq
from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

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
        self._requests = _Requests(registry)
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


class _Requests:
    """Answers by route and status; children are made when first needed and then kept."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._counter = Counter(
            "placet_http_requests", "Answers by route and HTTP status.", ("route", "code"), registry=registry
        )
        self._histogram = Histogram(
            "placet_http_request_seconds",
            "From a request to its answer, waiting included.",
            ("route",),
            buckets=_REQUEST_BOUNDS_S,
            registry=registry,
        )
        self._counts: dict[tuple[str, int], Counter] = {}
        self._times = {OTHER: self._histogram.labels(OTHER)}

    def answered(self, route: str, status: int, seconds: float) -> None:
        count = self._counts.get((route, status)) or self._new(route, status)
        count.inc()
        self._times.get(route, self._times[OTHER]).observe(seconds)

    def _new(self, route: str, status: int) -> Counter:
        if route not in self._times:
            if len(self._times) > ROUTES_MAX:
                return self._counter.labels(OTHER, status)
            self._times[route] = self._histogram.labels(route)
        self._counts[route, status] = self._counter.labels(route, status)
        return self._counts[route, status]


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
