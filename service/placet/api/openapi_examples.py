"""The examples of the OpenAPI document, by route: bodies, answers, and the refusals that must be provoked.

All of them come out of the code that serves real calls; :mod:`placet.api.openapi_story` has the values.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from placet.api import bodies, queries
from placet.api import openapi_story as story
from placet.api.routes import Route
from placet.application.cancel import RunCancelled, Skipped
from placet.application.consume import Verdict
from placet.application.standing import as_decided
from placet.application.views import Sight, event_view, record_view, trail_view
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import ApprovalExpired, ApprovalTokenInvalid, Forbidden, InputInvalid, PlacetError
from placet.domain.limits import Limits
from placet.domain.model import Approval, Status
from placet.domain.model import Verdict as Said
from placet.store import keys
from placet.tokens.jwks import jwks


class Example(Struct, frozen=True, kw_only=True):
    """A value that was sent or answered, and when that is."""

    summary: str
    value: Any


Examples = Mapping[str, Example]


def shown(examples: Examples) -> dict[str, Any]:
    """The examples as the document writes them."""
    return {name: {"summary": each.summary, "value": each.value} for name, each in examples.items()}


def _said(summary: str, /, **members: object) -> Example:
    return Example(summary=summary, value=members)


def _answer(summary: str, value: object) -> Example:
    return Example(summary=summary, value=msgspec.json.decode(msgspec.json.encode(value)))


def _record(
    summary: str,
    approval: Approval,
    sight: Sight = Sight.WHOLE,
    *,
    token: str | None = None,
    replayed: bool | None = None,
) -> Example:
    return _answer(
        summary, record_view(approval, sight, as_decided(approval), token=token, replayed=replayed)
    )


_CALL = dict(story.CALL)
_SPEND = {"execution_id": story.EXECUTION, "token": story.TOKEN, **_CALL}
_DIGEST = story.PENDING.digest
_CURSOR = urlsafe_b64encode(keys.member(story.ASKED_MS, story.APPROVAL_ID).encode()).decode().rstrip("=")

BODIES: Mapping[str, Examples] = MappingProxyType(
    {
        "create_approval": {
            "refund": _said("With words for the card", **story.QUESTION),
            "least": _said("As little as can be said", **_CALL),
        },
        "decide_approval": {
            **{
                verdict.value: _said(verdict.title(), decision=verdict.value, digest=_DIGEST, comment=why)
                for verdict, why in story.WHY.items()
            },
            "edit": _said(
                "Approve with changes",
                decision="edit",
                digest=_DIGEST,
                input=story.CHANGED,
                comment="The rest was refunded in May.",
            ),
            "bridge": _said(
                "A bridge speaks for a person",
                decision="approve",
                digest=_DIGEST,
                approver={"id": story.APPROVER.id},
            ),
        },
        "decide_approvals": {
            "several": _said(
                "Two approvals, decided either way",
                decisions=[
                    {"id": story.APPROVAL_ID, "decision": "approve", "digest": _DIGEST},
                    {"id": story.OTHER_ID, "decision": "reject", "digest": _DIGEST, "comment": "Twice?"},
                ],
            ),
        },
        "bridge_callback": {
            "approve": _said(
                "Somebody has approved in the chat",
                approval_id=story.APPROVAL_ID,
                decision="approve",
                digest=_DIGEST,
                approver={"id": story.APPROVER.id},
                comment=story.WHY[Said.APPROVE],
            ),
        },
        "cancel_approval": {"empty": _said("Nothing to say")},
        "cancel_run": {"empty": _said("Nothing to say")},
        "consume_approval": {"spend": _said("The token, and the call about to run", **_SPEND)},
        "report_outcome": {
            "succeeded": _said(
                "It worked",
                execution_id=story.EXECUTION,
                status="succeeded",
                summary="Refund RF-2291 booked.",
            ),
            "failed": _said("It did not", execution_id=story.EXECUTION, status="failed"),
        },
        "introspect_token": {
            "ask": _said("The token, and the call about to run", token=story.TOKEN, **_CALL)
        },
    }
)
"""What callers say, by the name of the route."""

_JWKS = msgspec.json.decode(jwks(story.RING, now_ms=story.ASKED_MS))
_SHOWN = record_view(story.PENDING, Sight.CARD, as_decided(story.PENDING))

ANSWERS: Mapping[str, Mapping[int, Examples]] = MappingProxyType(
    {
        "create_approval": {
            201: {"pending": _record("A person must decide", story.PENDING)},
            200: {"again": _record("Asked before, still waiting", story.PENDING)},
        },
        "list_approvals": {
            200: {
                "page": _answer("As an approver sees them", {"items": [_SHOWN], "next_cursor": _CURSOR}),
                "end": _answer("Nothing more", {"items": [], "next_cursor": None}),
            },
        },
        "get_approval": {
            200: {
                "pending": _record("Still waiting", story.PENDING),
                "approved": _record("Approved, with the token", story.APPROVED, token=story.TOKEN),
                "rejected": _record("Rejected", story.REJECTED),
                "card": _answer("As an approver sees it: redacted, and without the token", _SHOWN),
                "frame": _record("As `read` sees it", story.APPROVED, Sight.FRAME),
            },
        },
        "get_approval_events": {
            200: {
                "trail": _answer(
                    "A whole life", {"items": [trail_view(line, Sight.WHOLE) for line in story.TRAIL]}
                )
            },
        },
        "follow_events": {
            200: {"approved": _answer("The data of an event", event_view(story.APPROVED, story.TRANSITION))},
        },
        "decide_approval": {
            200: {
                "approved": _record("Approved", story.APPROVED, Sight.CARD),
                "rejected": _record("Rejected", story.REJECTED, Sight.CARD),
            },
        },
        "bridge_callback": {200: {"approved": _record("Approved", story.APPROVED, Sight.CARD)}},
        "decide_approvals": {
            200: {
                "several": _answer(
                    "One was taken, one came too late",
                    {
                        "results": [
                            {
                                "id": story.APPROVAL_ID,
                                "approval": record_view(
                                    story.APPROVED, Sight.CARD, as_decided(story.APPROVED)
                                ),
                            },
                            {"id": story.OTHER_ID, "error": ApprovalExpired().problem()},
                        ]
                    },
                ),
            },
        },
        "cancel_approval": {200: {"cancelled": _record("Withdrawn", story.CANCELLED)}},
        "cancel_run": {
            200: {
                "some": _answer(
                    "One was open, one had run",
                    RunCancelled(
                        cancelled=(story.APPROVAL_ID,),
                        skipped=(Skipped(id=story.OTHER_ID, status=Status.CONSUMED),),
                    ),
                ),
                "none": _answer("Nothing was open", RunCancelled(cancelled=(), skipped=())),
            },
        },
        "consume_approval": {
            200: {
                "spent": _record("Spent: run the tool", story.CONSUMED, replayed=False),
                "replayed": _record("The same execution again", story.CONSUMED, replayed=True),
            },
        },
        "report_outcome": {200: {"reported": _record("Reported", story.REPORTED)}},
        "introspect_token": {
            200: {
                "active": _answer("It would be taken", Verdict(active=True)),
                "refused": _answer("It would not", Verdict(active=False, error=ApprovalTokenInvalid.code)),
            },
        },
        "jwks": {200: {"keys": Example(summary="The key that signs and the next", value=_JWKS)}},
        "healthz": {200: {"ok": _answer("It runs", {"status": "ok"})}},
        "readyz": {
            200: {"ready": _answer("Send calls", {"status": "ready", "faults": []})},
            503: {
                "unready": _answer(
                    "Send none", {"status": "unready", "faults": ["The store can't be reached."]}
                ),
            },
        },
    }
)
"""What is answered where all is well, by the name of the route and the status."""

_REASONS: Mapping[str, tuple[ForbiddenReason, ...]] = MappingProxyType(
    {
        "create_approval": (ForbiddenReason.NO_RULE, ForbiddenReason.HIDDEN_INPUT),
        "decide_approval": (ForbiddenReason.NOT_AN_APPROVER, ForbiddenReason.DECISION_NOT_ALLOWED),
        "bridge_callback": (ForbiddenReason.NOT_AN_APPROVER, ForbiddenReason.CHANNEL_NOT_ALLOWED),
        "cancel_approval": (ForbiddenReason.NOT_THE_ASKER,),
        "consume_approval": (ForbiddenReason.NOT_THE_AUDIENCE,),
        "report_outcome": (ForbiddenReason.NOT_THE_CONSUMER,),
    }
)
"""Why a route forbids, beside a missing scope."""


def _provoked(call: Callable[[], object]) -> InputInvalid:
    try:
        call()
    except InputInvalid as refusal:
        return refusal
    raise RuntimeError("the example of a refusal was not refused")


def forbidden(route: Route) -> dict[str, PlacetError]:
    """Every way in which the route says FORBIDDEN, by the name of the example."""
    others: dict[str, PlacetError] = {
        f"FORBIDDEN.{reason}": Forbidden(reason) for reason in _REASONS.get(route.name, ())
    }
    if not route.scopes:  # what is signed is signed by somebody who may
        return others
    lacking = Forbidden(ForbiddenReason.SCOPE, scopes=route.scopes)
    return {f"FORBIDDEN.scope.{route.name}": lacking, **others}


def malformed() -> InputInvalid:
    """The refusal of a body that is no JSON."""
    return _provoked(lambda: bodies.parse(b'{"capability": ', Limits()))


def invalid(route: Route) -> InputInvalid:
    """The refusal of a body, or else a query, that says the wrong thing."""
    shape = route.body
    if shape is None:
        return _provoked(lambda: queries.parse(b"wait=90", route.query, Limits()))
    return _provoked(lambda: bodies.convert({"decision": "perhaps", "effect": "huge"}, None, shape))
