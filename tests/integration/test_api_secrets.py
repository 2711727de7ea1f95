"""No secret ever leaves by a side door: not in a log, not in a metric, not in the body of an error."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import generate_latest

from placet.observability.logs import configure
from placet.settings import LogFormat, LogLevel, LogSettings
from tests.harness import Harness, record
from tests.wire import Exchange

MARK = "s3cr3t-"
"""Every value below that must not be seen begins so; none of them is a name or an id."""

QUESTION: dict[str, Any] = {
    "input": {MARK + "name": MARK + "value", "deep": [{"n": MARK + "item"}]},
    "context": {MARK + "key": MARK + "context"},
    "extensions": {"x": MARK + "extension"},
    "actor": {"id": "agent-7", "kind": "agent", "attributes": {"y": MARK + "attribute"}},
    "presentation": {"title": MARK + "title", "summary": "A refund"},
    "reasons": [MARK + "reason"],
}


class Everything(logging.Handler):
    """Keeps every record of every logger, whole."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep all there is: message, arguments, extra members, exceptions with their causes."""
        formatted = logging.Formatter().format(record)
        self.texts.append(f"{record.getMessage()} {formatted} {record.__dict__!r}")


@pytest.fixture
def everything() -> Iterator[Everything]:
    """All that is logged, at the most talkative level, but for the test's own HTTP client."""
    handler, root = Everything(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    placet = logging.getLogger("placet")
    before = placet.level
    placet.setLevel(logging.DEBUG)
    yield handler
    placet.setLevel(before)
    root.setLevel(level)
    root.removeHandler(handler)


async def a_whole_life(h: Harness) -> tuple[set[str], list[str]]:
    """Everything that can go right and wrong: the secrets in it, and the bodies of all refusals."""
    runtime, ann, stranger = await h.client(), await h.approver(), await h.client("stranger")
    bridge = await h.client("bridge", "decide_as", people=["ann"], max_risk="high")
    asked = record(await runtime.ask(key=MARK + "key", **QUESTION), 201)
    answers = [
        await runtime.ask(key=MARK + "key", **{**QUESTION, "input": MARK}),
        await runtime.ask(**{**QUESTION, "risk": "critical"}),
        await runtime.ask(**{**QUESTION, "risk": MARK + "risk"}),
        await runtime.ask(**{**QUESTION, "effect": MARK + "effect"}),
        await runtime.ask(**{**QUESTION, "capability": MARK + "a b"}),
        await runtime.ask(**{**QUESTION, "expires_at": MARK + "time"}),
        await runtime.ask(**{**QUESTION, "input_hash": MARK + "hash"}),
        await runtime.ask(**{**QUESTION, "actor": {"id": MARK + "\u202e", "kind": "user"}}),
        await runtime.ask(**{**QUESTION, "presentation": {"redact": [MARK + "pointer"]}}),
        await runtime.call("POST", "/v1/approvals", content=b'{"input": "' + MARK.encode()),
        await runtime.call(
            "POST",
            "/v1/approvals",
            content=b'{"input": {"a": "' + MARK.encode() + b'", "a": 1e999}}',
            headers={"content-type": "application/json"},
        ),
        await runtime.consume(asked, MARK + "token"),
        await runtime.read(asked["id"] + MARK),
        await runtime.list(cursor=MARK + "cursor"),
        await runtime.list(status=MARK + "status"),
        await stranger.read(asked["id"]),
        await stranger.consume(asked, MARK + "token"),
        await bridge.decide(asked, approver={"id": "eve"}, comment=MARK + "bridged"),
        await ann.decide(asked, MARK + "verdict", comment=MARK + "comment"),
        await ann.decide({**asked, "digest": "0" * 64}, comment=MARK + "comment"),
        await ann.decide(asked, "edit", input=MARK + "edited"),
        await h.http.get("/v1/approvals", headers={"authorization": f"Bearer {MARK}credential"}),
        await h.http.get("/v1/approvals", headers={"authorization": "Bearer " + runtime.credential + "x"}),
    ]
    record(await ann.decide(asked, comment=MARK + "comment"))
    token = await runtime.token(asked["id"])
    answers += [
        await ann.decide(asked, "reject", comment=MARK + "late"),
        await runtime.consume(asked, token, input={MARK: MARK}),
        await runtime.consume(asked, token[:-2]),
        await runtime.consume(asked, token, nonsense=MARK),
        await runtime.report(asked["id"], summary=MARK + "early"),
        await stranger.introspect(asked, token),
    ]
    record(await runtime.consume(asked, token))
    answers += [await runtime.consume(asked, token, execution="e-2"), await runtime.cancel(asked["id"])]
    record(await runtime.report(asked["id"], summary=MARK + "summary"))
    answers += [await runtime.report(asked["id"], summary=MARK + "other")]
    for answer in answers[:-3]:
        assert answer.status_code >= 400 or answer.json() == {
            "active": False,
            "error": "APPROVAL_TOKEN_INVALID",
        }, answer.text
    everyone = {each.credential for each in (runtime, ann, stranger, bridge)}
    secrets = {MARK, token, *everyone, *(each.split("_", 3)[3] for each in everyone)}
    return secrets, [answer.text for answer in answers]


async def test_nothing_secret_is_logged_counted_or_refused_with(
    anywhere: Harness, everything: Everything
) -> None:
    """Through a whole life with many refusals no credential, token, input, comment or word is let out."""
    secrets, bodies = await a_whole_life(anywhere)
    labels = generate_latest(anywhere.services.metrics.registry).decode()
    ours = [text for text in everything.texts if "HTTP Request" not in text]
    assert ours
    for secret in secrets:
        assert not [text for text in ours if secret in text]
        assert secret not in labels
        assert not [body for body in bodies if secret in body.replace("\\u202e", "")]


async def test_a_fault_inside_lets_nothing_out(
    h: Harness, everything: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where something breaks with an input in hand, the lines that are written do not have it."""
    runtime = await h.client()
    stream = io.StringIO()
    handlers, level = logging.getLogger().handlers[:], logging.getLogger().level
    configure(LogSettings(level=LogLevel.DEBUG, format=LogFormat.JSON), stream)

    def breaks(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("placet.application.request.canonicalize", breaks)
    response = await runtime.ask(**QUESTION)
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)
    assert response.status_code == 500
    assert MARK not in response.text
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert {line["request_id"] for line in lines if line["logger"] == "placet.api"} == {
        response.headers["x-request-id"]
    }
    assert MARK not in stream.getvalue()
    assert runtime.credential not in stream.getvalue()


async def test_series_can_not_be_grown_by_asking(h: Harness) -> None:
    """Paths and methods that nobody knows share one series."""
    runtime = await h.client()
    for n in range(50):
        await runtime.call("GET", f"/v1/{MARK}{n}")
        await runtime.call("PUT", "/v1/approvals")
        await Exchange(h.app, f"M{n}", "/v1/approvals", [(b"host", b"localhost")]).run()
    text = generate_latest(h.services.metrics.registry).decode()
    series = [line for line in text.splitlines() if line.startswith("placet_http_requests_total")]
    assert sorted(series) == [
        'placet_http_requests_total{code="404",route="none"} 50.0',
        'placet_http_requests_total{code="405",route="none"} 100.0',
    ]
