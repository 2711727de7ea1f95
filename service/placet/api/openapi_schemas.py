"""The schemas of the OpenAPI document: made of the types that read and write the wire, and refined.

msgspec describes the types; added here is what types can't say (one of two members, limits that an operator
sets) and what each member means (:mod:`placet.api.meanings`).
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, get_args

import msgspec
from msgspec import Struct, UnsetType

from placet.api import openapi_shapes as shapes
from placet.api.meanings import MEANINGS
from placet.application import cancel, commands, consume, record_shapes
from placet.domain import deliveries, error_terms, model
from placet.domain.admission import MAX_SAFE_INTEGER
from placet.domain.events import EventType
from placet.domain.limits import Limits

Object = dict[str, Any]

REFERENCE = "#/components/schemas/"

BODIES: Mapping[type[Struct], str] = MappingProxyType(
    {
        commands.Create: "CreateBody",
        commands.Decide: "DecideBody",
        commands.DecideMany: "DecideManyBody",
        commands.DecideItem: "DecideItem",
        commands.CallBack: "CallbackBody",
        commands.Cancel: "CancelBody",
        commands.Consume: "ConsumeBody",
        commands.Introspect: "IntrospectBody",
        commands.ReportOutcome: "ReportOutcomeBody",
        commands.ActorBody: "ActorBody",
        commands.PresentationBody: "PresentationBody",
        commands.ApproverBody: "ApproverBody",
    }
)
"""What callers say, and the name it has in the document."""

VIEWS: Mapping[type[Struct], str] = MappingProxyType(
    {
        record_shapes.RecordView: "Approval",
        record_shapes.ActorView: "Actor",
        record_shapes.ClaimedView: "Claimed",
        record_shapes.QuorumView: "Quorum",
        record_shapes.RuleView: "Rule",
        record_shapes.DecisionView: "Decision",
        record_shapes.StepUpView: "StepUp",
        record_shapes.ConsumptionView: "Consumption",
        record_shapes.OutcomeView: "Outcome",
        record_shapes.RequestedView: "Requested",
        record_shapes.LinksView: "Links",
        record_shapes.DeliveryView: "Delivery",
        model.Presentation: "Presentation",
        model.Person: "Person",
        record_shapes.TrailView: "TrailEntry",
        record_shapes.EventView: "Event",
        record_shapes.WebhookView: "WebhookEvent",
        record_shapes.WebhookDataView: "WebhookEventData",
        record_shapes.WebhookTestView: "WebhookTest",
        record_shapes.WebhookTestDataView: "WebhookTestData",
        cancel.RunCancelled: "RunCancelled",
        cancel.Skipped: "Skipped",
        consume.Verdict: "Introspection",
        error_terms.Issue: "Issue",
        **{shape: shape.__name__ for shape in shapes.Shape.__subclasses__()},
    }
)
"""What the service says, and the name it has in the document."""

_ENUMS: tuple[type[StrEnum], ...] = (
    *(model.Status, model.Verdict, model.ActorKind, model.Effect, model.Risk, model.OutcomeStatus),
    *(error_terms.Stage, error_terms.Category, error_terms.Retry, error_terms.ConfirmationCode),
    EventType,
    *(deliveries.DeliveryState, deliveries.Failure),
)

_WHOLE_TEXT = re.compile(r"\^\(\?:(?P<inside>.*)\)\$\(\?!\\n\)")
_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


_JSON: Object = {
    "title": "any JSON",
    "description": (
        "JSON that everybody reads alike (RFC 7493): no integers beyond ±(2^53-1), nor numbers whose"
        " canonical text would be one; no lone surrogates; no member names twice; bounded in depth."
    ),
    "anyOf": [
        {"type": ["null", "boolean", "string"]},
        {
            "type": "number",
            "anyOf": [
                {"minimum": -MAX_SAFE_INTEGER, "maximum": MAX_SAFE_INTEGER},
                {"minimum": 1e21},
                {"maximum": -1e21},
            ],
        },
        {"type": "array", "items": {"$ref": REFERENCE + "Json"}},
        {"type": "object", "additionalProperties": {"$ref": REFERENCE + "Json"}},
    ],
}
"""What is admitted of a value that only passes through (:mod:`placet.domain.admission`)."""


def components(limits: Limits) -> dict[str, Object]:
    """Every named schema, by name."""
    names: dict[type, str] = {**BODIES, **VIEWS, **{enum: enum.__name__ for enum in _ENUMS}}
    references, made = msgspec.json.schema_components(tuple(names), ref_template=REFERENCE + "{name}")
    renamed = {
        reference["$ref"]: REFERENCE + name
        for reference, name in zip(references, names.values(), strict=True)
    }
    schemas = {
        renamed[REFERENCE + name].removeprefix(REFERENCE): _told(schema, renamed)
        for name, schema in made.items()
    }
    for enum in _ENUMS:
        schemas[enum.__name__] |= {"type": "string", "enum": [member.value for member in enum]}
    for view, name in VIEWS.items():
        if not view.__struct_config__.omit_defaults:
            schemas[name]["required"] = _always_there(view)
    for name, schema in schemas.items():
        for member in schema.get("properties", {}):
            schema["properties"][member]["description"] = MEANINGS.get(f"{name}.{member}") or MEANINGS[member]
    _refine(schemas, limits)
    return {**{name: schemas[name] for name in names.values()}, "Json": _JSON}


def query(shape: type[Struct], limits: Limits) -> list[Object]:
    """The parameters that a query Struct takes: absent, never null."""
    (reference,), made = msgspec.json.schema_components((shape,), ref_template=REFERENCE + "{name}")
    told = _told(made[reference["$ref"].removeprefix(REFERENCE)], {})
    bounds: Mapping[str, Object] = {
        "wait": {"maximum": limits.wait_max_s},
        "limit": {"maximum": limits.page_max, "default": limits.page_default},
    }
    shown = {"wait": min(30, limits.wait_max_s), "status": model.Status.PENDING.value}
    parameters = []
    for name, schema in told["properties"].items():
        present = next((each for each in schema.get("anyOf", ()) if "$ref" in each), schema)
        if isinstance(present.get("type"), list):
            present = present | {"type": present["type"][0]}
        if present.get("default", ...) is None:
            del present["default"]
        meaning = MEANINGS[f"{shape.__name__}.{name}"]
        present = present | bounds.get(name, {})
        example = {"example": shown[name]} if name in shown else {}
        parameters.append({"name": name, "in": "query", "description": meaning, "schema": present, **example})
    return parameters


def _told(schema: Any, renamed: Mapping[str, str]) -> Any:  # noqa: ANN401 - any part of a schema
    """The schema in the document's words: its names, plain patterns, no titles, Markdown."""
    if isinstance(schema, list):
        return [_told(each, renamed) for each in schema]
    if not isinstance(schema, dict):
        return schema
    told = {keyword: _keyword(keyword, value, renamed) for keyword, value in schema.items()}
    if isinstance(told.get("title"), str):
        del told["title"]
    return _nullable(told)


