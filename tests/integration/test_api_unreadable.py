"""A record that can't be read is no other's trouble: it is refused with an alarm, all else goes on."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.factories import T0_MS
from tests.harness import Harness, Party, record, refusal
from tests.tampering import BROKEN, TAG, a, a_vote, log, part, rewritten

ALARM = "a record in the store can't be read"
SECRET = "hunter2"
"""A value of the record that was broken, which no log may hold."""

Damage = Callable[[Any, dict[str, Any]], Awaitable[Any]]
"""What somebody, or a later release, did to a record in the store."""


async def _first_line(redis: Any, asked: dict[str, Any], line: bytes) -> None:
    await redis.lset(log(asked), 0, line)


DAMAGES: dict[str, Damage] = {
    "a word of a later release": lambda redis, asked: rewritten(
        redis, log(asked), 0, lambda ask: ask.update(risk="newrisk")
    ),
    "a line without a document": lambda redis, asked: _first_line(
        redis, asked, b"%d requested hunter2" % T0_MS
    ),
    "a document that ends early": lambda redis, asked: _first_line(
        redis, asked, b'%d requested {"id":"hunter2"' % T0_MS
    ),
    "a line of one word": lambda redis, asked: _first_line(redis, asked, b"hunter2"),
    "a line without a moment": lambda redis, asked: _first_line(redis, asked, b"hunter2 requested {}"),
    "a vote that is none": lambda redis, asked: redis.rpush(log(asked), b'1 voted {"a":"hunter2"}'),
    "a verdict of a later release": lambda redis, asked: redis.rpush(
        log(asked), b"1 voted " + a_vote(asked, decision="hunter2")
    ),
    "a document too deep to read": lambda redis, asked: redis.rpush(
        log(asked), b'1 voted {"hunter2":' + b"[" * 100_000
    ),
    "no log": lambda redis, asked: redis.delete(log(asked)),
    "no nonce": lambda redis, asked: redis.hdel(a(asked), "n"),
    "no digest": lambda redis, asked: redis.hdel(a(asked), "g"),
    "a status of a later release": lambda redis, asked: redis.hset(a(asked), "s", "hunter2"),
    "a deadline that is no moment": lambda redis, asked: redis.hset(a(asked), "x", "hunter2"),
    "a deadline beyond all dates": lambda redis, asked: redis.hset(a(asked), "x", "9" * 20),
    "a deadline before all dates": lambda redis, asked: redis.hset(a(asked), "x", "-" + "9" * 17),
    "asked at a time beyond all dates": lambda redis, asked: redis.hset(a(asked), "t", "9" * 20),
    "votes of a later release": lambda redis, asked: redis.hset(a(asked), "v", "hunter2" * 4),
}
everyhow = pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())


async def one_broken(h: Harness, damage: Damage) -> tuple[Party, dict[str, Any], dict[str, Any]]:
    """A client with two questions of one run, of which the first was damaged."""
    runtime = await h.client()
    broken = await runtime.asked(run="r", input={"password": SECRET}, id="broken")
    fine = await runtime.asked(run="r", id="fine")
    await damage(h.redis, broken)
    return runtime, broken, fine


@everyhow
async def test_it_is_refused_and_no_value_of_it_is_logged(
    h: Harness, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    """Its asker and its approvers hear that something is wrong; the operator hears which and what kind."""
    caplog.set_level("DEBUG")
    runtime, broken, _ = await one_broken(h, damage)
    ann = await h.approver()
    for answer in (
        await runtime.read(broken["id"]),
        await runtime.trail(broken["id"]),
        await ann.read(broken["id"]),
        await ann.decide(broken, "reject"),
        await runtime.consume(broken),
    ):
        assert refusal(answer) == BROKEN
    alarms = [line.__dict__ for line in caplog.records if line.message == ALARM]
    assert {(line["tenant"], line["approval_id"]) for line in alarms} == {("default", "broken")}
    assert SECRET not in str([line.__dict__ for line in caplog.records])


@everyhow
async def test_lists_show_the_others(h: Harness, damage: Damage) -> None:
    """To the client, to approvers, to who reads everything; by run and by status too."""
    runtime, _, fine = await one_broken(h, damage)
    ann, boss = await h.approver(), await h.client("boss", "read")
    for party in (runtime, ann, boss):
        for query in ({}, {"run": "r"}, {"status": "pending"}):
            assert [item["id"] for item in record(await party.list(**query))["items"]] == [fine["id"]]


@everyhow
async def test_cancelling_a_run_cancels_the_others(h: Harness, damage: Damage) -> None:
    """One that can't be read does not keep it from the rest."""
    runtime, _, fine = await one_broken(h, damage)
    assert fine["id"] in record(await runtime.cancel_run("r"))["cancelled"]


