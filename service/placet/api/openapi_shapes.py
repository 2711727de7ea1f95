"""Shapes of answers that are built as plain objects: problem documents with their faces, pages, health.

Nothing is ever decoded into these types. They are here to be described, and the tests hold every problem
document and every example against them.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from placet.application.record_shapes import RecordView, TrailView
from placet.domain.error_terms import Category, ConfirmationCode, Issue, Retry, Stage


class Shape(Struct, frozen=True, kw_only=True):
    """Base of what is only described."""


class ModelFace(Shape, frozen=True, kw_only=True):
    """All that a model may read of an error: forward it as it is."""

    code: str
    message: str
    retryable: bool
    issues: tuple[Issue, ...] | UnsetType = UNSET


class ConfirmationFace(Shape, frozen=True, kw_only=True):
    """An error as an Agent Surface runtime understands it: its `AgentCapabilityErrorPayload`."""

    code: ConfirmationCode
    message: str
    retry: Retry
    details: dict[str, Any]


class FailureIssue(Shape, frozen=True, kw_only=True):
    """One fault of a request: the path as member names and array indices."""

    code: str
    path: tuple[str | int, ...]


class FailureFace(Shape, frozen=True, kw_only=True, rename={"retry_after_ms": "retryAfterMs"}):
    """An error as a Kortyx runtime understands it: its `FailureDescriptor`."""

    version: Literal[1]
    code: str
    category: Category
    message: str
    retryable: bool
    status: int
    retry_after_ms: int | UnsetType = UNSET
    issues: tuple[FailureIssue, ...] | UnsetType = UNSET


class Problem(Shape, frozen=True, kw_only=True):
    """A refusal (RFC 9457). Judge by `code`, and take codes that you do not know for a refusal too."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    stage: Stage
    retryable: bool
    details: dict[str, str | int | tuple[str, ...]] | UnsetType = UNSET
    model: ModelFace
    confirmation: ConfirmationFace
    failure: FailureFace


class ApprovalPage(Shape, frozen=True, kw_only=True):
    """A page of approvals, newest first."""

    items: tuple[RecordView, ...]
    next_cursor: str | None


class Trail(Shape, frozen=True, kw_only=True):
    """An approval's audit trail, oldest first."""

    items: tuple[TrailView, ...]


class DecisionResult(Shape, frozen=True, kw_only=True):
    """What became of one decision of several: either the approval as it is now, or why it was refused."""

    id: str
    approval: RecordView | UnsetType = UNSET
    error: Problem | UnsetType = UNSET


class DecisionResults(Shape, frozen=True, kw_only=True):
    """What became of several decisions, in the order in which they were sent."""

    results: tuple[DecisionResult, ...]


class Health(Shape, frozen=True, kw_only=True):
    """The process runs."""

    status: Literal["ok"]


class Ready(Shape, frozen=True, kw_only=True):
    """Whether this replica should be sent calls, and if not, why."""

    status: Literal["ready", "unready"]
    faults: tuple[str, ...]


class Jwk(Shape, frozen=True, kw_only=True):
    """An Ed25519 public key (RFC 8037)."""

    kty: Literal["OKP"]
    crv: Literal["Ed25519"]
    x: str
    use: Literal["sig"]
    alg: Literal["EdDSA"]
    kid: str


class JwkSet(Shape, frozen=True, kw_only=True):
    """The public keys that approval tokens are signed with (RFC 7517)."""

    keys: tuple[Jwk, ...]
