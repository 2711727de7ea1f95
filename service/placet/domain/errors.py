"""The one error table: every code there is, and the way back from a problem document to its class.

The rows stand in :mod:`~placet.domain.approval_errors` and :mod:`~placet.domain.request_errors`, one
exception class per code; HTTP, command line, client, OpenAPI and documentation are made from them, so that
nothing about a code is written down a second time. Codes may be added; their meanings never change.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from placet.domain import approval_errors, request_errors
from placet.domain.approval_errors import (
    ApprovalAlreadyDecided,
    ApprovalAlreadyExists,
    ApprovalCancelled,
    ApprovalConsumed,
    ApprovalExpired,
    ApprovalInputMismatch,
    ApprovalNotFound,
    ApprovalPending,
    ApprovalRejected,
    ApprovalRequired,
    ApprovalResumeMismatch,
    ApprovalSelfApproval,
    ApprovalTokenInvalid,
    ApprovalUnserializableInput,
)
from placet.domain.error_terms import (
    Category,
    Confirmation,
    ConfirmationCode,
    ForbiddenReason,
    Issue,
    PendingFace,
    RateLimitReason,
    Retry,
    Stage,
)
from placet.domain.faces import ISSUES_MAX, PlacetError
from placet.domain.limits import whole
from placet.domain.model import Effect
from placet.domain.request_errors import (
    Forbidden,
    HostNotAllowed,
    InputInvalid,
    InputTooLarge,
    InternalError,
    InvocationConflict,
    IssuerUnavailable,
    MethodNotAllowed,
    RateLimited,
    RouteNotFound,
    StoreUnavailable,
    Unauthenticated,
    UnsupportedMediaType,
)

__all__ = [
    "TABLE",
    "ApprovalAlreadyDecided",
    "ApprovalAlreadyExists",
    "ApprovalCancelled",
    "ApprovalConsumed",
    "ApprovalExpired",
    "ApprovalInputMismatch",
    "ApprovalNotFound",
    "ApprovalPending",
    "ApprovalRejected",
    "ApprovalRequired",
    "ApprovalResumeMismatch",
    "ApprovalSelfApproval",
    "ApprovalTokenInvalid",
    "ApprovalUnserializableInput",
    "Forbidden",
    "ForbiddenReason",
    "HostNotAllowed",
    "InputInvalid",
    "InputTooLarge",
    "InternalError",
    "InvocationConflict",
    "Issue",
    "IssuerUnavailable",
    "MethodNotAllowed",
    "PendingFace",
    "PlacetError",
    "RateLimitReason",
    "RateLimited",
    "RouteNotFound",
    "StoreUnavailable",
    "Unauthenticated",
    "UnknownCode",
    "UnsupportedMediaType",
    "from_problem",
    "pending_faces",
]

_Code = Annotated[str, Meta(pattern=whole(r"[A-Z][A-Z0-9_]{0,63}"))]
_HttpStatus = Annotated[int, Meta(ge=200, le=599)]
_Delay = Annotated[int, Meta(ge=0, le=86_400_000)]  # at most a day: a longer pause is no pause
_Issues = Annotated[tuple[Issue, ...], Meta(max_length=ISSUES_MAX)]

_T = TypeVar("_T")

TABLE: Mapping[str, type[PlacetError]] = MappingProxyType(
    {
        row.code: row
        for module in (approval_errors, request_errors)
        for row in vars(module).values()
        if isinstance(row, type) and issubclass(row, PlacetError) and hasattr(row, "code")
    }
)
"""Every code, in the order of the reference: made from the classes, so that none can be left out."""


def pending_faces(
    *, approval_id: str, summary: str, expires_at: str, effect: Effect
) -> dict[str, dict[str, object]]:
    """The ``model`` and ``confirmation`` members of a pending record; ``expires_at`` is RFC 3339."""
    required = ApprovalRequired(
        PendingFace(approval_id=approval_id, summary=summary, expires_at=expires_at, effect=effect)
    )
    return {"model": required.model(), "confirmation": required.confirmation()}


class UnknownCode(PlacetError):  # noqa: N818 - named as the rows are, of which it is none
    """The answer has a code that this version of the client does not know.

    Treat it as a refusal; update the client to learn what it means.
    """

    stage = Stage.EXECUTION
    category = Category.INTERNAL
    title = "Unknown code"
    confirms = Confirmation(code=ConfirmationCode.EXECUTION_FAILED, retry=Retry.NO)

    def __init__(self, code: str, *, status: int, retryable: bool) -> None:
        super().__init__()
        self.code = code
        self.status = status
        self.retryable = retryable


def from_problem(document: object, *, status: int = 500) -> PlacetError:
    """Turn a decoded problem document back into the error it was rendered from.

    Known codes come back as their class, whose faces are rendered anew: no sentence of the document is
    ever passed on, but for the messages of issues. Whatever is missing, malformed or of a later version is
    left out; nothing is raised.

    Args:
        document: Any decoded JSON; what is no problem document becomes an ``UnknownCode``.
        status: The status of the HTTP answer, for a document that has none.
    """
    code = _read(document, "code", form=_Code)
    status = _read(document, "status", form=_HttpStatus) or status
    row = TABLE.get(code or "")
    if row is None or row is ApprovalResumeMismatch:
        return UnknownCode(
            code or "UNKNOWN", status=status, retryable=_read(document, "retryable", form=bool) or False
        )
    details = {name: _read(document, "details", name, form=form) for name, form in row.detail_members.items()}
    waits = row.confirms.code is ConfirmationCode.CONFIRMATION_REQUIRED
    return row.restored(
        status=status if status in row.other_statuses else row.status,
        details={name: value for name, value in details.items() if value is not None},
        issues=(_read(document, "model", "issues", form=_Issues) or ()) if row is InputInvalid else (),
        retry_after_ms=_read(document, "failure", "retryAfterMs", form=_Delay) if row.retryable else None,
        pending=_read(document, "confirmation", "details", form=PendingFace) if waits else None,
    )


def _read(document: object, *path: str, form: type[_T]) -> _T | None:
    """The member at ``path`` if it is there, has the form, and could be written as JSON again."""
    value = document
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    try:
        read = msgspec.convert(value, form)
        msgspec.json.encode(read)  # refuses lone surrogates, which a lenient JSON reader lets in
    except (msgspec.ValidationError, UnicodeEncodeError):
        return None
    return read
