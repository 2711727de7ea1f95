"""Reporting how an execution ended: once, by the client that consumed."""

from typing import Any

import pytest

from tests.harness import Harness, Party, reason, record, refusal


async def consumed(h: Harness, runtime: Party) -> dict[str, Any]:
    """A question that was approved and consumed as ``exec-1``."""
    ann = await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    record(await runtime.consume(asked, await runtime.token(asked["id"])))
    return asked


@pytest.mark.parametrize("members", [{}, {"status": "failed", "summary": "no funds"}, {"summary": None}])
async def test_the_outcome_is_in_the_record(anywhere: Harness, members: dict[str, Any]) -> None:
    """What is reported is told to whoever may see the record; its state stays consumed."""
    runtime = await anywhere.client()
    asked = await consumed(anywhere, runtime)
    anywhere.clock.move(2_000)
    reported = record(await runtime.report(asked["id"], **members))
    assert reported["status"] == "consumed"
    assert reported["outcome"] == {
        "status": members.get("status", "succeeded"),
        "summary": members.get("summary"),
        "at": "2027-01-15T08:00:02.000Z",
    }
    assert await runtime.seen(asked["id"]) == reported
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert (trail[-1]["type"], trail[-1]["by"]) == ("reported", "runtime")


async def test_the_first_report_stands(anywhere: Harness) -> None:
    """The same report again is a 200 without effect; any other is a conflict."""
    runtime = await anywhere.client()
    asked = await consumed(anywhere, runtime)
    first = record(await runtime.report(asked["id"], summary="done"))
    anywhere.clock.move(1_000)
    assert record(await runtime.report(asked["id"], summary="done")) == first
    for members in ({"status": "failed", "summary": "done"}, {"summary": "Done"}, {"summary": None}, {}):
        assert refusal(await runtime.report(asked["id"], **members)) == (409, "INVOCATION_CONFLICT")
    assert (await runtime.seen(asked["id"]))["outcome"] == first["outcome"]


async def test_another_execution_has_nothing_to_report(anywhere: Harness) -> None:
    """Only the execution that consumed it is reported."""
    runtime = await anywhere.client()
    asked = await consumed(anywhere, runtime)
    assert refusal(await runtime.report(asked["id"], execution="e-2")) == (409, "INVOCATION_CONFLICT")
    assert (await runtime.seen(asked["id"]))["outcome"] is None


async def test_what_was_not_consumed_has_no_outcome(anywhere: Harness) -> None:
    """In every other state the answer is the state's own code; a conflict where it is approved."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    for name in ("pending", "rejected", "cancelled", "approved", "expired"):
        await runtime.asked(id=name, input=name, expires_in_ms=1_000 if name == "expired" else 60_000)
    record(await ann.decide(await runtime.seen("rejected"), "reject"))
    record(await ann.decide(await runtime.seen("approved")))
    record(await runtime.cancel("cancelled"))
    anywhere.clock.move(1_001)
    expected = {
        "pending": "APPROVAL_PENDING",
        "rejected": "APPROVAL_REJECTED",
        "cancelled": "APPROVAL_CANCELLED",
        "approved": "INVOCATION_CONFLICT",
        "expired": "APPROVAL_EXPIRED",
    }
    for name, code in expected.items():
        assert refusal(await runtime.report(name)) == (409, code)


async def test_only_the_consumer_reports(anywhere: Harness) -> None:
    """The asker and readers are told so; a stranger is told nothing; the trail has all of them."""
    runtime, tools = await anywhere.client(), await anywhere.client("tools", "consume")
    reader, stranger = await anywhere.client("reader", "read", "consume"), await anywhere.client("stranger")
    ann = await anywhere.approver()
    asked = await runtime.asked(audience="tools")
    record(await ann.decide(asked))
    record(await tools.consume(asked, await tools.token(asked["id"])))
    for party in (runtime, reader):
        assert reason(await party.report(asked["id"])) == (403, "FORBIDDEN", "not-the-consumer")
    assert refusal(await stranger.report(asked["id"])) == (404, "APPROVAL_NOT_FOUND")
    assert record(await tools.report(asked["id"]))["outcome"]["status"] == "succeeded"
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["by"], line["code"]) for line in trail if "code" in line] == [
        ("runtime", "FORBIDDEN"),
        ("reader", "FORBIDDEN"),
        ("stranger", "APPROVAL_RESUME_MISMATCH"),
    ]


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"status": "ok"}, "/status"),
        ({"status": None}, "/status"),
        ({"status": True}, "/status"),
        ({"summary": 7}, "/summary"),
        ({"summary": "s" * 2_001}, "/summary"),
        ({"execution_id": ""}, "/execution_id"),
        ({"execution_id": None}, "/execution_id"),
        ({"result": {}}, "/result"),
    ],
)
async def test_a_wrong_report_is_named(h: Harness, members: dict[str, Any], path: str) -> None:
    """Wrong, long and unknown members: 422, and nothing is reported."""
    runtime = await h.client()
    asked = await consumed(h, runtime)
    response = await runtime.report(asked["id"], **members)
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == [path]
    assert (await runtime.seen(asked["id"]))["outcome"] is None


async def test_a_report_of_the_longest_summary_is_kept(h: Harness) -> None:
    """Two thousand characters are the bound, and come back unchanged."""
    runtime = await h.client()
    asked = await consumed(h, runtime)
    summary = "\u202e\U0001f600" * 1_000
    assert record(await runtime.report(asked["id"], summary=summary))["outcome"]["summary"] == summary
