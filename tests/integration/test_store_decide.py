"""Deciding: one rejection decides, approvals decide once enough people have given theirs."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.limits import GRANT_FLOOR_MS, USE_WITHIN_MAX_MS
from placet.domain.machine import Ruling
from placet.domain.model import Status, Verdict
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock, a_ballot, an_ask, digest_of
from tests.steps import (
    WAIT_MS,
    approval_of,
    approved,
    asked,
    cancel,
    deliver,
    dump,
    events,
    in_status,
    read,
    spend,
    trail_of,
    voted,
)

STALE = "0" * 64
TERMINAL = sorted(set(Status) - {Status.PENDING, Status.APPROVED})


async def test_an_approval_is_recorded_as_it_was_cast(store: Store, clock: ManualClock) -> None:
    """The record names the person, the channel and the digest, and the store adds the moment."""
    ask = await asked(store)
    clock.move(1_000)
    answer = await voted(store, ask)
    (cast,) = approval_of(answer).votes
    assert (answer.ruling, approval_of(answer).status) == (Ruling.OK, Status.APPROVED)
    assert (cast.vote, cast.at_ms) == (a_ballot(ask).vote, T0_MS + 1_000)
    assert cast.vote.digest == digest_of(ask)


async def test_a_rejection_is_final(store: Store) -> None:
    """After a rejection nobody can approve."""
    ask = await asked(store)
    rejected = await voted(store, ask, verdict=Verdict.REJECT)
    assert (rejected.ruling, approval_of(rejected).status) == (Ruling.OK, Status.REJECTED)
    assert (await voted(store, ask, "bob")).ruling is Ruling.DECIDED
    assert approval_of(await read(store, ask)).status is Status.REJECTED


@pytest.mark.parametrize(
    ("wait_ms", "use_within_ms", "grant_ms"),
    [
        (WAIT_MS, None, WAIT_MS - 1_000),  # the question's own deadline
        (1_000 + GRANT_FLOOR_MS, None, GRANT_FLOOR_MS),
        (1_000, None, GRANT_FLOOR_MS),  # decided at its very end: still a minute
        (1_000 + USE_WITHIN_MAX_MS + 1, None, USE_WITHIN_MAX_MS),  # never more than a day
        (WAIT_MS, 1, 1),
        (1_000, 7_200_000, 7_200_000),
        (WAIT_MS, USE_WITHIN_MAX_MS, USE_WITHIN_MAX_MS),
        (WAIT_MS, USE_WITHIN_MAX_MS + 1, USE_WITHIN_MAX_MS),
    ],
)
async def test_a_grant_has_a_deadline_of_its_own(
    store: Store, clock: ManualClock, wait_ms: int, use_within_ms: int | None, grant_ms: int
) -> None:
    """``use_within_ms`` after the decision; else the later of the question's deadline and a minute."""
    ask = await asked(store, new={"expires_in_ms": wait_ms}, use_within_ms=use_within_ms)
    clock.move(1_000)
    assert approval_of(await voted(store, ask)).use_by_ms == T0_MS + 1_000 + grant_ms


class TestQuorum:
    """``required`` distinct people must approve; one rejection is enough."""

    async def test_too_few_leave_it_pending(self, store: Store, client: Redis) -> None:
        """A vote short of the quorum is recorded and counted."""
        ask = await asked(store, new={"required": 2})
        approval = approval_of(await voted(store, ask))
        assert (approval.status, approval.approved, approval.use_by_ms) == (Status.PENDING, 1, None)
        assert await events(client) == [(ask.id, "requested"), (ask.id, "voted")]

    @pytest.mark.parametrize("required", [1, 2, 3])
    async def test_enough_people_approve(self, store: Store, required: int) -> None:
        """The vote that completes the quorum approves."""
        ask = await asked(store, new={"required": required})
        answers = [await voted(store, ask, person) for person in ("ann", "bob", "cid")[:required]]
        statuses = [approval_of(answer).status for answer in answers]
        assert statuses == [Status.PENDING] * (required - 1) + [Status.APPROVED]
        assert approval_of(answers[-1]).approved == required

    async def test_one_person_counts_once(self, store: Store, client: Redis) -> None:
        """The same vote again changes nothing, and is not another's."""
        ask = await asked(store, new={"required": 2})
        await voted(store, ask)
        before = await dump(client)
        again = await voted(store, ask)
        assert (again.ruling, approval_of(again).approved) == (Ruling.UNCHANGED, 1)
        assert await dump(client) == before

    async def test_a_person_can_turn_to_rejecting(self, store: Store) -> None:
        """Who had approved may still say no while the question waits."""
        ask = await asked(store, new={"required": 2})
        await voted(store, ask)
        approval = approval_of(await voted(store, ask, verdict=Verdict.REJECT))
        assert (approval.status, approval.approved) == (Status.REJECTED, 0)
        assert [cast.vote.decision for cast in approval.votes] == [Verdict.APPROVE, Verdict.REJECT]

    async def test_one_rejection_outweighs_approvals(self, store: Store) -> None:
        """No majority overrules a no."""
        ask = await asked(store, new={"required": 3})
        for person in ("ann", "bob"):
            await voted(store, ask, person)
        assert approval_of(await voted(store, ask, "cid", Verdict.REJECT)).status is Status.REJECTED

    async def test_people_are_told_apart_by_their_whole_id(self, store: Store) -> None:
        """Ids that begin alike are different people."""
        ask = await asked(store, new={"required": 2})
        await voted(store, ask, "a-very-long-name-of-a-person-1")
        answer = await voted(store, ask, "a-very-long-name-of-a-person-2")
        assert approval_of(answer).status is Status.APPROVED


