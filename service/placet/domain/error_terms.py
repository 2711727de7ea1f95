"""The closed vocabularies of the error table, and the small values its faces are made of.

Stages and codes are Placet's own. The confirmation words are Agent Surface's (its docs, "Error Model"),
the category is a member of Kortyx's failure descriptor.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Literal

from msgspec import Meta, Struct

from placet.domain.limits import whole


class Stage(StrEnum):
    """Where in the order of judgement a request was refused."""

    APPROVAL = "approval"
    INPUT_VALIDATION = "input-validation"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    POLICY = "policy"
    EXECUTION = "execution"


class Category(StrEnum):
    """What kind of failure a Kortyx runtime is told of."""

    APPROVAL = "approval"
    VALIDATION = "validation"
    AUTHENTICATION = "authentication"
    AUTHORIZATION = "authorization"
    RATE_LIMIT = "rate_limit"
    STORAGE = "storage"
    INTERNAL = "internal"


class Retry(StrEnum):
    """Agent Surface's ``AgentErrorRetry``: what a runtime may do next."""

    NO = "no"
    YES = "yes"
    AFTER_REFRESH = "after-refresh"
    AFTER_DELAY = "after-delay"
    WITH_CONFIRMATION = "with-confirmation"
    WITH_CHANGES = "with-changes"


class ConfirmationCode(StrEnum):
    """The codes of Agent Surface's closed list that Placet speaks."""

    CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
    CONFIRMATION_INVALID = "CONFIRMATION_INVALID"
    INVALID_INPUT = "INVALID_INPUT"
    INVOCATION_CONFLICT = "INVOCATION_CONFLICT"
    NOT_AUTHENTICATED = "NOT_AUTHENTICATED"
    NOT_AUTHORIZED = "NOT_AUTHORIZED"
    RATE_LIMITED = "RATE_LIMITED"
    EXECUTION_FAILED = "EXECUTION_FAILED"


class ConfirmationReason(StrEnum):
    """Why a confirmation is invalid: ``details.reason`` of ``CONFIRMATION_INVALID``."""

    DENIED = "denied"
    EXPIRED = "expired"
    CONSUMED = "consumed"
    CANCELLED = "cancelled"
    MISMATCH = "mismatch"
    SELF_APPROVAL = "self-approval"


class Confirmation(Struct, frozen=True, kw_only=True):
    """How a code is told to an Agent Surface runtime; ``reason`` only with ``CONFIRMATION_INVALID``."""

    code: ConfirmationCode
    retry: Retry
    reason: ConfirmationReason | None = None
    transient: bool = False


class Issue(Struct, frozen=True, kw_only=True):
    """One fault of a request: where (a JSON Pointer from the body's root) and what; never a value."""

    path: str
    message: str


class PendingFace(
    Struct,
    frozen=True,
    kw_only=True,
    rename={"approval_id": "confirmationId", "expires_at": "expiresAt"},
):
    """The ``details`` of ``CONFIRMATION_REQUIRED``: an approval that waits.

    ``expires_at`` is RFC 3339 in UTC; ``summary`` may be of any length, it is cut where it is shown.
    """

    approval_id: str
    summary: str
    expires_at: str
    effect: str
    origin: Literal["server"] = "server"


class DecidedStatus(StrEnum):
    """How an approval stands that no longer takes decisions: ``details.status``."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CONSUMED = "consumed"


class ForbiddenReason(StrEnum):
    """What a valid credential lacks: ``details.reason`` of ``FORBIDDEN``."""

    SCOPE = "scope"
    NO_RULE = "no-rule"
    NOT_AN_APPROVER = "not-an-approver"
    CHANNEL_NOT_ALLOWED = "channel-not-allowed"
    DECISION_NOT_ALLOWED = "decision-not-allowed"
    COMMENT_REQUIRED = "comment-required"
    HIDDEN_INPUT = "hidden-input"
    NOT_THE_AUDIENCE = "not-the-audience"
    NOT_THE_ASKER = "not-the-asker"
    NOT_THE_CONSUMER = "not-the-consumer"
    APPROVER_NO_LONGER_ENTITLED = "approver-no-longer-entitled"
    QUORUM_NO_LONGER_MET = "quorum-no-longer-met"


_ScopeName = Annotated[str, Meta(pattern=whole("[a-z][a-z_]{0,31}"))]
ScopeNames = Annotated[tuple[_ScopeName, ...], Meta(min_length=1, max_length=32)]
"""Scopes of which a call takes any one: ``details.scopes`` of ``FORBIDDEN``; a later server may have more."""


_CapabilityPattern = Annotated[str, Meta(pattern=whole("[!-~]{1,200}"))]
CapabilityPatterns = Annotated[tuple[_CapabilityPattern, ...], Meta(min_length=1, max_length=1000)]
"""What a client may ask for, as ``orders.*``: ``details.capabilities`` of ``FORBIDDEN``."""

RuleName = Annotated[str, Meta(pattern=whole("[a-z][a-z-]{0,31}"))]
"""A rule that Placet brings along: ``details.rule`` of ``FORBIDDEN``."""


class RateLimitReason(StrEnum):
    """Which limit was met: ``details.reason`` of ``RATE_LIMITED``, in Agent Surface's words."""

    RATE = "rate"
    QUEUE_FULL = "queue-full"


