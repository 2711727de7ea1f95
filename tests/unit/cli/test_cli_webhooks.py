"""Endpoints of events, made, tried and taken back by an operator; and what a bridge is shown."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from placet.application.enroll import Enrolment
from placet.channels.webhooks.signing import proved, secret_of
from placet.domain.errors import StoreUnavailable
from tests.factories import T0_MS
from tests.unit.cli.conftest import Full, Type

SECRET = r"whsec_[A-Za-z0-9+/]{43}="
URL = "https://hooks.example/placet"

pytestmark = pytest.mark.usefixtures("store")


class TestCreate:
    """``placet webhooks create``."""

    def test_it_prints_the_secret_once(self, cli: Type) -> None:
        """With all that the endpoint is; there is no token."""
        made = cli(
            *("webhooks", "create", "audit", URL, "--events", "approved,approval.rejected"),
            *("--capabilities", "orders.*", "--clients", "shop", "--by-rule", "--with-input", "--json"),
        ).json()
        assert re.fullmatch(SECRET, made.pop("signing_secret"))
        [key] = made.pop("keys")
        assert key["key"] == made.pop("key")
        assert made == {
            "webhook": "audit",
            "tenant": "default",
            "url": URL,
            "events": ["approved", "rejected"],
            "capabilities": ["orders.*"],
            "clients": ["shop"],
            "by_rule": True,
            "with_input": True,
            "ended": [],
        }

    def test_a_person_is_told_how_it_is_used(self, cli: Type) -> None:
        """By which standard; nothing is said of a credential."""
        ran = cli("webhooks", "create", "audit", URL)
        assert ran.status == 0
        assert ran.out.startswith("✓ Webhook audit made in tenant default.\n\n  Signing secret: whsec_")
        assert "Standard Webhooks (https://www.standardwebhooks.com)" in ran.out
        assert "PLACET_TOKEN" not in ran.out

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("http://192.0.2.9/", "neither public nor in a network that is allowed"),
            ("https://10.1.2.3/", "is allowed (PLACET_WEBHOOK_ALLOW, here as for the service)."),
            ("ftp://hooks.example/", "Its URL must begin with https://."),
            ("https://user:pw@hooks.example/", "must not have a user or a password in it"),
        ],
    )
    def test_a_url_that_can_not_be_is_refused(self, cli: Type, url: str, said: str) -> None:
        """At once, and nothing is made; a name is judged when something is sent."""
        ran = cli("webhooks", "create", "audit", url)
        assert (ran.status, ran.out, said in ran.said) == (1, "", True)
        assert cli("webhooks", "list", "--json").json() == {"items": []}

    def test_an_event_that_there_is_none_of_is_refused(
        self, cli: Type, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """With those there are; a refusal is in trails alone."""
        assert cli("webhooks", "create", "audit", URL, "--events", "refused").status == 2
        assert "'refused' is no event; there are requested, voted, edited" in capsys.readouterr().err

    def test_a_secret_that_was_not_shown_is_taken_back(self, cli: Type) -> None:
        """In words of its own."""
        ran = cli("webhooks", "create", "audit", URL, out=Full())
        assert ran.status == 4
        assert "The signing secret " in ran.said
        assert "`placet webhooks revoke audit --key " in ran.said
        assert "whsec_" not in ran.said


def test_list_rotate_and_revoke(cli: Type) -> None:
    """As for clients; the older secret lives on until the next rotation."""
    assert cli("webhooks", "list").out == (
        "No webhook in tenant default has a live signing secret. Make one: placet webhooks create NAME URL\n"
    )
    first = cli("webhooks", "create", "audit", URL, "--json").json()
    cli("webhooks", "create", "chat", URL, "--events", "reminded", "--clients", "shop", "--with-input")
    head, *rows = [re.split(" {2,}", line) for line in cli("webhooks", "list").out.splitlines()]
    assert head == ["WEBHOOK", "URL", "HEARS OF", "LIVE KEYS (AGE)"]
    assert [row[:3] for row in rows] == [
        ["audit", URL, "everything"],
        ["chat", URL, "reminded, asked by shop, with inputs"],
    ]
    second = cli("webhooks", "rotate", "audit", "--json").json()
    assert [each["key"] for each in second["keys"]] == [first["key"], second["key"]]
    assert first["signing_secret"] != second["signing_secret"]
    shown = cli("webhooks", "rotate", "audit").out
    assert "✓ Webhook audit has a new signing secret in tenant default." in shown
    assert f"! Key {first['key']}, the oldest, died of this: nothing is signed with it any more." in shown
    assert f"`placet webhooks revoke audit --key {second['key']}`" in shown
    assert cli("webhooks", "revoke", "audit", "--key", second["key"]).status == 0
    assert cli("webhooks", "revoke", "audit").out.startswith("✓ Webhook audit is revoked, everywhere")
    assert [each["webhook"] for each in cli("webhooks", "list", "--json").json()["items"]] == ["chat"]
    assert "`placet webhooks list` shows them" in cli("webhooks", "rotate", "nobody").said


def test_a_store_that_does_not_confirm(cli: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was to be done may have been done: it is said how to find out."""

    async def lost(*_: object) -> None:
        raise StoreUnavailable

    monkeypatch.setattr(Enrolment, "create", lost)
    ran = cli("webhooks", "create", "audit", URL)
    assert ran.status == 3
    assert "`placet webhooks rotate audit` gives it a signing secret; if not, make it again." in ran.said


