"""The rows of the error table about a request: its form, its credential, the service's own state.

How to read a row: see :mod:`placet.domain.approval_errors`.
"""
# ruff: noqa: N818 - a class is named as its code, and no code but the last ends in ERROR

from collections.abc import Collection, Sequence
from types import MappingProxyType
from typing import Annotated, Literal

from msgspec import Meta

from placet.domain.error_terms import (
    FORBIDDEN_DETAILS,
    FORBIDDEN_MORE,
    RATE_LIMIT_DETAILS,
    CapabilityPatterns,
    Category,
    Confirmation,
    ConfirmationCode,
    ForbiddenReason,
    Issue,
    RateLimitReason,
    Retry,
    RuleName,
    ScopeNames,
    Stage,
)
from placet.domain.faces import RETRY_AFTER_MS, PlacetError

_BAD_INPUT = Confirmation(code=ConfirmationCode.INVALID_INPUT, retry=Retry.WITH_CHANGES)
_FAILED = Confirmation(code=ConfirmationCode.EXECUTION_FAILED, retry=Retry.NO)


class _AboutRequest(PlacetError):
    stage = Stage.INPUT_VALIDATION
    category = Category.VALIDATION


class InvocationConflict(_AboutRequest):
    """The idempotency key, execution id or report contradicts what is recorded already.

    Repeat an earlier request only with the same content; use a fresh key or execution id for a new one.
    """

    code = "INVOCATION_CONFLICT"
    status = 409
    title = "Conflicting repeat"
    confirms = Confirmation(code=ConfirmationCode.INVOCATION_CONFLICT, retry=Retry.WITH_CHANGES)


class InputInvalid(_AboutRequest):
    """The request is not well-formed, or something in it is not valid.

    Correct what model.issues names, which is of each member the first fault, and send the request again.
    """

    code = "INPUT_INVALID"
    status = 422
    other_statuses = (400,)
    title = "Request invalid"
    message = "The request was not valid. Correct what the issues name, then try again."
    exposed = True
    confirms = _BAD_INPUT

    def __init__(self, issues: Sequence[Issue] = (), *, status: Literal[400, 422] = 422) -> None:
        """Name the faults; 400 where the body is not JSON at all, 422 where it says the wrong thing."""
        super().__init__()
        self.status = status
        self.issues = tuple(issues)


class InputTooLarge(_AboutRequest):
    """The request has more bytes than the service takes.

    Send at most details.max_bytes: a smaller input, or a reference to the data in its place.
    """

    code = "INPUT_TOO_LARGE"
    status = 413
    title = "Request too large"
    message = "The input is too large. Try again with a smaller one."
    exposed = True
    confirms = _BAD_INPUT
    detail_members = MappingProxyType({"max_bytes": Annotated[int, Meta(ge=0)]})

    def __init__(self, max_bytes: int) -> None:
        """Name the most bytes that this body may have."""
        super().__init__()
        self.details = {"max_bytes": max_bytes}


class UnsupportedMediaType(_AboutRequest):
    """The body is not JSON in UTF-8.

    Send it with Content-Type: application/json and no charset but UTF-8.
    """

    code = "UNSUPPORTED_MEDIA_TYPE"
    status = 415
    title = "Unsupported media type"
    confirms = _FAILED


class MethodNotAllowed(_AboutRequest):
    """This path does not take the method.

    Use one of the methods in the Allow header.
    """

    code = "METHOD_NOT_ALLOWED"
    status = 405
    title = "Method not allowed"
    confirms = _FAILED
    allow: tuple[str, ...] = ()

    def __init__(self, allow: Sequence[str] = ()) -> None:
        """Name the methods that the path takes, for the ``Allow`` header (RFC 9110 §15.5.6)."""
        super().__init__()
        self.allow = tuple(allow)


class RouteNotFound(_AboutRequest):
    """There is nothing at this path.

    Check the path against /openapi.json.
    """

    code = "ROUTE_NOT_FOUND"
    status = 404
    title = "Route not found"
    confirms = _FAILED


class HostNotAllowed(_AboutRequest):
    """The request names a host in its Host header that this service does not go by.

    Call it by a name that it has, or have the operator add this one: to PLACET_ALLOWED_HOSTS, or as that of
    PLACET_PUBLIC_URL.
    """

    code = "HOST_NOT_ALLOWED"
    status = 421
    title = "Host not allowed"
    confirms = _FAILED


