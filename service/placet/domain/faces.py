"""What every refusal has in common: the base class, and the faces that are rendered from it.

One error is told to four readers, and each is told only what it may know:

* ``problem()``: the developer; an RFC 9457 document, which carries the other three.
* ``model()``: the model; code, message and retryable, or the generic error where the code is not exposed.
* ``confirmation()``: an Agent Surface runtime; its ``AgentCapabilityErrorPayload`` (docs, "Error Model").
* ``failure()``: a Kortyx runtime; its ``FailureDescriptor`` (its core package, ``errors.ts``).

Every sentence is fixed by a class of :mod:`placet.domain.errors`. The little that comes from outside (the
paths of issues, the summary of a pending approval) is cut where it is rendered, and no value of an input
is ever part of it.
"""

import inspect
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Self

import msgspec

from placet.domain.cutting import cut
from placet.domain.error_terms import (
    Category,
    Confirmation,
    ConfirmationCode,
    ConfirmationReason,
    Issue,
    PendingFace,
    Retry,
    Stage,
)
from placet.domain.limits import CONFIRMATION_SUMMARY_MAX_CHARS, POINTER_MAX_CHARS
from placet.domain.redaction import parse_pointer

GENERIC_MESSAGE: Final = "The operation failed."
"""All that a model reads of a code that is not exposed."""

MESSAGE_MAX_CHARS: Final = CONFIRMATION_SUMMARY_MAX_CHARS
"""Longest message of an issue: Agent Surface bounds summaries and messages alike."""

ISSUES_MAX: Final = 20
"""Most issues in one answer (Kortyx: ``FAILURE_LIMITS.issues``)."""

RETRY_AFTER_MS: Final = 1_000
"""Pause before asking again where nothing better is known: no tight loop, yet soon after a click."""

# An unexposed code is told to Agent Surface in the words of the code it maps to: so an approval that is
# somebody else's and one that does not match read the same there.
_UNEXPOSED_MESSAGES: Mapping[ConfirmationCode, str] = MappingProxyType(
    {
        ConfirmationCode.CONFIRMATION_INVALID: "The confirmation does not fit this request. Do not retry.",
        ConfirmationCode.INVALID_INPUT: "The input cannot be accepted. Change it before trying again.",
        ConfirmationCode.INVOCATION_CONFLICT: "The id was used before. Use a fresh one for a new request.",
        ConfirmationCode.EXECUTION_FAILED: GENERIC_MESSAGE,
    }
)

Details = Mapping[str, str | int | tuple[str, ...]]
"""Facts for the developer, by the name of the member of ``details``."""

_ARRAY_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,8}")


