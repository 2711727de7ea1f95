"""The audit trail: complete lines, for whoever can open the store, and no input in any of them."""

import asyncio
import json

import msgspec
import pytest

from placet.application.audit import AuditLine
from placet.domain.errors import ApprovalNotFound
from placet.store.stream import Transition
from tests.factories import T0_MS
from tests.harness import Harness, record, refusal


async def lines(h: Harness, tenant: str = "default", *, since_ms: int = 0) -> list[AuditLine]:
    """Every line of the tenant's trails."""
    return [line async for line in h.services.audit.trails(tenant, since_ms=since_ms)]


async def test_a_whole_life_is_told(anywhere: Harness) -> None:
    """Who did what, with which credential, under which rule, about which hashes; refusals included."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    assert refusal(await ann.decide({**asked, "digest": "0" * 64})) == (409, "APPROVAL_INPUT_MISMATCH")
    record(await ann.decide(asked, comment="seen"))
    token = await runtime.token(asked["id"])
    record(await runtime.consume(asked, token))
    told = await anywhere.services.audit.trail("default", asked["id"])
    assert [(line.type, line.by) for line in told] == [
        ("requested", "runtime"),
        ("refused", "ann"),
        ("approved", "ann"),
        ("consumed", "runtime"),
    ]
    requested, refused, approved, _ = told
    keys = {party.name: party.credential.split("_")[2] for party in (runtime, ann)}
    assert [line.credential for line in told] == [keys["runtime"], keys["ann"], keys["ann"], keys["runtime"]]
    assert (requested.rule, requested.policy) == ("built-in", msgspec.UNSET)
    assert (requested.digest, requested.input_hash) == (asked["digest"], asked["input_hash"])
    assert (refused.code, refused.channel) == ("APPROVAL_INPUT_MISMATCH", "api")
    assert (approved.digest, approved.channel) == (asked["digest"], "api")
    assert {(line.capability, line.actor, line.asked_by) for line in told} == {
        ("orders.refund", asked["actor"]["id"], "runtime")
    }
    assert not any(line.spoilt for line in told)
    text = json.dumps([msgspec.to_builtins(line) for line in told])
    for secret in (json.dumps(asked["input"])[1:-1], "seen", token, runtime.credential, ann.credential):
        assert secret not in text


async def test_all_of_a_tenant_and_nothing_else(anywhere: Harness) -> None:
    """However many pages; the latest asked for first."""
    runtime, abroad = await anywhere.client(), await anywhere.client(tenant="other")
    ids = []
    for n in range(230):
        anywhere.clock.move(1)
        ids.append((await runtime.asked(context={"n": n}))["id"])
    foreign = await abroad.asked()
    assert [line.approval for line in await lines(anywhere)] == ids[::-1]
    assert [line.approval for line in await lines(anywhere, "other")] == [foreign["id"]]
    assert await lines(anywhere, "nobody") == []
    with pytest.raises(ApprovalNotFound):
        await anywhere.services.audit.trail("default", foreign["id"])


async def test_an_export_begins_where_it_is_told_to(h: Harness) -> None:
    """By when a line happened, not by when its approval was asked for."""
    runtime = await h.client()
    asked = await runtime.asked()
    h.clock.move(1_000)
    record(await runtime.cancel(asked["id"]))
    assert [line.type for line in await lines(h, since_ms=T0_MS + 1)] == ["cancelled"]


async def test_a_spoilt_record_is_told_as_such(h: Harness) -> None:
    """What can be read of it is shown, what can't be is a line all the same; others are not held up."""
    runtime = await h.client()
    good, forged, broken, exchanged = [await runtime.asked(input=number) for number in range(4)]
    await h.redis.set(f"{{placet:default}}:i:{exchanged['id']}", b"4")
    await h.redis.hset(f"{{placet:default}}:a:{forged['id']}", "s", "approved")
    await h.redis.lset(f"{{placet:default}}:l:{broken['id']}", 0, b"1 requested nothing")
    found = {line.approval: (line.type, line.spoilt) for line in await lines(h)}
    assert found == {
        good["id"]: ("requested", False),
        forged["id"]: ("requested", True),
        broken["id"]: ("unreadable", True),
        exchanged["id"]: ("requested", True),
    }


async def test_a_transition_is_told_by_its_line(h: Harness) -> None:
    """The very line it was; none where it is gone."""
    runtime = await h.client()
    asked = await runtime.asked()
    h.clock.move(5)
    record(await runtime.cancel(asked["id"]))
    news = Transition(
        tenant="default", entry="1-0", approval_id=asked["id"], type="cancelled", at_ms=T0_MS + 5
    )
    (line,) = await h.services.audit.told_by(news)
    assert (line.type, line.seq) == ("cancelled", 2)
    gone = msgspec.structs.replace(news, approval_id="gone")
    assert list(await h.services.audit.told_by(gone)) == []


async def test_exporting_holds_up_nobody(h: Harness) -> None:
    """It reads page by page; calls go on in between."""
    runtime = await h.client()
    for n in range(5):
        await runtime.asked(context={"n": n})
    told, asked = await asyncio.gather(lines(h), runtime.asked(input="meanwhile"))
    assert len(told) >= 5
    assert asked["status"] == "pending"
