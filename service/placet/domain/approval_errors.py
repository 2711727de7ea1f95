"""The rows of the error table about one approval: its state, its parties, what is bound to it.

How to read a row: the docstring is the ``detail`` a developer gets (what happened; after the blank line,
what to do next), the attributes are the rest of the row (:class:`~placet.domain.faces.PlacetError` says
what each means), and a constructor asks for whatever the code must say.
"""
# ruff: noqa: N818 - a class is named as its code, and codes do not end in ERROR

from types import MappingProxyType
from typing import NoReturn

from placet.domain.error_terms import (
    Category,
    Confirmation,
    ConfirmationCode,
    ConfirmationReason,
    DecidedStatus,
    PendingFace,
    Retry,
    Stage,
)
from placet.domain.faces import RETRY_AFTER_MS, PlacetError, shorten_pointer
from placet.domain.model import Status

_REQUIRED = Confirmation(code=ConfirmationCode.CONFIRMATION_REQUIRED, retry=Retry.WITH_CONFIRMATION)


def _invalid(reason: ConfirmationReason, retry: Retry = Retry.NO) -> Confirmation:
    return Confirmation(code=ConfirmationCode.CONFIRMATION_INVALID, retry=retry, reason=reason)


class _AboutApproval(PlacetError):
    status = 409
    stage = Stage.APPROVAL
    category = Category.APPROVAL


class ApprovalRequired(_AboutApproval):
    """A person must approve this action before it may run; the approval is pending.

    Wait for the decision (GET the approval with wait), then consume the approval before you run the action.
    """

    code = "APPROVAL_REQUIRED"
    status = 201
    other_statuses = (200,)
    title = "Approval required"
    message = "A person must approve this action. Approval was asked for; wait, and do not try another way."
    exposed = True
    confirms = _REQUIRED

    def __init__(self, pending: PendingFace) -> None:
        super().__init__()
        self.pending = pending


class ApprovalPending(_AboutApproval):
    """Nobody has decided this approval yet.

    Wait for the decision (GET the approval with wait), then send the same request again.
    """

    code = "APPROVAL_PENDING"
    title = "Approval pending"
    message = "A person has not decided yet. Wait, and do not repeat or rephrase the action."
    retryable = True
    exposed = True
    confirms = _REQUIRED

    def __init__(self, pending: PendingFace, *, retry_after_ms: int = RETRY_AFTER_MS) -> None:
        super().__init__()
        self.pending = pending
        self.retry_after_ms = retry_after_ms


class ApprovalRejected(_AboutApproval):
    """An approver rejected this action.

    Do not run it. A new attempt is a new approval; ask for one only if something has changed.
    """

    code = "APPROVAL_REJECTED"
    title = "Approval rejected"
    message = "An approver rejected this action. Do not try it again; ask the user how to go on."
    exposed = True
    confirms = _invalid(ConfirmationReason.DENIED)


class ApprovalExpired(_AboutApproval):
    """The approval was not decided in time, or not used in time after it was granted.

    Do not run the action; if it is still wanted, ask for a new approval.
    """

    code = "APPROVAL_EXPIRED"
    title = "Approval expired"
    message = "The approval expired before it was used. If the action is still wanted, request it again."
    exposed = True
    confirms = _invalid(ConfirmationReason.EXPIRED, Retry.WITH_CONFIRMATION)


class ApprovalConsumed(_AboutApproval):
    """The approval was used by another execution already.

    Do not run the action again. If details.execution_id is there, look up what became of that execution.
    """

    code = "APPROVAL_CONSUMED"
    title = "Approval already used"
    message = "This approval was used already. Do not repeat the action."
    exposed = True
    confirms = _invalid(ConfirmationReason.CONSUMED)
    detail_members = MappingProxyType({"execution_id": str})

    def __init__(self, execution_id: str | None = None) -> None:
        """Name the execution to the asker and the audience only: who else meets this must not learn it."""
        super().__init__()
        if execution_id is not None:
            self.details = {"execution_id": execution_id}


class ApprovalCancelled(_AboutApproval):
    """The approval was withdrawn before it was used.

    Do not run the action; if it is wanted after all, ask for a new approval.
    """

    code = "APPROVAL_CANCELLED"
    title = "Approval cancelled"
    message = "The approval was withdrawn. If the action is still wanted, request it again."
    exposed = True
    confirms = _invalid(ConfirmationReason.CANCELLED, Retry.WITH_CONFIRMATION)


