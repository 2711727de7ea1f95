"""Clients and approvers, made and taken back by an operator."""

import asyncio
import errno
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeServer

from placet.application.enroll import Enrolment
from placet.cli.parser import parse
from placet.domain.errors import StoreUnavailable
from tests.unit.cli.conftest import Full, Type, over

CREDENTIAL = r"plc_default_[a-z0-9]{12}_[A-Za-z0-9_-]{43}"


pytestmark = pytest.mark.usefixtures("store")


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
            "groups": [],
            "max_risk": None,
            "ended": [],
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

    def test_owners_come_one_by_one_or_with_commas(self, cli: Type) -> None:
        """As other lists do: two people in one would bar neither from approving."""
        argv = [
            "clients",
            "create",
            "shop",
            "--scopes",
            "request",
            "--owner",
            "a,b",
            "c",
            "--owner",
            "d",
            "--json",
        ]
        assert cli(*argv).json()["owners"] == ["a", "b", "c", "d"]

    def test_list_has_them_in_order_without_secrets(self, cli: Type) -> None:
        """No hash is shown."""
        for name in ("zeta", "alpha"):
            cli("clients", "create", name, "--scopes", "request", "--capabilities", "orders.*")
        assert [row[0] for row in listed(cli, "clients")[1:]] == ["alpha", "zeta"]
        items = cli("clients", "list", "--json").json()["items"]
        assert [item["client"] for item in items] == ["alpha", "zeta"]
        assert set(items[0]["keys"][0]) == {"key", "created_at_ms"}

    def test_list_says_what_each_may_do(self, cli: Type) -> None:
        """Patterns bound who asks; people and a risk bound who decides; the others do neither."""
        cli("clients", "create", "any", "--scopes", "request,consume", "--owner", "olga", "pia")
        cli("clients", "create", "bound", "--scopes", "request", "--capabilities", "orders.*,mail.send")
        cli(
            "clients",
            "create",
            "chat",
            "--scopes",
            "decide_as,read",
            "--people",
            "ann,bob",
            "--max-risk",
            "high",
        )
        cli("clients", "create", "runner", "--scopes", "consume", "--capabilities", "orders.*")
        head, *rows = listed(cli, "clients")
        assert head == ["CLIENT", "SCOPES", "MAY", "MAX RISK", "OWNERS", "LIVE KEYS (AGE)"]
        assert [row[:5] for row in rows] == [
            ["any", "consume, request", "ask for anything", "-", "olga, pia"],
            ["bound", "request", "ask for orders.*, mail.send", "-", "-"],
            ["chat", "decide_as, read", "decide for ann, bob", "high", "-"],
            ["runner", "consume", "neither ask nor decide", "-", "-"],
        ]

    def test_a_list_that_is_piped_on_is_whole(self, cli: Type) -> None:
        """However long its lines get."""
        people = [f"person-{n}@example.com" for n in range(40)]
        argv = ["clients", "create", "chat", "--scopes", "decide_as", "--max-risk", "low"]
        cli(*argv, "--people", ",".join(people))
        assert listed(cli, "clients")[1][2] == f"decide for {', '.join(people)}"

    def test_a_list_on_a_terminal_loses_nothing(self, cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
        """It keeps to the width, wraps what is long, and shows every scope, person and key."""
        monkeypatch.setenv("COLUMNS", "80")
        scopes, people = "read,read_input,decide_as,admin", "ann@example.com,bob@example.com"
        argv = ["clients", "create", "chat", "--scopes", scopes, "--people", people, "--max-risk", "medium"]
        key = cli(*argv, "--json").json()["key"]
        out = cli("clients", "list", terminal=True).out
        assert max(map(len, out.splitlines())) <= 80
        words = set(out.replace(",", " ").split())
        assert {"chat", "medium", key, *scopes.split(","), *people.split(",")} <= words

    def test_an_empty_list_says_how_to_begin(self, cli: Type) -> None:
        """With the command to type."""
        assert "placet clients create NAME --scopes request,consume" in cli("clients", "list").out

    def test_rotate_leaves_the_one_before_alive(self, cli: Type) -> None:
        """And says which keys are live now, and until when."""
        first = cli("clients", "create", "shop", "--scopes", "request", "--json").json()
        out = cli("clients", "rotate", "shop").out
        _, second = (each["key"] for each in cli("clients", "list", "--json").json()["items"][0]["keys"])
        revoke = f"`placet clients revoke shop --key {first['key']}`"
        assert out.splitlines()[-3:] == [
            "  Live now:",
            f"    {second}  this one",
            f"    {first['key']}  until the next rotation, or {revoke}",
        ]

    def test_a_second_rotate_says_which_key_died_of_it(self, cli: Type) -> None:
        """The oldest; whoever still has it in use must hear of that."""
        first = cli("clients", "create", "shop", "--scopes", "request", "--json").json()
        second = cli("clients", "rotate", "shop", "--json").json()
        assert [each["key"] for each in second["keys"]] == [first["key"], second["key"]]
        assert second["ended"] == []
        third = cli("clients", "rotate", "shop", "--json").json()
        assert [each["key"] for each in third["keys"]] == [second["key"], third["key"]]
        assert third["ended"] == [first["key"]]
        last = cli("clients", "rotate", "shop").out.splitlines()[-1]
        assert (
            last == f"! Key {second['key']}, the oldest, died of this: whoever still presents it is refused."
        )

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
        assert cli("clients", "revoke", "shop").out == (
            "✓ Client shop is revoked, everywhere and at once.\n"
            "  The name stays taken; `placet clients rotate shop` brings it back.\n"
        )
        assert cli("clients", "list", "--json").json()["items"] == []


def listed(cli: Type, kind: str) -> list[list[str]]:
    """The cells of a list, heads first."""
    return [re.split(" {2,}", line) for line in cli(kind, "list").out.splitlines()]


def typed(said: str) -> list[list[str]]:
    """The commands that a text names."""
    return [shlex.split(command)[1:] for command in re.findall("`(placet .+?)`", said)]


class TestUnwritten:
    """A credential that could not be printed."""

    @pytest.mark.parametrize("argv", [[], ["--json"]])
    def test_its_maker_is_told_what_to_do(self, cli: Type, argv: list[str]) -> None:
        """It exists; the commands that are named bring another, and nothing secret is said."""
        ran = cli("clients", "create", "shop", "--scopes", "request", "--tenant", "blue", *argv, out=Full())
        (client,) = cli("clients", "list", "--tenant", "blue", "--json").json()["items"]
        lost = client["keys"][0]["key"]
        assert ran.status == 4
        assert ran.err == (
            f"✗ The output could not be written (No space left on device). The credential {lost} of client "
            f"shop exists, but was not shown: take it back with `placet clients revoke shop --tenant blue "
            f"--key {lost}`, then make another with `placet clients rotate shop --tenant blue`.\n"
        )
        assert [cli(*command).status for command in typed(ran.err)] == [0, 0]
        (client,) = cli("clients", "list", "--tenant", "blue", "--json").json()["items"]
        assert len(client["keys"]) == 1
        assert client["keys"][0]["key"] != lost

    def test_a_reader_that_has_gone_is_no_reason_for_silence(self, cli: Type) -> None:
        """The status is the usual one."""
        ran = cli("approvers", "create", "ann", out=Full(errno.EPIPE))
        assert ran.status == 141
        assert "approver ann exists, but was not shown" in ran.said

    def test_what_to_do_kills_no_key_in_use(self, cli: Type) -> None:
        """After a rotation that was not shown, one more alone would push out the one that is deployed."""
        first = cli("clients", "create", "shop", "--scopes", "request", "--json").json()["key"]
        ran = cli("clients", "rotate", "shop", out=Full())
        assert [cli(*command).status for command in typed(ran.err)] == [0, 0]
        keys = cli("clients", "list", "--json").json()["items"][0]["keys"]
        assert [len(keys), keys[0]["key"]] == [2, first]

    def test_a_key_that_died_of_it_is_told_all_the_same(self, cli: Type) -> None:
        """It is as dead as if that had been read."""
        first = cli("clients", "create", "shop", "--scopes", "request", "--json").json()["key"]
        cli("clients", "rotate", "shop")
        ran = cli("clients", "rotate", "shop", out=Full())
        assert f"Key {first}, the oldest, died of this" in ran.said

    def test_a_revocation_that_can_not_be_told_holds(self, cli: Type) -> None:
        """And that is told."""
        cli("clients", "create", "shop", "--scopes", "request")
        ran = cli("clients", "revoke", "shop", out=Full())
        assert (ran.status, ran.said.endswith("Client shop is revoked all the same.")) == (4, True)
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


class TestAStoreThatDoesNotConfirm:
    """What was to be done may have been done."""

    @pytest.fixture(autouse=True)
    def unconfirmed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """No use case hears of its end."""

        async def lost(*_: Any) -> Any:
            raise StoreUnavailable

        for verb in ("create", "rotate", "revoke", "all"):
            monkeypatch.setattr(Enrolment, verb, lost)

    @pytest.mark.parametrize(
        ("argv", "said"),
        [
            (
                ["clients", "create", "shop", "--scopes", "request"],
                "says whether the client was made. If so, ",
            ),
            (["approvers", "create", "a b"], "`placet approvers rotate 'a b'` gives it a credential"),
            (
                ["clients", "create", "x", "--scopes", "read", "--tenant", "t"],
                "`placet clients list --tenant t`",
            ),
            (["clients", "rotate", "shop"], "`placet clients list` shows its live keys."),
            (["clients", "revoke", "shop"], "Run the command again: that is safe."),
            (["approvers", "list"], "Run the command again: that is safe."),
        ],
    )
    def test_it_is_said_how_to_find_out(self, cli: Type, argv: list[str], said: str) -> None:
        """In commands: on a command line there are no idempotency keys."""
        ran = cli(*argv)
        assert (ran.status, ran.out) == (3, "")
        assert ran.said.startswith("✗ STORE_UNAVAILABLE: ")
        assert said in ran.said
        assert "idempotency" not in ran.said


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
        cli("approvers", "create", "ann", "--name", "Ann Lee", "--groups", "ops,finance")
        cli("approvers", "create", "bob")
        head, *rows = listed(cli, "approvers")
        assert head == ["APPROVER", "NAME", "GROUPS", "LIVE KEYS (AGE)"]
        assert [row[:3] for row in rows] == [["ann", "Ann Lee", "ops, finance"], ["bob", "-", "-"]]
        assert len(cli("approvers", "rotate", "ann", "--json").json()["keys"]) == 2
        assert cli("approvers", "revoke", "ann", "--json").json()["approver"] == "ann"
        cli("approvers", "revoke", "bob")
        said = "No approver in tenant default has a live credential. Make one: placet approvers create ID\n"
        assert cli("approvers", "list").out == said

    def test_there_is_nothing_open_to_cancel(self) -> None:
        """Approvers ask for nothing."""
        assert parse(["approvers", "revoke", "ann"]).cancel_open is False
