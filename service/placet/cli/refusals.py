"""A refusal in the words of a command line: options and variables, where the table has members and headers.

The code stays, so that whoever looks it up finds it.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import PlacetError, StoreUnavailable

_SAID: Mapping[str, str] = MappingProxyType(
    {
        "APPROVAL_ALREADY_DECIDED": "It takes no more decisions; this one changed nothing.",
        "APPROVAL_CONSUMED": "An execution has used it already, and it can't be taken back.",
        "APPROVAL_INPUT_MISMATCH": (
            "The card is not the one that was looked at, or has changed since. Look at it again, and decide"
            " on that."
        ),
        "APPROVAL_UNSERIALIZABLE_INPUT": (
            "The input has no JSON form that everybody would agree on: a name that is there twice, half a"
            " character, a number out of range, or too deep a nesting."
        ),
        "INPUT_TOO_LARGE": "The input has more bytes than the service takes: make it smaller.",
        "INPUT_INVALID": "The service does not take this as it stands.",
        "HOST_NOT_ALLOWED": (
            "The service does not go by the name in PLACET_URL. Call it by one that it has, or have its"
            " operator add this one to PLACET_ALLOWED_HOSTS."
        ),
        "UNAUTHENTICATED": (
            "The service knows no such credential, or no more. If it was revoked or has expired, get a new"
            " one. What was sent is what PLACET_TOKEN holds."
        ),
        "ISSUER_UNAVAILABLE": (
            "The issuer of the token could not be asked for its keys, so nobody can tell whether it is good."
            " Nothing was done: run the command again in a while."
        ),
        "RATE_LIMITED": "There is too much at once. Nothing was done: run the command again in a while.",
        "STORE_UNAVAILABLE": (
            "The store could not be reached, or did not confirm; whether it took effect is unknown. Run the"
            " command again: that is safe."
        ),
        "INTERNAL_ERROR": "The service met a fault of its own. Tell its operator, whose log has more.",
    }
)
_FORBIDDEN: Mapping[str, str] = MappingProxyType(
    {
        ForbiddenReason.SCOPE: (
            "The credential in PLACET_TOKEN may not do this. Use one that may; an approver's, to decide in"
            " person."
        ),
        ForbiddenReason.COMMENT_REQUIRED: "This decision needs a word on it: give one with --comment.",
        ForbiddenReason.DECISION_NOT_ALLOWED: (
            "The request, or the rule it is under, does not take this decision; take another."
        ),
    }
)
_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "/actor_id": "--actor",
        "/approver": "--as",
        "/approver/id": "--as",
        "/capability": "--capability",
        "/comment": "--comment",
        "/cursor": "--cursor",
        "/digest": "--digest",
        "/input": "--input",
        "/limit": "--limit",
        "/run": "--run",
        "/status": "--status",
    }
)
"""What was typed for a member of a body or a query, by the member's path."""
_ANYTHING: Final = "the request"


def sentence(error: PlacetError) -> str:
    """What happened and what to do, its code before it."""
    reason = str(error.details.get("reason", ""))
    return f"{error.code}: {_FORBIDDEN.get(reason) or _SAID.get(error.code) or error.detail}"


def notes(error: PlacetError) -> Iterator[str]:
    """Further lines: the facts of the case."""
    for issue in error.issues:
        yield f"{_OPTIONS.get(issue.path, issue.path) or _ANYTHING}: {issue.message}"
    match error.details:
        case {"scopes": [scope]}:
            yield f"Needs the scope {scope}."
        case {"scopes": [*scopes]}:
            yield f"Needs one of the scopes {', '.join(map(str, scopes))}."
        case {"capabilities": [*patterns]}:
            yield f"It may ask for: {', '.join(map(str, patterns))}."
        case {"status": status}:
            yield f"It is {status}."
        case {"path": path}:
            yield f"It is at {path}."
        case {"max_bytes": most}:
            yield f"It takes {most} bytes at most."
        case {"execution_id": execution}:
            yield f"The execution is {execution}."
    if error.retry_after_ms is not None and not isinstance(error, StoreUnavailable):
        yield f"The service says: in {error.retry_after_s()} s."
    yield from getattr(error, "__notes__", ())
