"""The /metrics listener: where it listens, what it shows, that it stops."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from placet.observability.metrics import Metrics
from placet.observability.metrics_server import MetricsServer
from placet.settings import MetricsSettings


@pytest.fixture
def taken_port() -> Iterator[int]:
    """Hold a port of the loopback address."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        yield holder.getsockname()[1]


def test_it_shows_the_metrics_it_was_given() -> None:
    """On loopback and a free port, whose number it tells."""
    metrics = Metrics()
    metrics.waiter_joined()
    server = MetricsServer.start(MetricsSettings(port=0), metrics.registry)
    try:
        host, port = server.address
        answer = httpx.get(f"http://{host}:{port}/metrics", trust_env=False)
    finally:
        server.stop()
    assert host == "127.0.0.1"
    assert answer.status_code == 200
    assert "placet_waiters 1.0" in answer.text


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
