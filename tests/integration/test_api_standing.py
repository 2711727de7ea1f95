"""What votes are worth as things are: told in records, and given anew where they are worth nothing."""

import asyncio
from typing import Any

import pytest

from placet.application import decide
from placet.domain import authority
from placet.store.approvals import Answer, Approvals
from placet.store.attempts import Ballot
from tests.factories import T0_MS
from tests.harness import Party, holder, quorum, reason, record, refusal
from tests.ruled import EDITABLE, LESS, Opening, Ruled, bridge
from tests.rulefiles import DIRECTORY, WITHOUT_ANN
from tests.tampering import BROKEN, a, log

NOT_ALLOWED = (403, "FORBIDDEN", "decision-not-allowed")


class TestTold:
    """A record says what its votes are worth as things are, to everybody who sees it."""

    async def test_a_vote_that_is_void(self, under: Opening) -> None:
        """At once, and not only when somebody votes again."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked))
        await ruled.now("quorum = 2", directory=WITHOUT_ANN)
        for party in (runtime, bob):
            for seen in (await party.seen(asked["id"]), record(await party.list())["items"][0]):
                assert (seen["quorum"], seen["suspended"]) == (quorum(required=2), None)
                assert [vote["counts"] for vote in seen["decisions"]] == [False]

    async def test_that_it_takes_more_by_now(self, under: Opening) -> None:
        """Before anybody has voted under the rule of now."""
        ruled = await under("rejections = 2")
        runtime, (ann,) = await ruled.parties("ann")
        asked = await runtime.asked()
        await ruled.now("quorum = 2")
        assert (await ann.seen(asked["id"]))["quorum"] == quorum(required=2)

    async def test_a_grant_that_can_not_be_used(self, under: Opening) -> None:
        """Why, and no token until it can be again."""
        ruled = await under()
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        assert record(await ann.decide(asked))["suspended"] is None
        await ruled.now("quorum = 2")
        for party in (runtime, bob):
            for seen in (await party.seen(asked["id"]), record(await party.list())["items"][0]):
                assert (seen["status"], seen["suspended"]) == ("approved", "quorum-no-longer-met")
                assert (seen["quorum"], "token" in seen) == (quorum(required=2, approved=1), False)
        again = record(await ann.decide(asked))
        assert again["suspended"] == "quorum-no-longer-met"
        await ruled.now()
        seen = await runtime.seen(asked["id"])
        assert (seen["suspended"], seen["quorum"]) == (None, quorum(approved=1))
        record(await runtime.consume(asked, seen["token"]))
        assert (await bob.seen(asked["id"]))["suspended"] is None

    async def test_a_vote_that_was_taken_back(self, under: Opening) -> None:
        """Both are there, the later one counts; also once it has ended."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked))
        turned = record(await ann.decide(asked, "reject"))
        assert [vote["counts"] for vote in turned["decisions"]] == [False, True]
        ended = record(await bob.decide(asked, "reject"))
        assert [vote["counts"] for vote in ended["decisions"]] == [False, True, True]

    async def test_a_refusal_says_in_the_trail_what_it_was_for(self, under: Opening) -> None:
        """The reason too."""
        ruled = await under('comment = "always"', 'channels = ["api"]')
        runtime, (ann,) = await ruled.parties("ann")
        asked, chat = await runtime.asked(), await bridge(ruled.h, "ann")
        await ann.decide(asked)
        await chat.decide(asked, approver={"id": "ann"})
        trail = record(await runtime.trail(asked["id"]))["items"]
        assert [(line["code"], line["reason"]) for line in trail[1:]] == [
            ("FORBIDDEN", "comment-required"),
            ("FORBIDDEN", "channel-not-allowed"),
        ]

    async def test_an_alias_shows_nobody_what_another_decided(self, under: Opening) -> None:
        """A credential by somebody's alias is not theirs."""
        ruled = await under()
        runtime, (ann, alias) = await ruled.parties("ann", "ann@example.com")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        assert refusal(await alias.read(asked["id"])) == (404, "APPROVAL_NOT_FOUND")
        assert (await ann.seen(asked["id"]))["status"] == "approved"


