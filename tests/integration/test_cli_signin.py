"""``placet signin``: a link for the browser of whoever runs the service. ``placet signout``: an end to it."""

from pathlib import Path

import httpx
import pytest

from tests.rulefiles import DIRECTORY, Files
from tests.serving import Said, served
from tests.unit.cli.conftest import Ran, Type, cli  # noqa: F401 - the fixture types a command line

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("data_dir", "logging_as_before")]


def test_a_link_leads_to_the_inbox(data_dir: Path, cli: Type) -> None:  # noqa: F811
    """Of the service that runs, whatever its port; its secret is behind the mark that no browser sends."""
    where = ("--data-dir", str(data_dir))
    said: dict[str, str] = {}

    def act(serving: Said) -> None:
        cli("approvers", "create", "ann", *where)
        said["link"] = cli("signin", "ann", *where, "--json").json()["url"]
        said["shown"] = cli("signin", "ann", *where).out
        nobody = cli("signin", "zoe", *where)
        said["nobody"] = f"{nobody.status} {nobody.said}"
        page, _, secret = said["link"].partition("#")
        assert page == f"{serving['url']}/signin"
        with httpx.Client(base_url=serving["url"], trust_env=False) as http:
            http.headers["origin"] = serving["url"]
            response = http.post("/signin", data={"secret": secret})
            assert (response.status_code, response.headers["location"]) == (303, "/inbox")
            assert "Nothing awaits you." in http.get("/inbox").text

            ended = cli("signout", "ann", *where)
            assert http.get("/inbox").status_code == 303
            said["ended"] = ended.out
        typo = cli("signout", "zoe", *where, "--json")
        said["typo"] = f"{typo.status} {typo.json()} {typo.said}"

    served(data_dir, act)
    assert "✓ Whatever was open as ann is signed out" in said["ended"]
    assert said["typo"].startswith("0 {'person': 'zoe', 'tenant': 'default', 'known': False} ")
    assert "Nobody is called zoe here, as far as this command can tell" in said["typo"]
    assert said["shown"].startswith(said["link"].partition("#")[0] + "#default.")
    assert "It signs ann in, once, within 5m. Show it to nobody else." in said["shown"]
    assert said["nobody"].startswith("1 ")
    assert "Nobody is called zoe" in said["nobody"]


def test_it_is_for_this_machine_alone(data_dir: Path, cli: Type) -> None:  # noqa: F811
    """Where the pages are elsewhere people sign in otherwise; where there is no store, nobody does."""
    where = ("--data-dir", str(data_dir))
    missing = cli("signin", "ann", *where)
    assert missing.status == 3
    cli("approvers", "create", "ann", *where)
    ran = cli("signin", "ann", *where, environ={"PLACET_PUBLIC_URL": "https://placet.example"})
    assert ran.status == 2
    assert "on this machine alone, and the pages are at https://placet.example" in ran.said


def test_the_files_in_force_are_asked_for(data_dir: Path, cli: Type, tmp_path: Path) -> None:  # noqa: F811
    """Whether somebody may sign in stands in them: the command says which to name, and which is another."""
    where = ("--data-dir", str(data_dir))
    files = Files(tmp_path)
    policy, directory = ("--policy", str(files.policy)), ("--directory", str(files.directory))
    assert cli("approvers", "create", "ann", *where).status == 0
    early = cli("signin", "ann", *where, *policy)
    assert (early.status, "https" in early.out, "/signin#default." in early.out) == (0, False, True)
    ran: dict[str, Ran] = {}

    def act(serving: Said) -> None:
        ran["neither"] = cli("signin", "bob", *where)
        ran["one"] = cli("signin", "bob", *where, *policy)
        ran["both"] = cli("signin", "bob", *where, *policy, *directory, "--json")
        ran["variables"] = cli(
            "signin",
            "bob",
            *where,
            environ={"PLACET_POLICY_FILE": policy[1], "PLACET_DIRECTORY_FILE": directory[1]},
        )
        files.write(directory=DIRECTORY + "# another\n")
        ran["other"] = cli("signin", "bob", *where, *policy, *directory)
        files.write(directory="x")
        ran["broken"] = cli("signin", "bob", *where, *policy, *directory)

    served(data_dir, act, *policy, *directory)
    assert ran["neither"].status == ran["one"].status == ran["other"].status == ran["broken"].status == 2
    assert ran["neither"].said.startswith("✗ A policy file (")
    assert "name it with --policy or PLACET_POLICY_FILE. A directory file" in ran["neither"].said
    assert "policy file" not in ran["one"].said
    assert "and none is given here: name it with --directory or PLACET_DIRECTORY_FILE." in ran["one"].said
    assert "/signin#default." in ran["both"].json()["url"]
    assert ran["variables"].status == 0
    assert "The directory file here (" in ran["other"].said
    assert "is not the one in force (" in ran["other"].said
    assert "directory.toml:1:" in ran["broken"].said
    assert "STORE_UNAVAILABLE" not in "".join(each.said for each in ran.values())


