"""Each face, exactly: what a developer, a model and two kinds of runtime are told."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain import errors
from placet.domain.cutting import cut
from placet.domain.error_terms import ForbiddenReason, RateLimitReason
from placet.domain.errors import TABLE, Issue, PendingFace, PlacetError
from placet.domain.faces import ISSUES_MAX, MESSAGE_MAX_CHARS, shorten_pointer
from placet.domain.limits import POINTER_MAX_CHARS
from placet.domain.model import Status

GENERIC = {"code": "INTERNAL_ERROR", "message": "The operation failed.", "retryable": False}
PENDING = PendingFace(
    approval_id="apr_1", summary="Delete 3 rows", expires_at="2026-03-01T09:15:00.000Z", effect="destructive"
)


def test_a_refusal_with_issues_is_told_in_full_to_everyone() -> None:
    """`INPUT_INVALID` is the one code whose issues every face carries, Kortyx's in its own shape."""
    error = errors.InputInvalid(
        [Issue(path="/actor/tags/0/a~1b~0c", message="Expected a string.")], status=400
    )
    message = "The request was not valid. Correct what the issues name, then try again."
    issues = [{"path": "/actor/tags/0/a~1b~0c", "message": "Expected a string."}]
    assert json.loads(json.dumps(error.problem())) == {
        "type": "/errors/INPUT_INVALID",
        "title": "Request invalid",
        "status": 400,
        "detail": (
            "The request is not well-formed, or something in it is not valid."
            " Correct what model.issues names, which is of each member the first fault, and send the request"
            " again."
        ),
        "code": "INPUT_INVALID",
        "stage": "input-validation",
        "retryable": False,
        "model": {"code": "INPUT_INVALID", "message": message, "retryable": False, "issues": issues},
        "confirmation": {
            "code": "INVALID_INPUT",
            "message": message,
            "retry": "with-changes",
            "details": {"issues": issues},
        },
        "failure": {
            "version": 1,
            "code": "INPUT_INVALID",
            "category": "validation",
            "message": message,
            "retryable": False,
            "status": 400,
            "issues": [{"code": "invalid_value", "path": ["actor", "tags", 0, "a/b~c"]}],
        },
    }


def test_a_limit_is_told_with_its_reason_and_its_delay() -> None:
    """`RATE_LIMITED` says which limit and how long, to both kinds of runtime; the model only hears wait."""
    error = errors.RateLimited(RateLimitReason.QUEUE_FULL, retry_after_ms=1_001)
    message = "Too much is waiting at once. Wait before you try again."
    assert json.loads(json.dumps(error.problem())) == {
        "type": "/errors/RATE_LIMITED",
        "title": "Too many requests",
        "status": 429,
        "detail": "Too many approvals are pending; have some decided or cancelled, then repeat the request.",
        "code": "RATE_LIMITED",
        "stage": "policy",
        "retryable": True,
        "details": {"reason": "queue-full"},
        "model": {"code": "RATE_LIMITED", "message": message, "retryable": True},
        "confirmation": {
            "code": "RATE_LIMITED",
            "message": message,
            "retry": "after-delay",
            "details": {"reason": "queue-full", "retryAfterMs": 1_001},
        },
        "failure": {
            "version": 1,
            "code": "RATE_LIMITED",
            "category": "rate_limit",
            "message": message,
            "retryable": True,
            "status": 429,
            "retryAfterMs": 1_001,
        },
    }


@pytest.mark.parametrize("code", [code for code, row in TABLE.items() if row.status and not row.exposed])
def test_a_model_can_not_tell_the_unexposed_codes_apart(code: str) -> None:
    """The model face of an unexposed code is exactly the generic one."""
    error = errors.ApprovalUnserializableInput("/input/a") if "UNSERIALIZABLE" in code else TABLE[code]()
    assert error.model() == GENERIC


