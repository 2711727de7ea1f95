"""Withdrawing: one question or grant, or all of a run."""

import pytest

from tests.harness import Harness, reason, record, refusal


@pytest.mark.parametrize("approved", [False, True])
async def test_the_asker_withdraws(anywhere: Harness, approved: bool) -> None:  # noqa: FBT001 - both cases
    """B30: a question, or a grant not yet used, is cancelled; whoever would spend it hears so."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    token = None
    if approved:
        record(await ann.decide(asked))
        token = await runtime.token(asked["id"])
    cancelled = record(await runtime.cancel(asked["id"]))
    assert cancelled["status"] == "cancelled"
    assert refusal(await runtime.consume(asked, token)) == (409, "APPROVAL_CANCELLED")
    assert refusal(await ann.decide(asked, "reject")) == (409, "APPROVAL_CANCELLED")
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["type"], line["by"]) for line in trail if line["type"] == "cancelled"] == [
        ("cancelled", "runtime")
    ]


async def test_withdrawing_again_is_fine(anywhere: Harness) -> None:
    """What is cancelled already answers the same record, and has no second event."""
    runtime = await anywhere.client()
    asked = await runtime.asked()
    first = record(await runtime.cancel(asked["id"]))
    assert record(await runtime.cancel(asked["id"])) == first
    assert len(record(await runtime.trail(asked["id"]))["items"]) == 2


@pytest.mark.parametrize("body", [None, b"", b"{}", b" { } "])
async def test_there_is_nothing_to_say(h: Harness, body: bytes | None) -> None:
    """No body, an empty one and an empty object are the same."""
    runtime = await h.client()
    path = (await runtime.asked())["links"]["self"] + "/cancel"
    headers = {"content-type": "application/json"} if body else {}
    assert (await runtime.call("POST", path, content=body, headers=headers)).status_code == 200


async def test_what_is_over_says_how(anywhere: Harness) -> None:
    """A rejected, expired or consumed approval can't be withdrawn, and the answer is its state."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    rejected = await runtime.asked(id="rejected")
    record(await ann.decide(rejected, "reject"))
    consumed = await runtime.asked(id="consumed")
    record(await ann.decide(consumed))
    record(await runtime.consume(consumed, await runtime.token("consumed")))
    await runtime.asked(id="expired", expires_in_ms=1_000)
    anywhere.clock.move(1_001)
    assert refusal(await runtime.cancel("rejected")) == (409, "APPROVAL_REJECTED")
    assert refusal(await runtime.cancel("expired")) == (409, "APPROVAL_EXPIRED")
    response = await runtime.cancel("consumed")
    assert refusal(response) == (409, "APPROVAL_CONSUMED")
    assert response.json()["details"] == {"execution_id": "exec-1"}
    for approval_id in ("rejected", "expired", "consumed"):
        assert (await runtime.seen(approval_id))["status"] == approval_id


async def test_only_the_asker_or_an_administrator_withdraws(anywhere: Harness) -> None:
    """The audience and readers are told that it is not theirs; an administrator may."""
    runtime, tools = await anywhere.client(), await anywhere.client("tools", "request", "consume")
    reader = await anywhere.client("reader", "read", "request")
    boss = await anywhere.client("boss", "admin")
    asked = await runtime.asked(audience="tools")
    for party in (tools, reader):
        assert reason(await party.cancel(asked["id"])) == (403, "FORBIDDEN", "not-the-asker")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
    assert record(await boss.cancel(asked["id"]))["status"] == "cancelled"
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["by"], line.get("code")) for line in trail] == [
        ("runtime", None),
        ("tools", "FORBIDDEN"),
        ("reader", "FORBIDDEN"),
        ("boss", None),
    ]


async def test_a_stranger_is_told_nothing_but_is_recorded(anywhere: Harness) -> None:
    """Someone else's question is not there for a stranger; the trail knows who tried."""
    runtime, stranger = await anywhere.client(), await anywhere.client("stranger")
    asked = await runtime.asked()
    assert refusal(await stranger.cancel(asked["id"])) == (404, "APPROVAL_NOT_FOUND")
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert (trail[-1]["by"], trail[-1]["code"]) == ("stranger", "APPROVAL_RESUME_MISMATCH")


async def test_a_run_is_withdrawn_whole(anywhere: Harness) -> None:
    """B30: all that is open goes; what is over is skipped with its state; other runs stay."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = {name: await runtime.asked(id=name, run="r", input=name) for name in ("a", "b", "c", "d")}
    other = await runtime.asked(run="r2")
    record(await ann.decide(asked["b"]))
    record(await ann.decide(asked["c"], "reject"))
    record(await ann.decide(asked["d"]))
    record(await runtime.consume(asked["d"], await runtime.token("d")))
    answer = record(await runtime.cancel_run("r"))
    assert sorted(answer["cancelled"]) == ["a", "b"]
    skipped = sorted(answer["skipped"], key=lambda each: str(each["id"]))
    assert skipped == [{"id": "c", "status": "rejected"}, {"id": "d", "status": "consumed"}]
    assert (await runtime.seen(other["id"]))["status"] == "pending"
    again = record(await runtime.cancel_run("r"))
    assert again["cancelled"] == []
    assert {each["id"]: each["status"] for each in again["skipped"]} == {
        "a": "cancelled",
        "b": "cancelled",
        "c": "rejected",
        "d": "consumed",
    }


async def test_an_unknown_run_is_an_empty_one(anywhere: Harness) -> None:
    """A run that nobody knows, and one of others only, answer alike."""
    runtime, stranger = await anywhere.client(), await anywhere.client("stranger")
    await stranger.asked(run="theirs")
    empty: dict[str, list[str]] = {"cancelled": [], "skipped": []}
    for run in ("unknown", "theirs", "a%20b", "%00"):
        assert record(await runtime.cancel_run(run)) == empty
    assert [each["status"] for each in record(await stranger.list())["items"]] == ["pending"]


async def test_a_run_is_withdrawn_as_far_as_the_caller_may(anywhere: Harness) -> None:
    """Each client its own questions of a shared run; an administrator all of them."""
    one, other = await anywhere.client("one"), await anywhere.client("other")
    boss, abroad = await anywhere.client("boss", "admin"), await anywhere.client("one", tenant="abroad")
    await one.asked(id="a", run="r")
    await other.asked(id="b", run="r")
    await other.asked(id="c", run="r", audience="one", input=1)
    await abroad.asked(id="d", run="r")
    assert record(await one.cancel_run("r")) == {"cancelled": ["a"], "skipped": []}
    answer = record(await boss.cancel_run("r"))
    assert sorted(answer["cancelled"]) == ["b", "c"]
    assert (await abroad.seen("d"))["status"] == "pending"


async def test_a_dead_question_of_a_run_is_skipped_as_expired(anywhere: Harness) -> None:
    """A deadline that has passed counts, swept or not."""
    runtime = await anywhere.client()
    await runtime.asked(id="a", run="r", expires_in_ms=1_000)
    anywhere.clock.move(1_001)
    answer = record(await runtime.cancel_run("r"))
    assert answer == {"cancelled": [], "skipped": [{"id": "a", "status": "expired"}]}


async def test_a_large_run_is_withdrawn_whole(h: Harness) -> None:
    """More questions than fit a page are all withdrawn by one call."""
    runtime = await h.client()
    for n in range(450):
        await runtime.asked(run="r", context={"n": n})
    assert len(record(await runtime.cancel_run("r"))["cancelled"]) == 450
    assert record(await runtime.list(status="pending"))["items"] == []
