"""The error table in words: what ``/errors/<code>``, the README and OpenAPI say about each code.

Everything here is read off the classes of :mod:`placet.domain.errors`; only the examples are added.
"""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from placet.domain.error_terms import ForbiddenReason, Issue, PendingFace, RateLimitReason, Retry
from placet.domain.errors import (
    TABLE,
    ApprovalAlreadyDecided,
    ApprovalConsumed,
    ApprovalPending,
    ApprovalRequired,
    ApprovalResumeMismatch,
    ApprovalUnserializableInput,
    Forbidden,
    InputInvalid,
    InputTooLarge,
    PlacetError,
    RateLimited,
)
from placet.domain.limits import Limits
from placet.domain.model import Status

_PENDING = PendingFace(
    approval_id="apr_2f8c61d09b",
    summary="Refund 120.00 EUR for order 4711",
    expires_at="2026-03-01T09:15:00.000Z",
    effect="external",
)

_EXAMPLES: Mapping[str, PlacetError] = MappingProxyType(
    {
        error.code: error
        for error in (
            ApprovalRequired(_PENDING),
            ApprovalPending(_PENDING),
            ApprovalConsumed("run-42/attempt-1"),
            ApprovalAlreadyDecided(Status.REJECTED),
            ApprovalUnserializableInput("/input/amount"),
            InputInvalid([Issue(path="/expires_in_ms", message="Expected an integer.")]),
            InputTooLarge(Limits().max_body_bytes),
            Forbidden(ForbiddenReason.SCOPE, scopes=("consume",)),
            RateLimited(RateLimitReason.QUEUE_FULL),
        )
    }
)
"""The codes that must say something of the case; all others always say the same."""

_RETRIES: Mapping[Retry, str] = MappingProxyType(
    {
        Retry.NO: "No: repeating it does not help.",
        Retry.WITH_CONFIRMATION: "No: a new approval is needed.",
        Retry.WITH_CHANGES: "No: change the request first.",
    }
)


class ErrorDoc(Struct, frozen=True, kw_only=True):
    """Everything there is to say about one code.

    A code that is no HTTP answer has no ``statuses``, no ``confirmation`` and no ``example``.
    ``confirmation`` is the Agent Surface code, its reason and its retry word as one Markdown phrase.
    ``example`` is a problem document; for ``APPROVAL_REQUIRED``, which is none, the two faces that a pending
    record carries.
    """

    code: str
    title: str
    statuses: tuple[int, ...]
    stage: str
    category: str
    retryable: bool
    exposed: bool
    meaning: str
    action: str
    retry: str
    confirmation: str
    reasons: Mapping[str, str]
    example: dict[str, object] | None


def _doc(row: type[PlacetError]) -> ErrorDoc:
    meaning, action = row.explanation()
    answered = row is not ApprovalResumeMismatch
    return ErrorDoc(
        code=row.code,
        title=row.title,
        statuses=(row.status, *row.other_statuses) if answered else (),
        stage=row.stage,
        category=row.category,
        retryable=row.retryable,
        exposed=row.exposed,
        meaning=meaning,
        action=action,
        retry=_retry(row) if answered else "It is never an answer.",
        confirmation=_confirmation(row) if answered else "",
        reasons=_reasons(row),
        example=_example(row) if answered else None,
    )


def _reasons(row: type[PlacetError]) -> Mapping[str, str]:
    """What each reason says, and what it says where there is more to say."""
    return {
        name: sentence
        for reason, usual in row.reasons.items()
        for name, sentence in (
            (reason, usual),
            *((f"{reason}, {member}", said) for (of, member), said in row.more.items() if of == reason),
        )
    }


def _retry(row: type[PlacetError]) -> str:
    if row.retryable:
        return "Yes, unchanged, after as long as Retry-After says."
    return _RETRIES[row.confirms.retry]


def _confirmation(row: type[PlacetError]) -> str:
    reason = "denied or consumed" if row is ApprovalAlreadyDecided else row.confirms.reason
    return f"`{row.confirms.code}` {reason or ''}".rstrip() + f", {row.confirms.retry}"


def _example(row: type[PlacetError]) -> dict[str, object]:
    error = _EXAMPLES.get(row.code) or row()
    if row is ApprovalRequired:
        return {"model": error.model(), "confirmation": error.confirmation()}
    return error.problem()


DOCS: Mapping[str, ErrorDoc] = MappingProxyType({code: _doc(row) for code, row in TABLE.items()})
"""What there is to say about every code, in the order of the table."""


def error_page(code: str) -> ErrorDoc | None:
    """What the page ``/errors/<code>`` says; ``None`` where there is no such code."""
    return DOCS.get(code)


def markdown_table() -> str:
    """All codes as a Markdown table, one line each, in the order of the table; ends with a newline."""
    lines = [
        "| code | HTTP | stage | retry unchanged | model may read | confirmation | meaning, and what to do |",
        "|---|---|---|---|---|---|---|",
    ]
    for doc in DOCS.values():
        cells = (
            f"`{doc.code}`",
            "/".join(str(status) for status in doc.statuses) or "audit only",
            doc.stage,
            "yes" if doc.retryable else "no",
            "yes" if doc.exposed else "no",
            doc.confirmation or "—",
            f"{doc.meaning} {doc.action}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
