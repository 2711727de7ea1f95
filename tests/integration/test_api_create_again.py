"""Asking again: joining, idempotency keys, chosen ids, and how much may wait at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from placet.domain.limits import Limits
from tests.factories import ManualClock
from tests.harness import QUESTION, Harness, Party, opened, reason, record, refusal


async def requested(party: Party, approval_id: str) -> int:
    """How often the trail says that the approval was asked for."""
    return [line["type"] for line in record(await party.trail(approval_id))["items"]].count("requested")


async def test_the_same_question_joins_the_one_that_waits(anywhere: Harness) -> None:
    """A repetition of a pending question is that question: 200, the same id, no second event."""
    runtime = await anywhere.client()
    first = await runtime.asked(run="r", context={"n": 1})
    again = await runtime.ask(run="r", context={"n": 1})
    assert record(again, 200) == first
    assert again.headers["location"] == f"/v1/approvals/{first['id']}"
    assert await requested(runtime, first["id"]) == 1
    assert len(record(await runtime.list())["items"]) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"input": {"order": "A-1", "amount": 6}},
        {"context": {"n": 1}},
        {"surface": "chat"},
        {"actor": {"id": "agent-8", "kind": "agent"}},
        {"actor": {"id": "agent-7", "kind": "service"}},
        {"actor": {"id": "agent-7", "kind": "agent", "attributes": {"a": 1}}},
        {"actor": {"id": "agent-7", "kind": "agent", "on_behalf_of": ["x"]}},
        {"extensions": {"a": 1}},
        {"expires_in_ms": 900_000},
        {"use_within_ms": 1_000},
        {"risk": "low"},
        {"reasons": ["because"]},
        {"presentation": {"title": "Refund"}},
        {"run": "r"},
        {"effect": "write"},
    ],
)
async def test_another_question_does_not_join(h: Harness, changes: dict[str, Any]) -> None:
    """Whatever differs in what is bound, shown or kept makes a question of its own."""
    runtime = await h.client()
    first = await runtime.asked()
    assert (await runtime.asked(**changes))["id"] != first["id"]


async def test_another_client_does_not_join(h: Harness) -> None:
    """Two clients that ask the same have a record each."""
    one, other = await h.client("one"), await h.client("other")
    assert (await one.asked(audience="one"))["id"] != (await other.asked(audience="one"))["id"]


@pytest.mark.parametrize("end", ["rejected", "approved", "cancelled", "expired"])
async def test_a_question_that_is_over_is_not_joined(anywhere: Harness, end: str) -> None:
    """B29: once the first is decided, withdrawn or expired, the same question is a new one."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    first = await runtime.asked()
    if end == "cancelled":
        record(await runtime.cancel(first["id"]))
    elif end == "expired":
        anywhere.clock.move(900_001)
    else:
        record(await ann.decide(first, {"rejected": "reject", "approved": "approve"}[end]))
    second = await runtime.asked()
    assert second["id"] != first["id"]
    assert second["status"] == "pending"
    assert await requested(runtime, second["id"]) == 1


async def test_a_chosen_id_is_never_idempotent(anywhere: Harness) -> None:
    """The same id again is refused, identical question or not, whatever has become of the first."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(id="mine")
    assert refusal(await runtime.ask(id="mine")) == (409, "APPROVAL_ALREADY_EXISTS")
    assert refusal(await runtime.ask(id="mine", input=1)) == (409, "APPROVAL_ALREADY_EXISTS")
    record(await ann.decide(asked, "reject"))
    assert refusal(await runtime.ask(id="mine")) == (409, "APPROVAL_ALREADY_EXISTS")
    other = await anywhere.client("other")
    assert refusal(await other.ask(id="mine")) == (409, "APPROVAL_ALREADY_EXISTS")


async def test_a_chosen_id_does_not_join(h: Harness) -> None:
    """A question with an id of its own is a record of its own, though an identical one waits."""
    runtime = await h.client()
    first = await runtime.asked()
    assert (await runtime.asked(id="mine"))["id"] == "mine"
    assert (await runtime.ask()).json()["id"] in {first["id"], "mine"}


async def test_an_idempotency_key_is_one_record(anywhere: Harness) -> None:
    """B28: a hundred creates with one key, many at once, are one record with one event."""
    runtime = await anywhere.client()
    answers = await asyncio.gather(*(runtime.ask(key="k-1") for _ in range(100)))
    assert sorted({each.status_code for each in answers}) == [200, 201]
    assert sum(each.status_code == 201 for each in answers) == 1
    (approval_id,) = {each.json()["id"] for each in answers}
    assert await requested(runtime, approval_id) == 1


async def test_an_idempotency_key_with_another_body_is_a_conflict(anywhere: Harness) -> None:
    """B28: one key for two different questions is refused, and the first one stands."""
    runtime = await anywhere.client()
    first = record(await runtime.ask(key="k-1"), 201)
    for changes in ({"input": 1}, {"risk": "low"}, {"extensions": {"a": 1}}, {"surface": "direct"}):
        assert refusal(await runtime.ask(key="k-1", **changes)) == (409, "INVOCATION_CONFLICT")
    assert record(await runtime.ask(key="k-1")) == first


async def test_an_idempotency_key_compares_what_was_said_not_how(h: Harness) -> None:
    """Order of members, white space and the spelling of numbers make no other body."""
    runtime = await h.client()
    first = record(await runtime.ask(key="k-1"), 201)
    shuffled = json.dumps(dict(reversed(list(QUESTION.items()))), indent=3).replace("5", "5.0e0")
    headers = {"idempotency-key": "k-1", "content-type": "application/json"}
    again = await runtime.call("POST", "/v1/approvals", content=shuffled, headers=headers)
    assert record(again) == first


async def test_an_idempotency_key_finds_its_record_as_it_is_now(anywhere: Harness) -> None:
    """Its answer follows the record through its states, even past the deadline that was asked for."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    question = {"key": "k-1", "expires_at": "2027-01-15T08:01:00Z"}
    first = record(await runtime.ask(**question), 201)
    record(await ann.decide(first))
    again = record(await runtime.ask(**question))
    assert (again["id"], again["status"]) == (first["id"], "approved")
    assert "token" not in again
    anywhere.clock.move(3_600_000)
    assert record(await runtime.ask(**question))["status"] == "expired"


