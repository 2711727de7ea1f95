"""Cards in Slack: posted while a question waits, and true ever after (design §9, §10).

A lane of Slack is told what *is*, not what happened: one message, which each attempt makes what the approval
is by now. So updates that were lost or came late mend themselves with the next, and a card that nobody got to
see before it was decided is not posted at all.

A message whose posting nobody knows the end of may stand there twice. Only the one that the lane knows of
decides anything; the other says so to whoever clicks it.
"""

import logging
from contextlib import suppress
from typing import Final

from msgspec import structs

from placet.application.dispatch import Job, Sent
from placet.application.outreach import chats
from placet.application.slack_messages import CardPlace, CardReference, button_value, new_nonce
from placet.application.standing import standing_of
from placet.application.views import Sight, page_of, record_view
from placet.channels.slack.api import Posted, SlackApi
from placet.channels.slack.card import Buttons, Message, message
from placet.channels.slack.failures import MessageGone
from placet.channels.slack.sheet import BUDGET
from placet.channels.slack.texts import fingerprint
from placet.domain.authority import Authority
from placet.domain.chat import SlackApp
from placet.domain.deliveries import HOPELESS, Undelivered
from placet.domain.events import EventType
from placet.domain.model import Ask, Status, Verdict
from placet.domain.presentation import Card, present, seen_of
from placet.domain.voters import CHANNEL_SLACK
from placet.tokens.keyring_file import KeyringFile

_USERS: Final = ("U", "W")
"""What ids of people begin with: they are written to in a conversation of their own."""
_STILL: Final = "Nobody has decided yet, and it does not wait much longer: "

_log = logging.getLogger("placet.slack")


class SlackCards:
    """Tells ``slack:<team>:<channel or user>`` (:class:`placet.application.dispatch.Sender`).

    Args:
        api: The calls.
        ring: Binds the buttons.
        issuer: The service's public URL.
    """

    width = 1
    """Slack takes one message a second in a channel."""

    def __init__(self, api: SlackApi, ring: KeyringFile, issuer: str) -> None:
        self._api = api
        self._ring = ring
        self._issuer = issuer

    async def send(self, job: Job) -> Sent | None:
        """Make the message what the approval is by now."""
        _, team, place = job.delivery.target.split(":", 2)
        app = job.snapshot.slack.get(team)
        before = CardReference.of(job.delivery.ref)
        waits = job.approval.status is Status.PENDING
        if app is None or (before is None and job.delivery.target not in chats(job.snapshot, job.approval)):
            return None
        if before is not None:
            with suppress(MessageGone):
                return self._sent(job, await self._updated(app, job, before))
            if not waits:
                return self._sent(job, before)
        return self._sent(job, await self._posted(app, job, place))

    async def _posted(self, app: SlackApp, job: Job, place: str) -> CardReference:
        channel = await self._api.open_conversation(app, place) if place.startswith(_USERS) else place
        shown, _ = self._message(app, job, channel, nonce := new_nonce())
        posted = await self._api.post(app, channel, shown)
        return CardReference(
            channel=posted.channel, ts=posted.ts, nonce=nonce, fingerprint=fingerprint(shown.blocks)
        )

    async def _updated(self, app: SlackApp, job: Job, before: CardReference) -> CardReference:
        """The message, changed where it says anything else.

        Raises:
            MessageGone: Somebody has deleted it.
        """
        shown, card = self._message(app, job, before.channel, before.nonce)
        after = before.saying(fingerprint(shown.blocks))
        posted = Posted(channel=before.channel, ts=before.ts)
        if after != before:
            await self._api.update(app, posted, shown)
        if job.approval.status is Status.PENDING and not before.is_reminded and _reminds(job):
            await self._remind(app, posted, card, after)
            return structs.replace(after, is_reminded=True)
        return after

    async def _remind(self, app: SlackApp, posted: Posted, card: Card, reference: CardReference) -> None:
        """Say below the message that it waits; where nothing can be said there, the message alone has to do.

        Raises:
            MessageGone: Somebody has deleted it.
            Undelivered: It is to be said later. What the message says by now is known.
        """
        try:
            await self._api.reply(app, posted, _STILL + card.headline)
        except Undelivered as fault:
            if fault.failure not in HOPELESS:
                again_ms, known = fault.retry_after_ms, reference.text
                raise Undelivered(fault.failure, retry_after_ms=again_ms, ref=known) from None
            _log.warning("a reminder can't be said in Slack", extra={"fault": fault.failure.value})

    def _message(self, app: SlackApp, job: Job, channel: str, nonce: str) -> tuple[Message, Card]:
        approval, authority = job.approval, job.snapshot.authority
        seen = seen_of(record_view(approval, Sight.CARD, standing_of(authority, approval)))
        card = present(seen, BUDGET)
        page_url = f"{self._issuer}{page_of(approval)}"
        buttons = None
        if approval.status is Status.PENDING and _is_decided_here(authority, approval.ask):
            place = CardPlace(
                tenant=approval.ask.tenant,
                approval=approval.ask.id,
                digest=approval.digest,
                team=app.team,
                app=app.app,
                channel=channel,
                nonce=nonce,
            )
            approve, reject = (
                button_value(self._ring.sealer, place, verdict)
                for verdict in (Verdict.APPROVE, Verdict.REJECT)
            )
            buttons = Buttons(approve=approve, reject=reject)
        return message(card, page_url=page_url, buttons=buttons), card

    @staticmethod
    def _sent(job: Job, reference: CardReference) -> Sent:
        return Sent(covered=len(job.log), ref=reference.text)


def _is_decided_here(authority: Authority, ask: Ask) -> bool:
    """Whether a rule lets people of Slack decide it: else the card leads to its page."""
    terms = authority.terms(ask)
    if terms is None or authority.steps_up(ask, terms):
        return False
    return terms.channels is None or CHANNEL_SLACK in terms.channels


def _reminds(job: Job) -> bool:
    return any(entry.type == EventType.REMINDED for entry in job.log[job.delivery.covered :])