class TestTheSameVoteAgain:
    """The same person, verdict and digest: 200 with the record, whatever its state now."""

    @pytest.mark.parametrize("status", [Status.APPROVED, Status.CONSUMED, Status.CANCELLED, Status.EXPIRED])
    async def test_an_approval(self, store: Store, clock: ManualClock, status: Status) -> None:
        """Also after the grant has been spent, withdrawn or left to die."""
        ask = await approved(store, use_within_ms=1_000)
        if status is Status.CONSUMED:
            await spend(store, ask)
        elif status is Status.CANCELLED:
            await cancel(store, ask)
        elif status is Status.EXPIRED:
            clock.move(1_001)
        again = await voted(store, ask)
        assert (again.ruling, approval_of(again).status) == (Ruling.UNCHANGED, status)

    async def test_a_rejection(self, store: Store) -> None:
        """Saying no twice is saying no."""
        ask = await in_status(store, ManualClock(), Status.REJECTED)
        assert (await voted(store, ask, verdict=Verdict.REJECT)).ruling is Ruling.UNCHANGED

    async def test_a_vote_of_another_kind_is_another(self, store: Store) -> None:
        """Who approved and now rejects comes too late."""
        ask = await approved(store)
        assert (await voted(store, ask, verdict=Verdict.REJECT)).ruling is Ruling.DECIDED

    async def test_a_vote_on_another_digest_is_another(self, store: Store) -> None:
        """The digest is part of what was said."""
        ask = await asked(store, new={"required": 2})
        await voted(store, ask)
        answer = await deliver(store, ask, a_ballot(ask, digest=STALE))
        assert answer.ruling is Ruling.MISMATCH

    async def test_it_is_not_refused_any_more(self, store: Store) -> None:
        """Whoever lost the right to vote still hears what became of their vote."""
        ask = await approved(store)
        ballot = a_ballot(ask, refusal="FORBIDDEN")
        assert (await deliver(store, ask, ballot)).ruling is Ruling.UNCHANGED


