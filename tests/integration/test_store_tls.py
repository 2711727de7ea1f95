"""A store over TLS, with a password: what ``rediss://`` leads to is read here like any other connection."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvloop

from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.settings import Secret, StoreSettings
from placet.store.opened import Store, open_store
from tests import servers
from tests.certificates import self_signed
from tests.steps import approved, spend
from tests.tools import require

pytestmark = pytest.mark.real

GRANTS = 300
"""More than travel together: several connections, and answers in many pieces."""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A server that speaks nothing but TLS to the network."""
    binary = servers.redis_binary()
    require(binary is not None, "redis-server (Debian's package of that name)")
    certificate, key = self_signed(tmp_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--tls-port", f"{port}", "--tls-cert-file", f"{certificate}", "--tls-key-file", f"{key}"]
    options += ["--tls-ca-cert-file", f"{certificate}", "--tls-auth-clients", "no", "--bind", "127.0.0.1"]
    options += ["--requirepass", "hunter2", "--maxmemory-policy", "noeviction"]
    with servers.running(str(binary), tmp_path, *options):
        yield f"rediss://:hunter2@127.0.0.1:{port}/0?ssl_ca_certs={certificate}"


async def opened(url: str) -> Store:
    """The store as the service opens it."""
    return await open_store(
        StoreSettings(data_dir=Path("nowhere"), redis_url=Secret(url)),
        Limits(),
        socket_path=None,
        clock=None,
        heard=lambda _: None,
        observe=lambda _calls, _seconds: None,
    )


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_grants_are_given_and_spent(url: str, new_loop: object) -> None:
    """On the loop that the service has, and on the interpreter's."""

    async def spent() -> set[Ruling]:
        store = await opened(url)
        asks = await asyncio.gather(*(approved(store) for _ in range(GRANTS)))
        answers = await asyncio.gather(*(spend(store, ask) for ask in asks))
        await store.close()
        return {answer.ruling for answer in answers}

    with asyncio.Runner(loop_factory=new_loop) as runner:  # type: ignore[arg-type]
        assert runner.run(spent()) == {Ruling.OK}
