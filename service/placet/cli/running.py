"""A service in this process: bound, opened, answering, and stopped in good order.

Stopping: the service says that it is not ready and answers every parked call with what is known; then
nothing new is accepted, and open requests get the time they were promised; then the store is closed.
"""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import uvicorn
from msgspec import Struct

from placet.app import create_app
from placet.application.activation import ActivationRefused
from placet.bootstrap import Services, open_services
from placet.cli.exits import Exit, Stop
from placet.cli.listen import listen
from placet.cli.opened import telling_faults
from placet.cli.protocol import BoundedProtocol
from placet.observability.metrics_server import MetricsServer
from placet.settings import Settings
from placet.store.ownership import busy, owner_of

_KEEP_ALIVE_S: Final = 75
"""How long an idle connection is kept: longer than the 60 s of usual proxies, which would otherwise send
a request into a connection that is being closed."""


class Running(Struct, frozen=True, kw_only=True):
    """A service that answers.

    Attributes:
        settings: As they came out, ports that were 0 known.
        services: What it is made of.
        metrics_url: Where metrics are.
        ended: Done when it has stopped answering, of itself or because it was told to.
    """

    settings: Settings
    services: Services
    metrics_url: str
    ended: asyncio.Task[None]


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Running]:
    """Run a service for as long as this lasts.

    Raises:
        Stop: It can't listen, or the store can't be started or used; the message says what to do.
        KeyringError: The keyring can't be used.
        RulesInvalid: The policy file or the directory file can't be used.
    """
    _check_tls(settings)
    _check_owner(settings)
    async with AsyncExitStack() as exits:
        sockets = listen(settings.server)
        exits.callback(_close, sockets)
        settings = settings.bound_to(sockets[0].getsockname()[1])
        with telling_faults():
            services = await open_services(settings)
        exits.push_async_callback(services.close)
        if not settings.store.embedded:  # there nobody else can be
            services.readiness.announce()
        if faults := await services.readiness.faults():
            raise Stop(" ".join(faults))  # with an older keyring, revoked keys would sign again
        await _put_in_force(services)
        metrics = _start_metrics(settings, services)
        exits.push_async_callback(asyncio.to_thread, metrics.stop)
        services.store.stream.start()
        services.sweeper.start()
        services.spreader.start()
        services.dispatcher.start()
        server = _server(settings, services)
        task = asyncio.create_task(server.serve(sockets))
        exits.push_async_callback(_stop, server, task, services)
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait({ready, task}, return_when=asyncio.FIRST_COMPLETED)
        host, port = metrics.address
        shown = f"[{host}]" if ":" in host else host
        yield Running(
            settings=settings,
            services=services,
            metrics_url=f"http://{shown}:{port}/metrics",
            ended=task,
        )


def _check_owner(settings: Settings) -> None:
    """Find out whether a service runs here already, before its port is met: that tells less.

    Raises:
        Stop: One does, or the directory can't be used.
    """
    if settings.store.embedded:
        with telling_faults():
            owner = owner_of(settings.store.data_dir)
            if owner is not None and owner.url is not None and not owner.passing:
                raise busy(settings.store.data_dir, owner)


def _check_tls(settings: Settings) -> None:
    """Find out before anything is started whether TLS can be spoken.

    Raises:
        Stop: The files can't be used.
    """
    server = settings.server
    if server.tls_cert_file is None or server.tls_key_file is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(server.tls_cert_file, server.tls_key_file)
    except OSError as fault:  # ssl.SSLError is one
        raise Stop(
            f"PLACET_TLS_CERT_FILE and PLACET_TLS_KEY_FILE can't be used ({fault}): give a PEM chain and "
            "the key that belongs to it, both readable by this user.",
            Exit.USAGE,
        ) from fault


async def _put_in_force(services: Services) -> None:
    """Have everybody judged by the rules of our files.

    Raises:
        Stop: Other rules are in force, which those must not replace.
    """
    try:
        await services.activation.start()
    except ActivationRefused as refused:
        raise Stop(str(refused)) from refused


def _start_metrics(settings: Settings, services: Services) -> MetricsServer:
    try:
        names = settings.server.accepted_hosts
        return MetricsServer.start(settings.metrics, services.metrics.registry, names=names)
    except OSError as fault:
        where = f"{settings.metrics.host} port {settings.metrics.port}"
        why = "is taken" if fault.errno == errno.EADDRINUSE else f"can't be listened on ({fault.strerror})"
        message = f"For metrics, {where} {why}: choose another --metrics-bind; port 0 takes a free one."
        raise Stop(message) from fault


class _Server(uvicorn.Server):
    """uvicorn's server, which leaves signals to the command and says when it answers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        self.ready.set()


def _server(settings: Settings, services: Services) -> _Server:
    server = settings.server
    return _Server(
        uvicorn.Config(
            create_app(services, settings),
            http=BoundedProtocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=bool(server.trusted_proxies),
            forwarded_allow_ips=list(server.trusted_proxies),
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=-(-server.shutdown_grace_ms // 1_000),
            ssl_certfile=server.tls_cert_file,
            ssl_keyfile=server.tls_key_file,
        )
    )


async def _stop(server: _Server, task: asyncio.Task[None], services: Services) -> None:
    services.readiness.stopping = True
    services.waiters.close()
    services.feed.close()
    server.should_exit = True
    await task


def _close(sockets: list[socket.socket]) -> None:
    for sock in sockets:
        sock.close()
