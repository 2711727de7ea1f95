"""Consuming: the very call that was approved, by the audience, once."""

import asyncio
from typing import Any

import pytest

from tests.harness import Harness, Party, call_of, reason, record, refusal


async def granted(h: Harness, runtime: Party, **members: Any) -> tuple[dict[str, Any], str]:
    """An approved question and a token for it."""
    asked = await runtime.asked(**members)
    ann = await h.approver(f"approver of {asked['id']}")
    record(await ann.decide(asked))
    return asked, await runtime.token(asked["id"])


async def test_a_grant_is_spent_once(anywhere: Harness) -> None:
    """B19: the same execution hears the same 200 again, replayed; another one that it is consumed."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime)
    first = record(await runtime.consume(asked, token, execution="e-1"))
    assert (first["status"], first["replayed"]) == ("consumed", False)
    assert first["consumption"] == {
        "execution_id": "e-1",
        "client": "runtime",
        "at": "2027-01-15T08:00:00.000Z",
    }
    anywhere.clock.move(5_000)
    again = record(await runtime.consume(asked, token, execution="e-1"))
    assert again == {**first, "replayed": True}
    other = await runtime.consume(asked, token, execution="e-2")
    assert refusal(other) == (409, "APPROVAL_CONSUMED")
    assert other.json()["details"] == {"execution_id": "e-1"}


async def test_a_replay_needs_neither_token_nor_time(anywhere: Harness) -> None:
    """Nothing new is granted: the answer is the same without a token and after every deadline."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime, use_within_ms=1_000)
    record(await runtime.consume(asked, token))
    anywhere.clock.move(3_600_000)
    for presented in (None, "", "nonsense", token):
        assert record(await runtime.consume(asked, presented))["replayed"] is True
    assert record(await runtime.consume(asked, token=...))["replayed"] is True


async def test_two_hundred_consumers_have_one_winner(anywhere: Harness) -> None:
    """Of parallel executions with one token exactly one is granted; all others name it."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime)
    answers = await asyncio.gather(*(runtime.consume(asked, token, execution=f"e-{n}") for n in range(200)))
    won = [each.json() for each in answers if each.status_code == 200]
    assert len(won) == 1
    winner = won[0]["consumption"]["execution_id"]
    for each in answers:
        if each.status_code != 200:
            assert refusal(each) == (409, "APPROVAL_CONSUMED")
            assert each.json()["details"] == {"execution_id": winner}


async def test_a_question_that_waits_grants_nothing(anywhere: Harness) -> None:
    """B13: consuming while it is pending is refused, retryable, and changes nothing."""
    runtime = await anywhere.client()
    asked = await runtime.asked()
    response = await runtime.consume(asked)
    assert refusal(response) == (409, "APPROVAL_PENDING")
    assert int(response.headers["retry-after"]) >= 1
    problem = response.json()
    assert problem["retryable"] is True
    assert problem["confirmation"]["code"] == "CONFIRMATION_REQUIRED"
    assert problem["confirmation"]["details"] == asked["confirmation"]["details"]
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


HASH = "9fbb451d84f0774c7492da5f8a213a08fe5a94c5965596453903d24757107d27"
"""Of the very input that was approved."""

OTHER: list[tuple[str, dict[str, Any]]] = [
    ("another amount", {"input": {"order": "A-1", "amount": 50}}),
    ("one member more", {"input": {"order": "A-1", "amount": 5, "to": "x"}}),
    ("one member less", {"input": {"order": "A-1"}}),
    ("a number as text", {"input": {"order": "A-1", "amount": "5"}}),
    ("nothing", {"input": None}),
    ("another tool", {"capability": "orders.delete"}),
    ("another surface", {"surface": "chat"}),
    ("another actor", {"actor": {"id": "agent-8", "kind": "agent"}}),
    ("an actor of another kind", {"actor": {"id": "agent-7", "kind": "service"}}),
    ("another effect", {"effect": "none"}),
    ("another context", {"context": {"call": 2}}),
    ("the hash alone", {"input": ..., "input_hash": HASH}),
    ("another's hash", {"input": ..., "input_hash": "0" * 64}),
]


@pytest.mark.parametrize("changes", [row[1] for row in OTHER], ids=[row[0] for row in OTHER])
async def test_any_other_call_is_refused_and_burns_nothing(
    anywhere: Harness, changes: dict[str, Any]
) -> None:
    """B2, B5, B10: whatever differs from what was approved is a mismatch; the right call still works."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime)
    response = await runtime.consume(asked, token, **changes)
    assert refusal(response) == (409, "APPROVAL_INPUT_MISMATCH")
    assert response.json()["confirmation"]["details"] == {"reason": "mismatch"}
    assert response.json()["model"]["code"] == "INTERNAL_ERROR"
    record(await runtime.consume(asked, token))


