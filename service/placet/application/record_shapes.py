"""Records and lines of trails as they are answered: their members, and nothing of how they come about.

Members are always there, null or empty where they do not apply; only ``token``, ``replayed``,
``model``, ``confirmation`` and ``input_redacted`` come and go.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from placet.application.commands import Sha256
from placet.domain.deliveries import DeliveryState, Failure
from placet.domain.model import (
    ActorKind,
    Effect,
    OutcomeStatus,
    Person,
    Presentation,
    Risk,
    Status,
    Verdict,
)

Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""RFC 3339 in UTC, with milliseconds."""
RawObject = Annotated[Raw, Meta(extra_json_schema={"type": "object"})]
"""A JSON object that only passes through."""


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
    """How many distinct people must approve, or reject, and how many have, of those whose vote counts."""

    required: int
    approved: int
    rejections: int
    rejected: int


class StepUpView(Struct, frozen=True, kw_only=True):
    """The sign-in that was done for a decision, as the issuer says."""

    at: Timestamp
    acr: str | None
    amr: Sequence[str]


class DecisionView(Struct, frozen=True, kw_only=True):
    """One vote, whether it counts, and how its author signed in for it."""

    decision: Verdict
    approver: Person
    channel: str
    submitted_by: str | None
    comment: str | None
    digest: Sha256 | None
    at: Timestamp
    counts: bool
    step_up: StepUpView | None


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
    """Paths on this service: of the record, and of its page for approvers."""

    self: str
    ui: str


class DeliveryView(Struct, frozen=True, kw_only=True):
    """Who is told of it, as answered: how that stands, how often it was tried, and why it failed last."""

    target: str
    state: DeliveryState
    attempts: int
    error: Failure | None
    at: Timestamp


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
    suspended: str | None
    consumption: ConsumptionView | None
    outcome: OutcomeView | None
    requested: RequestedView | None
    deliveries: Sequence[DeliveryView]
    extensions: RawObject
    links: LinksView
    model: dict[str, Any] | UnsetType = UNSET
    confirmation: dict[str, Any] | UnsetType = UNSET
    token: str | UnsetType = UNSET
    replayed: bool | UnsetType = UNSET


class EventView(Struct, frozen=True, kw_only=True):
    """A transition, as the event stream tells it; ``status`` is the record's by now."""

    id: str
    type: str
    at: Timestamp
    status: Status
    capability: str
    run: str | None
    asked_by: str


class TrailView(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of the audit trail, as answered."""

    seq: int
    at: Timestamp
    type: str
    by: str
    channel: str | UnsetType = UNSET
    credential: str | UnsetType = UNSET
    code: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    count: int | UnsetType = UNSET
    decision: Verdict | UnsetType = UNSET
    rule: str | UnsetType = UNSET
    policy: Sha256 | UnsetType = UNSET
    digest: Sha256 | UnsetType = UNSET
    input_hash: Sha256 | UnsetType = UNSET
    target: str | UnsetType = UNSET
    error: Failure | UnsetType = UNSET


class WebhookDataView(Struct, frozen=True, kw_only=True):
    """What an event sent to a webhook is about: the line of the trail, and the record as it is by now."""

    event: TrailView
    approval: RecordView


class WebhookView(Struct, frozen=True, kw_only=True):
    """An event, as it is sent to webhooks; its type is ``approval.`` and what happened."""

    type: str
    timestamp: Timestamp
    data: WebhookDataView


class WebhookTestDataView(Struct, frozen=True, kw_only=True):
    """Which endpoint is tried out."""

    tenant: str
    webhook: str


class WebhookTestView(Struct, frozen=True, kw_only=True):
    """A message that is about nothing, as ``placet webhooks test`` sends it."""

    type: str
    timestamp: Timestamp
    data: WebhookTestDataView
