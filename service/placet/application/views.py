"""What each kind of caller sees of a record: built once here, shown by every channel.

Members are always there, null or empty where they do not apply; only ``token``, ``replayed``,
``model``, ``confirmation`` and ``input_redacted`` come and go.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from placet.application.commands import Sha256
from placet.application.directory import Caller
from placet.application.rulings import pending_face, rfc3339
from placet.domain.canonical import canonicalize
from placet.domain.errors import ApprovalRequired
from placet.domain.model import (
    EMPTY_OBJECT,
    ActorKind,
    Approval,
    CastVote,
    Effect,
    OutcomeStatus,
    Person,
    Presentation,
    Risk,
    Status,
    TrailEntry,
    Verdict,
)
from placet.domain.principals import Approver, Scope
from placet.domain.redaction import redact
from placet.domain.voters import bridges
from placet.store.codec import encode
from placet.store.record import Record

Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""RFC 3339 in UTC, with milliseconds."""
RawObject = Annotated[Raw, Meta(extra_json_schema={"type": "object"})]
"""A JSON object that only passes through."""


class Sight(Enum):
    """How much of a record a caller sees."""

    WHOLE = "whole"
    """Asker, audience, ``read_input``, ``admin``."""
    CARD = "card"
    """Whoever may decide: the input but for what is redacted."""
    FRAME = "frame"
    """``read``: no input, context, attributes, comments, extensions, nor the hashes of them."""


class ActorView(Struct, frozen=True, kw_only=True):
    """The actor, as the runtime vouched for it."""

    id: str
    kind: ActorKind
    display_name: str | None
    on_behalf_of: Sequence[str]
    attributes: RawObject


class RuleView(Struct, frozen=True, kw_only=True):
    """The rule it was asked under: its name, and the version of the operator's files that have it."""

    name: str
    policy: Sha256 | None


class ClaimedView(Struct, frozen=True, kw_only=True):
    """Effect and risk as they were asked with, where the operator's rules raised them."""

    effect: Effect
    risk: Risk


class QuorumView(Struct, frozen=True, kw_only=True):
    """How many distinct people must approve, or reject, and how many have."""

    required: int
    approved: int
    rejections: int
    rejected: int


class DecisionView(Struct, frozen=True, kw_only=True):
    """One vote."""

    decision: Verdict
    approver: Person
    channel: str
    submitted_by: str | None
    comment: str | None
    digest: Sha256 | None
    at: Timestamp


class ConsumptionView(Struct, frozen=True, kw_only=True):
    """Who spent the grant."""

    execution_id: str
    client: str
    at: Timestamp


class OutcomeView(Struct, frozen=True, kw_only=True):
    """What the runtime reported."""

    status: OutcomeStatus
    summary: str | None
    at: Timestamp


class RequestedView(Struct, frozen=True, kw_only=True):
    """What was asked, of an approval that was approved with changes."""

    input: Raw | None
    input_hash: Sha256 | None
    digest: Sha256 | None


class LinksView(Struct, frozen=True, kw_only=True):
    """Paths on this service; ``ui`` once there is a page for people."""

    self: str
    ui: str | None


class RecordView(Struct, frozen=True, kw_only=True):
    """A record, as answered."""

    id: str
    tenant: str
    status: Status
    capability: str
    surface: str
    actor: ActorView
    effect: Effect
    risk: Risk
    context: RawObject
    input: Raw | None
    input_redacted: bool | UnsetType
    input_hash: Sha256 | None
    digest: Sha256 | None
    reasons: Sequence[str]
    types: Sequence[str]
    allowed_decisions: Sequence[Verdict]
    presentation: Presentation
    run: str | None
    asked_by: str
    audience: str
    requested_at: Timestamp
    expires_at: Timestamp
    use_within_ms: int | None
    use_by: Timestamp | None
    rule: RuleView
    claimed: ClaimedView | None
    quorum: QuorumView
    decisions: Sequence[DecisionView]
    consumption: ConsumptionView | None
    outcome: OutcomeView | None
    requested: RequestedView | None
    extensions: RawObject
    links: LinksView
    model: dict[str, Any] | UnsetType = UNSET
    confirmation: dict[str, Any] | UnsetType = UNSET
    token: str | UnsetType = UNSET
    replayed: bool | UnsetType = UNSET


class TrailView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the audit trail, as answered."""

    seq: int
    at: Timestamp
    type: str
    by: str
    channel: str | UnsetType = UNSET
    credential: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    count: int | UnsetType = UNSET
    rule: str | UnsetType = UNSET
    policy: Sha256 | UnsetType = UNSET
    digest: Sha256 | UnsetType = UNSET
    input_hash: Sha256 | UnsetType = UNSET


def sight_of(caller: Caller, approval: Approval) -> Sight | None:
    """How much the caller sees, ``None`` for nothing at all."""
    ask, who = approval.ask, caller.principal
    votes = (cast.vote for cast in approval.votes)
    if not caller.authority.sees(who, ask, votes, approval.waited_ms):
        return None
    if isinstance(who, Approver):
        return Sight.CARD
    if who.name in {ask.asked_by, ask.audience} or who.scopes & {Scope.READ_INPUT, Scope.ADMIN}:
        return Sight.WHOLE
    return Sight.CARD if bridges(who, ask) else Sight.FRAME


def record_view(
    approval: Approval, sight: Sight, *, token: str | None = None, replayed: bool | None = None
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
            required=approval.required,
            approved=approval.approved,
            rejections=ask.rejections,
            rejected=approval.rejected,
        ),
        decisions=[_decision(cast, frame=frame) for cast in approval.votes],
        consumption=_consumption(approval),
        outcome=_outcome(approval),
        requested=None if frame else _requested(approval, sight),
        extensions=EMPTY_OBJECT if frame else ask.extensions,
        links=LinksView(self=link_of(approval), ui=None),
        token=UNSET if token is None else token,
        replayed=UNSET if replayed is None else replayed,
        **faces,
    )


def link_of(approval: Approval) -> str:
    """The record's path on this service."""
    return f"/v1/approvals/{approval.ask.id}"


def pending_body(record: Record, sight: Sight) -> bytes:
    """A pending record as answered, encoded.

    A pure function of the stored parts: while a question waits, whoever polls it gets the same bytes.
    """
    return record.derived(sight, lambda: encode(record_view(record.approval(), sight)))


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
        count=entry.count,
        rule=entry.rule,
        policy=entry.policy,
        digest=UNSET if sight is Sight.FRAME else entry.digest,
        input_hash=entry.input_hash if sight is Sight.WHOLE else UNSET,
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


def _requested(approval: Approval, sight: Sight) -> RequestedView | None:
    asked = approval.requested
    if asked is None:
        return None
    shown, redacted = _shown(asked.input, approval.ask.presentation.redact, sight)
    return RequestedView(input=shown, input_hash=None if redacted else asked.input_hash, digest=asked.digest)


def _decision(cast: CastVote, *, frame: bool) -> DecisionView:
    vote = cast.vote
    return DecisionView(
        decision=vote.decision,
        approver=vote.approver,
        channel=vote.channel,
        submitted_by=vote.submitted_by,
        comment=None if frame else vote.comment,
        digest=None if frame else vote.digest if vote.edited is None else vote.edited.digest,
        at=rfc3339(cast.at_ms),
    )
