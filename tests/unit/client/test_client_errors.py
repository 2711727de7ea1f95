"""Refusals come back as what they were; what is no answer says so, and whether something was done."""

import json
from typing import Any

import pytest

from placet.client.errors import (
    AnswerNotUnderstood,
    ServiceUnreachable,
    StillPending,
    UnknownRefusal,
    refusal_of,
)
from placet.client.shapes import Approval
from placet.domain.error_terms import Stage
from placet.domain.errors import ApprovalRejected
from placet.domain.faces import GENERIC_MESSAGE

GENERIC = {"code": "INTERNAL_ERROR", "message": GENERIC_MESSAGE, "retryable": False}
FUTURE: dict[str, Any] = {
    "type": "/errors/APPROVAL_PAUSED",
    "title": "Approval paused",
    "status": 409,
    "detail": "An operator has paused it. Wait.",
    "code": "APPROVAL_PAUSED",
    "stage": "approval",
    "retryable": True,
    "details": {"reason": "holiday", "days": 2, "teams": ["a"]},
    "model": {"code": "APPROVAL_PAUSED", "message": "It is paused.", "retryable": True},
    "confirmation": {
        "code": "CONFIRMATION_INVALID",
        "message": "It is paused.",
        "retry": "after-delay",
        "details": {"reason": "paused"},
    },
    "failure": {
        "version": 1,
        "code": "APPROVAL_PAUSED",
        "category": "approval",
        "message": "It is paused.",
        "retryable": True,
        "status": 409,
        "retryAfterMs": 5000,
    },
}


class TestOfALaterService:
    """A code that this release does not know."""

    def test_all_of_it_is_kept(self) -> None:
        """With the faces, which are made to be forwarded as they are."""
        error = refusal_of(FUTURE, status=409)
        assert isinstance(error, UnknownRefusal)
        assert (error.code, error.status, error.title) == ("APPROVAL_PAUSED", 409, "Approval paused")
        assert (error.detail, error.stage, error.retryable) == (FUTURE["detail"], Stage.APPROVAL, True)
        assert error.details == {"reason": "holiday", "days": 2, "teams": ("a",)}
        assert error.retry_after_s() == 5
        assert json.loads(json.dumps(error.problem())) == FUTURE

    @pytest.mark.parametrize(
        "face",
        [
            None,
            "obey",
            {"code": "X\nobey", "message": "obey", "retryable": False, "retry": "no", "details": {}},
            {"code": "X", "message": "o" * 301, "retryable": False, "retry": "no", "details": {}},
        ],
    )
    def test_what_is_no_face_is_not_forwarded(self, face: Any) -> None:
        """The generic ones stand in for it."""
        document = {"code": "X_Y", "model": face, "confirmation": face, "failure": face}
        error = refusal_of(document, status=418)
        assert isinstance(error, UnknownRefusal)
        assert error.model() == GENERIC
        assert error.confirmation()["code"] == "EXECUTION_FAILED"
        assert error.failure()["message"] == GENERIC_MESSAGE
        assert (error.title, error.stage, error.details) == ("Unknown code", Stage.EXECUTION, {})
        assert "update the client" in error.detail
        assert error.retry_after_s() is None

    def test_what_is_to_be_let_be_is_not_put_off(self) -> None:
        """A delay counts only where asking again can help."""
        error = refusal_of({**FUTURE, "retryable": False}, status=409)
        assert error is not None
        assert error.retry_after_ms is None


class TestNoRefusal:
    """Documents of others."""

    @pytest.mark.parametrize("document", [None, [], "x", {"title": "Bad Gateway"}, {"code": 7}])
    def test_a_problem_of_somebody_else_is_none_of_ours(self, document: object) -> None:
        """A gateway may speak RFC 9457 too."""
        assert refusal_of(document, status=502) is None

    def test_a_known_code_is_its_class(self) -> None:
        """As everywhere."""
        assert isinstance(refusal_of(ApprovalRejected().problem(), status=409), ApprovalRejected)


class TestUnanswered:
    """What only a caller can meet."""

    def test_unreachable_says_whether_something_may_have_come_of_it(self) -> None:
        """And is worth another try; a model hears nothing of it."""
        for unknown, said in ((True, "is unknown"), (False, "Nothing was done.")):
            error = ServiceUnreachable("It is away.", effect_unknown=unknown)
            assert str(error).startswith("SERVICE_UNREACHABLE: It is away. ")
            assert said in error.detail
            assert (error.status, error.retryable, error.effect_unknown) == (503, True, unknown)
            assert error.model() == GENERIC
            assert error.confirmation()["details"] == {"transient": True}
            assert error.problem()["code"] == error.failure()["code"] == "SERVICE_UNREACHABLE"

    @pytest.mark.parametrize(
        ("answered", "cut_off", "status", "retryable"),
        [(200, False, 502, False), (200, True, 502, True), (302, False, 502, False), (503, False, 503, True)],
    )
    def test_not_understood(self, answered: int, status: int, *, cut_off: bool, retryable: bool) -> None:
        """A gateway may be back soon; a page that stands where the service should be will stay."""
        error = AnswerNotUnderstood("It was a page.", answered=answered, effect_unknown=True, cut_off=cut_off)
        assert (error.answered, error.status, error.retryable) == (answered, status, retryable)
        assert error.model() == GENERIC

    def test_still_pending_is_a_timeout(self) -> None:
        """With what was last seen."""
        assert str(StillPending(None)) == "The approval is still pending."
        assert issubclass(StillPending, TimeoutError)
        assert StillPending.__init__.__annotations__["approval"] == Approval | None
