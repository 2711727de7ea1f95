"""The /metrics listener: where it listens, what it shows and to whom, what it bears, that it stops."""

import http.client
import logging
import socket
import struct
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager

import httpx
import pytest
from prometheus_client import CollectorRegistry, Gauge, Metric
from prometheus_client.registry import Collector

from placet.observability.metrics import Metrics
from placet.observability.metrics_server import CONNECTIONS_MAX, MetricsServer
from placet.settings import MetricsSettings

WAIT_S = 20
"""How long a test waits for what it is about, before it fails."""


@pytest.fixture
def taken_port() -> Iterator[int]:
    """Hold a port of the loopback address."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


@contextmanager
def listening(
    host: str = "127.0.0.1",
    registry: CollectorRegistry | None = None,
    *,
    names: Collection[str] = (),
    connection_s: float = WAIT_S,
) -> Iterator[MetricsServer]:
    """A listener on a free port; where no registry is given, over metrics that have a waiter."""
    if registry is None:
        metrics = Metrics()
        metrics.waiter_joined()
        registry = metrics.registry
    settings = MetricsSettings(host=host, port=0)
    server = MetricsServer.start(settings, registry, names=names, connection_s=connection_s)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def shared() -> Iterator[MetricsServer]:
    """A listener that only answers; `scraped.example` is a name of it."""
    with listening(names={"scraped.example"}) as server:
        yield server


def get(server: MetricsServer, path: str = "/metrics", method: str = "GET", **headers: str) -> httpx.Response:
    """One request over loopback."""
    url = f"http://127.0.0.1:{server.address[1]}{path}"
    return httpx.request(method, url, headers=headers, trust_env=False, timeout=WAIT_S)


def connected(server: MetricsServer) -> socket.socket:
    """A connection on which nothing has been said."""
    return socket.create_connection(("127.0.0.1", server.address[1]), timeout=WAIT_S)


def ended(connection: socket.socket) -> bool:
    """Wait for the other side to hang up; False where it says something instead."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_it_shows_the_metrics_it_was_given(shared: MetricsServer) -> None:
    """On loopback and a free port, whose number it tells."""
    answer = get(shared)
    assert shared.address[0] == "127.0.0.1"
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "placet_waiters 1.0" in answer.text


