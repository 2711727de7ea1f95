"""Slack, as far as an app meets it: its Web API over real HTTP on loopback, with its limits and its habits.

A test says who and what there is, reads what was posted, clicks, and moves the clock; the fake never reads
another one.
"""

import copy
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from slack_sdk.signature import SignatureVerifier

from placet.application.clock import Clock
from placet.domain.chat import SlackApp
from tests.factories import ManualClock
from tests.slack_rules import faults, is_too_long, returned, units, view_faults

TEAM = "T024BE7LD"
APP = "A024BE7LA"
CHANNEL = "C024BE7LR"
USER = "U024BE7LH"
TOKEN = "xoxb-2-the-token"
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
_PACE_MS = 1_000
_TEXT_CHARS_MAX = 40_000

Handed = tuple[dict[str, str], bytes]
"""Headers and body of a request that Slack makes."""


@dataclass
class SlackMessage:
    """A message, as Slack keeps it."""

    channel: str
    ts: str
    text: str
    blocks: list[Any]
    said: dict[str, Any]
    """What it was posted with."""
    updates: int = 0


@dataclass
class _Trouble:
    """What the next call gets instead of an answer."""

    status: int = 200
    error: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None


class SlackFake:
    """The fake; use it as a context manager.

    Args:
        clock: Its time.

    Attributes:
        members: Channels that the app is in.
        others: Channels that it is not in.
        archived: Channels that are no more used.
        people: Whom it can write to.
        delay_s: How long it takes over an answer.
        delays_s: The same for single methods.
        is_paced: Whether it takes one message a second for a channel.
        arrived: Methods that were called, answered or not yet.
        calls: Methods that were called, in order, with what they were told.
        messages: What stands in channels, in order.
        answers: What was said by response URLs, with the path.
        views: Forms that were opened, with their triggers.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Any = clock or ManualClock()
        self.members = {CHANNEL}
        self.others: set[str] = set()
        self.archived: set[str] = set()
        self.people = {USER}
        self.token = TOKEN
        self.secret = SECRET
        self.delay_s = 0.0
        self.delays_s: dict[str, float] = {}
        self.is_paced = True
        self.arrived: list[str] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.messages: list[SlackMessage] = []
        self.answers: list[tuple[str, dict[str, Any]]] = []
        self.views: list[tuple[str, dict[str, Any]]] = []
        self._trouble: deque[_Trouble] = deque()
        self._posted_ms: dict[str, int] = {}
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._count = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def origin(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def api_url(self) -> str:
        """Where its Web API is."""
        return f"{self.origin}/api/"

    def app(self, token_file: str, secret_files: Iterable[str] = (), **more: Any) -> SlackApp:
        """The app, as the directory has it."""
        return SlackApp(
            **{
                "team": TEAM,
                "tenant": "default",
                "app": APP,
                "token_file": token_file,
                "signing_secret_files": tuple(secret_files),
                "channels": {"treasury": CHANNEL},
                "api_url": self.api_url,
                **more,
            }
        )

    def fail_next(
        self, error: str = "", *, status: int = 200, body: bytes | None = None, **headers: str
    ) -> None:
        """What one of the next calls gets: a code of Slack's, or any answer; ``retry_after`` is a header."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._trouble.append(_Trouble(status=status, error=error, headers=named, body=body))

    def find(self, channel: str, ts: str) -> SlackMessage | None:
        """A message by its place."""
        return next((each for each in self.messages if (each.channel, each.ts) == (channel, ts)), None)

    def press(
        self,
        message: SlackMessage,
        action_id: str,
        *,
        user: str = USER,
        team: str = TEAM,
        change: Callable[[dict[str, Any]], None] = lambda _: None,
        **signing: Any,
    ) -> Handed:
        """What Slack sends when somebody presses a button.

        Args:
            message: Where the button is.
            action_id: Which one.
            user: Who.
            team: The user's own workspace.
            change: Change the payload before it is signed.
            signing: As for :meth:`signed`.
        """
        buttons = [
            {**element, "block_id": block["block_id"]}
            for block in message.blocks
            if block["type"] == "actions"
            for element in block["elements"]
        ]
        [pressed] = [each for each in buttons if each["action_id"] == action_id]
        place = {"message_ts": message.ts, "channel_id": message.channel, "is_ephemeral": False}
        payload = {
            "type": "block_actions",
            **self._who(user, team),
            "container": {"type": "message", **place},
            "channel": {"id": message.channel, "name": "treasury"},
            "message": {
                "type": "message",
                "bot_id": "B024BE7LB",
                "app_id": APP,
                "text": message.text,
                "ts": message.ts,
                "team": TEAM,
                "blocks": copy.deepcopy(message.blocks),
            },
            "state": {"values": {}},
            "response_url": f"{self.origin}/actions/{TEAM}/{self._next()}/secret",
            "actions": [{**pressed, "action_ts": f"{self.clock.now_ms() / 1000:.6f}"}],
        }
        change(payload)
        return self.signed(payload, **signing)

    def submit(
        self,
        view: Mapping[str, Any],
        comment: str | None,
        *,
        user: str = USER,
        team: str = TEAM,
        change: Callable[[dict[str, Any]], None] = lambda _: None,
        **signing: Any,
    ) -> Handed:
        """What Slack sends when somebody sends a form with one text in it."""
        [block] = [each for each in view["blocks"] if each["type"] == "input"]
        action = block["element"]["action_id"]
        value = {"type": "plain_text_input", "value": comment}
        payload = {
            "type": "view_submission",
            **self._who(user, team),
            "view": {
                **copy.deepcopy(dict(view)),
                "id": f"V{self._next()}",
                "team_id": TEAM,
                "app_id": APP,
                "state": {"values": {block["block_id"]: {action: value}}},
            },
            "response_urls": [],
        }
        change(payload)
        return self.signed(payload, **signing)

    def signed(
        self, payload: Mapping[str, Any] | bytes, *, secret: str | None = None, at_s: int | str | None = None
    ) -> Handed:
        """A request as Slack signs it; a payload of bytes is the whole body."""
        body = payload if isinstance(payload, bytes) else urlencode({"payload": json.dumps(payload)}).encode()
        timestamp = str(self.clock.now_ms() // 1000 if at_s is None else at_s)
        signature = SignatureVerifier(secret or self.secret).generate_signature(
            timestamp=timestamp, body=body
        )
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature or "",
        }
        return headers, body

    def _who(self, user: str, team: str) -> dict[str, Any]:
        return {
            "user": {"id": user, "username": "ann", "name": "ann", "team_id": team},
            "api_app_id": APP,
            "token": "legacy",
            "trigger_id": f"{self._next()}.2.abc",
            "team": {"id": TEAM, "domain": "example"},
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def _next(self) -> int:
        self._count += 1
        return self._count

    def answer(self, path: str, headers: Message, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Answer a request."""
        method = path.rpartition("/")[2]
        self.arrived.append(method)
        self._closing.wait(self.delays_s.get(method, self.delay_s))
        said = _said(headers.get("Content-Type", ""), body)
        with self._lock:
            self.calls.append((method, said))
            if self._trouble:
                trouble = self._trouble.popleft()
                told = json.dumps({"ok": False, "error": trouble.error}).encode()
                return trouble.status, trouble.headers, told if trouble.body is None else trouble.body
            if path.startswith("/actions/"):
                self.answers.append((path, said))
                return 200, {}, b"ok"
            if not path.startswith("/api/"):
                return 404, {}, b"no such page"
            told_more = self._called(method, headers.get("Authorization"), said)
        slow = {"Retry-After": "1"} if told_more.get("error") == "ratelimited" else {}
        return 429 if slow else 200, slow, json.dumps(told_more).encode()

    def _called(self, method: str, authorization: str | None, said: dict[str, Any]) -> dict[str, Any]:
        if authorization != f"Bearer {self.token}":
            return _no("invalid_auth" if authorization else "not_authed")
        methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "conversations.open": self._open,
            "views.open": self._view,
        }
        return methods[method](said) if method in methods else _no("unknown_method")

    def _post(self, said: dict[str, Any]) -> dict[str, Any]:
        channel = said.get("channel", "")
        refused = self._target(channel, said.get("thread_ts")) or _content(said)
        if refused is not None:
            return refused
        now_ms = self.clock.now_ms()
        if self.is_paced and now_ms - self._posted_ms.get(channel, -_PACE_MS) < _PACE_MS:
            return _no("ratelimited")
        self._posted_ms[channel] = now_ms
        ts = f"{now_ms // 1000}.{self._next():06}"
        self.messages.append(SlackMessage(channel, ts, said["text"], returned(said["blocks"]), said))
        return {"ok": True, "channel": channel, "ts": ts, "message": {"text": said["text"]}}

    def _target(self, channel: str, thread: str | None) -> dict[str, Any] | None:
        """Why nothing can be posted there."""
        if channel in self.archived:
            return _no("is_archived")
        if channel not in self.members:
            return _no("not_in_channel" if channel in self.others else "channel_not_found")
        if thread is not None and self.find(channel, thread) is None:
            return _no("thread_not_found")
        return None

    def _update(self, said: dict[str, Any]) -> dict[str, Any]:
        message = self.find(said.get("channel", ""), said.get("ts", ""))
        if message is None:
            return _no("message_not_found")
        if (refused := _content(said)) is not None:
            return refused
        message.text, message.blocks, message.said = said["text"], returned(said["blocks"]), said
        message.updates += 1
        return {"ok": True, "channel": message.channel, "ts": message.ts, "text": message.text}

    def _open(self, said: dict[str, Any]) -> dict[str, Any]:
        user = said.get("users", "")
        if user not in self.people:
            return _no("user_not_found")
        channel = f"D{user[1:]}"
        self.members.add(channel)
        return {"ok": True, "channel": {"id": channel}}

    def _view(self, said: dict[str, Any]) -> dict[str, Any]:
        if not said.get("trigger_id"):
            return _no("invalid_arguments")
        if found := view_faults(said.get("view", {})):
            return {**_no("invalid_arguments"), "response_metadata": {"messages": found}}
        self.views.append((said["trigger_id"], said["view"]))
        return {"ok": True, "view": said["view"]}


def _content(said: Mapping[str, Any]) -> dict[str, Any] | None:
    """Why Slack does not take what a message says."""
    if not said.get("text"):
        return _no("no_text")
    if units(said["text"]) > _TEXT_CHARS_MAX:
        return _no("msg_too_long")
    if found := faults(said.get("blocks")):
        return {**_no("invalid_blocks"), "errors": found, "response_metadata": {"messages": found}}
    return _no("msg_blocks_too_long") if is_too_long(said["blocks"]) else None


def _no(error: str) -> dict[str, Any]:
    return {"ok": False, "error": error}


def _said(content_type: str, body: bytes) -> dict[str, Any]:
    """What a call was told, as JSON or as a form."""
    if content_type.startswith("application/json"):
        found: dict[str, Any] = json.loads(body)
        return found
    return {name: values[0] for name, values in parse_qs(body.decode()).items()}


def _handler(fake: SlackFake) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            status, headers, told = fake.answer(quote(urlsplit(self.path).path), self.headers, body)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        do_GET = do_POST  # noqa: N815 - its name in the standard library

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                """Whoever asked did not wait."""

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as above
            """Say nothing."""

    return Handler
