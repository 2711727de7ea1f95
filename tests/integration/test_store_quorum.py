"""A quorum: so many distinct people one way or the other, whoever comes first, however often they come."""

from typing import Any

import pytest
from msgspec import structs
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import Ask, Status, Verdict
from placet.store.codec import pack_votes
from placet.store.opened import Store
from tests.ballots import cast, edit
from tests.factories import ManualClock, a_ballot, a_change, digest_of
from tests.steps import TENANT, approval_of, asked, cancel, dump, events, read, record_of, spend, trail_of

APPROVE, REJECT = Verdict.APPROVE, Verdict.REJECT
STALE = "0" * 64


async def quorum_of(store: Store, ask: Ask) -> tuple[str, int, int, int]:
    """The record's status, and its counts: required, approved, rejected."""
    approval = approval_of(await read(store, ask))
    return approval.status.value, approval.required, approval.approved, approval.rejected


class TestApproving:
    """``k`` of ``n``: the ``k``-th person decides, and nobody counts twice."""

    @pytest.mark.parametrize(("required", "people"), [(1, 3), (2, 3), (3, 3), (7, 20)])
    async def test_the_last_one_needed_decides(self, store: Store, required: int, people: int) -> None:
        """Those before leave it pending, those after come too late."""
        ask = await asked(store, new={"required": required})
        answers = [await cast(store, ask, f"p{n}") for n in range(people)]
        taken = [Ruling.OK] * required + [Ruling.DECIDED] * (people - required)
        assert [answer.ruling for answer in answers] == taken
        assert [approval_of(answer).status for answer in answers] == (
            [Status.PENDING] * (required - 1) + [Status.APPROVED] * (people - required + 1)
        )
        assert await quorum_of(store, ask) == ("approved", required, required, 0)

    async def test_one_short_is_not_enough(self, store: Store) -> None:
        """It gives no grant, and dies as it is."""
        ask = await asked(store, new={"required": 3})
        for person in ("ann", "bob"):
            await cast(store, ask, person)
        assert (await spend(store, ask)).ruling is Ruling.PENDING
        assert approval_of(await read(store, ask)).use_by_ms is None

    async def test_the_grant_begins_with_the_last_vote(self, store: Store, clock: ManualClock) -> None:
        """Its deadline counts from when it was granted, not from the first approval."""
        ask = await asked(store, new={"required": 2}, use_within_ms=5_000)
        await cast(store, ask, "ann")
        clock.move(60_000)
        answer = await cast(store, ask, "bob")
        assert approval_of(answer).use_by_ms == answer.now_ms + 5_000

    async def test_two_spellings_are_one_person(self, store: Store, client: Redis) -> None:
        """What tells people apart is the key they were resolved to, not what they are called."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "Ann@x.example", key="ann")
        before = await dump(client)
        again = await cast(store, ask, "ann@x.example", key="ann")
        assert again.ruling is Ruling.UNCHANGED
        assert await dump(client) == before
        assert await quorum_of(store, ask) == ("pending", 2, 1, 0)

    async def test_one_name_can_be_two_people(self, store: Store) -> None:
        """And the other way round."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann", key="ann of sales")
        await cast(store, ask, "ann", key="ann of stores")
        assert await quorum_of(store, ask) == ("approved", 2, 2, 0)

    async def test_every_vote_is_kept(self, store: Store, client: Redis) -> None:
        """In the order in which they came, with an event each."""
        ask = await asked(store, new={"required": 3})
        for person in ("ann", "bob", "cid"):
            await cast(store, ask, person)
        answer = await read(store, ask)
        assert [each.vote.approver.id for each in approval_of(answer).votes] == ["ann", "bob", "cid"]
        happened = ["requested", "voted", "voted", "approved"]
        assert [(line.type, line.by) for line in trail_of(answer)] == list(
            zip(happened, ["runtime", "ann", "bob", "cid"], strict=True)
        )
        assert await events(client) == [(ask.id, event) for event in happened]

    async def test_votes_so_far_die_with_the_question(self, store: Store, clock: ManualClock) -> None:
        """A late one completes nothing."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann")
        clock.move(900_001)
        assert (await cast(store, ask, "bob")).ruling is Ruling.EXPIRED
        assert await quorum_of(store, ask) == ("expired", 2, 1, 0)

    async def test_votes_so_far_are_withdrawn_with_it(self, store: Store) -> None:
        """By whoever asked."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann")
        assert (await cancel(store, ask)).ruling is Ruling.OK
        assert (await cast(store, ask, "bob")).ruling is Ruling.CANCELLED
        assert (await cast(store, ask, "ann")).ruling is Ruling.UNCHANGED