def test_a_file_too_many_is_told(data_dir: Path, cli: Type, tmp_path: Path) -> None:  # noqa: F811
    """The command would judge by rules that nobody is judged by. A directory counts once there is anybody."""
    where, files, ran = ("--data-dir", str(data_dir)), Files(tmp_path), list[Ran]()
    policy, directory = ("--policy", str(files.policy)), ("--directory", str(files.directory))

    def act(_: Said) -> None:
        ran.append(cli("signin", "bob", *where, *directory))
        cli("approvers", "create", "ann", *where, *directory)
        ran.append(cli("signin", "bob", *where, *policy, *directory))
        ran.append(cli("signin", "bob", *where, *directory))

    served(data_dir, act, *directory)
    assert [each.status for each in ran] == [1, 2, 0]
    assert "Tenant default has no client and no approver yet" in ran[0].said
    too_many = "A policy file is given here, and none is in force: leave out --policy and PLACET_POLICY_FILE."
    assert ran[1].said == f"✗ {too_many}"


def test_signing_out_needs_no_files(data_dir: Path, cli: Type, tmp_path: Path) -> None:  # noqa: F811
    """By an id; only an alias takes the directory, and then that alone. What a client has open can go too."""
    where = ("--data-dir", str(data_dir))
    files = Files(tmp_path)
    policy, directory = ("--policy", str(files.policy)), ("--directory", str(files.directory))
    ran: dict[str, Ran] = {}
    seen: dict[str, int] = {}

    def act(serving: Said) -> None:
        def seen_after(called: str, *argv: str) -> None:
            link = cli("signin", "ann", *where, *policy, *directory, "--json").json()["url"]
            with httpx.Client(base_url=serving["url"], trust_env=False) as http:
                http.headers["origin"] = serving["url"]
                http.post("/signin", data={"secret": link.partition("#")[2]})
                assert http.get("/inbox").status_code == 200
                ran[called] = cli("signout", *argv, *where, "--json")
                seen[called] = http.get("/inbox").status_code

        assert cli("clients", "create", "shop", "--scopes", "request", *where).status == 0
        seen_after("id", "ann")
        seen_after("alias, blind", "ann@example.com")
        seen_after("alias", "ann@example.com", *directory)
        seen_after("nobody", "zoe", *directory)
        ran["revoked"] = cli("clients", "revoke", "shop", "--cancel-open", *where)

    served(data_dir, act, *policy, *directory)
    assert seen == {"id": 303, "alias, blind": 200, "alias": 303, "nobody": 200}
    assert [ran[each].json()["known"] for each in seen] == [None, None, True, False]
    assert {each.status for each in ran.values()} == {0}
    blind = "A directory is in force and not given here, so nobody has looked who ann@example.com is."
    assert blind in ran["alias, blind"].said
    assert ran["alias"].said == ""
    assert "Nobody is called zoe here" in ran["nobody"].said
