"""Deciding: one person, one card, once."""

import asyncio
from typing import Any

import pytest

from tests.harness import Harness, quorum, reason, record, refusal


@pytest.mark.parametrize(("decision", "status"), [("approve", "approved"), ("reject", "rejected")])
async def test_a_decision_moves_the_record(anywhere: Harness, decision: str, status: str) -> None:
    """The answer is the record as decided, and the trail has one line for it."""
    runtime, ann = await anywhere.client(), await anywhere.approver(shown_as="Ann")
    asked = await runtime.asked()
    decided = record(await ann.decide(asked, decision, comment="seen it"))
    assert decided["status"] == status
    assert decided["quorum"] == quorum(
        approved=int(decision == "approve"), rejected=int(decision == "reject")
    )
    (vote,) = decided["decisions"]
    assert vote == {
        "decision": decision,
        "approver": {"id": "ann", "display_name": "Ann"},
        "channel": "api",
        "submitted_by": None,
        "comment": "seen it",
        "digest": asked["digest"],
        "at": "2027-01-15T08:00:00.000Z",
        "counts": True,
        "step_up": None,
    }
    trail = record(await ann.trail(asked["id"]))["items"]
    assert [(line["type"], line["by"]) for line in trail] == [("requested", "runtime"), (status, "ann")]


@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_the_same_vote_again_changes_nothing(anywhere: Harness, decision: str) -> None:
    """B18: a double click answers the same record, and the trail still has one decision."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    first = record(await ann.decide(asked, decision, comment="one"))
    again, twice = await asyncio.gather(
        ann.decide(asked, decision), ann.decide(asked, decision, comment="two")
    )
    assert record(again) == first
    assert record(twice) == first
    assert len(record(await ann.trail(asked["id"]))["items"]) == 2


@pytest.mark.parametrize("status", ["consumed", "expired", "cancelled"])
async def test_the_same_vote_is_answered_in_every_state(anywhere: Harness, status: str) -> None:
    """Repeating one's own vote is a 200 with the record as it is now, whatever became of it."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    if status == "consumed":
        record(await runtime.consume(asked, await runtime.token(asked["id"])))
    elif status == "cancelled":
        record(await runtime.cancel(asked["id"]))
    else:
        anywhere.clock.move(900_001)
    assert record(await ann.decide(asked))["status"] == status


async def test_fifty_yes_and_fifty_no_have_one_winner(anywhere: Harness) -> None:
    """B17: of parallel opposite decisions exactly one moves the record; the others say how it stands."""
    runtime = await anywhere.client()
    people = [await anywhere.approver(f"p-{n}") for n in range(100)]
    asked = await runtime.asked()
    answers = await asyncio.gather(
        *(person.decide(asked, "approve" if n % 2 else "reject") for n, person in enumerate(people))
    )
    won = [each for each in answers if each.status_code == 200]
    assert len(won) == 1
    status = won[0].json()["status"]
    for each in answers:
        if each is not won[0]:
            assert refusal(each) == (409, "APPROVAL_ALREADY_DECIDED")
            assert each.json()["details"] == {"status": status}
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [line["type"] for line in trail if line["type"] != "refused"] == ["requested", status]
    assert len((await runtime.seen(asked["id"]))["decisions"]) == 1


async def test_another_vote_after_the_decision_is_a_conflict(anywhere: Harness) -> None:
    """B11: what is decided stays decided, for the same person and for others, and a consume agrees."""
    runtime, ann, bob = await anywhere.client(), await anywhere.approver(), await anywhere.approver("bob")
    asked = await runtime.asked()
    record(await ann.decide(asked, "reject"))
    for person, verdict in ((ann, "approve"), (bob, "approve"), (bob, "reject")):
        response = await person.decide(asked, verdict)
        assert refusal(response) == (409, "APPROVAL_ALREADY_DECIDED")
        assert response.json()["details"] == {"status": "rejected"}
        assert response.json()["confirmation"]["details"] == {"reason": "denied"}
    assert refusal(await runtime.consume(asked)) == (409, "APPROVAL_REJECTED")
    assert (await runtime.seen(asked["id"]))["status"] == "rejected"