def _keyword(keyword: str, value: Any, renamed: Mapping[str, str]) -> Any:  # noqa: ANN401 - any keyword's
    match keyword:
        case "properties":  # names, not keywords
            return {name: _told(member, renamed) for name, member in value.items()}
        case "default":
            return msgspec.json.decode(msgspec.json.encode(value))
        case "$ref":
            return renamed.get(value, value)
        case "pattern":  # JSON Object's ``$`` is the end of the text already (ECMA-262 §22.2.2.4)
            return _WHOLE_TEXT.sub(r"^\g<inside>$", value)
        case "description":
            return _markdown(value)
    return _told(value, renamed)


def _nullable(schema: Object) -> Object:
    """A type or null as one list of types, which reads better than ``anyOf``; any JSON is null already."""
    options = schema.get("anyOf", [])
    if options[1:] != [{"type": "null"}]:
        return schema
    present: Object = options[0]
    others = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    if not present:
        return others
    if isinstance(present.get("type"), str):
        return {**present, "type": [present["type"], "null"], **others}
    return schema


def _markdown(docstring: str) -> str:
    text = _ROLE.sub(r"`\1`", docstring).replace("``", "`")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _always_there(view: type[Struct]) -> list[str]:
    """Members that an answer always has: all but those that can be unset."""
    return [
        field.encode_name for field in msgspec.structs.fields(view) if UnsetType not in get_args(field.type)
    ]


def _refine(schemas: dict[str, Object], limits: Limits) -> None:
    """Add what the types can't say."""
    for body in BODIES.values():
        for schema in schemas[body]["properties"].values():
            if schema.keys() == {"description"}:
                schema["$ref"] = REFERENCE + "Json"
            elif schema.get("type") == "object":
                schema["additionalProperties"] = {"$ref": REFERENCE + "Json"}
    create, decide = schemas["CreateBody"], schemas["DecideBody"]
    create["anyOf"] = [{"required": ["input"]}, {"required": ["input_hash"]}]
    create["not"] = {"required": ["expires_in_ms", "expires_at"]}
    asked = create["properties"]
    asked["expires_in_ms"] |= {"minimum": limits.expires_in_min_ms, "maximum": limits.expires_in_max_ms}
    asked["expires_in_ms"]["description"] += (
        " Where neither this nor `expires_at` is sent: what the rule says, else"
        f" {limits.expires_in_default_ms}."
    )
    asked["use_within_ms"]["maximum"] = limits.use_within_max_ms
    asked["allowed_decisions"] |= {"uniqueItems": True, "contains": {"const": model.Verdict.REJECT.value}}
    pointer = schemas["PresentationBody"]["properties"]["redact"]["items"]
    pointer["pattern"] = "^(?:/(?:[^/~]|~[01])*)*$"
    for name in ("ConsumeBody", "IntrospectBody"):
        schemas[name]["oneOf"] = [{"required": ["input"]}, {"required": ["input_hash"]}]
    edit = {"properties": {"decision": {"const": model.Verdict.EDIT.value}}}
    for said in (decide, schemas["CallbackBody"]):
        said |= {"if": edit, "then": {"required": ["input"]}, "else": {"not": {"required": ["input"]}}}
        said["properties"]["comment"]["maxLength"] = limits.comment_max_chars
    schemas["ReportOutcomeBody"]["properties"]["summary"]["maxLength"] = limits.outcome_summary_max_chars
    answered = schemas["Approval"]["properties"]
    answered["model"] = {**_reference("ModelFace"), "description": answered["model"]["description"]}
    answered["confirmation"] = {
        **_reference("ConfirmationFace"),
        "description": answered["confirmation"]["description"],
    }
    happened = schemas["TrailEntry"]["properties"]
    happened["type"] = {**_reference("EventType"), "description": happened["type"]["description"]}


def _reference(name: str) -> Object:
    return {"$ref": REFERENCE + name}
