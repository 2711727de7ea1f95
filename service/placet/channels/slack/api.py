"""Calls to Slack's Web API, off the event loop.

What goes wrong becomes an :class:`~placet.domain.deliveries.Undelivered` by one table
(:mod:`placet.channels.slack.failures`). No token, no text and no payload is in it, nor in a log: exceptions
of the SDK repeat answers, so none of them gets out of here, not even as a cause.

Each workspace has its own threads, and those for what a person waits for are apart from the others: whoever
is slow slows nobody else.
"""

import asyncio
import logging
import re
import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from typing import Any, Final, TypeVar
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request

import msgspec
from msgspec import Struct
from slack_sdk.errors import SlackApiError

from placet.channels.slack.card import Message
from placet.channels.slack.failures import MessageGone, failed
from placet.channels.slack.sheet import BUDGET, SECTION_CHARS_MAX
from placet.channels.slack.wire import Answer, Client, Wire
from placet.channels.slack.words import notification, plain
from placet.domain.chat import SLACK_ANSWER_HOSTS, SLACK_API_URL, SlackApp
from placet.domain.deliveries import Failure, Undelivered
from placet.domain.text import visible
from placet.settings.secret_files import SecretUnusable, read

__all__ = ["TIMEOUT_S", "MessageGone", "Posted", "SlackApi", "may_answer"]

TIMEOUT_S: Final = 10.0
_PATIENCE_S: Final = 25.0
"""The longest that anybody waits for a call, its turn included: well within a lane's lease."""
_THREADS: Final = 4
_TOKEN: Final = re.compile(r"[!-~]+")
_CODE: Final = re.compile(r"[a-z_]{1,64}")
_QUIET: Final[Mapping[str, Any]] = {"parse": "none", "link_names": False}
_HTTPS_PORTS: Final = frozenset({None, 443})
_OK: Final = 200

_log = logging.getLogger("placet.slack")
_T = TypeVar("_T")


class Posted(Struct, frozen=True, kw_only=True):
    """Where a message is: its channel's id, and its time, which names it there."""

    channel: str
    ts: str


class SlackApi:
    """The calls.

    Args:
        timeout_s: For each of them.
        tls: Whom to trust; the public authorities where absent.
    """

    def __init__(self, *, timeout_s: float = TIMEOUT_S, tls: ssl.SSLContext | None = None) -> None:
        self._wire = Wire(timeout_s, tls or ssl.create_default_context())
        self._threads: dict[tuple[str, bool], ThreadPoolExecutor] = {}

    async def post(self, app: SlackApp, channel: str, message: Message) -> Posted:
        """Post a message.

        Raises:
            Undelivered: It is not known to be there.
        """
        said = {**_message(message), "mrkdwn": False, "unfurl_links": False, "unfurl_media": False}
        data = await self._call(app, lambda slack: slack.chat_postMessage(channel=channel, **said).data)
        return Posted(channel=_text(data, "channel"), ts=_text(data, "ts"))

    async def update(self, app: SlackApp, posted: Posted, message: Message) -> None:
        """Change a message.

        Raises:
            MessageGone: There is nothing to change.
            Undelivered: It is not known to be changed.
        """
        said, place = _message(message), {"channel": posted.channel, "ts": posted.ts}
        await self._call(app, lambda slack: slack.chat_update(**place, **said).data, may_be_gone=True)

    async def reply(self, app: SlackApp, posted: Posted, text: str) -> None:
        """Say something below a message, and to all of its channel.

        Raises:
            MessageGone: There is no such message.
            Undelivered: It is not known to be said.
        """
        said = {**_said(text), "mrkdwn": False, "unfurl_links": False, "unfurl_media": False}
        place = {"channel": posted.channel, "thread_ts": posted.ts, "reply_broadcast": True}
        await self._call(app, lambda slack: slack.chat_postMessage(**place, **said).data, may_be_gone=True)

    async def open_conversation(self, app: SlackApp, user: str) -> str:
        """The id of the conversation with a person.

        Raises:
            Undelivered: It can't be had.
        """
        data = await self._call(app, lambda slack: slack.conversations_open(users=user).data)
        return _text(data.get("channel"), "id")

    async def open_modal(self, app: SlackApp, trigger_id: str, view: Mapping[str, Any]) -> None:
        """Show a form to the person who has just clicked.

        Raises:
            Undelivered: It is not known to be shown.
        """
        shown = dict(view)
        await self._call(
            app, lambda slack: slack.views_open(trigger_id=trigger_id, view=shown).data, is_waited_for=True
        )

    async def answer(self, app: SlackApp, response_url: str, text: str) -> None:
        """Say something to nobody but the person who has just clicked.

        Raises:
            Undelivered: It is not known to be said; ``FORBIDDEN_ADDRESS``: the address is not Slack's.
        """
        if not may_answer(app, response_url):
            raise Undelivered(Failure.FORBIDDEN_ADDRESS)
        said = {**_said(text), "response_type": "ephemeral", "replace_original": False}
        body = msgspec.json.encode(said)
        request = Request(response_url, data=body, method="POST")  # noqa: S310 - just looked at
        request.add_header("Content-Type", "application/json; charset=utf-8")
        answer = await self._run(app, lambda: self._wire.exchange(request), is_waited_for=True)
        if answer.status != _OK:
            why = _refused("response_url", answer.status, _code_of(answer), answer.headers)
            raise why if isinstance(why, Undelivered) else Undelivered(Failure.REFUSED)

    def close(self) -> None:
        """Let the threads go, and what has not begun."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
        self._threads.clear()

    async def _call(
        self,
        app: SlackApp,
        call: Callable[[Any], Any],
        *,
        is_waited_for: bool = False,
        may_be_gone: bool = False,
    ) -> dict[str, Any]:
        """What a method of the Web API answers."""

        def called() -> dict[str, Any]:
            data = call(Client(self._wire, _token(app), app.api_url))
            return data if isinstance(data, dict) else {}

        try:
            return await self._run(app, called, is_waited_for=is_waited_for)
        except MessageGone:
            if may_be_gone:
                raise
            raise Undelivered(Failure.REFUSED) from None

    async def _run(self, app: SlackApp, call: Callable[[], _T], *, is_waited_for: bool) -> _T:
        key = (app.team, is_waited_for)
        if key not in self._threads:
            self._threads[key] = ThreadPoolExecutor(_THREADS, thread_name_prefix="placet-slack")
        job = asyncio.get_running_loop().run_in_executor(self._threads[key], _guarded, call)
        try:
            return await asyncio.wait_for(job, _PATIENCE_S)
        except TimeoutError:
            raise Undelivered(Failure.TIMEOUT) from None


def may_answer(app: SlackApp, response_url: str) -> bool:
    """Whether an address is one of Slack's own for answers, or of what stands in for Slack."""
    try:
        url = urlsplit(response_url)
        port = url.port
    except ValueError:
        return False
    if url.username is not None or url.password is not None or not response_url.isascii():
        return False
    if app.api_url != SLACK_API_URL:
        own = urlsplit(app.api_url)
        return (url.scheme, url.hostname, port) == (own.scheme, own.hostname, own.port)
    return url.scheme == "https" and url.hostname in SLACK_ANSWER_HOSTS and port in _HTTPS_PORTS


