"""What a model reads in each situation that a gated tool can get into, as a table for the documentation.

Made from the error table and from what hooks raise, so that no sentence stands twice.
"""

from datetime import UTC, datetime
from typing import Final

from placet.client.errors import ServiceUnreachable
from placet.client.refusals import (
    CALL_AGAIN,
    EDITED,
    PENDING,
    UNKNOWN,
    ApprovalRefused,
    again_after,
    changed,
)
from placet.domain.error_terms import ForbiddenReason, Issue, RateLimitReason
from placet.domain.errors import (
    ApprovalCancelled,
    ApprovalConsumed,
    ApprovalExpired,
    ApprovalInputMismatch,
    ApprovalRejected,
    ApprovalRequired,
    ApprovalTokenInvalid,
    Forbidden,
    InputInvalid,
    RateLimited,
    StoreUnavailable,
    Unauthenticated,
)

_ISSUE: Final = Issue(path="/amount", message="At most 500.")
_LATER: Final = datetime(2026, 1, 31, 12, 5, tzinfo=UTC)
_REFUSED: Final = {
    "rejected": ApprovalRefused(ApprovalRejected()),
    "rejected, with a comment": ApprovalRefused(ApprovalRejected(), comments=["It was paid yesterday."]),
    "nobody decided in time, or it was not used in time": ApprovalRefused(ApprovalExpired()),
    "withdrawn": ApprovalRefused(ApprovalCancelled()),
    "it ran before": ApprovalRefused(ApprovalConsumed()),
    "the tool's own gate refused the input": ApprovalRefused(InputInvalid([_ISSUE])),
    "the call is another than was approved": ApprovalRefused(ApprovalInputMismatch()),
    "the token is none of this approval's": ApprovalRefused(ApprovalTokenInvalid()),
    "nobody may approve it, or not any more": ApprovalRefused(Forbidden(ForbiddenReason.NO_RULE)),
    "too many questions wait already": ApprovalRefused(
        RateLimited(RateLimitReason.QUEUE_FULL, retry_after_ms=1_000)
    ),
    "the runtime's credential is refused": ApprovalRefused(Unauthenticated()),
    "the store is away": ApprovalRefused(StoreUnavailable()),
    "the service is away": ApprovalRefused(
        ServiceUnreachable("The service could not be reached.", effect_unknown=False)
    ),
}
"""What is raised in each situation."""


def markdown_table() -> str:
    """What happened, and all that a model may read then, a line each; ends with a newline."""
    rows = [
        ("it was asked for (the record's `model`)", ApprovalRequired.code, ApprovalRequired.message),
        ("nobody has decided yet", PENDING["code"], PENDING["message"]),
        ("the same, in MCP (and which, where and until when)", CALL_AGAIN["code"], CALL_AGAIN["message"]),
        *((what, said.model()["code"], said.text) for what, said in _REFUSED.items()),
        ("approved with changes, which can't be made here", EDITED["code"], EDITED["message"]),
        ("it ran, as an approver had changed it", "", changed({"amount": 5})),
        ("it ran before, in MCP (beside that)", "", again_after(_LATER)),
        ("it may have run: the process ended meanwhile", UNKNOWN["code"], UNKNOWN["message"]),
    ]
    lines = [f"| {what} | {f'`{code}`' if code else '-'} | {text} |" for what, code, text in rows]
    return "\n".join(["| what happened | code | what the model reads |", "|---|---|---|", *lines]) + "\n"
