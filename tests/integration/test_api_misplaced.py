"""A genuine record in another's place is none: each says whose it is, and what it is called."""

from typing import Any

import pytest

from tests.harness import Harness, Party, record, refusal
from tests.tampering import BROKEN, TAG, copied, log, part

ALARM = "a record in the store can't be read"
PLACES = {"in another tenant": ("other", "taken", "taken"), "under another id": ("default", "taken", "moved")}


class Place:
    """A tenant with people in it, and a record among theirs that is another's."""

    def __init__(self, h: Harness, tenant: str, name: str) -> None:
        self.h = h
        self.tenant = tenant
        self.name = name
        self.tag = f"{{placet:{tenant}}}:"

    async def fill(self, asked_as: str) -> None:
        """Enter those who live there, with a question of their own; put the misplaced one there."""
        self.runtime: Party = await self.h.client(tenant=self.tenant)
        self.ann: Party = await self.h.approver(tenant=self.tenant)
        await self.runtime.asked(id="genuine")
        elsewhere = self.runtime if self.tenant == "default" else await self.h.client()
        asked = await elsewhere.asked(id=asked_as, input={"order": "B-2"})
        await copied(self.h.redis, asked, self.name, self.tag)
        self.misplaced = {**asked, "id": self.name}

    async def log(self) -> list[bytes]:
        """The log of the record that is not theirs."""
        lines: list[bytes] = await self.h.redis.lrange(part("l", self.name, self.tag), 0, -1)
        return lines


@pytest.fixture(params=PLACES.values(), ids=list(PLACES))
async def place(request: pytest.FixtureRequest, anywhere: Harness) -> Place:
    """Where a record was put that was asked elsewhere."""
    tenant, asked_as, name = request.param
    place = Place(anywhere, tenant, name)
    await place.fill(asked_as)
    return place


class TestARecordElsewhere:
    """Its parts copied, whole, by somebody who can only write the store."""

    async def test_it_is_not_shown(self, place: Place, caplog: pytest.LogCaptureFixture) -> None:
        """Not to its new client, nor to approvers; the alarm names tenant and id, and no value of it."""
        for party in (place.runtime, place.ann):
            assert refusal(await party.read(place.name)) == BROKEN
            assert refusal(await party.read(place.name, wait=30)) == BROKEN
            assert refusal(await party.trail(place.name)) == BROKEN
        alarms = [line.__dict__ for line in caplog.records if line.message == ALARM]
        assert {(line["tenant"], line["approval_id"]) for line in alarms} == {(place.tenant, place.name)}
        assert all("B-2" not in str(line) and "orders" not in str(line) for line in alarms)

    async def test_a_list_leaves_it_out(self, place: Place) -> None:
        """And shows the others."""
        for party in (place.runtime, place.ann):
            shown = [item["id"] for item in record(await party.list())["items"]]
            assert "genuine" in shown
            assert place.name not in shown

    @pytest.mark.parametrize("decision", ["approve", "reject"])
    async def test_nobody_votes_on_it(self, place: Place, decision: str) -> None:
        """No vote is sealed, nor written."""
        before = await place.log()
        assert refusal(await place.ann.decide(place.misplaced, decision)) == BROKEN
        assert await place.log() == before

    async def test_its_client_can_do_nothing_with_it(self, place: Place) -> None:
        """It is not spent, nothing is reported of it, and a withdrawal is not confirmed."""
        assert refusal(await place.runtime.consume(place.misplaced)) == BROKEN
        assert refusal(await place.runtime.report(place.name)) == BROKEN
        assert refusal(await place.runtime.cancel(place.name)) == BROKEN
        assert await place.h.redis.hget(part("a", place.name, place.tag), "e") is None


async def test_a_grant_elsewhere_is_not_spent(anywhere: Harness) -> None:
    """A genuine grant under another id: its votes are genuine, and it is none; the real one is."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(id="granted")
    record(await ann.decide(asked))
    token = await runtime.token("granted")
    await copied(anywhere.redis, asked, "again")
    assert refusal(await runtime.read("again")) == BROKEN
    assert refusal(await runtime.consume({**asked, "id": "again"}, token)) == BROKEN
    assert await anywhere.redis.hget(part("a", "again"), "s") == b"approved", "nothing was spent"
    record(await runtime.consume(asked, token))


class TestAnIdempotencyKey:
    """It leads to what its own client has asked, wherever somebody made it point."""

    async def pointed(self, h: Harness, to: dict[str, Any]) -> None:
        """Every key of the store made to lead to this record."""
        for key in await h.redis.keys(f"{TAG}k:*"):
            body_hash = (await h.redis.get(key))[:32]
            await h.redis.set(key, body_hash + b" " + to["id"].encode())

    async def test_another_client_s_record_is_not_shown(
        self, anywhere: Harness, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Nor is the question asked anew: the caller hears that something is wrong, the operator what."""
        runtime, other = await anywhere.client(), await anywhere.client("other")
        record(await runtime.ask(key="k"), 201)
        theirs = await other.asked(input={"secret": "value"})
        await self.pointed(anywhere, theirs)
        answer = await runtime.ask(key="k")
        assert refusal(answer) == BROKEN
        assert theirs["id"] not in answer.text
        assert "a key of a client leads to another's record" in caplog.messages

    async def test_a_misplaced_record_is_not_shown(self, h: Harness) -> None:
        """One that is called otherwise than the key says."""
        runtime = await h.client()
        asked = record(await runtime.ask(key="k"), 201)
        await copied(h.redis, asked, "copy")
        await self.pointed(h, {"id": "copy"})
        assert refusal(await runtime.ask(key="k")) == BROKEN

    async def test_it_still_leads_to_its_own(self, h: Harness) -> None:
        """Where nobody touched it."""
        runtime = await h.client()
        asked = record(await runtime.ask(key="k"), 201)
        assert record(await runtime.ask(key="k")) == asked
        assert len(await h.redis.lrange(log(asked), 0, -1)) == 1