class ApprovalAlreadyDecided(_AboutApproval):
    """The approval takes no more decisions; this one changed nothing.

    Read the approval: details.status says how it stands.
    """

    code = "APPROVAL_ALREADY_DECIDED"
    title = "Approval already decided"
    message = "This approval was decided already, and the decision stands."
    exposed = True
    confirms = _invalid(ConfirmationReason.CONSUMED)
    detail_members = MappingProxyType({"status": DecidedStatus})

    def __init__(self, decided: Status) -> None:
        """Say how the approval stands; a ``ValueError`` where that is no decision."""
        super().__init__()
        self.details = {"status": DecidedStatus(decided)}

    @property
    def confirmation_reason(self) -> ConfirmationReason:
        """Denied where the decision was a rejection, consumed otherwise."""
        rejected = self.details.get("status") == DecidedStatus.REJECTED
        return ConfirmationReason.DENIED if rejected else ConfirmationReason.CONSUMED


class ApprovalInputMismatch(_AboutApproval):
    """What was presented is not what the approval is about, or the card that was shown is out of date.

    Present the approved capability, surface, actor, effect, context and input unchanged, or read the
    approval again and decide on its present digest. Which of them differs is never said, on purpose.
    """

    code = "APPROVAL_INPUT_MISMATCH"
    title = "Not what was approved"
    confirms = _invalid(ConfirmationReason.MISMATCH)


class ApprovalSelfApproval(_AboutApproval):
    """The approver is the actor, is acted for, or owns the client that asked.

    Have another person decide; rejecting one's own request is allowed.
    """

    code = "APPROVAL_SELF_APPROVAL"
    status = 403
    title = "Self-approval"
    message = "Nobody can approve their own request. Another person must decide."
    exposed = True
    confirms = _invalid(ConfirmationReason.SELF_APPROVAL)


class ApprovalTokenInvalid(_AboutApproval):
    """The approval token is missing, or does not hold for this approval.

    Read the approval as its asker or audience for a fresh token, and present that one unchanged.
    """

    code = "APPROVAL_TOKEN_INVALID"
    status = 403
    title = "Approval token invalid"
    confirms = _invalid(ConfirmationReason.MISMATCH)


class ApprovalUnserializableInput(_AboutApproval):
    """The input or the context has no canonical JSON form that everybody would agree on.

    At details.path, look for a repeated member name, a lone surrogate, a number out of range or too deep
    a nesting; remove it and send the request again.
    """

    code = "APPROVAL_UNSERIALIZABLE_INPUT"
    status = 422
    title = "Input cannot be bound"
    confirms = Confirmation(code=ConfirmationCode.INVALID_INPUT, retry=Retry.WITH_CHANGES)
    detail_members = MappingProxyType({"path": str})

    def __init__(self, path: str) -> None:
        """Point at the fault: a JSON Pointer from the body's root, empty where it can't be located."""
        super().__init__()
        self.details = {"path": shorten_pointer(path)}


class ApprovalResumeMismatch(_AboutApproval):
    """Someone named an approval that is not theirs to see, and was told that there is none.

    Look at who tried in the audit trail, the only place where this code appears.
    """

    code = "APPROVAL_RESUME_MISMATCH"
    status = 0
    title = "Foreign approval named"

    def __init__(self) -> NoReturn:
        """Refuse: an answer with this code would say that the approval exists."""
        raise TypeError("APPROVAL_RESUME_MISMATCH is for the audit trail; raise ApprovalNotFound instead.")


class ApprovalNotFound(_AboutApproval):
    """There is no approval with this id that you may see.

    Check the id and the credential; an approval of another client or tenant looks the same as none.
    """

    code = "APPROVAL_NOT_FOUND"
    status = 404
    title = "Approval not found"
    confirms = _invalid(ConfirmationReason.MISMATCH)


class ApprovalAlreadyExists(_AboutApproval):
    """The chosen id is taken in this tenant.

    Choose another id, or leave it out and send an Idempotency-Key to make repeats safe.
    """

    code = "APPROVAL_ALREADY_EXISTS"
    title = "Approval already exists"
    confirms = Confirmation(code=ConfirmationCode.INVOCATION_CONFLICT, retry=Retry.WITH_CHANGES)
