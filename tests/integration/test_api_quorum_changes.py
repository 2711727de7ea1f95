"""What changes on the way to a quorum: minds, rules, and whatever somebody does to the store."""

import jwt
import pytest

from tests.factories import T0_MS
from tests.harness import quorum, reason, record, refusal
from tests.ruled import Opening, bridge
from tests.rulefiles import DIRECTORY, WITHOUT_ANN
from tests.tampering import BROKEN, a

NOT_ALLOWED = (403, "FORBIDDEN", "decision-not-allowed")
NOT_ENTITLED_ANY_MORE = (403, "FORBIDDEN", "approver-no-longer-entitled")
NOT_MET_ANY_MORE = (403, "FORBIDDEN", "quorum-no-longer-met")


def approvers_of(token: str) -> list[str]:
    """Whom a token names as those who approved."""
    claims = jwt.decode(token, options={"verify_signature": False})
    return [approver["id"] for approver in claims["apr"]]


class TestTurning:
    """Yes may become no while it waits; no stays no."""

    async def test_a_yes_is_taken_back_by_another_way(self, under: Opening) -> None:
        """It counts no more."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann,) = await ruled.h.client(), await ruled.people("ann")
        asked, chat = await runtime.asked(), await bridge(ruled.h, "ann")
        record(await ann.decide(asked))
        turned = record(await chat.decide(asked, "reject", approver={"id": "ann"}))
        assert turned["status"] == "pending"
        assert turned["quorum"] == quorum(required=2, rejections=2, rejected=1)
        assert [(vote["decision"], vote["submitted_by"]) for vote in turned["decisions"]] == [
            ("approve", None),
            ("reject", "chat"),
        ]

    async def test_a_no_is_not(self, under: Opening) -> None:
        """By no way; the refusal is on record."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann,) = await ruled.h.client(), await ruled.people("ann")
        asked, chat = await runtime.asked(), await bridge(ruled.h, "ann")
        record(await ann.decide(asked, "reject"))
        assert reason(await ann.decide(asked)) == NOT_ALLOWED
        assert reason(await chat.decide(asked, approver={"id": "ann"})) == NOT_ALLOWED
        seen = await runtime.seen(asked["id"])
        assert seen["quorum"] == quorum(required=2, rejections=2, rejected=1)
        assert len(seen["decisions"]) == 1
        trail = record(await runtime.trail(asked["id"]))["items"]
        assert [(line["type"], line["by"], line.get("code")) for line in trail[2:]] == [
            ("refused", "ann", "FORBIDDEN")
        ] * 2

    async def test_who_turned_is_not_among_those_who_approved(self, under: Opening) -> None:
        """The token does not name them, and what becomes of them later is nothing to the grant."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann, bob, cy) = await ruled.h.client(), await ruled.people("ann", "bob", "cy")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        record(await ann.decide(asked, "reject"))
        for person in (bob, cy):
            record(await person.decide(asked))
        token = await runtime.token(asked["id"])
        assert approvers_of(token) == ["bob", "cy"]
        await ruled.h.services.enrolment.revoke("default", "approver:ann")
        record(await runtime.consume(asked, token))

    async def test_a_yes_that_was_taken_back_is_no_part_of_a_forged_grant(self, under: Opening) -> None:
        """One yes and one taken back, called a grant of two in the store."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        record(await ann.decide(asked, "reject"))
        record(await bob.decide(asked))
        await ruled.h.redis.hset(a(asked), mapping={"s": "approved", "b": str(T0_MS + 900_000)})
        assert refusal(await runtime.read(asked["id"])) == BROKEN


