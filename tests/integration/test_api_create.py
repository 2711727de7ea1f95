"""Asking: what a runtime may say, what it gets back, and what is refused."""

import asyncio
from typing import Any

import pytest

from tests.harness import QUESTION, Harness, quorum, reason, record


async def test_the_least_question_gets_every_default(anywhere: Harness) -> None:
    """A question with only the required members is a pending record with every member there."""
    runtime = await anywhere.client()
    response = await runtime.ask()
    asked = record(response, 201)
    approval_id, digest = asked.pop("id"), asked.pop("digest")
    assert response.headers["location"] == f"/v1/approvals/{approval_id}"
    assert response.headers["cache-control"] == "no-store"
    assert len(digest) == 64
    assert approval_id.startswith("apr_")
    message = asked["model"]["message"]
    assert asked == {
        "tenant": "default",
        "status": "pending",
        "capability": "orders.refund",
        "surface": "direct",
        "actor": {
            "id": "agent-7",
            "kind": "agent",
            "display_name": None,
            "on_behalf_of": [],
            "attributes": {},
        },
        "effect": "external",
        "risk": "medium",
        "context": {},
        "input": {"order": "A-1", "amount": 5},
        "input_hash": "9fbb451d84f0774c7492da5f8a213a08fe5a94c5965596453903d24757107d27",
        "reasons": [],
        "types": [],
        "allowed_decisions": ["approve", "reject"],
        "presentation": {"title": None, "summary": None, "redact": []},
        "run": None,
        "asked_by": "runtime",
        "audience": "runtime",
        "requested_at": "2027-01-15T08:00:00.000Z",
        "expires_at": "2027-01-15T08:15:00.000Z",
        "use_within_ms": None,
        "use_by": None,
        "quorum": quorum(),
        "rule": {"name": "built-in", "policy": None},
        "claimed": None,
        "decisions": [],
        "consumption": None,
        "outcome": None,
        "requested": None,
        "suspended": None,
        "extensions": {},
        "deliveries": [],
        "links": {"self": f"/v1/approvals/{approval_id}", "ui": f"/a/{approval_id}"},
        "model": {"code": "APPROVAL_REQUIRED", "message": message, "retryable": False},
        "confirmation": {
            "code": "CONFIRMATION_REQUIRED",
            "message": message,
            "retry": "with-confirmation",
            "details": {
                "confirmationId": approval_id,
                "summary": "orders.refund",
                "expiresAt": "2027-01-15T08:15:00.000Z",
                "effect": "external",
                "origin": "server",
            },
        },
    }


FULL: dict[str, Any] = {
    "id": "chosen.id:1",
    "surface": "chat",
    "actor": {
        "id": "user-1",
        "kind": "user",
        "display_name": "Uma",
        "on_behalf_of": ["boss-1", "boss-2"],
        "attributes": {"region": "eu", "n": [1, 2.5, None, True]},
    },
    "context": {"call": "c-1", "attempt": 2},
    "risk": "high",
    "reasons": ["over the limit"],
    "types": ["money"],
    "allowed_decisions": ["reject", "approve", "edit"],
    "presentation": {"title": "Refund", "summary": "A refund of 5", "redact": ["/order"]},
    "run": "run-1",
    "audience": "tools",
    "expires_in_ms": 60_000,
    "use_within_ms": 5_000,
    "extensions": {"x": {"y": ["z", 0.1]}},
}


async def test_every_member_comes_back_as_it_was_sent(anywhere: Harness) -> None:
    """Whatever can be said in a question is in the record, unchanged."""
    runtime = await anywhere.client()
    await anywhere.client("tools", "consume")
    asked = await runtime.asked(**FULL)
    assert asked["expires_at"] == "2027-01-15T08:01:00.000Z"
    assert {name: asked[name] for name in FULL if name != "expires_in_ms"} == {
        name: value for name, value in FULL.items() if name != "expires_in_ms"
    }
    assert asked["confirmation"]["details"]["summary"] == "A refund of 5"
    assert (await runtime.seen("chosen.id:1")) == asked


