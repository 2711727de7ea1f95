"""Clients and approvers, made and taken back by an operator."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from placet.bootstrap import Services
from placet.cli import principals
from placet.cli.parser import parse
from tests.factories import ManualClock
from tests.harness import Harness, opened
from tests.unit.cli.conftest import Type

CREDENTIAL = r"plc_default_[a-z0-9]{12}_[A-Za-z0-9_-]{43}"


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeServer:
    """A store that outlives each command, in place of the one that settings name."""
    server = FakeServer(server_type="valkey")

    @asynccontextmanager
    async def operating(*_: Any) -> AsyncIterator[Services]:
        async with over(server, tmp_path) as harness:
            yield harness.services

    monkeypatch.setattr(principals, "operating", operating)
    return server


@asynccontextmanager
async def over(server: FakeServer, directory: Path) -> AsyncIterator[Harness]:
    """A service over that store."""
    async with opened(FakeAsyncRedis(server=server), directory, ManualClock()) as harness:
        yield harness


class TestClients:
    """``placet clients``."""

    def test_create_prints_the_credential_once(self, cli: Type) -> None:
        """The members the issue names, and what the client may do."""
        made = cli(
            "clients", "create", "shop", "--scopes", "request,consume", "--owner", "olga", "--json"
        ).json()
        assert re.fullmatch(CREDENTIAL, made.pop("token"))
        assert re.fullmatch("[a-z0-9]{12}", made.pop("key"))
        assert len(made.pop("keys")) == 1
        assert made == {
            "client": "shop",
            "tenant": "default",
            "scopes": ["consume", "request"],
            "owners": ["olga"],
            "capabilities": [],
            "people": [],
            "max_risk": None,
        }

    def test_create_shows_a_person_how_to_use_it(self, cli: Type) -> None:
        """As the variable that other commands read."""
        ran = cli("clients", "create", "shop", "--scopes", "request")
        assert ran.status == 0
        assert re.search(rf"^  PLACET_TOKEN={CREDENTIAL}$", ran.out, re.MULTILINE)

    def test_a_name_that_is_taken_is_refused(self, cli: Type) -> None:
        """With what to do instead."""
        cli("clients", "create", "shop", "--scopes", "request")
        ran = cli("clients", "create", "shop", "--scopes", "request")
        assert (ran.status, ran.out) == (1, "")
        assert "rotate it instead" in ran.said

    def test_the_same_name_in_another_tenant_is_another(self, cli: Type) -> None:
        """Names are a tenant's own."""
        cli("clients", "create", "shop", "--scopes", "request")
        assert cli("clients", "create", "shop", "--scopes", "request", "--tenant", "other").status == 0

    def test_a_bridge_is_made_for_people_and_a_risk(self, cli: Type) -> None:
        """As the enrolment wants it, which says so otherwise."""
        argv = ["clients", "create", "chat", "--scopes", "decide_as", "--json"]
        assert "--max-risk" in cli(*argv).said
        made = cli(*argv, "--people", "ann,bob", "--max-risk", "medium").json()
        assert (made["people"], made["max_risk"]) == (["ann", "bob"], "medium")

    def test_list_has_them_in_order_without_secrets(self, cli: Type) -> None:
        """Hostile names are spelled out; no hash is shown."""
        for name in ("zeta", "alpha"):
            cli("clients", "create", name, "--scopes", "request", "--capabilities", "orders.*")
        head, *rows = cli("clients", "list").out.splitlines()
        assert head.split("  ")[0] == "CLIENT"
        assert [row.split()[:3] for row in rows] == [[n, "request", "orders.*"] for n in ("alpha", "zeta")]
        items = cli("clients", "list", "--json").json()["items"]
        assert [item["client"] for item in items] == ["alpha", "zeta"]
        assert set(items[0]["keys"][0]) == {"key", "created_at_ms"}

    def test_an_empty_list_says_how_to_begin(self, cli: Type) -> None:
        """With the command to type."""
        assert "placet clients create NAME --scopes request,consume" in cli("clients", "list").out

    def test_rotate_leaves_the_one_before_alive(self, cli: Type) -> None:
        """And says until when."""
        first = cli("clients", "create", "shop", "--scopes", "request", "--json").json()
        second = cli("clients", "rotate", "shop", "--json").json()
        assert second["token"] != first["token"]
        assert [each["key"] for each in second["keys"]] == [first["key"], second["key"]]
        assert f"Key {second['key']} lives on" in cli("clients", "rotate", "shop").out

    def test_rotate_of_nobody_is_refused(self, cli: Type) -> None:
        """With where to look."""
        ran = cli("clients", "rotate", "shop")
        assert (ran.status, "`placet clients list` shows them" in ran.said) == (1, True)

    def test_revoke_takes_one_key_or_all(self, cli: Type) -> None:
        """One key by its id; the client by its name."""
        key = cli("clients", "create", "shop", "--scopes", "request", "--json").json()["key"]
        cli("clients", "rotate", "shop")
        revoked = cli("clients", "revoke", "shop", "--key", key, "--json").json()
        assert revoked == {"client": "shop", "tenant": "default", "revoked": key}
        assert len(cli("clients", "list", "--json").json()["items"][0]["keys"]) == 1
        assert cli("clients", "revoke", "shop").out == "✓ Client shop is revoked, everywhere and at once.\n"
        assert cli("clients", "list", "--json").json()["items"] == []


