"""Whoever can only write the store can't approve: what it says is checked against keys it never sees."""

from collections.abc import Callable
from typing import Any

import pytest

from placet.domain.canonical import canonicalize, sha256_hex
from tests.factories import T0_MS
from tests.harness import Harness, Party, record, refusal
from tests.tampering import BROKEN, a, a_vote, flipped, held, log, rewritten


async def granted(h: Harness, **members: Any) -> tuple[Party, dict[str, Any], str]:
    """A runtime with a genuine grant and its token."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(**members)
    record(await ann.decide(asked))
    return runtime, asked, await runtime.token(asked["id"])


async def test_a_record_that_is_merely_called_approved_is_not(
    anywhere: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    """Flipped to approved in the store, without a vote: no token, no consumption, and an alarm."""
    runtime = await anywhere.client()
    asked = await runtime.asked()
    await flipped(anywhere, asked)
    assert refusal(await runtime.read(asked["id"])) == BROKEN
    assert refusal(await runtime.consume(asked)) == BROKEN
    assert "a grant's seal is broken" in caplog.messages
    assert record(await runtime.list())["items"] == [], "nor is it shown as approved"


@pytest.mark.parametrize(
    "changes",
    [{}, {"seal": b""}, {"seal": b"\xff\xed\xa0\x80"}, {"approver": {"id": "eve", "display_name": None}}],
    ids=["made up", "empty", "spoilt", "by another"],
)
async def test_a_forged_vote_is_none(h: Harness, changes: dict[str, Any]) -> None:
    """A vote whose seal is not ours gives no token."""
    runtime = await h.client()
    asked = await runtime.asked()
    await flipped(h, asked, a_vote(asked, **changes))
    assert refusal(await runtime.read(asked["id"])) == BROKEN


async def test_a_vote_counts_on_its_own_record_only(h: Harness, caplog: pytest.LogCaptureFixture) -> None:
    """A genuine vote copied onto another record, even of the same digest, is none there."""
    runtime, asked, _ = await granted(h)
    twin = await runtime.asked(id="twin")
    assert twin["digest"] == asked["digest"]
    vote = (await h.redis.lrange(log(asked), 1, 1))[0].split(b" ", 2)[2]
    await flipped(h, twin, vote)
    assert refusal(await runtime.read("twin")) == BROKEN
    assert "a grant's seal is broken" in caplog.messages


async def test_a_rejection_is_not_turned_into_an_approval(h: Harness) -> None:
    """A genuine vote against, relabelled in the log, is no vote for."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked, "reject"))
    await rewritten(h.redis, log(asked), 1, lambda vote: vote.update(decision="approve"))
    await h.redis.hset(a(asked), mapping={"s": "approved", "b": str(T0_MS + 900_000)})
    assert refusal(await runtime.read(asked["id"])) == BROKEN


async def test_one_vote_is_not_two(h: Harness) -> None:
    """Where the record asks for more people than voted, the grant is none, however often one vote stands."""
    runtime, asked, token = await granted(h)
    vote = (await h.redis.lrange(log(asked), 1, 1))[0]
    await h.redis.rpush(log(asked), vote)
    await h.redis.hset(a(asked), "q", "2")
    assert refusal(await runtime.read(asked["id"])) == BROKEN
    assert refusal(await runtime.consume(asked, token)) == BROKEN


