"""A grant lives as long as it was meant to, whatever the store says: its end follows from sealed words."""

from typing import Any

import pytest

from placet.application.grants import VOTE_TAKES_MS
from placet.domain.limits import USE_WITHIN_MAX_MS
from tests.factories import T0_MS
from tests.harness import Harness, Party, record, refusal
from tests.tampering import BROKEN, a, log

ALARM = "a grant's seal is broken"
DAY_MS = USE_WITHIN_MAX_MS
ASKED_MS = 5_000
"""A use that was asked for, far below the longest there is."""


async def granted(h: Harness, *, after_ms: int = 0, **members: Any) -> tuple[Party, dict[str, Any]]:
    """A runtime with a genuine grant, voted on so long after it was asked."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(**members)
    h.clock.move(after_ms)
    record(await ann.decide(asked))
    return runtime, asked


async def prolonged(h: Harness, asked: dict[str, Any], use_by_ms: int) -> None:
    """Move the end of a grant in the store."""
    await h.redis.hset(a(asked), "b", str(use_by_ms))
    await h.redis.zadd("{placet:default}:g", {asked["id"]: use_by_ms})


async def spoilt(runtime: Party, asked: dict[str, Any], token: str) -> bool:
    """Whether it is not shown any more, and nothing that is done with it is confirmed."""
    answers = [
        await runtime.read(asked["id"]),
        await runtime.introspect(asked, token),
        await runtime.consume(asked, token),
    ]
    return [refusal(answer) for answer in answers] == [BROKEN] * 3


LONGEST = {
    "as asked": ({"use_within_ms": ASKED_MS}, ASKED_MS),
    "a day as asked": ({"use_within_ms": DAY_MS}, DAY_MS),
    "a day, nothing asked": ({"expires_in_ms": 10 * DAY_MS}, DAY_MS),
}


@pytest.mark.parametrize(("members", "lives_ms"), LONGEST.values(), ids=LONGEST.keys())
@pytest.mark.parametrize("after_ms", [0, 900_000])
async def test_a_genuine_grant_at_its_longest_is_fine(
    anywhere: Harness, members: dict[str, Any], lives_ms: int, after_ms: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Used at the very last instant, however long after the question the vote was: no false alarm."""
    runtime, asked = await granted(anywhere, after_ms=after_ms, **members)
    anywhere.clock.move(lives_ms)
    record(await runtime.consume(asked, await runtime.token(asked["id"])))
    assert (await runtime.seen(asked["id"]))["status"] == "consumed"
    assert ALARM not in caplog.messages


@pytest.mark.parametrize(("members", "lives_ms"), LONGEST.values(), ids=LONGEST.keys())
async def test_a_grant_that_was_prolonged_is_none(
    anywhere: Harness, members: dict[str, Any], lives_ms: int, caplog: pytest.LogCaptureFixture
) -> None:
    """By more than the time between seeing and voting explains: no token, nothing confirmed, an alarm."""
    runtime, asked = await granted(anywhere, **members)
    token = await runtime.token(asked["id"])
    await prolonged(anywhere, asked, T0_MS + lives_ms + VOTE_TAKES_MS)
    assert "token" in await runtime.seen(asked["id"])
    await prolonged(anywhere, asked, T0_MS + lives_ms + VOTE_TAKES_MS + 1)
    assert await spoilt(runtime, asked, token)
    assert refusal(await runtime.consume(asked, token)) == BROKEN, "replayed neither"
    assert ALARM in caplog.messages


async def test_it_counts_from_when_the_voters_saw_it(h: Harness) -> None:
    """Not from when it was asked: a vote a while later is no reason for an alarm, nor room for more."""
    runtime, asked = await granted(h, after_ms=600_000, use_within_ms=ASKED_MS)
    token = await runtime.token(asked["id"])
    latest_ms = T0_MS + 600_000 + ASKED_MS + VOTE_TAKES_MS
    await prolonged(h, asked, latest_ms)
    assert "token" in await runtime.seen(asked["id"])
    await prolonged(h, asked, latest_ms + 1)
    assert await spoilt(runtime, asked, token)


async def test_a_grant_that_expired_does_not_come_back(anywhere: Harness) -> None:
    """Called approved again with another end, and every trace of its expiry taken out of the log."""
    runtime, asked = await granted(anywhere, use_within_ms=ASKED_MS)
    token = await runtime.token(asked["id"])
    anywhere.clock.move(DAY_MS)
    await anywhere.services.sweeper.sweep()
    assert (await runtime.seen(asked["id"]))["status"] == "expired"
    await anywhere.redis.rpop(log(asked))
    await anywhere.redis.hset(a(asked), "s", "approved")
    await prolonged(anywhere, asked, T0_MS + DAY_MS + ASKED_MS)
    assert await spoilt(runtime, asked, token)


async def test_taking_the_wish_away_prolongs_nothing(h: Harness) -> None:
    """The compared field is the store's; what was asked is sealed."""
    runtime, asked = await granted(h, use_within_ms=ASKED_MS)
    token = await runtime.token(asked["id"])
    await h.redis.hdel(a(asked), "w")
    await prolonged(h, asked, T0_MS + DAY_MS)
    assert await spoilt(runtime, asked, token)


@pytest.mark.parametrize("use_by", ["for ever", "", "1e99", None])
async def test_without_an_end_there_is_no_token(h: Harness, use_by: str | None) -> None:
    """An end that is no moment, or none at all, is not one that never comes."""
    runtime, asked = await granted(h)
    await h.redis.hdel(a(asked), "b")
    if use_by is not None:
        await h.redis.hset(a(asked), "b", use_by)
    answer = await runtime.read(asked["id"])
    assert "token" not in answer.json()
