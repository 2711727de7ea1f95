"""What a service says when it is ready, seen without one."""

import logging
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from placet.cli.announce import announce
from placet.cli.console import Console
from placet.cli.context import Context
from placet.domain.errors import StoreUnavailable
from placet.domain.people import Issuer, People, SignIn
from placet.settings import ServerSettings, Settings, StoreSettings, load
from placet.settings.secret import Secret
from placet.store.connection import Finding, Level
from tests.rulefiles import Files
from tests.unit.cli.conftest import Screen

BEST_EFFORT = Finding(level=Level.WARN, subject="durability", text="Answers may be lost in a crash.")
EXTERNAL = Settings(
    store=StoreSettings(data_dir=Path("/unused"), redis_url=Secret("redis://user:hunter2@store.example/0"))
)


class Registry:
    """Knows tenants, or can't be asked."""

    def __init__(self, tenants: Sequence[str] | None) -> None:
        self._tenants = tenants

    async def tenants(self) -> Sequence[str]:
        """The tenants."""
        if self._tenants is None:
            raise StoreUnavailable
        return self._tenants


class Enrolment:
    """Makes anybody an approver."""

    async def create(self, _principal: object) -> None:
        """Whoever started the service."""


class Sessions:
    """Makes links."""

    async def offer(self, tenant: str, person: str) -> str:
        """For one person."""
        return f"{tenant}.{person}"


class Snapshots:
    """Says who has a credential, and who signs people in."""

    def __init__(self, *approvers: str, sign_ins: Sequence[Issuer] = ()) -> None:
        self._approvers = approvers
        self.sign_ins = sign_ins

    async def snapshot(self, _tenant: str) -> Any:
        """Of any tenant."""
        authority = SimpleNamespace(approvers=self._approvers, people=People())
        return SimpleNamespace(approvers=self._approvers, clients={}, authority=authority)


def a_service(
    settings: Settings,
    *findings: Finding,
    tenants: Sequence[str] | None = (),
    sign_ins: Sequence[Issuer] = (),
) -> Any:
    """A service that answers, as far as it is looked at."""
    store = SimpleNamespace(findings=findings, registry=Registry(tenants))
    services = SimpleNamespace(
        store=store, enrolment=Enrolment(), sessions=Sessions(), directory=Snapshots(sign_ins=sign_ins)
    )
    return SimpleNamespace(settings=settings, services=services, metrics_url="http://127.0.0.1:9420/metrics")


async def banner(settings: Settings, *findings: Finding, **more: Any) -> str:
    """What stands on the screen of a person without a home directory."""
    err = Screen(terminal=True)
    console = Console(Screen(terminal=False), err, {"NO_COLOR": "1"})
    context = Context(console=console, environ={}, stdin=Screen(terminal=False))
    await announce(a_service(settings, *findings, **more), context)
    return err.getvalue()


async def test_an_external_store_is_named_without_its_credentials() -> None:
    """Host and port, and what was found of it; what is amiss is said again."""
    shown = await banner(
        EXTERNAL, Finding(level=Level.GOOD, subject="version", text="redis 7.0.15"), BEST_EFFORT
    )
    assert "  Store       redis 7.0.15 at store.example:6379. Answers may be lost in a crash.\n" in shown
    assert "! Answers may be lost in a crash.\n" in shown
    assert "hunter2" not in shown
    assert "  Data " not in shown


async def test_people_are_told_where_they_sign_in() -> None:
    """Where issuers let them in nobody gets a link, and it is said where they begin."""
    issuers = [
        Issuer(iss="https://x", tenant="default", sign_in=SignIn(name=name, client_id="c", label=label))
        for name, label in (("b", "B login"), ("a", "A login"))
    ]
    shown = await banner(load({"HOME": "/home/x"}), sign_ins=issuers)
    inbox, uris = "http://127.0.0.1:8420/inbox", "http://127.0.0.1:8420/signin/"
    assert f"Approvers sign in with A login or B login:\n    {inbox}\n" in shown
    assert f"The redirect URIs to register there:\n    {uris}b\n    {uris}a\n" in shown
    assert "placet signin" not in shown


async def test_a_link_is_no_way_in_from_elsewhere() -> None:
    """Then it is said what is missing; on this machine, over another store, what to type."""
    environ = {"PLACET_PUBLIC_URL": "https://placet.example", "HOME": "/home/x"}
    shown = " ".join((await banner(load(environ))).split())
    assert "Approvers' inbox: https://placet.example/inbox. Nobody can sign in there yet:" in shown
    assert "placet signin" not in shown
    shown = " ".join((await banner(EXTERNAL)).split())
    assert "signs one of them in, with the same PLACET_ variables: placet signin ID Ctrl-C" in shown


