"""Names in credentials, held against the directory that is in force or named."""

import asyncio
from pathlib import Path

import pytest
from fakeredis import FakeServer

from placet.application.rulebooks import Rulebooks
from placet.cli import rule_findings
from placet.store.connection import Finding
from placet.store.keys import principals
from placet.store.registry import Registry
from tests.rulefiles import DIRECTORY, Files
from tests.unit.cli.conftest import Type, over

AMONG = "Where it takes more than one person, only those of the directory count."


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """The operator's: ann, who goes by ann@example.com too, bob, cy and dana."""
    return Files(tmp_path)


def in_force(store: FakeServer, files: Files, tmp_path: Path) -> None:
    """Put them in force."""

    async def start() -> None:
        async with over(store, tmp_path, rules=files.source):
            pass

    asyncio.run(start())


@pytest.mark.usefixtures("store")
class TestApprovers:
    """``placet approvers create``."""

    @pytest.mark.parametrize("name", ["ann@example.com", "Ann", "ANN@example.com"])
    def test_an_alias_gets_no_credential(self, cli: Type, files: Files, name: str) -> None:
        """It would have none of the person's rights; the id that has them is told."""
        ran = cli("approvers", "create", name, "--directory", str(files.directory))
        assert (ran.status, ran.out) == (1, "")
        assert f"The directory calls {name} 'ann', and only that id has their rights" in ran.said
        assert "`placet approvers create ann`" in ran.said
        assert cli("approvers", "list", "--json").json()["items"] == []

    def test_whom_it_knows_gets_one_without_a_word(self, cli: Type, files: Files) -> None:
        """The variable names the file as well."""
        ran = cli("approvers", "create", "ann", environ={"PLACET_DIRECTORY_FILE": str(files.directory)})
        assert (ran.status, ran.err) == (0, "")

    @pytest.mark.parametrize(("name", "near"), [("an", "; did you mean 'ann'?"), ("zoe", ".")])
    def test_whom_it_does_not_know_gets_one_and_a_warning(
        self, cli: Type, files: Files, name: str, near: str
    ) -> None:
        """Somebody may decide alone without being in it; a slip is likelier."""
        ran = cli("approvers", "create", name, "--directory", str(files.directory))
        assert (ran.status, "PLACET_TOKEN=" in ran.out) == (0, True)
        assert ran.said == f"! {name!r} is not in the directory{near} {AMONG}"

    def test_nobody_of_another_tenant_is_meant(self, cli: Type, files: Files) -> None:
        """A person belongs to one."""
        argv = ["approvers", "create", "ann@example.com", "--tenant", "blue"]
        ran = cli(*argv, "--directory", str(files.directory))
        assert (ran.status, "is not in the directory." in ran.said) == (0, True)

    def test_a_wrong_file_is_told_first(self, cli: Type, files: Files) -> None:
        """And nobody is made."""
        files.write(directory=DIRECTORY + "x = 1\n")
        ran = cli("approvers", "create", "ann", "--directory", str(files.directory))
        assert (ran.status, "directory.toml:" in ran.said) == (2, True)


class TestInForce:
    """A directory that a service has put in force."""

    def test_that_nobody_could_look_is_said(
        self, cli: Type, store: FakeServer, files: Files, tmp_path: Path
    ) -> None:
        """The store knows the file by its hash alone."""
        in_force(store, files, tmp_path)
        ran = cli("approvers", "create", "ann@example.com")
        assert ran.status == 0
        assert "and not named here, so nobody has looked whether it knows ann@example.com" in ran.said
        assert ran.said.endswith("name it with --directory or PLACET_DIRECTORY_FILE.")
        assert cli("clients", "create", "bare", "--scopes", "request").err == ""
        ran = cli("clients", "create", "shop", "--scopes", "request", "--owner", "tomm")
        assert "whether it knows tomm" in ran.said

    def test_another_one_than_is_named_is_told(
        self, cli: Type, store: FakeServer, files: Files, tmp_path: Path
    ) -> None:
        """What is looked into is what is named."""
        in_force(store, files, tmp_path)
        argv = ["--directory", str(files.directory)]
        assert cli("approvers", "create", "ann", *argv).err == ""
        files.write(directory=DIRECTORY + "# newer\n")
        ran = cli("approvers", "create", "bob", *argv)
        assert (ran.status, "is not the one that is named here." in ran.said) == (0, True)

    def test_a_store_that_somebody_else_wrote_makes_nobody(
        self, cli: Type, store: FakeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What it says of the rules in force is worth nothing."""

        async def generation(_: Registry) -> bytes:
            return b"{}"

        monkeypatch.setattr(Registry, "generation", generation)
        ran = cli("approvers", "create", "ann")
        assert (ran.status, "something other than Placet wrote it" in ran.said) == (1, True)


@pytest.mark.usefixtures("store")
class TestClients:
    """``placet clients create``."""

    def test_an_owner_whom_nobody_knows_is_told(self, cli: Type, files: Files) -> None:
        """With whoever is near; an alias of a person's will do, for it only takes away."""
        argv = ["clients", "create", "shop", "--scopes", "request", "--directory", str(files.directory)]
        ran = cli(*argv, "--owner", "bobb", "ANN@example.com", "nobody")
        assert (ran.status, "PLACET_TOKEN=" in ran.out) == (0, True)
        assert ran.err.splitlines() == [
            "! The owner 'bobb' is not in the directory; did you mean 'bob'?",
            "! The owner 'nobody' is not in the directory.",
        ]

    def test_whom_a_bridge_can_not_speak_for_is_told(self, cli: Type, files: Files) -> None:
        """People by their ids, and groups that somebody is in: of the directory, or by their credential."""
        cli("approvers", "create", "zoe", "--groups", "guests")
        argv = ["clients", "create", "chat", "--scopes", "decide_as", "--max-risk", "high"]
        argv += ["--people", "bob,ann@example.com,dan", "--groups", "treasury,tresury,guests"]
        ran = cli(*argv, "--directory", str(files.directory))
        assert ran.status == 0
        assert ran.err.splitlines() == [
            "! 'ann@example.com' is only an alias of 'ann', and decides nothing in that name: use the id.",
            "! The person 'dan' is not in the directory; did you mean 'dana'?",
            "! Nobody in the directory is in the group 'tresury'; did you mean 'treasury'?",
        ]


class TestDoctor:
    """What ``placet doctor`` finds of names."""

    async def test_every_tenant_is_looked_at(
        self, store: FakeServer, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Credentials of aliases, owners and people whom nobody knows; a spoilt roll is told."""
        async with over(store, tmp_path, rules=files.source) as h:
            await h.approver("ann")
            await h.approver("ann@example.com")
            await h.client("shop", "request", owners=("tomm",))
            await h.client("other", "request", owners=("bob",), tenant="blue")
            found: list[Finding] = []
            await rule_findings.names(h.services, files.rulebook, found)
            await rule_findings.names(h.services, Rulebooks(files.source).own, found)  # no files, no words
            assert {each.level.value for each in found} == {"warn"}
            other, alias, shop = [each.text for each in found]
            assert other == "Client other of tenant blue: the owner 'bob' is not in the directory."
            assert alias.startswith(
                "Approver 'ann@example.com' is only an alias of 'ann': the credential has"
            )
            assert shop == "Client shop: the owner 'tomm' is not in the directory."
            await h.redis.hset(principals("default"), "client:shop", b"forged")
            found.clear()
            await rule_findings.names(h.services, files.rulebook, found)
            assert [each.level.value for each in found] == ["warn", "fail"]