async def test_decided_means_not_rejected_too(h: Harness) -> None:
    """After an approval, and after its consumption, a late vote hears which of the two it is."""
    runtime, ann, bob = await h.client(), await h.approver(), await h.approver("bob")
    asked = await runtime.asked()
    record(await ann.decide(asked))
    late = await bob.decide(asked, "reject")
    assert (refusal(late), late.json()["details"]) == (
        (409, "APPROVAL_ALREADY_DECIDED"),
        {"status": "approved"},
    )
    record(await runtime.consume(asked, await runtime.token(asked["id"])))
    late = await bob.decide(asked, "reject")
    assert late.json()["details"] == {"status": "consumed"}
    assert late.json()["confirmation"]["details"] == {"reason": "consumed"}


async def test_a_dead_question_takes_no_vote(anywhere: Harness) -> None:
    """B16: past the deadline, with no sweeper, a vote is refused and the trail has the expiry."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(expires_in_ms=2_000)
    anywhere.clock.move(2_200)
    assert refusal(await ann.decide(asked)) == (409, "APPROVAL_EXPIRED")
    assert (await runtime.seen(asked["id"]))["status"] == "expired"
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["type"], line["by"]) for line in trail] == [
        ("requested", "runtime"),
        ("expired", "system"),
        ("refused", "ann"),
    ]
    assert trail[1]["at"] == "2027-01-15T08:00:02.000Z"


async def test_an_expiry_is_nobodys_decision(anywhere: Harness) -> None:
    """B73: a question that timed out has no decisions, and only the system in its trail."""
    runtime = await anywhere.client()
    asked = await runtime.asked(expires_in_ms=2_000)
    anywhere.clock.move(2_001)
    seen = await runtime.seen(asked["id"])
    assert (seen["status"], seen["decisions"], seen["consumption"]) == ("expired", [], None)
    assert seen["quorum"] == quorum()
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["type"], line["by"]) for line in trail][1:] == [("expired", "system")]
    await anywhere.services.sweeper.sweep()
    assert record(await runtime.trail(asked["id"]))["items"] == trail


async def test_a_vote_at_the_very_deadline_counts(anywhere: Harness) -> None:
    """At the instant of the deadline the question is alive."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(expires_in_ms=2_000)
    anywhere.clock.move(2_000)
    assert record(await ann.decide(asked))["status"] == "approved"


async def test_a_vote_is_for_the_card_that_was_shown(anywhere: Harness) -> None:
    """Another record's digest, or one of an older card, decides nothing."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked, other = await runtime.asked(), await runtime.asked(input=1)
    for digest in (other["digest"], "0" * 64, asked["input_hash"]):
        response = await ann.decide({**asked, "digest": digest})
        assert refusal(response) == (409, "APPROVAL_INPUT_MISMATCH")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


async def test_a_card_withdrawn_meanwhile_decides_nothing_else(anywhere: Harness) -> None:
    """B3: deciding the cancelled question leaves it cancelled, and its successor in the run untouched."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    first = await runtime.asked(run="r", context={"call": 1})
    record(await runtime.cancel(first["id"]))
    second = await runtime.asked(run="r", context={"call": 2})
    assert refusal(await ann.decide(first)) == (409, "APPROVAL_CANCELLED")
    assert (await runtime.seen(first["id"]))["status"] == "cancelled"
    assert (await runtime.seen(second["id"]))["status"] == "pending"


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("null", {"decision": None}, "/decision"),
    ("absent", {"decision": ...}, "/decision"),
    ("participle", {"decision": "approved"}, "/decision"),
    ("capital", {"decision": "Approve"}, "/decision"),
    ("blank", {"decision": "approve "}, "/decision"),
    ("number", {"decision": 1}, "/decision"),
    ("truth", {"decision": True}, "/decision"),
    ("empty", {"decision": ""}, "/decision"),
    ("list", {"decision": ["approve"]}, "/decision"),
    ("no digest", {"digest": ...}, "/digest"),
    ("digest null", {"digest": None}, "/digest"),
    ("digest in upper case", {"digest": "A" * 64}, "/digest"),
    ("digest short", {"digest": "a" * 63}, "/digest"),
    ("a truth in its place", {"approved": True}, "/approved"),
    ("someone else's name", {"decided_by": "alice"}, "/decided_by"),
    ("a person's own name", {"approver": {"id": "ann"}}, "/approver"),
    ("another's name", {"approver": {"id": "bob"}}, "/approver"),
    ("comment a number", {"comment": 7}, "/comment"),
    ("comment too long", {"comment": "c" * 2_001}, "/comment"),
    ("an input to approve", {"input": {"order": "A-1"}}, "/input"),
    ("a change without its input", {"decision": "edit"}, "/input"),
]


