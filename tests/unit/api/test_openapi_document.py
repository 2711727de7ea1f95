"""What the OpenAPI document says of limits, members and JSON is what the service admits."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped] # it ships no types

from placet.api import openapi_errors as errors
from placet.api import openapi_examples as examples
from placet.api import openapi_schemas as schemas
from placet.api import openapi_shapes as shapes
from placet.api.meanings import MEANINGS
from placet.api.openapi import document
from placet.api.openapi_bridges import DESCRIBED
from placet.api.prose import OPERATIONS, TAGS
from placet.api.queries import EventsQuery, ListQuery, ReadQuery
from placet.api.routes import ROUTES
from placet.application.commands import Create
from placet.domain.admission import Fault, admit_value
from placet.domain.error_docs import DOCS
from placet.domain.limits import Limits
from tests.strategies import json_values

COMPONENTS = schemas.components(Limits())


def accepts(name: str, value: Any) -> bool:
    """Whether a value keeps to a named schema."""
    schema = {"$ref": f"{schemas.REFERENCE}{name}", "components": {"schemas": COMPONENTS}}
    valid: bool = Draft202012Validator(schema).is_valid(value)
    return valid


def question(**members: Any) -> dict[str, Any]:
    """The least question, and more."""
    return {**examples.BODIES["create_approval"]["least"].value, **members}


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """The object without some members."""
    return {name: member for name, member in value.items() if name not in names}


def test_the_server_is_where_the_service_is_reached() -> None:
    """Or, where nobody said, wherever the document was got from."""
    assert document("https://placet.example.com")["servers"] == [{"url": "https://placet.example.com"}]
    assert document(None)["servers"] == [{"url": "/"}]


def test_the_limits_are_those_of_the_service() -> None:
    """Bodies and queries are bounded by what this operator set."""
    limits = Limits(expires_in_max_ms=3_600_000, comment_max_chars=80, wait_max_s=5, page_max=60)
    made = schemas.components(limits)
    assert made["CreateBody"]["properties"]["expires_in_ms"]["maximum"] == 3_600_000
    assert made["DecideBody"]["properties"]["comment"]["maxLength"] == 80
    (wait,) = schemas.query(ReadQuery, limits)
    assert (wait["schema"]["maximum"], wait["example"]) == (5, 5)
    limit = next(each for each in schemas.query(ListQuery, limits) if each["name"] == "limit")
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 60, "default": 50}


def test_a_query_parameter_is_absent_rather_than_null() -> None:
    """A query string has no null."""
    for parameter in schemas.query(ListQuery, Limits()):
        assert "null" not in parameter["schema"].get("type", "")
        assert "anyOf" not in parameter["schema"]


def test_every_member_has_a_meaning_and_every_meaning_a_member() -> None:
    """The table of meanings has nothing left over."""
    members = {(name, each) for name, schema in COMPONENTS.items() for each in schema.get("properties", {})}
    members |= {
        (shape.__name__, each)
        for shape in (EventsQuery, ListQuery, ReadQuery)
        for each in shape.__struct_fields__
    }
    used = {f"{name}.{each}" if f"{name}.{each}" in MEANINGS else each for name, each in members}
    assert used == set(MEANINGS)


def test_every_route_has_prose_under_a_heading() -> None:
    """And no prose is about a route that is gone."""
    assert set(OPERATIONS) == {route.name for route in DESCRIBED}
    assert {prose.tag for prose in OPERATIONS.values()} | {"Callbacks", "Service", "Webhooks"} == set(TAGS)


def test_every_reason_that_is_shown_is_of_a_route() -> None:
    """A reason without its route would be shown nowhere."""
    assert set(examples._REASONS) <= {route.name for route in DESCRIBED}


@pytest.mark.parametrize("code", [code for code, doc in DOCS.items() if "code" in (doc.example or {})])
def test_a_problem_document_has_the_described_shape(code: str) -> None:
    """Not a member more, and not one of another type."""
    encoded = msgspec.json.encode(DOCS[code].example)
    assert msgspec.json.encode(msgspec.json.decode(encoded, type=shapes.Problem)) == encoded


def test_the_faces_of_a_pending_record_have_the_described_shape() -> None:
    """They are typed loosely where they are made."""
    record = examples.ANSWERS["create_approval"][201]["pending"].value
    for face, shape in (("model", shapes.ModelFace), ("confirmation", shapes.ConfirmationFace)):
        assert msgspec.to_builtins(msgspec.convert(record[face], shape)) == record[face]


@given(json_values())
def test_whatever_is_admitted_is_described_as_json(value: Any) -> None:
    """An input that the service would take keeps to the schema."""
    assert accepts("Json", value)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**30), 10**30))
def test_a_number_is_described_as_json_where_it_is_admitted_and_only_there(number: float) -> None:
    """Out are integers beyond 2^53-1 and doubles spelled as one; from 1e21 on they have exponents."""
    spelled = msgspec.json.encode(float(number) if abs(number) >= 1e21 else number)
    try:
        admit_value(spelled, max_depth=1)
    except Fault:
        admitted = False
    else:
        admitted = True
    assert accepts("Json", msgspec.json.decode(spelled)) == admitted


@pytest.mark.parametrize(
    "body",
    [
        question(surprise=1),
        without(question(), "effect"),
        without(question(), "input"),
        question(effect="huge"),
        question(capability="orders.*"),
        question(id="has space"),
        question(input_hash="AB" * 32),
        question(expires_in_ms=1, expires_at="2026-03-01T09:00:00Z"),
        question(expires_in_ms=0),
        question(use_within_ms=86_400_001),
        question(allowed_decisions=["approve"]),
        question(allowed_decisions=["reject", "reject"]),
        question(presentation={"redact": ["no-slash"]}),
        question(presentation={"redact": ["/bad~2escape"]}),
        question(actor={"id": "", "kind": "user"}),
        question(context=[]),
        question(input=2**53),
        question(reasons=["r" * 501]),
    ],
)
def test_a_question_that_would_be_refused_does_not_keep_to_the_schema(body: dict[str, Any]) -> None:
    """What a schema can say of a refusal, it says."""
    assert not accepts("CreateBody", body)


def test_a_question_with_everything_keeps_to_the_schema() -> None:
    """Null where a member may be null, and the hash beside the input."""
    body = question(
        input_hash="0" * 64,
        run=None,
        use_within_ms=None,
        presentation={"title": None, "redact": ["", "/a~1b/0"]},
        allowed_decisions=["reject", "edit"],
        expires_at="2026-03-01T09:00:00+01:00",
    )
    assert accepts("CreateBody", body)
    assert msgspec.convert(body, Create).run is None


@pytest.mark.parametrize("name", ["consume_approval", "introspect_token"])
def test_a_call_is_presented_with_input_or_its_hash_but_not_both(name: str) -> None:
    """One of the two is what is about to run."""
    (example,) = examples.BODIES[name].values()
    body = {"consume_approval": "ConsumeBody", "introspect_token": "IntrospectBody"}[name]
    hashed = {**without(example.value, "input"), "input_hash": "0" * 64}
    assert accepts(body, example.value)
    assert accepts(body, hashed)
    assert not accepts(body, {**hashed, "input": 1})
    assert not accepts(body, without(example.value, "input"))


def test_a_decision_has_an_input_where_it_is_edit_and_only_there() -> None:
    """As the use case judges."""
    said = {"decision": "edit", "digest": "0" * 64}
    assert accepts("DecideBody", {**said, "input": None})
    assert not accepts("DecideBody", said)
    assert not accepts("DecideBody", {**said, "decision": "approve", "input": None})


@pytest.mark.parametrize("name", sorted(schemas.BODIES.values()))
def test_a_body_takes_no_unknown_members(name: str) -> None:
    """As the Structs that read them."""
    assert COMPONENTS[name]["additionalProperties"] is False


def test_a_pattern_is_written_for_every_dialect() -> None:
    """No lookahead: some engines have none, and JSON Schema's ``$`` needs none."""
    patterns = [
        member["pattern"]
        for schema in COMPONENTS.values()
        for member in schema.get("properties", {}).values()
        if "pattern" in member
    ]
    assert patterns
    assert not any("(?!" in pattern for pattern in patterns)


def test_an_example_that_is_not_refused_is_a_mistake() -> None:
    """Of this module, and it says so."""
    with pytest.raises(RuntimeError):
        examples._provoked(lambda: None)


def test_the_refusals_of_a_route_come_by_status() -> None:
    """So that a reader finds them, and the document does not change from run to run."""
    statuses = [refusal.status for refusal in errors.refusals(ROUTES[0])]
    assert statuses == sorted(statuses)