class TestOrderOfJudgement:
    """What is wrong first is said, and nothing of what comes after it."""

    WRONG: dict[str, Any] = {"digest": STALE, "refusal": "FORBIDDEN"}  # noqa: RUF012 - never changed

    async def test_an_unknown_record_is_missing(self, store: Store, client: Redis) -> None:
        """There is nothing to record the attempt with."""
        answer = await voted(store, an_ask())
        assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
        assert await dump(client) == {}

    @pytest.mark.parametrize("status", list(Status))
    async def test_a_hidden_record_is_missing_in_every_state(
        self, store: Store, clock: ManualClock, status: Status
    ) -> None:
        """Who may not see it hears the same as of none; its trail has the truth."""
        ask = await in_status(store, clock, status)
        ballot = a_ballot(ask, "eve", hidden=True, **self.WRONG)
        answer = await deliver(store, ask, ballot)
        assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
        last = trail_of(await read(store, ask))[-1]
        assert (last.type, last.code, last.by) == ("refused", "APPROVAL_RESUME_MISMATCH", "eve")

    @pytest.mark.parametrize(
        ("status", "ruling"),
        [
            (Status.APPROVED, Ruling.DECIDED),
            (Status.REJECTED, Ruling.DECIDED),
            (Status.CONSUMED, Ruling.DECIDED),
            (Status.EXPIRED, Ruling.EXPIRED),
            (Status.CANCELLED, Ruling.CANCELLED),
            (Status.PENDING, Ruling.MISMATCH),
        ],
    )
    async def test_the_state_comes_before_the_vote(
        self, store: Store, clock: ManualClock, status: Status, ruling: Ruling
    ) -> None:
        """A stale and forbidden vote hears of the state first, then of the digest."""
        ask = await in_status(store, clock, status)
        answer = await deliver(store, ask, a_ballot(ask, "bob", **self.WRONG))
        assert (answer.ruling, approval_of(answer).status) == (ruling, status)

    async def test_a_judged_vote_is_refused_last(self, store: Store) -> None:
        """The refusal the caller was judged with stands in the trail under its own code."""
        ask = await asked(store)
        ballot = a_ballot(ask, refusal="APPROVAL_SELF_APPROVAL")
        answer = await deliver(store, ask, ballot)
        assert (answer.ruling, approval_of(answer).status) == (Ruling.REFUSED, Status.PENDING)
        last = trail_of(answer)[-1]
        assert (last.type, last.code, last.by, last.channel) == (
            "refused",
            "APPROVAL_SELF_APPROVAL",
            "ann",
            "api",
        )

    @pytest.mark.parametrize(
        ("status", "code"),
        [
            (Status.APPROVED, "APPROVAL_ALREADY_DECIDED"),
            (Status.EXPIRED, "APPROVAL_EXPIRED"),
            (Status.CANCELLED, "APPROVAL_CANCELLED"),
            (Status.PENDING, "APPROVAL_INPUT_MISMATCH"),
        ],
    )
    async def test_a_refusal_is_recorded_by_its_code(
        self, store: Store, clock: ManualClock, status: Status, code: str
    ) -> None:
        """Every refusal has a line in the trail, and no event in the stream."""
        ask = await in_status(store, clock, status)
        answer = await deliver(store, ask, a_ballot(ask, "bob", **self.WRONG))
        assert (trail_of(answer)[-1].code, trail_of(answer)[-1].by) == (code, "bob")


@pytest.mark.parametrize("status", TERMINAL)
async def test_no_vote_leaves_a_final_state(store: Store, clock: ManualClock, status: Status) -> None:
    """Nothing leaves rejected, expired, cancelled or consumed."""
    ask = await in_status(store, clock, status)
    for verdict in (Verdict.APPROVE, Verdict.REJECT):
        await voted(store, ask, "bob", verdict)
    approval = approval_of(await read(store, ask))
    assert (approval.status, "bob" in {cast.vote.approver.id for cast in approval.votes}) == (status, False)


async def test_a_hundred_at_once_decide_once(store: Store, client: Redis) -> None:
    """Of fifty approvals and fifty rejections exactly one decides, with one event (B17)."""
    ask = await asked(store)
    verdicts = [Verdict.APPROVE, Verdict.REJECT] * 50
    answers = await asyncio.gather(
        *(voted(store, ask, f"person-{i}", verdict) for i, verdict in enumerate(verdicts))
    )
    rulings = [answer.ruling for answer in answers]
    assert (rulings.count(Ruling.OK), rulings.count(Ruling.DECIDED)) == (1, 99)
    assert len(await events(client)) == 2


async def test_a_double_click_is_one_vote(store: Store, client: Redis) -> None:
    """The same decision from two tabs at once has its effects once (B18)."""
    ask = await asked(store)
    answers = await asyncio.gather(voted(store, ask), voted(store, ask))
    assert [answer.ruling for answer in answers] == [Ruling.OK, Ruling.UNCHANGED]
    assert await events(client) == [(ask.id, "requested"), (ask.id, "approved")]


@pytest.mark.parametrize("use_within_ms", [None, 43_200_000])
async def test_a_rule_of_today_shortens_a_grant(store: Store, use_within_ms: int | None) -> None:
    """However long it was to live when it was asked for, and never longer than that."""
    ask = await asked(store, use_within_ms=use_within_ms)
    answer = await store.approvals.decide(
        ask.tenant, ask.id, a_ballot(ask, "ann", use_within_most_ms=60_000), epoch=0
    )
    assert approval_of(answer).use_by_ms == T0_MS + 60_000