def test_a_foreign_approval_and_a_wrong_one_read_the_same_to_a_runtime() -> None:
    """The Agent Surface face does not tell absent, mismatched and untokened approvals apart."""
    expected = {
        "code": "CONFIRMATION_INVALID",
        "message": "The confirmation does not fit this request. Do not retry.",
        "retry": "no",
        "details": {"reason": "mismatch"},
    }
    assert errors.ApprovalNotFound().confirmation() == expected
    assert errors.ApprovalInputMismatch().confirmation() == expected
    assert errors.ApprovalTokenInvalid().confirmation() == expected


@pytest.mark.parametrize(
    ("error", "details"),
    [
        (errors.ApprovalRejected(), {"reason": "denied"}),
        (errors.ApprovalExpired(), {"reason": "expired"}),
        (errors.ApprovalConsumed("run-1"), {"reason": "consumed"}),
        (errors.ApprovalCancelled(), {"reason": "cancelled"}),
        (errors.ApprovalSelfApproval(), {"reason": "self-approval"}),
        (errors.ApprovalAlreadyDecided(Status.REJECTED), {"reason": "denied"}),
        (errors.ApprovalAlreadyDecided(Status.APPROVED), {"reason": "consumed"}),
        (errors.ApprovalAlreadyDecided(Status.CONSUMED), {"reason": "consumed"}),
        (errors.ApprovalUnserializableInput("/input/secret"), {"issues": []}),
        (errors.ApprovalAlreadyExists(), {"reason": "id-reused-with-different-request"}),
        (errors.InvocationConflict(), {"reason": "id-reused-with-different-request"}),
        (errors.InputTooLarge(1), {"issues": []}),
        (errors.HostNotAllowed(), {}),
        (errors.RouteNotFound(), {}),
        (errors.Unauthenticated(), {}),
        (errors.Forbidden(ForbiddenReason.NO_RULE), {"origin": "server"}),
        (errors.Forbidden(ForbiddenReason.SCOPE, scopes=["consume"]), {"origin": "server"}),
        (errors.StoreUnavailable(retry_after_ms=250), {"transient": True, "retryAfterMs": 250}),
        (errors.InternalError(), {}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_runtime_gets_the_details_its_protocol_names(error: PlacetError, details: object) -> None:
    """The details of the confirmation are those of its code, and never the developer's."""
    assert error.confirmation()["details"] == details


def test_a_pending_approval_is_told_with_what_waits_and_when_to_ask_again() -> None:
    """`APPROVAL_PENDING` carries the details of a pending record, and a Retry-After."""
    error = errors.ApprovalPending(PENDING, retry_after_ms=2_500)
    assert error.confirmation()["details"] == {
        "confirmationId": "apr_1",
        "summary": "Delete 3 rows",
        "expiresAt": "2026-03-01T09:15:00.000Z",
        "effect": "destructive",
        "origin": "server",
    }
    assert error.failure()["retryAfterMs"] == 2_500
    assert error.retry_after_s() == 3


def test_a_pending_answer_without_its_details_is_still_told() -> None:
    """A client that read a truncated document knows the code; the details are empty."""
    error = errors.from_problem({"code": "APPROVAL_PENDING"})
    assert error.confirmation()["details"] == {}


def test_a_limit_without_a_delay_promises_none() -> None:
    """A client that read no delay tells none."""
    error = errors.from_problem({"code": "RATE_LIMITED", "details": {"reason": "rate"}})
    assert error.confirmation()["details"] == {"reason": "rate"}


@pytest.mark.parametrize(
    ("error", "details"),
    [
        (errors.ApprovalConsumed("run-1"), {"execution_id": "run-1"}),
        (errors.ApprovalAlreadyDecided(Status.REJECTED), {"status": "rejected"}),
        (errors.ApprovalUnserializableInput("/input/a"), {"path": "/input/a"}),
        (errors.Forbidden(ForbiddenReason.SCOPE), {"reason": "scope"}),
        (
            errors.Forbidden(ForbiddenReason.SCOPE, scopes={"request", "admin"}),
            {"reason": "scope", "scopes": ["admin", "request"]},
        ),
        (
            errors.Forbidden(ForbiddenReason.SCOPE, capabilities=("b.*", "a")),
            {"reason": "scope", "capabilities": ["a", "b.*"]},
        ),
        (
            errors.Forbidden(ForbiddenReason.NO_RULE, rule="built-in"),
            {"reason": "no-rule", "rule": "built-in"},
        ),
        (errors.InputTooLarge(262_144), {"max_bytes": 262_144}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_developer_gets_the_facts_of_the_case(error: PlacetError, details: object) -> None:
    """`details` of the problem document are the facts that the error was raised with."""
    assert error.problem()["details"] == details


def test_an_unnamed_execution_leaves_no_details() -> None:
    """Who is neither asker nor audience does not learn which execution used the approval."""
    assert "details" not in errors.ApprovalConsumed().problem()


@pytest.mark.parametrize(("delay_ms", "seconds"), [(0, 0), (1, 1), (999, 1), (1_000, 1), (1_001, 2)])
def test_the_header_rounds_up(delay_ms: int, seconds: int) -> None:
    """Retry-After never invites a client too early."""
    assert errors.StoreUnavailable(retry_after_ms=delay_ms).retry_after_s() == seconds


def test_an_error_without_a_delay_has_no_header() -> None:
    """No Retry-After where nothing is gained by waiting."""
    assert errors.InternalError().retry_after_s() is None


def test_an_error_reads_as_its_code_and_detail() -> None:
    """A log line or a traceback needs no lookup."""
    assert str(errors.RouteNotFound()) == (
        "ROUTE_NOT_FOUND: There is nothing at this path. Check the path against /openapi.json."
    )


def test_a_flood_of_issues_is_cut() -> None:
    """A hostile body can't make an answer grow without bound."""
    flood = [Issue(path="/" + "k" * 9_999, message="m" * 9_999)] * 1_000
    document = errors.InputInvalid(flood).problem()
    assert len(json.dumps(document)) < 4 * ISSUES_MAX * (MESSAGE_MAX_CHARS + POINTER_MAX_CHARS)
    assert {json.dumps(issue) for issue in from_model(document)} == {
        json.dumps({"path": "", "message": cut("m" * 9_999, MESSAGE_MAX_CHARS).text})
    }


def from_model(document: dict[str, object]) -> list[object]:
    """The issues that the model face of ``document`` names."""
    face = document["model"]
    assert isinstance(face, dict)
    issues = face["issues"]
    assert isinstance(issues, list)
    return issues


@pytest.mark.parametrize("index", ["00", "-1", "1_0", "٣", "9" * 12])
def test_only_an_array_index_is_a_number_to_kortyx(index: str) -> None:
    """RFC 6901 §4: an index has no leading zero and ASCII digits; all else is a member name."""
    failure = errors.InputInvalid([Issue(path=f"/{index}", message="Wrong.")]).failure()
    assert failure["issues"] == [{"code": "invalid_value", "path": [index]}]


def test_a_long_summary_is_cut_visibly() -> None:
    """A pending record's summary has at most 300 characters and says where it was cut."""
    pending = PendingFace(approval_id="apr_1", summary="é" * 301, expires_at="", effect="write")
    details = errors.ApprovalRequired(pending).confirmation()["details"]
    assert isinstance(details, dict)
    assert len(details["summary"]) <= 300
    assert re.fullmatch("é+….*", details["summary"])


def test_a_path_that_is_no_pointer_has_no_segments() -> None:
    """A foreign server's path may be anything; Kortyx is told of none of it."""
    failure = errors.InputInvalid([Issue(path="body.amount", message="Wrong.")]).failure()
    assert failure["issues"] == [{"code": "invalid_value", "path": []}]


@given(st.lists(st.text(st.characters(exclude_characters="/"), max_size=400), max_size=6))
def test_a_long_pointer_becomes_that_of_an_ancestor(names: list[str]) -> None:
    """What is repeated is bounded, and still points at something that holds the fault."""
    pointer = "".join(f"/{name}" for name in names)
    short = shorten_pointer(pointer)
    assert len(short) <= POINTER_MAX_CHARS
    assert short == pointer or pointer.startswith(f"{short}/")