def test_a_bridge_is_shown_both(cli: Type) -> None:
    """Its credential, and what its callbacks are signed with; other clients have no such secret."""
    argv = ["clients", "create", "chat", "--scopes", "decide_as", "--people", "ann", "--max-risk", "high"]
    made = cli(*argv, "--json").json()
    assert re.fullmatch(SECRET, made["signing_secret"])
    assert (made["token"][:4], made["callback"]) == ("plc_", "/v1/callbacks/chat")
    shown = cli(*argv, "--tenant", "blue").out
    assert re.search(
        rf"^  PLACET_TOKEN=plc_blue_\S+\n  Signing secret: {SECRET}\n\n  These are shown once",
        shown,
        re.MULTILINE,
    )
    assert "A callback is a POST to /v1/callbacks/blue.chat, signed with the secret" in shown
    assert "signing_secret" not in cli("clients", "create", "shop", "--scopes", "request", "--json").json()


class Taking(BaseHTTPRequestHandler):
    """Takes what is posted, or answers with another status."""

    status = 204
    taken: list[tuple[list[tuple[str, str]], bytes]]

    def do_POST(self) -> None:
        """One message."""
        self.taken.append((self.headers.items(), self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(self.status)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """A receiver on this machine."""
    Taking.taken, Taking.status = [], 204
    with HTTPServer(("127.0.0.1", 0), Taking) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


class TestTest:
    """``placet webhooks test``."""

    @pytest.fixture
    def secret(self, cli: Type, server: HTTPServer) -> bytes:
        """An endpoint there; its secret."""
        url = f"http://127.0.0.1:{server.server_port}/hook"
        return secret_of(cli("webhooks", "create", "audit", url, "--json").json()["signing_secret"])

    def test_it_sends_one_signed_message_now(self, cli: Type, secret: bytes) -> None:
        """And says that it was taken."""
        told = cli("webhooks", "test", "audit", "--json").json()
        [(headers, body)] = Taking.taken
        raw = [(name.lower().encode(), value.encode()) for name, value in headers]
        assert proved([secret], raw, body, T0_MS // 1_000).message_id == told["message_id"]
        assert json.loads(body)["type"] == "placet.test"
        assert cli("webhooks", "test", "audit").out.startswith(
            "✓ Webhook audit took a message of the type placet.test.\n"
        )

    @pytest.mark.parametrize(
        ("status", "said"),
        [
            (
                500,
                "did not take the message (server-error). It answered 500. The receiver has a fault",
            ),
            (
                302,
                "did not take the message (refused). It answered 302. The receiver does not",
            ),
            (
                401,
                "did not take the message (credential). It answered 401. Our signature or token",
            ),
        ],
    )
    def test_it_says_what_to_do_where_it_was_not(
        self, cli: Type, secret: bytes, status: int, said: str
    ) -> None:
        """By the one table."""
        assert secret
        Taking.status = status
        ran = cli("webhooks", "test", "audit")
        assert (ran.status, ran.out, said in ran.said) == (1, "", True)
        assert cli("webhooks", "test", "audit", "--json").json()["error"]["code"] == "FAILED"

    def test_nobody_is_there(self, cli: Type) -> None:
        """With where to look."""
        ran = cli("webhooks", "test", "audit")
        assert (ran.status, "has no webhook audit; `placet webhooks list` shows them" in ran.said) == (
            1,
            True,
        )