class Unauthenticated(PlacetError):
    """No valid credential came with the request.

    Send a current credential as Authorization: Bearer; if it was revoked or has expired, get a new one.
    """

    code = "UNAUTHENTICATED"
    status = 401
    stage = Stage.AUTHENTICATION
    category = Category.AUTHENTICATION
    title = "Not authenticated"
    message = "The approval service did not accept the runtime's credential. Tell the user; do not try again."
    exposed = True
    confirms = Confirmation(code=ConfirmationCode.NOT_AUTHENTICATED, retry=Retry.NO)


class IssuerUnavailable(PlacetError):
    """The issuer of the token could not be asked for its keys, so nobody can tell whether it is good.

    Send the same request again after as long as Retry-After says: nothing was done.
    """

    code = "ISSUER_UNAVAILABLE"
    status = 503
    stage = Stage.AUTHENTICATION
    category = Category.AUTHENTICATION
    title = "Issuer unavailable"
    retryable = True
    confirms = Confirmation(code=ConfirmationCode.EXECUTION_FAILED, retry=Retry.AFTER_DELAY, transient=True)

    def __init__(self, *, retry_after_ms: int = RETRY_AFTER_MS) -> None:
        super().__init__()
        self.retry_after_ms = retry_after_ms


class Forbidden(PlacetError):
    """The credential is valid but does not allow this.

    Read details.reason for what is missing, and use a credential that has it.
    """

    code = "FORBIDDEN"
    status = 403
    stage = Stage.AUTHORIZATION
    category = Category.AUTHORIZATION
    title = "Not allowed"
    message = "This is not allowed. Do not try again; tell the user."
    exposed = True
    confirms = Confirmation(code=ConfirmationCode.NOT_AUTHORIZED, retry=Retry.NO)
    reasons = FORBIDDEN_DETAILS
    more = FORBIDDEN_MORE
    detail_members = MappingProxyType(
        {
            "reason": ForbiddenReason,
            "scopes": ScopeNames,
            "capabilities": CapabilityPatterns,
            "rule": RuleName,
        }
    )

    def __init__(
        self,
        reason: ForbiddenReason,
        *,
        scopes: Collection[str] = (),
        capabilities: Collection[str] = (),
        rule: str | None = None,
    ) -> None:
        """Say why.

        Args:
            reason: Why.
            scopes: With ``SCOPE``: those of which the call takes any one.
            capabilities: With ``SCOPE``: the patterns of what the caller may ask for.
            rule: With ``NO_RULE``: the one that stands in for a policy file.
        """
        super().__init__()
        lists = {"scopes": scopes, "capabilities": capabilities}
        named = {name: tuple(sorted(items)) for name, items in lists.items() if items}
        self.reason = reason
        self.details = {"reason": reason, **named, **({"rule": rule} if rule else {})}


class RateLimited(PlacetError):
    """Too many requests came, or too many approvals are pending.

    Wait as long as Retry-After says, then repeat the request.
    """

    code = "RATE_LIMITED"
    status = 429
    stage = Stage.POLICY
    category = Category.RATE_LIMIT
    title = "Too many requests"
    message = "Too much is waiting at once. Wait before you try again."
    retryable = True
    exposed = True
    confirms = Confirmation(code=ConfirmationCode.RATE_LIMITED, retry=Retry.AFTER_DELAY)
    reasons = RATE_LIMIT_DETAILS
    detail_members = MappingProxyType({"reason": RateLimitReason})

    def __init__(self, reason: RateLimitReason, *, retry_after_ms: int = RETRY_AFTER_MS) -> None:
        super().__init__()
        self.details = {"reason": reason}
        self.retry_after_ms = retry_after_ms


class StoreUnavailable(PlacetError):
    """The store could not be reached, or did not confirm; whether the request took effect is unknown.

    Send the same request again, with the same idempotency key or execution id: that is safe.
    """

    code = "STORE_UNAVAILABLE"
    status = 503
    stage = Stage.EXECUTION
    category = Category.STORAGE
    title = "Store unavailable"
    retryable = True
    confirms = Confirmation(code=ConfirmationCode.EXECUTION_FAILED, retry=Retry.AFTER_DELAY, transient=True)

    def __init__(self, *, retry_after_ms: int = RETRY_AFTER_MS) -> None:
        super().__init__()
        self.retry_after_ms = retry_after_ms


class InternalError(PlacetError):
    """The service met a fault of its own.

    Give the operator the X-Request-ID of this answer, and read the approval before you try again.
    """

    code = "INTERNAL_ERROR"
    status = 500
    stage = Stage.EXECUTION
    category = Category.INTERNAL
    title = "Internal error"
    confirms = _FAILED
