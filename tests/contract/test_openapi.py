"""The OpenAPI document is what the service does: generated, valid, complete, and true in its examples."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped] # it ships no types
from openapi_spec_validator import OpenAPIV31SpecValidator

from placet.api import documents
from placet.api.callbacks import CALLBACKS
from placet.api.openapi import document, text
from placet.api.openapi_bridges import DESCRIBED
from placet.api.routes import ROUTES, Route
from placet.channels.webhooks import signing
from placet.domain.errors import TABLE
from placet.settings import Environment, ServerSettings, Settings, StoreSettings

COMMITTED = Path(__file__).parents[2] / "openapi/openapi.json"
DOCUMENT = json.loads(text(document(None)))
PROBLEM = "application/problem+json"

SHARED = {
    "UNAUTHENTICATED",
    "FORBIDDEN",
    "INPUT_INVALID",
    "ROUTE_NOT_FOUND",
    "HOST_NOT_ALLOWED",
    "INTERNAL_ERROR",
    "ISSUER_UNAVAILABLE",
    "RATE_LIMITED",
    "STORE_UNAVAILABLE",
}
OF_BODIES = {"UNSUPPORTED_MEDIA_TYPE", "INPUT_TOO_LARGE"}
NO_ANSWER_OF_A_ROUTE = {"APPROVAL_REQUIRED", "APPROVAL_RESUME_MISMATCH", "METHOD_NOT_ALLOWED"}


def resolved(part: Any) -> dict[str, Any]:
    """The part itself, or what it refers to."""
    found: dict[str, Any] = part
    if "$ref" in part:
        found = DOCUMENT
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
    return found


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation with its method and path."""
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every body and answer that has examples, with its place."""
    for method, path, operation in operations():
        for held in operation.get("requestBody", {}).get("content", {}).values():
            yield f"{method} {path}", held
        for status, response in operation["responses"].items():
            for held in resolved(response)["content"].values():
                yield f"{method} {path} {status}", held


def examples() -> list[Any]:
    """Every example, with the schema that it must keep to."""
    return [
        pytest.param(held["schema"], resolved(example)["value"], id=f"{place} {name}")
        for place, held in contents()
        for name, example in held.get("examples", {}).items()
    ]


def problems(operation: dict[str, Any]) -> dict[int, set[str]]:
    """The codes that an operation documents, by status."""
    return {
        int(status): {
            resolved(example)["value"]["code"]
            for example in resolved(response)["content"][PROBLEM]["examples"].values()
        }
        for status, response in operation["responses"].items()
        if PROBLEM in resolved(response)["content"]
    }


def operation_of(route: Route) -> dict[str, Any]:
    """What the document says of a route."""
    operation: dict[str, Any] = DOCUMENT["paths"][route.path][route.method.lower()]
    return operation


def without_surprises() -> dict[str, Any]:
    """The components, where no object may have a member that its schema does not name."""
    components: dict[str, Any] = copy.deepcopy(DOCUMENT["components"])
    for schema in components["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return components


STRICT = without_surprises()


def test_the_committed_document_is_the_generated_one() -> None:
    """Nobody edits it by hand, and no change of the API leaves it behind (openapi/README.md)."""
    assert COMMITTED.read_text("utf-8") == text(document(None))


def test_generating_it_again_gives_the_same() -> None:
    """It depends on nothing but the code."""
    assert text(document(None)) == text(document(None))


def test_the_document_is_valid_openapi() -> None:
    """As the maintained validator judges, and down to every schema and default."""
    assert list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors()) == []


@pytest.mark.parametrize(("schema", "value"), examples())
def test_an_example_keeps_to_its_schema(schema: dict[str, Any], value: Any) -> None:
    """In types, bounds, patterns and formats, and it has no member that the schema does not name."""
    validator = Draft202012Validator(
        {**schema, "components": STRICT}, format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    assert [error.message for error in validator.iter_errors(value)] == []


def test_every_body_and_every_json_answer_has_an_example() -> None:
    """Nothing is left to the reader's imagination but pages and this document."""
    bare = {place for place, held in contents() if not held.get("examples")}
    assert bare == {"GET /openapi.json 200", "GET /errors 200", "GET /errors/{code} 200"}


def test_every_route_is_described_and_nothing_else_under_v1() -> None:
    """The route table and the document are the same set of calls."""
    described = {(method, path) for method, path, _ in operations() if path.startswith("/v1/")}
    routes = {(route.method, route.path) for route in ROUTES}
    assert described == routes | {(callback.method, callback.path) for callback in CALLBACKS}