@everyhow
async def test_an_operator_withdraws_the_others(h: Harness, damage: Damage) -> None:
    """Taking a client's credentials back is not stopped by one of its records."""
    _, _, fine = await one_broken(h, damage)
    assert fine["id"] in await h.services.withdraw("default", "runtime")


@everyhow
async def test_the_sweeper_settles_the_others(anywhere: Harness, damage: Damage) -> None:
    """Their expiry is written down when it is due."""
    _, _, fine = await one_broken(anywhere, damage)
    anywhere.clock.move(900_001)
    await anywhere.services.sweeper.sweep()
    assert await anywhere.redis.hget(a(fine), "s") == b"expired"


def _of_another_kind(letter: str) -> Damage:
    async def exchanged(redis: Any, asked: dict[str, Any]) -> None:
        await redis.delete(part(letter, asked["id"]))
        await redis.zadd(part(letter, asked["id"]), {"hunter2": 1})

    return exchanged


@pytest.mark.parametrize("damage", list(map(_of_another_kind, "ali")), ids=list("ali"))
class TestKeysOfAnotherKind:
    """A key of a type that no script makes fails whatever reads it; the sweeper goes on all the same."""

    async def test_the_sweeper_settles_the_others(self, anywhere: Harness, damage: Damage) -> None:
        """Whatever else is due."""
        _, _, fine = await one_broken(anywhere, damage)
        anywhere.clock.move(900_001)
        await anywhere.services.sweeper.sweep()
        assert await anywhere.redis.hget(a(fine), "s") == b"expired"


@pytest.mark.parametrize("field", ["t", "k", "x", "s"])
async def test_a_field_that_is_missing_does_not_stop_the_sweeper(anywhere: Harness, field: str) -> None:
    """The record can't be settled; the others are."""
    _, _, fine = await one_broken(anywhere, lambda redis, asked: redis.hdel(a(asked), field))
    anywhere.clock.move(900_001)
    await anywhere.services.sweeper.sweep()
    assert await anywhere.redis.hget(a(fine), "s") == b"expired"


async def test_a_name_that_is_no_text_is_left_out(anywhere: Harness) -> None:
    """An id in an index that no record of ours can have, with parts of a record under it."""
    runtime = await anywhere.client()
    fine = await runtime.asked()
    for letter in "al":
        await anywhere.redis.copy(part(letter, fine["id"]), part(letter, "").encode() + b"\xff")
    for index in ("x", "x:c:runtime"):
        await anywhere.redis.zadd(TAG + index, {b"%d:\xff" % T0_MS: 0})
    assert [item["id"] for item in record(await runtime.list())["items"]] == [fine["id"]]


async def test_an_input_that_is_no_json_is_not_shown(h: Harness) -> None:
    """Its hash is not the one that was sealed; nobody tries to read it first."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(presentation={"redact": ["/order"]})
    await h.redis.set(part("i", asked["id"]), b"\xff{")
    assert refusal(await ann.read(asked["id"])) == BROKEN
    assert record(await ann.list())["items"] == []
