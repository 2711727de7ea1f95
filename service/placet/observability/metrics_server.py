"""The listener of `/metrics`: an address of its own, so that the API's port shows nothing to scrapers."""

import errno
import threading
from typing import Self
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server

from placet.settings import MetricsSettings


class MetricsServer:
    """A running listener, in a thread of its own.

    Attributes:
        address: host and port that were bound, the port never 0.
    """

    def __init__(self, server: WSGIServer, thread: threading.Thread) -> None:
        self._server = server
        self._thread = thread
        self.address: tuple[str, int] = (str(server.server_address[0]), int(server.server_address[1]))

    @classmethod
    def start(cls, settings: MetricsSettings, registry: CollectorRegistry) -> Self:
        """Listen, and answer every scrape from `registry`.

        Args:
            settings: where. A port that nobody chose gives way to a free one where it is taken, so that two
                services on one machine don't collide.
            registry: what to show.

        Raises:
            OSError: the address can't be bound.
        """
        try:
            server, thread = start_http_server(settings.port, settings.host, registry)
        except OSError as error:
            if settings.chosen or error.errno != errno.EADDRINUSE:
                raise
            server, thread = start_http_server(0, settings.host, registry)
        return cls(server, thread)

    def stop(self) -> None:
        """Stop listening and free the port; takes up to half a second, so not on an event loop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