def test_every_public_document_is_described(tmp_path: Path) -> None:
    """In production exactly those that the document lists are served, and the front page."""
    settings = Settings(
        server=ServerSettings(environment=Environment.PRODUCTION), store=StoreSettings(data_dir=tmp_path)
    )
    nothing: Any = None  # their parts are only used when they are asked for
    served = documents.handlers(settings, nothing, nothing, nothing)
    paths = {path.replace(":str", "") for handler in served for path in handler.paths}
    assert paths == {path for _, path, _ in operations() if not path.startswith("/v1/")} | {"/"}


@pytest.mark.parametrize("route", DESCRIBED, ids=lambda route: route.name)
def test_a_route_documents_every_refusal_it_can_give(route: Route) -> None:
    """Those of every call, those of bodies where it takes one, and its own; each under the code's status."""
    expected = SHARED | set(route.conflicts) | (OF_BODIES if route.body else set())
    found = problems(operation_of(route))
    assert set().union(*found.values()) == expected
    for status, codes in found.items():
        assert all(status in {TABLE[code].status, *TABLE[code].other_statuses} for code in codes)


@pytest.mark.parametrize("route", DESCRIBED, ids=lambda route: route.name)
def test_a_route_documents_its_successes_and_headers(route: Route) -> None:
    """Every status it may answer, and the headers that come with all of them."""
    responses = operation_of(route)["responses"]
    assert {int(status) for status in responses if status < "300"} == set(route.statuses)
    for response in responses.values():
        assert {"X-Request-ID", "Cache-Control"} <= resolved(response)["headers"].keys()


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_route_documents_who_may_call(route: Route) -> None:
    """A requirement for each scope that is enough, and one for approvers where they may."""
    requirements = operation_of(route)["security"]
    named = {scope for each in requirements for scope in each.get("client", ())}
    assert named in ({scope.value for scope in route.scopes}, set())
    assert ({"approver": []} in requirements) == route.approvers


def test_every_code_is_the_answer_of_some_call() -> None:
    """But for the one a pending record carries, the one of the audit trail, and that of wrong methods."""
    found = {
        code for _, _, operation in operations() for codes in problems(operation).values() for code in codes
    }
    assert found == set(TABLE) - NO_ANSWER_OF_A_ROUTE
    assert "METHOD_NOT_ALLOWED" in DOCUMENT["components"]["responses"]


def test_a_retryable_refusal_says_after_how_long() -> None:
    """And the challenge comes with 401, the location with a new record."""
    for _, _, operation in operations():
        for status, codes in problems(operation).items():
            headers = resolved(operation["responses"][str(status)])["headers"]
            assert ("Retry-After" in headers) == any(TABLE[code].retryable for code in codes)
            assert ("WWW-Authenticate" in headers) == (status == 401)
    created = DOCUMENT["paths"]["/v1/approvals"]["post"]["responses"]["201"]
    assert "Location" in created["headers"]


def test_every_reference_leads_somewhere_and_every_component_is_used() -> None:
    """No schema, example, header or parameter is left over."""
    referred = set()

    def collect(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                assert resolved(part)
                referred.add(part["$ref"])
            for inside in part.values():
                collect(inside)
        elif isinstance(part, list):
            for inside in part:
                collect(inside)

    collect(DOCUMENT)
    named = {
        f"#/components/{kind}/{name}"
        for kind, parts in DOCUMENT["components"].items()
        for name in parts
        if kind != "securitySchemes"
    }
    assert named - referred == {"#/components/responses/METHOD_NOT_ALLOWED"}


@pytest.mark.parametrize("item", DOCUMENT["webhooks"])
def test_an_example_of_a_webhook_keeps_to_its_schema(item: str) -> None:
    """And its signature is the one that the standard has for the example's secret."""
    operation = DOCUMENT["webhooks"][item]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    for example in content["examples"].values():
        validator = Draft202012Validator({**content["schema"], "components": STRICT})
        assert [error.message for error in validator.iter_errors(example["value"])] == []
    assert "token" not in json.dumps(content["examples"])


def test_the_signature_of_the_example_is_good() -> None:
    """Whoever writes a receiver can try it on what the document shows."""
    operation = DOCUMENT["webhooks"]["approval"]["post"]
    [secret] = re.findall("whsec_[A-Za-z0-9+/=]+", operation["description"])
    sent = [(each["name"].encode(), each["example"].encode()) for each in operation["parameters"]]
    shown = operation["requestBody"]["content"]["application/json"]["examples"]["approved"]["value"]
    at_s = int(dict(sent)[b"webhook-timestamp"])
    body = json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode()
    assert signing.proved([signing.secret_of(secret)], sent, body, at_s).message_id.startswith("msg_")
