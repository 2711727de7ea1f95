"""What has not been told yet, listed and tried again by an operator."""

import asyncio
from pathlib import Path

import pytest
from fakeredis import FakeServer

from placet.application.dispatch import Job, Sent
from placet.cli import deliveries
from placet.domain.deliveries import HOPELESS, Failure, Undelivered
from placet.domain.delivery_docs import REMEDIES, remedy
from placet.domain.errors import StoreUnavailable
from placet.domain.principals import Endpoint
from placet.store.deliveries import Deliveries
from tests.unit.cli.conftest import Type, over


class Refusing:
    """A sender that fails: by the question, one way or another."""

    width = 8

    async def send(self, job: Job) -> Sent | None:
        """Fail."""
        raise Undelivered(Failure.REFUSED if job.approval.ask.id == "apr-bad" else Failure.TIMEOUT)


async def undelivered(store: FakeServer, directory: Path) -> None:
    """Two questions that an endpoint could not be told of: one has failed, one waits to be tried again."""
    async with over(store, directory) as harness:
        services = harness.services
        services.dispatcher._senders = {"webhook": Refusing()}
        for name in ("audit", "chat"):
            await services.enrolment.create(
                Endpoint(tenant="default", name=name, url="https://hooks.example/x")
            )
        shop = await harness.client("shop")
        await shop.asked(id="apr-bad")
        await shop.asked(id="apr-slow")
        while await services.spreader.once():
            pass
        await services.dispatcher.look()
        await services.dispatcher.drain()


@pytest.fixture
def some(store: FakeServer, tmp_path: Path) -> None:
    """Those are in the store."""
    asyncio.run(undelivered(store, tmp_path))


def listed(cli: Type, *argv: str) -> list[tuple[str, str, str, str]]:
    """What is listed, in short."""
    items = cli("deliveries", "list", *argv, "--json").json()["items"]
    return sorted((each["approval"], each["target"], each["state"], each["error"]) for each in items)


FAILED = [("apr-bad", f"webhook:{name}", "failed", "refused") for name in ("audit", "chat")]
WAITING = [("apr-slow", f"webhook:{name}", "queued", "timeout") for name in ("audit", "chat")]


@pytest.mark.usefixtures("some")
class TestList:
    """``placet deliveries list``."""

    def test_it_lists_what_has_failed_and_what_waits(self, cli: Type) -> None:
        """Or one of the two."""
        assert listed(cli) == FAILED + WAITING
        assert listed(cli, "--failed") == FAILED
        assert listed(cli, "--waiting") == WAITING
        assert cli("deliveries", "list", "--failed", "--waiting").status == 2

    def test_a_document_says_when(self, cli: Type) -> None:
        """When it was tried, and when it is again."""
        failed, *_, waiting = cli("deliveries", "list", "--json").json()["items"]
        assert (failed["at"], failed["due_at"]) == ("2027-01-15T08:00:00.000Z", None)
        assert (waiting["attempts"], waiting["due_at"] > waiting["at"]) == (1, True)

    def test_people_read_what_to_do(self, cli: Type) -> None:
        """Once for each way to fail."""
        lines = cli("deliveries", "list").out.splitlines()
        assert lines[0].split() == ["APPROVAL", "TARGET", "STATE", "TRIED", "WHY", "WHEN"]
        assert lines[1].split()[:5] == ["apr-bad", "webhook:chat", "failed", "1", "refused"]
        assert [line for line in lines if line.startswith("refused: ")] == [
            f"refused: {remedy(Failure.REFUSED)}"
        ]
        assert f"timeout: {remedy(Failure.TIMEOUT)}" in lines

    def test_it_says_where_there_may_be_more(self, cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
        """Lists have an end."""
        assert cli("deliveries", "list").err == ""
        monkeypatch.setattr(deliveries, "MOST", 1)
        ran = cli("deliveries", "list", "--json")
        assert (len(ran.json()["items"]), "there may be more" in ran.said) == (2, True)


@pytest.mark.usefixtures("some")
class TestRetry:
    """``placet deliveries retry``."""

    @pytest.mark.parametrize(
        ("argv", "tried"),
        [
            (["--all"], [(each, name) for each in ("apr-bad", "apr-slow") for name in ("audit", "chat")]),
            (["apr-slow"], [("apr-slow", "audit"), ("apr-slow", "chat")]),
            (["--target", "webhook:chat"], [("apr-bad", "chat"), ("apr-slow", "chat")]),
            (["apr-bad", "--target", "webhook:chat"], [("apr-bad", "chat")]),
        ],
    )
    def test_it_is_due_at_once(self, cli: Type, argv: list[str], tried: list[tuple[str, str]]) -> None:
        """What was meant, and nothing else."""
        told = cli("deliveries", "retry", *argv, "--json").json()["retried"]
        assert sorted((each["approval"], each["target"]) for each in told) == sorted(
            (approval, f"webhook:{name}") for approval, name in tried
        )
        items = cli("deliveries", "list", "--json").json()["items"]
        fresh = [(each["approval"], each["target"]) for each in items if each["error"] is None]
        assert sorted(fresh) == sorted((approval, f"webhook:{name}") for approval, name in tried)

    def test_a_person_is_told_how_many(self, cli: Type) -> None:
        """And which."""
        assert cli("deliveries", "retry", "apr-bad").out == (
            "✓ Due at once: 2. What comes of it, `placet deliveries list` says.\n"
            "    apr-bad  webhook:chat\n"
            "    apr-bad  webhook:audit\n"
        )

    def test_what_is_not_there_is_said(self, cli: Type) -> None:
        """And nothing is taken for everything."""
        ran = cli("deliveries", "retry")
        assert (ran.status, "--all takes all" in ran.said) == (2, True)
        ran = cli("deliveries", "retry", "apr-none")
        assert (ran.status, "`placet deliveries list` shows what does" in ran.said) == (1, True)

    def test_a_store_that_has_gone(self, cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is safe to run it again."""

        async def lost(*_: object, **__: object) -> None:
            raise StoreUnavailable

        monkeypatch.setattr(Deliveries, "failed", lost)
        ran = cli("deliveries", "retry", "--all")
        assert (ran.status, "Run the command again: that is safe." in ran.said) == (3, True)


@pytest.mark.usefixtures("store")
def test_where_all_is_told_it_says_so(cli: Type) -> None:
    """And ``--all`` of nothing is done."""
    cli("clients", "create", "shop", "--scopes", "request")
    assert cli("deliveries", "list").out == "All is told in tenant default.\n"
    assert cli("deliveries", "list", "--failed").out == "Nothing has failed in tenant default.\n"
    assert cli("deliveries", "list", "--waiting").out == "Nothing waits in tenant default.\n"
    assert cli("deliveries", "retry", "--all", "--json").json() == {"retried": []}


def test_every_failure_has_its_remedy() -> None:
    """The table is complete, and says what is tried again by itself."""
    assert set(REMEDIES) == set(Failure)
    given_up = {each for each in Failure if remedy(each).endswith(" It is not tried again by itself.")}
    assert given_up == HOPELESS