async def test_what_is_not_bound_may_differ(h: Harness) -> None:
    """Names and attributes of the actor are not compared; defaults are the same at both ends."""
    runtime = await h.client()
    asked, token = await granted(h, runtime, actor={"id": "a", "kind": "user", "display_name": "A"})
    actor = {"id": "a", "kind": "user", "display_name": "B", "on_behalf_of": ["c"], "attributes": {"d": 1}}
    body = {"execution_id": "e", "token": token, "capability": asked["capability"], "actor": actor}
    body |= {"effect": asked["effect"], "input": asked["input"]}
    record(await runtime.call("POST", f"{asked['links']['self']}/consume", json=body))


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"input_hash": "0" * 64}, "/input"),
        ({"input": ...}, "/input"),
        ({"execution_id": ...}, "/execution_id"),
        ({"execution_id": ""}, "/execution_id"),
        ({"execution_id": "a b"}, "/execution_id"),
        ({"execution_id": "a" * 201}, "/execution_id"),
        ({"execution_id": 7}, "/execution_id"),
        ({"token": 7}, "/token"),
        ({"actor": {"id": "a"}}, "/actor/kind"),
        ({"risk": "low"}, "/risk"),
        ({"run": "r"}, "/run"),
        ({"audience": "runtime"}, "/audience"),
        ({"digest": "0" * 64}, "/digest"),
        ({"decision": "approve"}, "/decision"),
    ],
)
async def test_a_wrong_body_is_named(h: Harness, changes: dict[str, Any], path: str) -> None:
    """Missing, malformed and unknown members, and both input and hash: 422, and nothing is spent."""
    runtime = await h.client()
    asked, token = await granted(h, runtime)
    body = {**call_of(asked), "execution_id": "e", "token": token, **changes}
    body = {name: value for name, value in body.items() if value is not ...}
    response = await runtime.call("POST", f"{asked['links']['self']}/consume", json=body)
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == [path]
    assert (await runtime.seen(asked["id"]))["status"] == "approved"


async def test_the_audience_alone_consumes(anywhere: Harness) -> None:
    """The asker may not where another is the audience, nor may readers; the tool server does."""
    runtime, tools = await anywhere.client(), await anywhere.client("tools", "consume")
    reader = await anywhere.client("reader", "read", "consume")
    boss, stranger = await anywhere.client("boss", "admin", "consume"), await anywhere.client("stranger")
    asked, token = await granted(anywhere, runtime, audience="tools")
    for party in (runtime, reader, boss):
        assert reason(await party.consume(asked, token)) == (403, "FORBIDDEN", "not-the-audience")
    assert refusal(await stranger.consume(asked, token)) == (404, "APPROVAL_NOT_FOUND")
    assert record(await tools.consume(asked, token))["consumption"]["client"] == "tools"


async def test_the_execution_is_named_to_the_audience_alone(h: Harness) -> None:
    """Who is no party to it is told before the state that it is not the audience."""
    runtime, reader = await h.client(), await h.client("reader", "read", "consume")
    asked, token = await granted(h, runtime)
    record(await runtime.consume(asked, token))
    response = await reader.consume(asked, token)
    assert reason(response) == (403, "FORBIDDEN", "not-the-audience")
    assert "exec-1" not in response.text


@pytest.mark.parametrize("token", [None, "", "x", "a.b.c", "..", "a" * 9_000])
async def test_no_token_no_consumption(anywhere: Harness, token: str | None) -> None:
    """Without a good token the right call is refused, and the grant stays."""
    runtime = await anywhere.client()
    asked, good = await granted(anywhere, runtime)
    assert refusal(await runtime.consume(asked, token)) == (403, "APPROVAL_TOKEN_INVALID")
    assert refusal(await runtime.consume(asked, token=...)) == (403, "APPROVAL_TOKEN_INVALID")
    record(await runtime.consume(asked, good))