class PlacetError(Exception):
    """A refusal: the base class of every row of the error table.

    The docstring of a row is its fixed ``detail``: what happened and, after a blank line, what to do next.

    Attributes:
        code: The stable name; its meaning never changes.
        status: The HTTP status; 0 where the code is for the audit trail alone.
        other_statuses: Further statuses that the same code may come with.
        stage: Where in the order of judgement the refusal fell.
        category: The category of the Kortyx face.
        title: A short name for people.
        message: The sentence for the model; the generic one unless the code is exposed.
        retryable: Whether the same request, unchanged, may succeed later.
        exposed: Whether a model may read the code and its message.
        confirms: How the Agent Surface face tells it.
        reasons: The sentence that stands in for the docstring, by reason, where the code has reasons.
        more: The sentence that stands in for that, by reason and a member of ``details`` that says more.
        detail_members: Which members ``details`` may have, and the type each is read back as.
        details: Facts for the developer; in the problem document only.
        issues: Faults of the request; of ``INPUT_INVALID`` only.
        retry_after_ms: How long to wait before the same request makes sense.
        pending: The approval that waits, for the codes that say so.
        request_id: The ``X-Request-ID`` under which the service logged it, where a client knows it.
    """

    code: str
    status: int
    other_statuses: tuple[int, ...] = ()
    stage: Stage
    category: Category
    title: str
    message: str = GENERIC_MESSAGE
    retryable: bool = False
    exposed: bool = False
    confirms: Confirmation
    reasons: Mapping[str, str] = MappingProxyType({})
    more: Mapping[tuple[str, str], str] = MappingProxyType({})
    detail_members: Mapping[str, Any] = MappingProxyType({})

    details: Details
    issues: tuple[Issue, ...]
    retry_after_ms: int | None
    pending: PendingFace | None
    request_id: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.details = {}
        self.issues = ()
        self.retry_after_ms = None
        self.pending = None

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"

    @classmethod
    def restored(
        cls,
        *,
        status: int,
        details: Details,
        issues: Sequence[Issue] = (),
        retry_after_ms: int | None = None,
        pending: PendingFace | None = None,
    ) -> Self:
        """Rebuild an error from what a problem document said, past the constructor of the class.

        The constructors ask for all that a server must say; a client takes what an older or newer server
        did say.
        """
        error = cls.__new__(cls)
        PlacetError.__init__(error)
        error.status = status
        error.details = details
        error.issues = tuple(issues)
        error.retry_after_ms = retry_after_ms
        error.pending = pending
        return error

    @classmethod
    def explanation(cls) -> tuple[str, str]:
        """The two halves of the docstring: what the code means, and what to do about it."""
        meaning, _, action = inspect.cleandoc(cls.__doc__ or cls.title).partition("\n\n")
        return " ".join(meaning.split()), " ".join(action.split())

    @property
    def detail(self) -> str:
        """The fixed text for the developer."""
        reason = str(self.details.get("reason", ""))
        said = [self.more[reason, member] for member in self.details if (reason, member) in self.more]
        return (said or [self.reasons.get(reason) or " ".join(self.explanation()).rstrip()])[0]

    @property
    def confirmation_reason(self) -> ConfirmationReason | None:
        """Why the confirmation is invalid, where it is."""
        return self.confirms.reason

    def retry_after_s(self) -> int | None:
        """The value of the ``Retry-After`` header: whole seconds, rounded up (RFC 9110 §10.2.3)."""
        return None if self.retry_after_ms is None else -(-self.retry_after_ms // 1000)

    def problem(self) -> dict[str, object]:
        """Render the problem document (RFC 9457 §3) with our extension members."""
        return {
            "type": f"/errors/{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
            "stage": self.stage,
            "retryable": self.retryable,
            **({"details": self._details()} if self.details else {}),
            "model": self.model(),
            "confirmation": self.confirmation(),
            "failure": self.failure(),
        }

    def model(self) -> dict[str, object]:
        """Render all that a model may read."""
        if not self.exposed:
            return {"code": "INTERNAL_ERROR", "message": GENERIC_MESSAGE, "retryable": False}
        face: dict[str, object] = {"code": self.code, "message": self.message, "retryable": self.retryable}
        if self.issues:
            face["issues"] = self._issues()
        return face

    def confirmation(self) -> dict[str, object]:
        """Render Agent Surface's error payload."""
        return {
            "code": self.confirms.code,
            "message": self.message if self.exposed else _UNEXPOSED_MESSAGES[self.confirms.code],
            "retry": self.confirms.retry,
            "details": self._confirmation_details(),
        }

    def failure(self) -> dict[str, object]:
        """Render Kortyx's failure descriptor; its issues have a code and a path of segments."""
        face: dict[str, object] = {
            "version": 1,
            "code": self.code,
            "category": self.category,
            "message": self.message,
            "retryable": self.retryable,
            "status": self.status,
        }
        if self.retry_after_ms is not None:
            face["retryAfterMs"] = self.retry_after_ms
        if self.issues:
            face["issues"] = [
                {"code": "invalid_value", "path": _segments(issue["path"])} for issue in self._issues()
            ]
        return face

    def _details(self) -> dict[str, str | int | list[str]]:
        return {name: list(fact) if isinstance(fact, tuple) else fact for name, fact in self.details.items()}

    def _issues(self) -> list[dict[str, str]]:
        return [
            {"path": shorten_pointer(issue.path), "message": cut(issue.message, MESSAGE_MAX_CHARS).text}
            for issue in self.issues[:ISSUES_MAX]
        ]

    def _confirmation_details(self) -> dict[str, object]:
        details: dict[str, object] = {}
        match self.confirms.code:
            case ConfirmationCode.CONFIRMATION_REQUIRED if self.pending:
                summary = cut(self.pending.summary, CONFIRMATION_SUMMARY_MAX_CHARS).text
                details = {**msgspec.to_builtins(self.pending), "summary": summary}
            case ConfirmationCode.CONFIRMATION_INVALID:
                details = {"reason": self.confirmation_reason}
            case ConfirmationCode.INVALID_INPUT:
                details = {"issues": self._issues()}
            case ConfirmationCode.INVOCATION_CONFLICT:
                details = {"reason": "id-reused-with-different-request"}
            case ConfirmationCode.NOT_AUTHORIZED:
                details = {"origin": "server"}
            case ConfirmationCode.RATE_LIMITED:
                details = dict(self._details())
            case ConfirmationCode.EXECUTION_FAILED if self.confirms.transient:
                details = {"transient": True}
        if self.confirms.retry is Retry.AFTER_DELAY and self.retry_after_ms is not None:
            details["retryAfterMs"] = self.retry_after_ms
        return details


def shorten_pointer(pointer: str) -> str:
    """The JSON Pointer (RFC 6901), or that of the nearest ancestor that is short enough to repeat."""
    if len(pointer) <= POINTER_MAX_CHARS:
        return pointer
    return pointer[: POINTER_MAX_CHARS + 1].rpartition("/")[0]


def _segments(pointer: str) -> list[str | int]:
    """Split a JSON Pointer into member names and array indices; empty where a foreign server sent none."""
    try:
        steps = parse_pointer(pointer)
    except ValueError:
        return []
    return [int(step) if _ARRAY_INDEX.fullmatch(step) else step for step in steps]