FORBIDDEN_DETAILS: Mapping[str, str] = MappingProxyType(
    {
        ForbiddenReason.SCOPE: (
            "This credential is not of the kind that may do this; use another, with the scopes that the call"
            " takes, or an approver's to decide in person."
        ),
        ForbiddenReason.NO_RULE: (
            "No policy rule allows a request like this one; have an operator add a rule to the file of"
            " PLACET_POLICY_FILE, or ask for less."
        ),
        ForbiddenReason.NOT_AN_APPROVER: (
            "You are not one of the people who may decide this approval; have one of them decide it."
        ),
        ForbiddenReason.CHANNEL_NOT_ALLOWED: (
            "This approval may not be decided through this channel; decide it through one its policy allows."
        ),
        ForbiddenReason.DECISION_NOT_ALLOWED: (
            "The request does not take this decision from you; choose one of its allowed_decisions. Who has"
            " rejected it does not approve it, nor who changed its input."
        ),
        ForbiddenReason.COMMENT_REQUIRED: "This decision needs a comment; send it again with one.",
        ForbiddenReason.HIDDEN_INPUT: (
            "Approvers must see the input of this request; send input, not input_hash alone."
        ),
        ForbiddenReason.NOT_THE_AUDIENCE: (
            "Only the audience of this approval may do this; use the credential of the client it names."
        ),
        ForbiddenReason.NOT_THE_ASKER: (
            "Only the client that asked, or an administrator, may do this; use the credential of one of them."
        ),
        ForbiddenReason.NOT_THE_CONSUMER: (
            "Only the client that consumed this approval may report its outcome; use its credential."
        ),
        ForbiddenReason.APPROVER_NO_LONGER_ENTITLED: (
            "A person whose vote counted may no longer decide this; ask for a new approval."
        ),
        ForbiddenReason.QUORUM_NO_LONGER_MET: (
            "The votes no longer meet the quorum now asked for; ask for a new approval."
        ),
    }
)
"""What ``detail`` says for each reason of ``FORBIDDEN``."""

FORBIDDEN_MORE: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        (ForbiddenReason.SCOPE, "scopes"): (
            "This credential has none of the scopes in details.scopes, and the call takes one of them; use a"
            " credential that has it, or an approver's to decide in person."
        ),
        (ForbiddenReason.SCOPE, "capabilities"): (
            "This credential may ask only for the capabilities in details.capabilities; ask for one of those,"
            " or have an operator make a client that may ask for this one."
        ),
        (ForbiddenReason.NO_RULE, "rule"): (
            "There is no policy file, and the built-in rule takes no request of critical risk; have the"
            " operator name a file with a rule that does in PLACET_POLICY_FILE, or ask with less risk."
        ),
    }
)
"""What it says instead where a member of ``details`` says more."""

RATE_LIMIT_DETAILS: Mapping[str, str] = MappingProxyType(
    {
        RateLimitReason.RATE: (
            "Requests come faster than the limit; wait as long as Retry-After says, then repeat the request."
        ),
        RateLimitReason.QUEUE_FULL: (
            "Too many approvals are pending; have some decided or cancelled, then repeat the request."
        ),
    }
)
"""What ``detail`` says for each reason of ``RATE_LIMITED``."""
