"""Deciding several in one call: each is judged, recorded and answered as if it had come alone."""

import asyncio
import json
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.limits import BATCH_MAX_ITEMS, Limits
from placet.store.wires import Exchange
from tests.factories import ManualClock
from tests.harness import Harness, issues, opened, reason, record, refusal, results, vote_on


async def test_each_gets_its_own_decision(anywhere: Harness) -> None:
    """B04: by id, whatever the order; and the answers come in the order of the votes."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = [await runtime.asked(id=f"q-{n}", input=n) for n in range(5)]
    verdicts = {f"q-{n}": "approve" if n % 2 else "reject" for n in range(5)}
    answer = await ann.decide_all(*(vote_on(each, verdicts[each["id"]]) for each in reversed(asked)))
    assert results(answer) == [(f"q-{n}", "approved" if n % 2 else "rejected") for n in reversed(range(5))]
    for each in asked:
        decided = "approved" if verdicts[each["id"]] == "approve" else "rejected"
        trail = record(await runtime.trail(each["id"]))["items"]
        assert [(line["type"], line["by"]) for line in trail] == [("requested", "runtime"), (decided, "ann")]


async def test_an_item_is_answered_as_it_would_be_alone(anywhere: Harness) -> None:
    """The record as the voter sees it, the problem document in full; repeated alone, the same."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(presentation={"redact": ["/order"]})
    own = await runtime.asked(actor={"id": "ann", "kind": "user"})
    answer = record(await ann.decide_all(vote_on(asked, comment="seen"), vote_on(own)))["results"]
    assert answer[0] == {"id": asked["id"], "approval": record(await ann.decide(asked))}
    assert answer[0]["approval"]["input_redacted"] is True
    assert answer[0]["approval"]["decisions"][0]["comment"] == "seen"
    alone = await ann.decide(own)
    assert refusal(alone) == (403, "APPROVAL_SELF_APPROVAL")
    assert answer[1] == {"id": own["id"], "error": alone.json()}


async def test_one_refusal_is_no_reason_for_another(anywhere: Harness) -> None:
    """Every kind of refusal beside votes that count; each is in the trail of its own approval."""
    runtime, ann, bob = await anywhere.client(), await anywhere.approver(), await anywhere.approver("bob")
    asked = {name: await runtime.asked(id=name) for name in
             ("good", "late", "gone", "taken", "stale", "own", "own-no", "only-yes", "last")}  # fmt: skip
    asked["own"] = await runtime.asked(id="mine", actor={"id": "ann", "kind": "user"})
    asked["own-no"] = await runtime.asked(id="mine-no", actor={"id": "ann", "kind": "user"})
    asked["late"] = await runtime.asked(id="late-1", expires_in_ms=1_000)
    record(await runtime.cancel("gone"))
    record(await bob.decide(asked["taken"], "reject"))
    anywhere.clock.move(1_001)
    answer = await ann.decide_all(
        vote_on(asked["good"]),
        vote_on(asked["late"]),
        vote_on(asked["gone"]),
        vote_on(asked["taken"]),
        {**vote_on(asked["stale"]), "digest": "0" * 64},
        vote_on(asked["own"]),
        vote_on(asked["own-no"], "reject"),
        {**vote_on(asked["good"]), "id": "nowhere"},
        vote_on(asked["last"], "reject"),
    )
    assert results(answer) == [
        ("good", "approved"),
        ("late-1", "APPROVAL_EXPIRED"),
        ("gone", "APPROVAL_CANCELLED"),
        ("taken", "APPROVAL_ALREADY_DECIDED"),
        ("stale", "APPROVAL_INPUT_MISMATCH"),
        ("mine", "APPROVAL_SELF_APPROVAL"),
        ("mine-no", "rejected"),
        ("nowhere", "APPROVAL_NOT_FOUND"),
        ("last", "rejected"),
    ]
    for name, code in (("stale", "APPROVAL_INPUT_MISMATCH"), ("mine", "APPROVAL_SELF_APPROVAL")):
        trail = record(await runtime.trail(name))["items"]
        assert [(line["by"], line.get("code")) for line in trail][1:] == [("ann", code)]


async def test_what_others_must_not_see_is_not_there(anywhere: Harness) -> None:
    """Another tenant's approval and none at all are answered alike."""
    runtime, eve = await anywhere.client(), await anywhere.approver("eve", tenant="other")
    asked = await runtime.asked()
    foreign, none = record(await eve.decide_all(vote_on(asked), {**vote_on(asked), "id": "none"}))["results"]
    assert foreign["error"] == none["error"]
    assert foreign["error"]["code"] == "APPROVAL_NOT_FOUND"
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