class TestChangingRules:
    """What the rules of now demand beyond those of then."""

    async def test_more_people_from_now_on(self, under: Opening) -> None:
        """The vote that was enough before is not, and the record says what is."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob, cy) = await ruled.h.client(), await ruled.people("ann", "bob", "cy")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        await ruled.now("quorum = 3")
        voted = record(await bob.decide(asked))
        assert (voted["status"], voted["quorum"]) == ("pending", quorum(required=3, approved=2))
        assert record(await cy.decide(asked))["status"] == "approved"
        record(await runtime.consume(asked, await runtime.token(asked["id"])))

    async def test_fewer_are_not_enough(self, under: Opening) -> None:
        """It was asked under the stricter rule."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        await ruled.now("quorum = 1")
        voted = record(await ann.decide(asked))
        assert (voted["status"], voted["quorum"]) == ("pending", quorum(required=2, approved=1))
        assert record(await bob.decide(asked))["status"] == "approved"

    async def test_more_people_than_a_grant_has(self, under: Opening) -> None:
        """It is kept, not used; it can be withdrawn, and is good again where the rule is."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        for person in (ann, bob):
            record(await person.decide(asked))
        token = await runtime.token(asked["id"])
        await ruled.now("quorum = 3")
        assert reason(await runtime.consume(asked, token)) == NOT_MET_ANY_MORE
        assert (await runtime.seen(asked["id"]))["status"] == "approved"
        await ruled.now("quorum = 2")
        record(await runtime.consume(asked, token))

    async def test_one_of_them_may_decide_no_more(self, under: Opening) -> None:
        """The grant is kept, and not used: their yes is none, whoever else said yes."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        for person in (ann, bob):
            record(await person.decide(asked))
        token = await runtime.token(asked["id"])
        await ruled.now("quorum = 2", directory=WITHOUT_ANN)
        assert reason(await runtime.consume(asked, token)) == NOT_ENTITLED_ANY_MORE
        assert record(await runtime.cancel(asked["id"]))["status"] == "cancelled"

    async def test_one_of_them_may_decide_no_more_while_it_waits(self, under: Opening) -> None:
        """It takes another: their yes is not counted, and not told of."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob, cy) = await ruled.h.client(), await ruled.people("ann", "bob", "cy")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        await ruled.now("quorum = 2", directory=WITHOUT_ANN)
        voted = record(await bob.decide(asked))
        assert (voted["status"], voted["quorum"]) == ("pending", quorum(required=2, approved=1))
        assert record(await cy.decide(asked))["status"] == "approved"
        token = await runtime.token(asked["id"])
        assert approvers_of(token) == ["bob", "cy"]
        record(await runtime.consume(asked, token))

    async def test_fewer_who_say_no_from_now_on(self, under: Opening) -> None:
        """The next no decides, as the rule of now would have it."""
        ruled = await under("rejections = 3")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        record(await ann.decide(asked, "reject"))
        await ruled.now("rejections = 2")
        assert record(await bob.decide(asked, "reject"))["status"] == "rejected"

    async def test_the_no_that_is_enough_by_now(self, under: Opening) -> None:
        """Whoever votes next finds it rejected; that is nobody's act but the rules'."""
        ruled = await under("rejections = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        record(await ann.decide(asked, "reject"))
        await ruled.now("rejections = 1")
        assert (await bob.seen(asked["id"]))["quorum"] == quorum(rejected=1)
        assert refusal(await bob.decide(asked)) == (409, "APPROVAL_ALREADY_DECIDED")
        assert record(await ann.decide(asked, "reject"))["status"] == "rejected"
        trail = record(await runtime.trail(asked["id"]))["items"]
        assert [(line["type"], line["by"]) for line in trail[1:3]] == [
            ("voted", "ann"),
            ("rejected", "system"),
        ]
        assert refusal(await runtime.consume(asked))[1] == "APPROVAL_REJECTED"

    async def test_an_approval_that_counts_again_is_not_lost(self, under: Opening) -> None:
        """Who says so once more makes the grant, where there are enough by now."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked))
        await ruled.now("quorum = 2", directory=WITHOUT_ANN)
        assert record(await bob.decide(asked))["quorum"] == quorum(required=2, approved=1)
        await ruled.now("quorum = 2")
        assert (await bob.seen(asked["id"]))["quorum"] == quorum(required=2, approved=2)
        assert record(await bob.decide(asked))["status"] == "approved"
        record(await runtime.consume(asked, await runtime.token(asked["id"])))

    async def test_a_person_who_was_renamed_is_not_two(self, under: Opening) -> None:
        """Under the new id hers is no second vote; that by her old credential counts no more."""
        ruled = await under("quorum = 2")
        runtime, (ann,) = await ruled.parties("ann")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        renamed = DIRECTORY.replace('id = "ann"', 'id = "ann.marsh"').replace('["ann@', '["ann", "ann@')
        await ruled.now("quorum = 2", directory=renamed)
        again, bob = await ruled.people("ann.marsh", "bob")
        decided = record(await again.decide(asked))
        assert (decided["status"], decided["quorum"]) == ("pending", quorum(required=2, approved=1))
        record(await bob.decide(asked))
        token = await runtime.token(asked["id"])
        assert approvers_of(token) == ["ann.marsh", "bob"]
        record(await runtime.consume(asked, token))

    async def test_a_person_of_no_directory_counts_no_more(self, under: Opening) -> None:
        """Who was enough alone, where it now takes two of the directory."""
        ruled = await under('approvers = { groups = ["treasury"], people = ["zoe"] }')
        runtime, (zoe,) = await ruled.h.client(), await ruled.people("zoe")
        asked = await runtime.asked()
        record(await zoe.decide(asked))
        token = await runtime.token(asked["id"])
        await ruled.now('approvers = { groups = ["treasury"], people = ["zoe"] }', "quorum = 2")
        assert reason(await runtime.consume(asked, token)) == NOT_ENTITLED_ANY_MORE


@pytest.mark.parametrize("required", ["1", "0", "-1"])
async def test_who_writes_the_store_needs_as_many_people(under: Opening, required: str) -> None:
    """How many it takes is sealed with the question."""
    ruled = await under("quorum = 2")
    runtime, (ann,) = await ruled.h.client(), await ruled.people("ann")
    asked = await runtime.asked()
    record(await ann.decide(asked))
    changed = {"s": "approved", "q": required, "b": str(T0_MS + 900_000)}
    await ruled.h.redis.hset(a(asked), mapping=changed)
    assert refusal(await runtime.read(asked["id"])) == BROKEN
    assert refusal(await runtime.consume(asked)) == BROKEN
