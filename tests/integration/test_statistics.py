"""Statistics of what somebody may see: counted, bounded, kept for a minute, and proven."""

import asyncio
from typing import Any

import pytest
from msgspec import structs

from placet.application import statistics
from placet.application.callers import Caller
from placet.application.statistics import KEPT_S, Counted
from placet.domain.counts import Decisions, Endings
from placet.domain.model import Person
from placet.domain.statistics import DAY_MS, Left
from placet.store.approvals import Approvals, Rejudge
from tests import tampering
from tests.harness import Harness, Party, record
from tests.ruled import Opening


async def counted(h: Harness, person: Party, days: int = 7) -> Counted:
    """What a person is told."""
    return await h.services.statistics.of(await caller(h, person), days)


async def caller(h: Harness, person: Party) -> Caller:
    """Somebody who has shown their credential."""
    return await h.services.directory.authenticate(person.credential)


class TestCounting:
    """What is counted."""

    async def test_everything_that_became_of_questions(self, anywhere: Harness) -> None:
        """On every kind of store: decided, used, withdrawn, expired, waiting."""
        runtime, ann, bob = (
            await anywhere.client(),
            await anywhere.approver("ann"),
            await anywhere.approver("bob"),
        )
        asked = [await runtime.asked(input=number, use_within_ms=60_000) for number in range(7)]
        await runtime.asked(input="waits", expires_in_ms=5 * DAY_MS)
        anywhere.clock.move(4_000)
        for each in asked[:3]:
            record(await ann.decide(each))
        anywhere.clock.move(2_000)
        record(await bob.decide(asked[3], "reject"))
        record(await runtime.consume(asked[0], await runtime.token(asked[0]["id"])))
        record(await runtime.cancel(asked[1]["id"]))
        record(await runtime.cancel(asked[4]["id"]))
        anywhere.clock.move(900_000)
        found = (await counted(anywhere, ann)).statistics
        assert found.decisions == Decisions(approved=3, rejected=1)
        assert found.endings == Endings(used=1, rejected=1, cancelled=2, unanswered=2, unused=1)
        assert (found.took.count, found.took.median_ms, found.took.p90_ms) == (4, 4_000, 6_000)
        assert (found.asked, found.waiting) == (8, 1)
        assert found.days[-1].decisions == found.decisions
        assert [each.person for each in found.by_person] == [Person(id="ann"), Person(id="bob")]

    async def test_changes_are_counted_as_such(self, under: Opening) -> None:
        """And no approval, however soon they follow each other."""
        ruled = await under('edit = "counts"')
        runtime, (ann,) = await ruled.parties("ann")
        members: dict[str, Any] = {"allowed_decisions": ["approve", "edit", "reject"], "effect": "write"}
        for number in range(5):
            record(await ann.decide(await runtime.asked(input=number, **members), "edit", input="less"))
        found = (await counted(ruled.h, ann)).statistics
        assert (found.decisions, found.too_fast) == (Decisions(changed=5), ())

    async def test_what_came_too_fast_is_told_with_whom(self, anywhere: Harness) -> None:
        """Through whatever channel it came."""
        runtime, ann = await anywhere.client(), await anywhere.approver("ann", shown_as="Ann")
        asked = [await runtime.asked(input=number) for number in range(7)]
        for each in asked:
            record(await ann.decide(each))
            anywhere.clock.move(6_000)
        [found] = (await counted(anywhere, ann)).statistics.too_fast
        assert (found.person, found.haste.count, found.haste.took_ms) == (
            Person(id="ann", display_name="Ann"),
            7,
            36_000,
        )
        assert found.haste.approval_ids == tuple(each["id"] for each in asked)

    async def test_an_old_question_that_was_decided_now_counts(self, h: Harness) -> None:
        """Whatever was asked since; one that can have no part in it is not looked for."""
        runtime, ann = await h.client(), await h.approver("ann")
        await runtime.asked(input="long ago")
        h.clock.move(10 * DAY_MS)
        old = await runtime.asked(input="old", expires_in_ms=30 * DAY_MS)
        h.clock.move(29 * DAY_MS)
        record(await ann.decide(old))
        found = await counted(h, ann)
        assert found.statistics.decisions == Decisions(approved=1)
        assert found.statistics.took.median_ms == 29 * DAY_MS
        assert (found.statistics.asked, found.is_all) == (0, True)

    async def test_what_is_too_old_is_not_read(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """As nothing can come of it: the page after is left alone."""
        monkeypatch.setattr(statistics, "_PAGE", 1)
        runtime, ann = await h.client(), await h.approver("ann")
        for number in range(3):
            await runtime.asked(input=number)
        h.clock.move(39 * DAY_MS)
        await runtime.asked(input="new")
        found = await counted(h, ann)
        assert (found.looked_at, found.is_all) == (2, True)


class TestSeen:
    """Nobody is told of what they may not see."""

    async def test_it_is_what_the_history_has(self, under: Opening) -> None:
        """For each person: of what they neither may decide nor did, nothing is counted."""
        ruled = await under()
        runtime, (ann, dana) = await ruled.parties("ann", "dana")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        of_ann, of_dana = (await counted(ruled.h, ann)).statistics, (await counted(ruled.h, dana)).statistics
        assert (of_ann.asked, of_ann.decisions.total) == (1, 1)
        assert (of_dana.asked, of_dana.decisions.total, of_dana.by_person) == (0, 0, ())
        assert of_dana.by_capability == ()

    async def test_nothing_of_another_tenant(self, anywhere: Harness) -> None:
        """Not even to somebody of the same name there."""
        runtime = await anywhere.client(tenant="abroad")
        here, abroad = await anywhere.approver("ann"), await anywhere.approver("ann", tenant="abroad")
        record(await abroad.decide(await runtime.asked()))
        assert (await counted(anywhere, abroad)).statistics.decisions.total == 1
        assert (await counted(anywhere, here)).statistics.asked == 0
        assert (await anywhere.services.statistics.of_tenant("default", 7)).statistics.asked == 0
        assert (await anywhere.services.statistics.of_tenant("abroad", 7)).statistics.asked == 1

    async def test_what_was_changed_in_the_store_is_not_counted(self, anywhere: Harness) -> None:
        """A forged decision, a card that is not what was asked, a record that can't be read; it is said."""
        runtime, ann = await anywhere.client(), await anywhere.approver("ann")
        asked = [await runtime.asked(input=number) for number in range(4)]
        record(await ann.decide(asked[3]))
        await tampering.flipped(anywhere, asked[0], tampering.a_vote(asked[0]))
        await anywhere.redis.set(tampering.held(asked[1]), b'"other"')
        await anywhere.redis.hset(tampering.a(asked[2]), "t", "never")
        found = await counted(anywhere, ann)
        assert found.statistics.decisions == Decisions(approved=1)
        assert (found.statistics.asked, found.spoilt, found.looked_at) == (1, 3, 4)
        of_all = await anywhere.services.statistics.of_tenant("default", 7)
        assert (of_all.statistics.decisions, of_all.spoilt) == (Decisions(approved=1), 2)

    async def test_a_withdrawal_that_can_not_be_read_is_on_no_day(self, h: Harness) -> None:
        """A later release may have written a line of its trail; the rest of it counts."""
        runtime, ann = await h.client(), await h.approver("ann")
        asked = await runtime.asked()
        record(await ann.decide(asked))
        record(await runtime.cancel(asked["id"]))
        await h.redis.rpush(tampering.log(asked), b'1 pondered {"decision":"perhaps"}')
        found = (await counted(h, ann)).statistics
        assert (found.decisions, found.endings) == (Decisions(approved=1), Endings())


class TestBounds:
    """It is bounded, and kept."""

    async def test_so_many_are_looked_at_and_it_is_said(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The newest, for a person; for whoever operates it all."""
        monkeypatch.setattr(statistics, "_PAGE", 2)
        monkeypatch.setattr(statistics, "LOOKED_AT_MAX", 4)
        runtime, ann = await h.client(), await h.approver("ann")
        for number in range(5):
            await runtime.asked(input=number, capability=f"c.{number}")
            h.clock.move(1)
        found = await counted(h, ann)
        assert (found.looked_at, found.is_all, found.statistics.waiting) == (4, False, 4)
        of_all = await h.services.statistics.of_tenant("default", 7)
        assert (of_all.looked_at, of_all.is_all, of_all.statistics.waiting) == (5, True, 5)

    async def test_so_many_lines_are_told(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """And how many there are besides."""
        monkeypatch.setattr(statistics, "LINES_MAX", 1)
        runtime, ann = await h.client(), await h.approver("ann")
        for number in range(10):
            record(await ann.decide(await runtime.asked(input=number, capability=f"c.{number % 3}")))
            h.clock.move(60_000 if number == 4 else 1)
        found = (await counted(h, ann)).statistics
        assert (len(found.by_capability), len(found.by_person), len(found.too_fast)) == (1, 1, 1)
        assert found.left == Left(capabilities=2, people=0, runs=1)
        of_all = (await h.services.statistics.of_tenant("default", 7)).statistics
        assert (len(of_all.by_capability), of_all.left) == (3, Left())

    async def test_a_result_is_kept_for_a_minute(self, h: Harness) -> None:
        """For the same person and days; then it is counted anew."""
        runtime, ann, bob = await h.client(), await h.approver("ann"), await h.approver("bob")
        record(await ann.decide(await runtime.asked(input=1)))
        first = await counted(h, ann)
        record(await ann.decide(await runtime.asked(input=2)))
        assert await counted(h, ann) is first
        assert (await counted(h, ann, 30)).statistics.decisions.total == 2
        assert (await counted(h, bob)).statistics.decisions.total == 2
        h.clock.move(round(KEPT_S * 1000) - 1)
        assert await counted(h, ann) is first
        h.clock.move(1)
        assert (await counted(h, ann)).statistics.decisions.total == 2

    async def test_it_is_nobodys_once_they_are_revoked(self, pair: tuple[Harness, Harness]) -> None:
        """By another replica too: before what is kept is shown, the store is asked whether that stands."""
        here, there = pair
        await here.client()
        ann = await here.approver("ann")
        known = await caller(here, ann)
        await here.services.statistics.of(known, 7)
        await there.services.enrolment.revoke("default", "approver:ann")
        with pytest.raises(Rejudge):
            await here.services.statistics.of(known, 7)

    async def test_of_the_same_person_by_another_word_it_is_another(self, h: Harness) -> None:
        """What they may see can differ: an issuer says of each session in which groups they are."""
        await h.client()
        ann = await h.approver("ann")
        known = await caller(h, ann)
        other = structs.replace(known, principal=structs.replace(known.principal, groups=("treasury",)))
        first = await h.services.statistics.of(known, 7)
        assert await h.services.statistics.of(other, 7) is not first

    async def test_who_looks_at_once_is_counted_for_once(
        self, h: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """And one after the other: reading it takes a while."""
        await h.client()
        ann, bob = await caller(h, await h.approver("ann")), await caller(h, await h.approver("bob"))
        reading, pages, most = 0, 0, 0
        page = Approvals.page

        async def slowly(store: Approvals, *args: Any, **options: Any) -> Any:
            nonlocal reading, pages, most
            pages, reading = pages + 1, reading + 1
            most = max(most, reading)
            await asyncio.sleep(0)
            try:
                return await page(store, *args, **options)
            finally:
                reading -= 1

        monkeypatch.setattr(Approvals, "page", slowly)
        ann = structs.replace(ann, epoch=bob.epoch)
        of = h.services.statistics.of
        results = await asyncio.gather(*(of(each, 7) for each in (ann, ann, bob, ann, bob)))
        assert (pages, most) == (2, 1)
        assert results[0] is results[1] is results[3]
        assert results[2] is results[4]

    async def test_so_many_results_are_kept(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        """The oldest goes."""
        monkeypatch.setattr(statistics, "KEPT_MAX", 2)
        await h.client()
        ann = await h.approver("ann")
        first = await counted(h, ann, 1)
        second = await counted(h, ann, 2)
        await counted(h, ann, 3)
        assert await counted(h, ann, 2) is second
        assert await counted(h, ann, 1) is not first
