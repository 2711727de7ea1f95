"""Slack's callback: what Slack sends is proved to be its own, judged, and acknowledged in time.

1. The signature comes before all else, and then that the app it speaks of is the one whose secret signed.
2. It is acknowledged within :data:`~placet.domain.limits.SLACK_ACK_S`, whatever store and Slack do. A click
   that takes longer is worked on, for a while, and its author is told what came of it, or that it isn't
   certain.
3. Nothing here waits for Slack before it acknowledges: answers and forms are sent beside.

Slack says a click once. One that is clicked twice, or said twice, decides once: so does anybody's vote.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any, Final, TypeVar

import msgspec

from placet.application import slack_words as words
from placet.application.clock import Clock, sleep
from placet.application.complaints import Complaints
from placet.application.directory import Directory
from placet.application.slack_clicks import Reply, Signed, SlackClicks
from placet.channels.slack import interactions, modal, signing
from placet.channels.slack.api import SlackApi
from placet.channels.slack.interactions import Click, InteractionMalformed, Submission
from placet.domain.chat import SlackApp
from placet.domain.deliveries import Undelivered
from placet.domain.error_terms import Issue, RateLimitReason
from placet.domain.errors import InputInvalid, RateLimited, Unauthenticated
from placet.domain.limits import SLACK_ACK_S, SLACK_PATIENCE_S, SLACK_TASKS_MAX, SLACK_WORK_S
from placet.settings.secret_files import SecretUnusable, read

SECRETS_KEPT_S: Final = 1.0
"""How long a signing secret is kept that was read from its file: another counts as soon."""
_NOTHING: Final = b""

_log = logging.getLogger("placet.slack")
_encode: Final = msgspec.json.Encoder().encode
_T = TypeVar("_T")


class SlackCallback:
    """The use case.

    Args:
        directory: Names the apps.
        clicks: Judges what was clicked.
        api: Answers whoever clicked.
        clock: Tells how old a request is, and how long an answer takes.
        failed: Told of each request that is not Slack's.
    """

    def __init__(
        self,
        directory: Directory,
        clicks: SlackClicks,
        api: SlackApi,
        clock: Clock,
        *,
        failed: Callable[[str], None] = lambda _answer: None,
    ) -> None:
        self._directory = directory
        self._clicks = clicks
        self._api = api
        self._clock = clock
        self._failed = failed
        self._complaints = Complaints(clock)
        self._secrets: dict[str, tuple[float, str | None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __call__(
        self, body: bytes, timestamp: str | None, signature: str | None, began_s: float
    ) -> bytes:
        """Take what Slack sends; what to acknowledge it with.

        Args:
            body: The body, byte for byte.
            timestamp: The one header that says when it was sent.
            signature: The one header with its signature.
            began_s: When it arrived, on the clock's ``monotonic_s``.

        Raises:
            Unauthenticated: It is not Slack's, or not of an app that the directory has.
            InputInvalid: 400; it is no interaction.
            RateLimited: Too many are worked on.
        """
        signed = self._signed(body, timestamp, signature)
        try:
            said = interactions.read(body)
        except InteractionMalformed as fault:
            raise InputInvalid([Issue(path="", message=str(fault))], status=400) from None
        app = next((each for each in signed if _speaks_of(each.app, said.place)), None)
        if app is None:
            raise self._refused("it speaks of an app that the directory does not have with this secret")
        if not isinstance(said, Click | Submission):
            return _NOTHING
        if len(self._tasks) >= SLACK_TASKS_MAX:
            raise RateLimited(RateLimitReason.RATE, retry_after_ms=1_000)
        return await self._acknowledged(app, said, began_s)

    async def close(self) -> None:
        """Let go of what is worked on."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task

    async def drain(self) -> None:
        """Wait until nothing is worked on."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _acknowledged(self, signed: Signed, said: Click | Submission, began_s: float) -> bytes:
        judged = self._start(self._clicks(signed, said))
        left_s = SLACK_ACK_S - (self._clock.monotonic_s() - began_s)
        if not await self._is_done(judged, left_s):
            self._start(self._told_late(signed.app, said, judged))
            return _NOTHING
        reply = judged.result()
        if isinstance(said, Submission):
            return _acknowledgement(reply)
        self._start(self._answered(signed.app, said, reply))
        return _NOTHING

    async def _told_late(self, app: SlackApp, said: Click | Submission, judged: asyncio.Task[Reply]) -> None:
        """Tell somebody what came of a click that was acknowledged before that was known."""
        if not await self._is_done(judged, SLACK_PATIENCE_S - SLACK_ACK_S):
            await self._say(app, self._clicks.answered_at(app, said), words.NOT_KNOWN)
            if not await self._is_done(judged, SLACK_WORK_S - SLACK_PATIENCE_S):
                judged.cancel()
                _log.error("a click in Slack took too long", extra={"team": app.team})
                return
        reply = judged.result()
        text = words.TOO_LATE if reply.form is not None else reply.text
        await self._say(app, reply.response_url, text)

    async def _answered(self, app: SlackApp, click: Click, reply: Reply) -> None:
        """Show somebody the form, or tell them why not."""
        text = reply.text
        if reply.form is not None:
            try:
                await self._api.open_modal(app, click.trigger, reply.form)
            except Undelivered as fault:
                _log.warning("a form could not be shown in Slack", extra={"fault": fault.failure.value})
                text = words.NO_FORM
        await self._say(app, reply.response_url, text)

    async def _say(self, app: SlackApp, response_url: str, text: str) -> None:
        if not text:
            return
        try:
            await self._api.answer(app, response_url, text)
        except Undelivered as fault:
            facts = {"team": app.team, "fault": fault.failure.value}
            _log.warning("somebody who clicked in Slack could not be answered", extra=facts)

    async def _is_done(self, judged: asyncio.Task[Any], within_s: float) -> bool:
        """Wait for it, for so long."""
        if within_s <= 0:
            return judged.done()
        timer = asyncio.ensure_future(sleep(self._clock, within_s))
        try:
            await asyncio.wait({judged, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        return judged.done()

    def _start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _signed(self, body: bytes, timestamp: str | None, signature: str | None) -> list[Signed]:
        """The apps that may have sent it, by whose secrets it is signed."""
        apps = self._directory.slack_apps
        files = dict.fromkeys(file for app in apps for file in app.signing_secret_files)
        held = {file: secret for file in files if (secret := self._secret(file)) is not None}
        fitting = signing.signers(set(held.values()), body, timestamp, signature, self._clock.now_ms())
        found = frozenset(file for file, secret in held.items() if secret in fitting)
        if not found:
            raise self._refused(signing.why_not(apps, body, timestamp, signature, self._clock.now_ms()))
        return list(_of(apps, found))

    def _refused(self, why: str) -> Unauthenticated:
        self._complaints.say("slack", why)
        self._failed("refused")
        return Unauthenticated()

    def _secret(self, file: str) -> str | None:
        """What is in a file, as of a moment ago at most."""
        now_s = self._clock.monotonic_s()
        until_s, kept = self._secrets.get(file, (now_s, None))
        if now_s < until_s:
            return kept
        try:
            kept = read(file)
        except SecretUnusable as fault:
            _log.error("a signing secret of Slack can't be used: %s", fault)
            kept = None
        self._secrets[file] = (now_s + SECRETS_KEPT_S, kept)
        return kept


def _of(apps: tuple[SlackApp, ...], files: frozenset[str]) -> Iterator[Signed]:
    for app in apps:
        fitting = files.intersection(app.signing_secret_files)
        if fitting:
            yield Signed(app=app, secret_files=fitting)


def _speaks_of(app: SlackApp, place: interactions.Place) -> bool:
    return (app.team, app.app) == (place.team, place.app)


def _acknowledgement(reply: Reply) -> bytes:
    """What a form does next: it closes, or says why not."""
    if not reply.text:
        return _NOTHING
    if reply.is_about_comment:
        return _encode({"response_action": "errors", "errors": {modal.COMMENT_BLOCK: reply.text}})
    return _encode({"response_action": "update", "view": modal.notice(reply.text)})
