"""The listener of `/metrics`: an address of its own, so that the API's port shows nothing to scrapers.

It asks nobody for a credential, so it is bounded instead: so many connections at a time, each for so long,
whatever it does with its time; and only names that are ours are answered under, or a page in an operator's
browser could read it by rebinding its own name (:mod:`placet.settings.hosts`).
"""

import errno
import logging
import socket
import sys
import threading
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from ipaddress import ip_address
from socketserver import ThreadingTCPServer
from typing import Any, Final, Self

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from placet.settings import MetricsSettings
from placet.settings.hosts import accepted, host_name
from placet.settings.parsing import is_wildcard_address

CONNECTIONS_MAX: Final = 16
"""Served at a time; who comes beyond them is hung up on. A scraper needs one."""
CONNECTION_S: Final = 10.0
"""How long a connection may last, from its first byte to its last: Prometheus' own `scrape_timeout`."""
_LOOK_EVERY_S: Final = 0.1
"""How often it looks for connections that have lasted too long, and for its own end."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_log = logging.getLogger("placet.metrics")


class MetricsServer:
    """A running listener, in a thread of its own.

    Attributes:
        address: host and port that were bound, the port never 0.
    """

    def __init__(self, server: "_Server") -> None:
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, args=(_LOOK_EVERY_S,), name="placet-metrics", daemon=True
        )
        self._thread.start()
        self.address: tuple[str, int] = server.bound

    @classmethod
    def start(
        cls,
        settings: MetricsSettings,
        registry: CollectorRegistry,
        *,
        names: Collection[str] = (),
        connection_s: float = CONNECTION_S,
    ) -> Self:
        """Listen, and answer every scrape from `registry`.

        Args:
            settings: where. A port that nobody chose gives way to a free one where it is taken, so that two
                services on one machine don't collide.
            registry: what to show.
            names: what `Host` may say besides loopback and the host that is listened on. On a wildcard
                address it may say any IP address: only names can be rebound.
            connection_s: how long a connection may last, in seconds.

        Raises:
            OSError: the address can't be bound.
        """
        open_at = partial(_Server, settings.host, registry=registry, names=names, connection_s=connection_s)
        try:
            return cls(open_at(settings.port))
        except OSError as error:
            if settings.chosen or error.errno != errno.EADDRINUSE:
                raise
            return cls(open_at(0))

    def stop(self) -> None:
        """Hang up, stop listening and free the port; takes a tenth of a second, so not on an event loop."""
        self._server.shutdown()
        self._server.hang_up(0)
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingTCPServer):
    """A thread for each connection, within bounds."""

    allow_reuse_address = True
    daemon_threads = False  # so that closing waits for them
    request_queue_size = CONNECTIONS_MAX

    def __init__(
        self,
        host: str,
        port: int,
        *,
        registry: CollectorRegistry,
        names: Collection[str],
        connection_s: float,
    ) -> None:
        self.registry = registry
        self._connection_s = connection_s
        self._open: dict[socket.socket, float] = {}
        self._lock = threading.Lock()  # nobody hangs up on a socket that its own thread has closed meanwhile
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family, _, _, _, address = found[0]
        super().__init__(address, _Scrape)  # type: ignore[arg-type] # typeshed knows no IPv6 addresses
        self.bound = (str(self.server_address[0]), int(self.server_address[1]))
        self._names = frozenset({*_LOOPBACK, host.lower(), self.bound[0], *names})
        self._any_address = is_wildcard_address(self.bound[0])

    def is_ours(self, hosts: Sequence[str]) -> bool:
        """Whether these `Host` headers are one, and one that names us."""
        if len(hosts) != 1:
            return False
        return accepted(hosts[0], self._names) or (self._any_address and _is_address(host_name(hosts[0])))

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's
        """Serve a connection, unless there are enough."""
        with self._lock:
            admitted = len(self._open) < CONNECTIONS_MAX
            if admitted:
                self._open[request] = time.monotonic()
        if admitted:
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - the base's
        """End a connection."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Look for connections that have lasted too long."""
        self.hang_up(self._connection_s)

    def hang_up(self, after_s: float) -> None:
        """End connections that have lasted this long; their threads see an end of the stream."""
        began_until = time.monotonic() - after_s
        with self._lock:
            for request, began in self._open.items():
                if began <= began_until:
                    with suppress(OSError):  # the client was faster
                        request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002 - the base's
        """Log what is no fault of the connection."""
        if not isinstance(sys.exception(), OSError):
            _log.exception("metrics could not be shown")


class _Scrape(BaseHTTPRequestHandler):
    """One request and its answer; HTTP/1.0, so the connection ends with it."""

    server: "_Server"
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s. %(explain)s\n"

    def do_GET(self) -> None:
        """Show the metrics, in the format that the scraper prefers."""
        if not self.server.is_ours(self.headers.get_all("Host", [])):
            explain = "Name this host in PLACET_ALLOWED_HOSTS to be answered under it."
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, explain=explain)
        elif self.path.partition("?")[0] != "/metrics":
            self.send_error(HTTPStatus.NOT_FOUND, explain="There is only /metrics here.")
        else:
            encode, content_type = choose_encoder(self.headers.get("Accept", ""))
            shown = encode(self.server.registry)
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(shown)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(shown)

    do_HEAD = do_GET  # noqa: N815 - as the library looks for it

    def version_string(self) -> str:
        """What the `Server` header says: no versions."""
        return "placet"

    def log_message(self, *_: object) -> None:
        """Log nothing: scrapes are many, and alike."""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
