"""A decision that nobody made is shown by no call: each proves what it answers with.

A record is called approved in the store, with a vote that somebody made up, and every way that leads to a
record is tried.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.factories import T0_MS
from tests.harness import Harness, Party, record, refusal
from tests.tampering import BROKEN, a, a_vote, flipped, log

Way = Callable[[Party, Party, dict[str, Any]], Awaitable[httpx.Response]]
"""A call by the client that asked, or by an approver, that would answer with the record."""

WAYS: dict[str, Way] = {
    "read": lambda runtime, _, asked: runtime.read(asked["id"]),
    "wait": lambda runtime, _, asked: runtime.read(asked["id"], wait=30),
    "trail": lambda runtime, _, asked: runtime.trail(asked["id"]),
    "read as approver": lambda _, ann, asked: ann.read(asked["id"]),
    "trail as approver": lambda _, ann, asked: ann.trail(asked["id"]),
    "ask again": lambda runtime, _, asked: runtime.ask(key="k"),
    "vote": lambda _, ann, asked: ann.decide(asked, "approve"),
    "vote against": lambda _, ann, asked: ann.decide(asked, "reject"),
    "cancel": lambda runtime, _, asked: runtime.cancel(asked["id"]),
    "consume": lambda runtime, _, asked: runtime.consume(asked),
    "outcome": lambda runtime, _, asked: runtime.report(asked["id"]),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
async def test_no_call_shows_it(anywhere: Harness, way: Way, caplog: pytest.LogCaptureFixture) -> None:
    """The caller hears that something is wrong, and the operator that a seal is broken."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = record(await runtime.ask(key="k"), 201)
    await flipped(anywhere, asked, a_vote(asked, approver={"id": "eve", "display_name": "Eve"}))
    answer = await way(runtime, ann, asked)
    assert refusal(answer) == BROKEN
    assert "Eve" not in answer.text
    assert {"a grant's seal is broken", "a decision's seal is broken"} & set(caplog.messages)


async def test_nobody_joins_it(anywhere: Harness) -> None:
    """The same question again, while the index says that it waits."""
    runtime = await anywhere.client()
    asked = await runtime.asked()
    await flipped(anywhere, asked, a_vote(asked))
    assert refusal(await runtime.ask()) == BROKEN


async def test_lists_leave_it_out(anywhere: Harness) -> None:
    """Whoever lists, and whatever for: the others are shown."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    boss = await anywhere.client("boss", "read_input")
    asked, fine = await runtime.asked(), await runtime.asked(input=1)
    await flipped(anywhere, asked, a_vote(asked))
    for party in (runtime, ann, boss):
        assert [item["id"] for item in record(await party.list())["items"]] == [fine["id"]]
    assert record(await runtime.list(status="approved"))["items"] == []


async def test_a_vote_on_what_still_waits_is_not_shown_either(anywhere: Harness) -> None:
    """A forged vote does not have to decide anything to be a lie."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    await anywhere.redis.rpush(log(asked), b"%d voted " % T0_MS + a_vote(asked))
    for answer in (await runtime.read(asked["id"]), await ann.decide(asked), await runtime.ask()):
        assert refusal(answer) == BROKEN
    assert record(await ann.list())["items"] == []


@pytest.mark.parametrize("seal", [b"A" * 43, b"", b"\xff"])
async def test_a_forged_consumption_is_not_reported_on(h: Harness, seal: bytes) -> None:
    """Called consumed as well, by the one who asks: the outcome is not taken down as one of a real grant."""
    runtime = await h.client()
    asked = await runtime.asked()
    await flipped(h, asked, a_vote(asked, seal))
    await h.redis.hset(a(asked), mapping={"s": "consumed", "e": "exec-1"})
    spent = json.dumps({"by": "runtime", "execution_id": "exec-1"}).encode()
    await h.redis.rpush(log(asked), b"%d consumed " % T0_MS + spent)
    assert refusal(await runtime.report(asked["id"])) == BROKEN
    assert refusal(await runtime.consume(asked)) == BROKEN
    assert refusal(await runtime.read(asked["id"])) == BROKEN


async def test_a_forged_rejection_is_not_shown(anywhere: Harness) -> None:
    """Nor who is said to have rejected: not with a made-up vote, and not without any."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    voted, bare = await runtime.asked(), await runtime.asked(input=1)
    for asked in (voted, bare):
        await anywhere.redis.hset(a(asked), "s", "rejected")
    await anywhere.redis.rpush(log(voted), b"%d rejected " % T0_MS + a_vote(voted, decision="reject"))
    for asked in (voted, bare):
        assert refusal(await runtime.read(asked["id"])) == BROKEN
        assert refusal(await ann.decide(asked, "reject")) == BROKEN
        assert refusal(await runtime.consume(asked)) == BROKEN
    assert record(await runtime.list())["items"] == []
