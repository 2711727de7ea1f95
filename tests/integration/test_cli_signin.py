"""``placet signin``: a link for the browser of whoever runs the service. ``placet signout``: an end to it."""

from pathlib import Path

import httpx
import pytest

from tests.serving import Said, served
from tests.unit.cli.conftest import Type, cli  # noqa: F401 - the fixture types a command line

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