class TestRevoked:
    """A vote is worth as much as what was shown for it; its voter gives it, or the opposite, anew."""

    async def renewed(self, ruled: Ruled, name: str) -> Party:
        """A person whose credential was revoked, with another one."""
        await ruled.h.services.enrolment.revoke("default", f"approver:{name}")
        issued = await ruled.h.services.enrolment.rotate("default", f"approver:{name}")
        return holder(ruled.h, name, issued.credential)

    async def test_a_yes_is_given_again(self, under: Opening) -> None:
        """It is one vote, and a good one from then on."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked))
        ann = await self.renewed(ruled, "ann")
        again = record(await ann.decide(asked))
        assert (again["status"], again["quorum"]) == ("pending", quorum(required=2, approved=1))
        record(await bob.decide(asked))
        record(await runtime.consume(asked, await runtime.token(asked["id"])))

    async def test_a_no_of_a_thief_is_none(self, under: Opening) -> None:
        """Whose secret it was says yes, once nobody else can."""
        ruled = await under("rejections = 2")
        runtime, (ann, _) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked, "reject"))
        assert reason(await ann.decide(asked)) == NOT_ALLOWED
        ann = await self.renewed(ruled, "ann")
        approved = record(await ann.decide(asked))
        assert (approved["status"], approved["quorum"]) == ("approved", quorum(rejections=2, approved=1))
        record(await runtime.consume(asked, await runtime.token(asked["id"])))

    async def test_a_grant_none_of_whose_people_may_decide_any_more(self, under: Opening) -> None:
        """Is read as before, with more approvals on record than it took and none that counts."""
        ruled = await under("quorum = 2")
        runtime, people = await ruled.parties("ann", "bob", "cy")
        asked = await runtime.asked()
        record(await people[0].decide(asked))
        await ruled.h.services.enrolment.revoke("default", "approver:ann")
        for person in people[1:]:
            record(await person.decide(asked))
        for name in ("bob", "cy"):
            await ruled.h.services.enrolment.revoke("default", f"approver:{name}")
        seen = await runtime.seen(asked["id"])
        assert (seen["status"], seen["suspended"]) == ("approved", "approver-no-longer-entitled")
        assert (seen["quorum"], "token" in seen) == (quorum(required=2), False)

    async def test_an_author_s_own_approval_is_none_where_the_change_does_not_count(
        self, under: Opening
    ) -> None:
        """Given while it did: others are needed by now, and a grant is not made of it."""
        ruled = await under("quorum = 2", 'edit = "counts"')
        runtime, (ann, bob, cy) = await ruled.parties("ann", "bob", "cy")
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        ann = await self.renewed(ruled, "ann")
        assert record(await ann.decide(changed))["quorum"] == quorum(required=2, approved=1)
        await ruled.now("quorum = 2", 'edit = "yes"')
        assert record(await bob.decide(changed))["status"] == "pending"
        assert record(await cy.decide(changed))["status"] == "approved"
        token = await runtime.token(asked["id"])
        record(await runtime.consume({**asked, "input": LESS}, token))


class TestOnePerson:
    """Who was two by the directory of then, and is one by now, has one say: the latest."""

    TWO = DIRECTORY.replace('id = "bob"', 'id = "ann2"')
    ONE = (
        TWO.replace('[[people]]\nid = "ann2"\ngroups = ["treasury"]\n', "").replace(
            '["ann@example.com"]', '["ann@example.com", "ann2"]'
        )
        + '[[people]]\nid = "bob"\ngroups = ["treasury"]\n'
    )

    async def test_they_count_once(self, under: Opening) -> None:
        """Whatever they said while they were two."""
        ruled = await under("quorum = 2", directory=self.TWO)
        runtime, (ann, also_ann) = await ruled.parties("ann", "ann2")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        await ruled.now("quorum = 3", directory=self.TWO)
        assert record(await also_ann.decide(asked))["quorum"] == quorum(required=3, approved=2)
        await ruled.now("quorum = 2", directory=self.ONE)
        assert (await ann.seen(asked["id"]))["quorum"] == quorum(required=3, approved=0)
        assert record(await ann.decide(asked))["quorum"] == quorum(required=3, approved=1)

    async def test_a_no_is_said_for_both(self, under: Opening) -> None:
        """Not one of their approvals is left."""
        ruled = await under("quorum = 3", "rejections = 3", directory=self.TWO)
        runtime, (ann, also_ann) = await ruled.parties("ann", "ann2")
        asked = await runtime.asked()
        for each in (ann, also_ann):
            record(await each.decide(asked))
        await ruled.now("quorum = 3", "rejections = 3", directory=self.ONE)
        said_no = record(await ann.decide(asked, "reject"))
        assert said_no["quorum"] == quorum(required=3, rejections=3, rejected=1)

    async def test_whoever_was_behind_a_question_stays_so(self, under: Opening) -> None:
        """Though the directory says so no more: of a service that acted, and of whoever was renamed."""
        ruled = await under()
        runtime, (ann, bob) = await ruled.parties()
        owned = DIRECTORY.replace('aliases = ["ann@example.com"]', 'owns = ["batch"]')
        await ruled.now(directory=owned)
        by_batch = await runtime.asked(actor={"id": "batch", "kind": "service"})
        by_ann = await runtime.asked(actor={"id": "ANN", "kind": "user"}, input=2)
        await ruled.now(directory=DIRECTORY)
        for asked in (by_batch, by_ann):
            assert refusal(await ann.decide(asked)) == (403, "APPROVAL_SELF_APPROVAL")
            assert record(await bob.decide(asked))["status"] == "approved"

    async def test_who_shares_a_past_with_another_is_refused_not_ignored(self, under: Opening) -> None:
        """A name that led to one person and then to another: the first has had their say by it."""
        bob = '[[people]]\nid = "bob"\ngroups = ["treasury"]\n'
        ruled = await under("quorum = 2", directory=DIRECTORY.replace(bob, bob.replace("bob", "x")) + bob)
        runtime, (ann, bobby, x) = await ruled.parties("ann", "bob", "x")
        asked = await runtime.asked()
        record(await x.decide(asked))
        hers = DIRECTORY.replace('["ann@example.com"]', '["ann@example.com", "x"]')
        await ruled.now("quorum = 2", directory=hers)
        assert record(await ann.decide(asked))["quorum"] == quorum(required=2, approved=1)
        his = DIRECTORY.replace(bob, bob + 'aliases = ["x"]\n')
        await ruled.now("quorum = 2", directory=his)
        assert reason(await bobby.decide(asked)) == (403, "FORBIDDEN", "not-an-approver")
        assert (await runtime.seen(asked["id"]))["quorum"] == quorum(required=2, approved=1)
        (cy,) = await ruled.people("cy")
        assert record(await cy.decide(asked))["status"] == "approved"


async def test_what_no_rule_is_for_is_not_decided(under: Opening) -> None:
    """Not by the rules either: one of two who must reject does not come to be enough."""
    ruled = await under("rejections = 2")
    runtime, (ann, _) = await ruled.parties()
    asked = await runtime.asked()
    record(await ann.decide(asked, "reject"))
    ruled.files.write(
        '[[rules]]\nname = "x"\ncapabilities = ["x"]\napprovers = { people = ["ann"] }', DIRECTORY
    )
    await ruled.h.services.activation.reload()
    assert (await runtime.seen(asked["id"]))["quorum"] == quorum(rejections=2, rejected=1)
    record(await ann.decide(asked, "reject"))
    await ann.decide({**asked, "digest": "0" * 64})
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


async def test_what_has_ended_tells_what_counted(under: Opening) -> None:
    """Then, whoever may decide since; and how many rejections were enough."""
    ruled = await under("quorum = 2", "rejections = 2")
    runtime, people = await ruled.parties("ann", "bob", "cy")
    asked, other = await runtime.asked(), await runtime.asked(input=2)
    record(await people[0].decide(asked))
    record(await people[0].decide(other, "reject"))
    await ruled.now("quorum = 2", directory=WITHOUT_ANN)
    for person in people[1:]:
        record(await person.decide(asked))
    record(await runtime.consume(asked, await runtime.token(asked["id"])))
    seen = await runtime.seen(asked["id"])
    assert [vote["counts"] for vote in seen["decisions"]] == [False, True, True]
    assert seen["quorum"] == quorum(required=2, approved=2, rejections=2)
    await ruled.now("quorum = 2")
    assert refusal(await people[1].decide(other)) == (409, "APPROVAL_ALREADY_DECIDED")
    assert (await runtime.seen(other["id"]))["quorum"] == quorum(required=2, rejected=1)


class TestTurns:
    """Whoever was overtaken waits for a turn; whoever was not waits for nobody."""

    async def test_a_turn_that_does_not_come(self, under: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
        """The store is at fault then; nothing is lost, and the turn is given back."""
        monkeypatch.setattr(decide, "TURN_S", 0.01)
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        turns = ruled.h.services.decide._turns
        lock = turns.setdefault(("default", asked["id"]), asyncio.Lock())
        overtaken = decide.DecideApproval._once

        async def once(self: Any, caller: Any, approval_id: str, body: Any) -> Any:
            monkeypatch.setattr(decide.DecideApproval, "_once", overtaken)

        async with lock:
            monkeypatch.setattr(decide.DecideApproval, "_once", once)
            assert refusal(await ann.decide(asked)) == (503, "STORE_UNAVAILABLE")
            assert record(await bob.decide(asked))["quorum"] == quorum(required=2, approved=1)
        assert record(await ann.decide(asked))["status"] == "approved"
        del lock
        assert dict(turns) == {}


class TestStore:
    """Who writes the store, and has no key."""

    async def test_a_no_can_not_be_taken_out(self, under: Opening) -> None:
        """Of somebody who had said yes before."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked))
        record(await ann.decide(asked, "reject"))
        record(await bob.decide(asked))
        line = (await ruled.h.redis.lrange(log(asked), 2, 2))[0]
        await ruled.h.redis.lrem(log(asked), 1, line)
        assert refusal(await runtime.read(asked["id"])) == BROKEN
        await ruled.h.redis.hset(a(asked), mapping={"s": "approved", "b": str(T0_MS + 900_000)})
        assert refusal(await runtime.consume(asked)) == BROKEN

    async def test_what_was_refused_is_sealed_nowhere(
        self, under: Opening, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """So nobody puts it where it was not taken; what the store may take is."""
        ruled = await under("rejections = 2")
        runtime, (ann, bob) = await ruled.parties()
        sealed: list[bool] = []
        cast = Approvals.decide

        async def seen(store: Approvals, tenant: str, id_: str, ballot: Ballot, *, epoch: int) -> Answer:
            sealed.append(ballot.sealed.seal != "")
            return await cast(store, tenant, id_, ballot, epoch=epoch)

        monkeypatch.setattr(Approvals, "decide", seen)
        asked, own = await runtime.asked(), await runtime.asked(actor={"id": "ann", "kind": "user"})
        await ann.decide(own)
        await ann.decide({**asked, "digest": "0" * 64})
        await ann.decide(asked, "reject")
        await ann.decide(asked)
        await bob.decide(asked)
        await bob.decide(asked)
        assert sealed == [False, False, True, False, True, False]

    @pytest.mark.parametrize("taken", ["zz", "1.5", "", " 1", "-1", "9" * 30])
    async def test_votes_that_can_not_be_counted(self, under: Opening, taken: str) -> None:
        """Nobody votes then, and nothing is half written; the record is read as before."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked))
        await ruled.h.redis.hset(a(asked), "y", taken)
        before = await ruled.h.redis.hgetall(a(asked))
        response = await bob.decide(asked)
        if taken == "9" * 30:  # a number all the same: it is gone on from
            assert record(response)["status"] == "approved"
            return
        assert refusal(response) == BROKEN
        assert await ruled.h.redis.hgetall(a(asked)) == before
        assert (await runtime.seen(asked["id"]))["quorum"] == quorum(required=2, approved=1)


async def test_an_input_is_changed_so_many_times(under: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more: whoever reads it reads them all. It can be approved and rejected as before."""
    monkeypatch.setattr(authority, "CHANGES_MAX", 2)
    ruled = await under('edit = "yes"')
    runtime, (ann, bob) = await ruled.parties()
    asked = await runtime.asked(**EDITABLE)
    for amount in (1, 2):
        asked = record(await ann.decide(asked, "edit", input={"order": "A-1", "amount": amount}))
    assert reason(await ann.decide(asked, "edit", input=LESS)) == NOT_ALLOWED
    assert record(await bob.decide(asked))["status"] == "approved"


async def test_a_stale_card_is_told_before_what_is_wrong_with_a_change(under: Opening) -> None:
    """Also where the change would set the input to what that card had."""
    ruled = await under('edit = "yes"')
    runtime, (ann, bob) = await ruled.parties()
    asked = await runtime.asked(**EDITABLE)
    record(await ann.decide(asked, "edit", input=LESS))
    assert refusal(await bob.decide(asked, "edit", input=asked["input"])) == (409, "APPROVAL_INPUT_MISMATCH")
