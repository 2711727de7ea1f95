"""Refusals as a command line tells them."""

import re

import pytest

from placet.cli import refusals
from placet.domain import errors
from placet.domain.error_terms import ForbiddenReason, Issue, RateLimitReason
from placet.domain.errors import PlacetError
from placet.domain.model import Status

MET = [
    errors.ApprovalAlreadyDecided(Status.REJECTED),
    errors.ApprovalCancelled(),
    errors.ApprovalConsumed("run-1"),
    errors.ApprovalExpired(),
    errors.ApprovalInputMismatch(),
    errors.ApprovalNotFound(),
    errors.ApprovalRejected(),
    errors.ApprovalSelfApproval(),
    errors.ApprovalUnserializableInput("/input/a"),
    errors.HostNotAllowed(),
    errors.InputInvalid([Issue(path="/approver", message="Name the person you speak for.")]),
    errors.InputTooLarge(1024),
    errors.InternalError(),
    errors.IssuerUnavailable(),
    errors.RateLimited(RateLimitReason.RATE),
    errors.StoreUnavailable(),
    errors.Unauthenticated(),
    *(errors.Forbidden(reason) for reason in ForbiddenReason),
]
"""What a command can meet."""


@pytest.mark.parametrize(
    "error", MET, ids=lambda error: "-".join(map(str, (error.code, *error.details.values())))
)
def test_nothing_is_said_in_the_words_of_http(error: PlacetError) -> None:
    """Members, headers and methods are for whoever writes the requests; the code stays."""
    text = " ".join((refusals.sentence(error), *refusals.notes(error)))
    assert text.startswith(f"{error.code}: ")
    assert not re.search(
        r"details\.|model\.|/approver|Bearer|Retry-After|idempotency|GET |X-Request-ID|_decisions", text
    )


@pytest.mark.parametrize(
    ("error", "notes"),
    [
        (errors.Forbidden(ForbiddenReason.SCOPE, scopes=["consume"]), ["Needs the scope consume."]),
        (
            errors.Forbidden(ForbiddenReason.SCOPE, scopes=["read", "admin"]),
            ["Needs one of the scopes admin, read."],
        ),
        (
            errors.Forbidden(ForbiddenReason.SCOPE, capabilities=["orders.*", "mail.send"]),
            ["It may ask for: mail.send, orders.*."],
        ),
        (errors.ApprovalAlreadyDecided(Status.REJECTED), ["It is rejected."]),
        (errors.ApprovalUnserializableInput("/input/a"), ["It is at /input/a."]),
        (errors.InputTooLarge(1024), ["It takes 1024 bytes at most."]),
        (errors.ApprovalConsumed("run-1"), ["The execution is run-1."]),
        (
            errors.InputInvalid(
                [
                    Issue(path="/approver", message="Name the person you speak for."),
                    Issue(path="", message="It is odd."),
                    Issue(path="/x", message="There is no such member."),
                ]
            ),
            [
                "--as: Name the person you speak for.",
                "the request: It is odd.",
                "/x: There is no such member.",
            ],
        ),
        (
            errors.RateLimited(RateLimitReason.RATE, retry_after_ms=2_500),
            ["The service says: in 3 s."],
        ),
        (errors.StoreUnavailable(retry_after_ms=2_500), []),
    ],
)
def test_the_facts_of_the_case_follow(error: PlacetError, notes: list[str]) -> None:
    """Scopes and patterns by name, options for members, seconds for headers."""
    assert list(refusals.notes(error)) == notes
