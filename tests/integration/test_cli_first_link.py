"""A link to their inbox for whoever starts the service at a terminal, where it can only be theirs."""

import getpass
import queue
import re
from pathlib import Path

import httpx
import pytest

from placet.cli import announce
from placet.cli.first_link import Link, first_link
from placet.cli.running import Running
from tests.rulefiles import Files
from tests.serving import Said, served
from tests.unit.cli.conftest import Type, cli  # noqa: F401 - the fixture types a command line

pytestmark = [pytest.mark.real, pytest.mark.usefixtures("data_dir", "logging_as_before")]

LINK = re.compile(r"http://127\.0\.0\.1:[0-9]+/signin#(default\.[A-Za-z0-9_-]{43})")


def test_whoever_starts_it_first_becomes_an_approver(
    data_dir: Path,
    cli: Type,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Named as the machine names them; a second start makes nobody, and another link."""
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    first = served(data_dir, lambda said: None, terminal=True).said
    assert LINK.search(first)
    assert (
        "You are an approver now, called ada. This link opens your inbox; it works once, within 5m:" in first
    )
    assert f"Another link: placet signin ada --data-dir {data_dir}" in first
    listed = cli("approvers", "list", "--data-dir", str(data_dir), "--json").json()
    assert [each["approver"] for each in listed["items"]] == ["ada"]
    second = served(data_dir, lambda said: None, terminal=True).said
    assert "This link opens the inbox of ada; it works once, within 5m:" in second
    assert LINK.findall(first) != LINK.findall(second)


@pytest.mark.parametrize("name", ["", "a\u202eb", None])
def test_a_name_that_can_not_be_one(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    """Is not used."""

    def user() -> str:
        if name is None:
            raise KeyError
        return name

    monkeypatch.setattr(getpass, "getuser", user)
    assert "now, called owner. This link" in served(data_dir, lambda said: None, terminal=True).said


def test_it_is_not_told_where_it_could_be_another_s(
    data_dir: Path,
    cli: Type,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Of several people nobody can tell who it is; without a terminal nobody is; files say who is who."""
    where = ("--data-dir", str(data_dir))
    assert "/signin#" not in served(data_dir, lambda said: None).said
    for name in ("ann", "bob"):
        cli("approvers", "create", name, *where)
    shown = served(data_dir, lambda said: None, terminal=True).said
    assert "/signin#" not in shown
    assert "/inbox. This prints a link that signs one of them in: placet signin ID --data-dir" in shown
    elsewhere = tmp_path / "other"
    files = Files(tmp_path)
    with_files = ("--policy", str(files.policy), "--directory", str(files.directory))
    shown = served(elsewhere, lambda said: None, *with_files, terminal=True).said
    assert "/signin#" not in shown
    assert f"placet signin ID {' '.join(with_files)} --data-dir {elsewhere}" in shown


def test_the_link_works_once(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the terminal to the inbox."""
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    made: queue.Queue[Link | None] = queue.Queue()

    async def noted(service: Running) -> Link | None:
        made.put(link := await first_link(service))
        return link

    monkeypatch.setattr(announce, "first_link", noted)
    found: list[tuple[int, str]] = []

    def act(serving: Said) -> None:
        link = made.get(timeout=30)
        assert link is not None
        secret = link.url.partition("#")[2]
        with httpx.Client(base_url=serving["url"], trust_env=False) as browser:
            browser.headers["origin"] = serving["url"]
            for _ in range(2):
                answer = browser.post("/signin", data={"secret": secret})
                found.append((answer.status_code, answer.headers.get("location", "")))
            assert "Nothing awaits you." in browser.get("/inbox").text

    served(data_dir, act, terminal=True)
    assert found == [(303, "/inbox"), (401, "")]
