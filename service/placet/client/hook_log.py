"""What a hook tells whoever runs it: the log ``placet.client.hook``.

No input, comment, token or person is in it.

=========  ===========================================================================
level      what
=========  ===========================================================================
INFO       a person has to approve a call, and where; a person has said no, or nobody
WARNING    a call did not run for another reason, by its code
ERROR      what became of an execution is not known: a person has to look
=========  ===========================================================================
"""

import logging
from typing import Final

from placet.client.hook_values import Question
from placet.client.refusals import ApprovalPending, ApprovalRefused, ExecutionUnknown, HookRefusal
from placet.client.shapes import Approval
from placet.domain.errors import ApprovalCancelled, ApprovalConsumed, ApprovalExpired, ApprovalRejected

_EXPECTED: Final = (ApprovalCancelled, ApprovalConsumed, ApprovalExpired, ApprovalRejected)
_log: Final = logging.getLogger("placet.client.hook")


def waits(approval: Approval, link: str) -> None:
    """A question waits for people."""
    _log.info("a person has to approve %s: %s", approval.capability, link)


def refused(question: Question, refusal: HookRefusal) -> None:
    """A call does not run, or not yet."""
    if isinstance(refusal, ApprovalPending):
        return  # which was told when it was asked
    where = (question.call.capability, question.run, question.call_id)
    if isinstance(refusal, ExecutionUnknown):
        what = (*where, refusal.approval_id, refusal.execution_id)
        _log.error(
            "%s (run %r, call %r) may have run, a person has to look: approval %r, execution %r", *what
        )
    elif isinstance(refusal, ApprovalRefused):
        level = logging.INFO if isinstance(refusal.error, _EXPECTED) else logging.WARNING
        _log.log(level, "%s (run %r, call %r) does not run: %s", *where, refusal.error.code)
