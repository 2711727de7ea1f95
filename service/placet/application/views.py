"""What each kind of caller sees of a record: built once here, shown by every channel."""

from collections.abc import Sequence
from enum import Enum
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from placet.application.callers import Caller
from placet.application.record_shapes import (
    ActorView,
    ClaimedView,
    ConsumptionView,
    DecisionView,
    DeliveryView,
    EventView,
    LinksView,
    OutcomeView,
    QuorumView,
    RecordView,
    RequestedView,
    RuleView,
    StepUpView,
    TrailView,
)
from placet.application.rulings import pending_face, rfc3339
from placet.application.standing import Standing, standing_of
from placet.domain.canonical import canonicalize
from placet.domain.deliveries import Delivery
from placet.domain.errors import ApprovalRequired
from placet.domain.model import (
    EMPTY_OBJECT,
    Approval,
    CastVote,
    Status,
    TrailEntry,
)
from placet.domain.principals import Approver, Client, Scope
from placet.domain.redaction import redact
from placet.domain.tally import Tally
from placet.domain.vouched import StepUp
from placet.store.codec import encode
from placet.store.record import Record
from placet.store.stream import Transition


class Sight(Enum):
    """How much of a record a caller sees."""

    WHOLE = "whole"
    """Asker, audience, ``read_input``, ``admin``."""
    CARD = "card"
    """Whoever may decide: the input but for what is redacted."""
    FRAME = "frame"
    """``read``: no input, context, attributes, comments, extensions, nor the hashes of them."""


def sight_of(caller: Caller, approval: Approval) -> Sight | None:
    """How much the caller sees, ``None`` for nothing at all."""
    ask, who = approval.ask, caller.principal
    if isinstance(who, Client) and who.name in {ask.asked_by, ask.audience}:
        return Sight.WHOLE  # as nearly always
    if not caller.authority.sees(who, ask, Tally.of(approval)):
        return None
    if isinstance(who, Approver):
        return Sight.CARD
    if who.scopes & {Scope.READ_INPUT, Scope.ADMIN}:
        return Sight.WHOLE
    return Sight.CARD if caller.authority.bridges(who, ask) else Sight.FRAME


def record_view(
    approval: Approval,
    sight: Sight,
    standing: Standing,
    *,
    token: str | None = None,
    replayed: bool | None = None,
) -> RecordView:
    """The record as seen with ``sight``."""
    ask = approval.ask
    frame = sight is Sight.FRAME
    shown, redacted = _input(approval, sight)
    faces: dict[str, Any] = {}
    if approval.status is Status.PENDING:
        error = ApprovalRequired(pending_face(approval))
        faces = {"model": error.model(), "confirmation": error.confirmation()}
    return RecordView(
        id=ask.id,
        tenant=ask.tenant,
        status=approval.status,
        capability=ask.capability,
        surface=ask.surface,
        actor=ActorView(
            id=ask.actor.id,
            kind=ask.actor.kind,
            display_name=ask.actor.display_name,
            on_behalf_of=ask.actor.on_behalf_of,
            attributes=EMPTY_OBJECT if frame else ask.actor.attributes,
        ),
        effect=ask.effect,
        risk=ask.risk,
        context=EMPTY_OBJECT if frame else ask.context,
        input=shown,
        input_redacted=redacted or UNSET,
        input_hash=approval.input_hash
        if sight is Sight.WHOLE or (shown is not None and not redacted)
        else None,
        digest=None if frame else approval.digest,
        reasons=ask.reasons,
        types=ask.types,
        allowed_decisions=ask.allowed_decisions,
        presentation=ask.presentation,
        run=ask.run,
        asked_by=ask.asked_by,
        audience=ask.audience,
        requested_at=rfc3339(approval.requested_at_ms),
        expires_at=rfc3339(approval.expires_at_ms),
        use_within_ms=ask.use_within_ms,
        use_by=None if approval.use_by_ms is None else rfc3339(approval.use_by_ms),
        rule=RuleView(name=ask.rule, policy=ask.policy),
        claimed=None
        if ask.claimed is None
        else ClaimedView(effect=ask.claimed.effect, risk=ask.claimed.risk),
        quorum=QuorumView(
            required=standing.needed.approvals,
            approved=standing.approved,
            rejections=standing.needed.rejections,
            rejected=standing.rejected,
        ),
        decisions=[
            _decision(cast, counts=counts, frame=frame)
            for cast, counts in zip(approval.votes, standing.counting, strict=True)
        ],
        suspended=None if standing.suspended is None else standing.suspended.reason,
        consumption=_consumption(approval),
        outcome=_outcome(approval),
        requested=None if frame else _requested(approval, sight),
        deliveries=[_delivery(each) for each in approval.deliveries],
        extensions=EMPTY_OBJECT if frame else ask.extensions,
        links=LinksView(self=link_of(approval), ui=page_of(approval)),
        token=UNSET if token is None else token,
        replayed=UNSET if replayed is None else replayed,
        **faces,
    )


