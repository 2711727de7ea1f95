"""The refusals of the OpenAPI document: every error answer of every route, from the one error table."""

from collections.abc import Sequence

from msgspec import Struct

from placet.api import openapi_examples as examples
from placet.api.openapi_bridges import DESCRIBED
from placet.api.openapi_schemas import Object
from placet.api.routes import Route
from placet.domain.error_docs import DOCS
from placet.domain.errors import TABLE

PROBLEM = "application/problem+json"

ON_EVERY_ANSWER = ("X-Request-ID", "Cache-Control")
"""Headers of all that the API answers."""

_UNAVAILABLE = ("ISSUER_UNAVAILABLE", "STORE_UNAVAILABLE")
_ANYWHERE = (
    *("UNAUTHENTICATED", "ROUTE_NOT_FOUND", "HOST_NOT_ALLOWED", "RATE_LIMITED", "INTERNAL_ERROR"),
    *_UNAVAILABLE,
)
_OF_BODIES = ("UNSUPPORTED_MEDIA_TYPE", "INPUT_TOO_LARGE")
_SHARED = frozenset({*_ANYWHERE, *_OF_BODIES, "METHOD_NOT_ALLOWED"} - {"ROUTE_NOT_FOUND", *_UNAVAILABLE})
"""Codes that have a status to themselves wherever they occur: written down once, and referred to."""


class Refusal(Struct, frozen=True, kw_only=True):
    """One way to be refused; ``name`` is that of its example."""

    name: str
    code: str
    status: int
    problem: Object


def refusals(route: Route) -> list[Refusal]:
    """All that the route can answer where it does not do what was asked, by status."""
    found = [_usual(code) for code in (*_ANYWHERE, *route.conflicts)]
    provoked = {f"INPUT_INVALID.{route.name}": examples.invalid(route), **examples.forbidden(route)}
    if route.body is not None:
        found += [_usual(code) for code in _OF_BODIES]
        provoked["INPUT_INVALID.malformed"] = examples.malformed()
    found += [
        Refusal(name=name, code=error.code, status=error.status, problem=error.problem())
        for name, error in provoked.items()
    ]
    return sorted(found, key=lambda refusal: (refusal.status, list(TABLE).index(refusal.code)))


def answers(route: Route) -> dict[str, Object]:
    """The error responses of a route, by status."""
    by_status: dict[int, list[Refusal]] = {}
    for refusal in refusals(route):
        by_status.setdefault(refusal.status, []).append(refusal)
    described: dict[str, Object] = {}
    for status, ways in by_status.items():
        shared = ways[0].code in _SHARED
        described[str(status)] = (
            {"$ref": f"#/components/responses/{ways[0].code}"} if shared else _response(ways)
        )
    return described


def answering(code: str) -> list[str]:
    """The calls that can be refused with the code."""
    return [
        f"{route.method} {route.path}"
        for route in DESCRIBED
        if code in {refusal.code for refusal in refusals(route)}
    ]


def public_answers() -> dict[str, Object]:
    """The error responses of a public document."""
    return {
        "404": _response([_usual("ROUTE_NOT_FOUND")]),
        "421": {"$ref": "#/components/responses/HOST_NOT_ALLOWED"},
        "500": {"$ref": "#/components/responses/INTERNAL_ERROR"},
    }


def callback_answers() -> dict[str, Object]:
    """The error responses of a callback."""
    malformed = examples.malformed()
    way = Refusal(
        name="INPUT_INVALID.malformed",
        code=malformed.code,
        status=malformed.status,
        problem=malformed.problem(),
    )
    shared = ("UNAUTHENTICATED", *_OF_BODIES, "HOST_NOT_ALLOWED", "RATE_LIMITED", "INTERNAL_ERROR")
    found = {str(DOCS[code].statuses[0]): {"$ref": f"#/components/responses/{code}"} for code in shared}
    return dict(sorted({**found, str(way.status): _response([way])}.items()))


def shared_responses() -> dict[str, Object]:
    """What :func:`answers` refers to, by code; and what a wrong method gets at any path."""
    return {code: _response([_usual(code)]) for code in TABLE if code in _SHARED}


def shown() -> dict[str, Object]:
    """Every example of a refusal, by name."""
    every = {refusal.name: refusal for route in DESCRIBED for refusal in refusals(route)}
    every["METHOD_NOT_ALLOWED"] = _usual("METHOD_NOT_ALLOWED")
    return {
        name: {"summary": every[name].problem["detail"], "value": every[name].problem}
        for name in sorted(every)
    }


def _usual(code: str) -> Refusal:
    """The code's own example."""
    doc = DOCS[code]
    return Refusal(name=code, code=code, status=doc.statuses[0], problem=doc.example or {})


def _response(ways: Sequence[Refusal]) -> Object:
    codes = list(dict.fromkeys(refusal.code for refusal in ways))
    more = {
        "WWW-Authenticate": "UNAUTHENTICATED" in codes,
        "Allow": "METHOD_NOT_ALLOWED" in codes,
        "Retry-After": any(TABLE[code].retryable for code in codes),
    }
    names = [*ON_EVERY_ANSWER, *(name for name, sent in more.items() if sent)]
    content = {
        "schema": {"$ref": "#/components/schemas/Problem"},
        "examples": {refusal.name: {"$ref": f"#/components/examples/{refusal.name}"} for refusal in ways},
    }
    return {
        "description": "\n\n".join(f"`{code}`: {DOCS[code].meaning}" for code in codes),
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in names},
        "content": {PROBLEM: content},
    }