async def test_an_idempotency_key_is_the_clients_own(h: Harness) -> None:
    """The same key of two clients, and of two tenants, is two keys."""
    one, other = await h.client("one"), await h.client("other")
    abroad = await h.client("one", tenant="abroad")
    ids = [record(await each.ask(key="k-1"), 201)["id"] for each in (one, other, abroad)]
    assert len(set(ids)) == 3


async def test_a_key_and_an_id_together(h: Harness) -> None:
    """With a key a chosen id may be repeated; under another key it is taken."""
    runtime = await h.client()
    first = record(await runtime.ask(key="k-1", id="mine"), 201)
    assert record(await runtime.ask(key="k-1", id="mine")) == first
    assert refusal(await runtime.ask(key="k-2", id="mine")) == (409, "APPROVAL_ALREADY_EXISTS")


async def test_a_key_neither_joins_nor_is_joined_by_itself(h: Harness) -> None:
    """A question under a key is a record of its own, though an identical one waits."""
    runtime = await h.client()
    first = await runtime.asked()
    assert record(await runtime.ask(key="k-1"), 201)["id"] != first["id"]
    assert record(await runtime.ask(key="k-2"), 201)["id"] != first["id"]


@pytest.mark.parametrize("key", ["!", "~" * 128, '"quoted"', "a-b_c.d:e/f"])
async def test_a_key_is_visible_ascii(h: Harness, key: str) -> None:
    """1 to 128 visible ASCII characters are a key."""
    runtime = await h.client()
    assert (await runtime.ask(key=key)).status_code == 201


@pytest.mark.parametrize("key", ["", "a" * 129, "a b", "a\tb", "caf\u00e9", "a\x7f"])
async def test_a_wrong_key_is_refused(h: Harness, key: str) -> None:
    """An empty, long or unprintable key is a fault of the request; nothing is made."""
    runtime = await h.client()
    headers = {"idempotency-key": key.encode("latin-1")}
    response = await runtime.call("POST", "/v1/approvals", json=dict(QUESTION), headers=headers)
    assert refusal(response) == (422, "INPUT_INVALID")
    assert record(await runtime.list())["items"] == []


@pytest.fixture
async def small(ring_directory: Path, clock: ManualClock) -> AsyncIterator[Harness]:
    """A service where few questions may wait."""
    limits = Limits(live_pending_per_client=2, live_pending_per_tenant=3)
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    async with opened(redis, ring_directory, clock, limits=limits) as harness:
        yield harness


async def test_a_client_may_have_so_many_questions_waiting(small: Harness) -> None:
    """One more is refused with the time to wait, and is welcome once a place is free."""
    runtime, ann = await small.client(), await small.approver()
    first = await runtime.asked(id="a", expires_in_ms=5_000)
    await runtime.asked(id="b")
    full = await runtime.ask(id="c")
    assert reason(full) == (429, "RATE_LIMITED", "queue-full")
    assert full.headers["retry-after"] == "5"
    assert full.json()["failure"]["retryAfterMs"] == 5_000
    record(await ann.decide(first, "reject"))
    await runtime.asked(id="c")


async def test_an_expired_question_takes_no_place(small: Harness) -> None:
    """A deadline that has passed frees the place, swept or not."""
    runtime = await small.client()
    await runtime.asked(id="a", expires_in_ms=5_000)
    await runtime.asked(id="b")
    small.clock.move(5_001)
    await runtime.asked(id="c")


async def test_a_tenant_may_have_so_many_questions_waiting(small: Harness) -> None:
    """The clients of a tenant share a bound; another tenant has its own."""
    one, other, abroad = (
        await small.client("one"),
        await small.client("other"),
        await small.client("one", tenant="abroad"),
    )
    for party, name in ((one, "a"), (one, "b"), (other, "c")):
        await party.asked(id=name)
    full = await other.ask(id="d")
    assert reason(full) == (429, "RATE_LIMITED", "queue-full")
    assert full.headers["retry-after"] == "60", "no longer than a minute, though the deadline is later"
    await abroad.asked(id="a")


async def test_what_joins_or_repeats_needs_no_place(small: Harness) -> None:
    """A full queue still answers who asks for what is there already."""
    runtime = await small.client()
    record(await runtime.ask(key="k", input=1), 201)
    first = await runtime.asked(input=2)
    assert record(await runtime.ask(input=2))["id"] == first["id"]
    assert (await runtime.ask(key="k", input=1)).status_code == 200
