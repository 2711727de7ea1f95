"""Introspection: what a consume would be told, changing nothing."""

from typing import Any

import pytest

from tests.harness import Harness, Party, record, refusal

HASH = "9fbb451d84f0774c7492da5f8a213a08fe5a94c5965596453903d24757107d27"


async def granted(h: Harness, runtime: Party) -> tuple[dict[str, Any], str]:
    """An approved question and its token."""
    ann = await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    return asked, await runtime.token(asked["id"])


async def test_a_good_token_for_the_right_call_is_active(anywhere: Harness) -> None:
    """As often as one asks, and the grant is still there to be spent."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime)
    for members in ({}, {"execution_id": "e-9"}, {"execution_id": None}):
        assert record(await runtime.introspect(asked, token, **members)) == {"active": True}
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [line["type"] for line in trail] == ["requested", "approved"]
    record(await runtime.consume(asked, token))


@pytest.mark.parametrize(
    "changes",
    [
        {"input": 1},
        {"capability": "x"},
        {"context": {"a": 1}},
        {"effect": "none"},
        {"input": ..., "input_hash": HASH},
    ],
)
async def test_another_call_is_not_active(anywhere: Harness, changes: dict[str, Any]) -> None:
    """The answer is the code a consume would get, and no line in the trail."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime)
    answer = record(await runtime.introspect(asked, token, **changes))
    assert answer == {"active": False, "error": "APPROVAL_INPUT_MISMATCH"}
    assert len(record(await runtime.trail(asked["id"]))["items"]) == 2


async def test_what_became_of_the_grant_is_told(anywhere: Harness) -> None:
    """Consumed, by whatever execution, cancelled or expired: never active."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime)
    record(await runtime.consume(asked, token))
    for members in ({}, {"execution_id": "exec-1"}, {"execution_id": "e-2"}):
        answer = record(await runtime.introspect(asked, token, **members))
        assert answer == {"active": False, "error": "APPROVAL_CONSUMED"}
    ann = await anywhere.approver("bob")
    for end in ("APPROVAL_CANCELLED", "APPROVAL_EXPIRED"):
        question = await runtime.asked(input=end)
        record(await ann.decide(question))
        held = await runtime.token(question["id"])
        if end == "APPROVAL_CANCELLED":
            record(await runtime.cancel(question["id"]))
        else:
            anywhere.clock.move(900_001)
        assert record(await runtime.introspect(question, held)) == {"active": False, "error": end}


async def test_a_token_dies_by_the_stores_clock(anywhere: Harness) -> None:
    """At the second of its end a token is dead, though the grant lives on."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(expires_in_ms=7_200_000)
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    anywhere.clock.move(900_999)
    assert record(await runtime.introspect(asked, token)) == {"active": True}
    anywhere.clock.move(1)
    answer = record(await runtime.introspect(asked, token))
    assert answer == {"active": False, "error": "APPROVAL_TOKEN_INVALID"}


async def test_a_token_of_a_forgotten_record_is_not_active(h: Harness) -> None:
    """B21: where the store has lost the record the answer is a plain code, no loop and no fault."""
    runtime = await h.client()
    asked, token = await granted(h, runtime)
    for kind in "ali":
        await h.redis.delete(f"{{placet:default}}:{kind}:{asked['id']}")
    answer = record(await runtime.introspect(asked, token))
    assert answer == {"active": False, "error": "APPROVAL_NOT_FOUND"}
    assert refusal(await runtime.consume(asked, token)) == (404, "APPROVAL_NOT_FOUND")
    assert refusal(await runtime.read(asked["id"])) == (404, "APPROVAL_NOT_FOUND")


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"token": ...}, "/token"),
        ({"token": None}, "/token"),
        ({"token": 7}, "/token"),
        ({"input": ...}, "/input"),
        ({"input_hash": HASH}, "/input"),
        ({"execution_id": "a b"}, "/execution_id"),
        ({"id": "apr_1"}, "/id"),
    ],
)
async def test_a_wrong_body_is_named(h: Harness, changes: dict[str, Any], path: str) -> None:
    """A fault of the request is 422, not an inactive token."""
    runtime = await h.client()
    asked, token = await granted(h, runtime)
    response = await runtime.introspect(asked, **{"token": token, **changes})
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == [path]


async def test_a_revoked_caller_learns_nothing(anywhere: Harness) -> None:
    """Even where no record is looked at, a credential that was taken back is 401 at once."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    await anywhere.services.enrolment.revoke("default", "client:runtime")
    assert refusal(await runtime.introspect(asked, "nonsense")) == (401, "UNAUTHENTICATED")
