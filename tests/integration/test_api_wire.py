"""The wire: headers, hosts, methods, paths; what no well-behaved client would send."""

import asyncio
import json
import re
from typing import Any

import pytest

from placet.domain.errors import TABLE
from tests.harness import QUESTION, Harness, record, refusal
from tests.wire import HOST, TYPE, Exchange, bearer

TWICE: dict[str, tuple[list[tuple[bytes, bytes]], tuple[int, str]]] = {
    "content-type": ([TYPE, TYPE], (415, "UNSUPPORTED_MEDIA_TYPE")),
    "idempotency-key": (
        [TYPE, (b"idempotency-key", b"a"), (b"idempotency-key", b"a")],
        (422, "INPUT_INVALID"),
    ),
}


@pytest.mark.parametrize(("headers", "answer"), TWICE.values(), ids=TWICE.keys())
async def test_a_header_given_twice_is_refused(h: Harness, headers: Any, answer: tuple[int, str]) -> None:
    """Of two headers of one name nobody can tell which was meant."""
    runtime = await h.client()
    body = json.dumps(dict(QUESTION)).encode()
    exchange = Exchange(
        h.app, "POST", "/v1/approvals", [HOST, bearer(runtime.credential), *headers], chunks=[body]
    )
    assert (await exchange.run()).refusal == answer
    assert record(await runtime.list())["items"] == []


async def test_two_credentials_are_none(h: Harness) -> None:
    """Two Authorization headers, equal or not, authenticate nobody."""
    one, other = await h.client("one"), await h.client("other")
    for second in (one, other):
        exchange = Exchange(
            h.app, "GET", "/v1/approvals", [HOST, bearer(one.credential), bearer(second.credential)]
        )
        assert (await exchange.run()).refusal == (401, "UNAUTHENTICATED")


GOOD_HOSTS = ["127.0.0.1:8420", "127.0.0.1", "localhost:1", "LOCALHOST", "[::1]:8420", "[::1]"]
BAD_HOSTS = [
    "evil.example",
    "",
    "127.0.0.1.evil.example",
    "localhost.",
    "127.0.0.2",
    "[::2]",
    "[::1",
    ":8420",
    "a@localhost",
]


@pytest.mark.parametrize("host", GOOD_HOSTS)
async def test_our_own_names_are_answered(h: Harness, host: str) -> None:
    """With or without a port, in any case."""
    for path in ("/healthz", "/v1/approvals"):
        exchange = await Exchange(h.app, "GET", path, [(b"host", host.encode())]).run()
        assert exchange.status in {200, 401}


@pytest.mark.parametrize("hosts", [[each] for each in BAD_HOSTS] + [[], ["localhost", "localhost"]])
async def test_other_names_are_refused(h: Harness, hosts: list[str]) -> None:
    """A page of another site can't reach us by naming us otherwise, credential or not."""
    runtime = await h.client()
    named = [(b"host", each.encode()) for each in hosts]
    for path in ("/healthz", "/v1/approvals", "/openapi.json"):
        exchange = await Exchange(h.app, "GET", path, [*named, bearer(runtime.credential)]).run()
        assert exchange.refusal == (421, "HOST_NOT_ALLOWED")
        assert len(exchange.header("x-request-id")) == 1


@pytest.mark.parametrize("given", ["req-1", "A" * 64, "0.9_-"])
async def test_a_plain_request_id_is_kept(h: Harness, given: str) -> None:
    """It comes back on answers of every kind."""
    runtime = await h.client()
    headers = {"x-request-id": given}
    for path in ("/v1/approvals", "/v1/approvals/nope", "/v1/nope", "/nope"):
        response = await runtime.call("GET", path, headers=headers)
        assert response.headers["x-request-id"] == given


@pytest.mark.parametrize("given", ["", "a b", "A" * 65, "<b>", "a;b", "\u00e9", "a\tb", "{}"])
async def test_any_other_request_id_is_replaced(h: Harness, given: str) -> None:
    """What could steer a log or a header is not repeated."""
    runtime = await h.client()
    for path in ("/v1/approvals", "/nope"):
        response = await runtime.call("GET", path, headers={"x-request-id": given.encode("latin-1")})
        assert re.fullmatch("[0-9a-f]{32}", response.headers["x-request-id"])


async def test_every_request_has_an_id_of_its_own(h: Harness) -> None:
    """Without one, and with two, an id is made."""
    runtime = await h.client()
    made = [(await runtime.list()).headers["x-request-id"] for _ in range(2)]
    twice = [HOST, bearer(runtime.credential), (b"x-request-id", b"a"), (b"x-request-id", b"a")]
    exchange = await Exchange(h.app, "GET", "/v1/approvals", twice).run()
    assert len({*made, *exchange.header("x-request-id")}) == 3


