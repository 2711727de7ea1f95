"""What the OpenAPI document says once: introduction, credentials, headers, and where an approval goes."""

from placet.api import openapi_story as story
from placet.api.openapi_schemas import Object
from placet.domain.limits import IDEMPOTENCY_KEY_PATTERN

DESCRIPTION = """\
Placet stands between an agent's runtime and a dangerous action. The runtime asks before it runs a tool; a \
person decides; the runtime gets an approval token that is bound to a hash of the effective input, and can \
spend it once.

The way of a call: `POST /v1/approvals`; `GET /v1/approvals/{id}?wait=30` until it is approved; \
`POST /v1/approvals/{id}/consume` with the token and the very call that is about to run; then the tool; then \
`POST /v1/approvals/{id}/outcome`.

Bodies are JSON in UTF-8; unknown members are refused, and so are unknown query parameters. Members of \
answers are always there, null, `{}` or `[]` where they do not apply; a few come and go, and say so. Times \
are RFC 3339 in UTC with milliseconds; durations are milliseconds. Later versions may add members and codes: \
clients pass over what they do not know.

Every refusal is a problem document (RFC 9457) with a stable `code`, and with faces that a runtime forwards \
as they are: `model` is all that a model may read. A path that does not exist is `ROUTE_NOT_FOUND`, a method \
that a path does not take is `METHOD_NOT_ALLOWED`. HEAD is answered wherever GET is, and alike."""

SECURITY_SCHEMES: Object = {
    "client": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "plc_<tenant>_<key id>_<secret>",
        "description": "The credential of a service client (`placet clients create`), with its scopes.",
    },
    "bridge": {
        "type": "apiKey",
        "in": "header",
        "name": "webhook-signature",
        "description": (
            "A signature of Standard Webhooks over `webhook-id`, `webhook-timestamp` and the body, with the"
            " secret of a bridge."
        ),
    },
    "approver": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "plc_<tenant>_<key id>_<secret>",
        "description": (
            "The credential of a person (`placet approvers create`), or a token that an OIDC issuer of the "
            "directory gave them."
        ),
    },
    "slack": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Slack-Signature",
        "description": (
            "Slack's signature, with `X-Slack-Request-Timestamp`: for its callback, and for nothing else."
        ),
    },
}

PARAMETERS: Object = {
    "Idempotency-Key": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": (
            "Makes repeats safe: the same key with the same body is the same approval, as long as its"
            " record lives. 1 to 128 visible ASCII characters, per client."
        ),
        "schema": {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY_PATTERN}$"},
        "example": f"{story.RUN}/refund/1",
    },
    "Last-Event-ID": {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The id of the last event that was heard: what came after it is told first.",
        "schema": {"type": "string", "pattern": "^[0-9]{1,15}-[0-9]{1,15}$"},
        "example": story.TRANSITION.entry,
    },
    "X-Request-ID": {
        "name": "X-Request-ID",
        "in": "header",
        "description": (
            "A name for the request in both logs. Kept if it is 1 to 64 of `A-Z a-z 0-9 . _ -`; else"
            " another is made up."
        ),
        "schema": {"type": "string"},
        "example": "7f3c9a52",
    },
}

HEADERS: Object = {
    "X-Request-ID": {
        "description": "The name of the request in the service's log.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
        "example": "7f3c9a52",
    },
    "Cache-Control": {
        "description": "Nothing is to be kept.",
        "schema": {"const": "no-store"},
    },
    "Location": {
        "description": "Path of the record.",
        "schema": {"type": "string"},
        "example": f"/v1/approvals/{story.APPROVAL_ID}",
    },
    "Retry-After": {
        "description": "Seconds to wait before the same request makes sense; with codes that are retryable.",
        "schema": {"type": "integer", "minimum": 1},
        "example": 1,
    },
    "WWW-Authenticate": {
        "description": "The challenge (RFC 9110 §11.6.1).",
        "schema": {"type": "string"},
        "example": 'Bearer realm="placet"',
    },
    "Allow": {
        "description": "The methods that the path takes.",
        "schema": {"type": "string"},
        "example": "GET, HEAD",
    },
}

LINKS: Object = {
    operation: {"operationId": operation, "parameters": {"id": "$response.body#/id"}}
    for operation in ("get_approval", "get_approval_events", "decide_approval", "cancel_approval")
}
"""Where an approval goes from its creation."""
