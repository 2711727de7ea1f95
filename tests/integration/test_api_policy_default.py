"""What holds until a policy file says otherwise."""

from typing import Any

import pytest

from tests.harness import Harness, quorum, reason, record, refusal

HASH = "9fbb451d84f0774c7492da5f8a213a08fe5a94c5965596453903d24757107d27"


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"risk": "critical"}, "no-rule"),
        ({"input": ..., "input_hash": HASH}, "hidden-input"),
        ({"input": ..., "input_hash": HASH, "risk": "low", "effect": "none"}, "hidden-input"),
        ({"input": ..., "input_hash": HASH, "risk": "critical"}, "no-rule"),
    ],
)
async def test_what_nobody_could_judge_is_not_asked(
    anywhere: Harness, members: dict[str, Any], why: str
) -> None:
    """Critical questions and hidden inputs are refused when they are asked; nothing is made."""
    runtime = await anywhere.client()
    response = await runtime.ask(**members)
    assert reason(response) == (403, "FORBIDDEN", why)
    assert ("There is no policy file" in response.json()["detail"]) == (why == "no-rule")
    assert record(await runtime.list())["items"] == []


@pytest.mark.parametrize("risk", ["low", "medium", "high"])
@pytest.mark.parametrize("effect", ["none", "read", "write", "destructive", "external"])
async def test_one_approver_is_enough_for_everything_else(h: Harness, risk: str, effect: str) -> None:
    """Any approver of the tenant decides, alone."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(risk=risk, effect=effect)
    assert asked["quorum"] == quorum()
    decided = record(await ann.decide(asked))
    assert (decided["status"], decided["quorum"]) == ("approved", quorum(approved=1))


async def test_changes_may_be_offered_but_are_not_taken(anywhere: Harness) -> None:
    """Edit in allowed_decisions is accepted, and a decision to edit refused; the question still waits."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(allowed_decisions=["approve", "reject", "edit"])
    assert asked["allowed_decisions"] == ["approve", "reject", "edit"]
    response = await ann.decide(asked, "edit", input={"order": "A-1", "amount": 4})
    assert reason(response) == (403, "FORBIDDEN", "decision-not-allowed")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
    record(await ann.decide(asked))


async def test_changes_that_were_not_offered_are_not_taken_either(h: Harness) -> None:
    """Whether offered or not, the refusal is the same."""
    runtime, ann = await h.client(), await h.approver()
    response = await ann.decide(await runtime.asked(), "edit", input=1)
    assert reason(response) == (403, "FORBIDDEN", "decision-not-allowed")


async def test_without_approvers_nothing_opens(anywhere: Harness) -> None:
    """B12: where nobody is entered who could decide, a question waits, and dies waiting."""
    runtime = await anywhere.client()
    asked = await runtime.asked()
    assert refusal(await runtime.consume(asked)) == (409, "APPROVAL_PENDING")
    anywhere.clock.move(900_001)
    assert refusal(await runtime.consume(asked)) == (409, "APPROVAL_EXPIRED")


async def test_rules_are_not_told_over_http(h: Harness) -> None:
    """They are files; there is no such route, with and without a credential."""
    runtime = await h.client()
    for method in ("GET", "POST"):
        assert refusal(await runtime.call(method, "/v1/policies")) == (404, "ROUTE_NOT_FOUND")
