"""Asking too fast: refused with the exact time to come again, and nothing made of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from placet.domain.limits import Limits
from tests.factories import ManualClock
from tests.harness import Harness, opened, reason, record

TOO_FAST = (429, "RATE_LIMITED", "rate")


@pytest.fixture
async def slow(client: Redis, ring_directory: Path, clock: ManualClock) -> AsyncIterator[Harness]:
    """Two asks at once, then seven a minute."""
    limits = Limits(ask_rate_per_minute=7, ask_burst=2)
    async with opened(client, ring_directory, clock, limits=limits) as harness:
        yield harness


async def test_it_is_told_when_to_come_again(slow: Harness) -> None:
    """To the millisecond in the faces, in whole seconds rounded up in the header; then it is in time."""
    runtime = await slow.client()
    asked = [await runtime.asked(input=n) for n in range(2)]
    answer = await runtime.ask(input=2)
    assert reason(answer) == TOO_FAST
    problem = answer.json()
    assert answer.headers["retry-after"] == "9"
    assert problem["failure"]["retryAfterMs"] == 8_572
    assert problem["confirmation"] == {
        "code": "RATE_LIMITED",
        "message": problem["model"]["message"],
        "retry": "after-delay",
        "details": {"reason": "rate", "retryAfterMs": 8_572},
    }
    assert (problem["retryable"], problem["stage"], problem["model"]["retryable"]) == (True, "policy", True)
    slow.clock.move(8_571)
    assert (await runtime.ask(input=2)).json()["failure"]["retryAfterMs"] == 1
    slow.clock.move(1)
    asked.append(record(await runtime.ask(input=2), 201))
    listed = record(await runtime.list())["items"]
    assert {each["id"] for each in listed} == {each["id"] for each in asked}


async def test_what_is_there_already_is_found(slow: Harness) -> None:
    """Joining and replaying cost nothing, before and after; a retry with its key is never refused for it."""
    runtime = await slow.client()
    first = record(await runtime.ask(key="k"), 201)
    for _ in range(5):
        assert record(await runtime.ask(key="k"))["id"] == first["id"]
    second = await runtime.asked(input=2)
    for _ in range(5):
        assert record(await runtime.ask(input=2))["id"] == second["id"]
    assert reason(await runtime.ask(input=3)) == TOO_FAST
    assert record(await runtime.ask(key="k"))["id"] == first["id"]


async def test_asking_is_all_that_counts(slow: Harness) -> None:
    """A client that asked too fast reads, waits, consumes and cancels as ever; so do the others."""
    runtime, other, ann = await slow.client(), await slow.client("other"), await slow.approver()
    one, two = await runtime.asked(input=1), await runtime.asked(input=2)
    assert reason(await runtime.ask(input=3)) == TOO_FAST
    record(await ann.decide(one))
    record(await runtime.consume(one, await runtime.token(one["id"])))
    record(await runtime.report(one["id"]))
    record(await runtime.cancel(two["id"]))
    assert record(await other.ask(input=3), 201)


async def test_a_refused_ask_is_no_ask(slow: Harness) -> None:
    """What has no sense, or is not allowed, is not paid for."""
    runtime = await slow.client()
    for _ in range(5):
        assert (await runtime.ask(effect="huge")).status_code == 422
        assert (await runtime.ask(risk="critical")).status_code == 403
        assert (await runtime.ask(audience="nobody")).status_code == 422
        assert (await runtime.ask(expires_at="2020-01-01T00:00:00Z")).status_code == 422
    assert [(await runtime.ask(input=n)).status_code for n in range(3)] == [201, 201, 429]


async def test_large_questions_count_for_more(slow: Harness) -> None:
    """Sixteen KiB to keep are one ask: whoever fills the store does it slowly, cancelling or not."""
    runtime = await slow.client()
    asked = await runtime.asked(input={"text": "x" * 20_000})
    record(await runtime.cancel(asked["id"]))
    assert reason(await runtime.ask(input={"text": "y"})) == TOO_FAST
    slow.clock.move(60_000)
    await runtime.asked(extensions={"text": "x" * 20_000})
    assert reason(await runtime.ask()) == TOO_FAST


async def test_two_credentials_of_a_client_are_one_client(slow: Harness) -> None:
    """A rotation opens no second bucket."""
    runtime = await slow.client()
    issued = await slow.services.enrolment.rotate("default", "client:runtime")
    await runtime.asked(input=1)
    runtime.credential = issued.credential
    await runtime.asked(input=2)
    assert reason(await runtime.ask(input=3)) == TOO_FAST


async def test_replicas_share_a_bucket(client: Redis, ring_directory: Path, clock: ManualClock) -> None:
    """It is in the store, judged where the record is made."""
    limits = Limits(ask_rate_per_minute=1, ask_burst=2)
    async with (
        opened(client, ring_directory, clock, limits=limits) as here,
        opened(client, ring_directory, clock, limits=limits) as there,
    ):
        runtime = await here.client()
        await runtime.asked(input=1)
        runtime._http = there.http
        await runtime.asked(input=2)
        assert reason(await runtime.ask(input=3)) == TOO_FAST
        runtime._http = here.http
        assert reason(await runtime.ask(input=3)) == TOO_FAST