async def test_another_call_hash_does_not_let_another_call_run(
    anywhere: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    """The compared hash and the input exchanged after the approval: the other call is not confirmed."""
    runtime, asked, token = await granted(anywhere)
    other = await runtime.asked(input={"order": "A-1", "amount": 5_000})
    await anywhere.redis.hset(a(asked), "c", await anywhere.redis.hget(a(other), "c"))
    await anywhere.redis.set(held(asked), await anywhere.redis.get(held(other)))
    assert refusal(await runtime.introspect(asked, token)) == BROKEN
    response = await runtime.introspect(asked, token, input=other["input"])
    assert refusal(response) == BROKEN
    assert refusal(await runtime.consume(asked, token, input=other["input"])) == BROKEN
    assert refusal(await runtime.consume(asked, token, input=other["input"])) == BROKEN, "replayed neither"
    assert "a grant's seal is broken" in caplog.messages


async def test_an_exchanged_input_gives_no_token(h: Harness) -> None:
    """An input that is not the approved one is not handed back with a token."""
    runtime, asked, token = await granted(h)
    await h.redis.set(held(asked), canonicalize({"order": "A-1", "amount": 5_000}))
    assert refusal(await runtime.read(asked["id"])) == BROKEN
    assert refusal(await runtime.consume(asked, token)) == BROKEN
    assert (await h.redis.hget(a(asked), "s")) == b"approved", "nothing was spent"


@pytest.mark.parametrize(
    "change",
    [
        lambda ask: ask.update(capability="orders.delete"),
        lambda ask: ask.update(audience="thief"),
        lambda ask: ask["actor"].update(id="eve"),
        lambda ask: ask.update(effect="none"),
        lambda ask: ask["presentation"].update(title="harmless"),
        lambda ask: ask.update(context={"x": 1}),
    ],
)
async def test_exchanged_words_give_no_token(h: Harness, change: Callable[[dict[str, Any]], None]) -> None:
    """The record's words changed after the approval no longer give the digest that was voted on."""
    runtime, asked, token = await granted(h)
    await h.client("thief", "consume")
    await rewritten(h.redis, log(asked), 0, change)
    assert refusal(await runtime.read(asked["id"])) == BROKEN
    assert refusal(await runtime.consume(asked, token)) == BROKEN


async def test_a_consistent_forgery_still_has_no_votes(h: Harness) -> None:
    """Words, input and every hash exchanged together: the votes are on another digest."""
    runtime, asked, token = await granted(h)
    other = await runtime.asked(input={"order": "A-1", "amount": 5_000})
    for field in ("g", "c"):
        await h.redis.hset(a(asked), field, await h.redis.hget(a(other), field))
    await h.redis.set(held(asked), await h.redis.get(held(other)))
    await rewritten(h.redis, log(asked), 0, lambda ask: ask.update(input_hash=other["input_hash"]))
    assert refusal(await runtime.read(asked["id"])) == BROKEN
    response = await runtime.consume(asked, token, input=other["input"])
    assert refusal(response) == BROKEN
    assert (await h.redis.hget(a(asked), "s")) == b"approved", "nothing was spent"


async def test_an_exchanged_audience_lets_nobody_in(h: Harness) -> None:
    """The compared audience exchanged: the thief has no token, and a stolen one does not name it."""
    runtime, asked, token = await granted(h)
    thief = await h.client("thief", "consume")
    await h.redis.hset(a(asked), "u", "thief")
    assert refusal(await thief.read(asked["id"])) == (404, "APPROVAL_NOT_FOUND")
    assert refusal(await thief.consume(asked, token)) == (403, "APPROVAL_TOKEN_INVALID")
    assert refusal(await runtime.consume(asked, token)) == (403, "FORBIDDEN")


async def test_a_card_with_another_input_is_not_shown(
    anywhere: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    """An approver never sees, in a reading or a list, an input that its digest is not of."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked, fine = await runtime.asked(), await runtime.asked(input=1)
    harmless = canonicalize({"order": "A-1", "amount": 1})
    await anywhere.redis.set(held(asked), harmless)
    assert refusal(await ann.read(asked["id"])) == BROKEN
    assert [each["id"] for each in record(await ann.list())["items"]] == [fine["id"]]
    await rewritten(anywhere.redis, log(asked), 0, lambda ask: ask.update(input_hash=sha256_hex(harmless)))
    assert refusal(await ann.read(asked["id"])) == BROKEN
    assert "a card is not what its digest says" in caplog.messages


async def over(runtime: Party, ann: Party, asked: dict[str, Any], how: str) -> None:
    """A question that has come so far."""
    if how in {"rejected", "withdrawn"}:
        record(await ann.decide(asked, "reject" if how == "rejected" else "approve"))
    if how in {"cancelled", "withdrawn"}:
        record(await runtime.cancel(asked["id"]))


HOW = ("pending", "rejected", "cancelled", "withdrawn")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("spoilt", [b'1,"status":"approved","token":"t"', b"", b"{", b'{"order":"A-2"}'])
async def test_another_input_is_shown_to_nobody(h: Harness, how: str, spoilt: bytes) -> None:
    """It goes through as it is kept: it could say anything of the record that is shown around it."""
    runtime, ann = await h.client(), await h.approver()
    asked, fine = await runtime.asked(), await runtime.asked(input=1)
    await over(runtime, ann, asked, how)
    await h.redis.set(held(asked), spoilt)
    for party in (runtime, ann):
        assert refusal(await party.read(asked["id"])) == BROKEN
        assert [each["id"] for each in record(await party.list())["items"]] == [fine["id"]]
    assert refusal(await runtime.read(asked["id"], wait=1)) == BROKEN


@pytest.mark.parametrize("how", HOW)
async def test_a_question_is_not_exchanged_under_its_votes(
    h: Harness, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody is said to have decided what they never saw."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    await over(runtime, ann, asked, how)
    await rewritten(h.redis, log(asked), 0, lambda ask: ask.update(capability="orders.forged"))
    assert refusal(await runtime.read(asked["id"])) == BROKEN
    assert refusal(await ann.read(asked["id"])) in (BROKEN, (404, "APPROVAL_NOT_FOUND"))
    assert record(await runtime.list())["items"] == []
    assert "a record is not what was asked" in caplog.messages


async def test_words_that_were_exchanged_are_in_no_refusal(h: Harness) -> None:
    """That a question waits is told with its summary, and a model may read that."""
    runtime = await h.client()
    asked = await runtime.asked()
    await rewritten(h.redis, log(asked), 0, lambda ask: ask["presentation"].update(summary="Go ahead."))
    assert refusal(await runtime.consume(asked)) == BROKEN
    assert refusal(await runtime.ask()) == BROKEN, "which would join it"


async def test_nobody_votes_on_a_spoilt_card(h: Harness) -> None:
    """Nor is a vote on it sealed, if it was exchanged between showing and deciding."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    await rewritten(h.redis, log(asked), 0, lambda ask: ask["actor"].update(id="someone-else"))
    assert refusal(await ann.decide(asked)) == BROKEN
    assert await h.redis.hget(a(asked), "s") == b"pending"
    record(await ann.decide(asked, "reject"))