async def test_replicas_are_part_of_what_it_keeps_its_word_with() -> None:
    """Beside the disk."""
    shown = await banner(
        EXTERNAL,
        Finding(level=Level.GOOD, subject="durability", text="On disk."),
        Finding(level=Level.GOOD, subject="replication", text="On 1 replica first; 1 follows."),
    )
    assert "at store.example:6379. On disk. On 1 replica first; 1 follows.\n" in shown


async def test_addresses_can_be_copied_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """However narrow the terminal."""
    monkeypatch.setenv("COLUMNS", "30")
    url = "https://approvals.internal.example.com:8443"
    settings = Settings(store=StoreSettings(data_dir=Path("/d" * 40)), server=ServerSettings(public_url=url))
    lines = (await banner(settings)).splitlines()
    assert f"  API         {url}" in lines
    assert f"  Data        {'/d' * 40}" in lines


async def test_a_socket_is_named_by_its_path() -> None:
    """A version that is not known is said to be that."""
    store = StoreSettings(data_dir=Path("/unused"), redis_url=Secret("unix:///run/valkey.sock"))
    assert "an unknown version at /run/valkey.sock." in await banner(Settings(store=store))


async def test_newcomers_on_an_external_store_need_the_same_variables() -> None:
    """There is no directory to name."""
    shown = await banner(EXTERNAL)
    assert "with the same PLACET_ variables:" in shown
    assert "--data-dir" not in shown


async def test_a_store_that_can_not_be_asked_does_not_end_the_service() -> None:
    """It has answered when it was opened; the hint is left out."""
    assert "placet demo" not in await banner(EXTERNAL, tenants=None)


async def test_a_public_address_is_told_beside_the_one_that_is_listened_on() -> None:
    """In production there is no reference page to point to."""
    environ = {"PLACET_HOST": "192.0.2.7", "PLACET_TRUSTED_PROXIES": "192.0.2.1", "HOME": "/home/x"}
    settings = load({**environ, "PLACET_PUBLIC_URL": "https://placet.example"})
    shown = await banner(settings)
    assert "  API         https://placet.example\n  Listens on  192.0.2.7 port 8420\n" in shown
    assert "Reference" not in shown


async def test_the_usual_directory_needs_no_option() -> None:
    """The commands find it by themselves."""
    err = Screen(terminal=True)
    console = Console(Screen(terminal=False), err, {"NO_COLOR": "1"})
    context = Context(console=console, environ={"HOME": "/home/x"}, stdin=Screen(terminal=False))
    await announce(a_service(load({"HOME": "/home/x"})), context)
    assert "    placet demo  " in err.getvalue()
    assert "--data-dir" not in err.getvalue()


async def hint(files: Files, *approvers: str) -> str:
    """What is typed next where a directory is in force, and these people have a credential."""
    err = Screen(terminal=True)
    console = Console(Screen(terminal=False), err, {"NO_COLOR": "1"})
    context = Context(console=console, environ={"HOME": "/home/x"}, stdin=Screen(terminal=False))
    settings = load({"HOME": "/home/x", "PLACET_DIRECTORY_FILE": str(files.directory)})
    service = a_service(settings, tenants=("default",))
    service.services.directory = Snapshots(*approvers)
    await announce(service, context)
    return next(" ".join(line.split()) for line in err.getvalue().splitlines() if "approvers create" in line)


@pytest.mark.parametrize(
    ("approvers", "typed"),
    [
        ((), "approvers create ann # and one for Ann Marsh"),
        (("ann",), "approvers create bob # and one for bob"),
        (
            ("ann", "bob", "cy", "dana"),
            "approvers create ID # and one for an id",
        ),
    ],
)
async def test_a_person_of_the_directory_comes_first(
    tmp_path: Path, approvers: tuple[str, ...], typed: str
) -> None:
    """Who has no credential yet; anybody else's would be worth little."""
    assert typed in await hint(Files(tmp_path), *approvers)


async def test_a_person_of_another_tenant_is_named_with_it(tmp_path: Path) -> None:
    """And a file that has become faulty since is no reason to end."""
    files = Files(tmp_path, None, '[[people]]\nid = "li wei"\ntenant = "blue"\n')
    assert "approvers create 'li wei' --tenant blue" in await hint(files)
    files.write(None, "x")
    assert "approvers create ID" in await hint(files)


async def test_a_log_gets_it_as_members(caplog: pytest.LogCaptureFixture) -> None:
    """Without a terminal."""
    caplog.set_level(logging.INFO)
    console = Console(Screen(terminal=False), Screen(terminal=False), {})
    context = Context(console=console, environ={}, stdin=Screen(terminal=False))
    settings = Settings(store=StoreSettings(data_dir=Path("/data")), server=ServerSettings(port=1))
    await announce(a_service(settings, tenants=None), context)
    [line] = [record for record in caplog.records if record.message == "serving"]
    assert (vars(line)["data_dir"], vars(line)["port"]) == ("/data", 1)