class TestRejecting:
    """``m`` of ``n`` the other way."""

    @pytest.mark.parametrize("rejections", [1, 2, 5])
    async def test_the_last_one_needed_decides(self, store: Store, client: Redis, rejections: int) -> None:
        """Those before leave it pending."""
        ask = await asked(store)
        people = [f"p{n}" for n in range(rejections)]
        answers = [await cast(store, ask, each, REJECT, rejections=rejections) for each in people]
        statuses = [approval_of(answer).status for answer in answers]
        assert statuses == [Status.PENDING] * (rejections - 1) + [Status.REJECTED]
        assert await quorum_of(store, ask) == ("rejected", 1, 0, rejections)
        assert [event for _, event in await events(client)] == [
            "requested",
            *["voted"] * (rejections - 1),
            "rejected",
        ]

    async def test_one_person_rejects_once(self, store: Store) -> None:
        """Under whatever spelling."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=2)
        again = await cast(store, ask, "ANN", REJECT, rejections=2, key="ann")
        assert again.ruling is Ruling.UNCHANGED
        assert await quorum_of(store, ask) == ("pending", 1, 0, 1)

    async def test_too_few_do_not_keep_others_from_approving(self, store: Store) -> None:
        """Rejections short of their number are outvoted."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann", REJECT, rejections=2)
        await cast(store, ask, "bob", rejections=2)
        await cast(store, ask, "cid", rejections=2)
        assert await quorum_of(store, ask) == ("approved", 2, 2, 1)

    async def test_a_rule_of_today_that_asks_for_fewer_counts(self, store: Store) -> None:
        """Two rejected when it took three; the third vote under a rule of two decides, as would its own."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=3)
        await cast(store, ask, "bob", REJECT, rejections=3)
        assert approval_of(await cast(store, ask, "cid", REJECT, rejections=2)).status is Status.REJECTED


class TestTurning:
    """While it waits an approval can be turned into a rejection, never the other way."""

    async def test_an_approval_is_taken_back(self, store: Store) -> None:
        """It counts no more, the rejection does; both stay on record."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann")
        turned = await cast(store, ask, "ann", REJECT, rejections=2)
        assert turned.ruling is Ruling.OK
        assert await quorum_of(store, ask) == ("pending", 2, 0, 1)
        await cast(store, ask, "bob", rejections=2)
        assert await quorum_of(store, ask) == ("pending", 2, 1, 1)
        assert [each.vote.decision for each in approval_of(await read(store, ask)).votes] == [
            APPROVE,
            REJECT,
            APPROVE,
        ]

    async def test_a_rejection_is_not(self, store: Store, client: Redis) -> None:
        """The attempt is recorded as refused and changes nothing, however often it is made."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann", REJECT, rejections=2)
        for _ in range(2):
            assert (await cast(store, ask, "ann", rejections=2)).ruling is Ruling.REVERSED
        assert await quorum_of(store, ask) == ("pending", 2, 0, 1)
        last = trail_of(await read(store, ask))[-1]
        assert (last.type, last.code, last.reason, last.by) == (
            "refused",
            "FORBIDDEN",
            "decision-not-allowed",
            "ann",
        )
        assert [event for _, event in await events(client)] == ["requested", "voted"]

    async def test_not_under_another_spelling_either(self, store: Store) -> None:
        """It is the same person."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=2)
        assert (await cast(store, ask, "Ann", key="ann", rejections=2)).ruling is Ruling.REVERSED

    async def test_not_after_having_approved_before(self, store: Store) -> None:
        """Approve, reject, approve: the rejection stands."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann")
        await cast(store, ask, "ann", REJECT, rejections=2)
        assert (await cast(store, ask, "ann", rejections=2)).ruling is Ruling.REVERSED
        assert (await cast(store, ask, "ann", REJECT, rejections=2)).ruling is Ruling.UNCHANGED

    async def test_not_once_it_is_decided(self, store: Store) -> None:
        """A grant is not turned into a rejection."""
        ask = await asked(store, new={"required": 2})
        for person in ("ann", "bob"):
            await cast(store, ask, person)
        assert (await cast(store, ask, "ann", REJECT)).ruling is Ruling.DECIDED
        assert await quorum_of(store, ask) == ("approved", 2, 2, 0)

    @pytest.mark.parametrize(
        ("changes", "ruling"),
        [
            ({"digest": STALE}, Ruling.MISMATCH),
            ({"refusal": "FORBIDDEN"}, Ruling.REFUSED),
            ({}, Ruling.REVERSED),
        ],
    )
    async def test_it_is_judged_last(self, store: Store, changes: dict[str, Any], ruling: Ruling) -> None:
        """A stale digest and a lost right are told first."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=2)
        assert (await cast(store, ask, "ann", rejections=2, **changes)).ruling is ruling