def link_of(approval: Approval) -> str:
    """The record's path on this service."""
    return f"/v1/approvals/{approval.ask.id}"


def page_of(approval: Approval) -> str:
    """The path of its page for approvers."""
    return f"/a/{approval.ask.id}"


def pending_body(caller: Caller, record: Record, approval: Approval, sight: Sight) -> bytes:
    """A pending record as answered, encoded; ``approval`` is what it tells of.

    A function of the stored parts and the rules of today: while a question waits and they stay as they are,
    whoever polls it gets the same bytes.
    """

    def rendered() -> bytes:
        return encode(record_view(approval, sight, standing_of(caller.authority, approval)))

    return record.latest(sight, caller.epoch, rendered)


def event_view(approval: Approval, transition: Transition) -> EventView:
    """A transition: what happened to which record, and nothing of what that is about."""
    ask = approval.ask
    return EventView(
        id=ask.id,
        type=transition.type,
        at=rfc3339(transition.at_ms),
        status=approval.status,
        capability=ask.capability,
        run=ask.run,
        asked_by=ask.asked_by,
    )


def trail_view(entry: TrailEntry, sight: Sight) -> TrailView:
    """A line of the trail, as seen with ``sight``."""
    return TrailView(
        seq=entry.seq,
        at=rfc3339(entry.at_ms),
        type=entry.type,
        by=entry.by,
        channel=entry.channel,
        credential=entry.credential,
        code=entry.code,
        reason=entry.reason,
        count=entry.count,
        decision=entry.decision,
        rule=entry.rule,
        policy=entry.policy,
        digest=UNSET if sight is Sight.FRAME else entry.digest,
        input_hash=entry.input_hash if sight is Sight.WHOLE else UNSET,
        target=entry.target,
        error=entry.error,
    )


def _input(approval: Approval, sight: Sight) -> tuple[Raw | None, bool]:
    """The input as seen, and whether something of it is hidden."""
    return _shown(approval.input, approval.ask.presentation.redact, sight)


def _shown(held: Raw | None, pointers: Sequence[str], sight: Sight) -> tuple[Raw | None, bool]:
    if held is None or sight is Sight.FRAME:
        return None, False
    if sight is Sight.WHOLE or not pointers:
        return held, False
    shown, redacted = redact(msgspec.json.decode(held), pointers)
    return (Raw(canonicalize(shown)), True) if redacted else (held, False)


def _consumption(approval: Approval) -> ConsumptionView | None:
    spent = approval.consumption
    if spent is None:
        return None
    return ConsumptionView(execution_id=spent.execution_id, client=spent.client, at=rfc3339(spent.at_ms))


def _outcome(approval: Approval) -> OutcomeView | None:
    told = approval.outcome
    if told is None:
        return None
    return OutcomeView(status=told.status, summary=told.summary, at=rfc3339(told.at_ms))


def _delivery(each: Delivery) -> DeliveryView:
    return DeliveryView(
        target=each.target,
        state=each.state,
        attempts=each.attempts,
        error=each.error,
        at=rfc3339(each.at_ms),
    )


def _requested(approval: Approval, sight: Sight) -> RequestedView | None:
    asked = approval.requested
    if asked is None:
        return None
    shown, redacted = _shown(asked.input, approval.ask.presentation.redact, sight)
    return RequestedView(input=shown, input_hash=None if redacted else asked.input_hash, digest=asked.digest)


def _decision(cast: CastVote, *, counts: bool, frame: bool) -> DecisionView:
    vote = cast.vote
    return DecisionView(
        decision=vote.decision,
        approver=vote.approver,
        channel=vote.channel,
        submitted_by=vote.submitted_by,
        comment=None if frame else vote.comment,
        digest=None if frame else vote.digest if vote.edited is None else vote.edited.digest,
        at=rfc3339(cast.at_ms),
        counts=counts,
        step_up=None if vote.step_up is UNSET else _step_up(vote.step_up),
    )


def _step_up(done: StepUp) -> StepUpView:
    return StepUpView(at=rfc3339(done.at_ms), acr=done.acr, amr=done.amr)
