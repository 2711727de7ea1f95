"""The public documents in the OpenAPI document: no credential, nothing of a tenant."""

from placet.api import openapi_errors as errors
from placet.api import openapi_examples as examples
from placet.api.openapi_schemas import Object
from placet.domain.errors import TABLE
from placet.tokens.jwks import JWKS_MAX_AGE_S

_HTML = {"text/html": {"schema": {"type": "string"}}}


def paths() -> dict[str, Object]:
    """Their path items. The page that this document can be read on is left out: production has none."""
    return {
        "/.well-known/jwks.json": _document(
            "jwks",
            "The keys that approval tokens are signed with",
            "For a tool server that looks at a token before it consumes the approval; proof made offline"
            " never replaces that. A key is published before it signs, for longer than this may be cached.",
            _json("JwkSet", "jwks", media_type="application/jwk-set+json"),
            headers={"Cache-Control": {"schema": {"const": f"public, max-age={JWKS_MAX_AGE_S}"}}},
        ),
        "/healthz": _document(
            "healthz",
            "Whether the process runs",
            "Says nothing about the store: ask `/readyz` for that.",
            _json("Health", "healthz"),
        ),
        "/readyz": _ready(),
        "/openapi.json": _document(
            "openapi",
            "This document",
            "OpenAPI 3.1, with the limits of this service.",
            {"application/json": {"schema": {"type": "object"}}},
        ),
        "/errors": _document("error_index", "All error codes", "A page for people.", _HTML),
        "/errors/{code}": _document(
            "error_page",
            "What an error code means",
            "A page for people; `type` of every problem document is its path.",
            _HTML,
            parameters=(
                {
                    "name": "code",
                    "in": "path",
                    "required": True,
                    "description": "The code.",
                    "schema": {"enum": list(TABLE)},
                    "example": "APPROVAL_EXPIRED",
                },
            ),
        ),
    }


def _ready() -> Object:
    item = _document(
        "readyz",
        "Whether this replica should be sent calls",
        "For load balancers: store, keyring, and not about to stop.",
        _json("Ready", "readyz"),
    )
    item["get"]["responses"]["503"] = {
        "description": "Send no calls, for the reasons given.",
        "content": _json("Ready", "readyz", status=503),
    }
    return item


def _document(
    name: str,
    summary: str,
    description: str,
    content: Object,
    *,
    headers: Object | None = None,
    parameters: tuple[Object, ...] = (),
) -> Object:
    answer = {"description": "The document.", "headers": headers or {}, "content": content}
    return {
        "get": {
            "operationId": name,
            "tags": ["Service"],
            "summary": summary,
            "description": description,
            "security": [],
            "parameters": list(parameters),
            "responses": {"200": answer, **errors.public_answers()},
        }
    }


def _json(schema: str, name: str, *, status: int = 200, media_type: str = "application/json") -> Object:
    return {
        media_type: {
            "schema": {"$ref": f"#/components/schemas/{schema}"},
            "examples": examples.shown(examples.ANSWERS[name][status]),
        }
    }