async def test_the_same_call_again_gets_the_same(anywhere: Harness) -> None:
    """A lost answer is resolved by asking again: what was decided is answered as it is."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    votes = [vote_on(await runtime.asked(input=n), "approve" if n else "reject") for n in range(3)]
    first = record(await ann.decide_all(*votes))
    assert record(await ann.decide_all(*votes)) == first
    assert len(record(await runtime.trail(votes[0]["id"]))["items"]) == 2


async def test_a_full_batch_is_one_call(anywhere: Harness) -> None:
    """As many as are allowed; one more is refused as a whole."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    votes = [vote_on(await runtime.asked(input=n)) for n in range(BATCH_MAX_ITEMS + 1)]
    assert issues(await ann.decide_all(*votes)).keys() == {"/decisions"}
    assert (await runtime.seen(votes[0]["id"]))["status"] == "pending"
    answer = await ann.decide_all(*votes[:-1])
    assert results(answer) == [(vote["id"], "approved") for vote in votes[:-1]]


async def test_votes_travel_together(h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty of them cost what one costs: an exchange to read, one to decide."""
    runtime, ann = await h.client(), await h.approver()
    votes = [vote_on(await runtime.asked(input=n)) for n in range(20)]
    record(await ann.list())
    wires, exchanges = h.services.store.link._wires, 0
    genuine = wires.carry

    def counting(exchange: Exchange) -> None:
        nonlocal exchanges
        exchanges += 1
        genuine(exchange)

    monkeypatch.setattr(wires, "carry", counting)
    assert [status for _, status in results(await ann.decide_all(*votes))] == ["approved"] * 20
    assert exchanges <= 4, "two, and two more where a script was not known"


async def test_two_batches_at_once_never_both_win(anywhere: Harness) -> None:
    """B17 for many: of opposite votes each approval takes one, and says so to the other."""
    runtime, ann, bob = await anywhere.client(), await anywhere.approver(), await anywhere.approver("bob")
    asked = [await runtime.asked(input=n) for n in range(40)]
    yes, no = await asyncio.gather(
        ann.decide_all(*map(vote_on, asked)), bob.decide_all(*(vote_on(each, "reject") for each in asked))
    )
    for one, other in zip(results(yes), results(no), strict=True):
        assert {one[1], other[1]} in (
            {"approved", "APPROVAL_ALREADY_DECIDED"},
            {"rejected", "APPROVAL_ALREADY_DECIDED"},
        )


async def test_a_bridge_names_a_person_in_each(anywhere: Harness) -> None:
    """It may speak for different people in one call, for each within its bounds, as in calls of their own."""
    runtime = await anywhere.client()
    bridge = await anywhere.client("bridge", "decide_as", people=["ann", "bob"], max_risk="medium")
    one, two, three, four = [await runtime.asked(input=n) for n in range(4)]
    risky = await runtime.asked(risk="high")
    answer = await bridge.decide_all(
        vote_on(one, approver={"id": "ann"}),
        vote_on(two, "reject", approver={"id": "bob"}),
        vote_on(three, approver={"id": "eve"}),
        vote_on(four),
        vote_on(risky, approver={"id": "ann"}),
    )
    assert [told for _, told in results(answer)] == [
        "approved",
        "rejected",
        "FORBIDDEN",
        "INPUT_INVALID",
        "APPROVAL_NOT_FOUND",
    ]
    (vote,) = (await runtime.seen(two["id"]))["decisions"]
    assert (vote["approver"]["id"], vote["submitted_by"], vote["channel"]) == ("bob", "bridge", "bridge")


async def test_programs_do_not_decide(h: Harness) -> None:
    """B27: a runtime, and an administrator, lack the scope; a body says nothing against that."""
    runtime, boss = (
        await h.client(),
        await h.client("boss", "request", "consume", "read", "read_input", "admin"),
    )
    asked = await runtime.asked()
    for party in (runtime, boss):
        answer = await party.decide_all(vote_on(asked, approver={"id": "ann"}))
        assert reason(answer) == (403, "FORBIDDEN", "scope")
        assert answer.json()["details"]["scopes"] == ["decide_as"]
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


async def test_large_answers_come_whole(client: Redis, ring_directory: Any, clock: ManualClock) -> None:
    """Every record with its input, in whatever size."""
    async with opened(client, ring_directory, clock, limits=Limits(max_body_bytes=1024 * 1024)) as h:
        runtime, ann = await h.client(), await h.approver()
        asked = [await runtime.asked(input={"n": n, "text": "é" * 200_000}) for n in range(5)]
        answer = await ann.decide_all(*map(vote_on, asked))
        inputs = [each["approval"]["input"] for each in json.loads(answer.content)["results"]]
        assert inputs == [each["input"] for each in asked]
