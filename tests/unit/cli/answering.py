"""A service that answers with one record."""

import json
from typing import Any

import httpx

from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import ApprovalInputMismatch, Forbidden, PlacetError

DIGEST = "ab" * 32
GRANT = "eyJhbGciOiJFZERTQSJ9.e30.c2ln"
DATE = "Fri, 15 Jan 2027 08:00:00 GMT"

RECORD: dict[str, Any] = {
    "id": "apr_1",
    "status": "pending",
    "capability": "orders.refund",
    "actor": {"id": "bot", "kind": "agent"},
    "effect": "external",
    "risk": "high",
    "context": {},
    "input": {"amount": 5},
    "digest": DIGEST,
    "requested_at": "2027-01-15T07:59:00.000Z",
    "expires_at": "2027-01-15T08:14:32.000Z",
    "asked_by": "shop",
    "quorum": {"required": 1, "approved": 0},
}


class Service:
    """Answers with one record, and remembers what it was told."""

    def __init__(self, *, wants_comment: bool = False, **changes: Any) -> None:
        self.wants_comment = wants_comment
        self.record = {**RECORD, **changes}
        self.said: list[tuple[str, str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """One call."""
        body: Any = json.loads(request.content) if request.content else None
        self.said.append((request.method, request.url.raw_path.decode(), body))
        headers = {"date": DATE}
        match request.url.path.rpartition("/")[2]:
            case "events":
                line = {"seq": 1, "at": RECORD["requested_at"], "type": "requested", "by": "shop"}
                return httpx.Response(200, json={"items": [line]}, headers=headers)
            case "decision":
                refusal = self._refusal(body)
                if refusal is not None:
                    headers["content-type"] = "application/problem+json"
                    return httpx.Response(refusal.status, json=refusal.problem(), headers=headers)
                became = {"approve": "approved", "edit": "approved", "reject": "rejected"}
                self.record["status"] = became[body["decision"]]
                self.record["use_by"] = RECORD["expires_at"]
                self.record["quorum"] = {"required": 1, "approved": 1}
            case "cancel":
                self.record["status"] = "cancelled"
        return httpx.Response(200, json=self.record, headers=headers)

    def _refusal(self, body: Any) -> PlacetError | None:
        if body["digest"] != self.record["digest"]:
            return ApprovalInputMismatch()
        if self.wants_comment and "comment" not in body:
            return Forbidden(ForbiddenReason.COMMENT_REQUIRED)
        return None

    @property
    def decisions(self) -> list[Any]:
        """The bodies of the decisions that were sent."""
        return [body for _, path, body in self.said if path.endswith("/decision")]
