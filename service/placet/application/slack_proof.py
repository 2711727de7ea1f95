"""What a click in Slack is proved against: the message that a lane knows of, what it says, and the directory.

What does not hold is recorded with the approval that it was about, and refused.
"""

import logging
from collections.abc import Callable

from msgspec import Struct

from placet.application import slack_words as words
from placet.application.callers import Caller, Snapshot
from placet.application.grants import Seals
from placet.application.slack_messages import CardReference, Pressed
from placet.channels.slack.interactions import Who
from placet.domain.chat import SlackApp
from placet.domain.deliveries import SLACK, Delivery, DeliveryState
from placet.domain.machine import Ruling
from placet.domain.model import Approval
from placet.domain.people import SlackUser
from placet.domain.principals import Approver
from placet.domain.voters import CHANNEL_SLACK
from placet.store import codec
from placet.store.approvals import Approvals

_log = logging.getLogger("placet.slack")


class Refused(Exception):  # noqa: N818 - told to whoever clicked
    """It comes to nothing, with these words."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Meant(Struct, frozen=True, kw_only=True):
    """What somebody meant to decide: where they saw it, and what stood there where that is known."""

    pressed: Pressed
    channel: str
    ts: str
    fingerprint: str | None = None
    comment: str | None = None


class SlackProof:
    """The use case.

    Args:
        store: The approvals.
        seals: Prove what was shown.
        refused: Told of the code of each refusal.
    """

    def __init__(self, store: Approvals, seals: Seals, refused: Callable[[str], None]) -> None:
        self._store = store
        self._seals = seals
        self._told = refused

    async def __call__(
        self, snapshot: Snapshot, app: SlackApp, who: Who, meant: Meant
    ) -> tuple[Caller, Approval]:
        """Who decides, and what.

        Raises:
            Refused: It does not hold.
            PlacetError: It can't be told.
            Rejudge: Credentials changed meanwhile.
        """
        pressed, user = meant.pressed, SlackUser(team=who.team, user=who.user)
        read = await self._store.get(app.tenant, pressed.approval, epoch=snapshot.epoch)
        if read.record is None:
            raise Refused(words.NOT_THE_CARD)
        approval = self._seals.opened(read.record)
        found = snapshot.authority.people.by_slack(user)
        member = found if found is not None and found.tenant == app.tenant else None
        named = codec.Who(
            by=f"{SLACK}:{user.text}" if member is None else member.id,
            channel=CHANNEL_SLACK,
            credential=user.text,
        )
        fault = _fault_of(app, approval, meant)
        if fault is not None:
            await self._record(approval, Ruling.MISMATCH, named)
            raise Refused(fault)
        if member is None:
            await self._record(approval, Ruling.MISSING, named)
            raise Refused(words.STRANGER)
        caller = Caller(
            principal=Approver(tenant=app.tenant, id=member.id, display_name=member.name),
            epoch=snapshot.epoch,
            authority=snapshot.authority,
            credential=named.credential,
            channel=CHANNEL_SLACK,
        )
        return caller, approval

    async def _record(self, approval: Approval, ruling: Ruling, who: codec.Who) -> None:
        self._told(codec.refused_of(ruling).code)
        await self._store.refuse(approval.ask.tenant, approval.ask.id, ruling, who)


def _fault_of(app: SlackApp, approval: Approval, meant: Meant) -> str | None:
    """Why a message is not the one that counts, or does not say what was posted."""
    found = _lane(app, approval, meant)
    if found is None:
        _log.warning("a message in Slack is not the one that its approval knows of", extra=_facts(app, meant))
        return words.NOT_THE_CARD
    lane, reference = found
    if meant.fingerprint is None or reference.has_said(meant.fingerprint):
        return None
    if lane.state is DeliveryState.QUEUED:  # it may say by now what its lane does not know yet
        _log.warning("a message in Slack says something else while it is changed", extra=_facts(app, meant))
        return words.BEING_CHANGED
    _log.error("a message in Slack does not say what was posted", extra=_facts(app, meant))
    return words.NOT_THE_WORDS


def _lane(app: SlackApp, approval: Approval, meant: Meant) -> tuple[Delivery, CardReference] | None:
    for lane in approval.deliveries:
        reference = CardReference.of(lane.ref)
        if lane.target.startswith(f"{SLACK}:{app.team}:") and reference is not None:
            here = (reference.channel, reference.ts, reference.nonce)
            if here == (meant.channel, meant.ts, meant.pressed.nonce):
                return lane, reference
    return None


def _facts(app: SlackApp, meant: Meant) -> dict[str, str]:
    where = {"team": app.team, "channel": meant.channel, "ts": meant.ts}
    return {"approval_id": meant.pressed.approval, "tenant": app.tenant, **where}
