"""``placet policy explain`` beside a store: what is in force there, and who has a credential."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeServer

from placet.store.registry import Registry
from tests.rulefiles import DIRECTORY, POLICY, Files
from tests.unit.cli.conftest import Type, over

REQUEST = {
    "capability": "orders.refund",
    "actor": {"id": "agent-7", "kind": "agent"},
    "effect": "write",
    "input": {"amount": 5},
}


@pytest.fixture
def files(tmp_path: Path, store: FakeServer) -> Files:
    """The operator's, in force in the store; ann has a credential, and so has her alias."""
    files = Files(tmp_path)

    async def start() -> None:
        async with over(store, tmp_path, rules=files.source) as h:
            await h.approver("ann")
            await h.approver("ann@example.com")
            await h.client("shop")

    asyncio.run(start())
    return files


def named(files: Files, *kinds: str) -> list[str]:
    """The options that name these files."""
    paths = {"policy": files.policy, "directory": files.directory}
    return [part for kind in kinds or paths for part in (f"--{kind}", str(paths[kind]))]


def explained(cli: Type, argv: list[str], **members: Any) -> tuple[int, list[str], str]:
    """The status, the lines, and what is said beside them."""
    ran = cli("policy", "explain", "-", *argv, typed=json.dumps({**REQUEST, **members}))
    return ran.status, ran.out.splitlines(), ran.said


@pytest.mark.parametrize(
    ("kinds", "missing"), [((), ["policy", "directory"]), (("policy",), ["directory"])], ids=str
)
def test_what_is_in_force_is_not_left_out_in_silence(
    cli: Type, files: Files, kinds: tuple[str, ...], missing: list[str]
) -> None:
    """It is said how to name it: by option or variable."""
    status, lines, said = explained(cli, named(files, *kinds) if kinds else [])
    assert (status, lines) == (2, [])
    for kind in ("policy", "directory"):
        wanted = f"name it with --{kind} or PLACET_{kind.upper()}_FILE." in said
        assert wanted is (kind in missing)


def test_other_files_than_those_in_force_are_explained_as_that(cli: Type, files: Files) -> None:
    """That is how one tries them."""
    assert "not those in force" not in explained(cli, named(files))[2]
    files.write(POLICY + "quorum = 2\n")
    status, _, said = explained(cli, named(files))
    assert status == 0
    assert "The files here are not those in force; this is what they would make of it." in said


def test_who_has_a_credential_is_told_from_who_needs_one(cli: Type, files: Files) -> None:
    """And an alias's is said to be that."""
    status, lines, _ = explained(cli, named(files))
    assert status == 0
    assert lines[lines.index("Who could approve it now:") :] == [
        "Who could approve it now:",
        "  Ann Marsh (ann): api, web",
        "Who could, with a credential:",
        "  bob: api, web",
        "  cy: api, web",
        "Who could not:",
        "  ann@example.com: an alias of 'ann', whose own credential counts",
        "  dana: not among the approvers",
    ]


def test_what_can_not_be_approved_yet_is_no_failure(cli: Type, files: Files) -> None:
    """Two more can get a credential."""
    files.write(POLICY + "quorum = 2\n")
    status, lines, _ = explained(cli, named(files))
    assert status == 0
    assert "! It can't be approved yet. It takes 2 people, and now only 1 could." in lines


def test_what_can_never_be_approved_is_a_failure(cli: Type, files: Files) -> None:
    """Whoever asks it would wait in vain."""
    files.write(POLICY + "quorum = 3\n")
    status, lines, _ = explained(cli, named(files), actor={"id": "bob", "kind": "user"})
    said = "It takes 3 people, and of those who may approve it only 2 are not on the asking side."
    assert (status, f"✗ It can't be approved. {said}" in lines) == (1, True)


def test_an_alias_under_the_built_in_rule_is_one_with_its_person(
    cli: Type, store: FakeServer, tmp_path: Path
) -> None:
    """It may decide there, and is not counted beside her."""
    cli("approvers", "create", "ann@example.com")
    _, lines, _ = explained(cli, named(Files(tmp_path), "directory"))
    assert "  ann@example.com: api, web (an alias of 'ann': they count once)" in lines


def test_whom_only_an_issuer_knows_is_told(cli: Type, store: FakeServer, tmp_path: Path) -> None:
    """By the groups that it would have to say."""
    issuer = '[issuers."https://login.example.com"]\naudience = "placet"\ngroups_claim = "groups"\n'
    files = Files(tmp_path, POLICY.replace(', people = ["ann", "bob"]', ""), issuer + DIRECTORY)
    _, lines, _ = explained(cli, named(files))
    assert "Whoever an issuer says is in treasury could, too." in lines


def test_a_client_that_is_not_there_is_told(cli: Type, files: Files) -> None:
    """It may be a slip."""
    assert "has no client shop" not in explained(cli, [*named(files), "--client", "shop"])[2]
    assert "Tenant default has no client shp." in explained(cli, [*named(files), "--client", "shp"])[2]


def test_a_store_that_can_not_be_believed_is_as_good_as_none(
    cli: Type, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is said, and everybody is taken to have a credential."""

    async def generation(_: Registry) -> bytes:
        return b"{}"

    monkeypatch.setattr(Registry, "generation", generation)
    status, lines, said = explained(cli, named(files))
    assert (status, "so credentials are taken to be there" in said) == (0, True)
    assert "  bob: api, web" in lines


def test_it_keeps_to_the_width_of_a_terminal(
    cli: Type, files: Files, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Parted between words; so is what ``check`` says."""
    monkeypatch.setenv("COLUMNS", "80")
    files.write(POLICY.replace('name = "all"', 'name = "all"\nclients = ["shop"]') + "quorum = 2\nx = 1\n")
    checked = cli("policy", "check", str(files.policy), terminal=True).out.splitlines()
    assert f"✗{files.policy}:8:Arulehasno'x'" in "".join("".join(checked).split())  # the path may be long
    files.write(POLICY + 'quorum = 2\nedit = "counts"\n')
    request = tmp_path / "request.json"
    members = {"allowed_decisions": ["approve", "edit", "reject"], "capability": "orders.refund" * 6}
    request.write_text(json.dumps({**REQUEST, **members}), encoding="utf-8")
    ran = cli("policy", "explain", str(request), *named(files), terminal=True, environ={"NO_COLOR": ""})
    assert "\x1b[1mall\x1b[0m" in ran.out
    plain = ran.out.replace("\x1b[1m", "").replace("\x1b[0m", "").splitlines()
    assert "  It can be approved with changes, which count as their author's approval; never" in plain
    assert "    as the only one where the call is destructive, external, or of high or" in plain
    assert max(map(len, plain)) <= 80
