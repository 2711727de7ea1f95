"""What callers may say, as typed values: the bodies of the API's calls.

Unknown members are refused. Members that only pass through are ``Any`` here and have been admitted
before (:mod:`placet.domain.admission`). Bounds are those of :mod:`placet.domain.limits`.
"""

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from placet.domain import limits
from placet.domain.admission import MAX_SAFE_INTEGER
from placet.domain.model import ActorKind, Effect, OutcomeStatus, Risk, Verdict

Id = Annotated[str, Meta(pattern=limits.whole(limits.ID_PATTERN))]
PersonId = Annotated[str, Meta(min_length=1, max_length=limits.PERSON_ID_MAX_CHARS)]
Capability = Annotated[str, Meta(pattern=limits.whole(limits.CAPABILITY_PATTERN))]
Sha256 = Annotated[str, Meta(pattern=limits.whole("[0-9a-f]{64}"), description="SHA-256, lower-case hex")]
Run = Annotated[str, Meta(pattern=limits.whole(limits.RUN_PATTERN))]
ExecutionId = Annotated[str, Meta(pattern=limits.whole(limits.EXECUTION_ID_PATTERN))]
Milliseconds = Annotated[int, Meta(ge=1, le=MAX_SAFE_INTEGER)]
Moment = Annotated[datetime, Meta(tz=True, description="RFC 3339 with an offset")]
JsonObject = dict[str, Any]


class ActorBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """On whose behalf the tool would run."""

    id: PersonId
    kind: ActorKind
    display_name: Annotated[str, Meta(max_length=limits.DISPLAY_NAME_MAX_CHARS)] | None = None
    on_behalf_of: Annotated[tuple[PersonId, ...], Meta(max_length=limits.ON_BEHALF_OF_MAX_ITEMS)] = ()
    attributes: JsonObject = {}


class PresentationBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The runtime's own words for the card; ``redact`` are JSON Pointers into the input."""

    title: Annotated[str, Meta(max_length=limits.TITLE_MAX_CHARS)] | None = None
    summary: Annotated[str, Meta(max_length=limits.SUMMARY_MAX_CHARS)] | None = None
    redact: Annotated[
        tuple[Annotated[str, Meta(max_length=limits.POINTER_MAX_CHARS)], ...],
        Meta(max_length=limits.REDACT_MAX_ITEMS),
    ] = ()


class Create(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/approvals``."""

    capability: Capability
    actor: ActorBody
    effect: Effect
    input: Any = UNSET
    input_hash: Sha256 | UnsetType = UNSET
    id: Id | UnsetType = UNSET
    surface: Capability = "direct"
    context: JsonObject = {}
    risk: Risk = Risk.MEDIUM
    reasons: Annotated[
        tuple[Annotated[str, Meta(max_length=limits.REASON_MAX_CHARS)], ...],
        Meta(max_length=limits.REASONS_MAX_ITEMS),
    ] = ()
    types: Annotated[
        tuple[Annotated[str, Meta(max_length=limits.TYPE_MAX_CHARS)], ...],
        Meta(max_length=limits.TYPES_MAX_ITEMS),
    ] = ()
    allowed_decisions: Annotated[tuple[Verdict, ...], Meta(min_length=1, max_length=3)] = (
        Verdict.APPROVE,
        Verdict.REJECT,
    )
    presentation: PresentationBody = PresentationBody()
    run: Run | None = None
    audience: Id | UnsetType = UNSET
    expires_in_ms: Milliseconds | UnsetType = UNSET
    expires_at: Moment | UnsetType = UNSET
    use_within_ms: Milliseconds | None = None
    extensions: JsonObject = {}


class ApproverBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom a bridge speaks for."""

    id: PersonId


class Decide(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/approvals/{id}/decision``: ``digest`` is of the card that was shown."""

    decision: Verdict
    digest: Sha256
    comment: str | None = None
    input: Any = UNSET
    approver: ApproverBody | UnsetType = UNSET


class DecideItem(Decide, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One decision of several: what ``Decide`` says, and about which approval."""

    id: Id


class DecideMany(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/decisions``: each is judged by itself."""

    decisions: Annotated[tuple[DecideItem, ...], Meta(min_length=1, max_length=limits.BATCH_MAX_ITEMS)]


class CallBack(Decide, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/callbacks/{name}``: what ``Decide`` says, about which approval, and for whom."""

    approval_id: Id
    approver: ApproverBody


class Cancel(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST …/cancel``: nothing to say."""


class Consume(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/approvals/{id}/consume``: the call about to run, and the right to run it."""

    execution_id: ExecutionId
    capability: Capability
    actor: ActorBody
    effect: Effect
    token: str | None = None
    surface: Capability = "direct"
    context: JsonObject = {}
    input: Any = UNSET
    input_hash: Sha256 | UnsetType = UNSET


class Introspect(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/tokens/introspect``: as consume, but nothing is spent."""

    token: str
    capability: Capability
    actor: ActorBody
    effect: Effect
    execution_id: ExecutionId | None = None
    surface: Capability = "direct"
    context: JsonObject = {}
    input: Any = UNSET
    input_hash: Sha256 | UnsetType = UNSET


class ReportOutcome(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``POST /v1/approvals/{id}/outcome``."""

    execution_id: ExecutionId
    status: OutcomeStatus
    summary: str | None = None