async def ask(store: FakeServer, directory: Path) -> str:
    """A client that asks for something; the approval's id."""
    async with over(store, directory) as harness:
        return str((await (await harness.client("shop")).asked())["id"])


async def state_of(store: FakeServer, directory: Path, approval_id: str) -> str:
    """What became of an approval."""
    async with over(store, directory) as harness:
        return str((await (await harness.client("reader", "read")).seen(approval_id))["status"])


class TestCancelOpen:
    """``placet clients revoke --cancel-open``."""

    def test_what_it_asked_for_is_cancelled(self, cli: Type, store: FakeServer, tmp_path: Path) -> None:
        """The ids are told."""
        approval_id = asyncio.run(ask(store, tmp_path))
        revoked = cli("clients", "revoke", "shop", "--cancel-open", "--json").json()
        assert (revoked["revoked"], revoked["cancelled"]) == ("all", [approval_id])
        assert asyncio.run(state_of(store, tmp_path, approval_id)) == "cancelled"

    def test_it_can_be_asked_for_once_more(self, cli: Type, store: FakeServer, tmp_path: Path) -> None:
        """Whoever revoked without it, or was cut off between the two, comes back for the rest."""
        approval_id = asyncio.run(ask(store, tmp_path))
        cli("clients", "revoke", "shop")
        ran = cli("clients", "revoke", "shop", "--cancel-open")
        assert ran.status == 0
        assert f"    {approval_id}" in ran.out
        assert cli("clients", "revoke", "shop", "--cancel-open", "--json").json()["cancelled"] == []


class TestApprovers:
    """``placet approvers``."""

    def test_create_prints_the_credential_once(self, cli: Type) -> None:
        """The members the issue names, name and groups."""
        argv = [
            "approvers",
            "create",
            "ann@example.com",
            "--name",
            "Ann",
            "--groups",
            "ops,finance",
            "--json",
        ]
        made = cli(*argv).json()
        assert re.fullmatch(CREDENTIAL, made["token"])
        shown = {name: made[name] for name in ("approver", "tenant", "name", "groups")}
        groups = ["ops", "finance"]
        assert shown == {"approver": "ann@example.com", "tenant": "default", "name": "Ann", "groups": groups}

    def test_an_id_nobody_can_read_is_refused(self, cli: Type) -> None:
        """And shown in a way that everybody can."""
        ran = cli("approvers", "create", "an\u200bn")
        assert ran.status == 1
        assert "must not contain invisible formatting characters" in ran.said
        assert "\u200b" not in ran.said

    def test_list_rotate_and_revoke(self, cli: Type) -> None:
        """As for clients."""
        cli("approvers", "create", "ann", "--name", "Ann Lee", "--groups", "ops")
        assert cli("approvers", "list").out.splitlines()[1].split()[:4] == ["ann", "Ann", "Lee", "ops"]
        assert len(cli("approvers", "rotate", "ann", "--json").json()["keys"]) == 2
        assert cli("approvers", "revoke", "ann", "--json").json()["approver"] == "ann"
        assert "placet approvers create ID" in cli("approvers", "list").out

    def test_there_is_nothing_open_to_cancel(self) -> None:
        """Approvers ask for nothing."""
        assert parse(["approvers", "revoke", "ann"]).cancel_open is False