def _guarded(call: Callable[[], _T]) -> _T:
    """The result of a call. Of an exception only its class gets out: others hold requests or answers."""
    try:
        return call()
    except (Undelivered, MessageGone):
        raise
    except SlackApiError as error:
        why = _refused(
            "a method", error.response.status_code, _code(error.response.data), error.response.headers
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, what it says must not be heard
        why = Undelivered(_unanswered(error))
    raise why  # outside, so that it has no context either


def _unanswered(error: Exception) -> Failure:
    """Why there is no answer to read."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, TimeoutError):
        return Failure.TIMEOUT
    if isinstance(error, OSError | HTTPException):
        return Failure.UNREACHABLE
    _log.error("a call to Slack ended with %s", type(error).__name__)
    return Failure.UNREADABLE


def _refused(what: str, status: int, code: object, headers: Mapping[str, str]) -> Undelivered | MessageGone:
    known = code if isinstance(code, str) and _CODE.fullmatch(code) else "no code"
    _log.warning("Slack refused a call to %s: %s, %s", what, status, known)
    return failed(status, code, headers.get("retry-after"))


def _token(app: SlackApp) -> str:
    try:
        token = read(app.token_file)
    except SecretUnusable as fault:
        _log.error("the token of the Slack app %s can't be used: %s", app.app, fault)
        raise Undelivered(Failure.CREDENTIAL) from None
    if not _TOKEN.fullmatch(token):
        _log.error("the token of the Slack app %s is none: it has blanks in it", app.app)
        raise Undelivered(Failure.CREDENTIAL)
    return token


def _message(message: Message) -> dict[str, Any]:
    return {"text": message.text, "blocks": list(message.blocks), **_QUIET}


def _said(text: str) -> dict[str, Any]:
    """A plain sentence of ours, with names in it: as literal as a card."""
    shown = visible(text, multiline=True, prose=True)
    block = {"type": "section", "text": plain(BUDGET.within(shown, SECTION_CHARS_MAX - 2, of=len(text)))}
    return {"text": notification(shown, BUDGET), "blocks": [block], **_QUIET}


def _text(data: object, name: str) -> str:
    """A text that has to be in an answer."""
    found = data.get(name) if isinstance(data, dict) else None
    if not isinstance(found, str) or not found:
        raise Undelivered(Failure.SERVER_ERROR)
    return found


def _code_of(answer: Answer) -> object:
    """The code in an answer: JSON, or nothing but the code."""
    try:
        return _code(msgspec.json.decode(answer.body))
    except msgspec.DecodeError:
        return answer.body.strip()


def _code(data: object) -> object:
    return data.get("error") if isinstance(data, dict) else None
