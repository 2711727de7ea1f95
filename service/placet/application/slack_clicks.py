"""What a click in Slack comes to: who it is of, what they were shown, and then the same decision as anywhere.

Whoever can have Slack send something is not yet somebody who decides. In this order:

1. The app is one of the tenant's, as its rules of now have it, and the secret that signed counts there.
2. The button is one of ours, and was made for this place (:mod:`placet.application.slack_messages`).
3. The message is the one that the approval's lane knows of. Another of the same approval decides nothing.
4. It says what was last posted, and its buttons do what they are called. Whoever holds the app's token can
   make it say anything else.
5. The person is one of the directory, by their own workspace and their id there. Nobody else decides,
   whatever they are called: guests and people of other workspaces are refused unless they are listed.
6. The rest is :class:`~placet.application.decide.DecideApproval`'s to judge, for the channel ``slack``.

What was refused before 6 is recorded as well, once it is proven which approval it was about.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from placet.application import slack_words as words
from placet.application.callers import Caller, Snapshot
from placet.application.commands import Decide
from placet.application.decide import DecideApproval
from placet.application.directory import Directory
from placet.application.grants import Seals
from placet.application.inbox import comment_rule, refusal_of, said_by
from placet.application.slack_messages import (
    Opened,
    Pressed,
    form_metadata,
    opened_form,
    pressed_in,
)
from placet.application.slack_proof import Meant, Refused, SlackProof
from placet.application.standing import standing_of
from placet.application.views import Sight, record_view
from placet.channels.slack import modal
from placet.channels.slack.card import APPROVE, OPEN, REJECT
from placet.channels.slack.interactions import Click, Submission
from placet.channels.slack.sheet import BUDGET
from placet.channels.slack.texts import fingerprint
from placet.domain.chat import SlackApp
from placet.domain.errors import (
    InternalError,
    PlacetError,
    StoreUnavailable,
)
from placet.domain.limits import JUDGED_MAX
from placet.domain.model import Approval, Status, Verdict
from placet.domain.presentation import heading, seen_of
from placet.domain.rules import CommentRule
from placet.store.approvals import Approvals, Rejudge
from placet.tokens.keyring_file import KeyringFile

_VERDICTS: Final[Mapping[str, Verdict]] = {APPROVE: Verdict.APPROVE, REJECT: Verdict.REJECT}
_URL_CHARS_MAX: Final = 1_000

_log = logging.getLogger("placet.slack")


class Signed(Struct, frozen=True, kw_only=True):
    """The app that a request is of, and the files of the secrets that it is signed with."""

    app: SlackApp
    secret_files: frozenset[str]


class Reply(Struct, frozen=True, kw_only=True):
    """What to do for whoever clicked.

    Attributes:
        text: What to tell them, and nobody else; empty where the card says it all.
        form: What to ask them; ``None`` for nothing.
        response_url: Where Slack takes an answer to them.
        is_about_comment: Whether the text is about what they wrote.
    """

    text: str = ""
    form: Mapping[str, Any] | None = None
    response_url: str = ""
    is_about_comment: bool = False


class SlackClicks:
    """The use case.

    Args:
        store: The approvals.
        seals: Prove what was shown.
        directory: Who and what there is.
        decide: Takes decisions.
        ring: Proves our buttons and forms.
        refused: Told of the code of each refusal.
    """

    def __init__(
        self,
        store: Approvals,
        seals: Seals,
        directory: Directory,
        decide: DecideApproval,
        ring: KeyringFile,
        *,
        refused: Callable[[str], None] = lambda _code: None,
    ) -> None:
        self._prove = SlackProof(store, seals, refused)
        self._seals = seals
        self._directory = directory
        self._decide = decide
        self._ring = ring
        self._told = refused

    async def __call__(self, signed: Signed, said: Click | Submission) -> Reply:
        """Decide what was meant, or ask for what is missing. It raises nothing: whoever clicked is told."""
        url = self.answered_at(signed.app, said)
        try:
            return await self._judged(signed, said)
        except Refused as refusal:
            return Reply(text=refusal.text, response_url=url)
        except Exception:  # noqa: BLE001 - whatever it is, a person waits for an answer
            _log.exception("a click in Slack failed in a way nobody foresaw")
            return Reply(text=words.undecided(InternalError()), response_url=url)

    def answered_at(self, app: SlackApp, said: Click | Submission) -> str:
        """Where its author can be answered; empty where nobody can tell."""
        if isinstance(said, Click):
            return said.response_url
        opened = self._opened(app, said)
        return "" if opened is None else opened.response_url

    async def _judged(self, signed: Signed, said: Click | Submission) -> Reply:
        tenant = signed.app.tenant
        for _ in range(JUDGED_MAX):
            try:
                snapshot = await self._directory.snapshot(tenant)
                app = _in_force(snapshot, signed)
                if isinstance(said, Click):
                    return await self._clicked(snapshot, app, said)
                return await self._sent(snapshot, app, said)
            except Rejudge:
                self._directory.forget(tenant)
            except PlacetError as error:
                raise self._refusal(error) from None
        raise Refused(words.undecided(StoreUnavailable()))

    def _refusal(self, error: PlacetError) -> Refused:
        self._told(error.code)
        return Refused(words.undecided(error))

    async def _clicked(self, snapshot: Snapshot, app: SlackApp, click: Click) -> Reply:
        if click.action == OPEN:  # Slack tells of links as well
            return Reply()
        verdict = _VERDICTS.get(click.action)
        if verdict is None:
            _log.warning("a button in Slack is none of ours", extra={"team": app.team, "app": app.app})
            raise Refused(words.UNKNOWN_BUTTON)
        pressed = pressed_in(
            self._ring.sealer,
            click.value,
            tenant=app.tenant,
            team=app.team,
            app=app.app,
            channel=click.channel,
        )
        if pressed is None or pressed.verdict is not verdict:
            _alarm("a button in Slack was not made for its place", app, click.channel, click.ts)
            raise Refused(words.NOT_OURS)
        meant = Meant(
            pressed=pressed, channel=click.channel, ts=click.ts, fingerprint=fingerprint(click.shown)
        )
        caller, approval = await self._prove(snapshot, app, click.who, meant)
        if _asks(caller, approval, pressed):
            return Reply(
                form=self._form(app, click, pressed, caller, approval), response_url=click.response_url
            )
        return await self._decided(caller, meant, click.response_url)

    async def _sent(self, snapshot: Snapshot, app: SlackApp, sent: Submission) -> Reply:
        if sent.form not in modal.FORMS:
            return Reply()
        opened = self._opened(app, sent)
        if opened is None:
            _log.warning("a form in Slack is none of ours", extra={"team": app.team, "app": app.app})
            raise Refused(words.NOT_THE_AUTHOR)
        meant = Meant(
            pressed=opened.pressed,
            channel=opened.channel,
            ts=opened.ts,
            comment=modal.comment_of(sent.view),
        )
        caller, _ = await self._prove(snapshot, app, sent.who, meant)
        return await self._decided(caller, meant, opened.response_url)

    def _opened(self, app: SlackApp, sent: Submission) -> Opened | None:
        return opened_form(
            self._ring.sealer,
            sent.metadata,
            tenant=app.tenant,
            team=app.team,
            app=app.app,
            user_team=sent.who.team,
            user=sent.who.user,
        )

    async def _decided(self, caller: Caller, meant: Meant, response_url: str) -> Reply:
        pressed = meant.pressed
        body = Decide(decision=pressed.verdict, digest=pressed.digest, comment=meant.comment)
        try:
            await self._decide(caller, pressed.approval, body)
        except StoreUnavailable as error:
            self._told(error.code)
            return Reply(text=words.NOT_KNOWN, response_url=response_url)
        except PlacetError as error:
            self._told(error.code)
            return Reply(
                text=words.undecided(error),
                response_url=response_url,
                is_about_comment=words.is_about_comment(error),
            )
        return Reply(response_url=response_url)

    def _form(
        self, app: SlackApp, click: Click, pressed: Pressed, caller: Caller, approval: Approval
    ) -> Mapping[str, Any]:
        self._seals.prove_card(approval)
        url = click.response_url
        opened = Opened(
            pressed=pressed,
            channel=click.channel,
            ts=click.ts,
            user_team=click.who.team,
            user=click.who.user,
            response_url=url if len(url) <= _URL_CHARS_MAX else "",
        )
        metadata = form_metadata(self._ring.sealer, opened, tenant=app.tenant, team=app.team, app=app.app)
        seen = seen_of(record_view(approval, Sight.CARD, standing_of(caller.authority, approval)))
        headline = heading(seen, BUDGET).headline
        if pressed.verdict is Verdict.APPROVE:
            return modal.approval(metadata, headline=headline)
        is_required = comment_rule(caller, approval) is not CommentRule.NEVER
        return modal.rejection(metadata, headline=headline, is_required=is_required)


def _in_force(snapshot: Snapshot, signed: Signed) -> SlackApp:
    """The app by the rules of now."""
    app = snapshot.slack.get(signed.app.team)
    if app is None or app.app != signed.app.app or signed.secret_files.isdisjoint(app.signing_secret_files):
        raise Refused(words.NOT_CONNECTED)
    return app


def _asks(caller: Caller, approval: Approval, pressed: Pressed) -> bool:
    """Whether a person is asked for a comment first: where it may help, and they could decide with one."""
    if approval.status is not Status.PENDING or approval.digest != pressed.digest:
        return False
    if said_by(caller, approval) is pressed.verdict:  # once more what they have said
        return False
    if refusal_of(caller, approval, pressed.verdict) is not None:
        return False
    return pressed.verdict is Verdict.REJECT or comment_rule(caller, approval) is CommentRule.ALWAYS


def _alarm(what: str, app: SlackApp, channel: str, ts: str) -> None:
    _log.error(what, extra={"team": app.team, "app": app.app, "channel": channel, "ts": ts})
