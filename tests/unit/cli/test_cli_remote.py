"""The service as a command talks to it."""

import httpx
import pytest

from placet.cli import remote
from placet.cli.exits import Exit, Stop
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import Forbidden, InternalError, PlacetError
from tests.unit.cli.conftest import TOKEN, Type

NOTHING = httpx.Response(200, json={"items": [], "next_cursor": None})


def problem(error: PlacetError) -> httpx.Response:
    """The answer that tells of an error."""
    headers = {"content-type": "application/problem+json"}
    return httpx.Response(error.status, json=error.problem(), headers=headers)


class TestSession:
    """Which service, with which credential."""

    def test_url_and_token_come_from_the_environment(self, cli: Type) -> None:
        """The token travels in its header only."""
        seen: list[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append(request)
            return NOTHING

        ran = cli("approvals", "list", answer=answer, environ={"PLACET_URL": "https://placet.example:8443/"})
        assert ran.status == 0
        assert str(seen[0].url) == "https://placet.example:8443/v1/approvals?limit=50"
        assert seen[0].headers["authorization"] == f"Bearer {TOKEN}"

    def test_the_command_line_s_url_wins(self, cli: Type) -> None:
        """As every option does over its variable."""
        hosts: list[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            hosts.append(request.url.host)
            return NOTHING

        environ = {"PLACET_URL": "https://a.example"}
        cli("approvals", "list", "--url", "https://b.example", answer=answer, environ=environ)
        assert hosts == ["b.example"]

    @pytest.mark.parametrize("token", ["", "plc_ä", "plc_a\nb"])
    def test_without_a_usable_token_nothing_is_sent(self, cli: Type, token: str) -> None:
        """A header must not be broken by one, and none is refused here."""
        ran = cli("approvals", "list", environ={"PLACET_TOKEN": token})
        assert ran.status == Exit.USAGE
        assert "PLACET_TOKEN" in ran.said

    @pytest.mark.parametrize(
        "url", ["ftp://x", "placet.example", "http://u:p@x", "http://x/v1", "http://x:0"]
    )
    def test_what_is_no_url_is_refused(self, cli: Type, url: str) -> None:
        """In the words of the settings."""
        ran = cli("approvals", "list", environ={"PLACET_URL": url})
        assert ran.status == Exit.USAGE
        assert "PLACET_URL must be http:// or https://" in ran.said

    def test_an_open_line_is_warned_of(self, cli: Type) -> None:
        """A credential over http to another machine can be read on the way."""
        ran = cli(
            "approvals", "list", answer=lambda _: NOTHING, environ={"PLACET_URL": "http://placet.example"}
        )
        assert ran.status == 0
        assert "not encrypted" in ran.said

    @pytest.mark.parametrize(("url", "trusted"), [("http://127.0.0.1:1", False), ("http://x.example", True)])
    def test_proxies_are_for_other_machines(self, url: str, *, trusted: bool) -> None:
        """A proxy of the environment never gets a credential for this machine."""
        assert remote.network(url)["trust_env"] is trusted


class TestAnswers:
    """What comes back."""

    def test_a_refusal_is_its_class(self, cli: Type) -> None:
        """Told in the table's words, with status 1."""
        ran = cli("approvals", "list", answer=lambda _: problem(Forbidden(ForbiddenReason.SCOPE)))
        assert ran.status == Exit.FAILED
        assert ran.err.startswith("✗ FORBIDDEN: The credential in PLACET_TOKEN may not do this.")

    def test_a_fault_of_the_service_can_be_looked_up(self, cli: Type) -> None:
        """Its operator finds the request in the log."""
        headers = {"content-type": "application/problem+json", "x-request-id": "req-1"}
        told = httpx.Response(500, json=InternalError().problem(), headers=headers)
        ran = cli("approvals", "list", answer=lambda _: told)
        assert (ran.status, "- In that log it is the request req-1." in ran.said) == (Exit.FAILED, True)

    def test_a_url_that_was_typed_is_named_as_it_was_typed(self, cli: Type) -> None:
        """The option, not the variable behind it."""
        ran = cli("approvals", "list", "--url", "placet.example")
        assert (ran.status, ran.said.startswith("✗ --url must be http://")) == (Exit.USAGE, True)

    @pytest.mark.parametrize(
        "answer",
        [
            httpx.Response(200, text="hello"),
            httpx.Response(404, text="<html>"),
            httpx.Response(302, headers={"location": "https://elsewhere.example"}),
        ],
    )
    def test_what_is_not_placet_is_said_to_be_that(self, cli: Type, answer: httpx.Response) -> None:
        """No redirect is followed: the credential is for one place."""
        ran = cli("approvals", "list", answer=lambda _: answer)
        assert ran.status == Exit.UNREACHABLE
        assert "is not Placet" in ran.said

    def test_a_broken_problem_document_is_a_refusal_all_the_same(self, cli: Type) -> None:
        """With the code that stands for what is not known."""
        headers = {"content-type": "application/problem+json"}
        ran = cli("approvals", "list", answer=lambda _: httpx.Response(500, content=b"{", headers=headers))
        assert (ran.status, "UNKNOWN" in ran.said) == (Exit.FAILED, True)

    @pytest.mark.parametrize(
        ("fault", "said"),
        [(httpx.ConnectError("refused"), "start `placet serve`"), (httpx.ReadTimeout("slow"), "in time")],
    )
    def test_nobody_there_is_status_3(self, cli: Type, fault: httpx.HTTPError, said: str) -> None:
        """With what to do."""

        def answer(_: httpx.Request) -> httpx.Response:
            raise fault

        ran = cli("approvals", "list", answer=answer)
        assert ran.status == Exit.UNREACHABLE
        assert said in ran.said

    def test_an_answer_of_another_version_is_said_to_be_that(self, cli: Type) -> None:
        """What can't be read is no reason for a traceback."""
        ran = cli("approvals", "list", answer=lambda _: httpx.Response(200, json={"items": "x"}))
        assert ran.status == Exit.FAILED
        assert "can't be read" in ran.said

    @pytest.mark.parametrize("date", [None, "yesterday"])
    def test_an_answer_without_a_readable_date_has_no_time(self, date: str | None) -> None:
        """The clock of this machine is not asked instead."""
        answer = httpx.Response(200, json={}, headers={} if date is None else {"date": date})
        with remote.Remote("http://x", "t", transport=httpx.MockTransport(lambda _: answer)) as session:
            assert session.get("/").now_ms is None


def test_an_id_is_one_segment_of_the_path() -> None:
    """Whatever was typed, no other path is called with the credential."""
    assert remote.approval_path("../runs/x?y#z") == "/v1/approvals/..%2Fruns%2Fx%3Fy%23z"


def test_stop_has_a_status() -> None:
    """The usual one is failure."""
    assert Stop("x").status is Exit.FAILED
