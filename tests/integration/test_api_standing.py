"""What votes are worth as things are: told in records, and given anew where they are worth nothing."""

from tests.factories import ManualClock
from tests.harness import Party, holder, quorum, reason, record, refusal
from tests.ruled import Opening, Ruled, bridge
from tests.rulefiles import WITHOUT_ANN

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

    async def test_a_yes_is_given_again(self, under: Opening, clock: ManualClock) -> None:
        """It is one vote, and a good one from then on."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked))
        ann = await self.renewed(ruled, "ann")
        clock.move(1)
        again = record(await ann.decide(asked))
        assert (again["status"], again["quorum"]) == ("pending", quorum(required=2, approved=1))
        record(await bob.decide(asked))
        record(await runtime.consume(asked, await runtime.token(asked["id"])))

    async def test_a_no_of_a_thief_is_none(self, under: Opening, clock: ManualClock) -> None:
        """Whose secret it was says yes, once nobody else can."""
        ruled = await under("rejections = 2")
        runtime, (ann, _) = await ruled.parties()
        asked = await runtime.asked()
        record(await ann.decide(asked, "reject"))
        assert reason(await ann.decide(asked)) == NOT_ALLOWED
        ann = await self.renewed(ruled, "ann")
        clock.move(1)
        approved = record(await ann.decide(asked))
        assert (approved["status"], approved["quorum"]) == ("approved", quorum(rejections=2, approved=1))
        record(await runtime.consume(asked, await runtime.token(asked["id"])))
