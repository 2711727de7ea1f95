"""The keyring, as an operator turns it."""

import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from placet.application.clock import SystemClock
from placet.application.enroll import EnrolmentRefused
from placet.cli import keys
from placet.cli.exits import Stop
from placet.store.ownership import Owner
from placet.tokens import keyring_file
from placet.tokens.keyring import ROTATION_WAIT_MS, Keyring
from tests.unit.cli.conftest import Ran, Type, begun


class Told:
    """Services that run on the store, and hear of changes by tenant."""

    def __init__(self) -> None:
        self.tenants: list[str] = []
        self.fault: Exception | None = None
        self.spoilt: str | None = None

    @asynccontextmanager
    async def operating(self, *_: Any) -> AsyncIterator[Any]:
        """The door of the command to them."""
        if self.fault is not None:
            raise self.fault

        async def tenants() -> list[str]:
            return ["one", "two"]

        async def count_change(tenant: str) -> None:
            if tenant == self.spoilt:
                raise EnrolmentRefused(f"The principals of tenant {tenant} are not as they were sealed.")
            self.tenants.append(tenant)

        registry, enrolment = SimpleNamespace(tenants=tenants), SimpleNamespace(count_change=count_change)
        yield SimpleNamespace(store=SimpleNamespace(registry=registry), enrolment=enrolment)


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Told:
    """A service that runs on the data directory."""
    told = Told()
    monkeypatch.setattr(keys, "operating", told.operating)
    monkeypatch.setattr(keys, "owner_of", lambda _: Owner(pid=1))
    return told


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A keyring whose next key may sign already."""
    made = tmp_path / "ring.json"
    keyring_file.save(made, Keyring.create(SystemClock().now_ms() - ROTATION_WAIT_MS - 1))
    return made


@pytest.fixture
def typed(cli: Type, path: Path) -> Type:
    """Types ``placet keys …`` with that keyring."""
    return lambda *argv, **more: cli("keys", *argv, environ={"PLACET_KEYRING_FILE": str(path)}, **more)


def states(ran: Ran) -> list[str]:
    """The states of the keys in a JSON answer."""
    return [key["state"] for key in ran.json()["keys"]]


class TestList:
    """``keys list``."""

    def test_it_shows_states_and_no_secret(self, typed: Type, path: Path) -> None:
        """A line per key, with what it does."""
        held = keyring_file.load(path)
        ran = typed("list")
        assert [line.split()[:2] for line in ran.out.splitlines()[3:]] == [
            [held.active.kid, "active"],
            [held.next.kid, "next"],
        ]
        assert "may sign" in ran.out
        stored = json.loads(path.read_text())
        secrets = [stored["active"]["private"], stored["seal"]["secret"]]
        assert not any(secret in typed("list", "--json").out + ran.out for secret in secrets)

    def test_json_has_the_generation(self, typed: Type) -> None:
        """And the times in milliseconds."""
        listed = typed("list", "--json").json()
        assert listed["generation"] == 1
        assert set(listed["keys"][0]) == {"kid", "state", "published_at_ms", "ended_at_ms"}

    def test_a_keyring_that_is_not_there_says_how_to_make_one(self, cli: Type, tmp_path: Path) -> None:
        """With the command."""
        ran = cli("keys", "list", environ={"PLACET_KEYRING_FILE": str(tmp_path / "none")})
        assert (ran.status, "`placet keys create` makes it" in ran.said) == (1, True)

    def test_the_embedded_store_s_own_is_in_the_data_directory(self, cli: Type, tmp_path: Path) -> None:
        """Where ``serve`` keeps it. A store that has lost it needs that one back, and no other."""
        for verb in (["list"], ["rotate"], ["revoke", "k"]):
            ran = cli("keys", *verb, "--data-dir", str(tmp_path / "data"))
            assert (ran.status, f"There is no store at {tmp_path / 'data'}." in ran.said) == (3, True)
        assert list(tmp_path.iterdir()) == []
        begun(tmp_path / "data")
        ran = cli("keys", "list", "--data-dir", str(tmp_path / "data"))
        assert f"{tmp_path / 'data' / 'keyring.json'} is missing" in ran.said
        keyring_file.load_or_create(tmp_path / "data" / "keyring.json", 0)
        assert cli("keys", "list", "--data-dir", str(tmp_path / "data")).status == 0


class TestCreate:
    """``keys create``."""

    def test_it_makes_a_private_file(self, cli: Type, tmp_path: Path) -> None:
        """For whoever brings their own store."""
        made = tmp_path / "new.json"
        ran = cli("keys", "create", environ={"PLACET_KEYRING_FILE": str(made)})
        assert ran.status == 0
        assert stat.S_IMODE(made.stat().st_mode) == 0o600
        assert "may sign in 4m" in ran.out

    def test_it_never_replaces_one(self, typed: Type, path: Path) -> None:
        """What was sealed with the old one would be worth nothing."""
        before = path.read_bytes()
        assert (typed("create").status, path.read_bytes()) == (1, before)


class TestRotate:
    """``keys rotate``."""

    def test_the_next_key_signs_and_services_are_told(self, typed: Type, services: Told, path: Path) -> None:
        """Every tenant's epoch is changed."""
        waiting = keyring_file.load(path).next.kid
        ran = typed("rotate", "--json")
        assert states(ran) == ["active", "next", "retired"]
        assert ran.json()["keys"][0]["kid"] == waiting
        assert (ran.json()["told"], services.tenants) == (True, ["one", "two"])

    def test_a_key_that_nobody_knows_yet_may_not_sign(self, typed: Type, services: Told) -> None:
        """The rotation before it was a moment ago."""
        typed("rotate")
        ran = typed("rotate")
        assert (ran.status, "has not been published long enough" in ran.said) == (1, True)

    def test_where_nobody_runs_nobody_is_told(
        self, typed: Type, services: Told, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The next start reads the file."""
        monkeypatch.setattr(keys, "owner_of", lambda _: None)
        assert typed("rotate", "--json").json()["told"] is True
        assert services.tenants == []


class TestRevoke:
    """``keys revoke``."""

    def test_a_key_loses_all_trust(self, typed: Type, services: Told, path: Path) -> None:
        """The one that waited takes over from an active one."""
        kid = keyring_file.load(path).active.kid
        ran = typed("revoke", kid)
        assert ran.out.splitlines()[0] == f"✓ Key {kid} is trusted no more."
        assert states(typed("list", "--json")) == ["active", "next", "revoked"]
        assert services.tenants == ["one", "two"]

    def test_services_that_can_not_be_told_are_said_to_be_that(
        self, typed: Type, services: Told, path: Path
    ) -> None:
        """The file is changed all the same, and the command has done its part."""
        services.fault = Stop("The store can't be reached.")
        ran = typed("revoke", keyring_file.load(path).active.kid, "--json")
        assert (ran.status, ran.json()["told"]) == (0, False)
        assert "within a minute" in ran.said
        assert "a copy of its own goes on with that until you replace it" in ran.said

    def test_one_spoilt_tenant_keeps_the_others_from_nothing(
        self, typed: Type, services: Told, path: Path
    ) -> None:
        """They are told; the operator hears of the one that was not."""
        services.spoilt = "one"
        ran = typed("revoke", keyring_file.load(path).active.kid, "--json")
        assert (ran.status, ran.json()["told"], services.tenants) == (0, False, ["two"])
        assert "The principals of tenant one are not as they were sealed." in ran.said

    def test_files_elsewhere_have_to_be_replaced(self, cli: Type, services: Told, path: Path) -> None:
        """Where a store of one's own is used there may be more than one."""
        environ = {"PLACET_KEYRING_FILE": str(path), "PLACET_REDIS_URL": "redis://127.0.0.1:1/0"}
        ran = cli("keys", "revoke", keyring_file.load(path).active.kid, environ=environ)
        assert "Replace every copy of the file" in ran.out
        assert services.tenants == ["one", "two"]

    def test_an_unknown_key_is_refused(self, typed: Type, services: Told) -> None:
        """With those there are; nobody is told anything."""
        ran = typed("revoke", "nonsense")
        assert (ran.status, services.tenants) == (1, [])
        assert "No key has this kid; the keyring holds" in ran.said
