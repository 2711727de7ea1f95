"""Whoever can only write the store lets nobody in, and brings nobody back: nor one row, nor all of them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from placet.application.enroll import EnrolmentRefused
from placet.cli import announce
from tests.harness import Harness, Party, holder, record, refusal

TAG = "{placet:default}:"
META_FIELDS = ("epoch", "manifest", "revoked")
"""The fields of the meta hash that are a roll's."""
SPOILT = (500, "INTERNAL_ERROR")
ALARM = "a tenant's principals are spoilt"


async def taken(h: Harness) -> Mapping[str, Any]:
    """All that the store has of the roll, for an attacker to keep."""
    meta = dict(zip(META_FIELDS, await h.redis.hmget(f"{TAG}m", META_FIELDS), strict=True))
    return {"m": meta, "p": await h.redis.hgetall(f"{TAG}p"), "y": await h.redis.hgetall(f"{TAG}y")}


async def put_back(h: Harness, kept: Mapping[str, Any], *parts: str) -> None:
    """Put back what was kept: rows (p), credentials (y), the epoch and what else is a roll's (m)."""
    for part in parts:
        if part != "m":
            await h.redis.delete(f"{TAG}{part}")
        await h.redis.hset(f"{TAG}{part}", mapping=kept[part])


async def counted(h: Harness) -> None:
    """Raise the epoch as the store has it, so that every service looks again."""
    await h.redis.hincrby(f"{TAG}m", "epoch", 1)


@pytest.mark.parametrize("parts", ["py", "pym", "y"])
async def test_a_revoked_credential_does_not_come_back(
    pair: tuple[Harness, Harness], caplog: pytest.LogCaptureFixture, parts: str
) -> None:
    """Its row, or the whole roll of before, put back: it is not let in, on no replica."""
    here = pair[0]
    runtime, other = await here.client(), await here.client("other")
    kept = await taken(here)
    await here.services.enrolment.revoke("default", "client:runtime")
    for h in pair:
        assert refusal(await holder(h, "runtime", runtime.credential).list()) == (401, "UNAUTHENTICATED")
        record(await holder(h, "other", other.credential).list())
    await put_back(here, kept, *parts)
    if "m" not in parts:
        await counted(here)
    for h in pair:
        assert refusal(await holder(h, "runtime", runtime.credential).list()) == SPOILT
        assert refusal(await holder(h, "other", other.credential).list()) == SPOILT, "nor anybody else"
    assert ALARM in caplog.messages


@pytest.mark.parametrize("looked", ["here", "there"])
async def test_whoever_was_told_of_a_revocation_sees_it_taken_back(
    pair: tuple[Harness, Harness], caplog: pytest.LogCaptureFixture, looked: str
) -> None:
    """A replica that has answered 401, and to nobody else: the whole roll put back, it refuses."""
    here, there = pair
    runtime = await here.client()
    kept = await taken(here)
    h = here if looked == "here" else there
    caller = holder(h, "runtime", runtime.credential)
    record(await caller.list())
    await here.services.enrolment.revoke("default", "client:runtime")
    assert refusal(await caller.list()) == (401, "UNAUTHENTICATED")
    await put_back(here, kept, "p", "y", "m")
    assert refusal(await caller.list()) == SPOILT
    assert refusal(await caller.ask()) == SPOILT
    assert ALARM in caplog.messages


async def test_a_replica_that_looks_for_the_first_time_sees_a_row_put_back(
    pair: tuple[Harness, Harness],
) -> None:
    """The epoch left as it is, nothing but the manifest tells."""
    here, there = pair
    runtime = await here.client()
    kept = await taken(here)
    await here.services.enrolment.revoke("default", "client:runtime")
    await put_back(here, kept, "p", "y")
    assert refusal(await holder(there, "runtime", runtime.credential).list()) == SPOILT


async def test_scopes_that_were_narrowed_stay_narrow(h: Harness) -> None:
    """The row of a client that had more rights than it has now."""
    boss = await h.client("boss", "admin", "read")
    kept = await taken(h)
    await h.owned_by("boss", "eve")
    await put_back(h, kept, "p")
    await counted(h)
    assert refusal(await boss.list()) == SPOILT


async def test_an_old_roll_without_its_epoch_is_none(anywhere: Harness) -> None:
    """Rows and manifest of before under the epoch of now."""
    runtime = await anywhere.client()
    kept = await taken(anywhere)
    await anywhere.services.enrolment.rotate("default", "client:runtime")
    epoch = await anywhere.redis.hget(f"{TAG}m", "epoch")
    await put_back(anywhere, kept, "p", "y", "m")
    await anywhere.redis.hset(f"{TAG}m", "epoch", epoch)
    anywhere.services.directory.forget("default")
    assert refusal(await runtime.list()) == SPOILT