@pytest.mark.parametrize(("members", "path"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
async def test_what_is_no_decision_decides_nothing(h: Harness, members: dict[str, Any], path: str) -> None:
    """B8, B27: anything but a plain decision on a digest is 422 and the question still waits."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    body = {"decision": "approve", "digest": asked["digest"], **members}
    body = {name: value for name, value in body.items() if value is not ...}
    response = await ann.call("POST", f"{asked['links']['self']}/decision", json=body)
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == [path]
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [line["type"] for line in trail] == ["requested"]


async def test_bodies_of_other_calls_are_no_decisions(anywhere: Harness) -> None:
    """B9: a decision sent to cancel, a cancellation sent to decide: refused, and nothing has changed."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    path = asked["links"]["self"]
    decision = {"decision": "approve", "digest": asked["digest"]}
    assert refusal(await runtime.call("POST", f"{path}/cancel", json=decision)) == (422, "INPUT_INVALID")
    assert refusal(await ann.call("POST", f"{path}/decision", json={})) == (422, "INPUT_INVALID")
    assert refusal(await ann.call("POST", f"{path}/decision")) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert refusal(await ann.call("POST", f"{path}/decision", json=None)) in {
        (415, "UNSUPPORTED_MEDIA_TYPE"),
        (422, "INPUT_INVALID"),
    }
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


async def test_a_comment_is_kept_as_it_was_written(h: Harness) -> None:
    """Up to 2 000 characters, of any kind, come back to the asker unchanged."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    comment = ("<b>no</b> \u202e\u200b\n" + "\U0001f600" * 2_000)[:2_000]
    record(await ann.decide(asked, "reject", comment=comment))
    assert (await runtime.seen(asked["id"]))["decisions"][0]["comment"] == comment


async def test_a_decision_that_was_not_offered_is_refused(h: Harness) -> None:
    """Where only rejecting is offered, approving is not allowed; rejecting is."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(allowed_decisions=["reject"])
    assert reason(await ann.decide(asked)) == (403, "FORBIDDEN", "decision-not-allowed")
    assert record(await ann.decide(asked, "reject"))["status"] == "rejected"


async def test_any_approver_of_the_tenant_decides_and_no_other(anywhere: Harness) -> None:
    """Until there are policies every approver of the tenant may decide; a foreign one sees nothing."""
    runtime = await anywhere.client()
    foreign = await anywhere.approver("ann", tenant="abroad")
    asked = await runtime.asked()
    assert refusal(await foreign.decide(asked)) == (404, "APPROVAL_NOT_FOUND")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
    bob = await anywhere.approver("bob")
    assert record(await bob.decide(asked))["decisions"][0]["approver"]["id"] == "bob"


async def test_a_decision_is_timed(h: Harness) -> None:
    """The time from question to decision goes into the metrics once, repetitions or not."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    h.clock.move(3_000)
    for _ in range(3):
        record(await ann.decide(asked))
    registry = h.services.metrics.registry
    assert registry.get_sample_value("placet_decision_seconds_count") == 1
    assert registry.get_sample_value("placet_decision_seconds_sum") == 3
