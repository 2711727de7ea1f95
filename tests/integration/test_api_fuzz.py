"""Whatever bytes come, the answer is one of the API's own, and never a fault of the service."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from hypothesis import given, settings
from hypothesis import strategies as st

from placet.domain.errors import TABLE
from tests.factories import ManualClock
from tests.harness import QUESTION, Harness, Party, call_of, opened, record
from tests.strategies import damaged_json, json_values
from tests.wire import HOST, Exchange, bearer

MEMBERS = (
    *QUESTION,
    "allowed_decisions",
    "approver",
    "audience",
    "comment",
    "context",
    "decision",
    "digest",
    "execution_id",
    "expires_at",
    "expires_in_ms",
    "extensions",
    "id",
    "input_hash",
    "presentation",
    "reasons",
    "risk",
    "run",
    "status",
    "summary",
    "surface",
    "token",
    "types",
    "use_within_ms",
)


def nearly(body: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """A good body with some members exchanged for anything, and some left out."""

    def changed(change: dict[str, Any], without: set[str]) -> bytes:
        return json.dumps({k: v for k, v in {**body, **change}.items() if k not in without}).encode()

    changes = st.dictionaries(st.sampled_from(MEMBERS), json_values(6), max_size=3)
    return st.builds(changed, changes, st.sets(st.sampled_from(MEMBERS), max_size=2))


class Stage:
    """One service for all examples: whatever an example leaves behind is met by the next."""

    def __init__(self, loop: asyncio.AbstractEventLoop, h: Harness) -> None:
        self.run = loop.run_until_complete
        self.app = h.app
        self.runtime: Party = self.run(h.client())
        self.ann: Party = self.run(h.approver())
        self.asked = self.run(self.runtime.asked(id="q"))
        record(self.run(self.ann.decide(self.asked)))
        token = self.run(self.runtime.token("q"))
        self.bodies: dict[str, tuple[Party, dict[str, Any]]] = {
            "/v1/approvals": (self.runtime, dict(QUESTION)),
            "/v1/approvals/q/decision": (
                self.ann,
                {"decision": "approve", "digest": self.asked["digest"]},
            ),
            "/v1/approvals/q/consume": (
                self.runtime,
                {**call_of(self.asked), "execution_id": "e", "token": token},
            ),
            "/v1/approvals/q/outcome": (self.runtime, {"execution_id": "e", "status": "failed"}),
            "/v1/approvals/none/cancel": (self.runtime, {}),
            "/v1/runs/r/cancel": (self.runtime, {}),
            "/v1/tokens/introspect": (self.runtime, {**call_of(self.asked), "token": token}),
        }


@pytest.fixture(scope="module")
def stage(ring_directory: Path) -> Iterator[Stage]:
    """The service, on a loop of its own."""
    loop = asyncio.new_event_loop()
    service = opened(FakeAsyncRedis(server=FakeServer(server_type="valkey")), ring_directory, ManualClock())
    yield Stage(loop, loop.run_until_complete(service.__aenter__()))
    loop.run_until_complete(service.__aexit__(None, None, None))
    loop.close()


@settings(max_examples=250)
@given(data=st.data())
def test_any_body_is_answered(stage: Stage, data: st.DataObject) -> None:
    """Damaged JSON and good bodies with odd members: a success, or a row of the table below 500."""
    path = data.draw(st.sampled_from(sorted(stage.bodies)))
    party, good = stage.bodies[path]
    body = data.draw(st.one_of(damaged_json(), nearly(good), st.binary(max_size=20)))
    headers = {"content-type": "application/json"}
    response = stage.run(party.call("POST", path, content=body, headers=headers))
    assert response.status_code < 500, response.text
    if response.status_code >= 400:
        problem = response.json()
        assert problem["code"] in TABLE
        assert problem["status"] == response.status_code
    else:
        assert json.loads(response.content)


@settings(max_examples=200)
@given(
    method=st.sampled_from(["GET", "HEAD", "POST"]), path=st.binary(max_size=20), query=st.binary(max_size=30)
)
def test_any_path_and_query_is_answered(stage: Stage, method: str, path: bytes, query: bytes) -> None:
    """Ids, runs and queries of any bytes: never a fault of the service."""
    headers = [HOST, bearer(stage.runtime.credential)]
    for kind in ("approvals/{}", "approvals/{}/events", "runs/{}/cancel"):
        target = f"/v1/{kind.format(quote(path))}?{query.decode('latin-1')}"
        exchange = stage.run(Exchange(stage.app, method, target, headers).run())
        assert exchange.status is not None
        assert exchange.status < 500