async def test_principals_that_somebody_made_up_let_nobody_in(
    anywhere: Harness, caplog: pytest.LogCaptureFixture
) -> None:
    """Under another's name, raised in scope, or no principal at all: nobody is let in, nobody changed."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    kept = await taken(anywhere)
    rows = kept["p"]
    for field, row in {
        "client:runtime": rows[b"approver:ann"],
        "approver:ann": rows[b"approver:ann"].replace(b'"ann"', b'"eve"'),
        "client:new": b"not even JSON",
        "client:raised": rows[b"client:runtime"].replace(b'"consume"', b'"decide_as"'),
    }.items():
        await put_back(anywhere, kept, "p")
        await anywhere.redis.hset(f"{TAG}p", field, row)
        await counted(anywhere)
        for party in (runtime, ann):
            assert refusal(await party.read(asked["id"])) == SPOILT
        with pytest.raises(EnrolmentRefused, match="not as they were last sealed"):
            await anywhere.client("later")
    assert caplog.messages.count(ALARM) == 8
    await put_back(anywhere, kept, "p", "m")
    assert (await runtime.seen(asked["id"]))["id"] == asked["id"], "restored, it goes on"


async def test_a_row_of_another_tenant_lets_nobody_in(h: Harness) -> None:
    """A genuine principal copied into another tenant is none there."""
    runtime, there = await h.client(), await h.approver("ann", tenant="other")
    asked = await runtime.asked()
    row = (await h.services.store.principals.all("other")).rows["approver:ann"]
    await h.redis.hset(f"{TAG}p", "approver:ann", row)
    await h.redis.hset(f"{TAG}y", there.credential.split("_")[2], "approver:ann")
    await counted(h)
    moved = there.credential.replace("plc_other_", "plc_default_")
    assert refusal(await Party(h.http, "default", "ann", moved).decide(asked)) == SPOILT


async def test_a_row_taken_out_lets_nobody_in(h: Harness) -> None:
    """Somebody who is missing could be an owner, whom a rule needs to know of."""
    runtime, _ = await h.client(), await h.client("other")
    await h.redis.hdel(f"{TAG}p", "client:other")
    await counted(h)
    assert refusal(await runtime.list()) == SPOILT


@pytest.mark.parametrize("act", ["list", "create", "rotate", "revoke", "count"])
async def test_what_is_spoilt_is_not_sealed_again(h: Harness, act: str) -> None:
    """A change on top of a forgery would make it genuine; an operator is told what to do instead."""
    await h.client()
    await h.redis.hset(f"{TAG}p", "client:new", b"made up")
    enrolment, before = h.services.enrolment, await taken(h)
    acts: Mapping[str, Callable[[], Awaitable[Any]]] = {
        "list": lambda: enrolment.all("default"),
        "create": lambda: h.client("later"),
        "rotate": lambda: enrolment.rotate("default", "client:runtime"),
        "revoke": lambda: enrolment.revoke("default", "client:runtime"),
        "count": lambda: enrolment.count_change("default"),
    }
    with pytest.raises(EnrolmentRefused, match="Restore the store from a backup"):
        await acts[act]()
    assert await taken(h) == before


async def test_an_operator_begins_anew_where_nothing_can_be_restored(h: Harness) -> None:
    """As the alarm says: what there was deleted, the clients made again. The past stays the past."""
    runtime = await h.client()
    kept = await taken(h)
    await h.redis.delete(f"{TAG}p", f"{TAG}y")
    await h.redis.hdel(f"{TAG}m", *META_FIELDS)
    anew = await h.client()
    record(await anew.list())
    assert refusal(await runtime.list()) == (401, "UNAUTHENTICATED")
    await put_back(h, kept, "p", "y", "m")
    assert refusal(await runtime.list()) == SPOILT


async def test_a_change_lets_people_in_again_whose_roll_went_back(pair: tuple[Harness, Harness]) -> None:
    """A server that lost its latest writes: an operator revokes again what has to be gone, and it goes on."""
    here, there = pair
    runtime, other = await here.client(), await here.client("other")
    kept = await taken(here)
    await here.services.enrolment.revoke("default", "client:other")
    record(await runtime.list())
    await put_back(here, kept, "p", "y", "m")
    assert refusal(await runtime.list()) == SPOILT
    assert set((await there.services.enrolment.all("default")).clients) == {"runtime", "other"}
    await there.services.enrolment.revoke("default", "client:other")
    record(await runtime.list())
    assert refusal(await other.list()) == (401, "UNAUTHENTICATED")


async def test_a_tenant_that_was_removed_can_be_made_again(pair: tuple[Harness, Harness]) -> None:
    """Services that knew it before know it anew; nothing is left behind, and its old credentials are dead."""
    here = pair[0]
    for _ in range(2):
        parties = [await here.client(), await here.approver()]
        for party in parties:
            for h in pair:
                record(await holder(h, party.name, party.credential).list())
        await here.services.store.registry.remove_tenant("default")
        assert await here.redis.keys(f"{TAG}*") == []
        for party in parties:
            for h in pair:
                response = await holder(h, party.name, party.credential).list()
                assert refusal(response) == (401, "UNAUTHENTICATED")


async def test_one_spoilt_tenant_is_no_other_s_trouble(h: Harness) -> None:
    """Sweeping, readiness, a start and the others' calls go on."""
    runtime, other = await h.client(), await h.client(tenant="other")
    await h.redis.hdel(f"{TAG}m", "manifest")
    await counted(h)
    assert refusal(await runtime.list()) == SPOILT
    record(await other.list())
    assert await h.services.sweeper.trim() == 0
    assert await h.services.readiness.faults() == []
    assert await announce._is_new(h.services) is False