def test_it_speaks_the_format_that_the_scraper_prefers(shared: MetricsServer) -> None:
    """OpenMetrics for Prometheus, which asks for it."""
    answer = get(shared, accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("# EOF\n")


def test_head_says_what_get_says_without_the_content() -> None:
    """RFC 9110 §9.3.2; of metrics that do not change meanwhile."""
    registry = CollectorRegistry()
    Gauge("placet_constant", "Always the same.", registry=registry).set(1)
    with listening(registry=registry) as server:
        got, headed = get(server), get(server, method="HEAD")
    assert (headed.status_code, headed.content) == (200, b"")
    assert headed.headers["content-length"] == str(len(got.content))
    assert headed.headers["content-type"] == got.headers["content-type"]


def test_a_query_changes_nothing(shared: MetricsServer) -> None:
    """Some scrapers are configured with one."""
    assert get(shared, "/metrics?x=1").status_code == 200


@pytest.mark.parametrize("path", ["/", "/metrics/", "/metricsx", "/favicon.ico", "/..//metrics"])
def test_there_is_nothing_else(shared: MetricsServer, path: str) -> None:
    """404, in a few words of plain text."""
    with closing(http.client.HTTPConnection(*shared.address, timeout=WAIT_S)) as client:
        client.request("GET", path)
        answer = client.getresponse()
        assert answer.read() == b"404 Not Found. There is only /metrics here.\n"
    assert answer.status == 404
    assert answer.getheader("content-type") == "text/plain; charset=utf-8"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_not_implemented(shared: MetricsServer, method: str) -> None:
    """By no resource of this listener: RFC 9110 §9.1 and §15.6.2."""
    assert get(shared, method=method).status_code == 501


def test_nothing_is_said_of_versions(shared: MetricsServer) -> None:
    """Neither Python's nor a library's, also not in errors."""
    assert {get(shared, path).headers["server"] for path in ("/metrics", "/")} == {"placet"}


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9420", "127.0.0.1:1", "[::1]", "scraped.example"])
def test_it_answers_under_names_that_are_ours(shared: MetricsServer, host: str) -> None:
    """Loopback, and what it was told."""
    assert get(shared, host=host).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:9420", "localhost.evil", "10.0.0.1", ""])
@pytest.mark.parametrize("path", ["/metrics", "/"])
def test_a_page_that_rebinds_its_name_reads_nothing(shared: MetricsServer, host: str, path: str) -> None:
    """Its requests still say its own name."""
    answer = get(shared, path, host=host)
    assert answer.status_code == 421
    assert answer.text.startswith("421 Misdirected Request. Name this host in PLACET_ALLOWED_HOSTS")


@pytest.mark.parametrize("lines", [b"", b"Host: localhost\r\nHost: evil.example\r\n"])
def test_a_request_names_one_host(shared: MetricsServer, lines: bytes) -> None:
    """None, or two, is none of ours (RFC 9112 §3.2)."""
    with connected(shared) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\n" + lines + b"\r\n")
        assert connection.recv(64).startswith(b"HTTP/1.0 421 ")


def test_on_every_address_it_answers_under_any() -> None:
    """Only names can be rebound; those of others are still refused."""
    with listening("0.0.0.0") as server:
        hosts = ("10.1.2.3:9420", "[fd00::1]", "evil.example")
        statuses = [get(server, host=host).status_code for host in hosts]
    assert statuses == [200, 200, 421]


def test_it_listens_on_ipv6() -> None:
    """And is known by that address."""
    with listening("::1") as server:
        answer = httpx.get(f"http://[::1]:{server.address[1]}/metrics", trust_env=False)
    assert (server.address[0], answer.status_code) == ("::1", 200)


@pytest.mark.parametrize("sent", [b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: local"])
def test_who_keeps_it_waiting_is_hung_up_on(sent: bytes) -> None:
    """Nothing said, or not all of it: a connection has an end."""
    with listening(connection_s=0.2) as server, connected(server) as connection:
        connection.sendall(sent)
        assert ended(connection)


def test_who_is_beyond_the_cap_is_hung_up_on() -> None:
    """All places are taken by silent ones; when one goes, the next scraper is served."""
    with listening() as server, ExitStack() as silent:
        taken = [silent.enter_context(connected(server)) for _ in range(CONNECTIONS_MAX)]
        with connected(server) as late:
            assert ended(late)
        taken[0].close()
        assert eventually(lambda: get(server).status_code == 200)


def eventually(succeeds: Callable[[], bool]) -> bool:
    """Whether something works in the end: each try is a connection, so that none is a busy wait."""
    for _ in range(1_000):
        try:
            return succeeds()
        except httpx.TransportError:
            continue
    return False


def test_a_stop_leaves_no_thread_and_no_connection() -> None:
    """Whoever is connected, however silent."""
    before = set(threading.enumerate())
    with ExitStack() as silent:
        with listening() as server:
            connections = [silent.enter_context(connected(server)) for _ in range(3)]
            assert get(server).status_code == 200
            assert len(set(threading.enumerate()) - before) >= 4
        assert set(threading.enumerate()) <= before
        assert all(ended(connection) for connection in connections)


class Broken(Collector):
    """Has no metrics to give."""

    def collect(self) -> Iterator[Metric]:
        """Break."""
        raise RuntimeError("broken")


def test_metrics_that_break_are_told_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """The scraper gets no answer, and the next one is served again."""
    registry = CollectorRegistry()
    broken = Broken()
    registry.register(broken)
    with listening(registry=registry) as server:
        with caplog.at_level(logging.ERROR), pytest.raises(httpx.RemoteProtocolError):
            get(server)
        registry.unregister(broken)
        assert get(server).status_code == 200
    assert caplog.messages == ["metrics could not be shown"]


def test_a_scraper_that_goes_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    """It is the client's affair."""
    with listening() as server:
        for _ in range(3):
            with connected(server) as connection:
                connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        assert get(server).status_code == 200
    assert caplog.messages == []


def test_once_stopped_it_gives_the_port_back() -> None:
    """The next service can have it."""
    metrics = Metrics()
    server = MetricsServer.start(MetricsSettings(port=0), metrics.registry)
    server.stop()
    again = MetricsServer.start(MetricsSettings(port=server.address[1], chosen=True), metrics.registry)
    again.stop()
    assert again.address == server.address


def test_a_default_port_that_is_taken_gives_way(taken_port: int) -> None:
    """Two services on one machine don't collide."""
    server = MetricsServer.start(MetricsSettings(port=taken_port), Metrics().registry)
    server.stop()
    assert server.address[1] not in {0, taken_port}


def test_a_chosen_port_that_is_taken_is_an_error(taken_port: int) -> None:
    """A scraper looks where the operator said."""
    with pytest.raises(OSError, match="in use"):
        MetricsServer.start(MetricsSettings(port=taken_port, chosen=True), Metrics().registry)


def test_an_address_that_is_not_ours_is_an_error() -> None:
    """No other port would help."""
    with pytest.raises(OSError, match="assign"):
        MetricsServer.start(MetricsSettings(host="192.0.2.1", port=0), Metrics().registry)