async def test_the_summary_of_the_confirmation_is_cut(h: Harness) -> None:
    """A long summary is whole in the record and at most 300 characters in the confirmation."""
    runtime = await h.client()
    asked = await runtime.asked(presentation={"summary": "s" * 2_000})
    assert asked["presentation"]["summary"] == "s" * 2_000
    assert len(asked["confirmation"]["details"]["summary"]) <= 300


async def test_hostile_characters_are_stored_unchanged(h: Harness) -> None:
    """B46: bidirectional, zero-width and control characters in the input come back as they were sent."""
    runtime, ann = await h.client(), await h.approver()
    hostile = {"cmd": "rm\u202e -rf\u200b /\u0000\u001b[2J\ufeff", "\u202ekey": "\u2028"}
    asked = await runtime.asked(input=hostile, presentation={"title": "a\u202eb\u200bc"})
    for seen in (asked, await runtime.seen(asked["id"]), await ann.seen(asked["id"])):
        assert seen["input"] == hostile
        assert seen["presentation"]["title"] == "a\u202eb\u200bc"


async def test_the_audience_may_have_been_entered_a_moment_ago(h: Harness) -> None:
    """A client that this replica has not read yet is found before the audience is called unknown."""
    runtime = await h.client()
    await runtime.asked()  # the tenant's principals are read and kept now
    known = h.services.directory._snapshots["default"]
    await h.client("tools", "consume")
    h.services.directory._snapshots["default"] = known
    assert (await runtime.asked(audience="tools"))["audience"] == "tools"


@pytest.mark.parametrize("capability", ["orders.refund", "orders.", "orders.a.b"])
async def test_a_pattern_allows_what_it_matches(h: Harness, capability: str) -> None:
    """A client with capability patterns may ask for what one of them matches; * spans dots."""
    runtime = await h.client(capabilities=["mail.send", "orders.*"])
    assert (await runtime.ask(capability=capability)).status_code == 201


@pytest.mark.parametrize("capability", ["orders", "Orders.refund", "mail.send.all", "xorders.refund"])
async def test_a_pattern_allows_nothing_else(h: Harness, capability: str) -> None:
    """Anything else is beyond the client's scope, whatever the case of its letters."""
    runtime = await h.client(capabilities=["mail.send", "orders.*"])
    assert reason(await runtime.ask(capability=capability)) == (403, "FORBIDDEN", "scope")


async def test_parallel_calls_of_a_run_are_questions_of_their_own(anywhere: Harness) -> None:
    """B6: fifty simultaneous questions of one run are fifty records, and a decision moves exactly one."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await asyncio.gather(*(runtime.asked(run="r", context={"call": n}) for n in range(50)))
    assert len({each["id"] for each in asked}) == 50
    for chosen in (asked[7], asked[31]):
        record(await ann.decide(chosen))
    listed = record(await runtime.list(run="r", limit=50))["items"]
    approved = {each["id"] for each in listed if each["status"] == "approved"}
    assert approved == {asked[7]["id"], asked[31]["id"]}
    assert {each["status"] for each in listed if each["id"] not in approved} == {"pending"}


async def test_an_approval_covers_no_other_input(h: Harness) -> None:
    """B14: asking again with the same tool and another input waits for its own decision."""
    runtime, ann = await h.client(), await h.approver()
    first = await runtime.asked()
    record(await ann.decide(first))
    second = await runtime.asked(input={"order": "A-1", "amount": 500})
    assert second["id"] != first["id"]
    assert second["status"] == "pending"
    assert (await runtime.asked())["status"] == "pending", "nor does it cover a repetition of its own"


async def test_two_tenants_know_nothing_of_each_other(anywhere: Harness) -> None:
    """The same id in two tenants is two records, and each tenant sees its own."""
    here, there = await anywhere.client(), await anywhere.client(tenant="other")
    mine = await here.asked(id="same", input=1)
    theirs = await there.asked(id="same", input=2)
    assert (mine["tenant"], theirs["tenant"]) == ("default", "other")
    assert mine["digest"] != theirs["digest"]
    assert (await here.seen("same"))["input"] == 1
    assert (await there.seen("same"))["input"] == 2
    assert [each["input"] for each in record(await here.list())["items"]] == [1]


async def test_the_question_of_the_tests_is_a_good_one() -> None:
    """The default question has exactly the members that have no default."""
    assert set(QUESTION) == {"capability", "actor", "effect", "input"}
