"""What a hook raises in place of running a tool. All that is shown of it may be read by a model.

``str()`` and ``repr()`` have the sentence of the model's face and nothing else: frameworks hand both to
models. What a developer may know besides are attributes.
"""

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Self

from placet.client.handles import Handle
from placet.client.shapes import Approval, Outcome
from placet.domain.errors import (
    ApprovalCancelled,
    ApprovalConsumed,
    ApprovalExpired,
    ApprovalInputMismatch,
    ApprovalRejected,
    InternalError,
    PlacetError,
)
from placet.domain.faces import GENERIC_MESSAGE
from placet.domain.model import Status, Verdict

_ENDS: Final[Mapping[str, type[PlacetError]]] = {
    Status.REJECTED: ApprovalRejected,
    Status.EXPIRED: ApprovalExpired,
    Status.CANCELLED: ApprovalCancelled,
}
PENDING: Final[Mapping[str, object]] = MappingProxyType(
    {
        "code": "APPROVAL_PENDING",
        "message": "A person has to approve this first. It has been asked for; do not ask again.",
        "retryable": False,
    }
)
CALL_AGAIN: Final[Mapping[str, object]] = MappingProxyType(
    {
        "code": "APPROVAL_REQUIRED",
        "message": (
            "A person has to approve this first, so nothing was done. It has been asked for. Once it is"
            " approved, call this tool again with exactly the same arguments."
        ),
        "retryable": True,
    }
)
"""The same where a call can't be gone on with, only made again."""
EDITED: Final[Mapping[str, object]] = MappingProxyType(
    {
        "code": "APPROVAL_EDITED",
        "message": "A person approved this with changes that cannot be made here. It did not run.",
        "retryable": False,
    }
)
UNKNOWN: Final[Mapping[str, object]] = MappingProxyType(
    {
        "code": "EXECUTION_UNKNOWN",
        "message": "Whether this ran is not known. Do not run it again; a person has to look.",
        "retryable": False,
    }
)
CHANGED: Final = "An approver changed this call before it ran. What ran is not what you wrote, but: "
_NOT_RUN: Final = "This did not run. Tell the user before it is tried again."
"""What there is to do about an error that is told in no words: no more than is true of every refusal."""


class HookRefusal(Exception):  # noqa: N818 - named as the rows of the error table are
    """The tool did not run."""

    def model(self) -> dict[str, object]:
        """All that a model may read."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """All that a model may read, as a tool's answer in words; with what approvers said of it."""
        return str(self)

    def __str__(self) -> str:
        return str(self.model()["message"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class ApprovalPending(HookRefusal):
    """Nobody has decided yet.

    Attributes:
        handle: For going on later, in another process too.
        approval: The record as it was last seen; its ``confirmation`` is for an Agent Surface runtime.
    """

    def __init__(self, handle: Handle, approval: Approval) -> None:
        super().__init__()
        self.handle = handle
        self.approval = approval

    def model(self) -> dict[str, object]:
        """All that a model may read."""
        return dict(PENDING)


class ApprovalRefused(HookRefusal):
    """It may not run; ``error`` says why, with its faces.

    Attributes:
        error: The refusal, of the one table or of the client.
        outcome: What was reported, where it ran before.
        comments: What those said who rejected it; the forms tell them that the agent reads it.
    """

    def __init__(
        self, error: PlacetError, outcome: Outcome | None = None, comments: Collection[str] = ()
    ) -> None:
        super().__init__()
        self.error = error
        self.outcome = outcome
        self.comments = tuple(comments)

    @classmethod
    def of(cls, approval: Approval) -> Self:
        """The refusal that a record is which was rejected, has expired or was cancelled."""
        against = [each for each in approval.decisions if each.decision == Verdict.REJECT]
        error = _ENDS.get(approval.status, InternalError)()
        return cls(error, comments=[each.comment for each in against if each.comment])

    @property
    def text(self) -> str:
        """All that a model may read, in words: what happened, and what there is to do."""
        face: dict[str, Any] = self.model()
        words = [face["message"], *([_NOT_RUN] if face["message"] == GENERIC_MESSAGE else [])]
        words += (f"{each['path']}: {each['message']}" for each in face.get("issues", ()))
        words += (f"An approver said: {json.dumps(each, ensure_ascii=False)}" for each in self.comments)
        return " ".join(words)

    def model(self) -> dict[str, object]:
        """All that a model may read."""
        return self.error.model()


class ApprovalEdited(ApprovalRefused):
    """It was approved with changes, and whoever asked can run it only as it was asked about."""

    def __init__(self) -> None:
        super().__init__(ApprovalInputMismatch())

    def model(self) -> dict[str, object]:
        """All that a model may read."""
        return dict(EDITED)


class ExecutionUnknown(ApprovalRefused):
    """The grant is spent, and nobody has said how that ended: a person has to look.

    Attributes:
        approval_id: Which.
        execution_id: The execution that it was spent on, where the service says so.
        phase: How far this journal saw it come: ``begun``, it had not started; ``started``, it may have run;
            None, nothing is known of it here.
    """

    def __init__(self, approval_id: str, execution_id: str | None, phase: str | None) -> None:
        super().__init__(ApprovalConsumed(execution_id))
        self.approval_id = approval_id
        self.execution_id = execution_id
        self.phase = phase

    def model(self) -> dict[str, object]:
        """All that a model may read."""
        return dict(UNKNOWN)


def changed(input: Any) -> str:  # noqa: A002, ANN401 - any JSON
    """What a model is told beside the result where its call ran with what an approver made of it."""
    return CHANGED + json.dumps(input, ensure_ascii=False)


def again_after(at: datetime) -> str:
    """What a model is told beside that its call ran before, where the same call is a new one later."""
    return f"If a person wants it done once more, call again after {at:%Y-%m-%dT%H:%M:%SZ}."
