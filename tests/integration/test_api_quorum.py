"""It takes several: what people, runtimes and waiters see of a quorum, and who does not count for one."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import jwt
import pytest

from tests.factories import ManualClock
from tests.harness import Harness, Party, holder, quorum, reason, record, refusal
from tests.ruled import Opening
from tests.tools import until

MISSING = (404, "APPROVAL_NOT_FOUND")


def approvers_of(token: str) -> list[str]:
    """Whom a token names as those who approved."""
    claims = jwt.decode(token, options={"verify_signature": False})
    return [approver["id"] for approver in claims["apr"]]


async def bridge(h: Harness, *people: str) -> Party:
    """A bridge that may speak for these people."""
    return await h.client("chat", "decide_as", people=people, max_risk="critical")


class TestTheRecord:
    """What is shown of a quorum on the way to it."""

    async def test_it_says_how_many_it_takes_and_has(self, under: Opening, clock: ManualClock) -> None:
        """To the asker, to approvers and in lists, with every vote, by whom, when, on which card."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann, bob, cy) = await ruled.h.client(), await ruled.people("ann", "bob", "cy")
        asked = await runtime.asked()
        assert asked["quorum"] == quorum(required=2, rejections=2)
        voted = record(await ann.decide(asked, comment="fine"))
        clock.move(1_000)
        record(await cy.decide(asked, "reject"))
        clock.move(1_000)
        decided = record(await bob.decide(asked))
        assert (voted["status"], voted["use_by"]) == ("pending", None)
        assert voted["quorum"] == quorum(required=2, approved=1, rejections=2)
        assert decided["status"] == "approved"
        assert decided["quorum"] == quorum(required=2, approved=2, rejections=2, rejected=1)
        assert [
            (vote["approver"], vote["decision"], vote["digest"], vote["comment"], vote["at"])
            for vote in decided["decisions"]
        ] == [
            (
                {"id": "ann", "display_name": "Ann Marsh"},
                "approve",
                asked["digest"],
                "fine",
                "2027-01-15T08:00:00.000Z",
            ),
            ({"id": "cy", "display_name": None}, "reject", asked["digest"], None, "2027-01-15T08:00:01.000Z"),
            (
                {"id": "bob", "display_name": None},
                "approve",
                asked["digest"],
                None,
                "2027-01-15T08:00:02.000Z",
            ),
        ]
        for party in (runtime, ann, bob, cy):
            seen = await party.seen(asked["id"])
            (listed,) = record(await party.list())["items"]
            assert (seen["quorum"], seen["decisions"]) == (decided["quorum"], decided["decisions"])
            assert (listed["quorum"], listed["decisions"]) == (decided["quorum"], decided["decisions"])

    async def test_its_trail_names_every_voter(self, under: Opening) -> None:
        """And tells the vote that decided from those before."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        for person in (ann, bob):
            record(await person.decide(asked))
        trail = record(await runtime.trail(asked["id"]))["items"]
        assert [(line["type"], line["by"]) for line in trail] == [
            ("requested", "runtime"),
            ("voted", "ann"),
            ("approved", "bob"),
        ]

    async def test_a_reader_of_frames_sees_who_but_not_on_what(self, under: Opening) -> None:
        """Neither comments nor digests of votes."""
        ruled = await under("quorum = 2")
        runtime, (ann,) = await ruled.h.client(), await ruled.people("ann")
        asked = await runtime.asked()
        record(await ann.decide(asked, comment="fine"))
        (vote,) = (await (await ruled.h.client("auditor", "read")).seen(asked["id"]))["decisions"]
        assert (vote["approver"]["id"], vote["comment"], vote["digest"]) == ("ann", None, None)

    async def test_one_short_is_no_grant(self, under: Opening) -> None:
        """No token, no consumption."""
        ruled = await under("quorum = 2")
        runtime, (ann,) = await ruled.h.client(), await ruled.people("ann")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        assert "token" not in await runtime.seen(asked["id"])
        assert refusal(await runtime.consume(asked)) == (409, "APPROVAL_PENDING")

    async def test_the_token_names_all_who_approved(self, under: Opening) -> None:
        """In the order of their votes, and nobody else."""
        ruled = await under("quorum = 2", "rejections = 2")
        runtime, (ann, bob, cy) = await ruled.h.client(), await ruled.people("ann", "bob", "cy")
        asked = await runtime.asked()
        record(await cy.decide(asked, "reject"))
        for person in (bob, ann):
            record(await person.decide(asked))
        token = await runtime.token(asked["id"])
        assert approvers_of(token) == ["bob", "ann"]
        record(await runtime.consume(asked, token))


class TestWhoCounts:
    """Distinct people of the directory, each once."""

    @pytest.mark.parametrize("name", ["zoe", "ANN", "ann@example.com", "dana"])
    async def test_nobody_else_does(self, under: Opening, name: str) -> None:
        """Not who is named by the rule, or by a credential put in its group; no other spelling, no alias."""
        ruled = await under('approvers = { groups = ["treasury"], people = ["zoe"] }', "quorum = 2")
        runtime, other = await ruled.h.client(), await ruled.h.approver(name, groups=("treasury",))
        asked = await runtime.asked()
        for decision in ("approve", "reject"):
            assert refusal(await other.decide(asked, decision)) == MISSING
        assert (await runtime.seen(asked["id"]))["decisions"] == []

    async def test_nobody_else_does_over_a_bridge(self, under: Opening) -> None:
        """Whom it may speak for is one thing, who may decide another."""
        ruled = await under("quorum = 2")
        asked = await (await ruled.h.client()).asked()
        chat = await bridge(ruled.h, "zoe", "ann@example.com")
        for name in ("zoe", "ann@example.com"):
            response = await chat.decide(asked, approver={"id": name})
            assert reason(response) == (403, "FORBIDDEN", "not-an-approver")

    @pytest.mark.parametrize("bridge_first", [True, False])
    async def test_a_person_counts_once_by_whatever_way(self, under: Opening, *, bridge_first: bool) -> None:
        """Their own credential, the second one while it is rotated, and a bridge."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked, chat = await runtime.asked(), await bridge(ruled.h, "ann")
        rotated = await ruled.h.services.enrolment.rotate("default", "approver:ann")
        second = holder(ruled.h, "ann", rotated.credential)
        ways: list[Callable[[], Awaitable[httpx.Response]]] = [
            lambda: ann.decide(asked),
            lambda: chat.decide(asked, approver={"id": "ann"}),
            lambda: second.decide(asked),
        ]
        for way in reversed(ways) if bridge_first else ways:
            voted = record(await way())
            assert (voted["status"], voted["quorum"]) == ("pending", quorum(required=2, approved=1))
        assert len(voted["decisions"]) == 1
        assert record(await bob.decide(asked))["status"] == "approved"

    async def test_both_at_once_count_once(self, under: Opening) -> None:
        """Ten clicks here and ten there."""
        ruled = await under("quorum = 2")
        runtime, (ann,) = await ruled.h.client(), await ruled.people("ann")
        asked, chat = await runtime.asked(), await bridge(ruled.h, "ann")
        answers = await asyncio.gather(
            *(ann.decide(asked) for _ in range(10)),
            *(chat.decide(asked, approver={"id": "ann"}) for _ in range(10)),
        )
        assert {record(answer)["status"] for answer in answers} == {"pending"}
        assert (await runtime.seen(asked["id"]))["quorum"] == quorum(required=2, approved=1)

    async def test_who_asks_is_not_one_of_them(self, under: Opening) -> None:
        """However many others there are."""
        ruled = await under("quorum = 2")
        runtime, (ann, bob) = await ruled.h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked(actor={"id": "Ann@example.com", "kind": "user"})
        record(await bob.decide(asked))
        assert refusal(await ann.decide(asked)) == (403, "APPROVAL_SELF_APPROVAL")
        assert (await runtime.seen(asked["id"]))["quorum"] == quorum(required=2, approved=1)


class TestWaiting:
    """A waiter is answered when it is over, not by every vote."""

    @pytest.mark.parametrize("decision", ["approve", "reject"])
    async def test_a_vote_that_does_not_decide_ends_no_wait(self, under: Opening, decision: str) -> None:
        """The one that does ends it."""
        ruled = await under("quorum = 2", "rejections = 2")
        h = ruled.h
        h.services.store.stream.start()
        runtime, (ann, bob) = await h.client(), await ruled.people("ann", "bob")
        asked = await runtime.asked()
        task = asyncio.create_task(runtime.read(asked["id"], wait=30))
        await until(lambda: h.clock.timers == 1 or task.done(), "the waiter parks")
        record(await ann.decide(asked, decision))
        heard: list[Any] = await h.redis.xrange("{placet:default}:s")
        assert [fields[b"t"] for _, fields in heard] == [b"requested", b"voted"]
        await asyncio.sleep(0.05)
        assert not task.done()
        record(await bob.decide(asked, decision))
        assert record(await task)["status"] == {"approve": "approved", "reject": "rejected"}[decision]
        await h.services.store.stream.stop()