class TestARuleThatChanged:
    """What the rules of today demand beyond those it was asked under holds from the next vote on."""

    @pytest.mark.parametrize("verdict", [APPROVE, REJECT])
    async def test_rejections_that_are_enough_by_now(
        self, store: Store, client: Redis, verdict: Verdict
    ) -> None:
        """It ends before the vote that found that, by nobody's act; the vote came too late."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=2)
        late = await cast(store, ask, "bob", verdict)
        assert late.ruling is Ruling.DECIDED
        assert await quorum_of(store, ask) == ("rejected", 1, 0, 1)
        assert [(line.type, line.by) for line in trail_of(late)[1:]] == [
            ("voted", "ann"),
            ("rejected", "system"),
            ("refused", "bob"),
        ]
        assert [event for _, event in await events(client)] == ["requested", "voted", "rejected"]
        assert (await cast(store, ask, "ann", REJECT)).ruling is Ruling.UNCHANGED

    async def test_whoever_rejected_again_hears_that_it_is_rejected(self, store: Store) -> None:
        """Their own rejection is enough by now."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=2)
        again = await cast(store, ask, "ann", REJECT)
        assert (again.ruling, approval_of(again).status) == (Ruling.UNCHANGED, Status.REJECTED)

    async def test_a_change_does_not_void_them(self, store: Store) -> None:
        """It comes too late as well."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=2)
        answer = await edit(store, ask, a_change(ask, counts=True), "bob")
        assert (answer.ruling, approval_of(answer).status) == (Ruling.DECIDED, Status.REJECTED)
        assert approval_of(answer).digest == digest_of(ask)

    async def test_an_approval_given_again_makes_the_grant(self, store: Store) -> None:
        """Where some were worth nothing when the latest came, and all of them are by now."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann")
        seen = record_of(await read(store, ask)).votes
        ballot = a_ballot(ask, "bob", required=2, seen=seen, weighed="")
        assert (await store.approvals.decide(TENANT, ask.id, ballot, epoch=0)).ruling is Ruling.OK
        weighed = pack_votes([("ann", APPROVE), ("bob", APPROVE)])
        again = structs.replace(ballot, seen=seen + 1, weighed=weighed)
        answer = await store.approvals.decide(TENANT, ask.id, again, epoch=0)
        assert (answer.ruling, approval_of(answer).status) == (Ruling.OK, Status.APPROVED)
        assert await quorum_of(store, ask) == ("approved", 2, 2, 0)

    async def test_more_people_are_needed(self, store: Store) -> None:
        """The record says so, and the votes that were enough before are not."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann")
        answer = await cast(store, ask, "bob", required=3)
        assert approval_of(answer).status is Status.PENDING
        assert await quorum_of(store, ask) == ("pending", 3, 2, 0)
        await cast(store, ask, "cid", required=3)
        assert await quorum_of(store, ask) == ("approved", 3, 3, 0)

    async def test_it_stays_raised(self, store: Store) -> None:
        """A vote judged by a rule that is milder again, or by a replica that has the older one."""
        ask = await asked(store)
        await cast(store, ask, "ann", required=3)
        for person in ("bob", "cid"):
            assert await quorum_of(store, ask) == ("pending", 3, 1 + (person == "cid"), 0)
            await cast(store, ask, person, required=1)
        assert await quorum_of(store, ask) == ("approved", 3, 3, 0)

    async def test_fewer_are_never_enough(self, store: Store) -> None:
        """It was asked under the stricter one."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann", required=1)
        assert await quorum_of(store, ask) == ("pending", 2, 1, 0)

    async def test_a_rejection_raises_too(self, store: Store) -> None:
        """It tells as much of today's rule as an approval."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, required=2, rejections=2)
        assert await quorum_of(store, ask) == ("pending", 2, 0, 1)

    @pytest.mark.parametrize("refused", [{"refusal": "FORBIDDEN"}, {"digest": STALE}, {"hidden": True}])
    async def test_an_attempt_that_is_refused_raises_nothing(
        self, store: Store, refused: dict[str, Any]
    ) -> None:
        """It changes nothing at all."""
        ask = await asked(store)
        await cast(store, ask, "ann", required=3, **refused)
        assert await quorum_of(store, ask) == ("pending", 1, 0, 0)
