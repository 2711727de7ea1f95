"""The audit trail: everything that happened to an approval, refusals included."""

from typing import Any

from tests.harness import Harness, record, refusal


def lines(response: Any) -> list[tuple[int, str, str, str | None, str | None]]:
    """Each line as (seq, type, by, channel, code)."""
    items = record(response)["items"]
    return [(each["seq"], each["type"], each["by"], each.get("channel"), each.get("code")) for each in items]


async def test_a_whole_life_is_told_in_order(anywhere: Harness) -> None:
    """From the question to the report: who did what, through which channel, and what was refused."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    stranger = await anywhere.client("stranger")
    asked = await runtime.asked()
    await runtime.consume(asked)
    await stranger.read(asked["id"])
    await stranger.consume(asked)
    await ann.decide({**asked, "digest": "0" * 64})
    anywhere.clock.move(1_000)
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    record(await runtime.consume(asked, token))
    record(await runtime.consume(asked, token))
    record(await runtime.report(asked["id"]))
    assert lines(await runtime.trail(asked["id"])) == [
        (1, "requested", "runtime", None, None),
        (2, "refused", "runtime", None, "APPROVAL_PENDING"),
        (3, "refused", "stranger", None, "APPROVAL_RESUME_MISMATCH"),
        (4, "refused", "ann", "api", "APPROVAL_INPUT_MISMATCH"),
        (5, "approved", "ann", "api", None),
        (6, "consumed", "runtime", None, None),
        (7, "reported", "runtime", None, None),
    ]
    items = record(await runtime.trail(asked["id"]))["items"]
    assert [each["at"][17:23] for each in items] == ["00.000"] * 4 + ["01.000"] * 3
    told = {"seq", "at", "type", "by", "credential"}
    assert set(items[0]) == told | {"rule", "digest", "input_hash"}
    assert set(items[4]) == told | {"channel", "digest", "decision", "rule"}
    assert (items[4]["decision"], items[4]["rule"]) == ("approve", "built-in")
    assert set(items[5]) == told


async def test_every_kind_of_refused_vote_is_told(anywhere: Harness) -> None:
    """Self-approval, decisions not offered and late votes stand in the trail with their codes."""
    runtime, ann = await anywhere.client(owners=["zoe"]), await anywhere.approver()
    zoe, bob = await anywhere.approver("zoe"), await anywhere.approver("bob")
    asked = await runtime.asked(allowed_decisions=["approve", "reject", "edit"])
    await zoe.decide(asked)
    await ann.decide(asked, "edit", input=1)
    record(await ann.decide(asked, "reject"))
    await bob.decide(asked)
    assert [line[1:] for line in lines(await runtime.trail(asked["id"]))] == [
        ("requested", "runtime", None, None),
        ("refused", "zoe", "api", "APPROVAL_SELF_APPROVAL"),
        ("refused", "ann", "api", "FORBIDDEN"),
        ("rejected", "ann", "api", None),
        ("refused", "bob", "api", "APPROVAL_ALREADY_DECIDED"),
    ]


async def test_refusals_beyond_two_hundred_are_counted(anywhere: Harness) -> None:
    """Nobody can make a trail grow for ever: further refusals are a number by their code."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    for _ in range(205):
        await runtime.consume(asked)
    await runtime.consume(asked, input=1)
    items = record(await ann.trail(asked["id"]))["items"]
    assert len(items) == 1 + 200 + 2
    assert [(each["code"], each["count"]) for each in items[201:]] == [
        ("APPROVAL_INPUT_MISMATCH", 1),
        ("APPROVAL_PENDING", 5),
    ]
    assert all("count" not in each for each in items[:201])


async def test_a_trail_is_seen_by_those_who_see_the_record(h: Harness) -> None:
    """Everyone else gets the one 404, with or without a query."""
    runtime, stranger = await h.client(), await h.client("stranger")
    asked = await runtime.asked()
    for party in (await h.approver(), await h.client("reader", "read"), await h.client("boss", "admin")):
        assert record(await party.trail(asked["id"]))["items"]
    assert refusal(await stranger.trail(asked["id"])) == (404, "APPROVAL_NOT_FOUND")
    assert refusal(await runtime.trail("nope")) == (404, "APPROVAL_NOT_FOUND")
    response = await runtime.call("GET", f"/v1/approvals/{asked['id']}/events?limit=1")
    assert refusal(response) == (422, "INPUT_INVALID")