async def test_a_token_is_for_its_own_approval(anywhere: Harness) -> None:
    """The token of another approval, though of the same call, is not this one's."""
    runtime = await anywhere.client()
    asked, _ = await granted(anywhere, runtime)
    twin, token = await granted(anywhere, runtime, id="twin")
    assert twin["digest"] == asked["digest"]
    assert refusal(await runtime.consume(asked, token)) == (403, "APPROVAL_TOKEN_INVALID")
    record(await runtime.consume(twin, token))


async def test_a_grant_can_be_used_until_its_deadline(anywhere: Harness) -> None:
    """At the very instant it is alive; a millisecond later it is expired, whatever the token says."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime, id="early", use_within_ms=5_400)
    late, _ = await granted(anywhere, runtime, id="late", use_within_ms=5_400, input=1)
    late_token = await runtime.token("late")
    anywhere.clock.move(5_400)
    record(await runtime.consume(asked, token))
    anywhere.clock.move(1)
    assert refusal(await runtime.consume(late, late_token)) == (409, "APPROVAL_EXPIRED")
    trail = record(await runtime.trail("late"))["items"]
    assert [line["type"] for line in trail] == ["requested", "approved", "expired", "refused"]
    assert trail[2]["at"] == "2027-01-15T08:00:05.400Z"


async def test_a_token_dies_before_a_long_grant(anywhere: Harness) -> None:
    """After fifteen minutes a token is dead, and a fresh one from the record is taken."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime, expires_in_ms=7_200_000)
    anywhere.clock.move(901_000)
    assert refusal(await runtime.consume(asked, token)) == (403, "APPROVAL_TOKEN_INVALID")
    record(await runtime.consume(asked, await runtime.token(asked["id"])))


async def test_made_up_approvals_are_refused(anywhere: Harness) -> None:
    """B1: made-up ids, another deployment's and another tenant's get the body of an unknown one."""
    runtime, abroad = await anywhere.client(), await anywhere.client(tenant="abroad")
    asked, token = await granted(anywhere, runtime)
    unknown = await runtime.consume({**asked, "id": "apr_made-up"}, token)
    assert refusal(unknown) == (404, "APPROVAL_NOT_FOUND")
    foreign = await abroad.consume(asked, token)
    assert foreign.content == unknown.content
    assert record(await abroad.list())["items"] == []


async def test_the_table_of_consume(anywhere: Harness) -> None:
    """Pending: mismatch before pending. Consumed: the execution before the call, token or none."""
    runtime = await anywhere.client()
    asked = await runtime.asked()
    assert refusal(await runtime.consume(asked, input=1)) == (409, "APPROVAL_INPUT_MISMATCH")
    assert refusal(await runtime.consume(asked, "nonsense")) == (409, "APPROVAL_PENDING")
    spent, token = await granted(anywhere, runtime, input=2)
    record(await runtime.consume(spent, token))
    assert refusal(await runtime.consume(spent, token, input=3)) == (409, "APPROVAL_INPUT_MISMATCH")
    other = await runtime.consume(spent, token, execution="e-2", input=3)
    assert refusal(other) == (409, "APPROVAL_CONSUMED")
    assert refusal(await runtime.consume(spent, execution="e-2")) == (409, "APPROVAL_CONSUMED")


async def test_refused_attempts_are_in_the_trail(anywhere: Harness) -> None:
    """Each wrong attempt leaves a line with who and why, and nothing in the stream."""
    runtime = await anywhere.client()
    asked, token = await granted(anywhere, runtime)
    before = await anywhere.redis.xlen("{placet:default}:s")
    await runtime.consume(asked, token, input=1)
    await runtime.consume(asked, "bad")
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["by"], line["code"]) for line in trail[2:]] == [
        ("runtime", "APPROVAL_INPUT_MISMATCH"),
        ("runtime", "APPROVAL_TOKEN_INVALID"),
    ]
    assert await anywhere.redis.xlen("{placet:default}:s") == before