async def test_every_answer_says_not_to_be_kept_or_guessed(h: Harness) -> None:
    """no-store and nosniff on successes and on refusals of every kind."""
    runtime = await h.client()
    asked = await runtime.asked()
    for response in (
        await runtime.read(asked["id"]),
        await runtime.list(),
        await runtime.read("nope"),
        await runtime.call("GET", "/v1/nope"),
        await runtime.call("GET", "/nope"),
        await h.http.get("/v1/approvals"),
    ):
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1/nope",
        "/v1/approvals/",
        "/v1/approvals/x/y",
        "/v1/approvals/a%2Fb",
        "/v1/approvals/%2e%2e/x",
        "/v1//approvals",
        "/V1/approvals",
        "/v1x",
        "/v2/approvals",
        "/v1/runs/r",
        "/nope",
        "//v1/approvals",
    ],
)
async def test_what_is_not_there_is_404(h: Harness, path: str) -> None:
    """Unknown paths, with the same problem document everywhere."""
    runtime = await h.client()
    exchange = await Exchange(h.app, "GET", path, [HOST, bearer(runtime.credential)]).run()
    assert exchange.refusal == (404, "ROUTE_NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/v1/approvals", {"GET", "HEAD", "POST"}),
        ("DELETE", "/v1/approvals/x", {"GET", "HEAD"}),
        ("OPTIONS", "/v1/approvals", {"GET", "HEAD", "POST"}),
        ("GET", "/v1/approvals/x/consume", {"POST"}),
        ("HEAD", "/v1/approvals/x/consume", {"POST"}),
        ("GET", "/v1/runs/r/cancel", {"POST"}),
        ("PATCH", "/v1/tokens/introspect", {"POST"}),
        ("TRACE", "/v1/approvals", {"GET", "HEAD", "POST"}),
        ("POST", "/healthz", {"GET", "HEAD", "OPTIONS"}),
        ("DELETE", "/openapi.json", {"GET", "HEAD", "OPTIONS"}),
        ("get", "/v1/approvals", {"GET", "HEAD", "POST"}),
    ],
)
async def test_a_wrong_method_is_405_with_the_right_ones(
    h: Harness, method: str, path: str, allow: set[str]
) -> None:
    """RFC 9110 §15.5.6: the answer names the methods that the path takes."""
    exchange = await Exchange(h.app, method, path, [HOST]).run()
    assert exchange.status == 405
    assert set(exchange.header("allow")[0].split(", ")) == allow
    if method != "HEAD":
        assert exchange.refusal == (405, "METHOD_NOT_ALLOWED")


@pytest.mark.parametrize("path", ["/v1/approvals", "/healthz", "/nope"])
async def test_a_web_socket_is_turned_away(h: Harness, path: str) -> None:
    """Nothing here speaks it, and asking does no harm."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "websocket",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [HOST],
        "scheme": "ws",
        "subprotocols": [],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8420),
        "state": {},
    }
    await h.app(scope, receive, send)  # type: ignore[arg-type] # plain ASGI
    assert [message["type"] for message in sent] == ["websocket.close"]


async def test_a_query_where_none_is_taken_is_422(h: Harness) -> None:
    """Nothing is silently ignored, in a query either."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    path = asked["links"]["self"]
    decision = {"decision": "approve", "digest": asked["digest"]}
    for response in (
        await runtime.call("POST", "/v1/approvals?dry_run=1", json=dict(QUESTION)),
        await ann.call("POST", f"{path}/decision?approver=bob", json=decision),
        await runtime.call("POST", f"{path}/cancel?force=1"),
        await runtime.call("GET", f"{path}/events?x=1"),
    ):
        assert refusal(response) == (422, "INPUT_INVALID")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


async def test_a_problem_has_all_its_faces(h: Harness) -> None:
    """RFC 9457, and the three faces that a runtime forwards, with the values of the table."""
    runtime = await h.client()
    assert (await runtime.read("nope")).json() == {
        "type": "/errors/APPROVAL_NOT_FOUND",
        "title": "Approval not found",
        "status": 404,
        "detail": TABLE["APPROVAL_NOT_FOUND"]().detail,
        "code": "APPROVAL_NOT_FOUND",
        "stage": "approval",
        "retryable": False,
        "model": {"code": "INTERNAL_ERROR", "message": "The operation failed.", "retryable": False},
        "confirmation": {
            "code": "CONFIRMATION_INVALID",
            "message": "The confirmation does not fit this request. Do not retry.",
            "retry": "no",
            "details": {"reason": "mismatch"},
        },
        "failure": {
            "version": 1,
            "code": "APPROVAL_NOT_FOUND",
            "category": "approval",
            "message": "The operation failed.",
            "retryable": False,
            "status": 404,
        },
    }


async def test_refusals_are_counted_by_route_and_code(h: Harness) -> None:
    """The metrics tell what was asked and how it ended."""
    runtime = await h.client()
    await runtime.list()
    await runtime.read("nope")
    await runtime.read("nope")
    value = h.services.metrics.registry.get_sample_value
    assert value("placet_http_requests_total", {"route": "list_approvals", "code": "200"}) == 1
    assert value("placet_http_requests_total", {"route": "get_approval", "code": "404"}) == 2
    assert value("placet_refusals_total", {"code": "APPROVAL_NOT_FOUND"}) == 2
    assert value("placet_http_request_seconds_count", {"route": "get_approval"}) == 2


async def test_many_calls_at_once_keep_their_own_answers(anywhere: Harness) -> None:
    """Calls of one tick travel together; each gets its own record back."""
    runtime = await anywhere.client()
    asked = await asyncio.gather(*(runtime.asked(input=n) for n in range(200)))
    seen = await asyncio.gather(*(runtime.seen(each["id"]) for each in asked))
    assert [each["input"] for each in seen] == list(range(200))
