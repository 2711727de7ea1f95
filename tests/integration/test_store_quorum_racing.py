"""Votes of both kinds at once, over two connections: there is one outcome, and it is by enough people."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest
from fakeredis import FakeAsyncRedis
from msgspec import structs
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import Ask, Status, Verdict
from placet.store.opened import Store
from tests.ballots import cast, edit
from tests.conftest import a_store
from tests.factories import ManualClock, a_ballot, a_change, digest_of
from tests.steps import TENANT, approval_of, asked, deliver, dump, events, read, record_of

APPROVE, REJECT = Verdict.APPROVE, Verdict.REJECT


async def quorum_of(store: Store, ask: Ask) -> tuple[str, int, int, int]:
    """The record's status, and its counts: required, approved, rejected."""
    approval = approval_of(await read(store, ask))
    return approval.status.value, approval.required, approval.approved, approval.rejected


@pytest.fixture
async def beside(client: Redis, clock: ManualClock) -> AsyncIterator[Store]:
    """A second service over the same server, with a connection of its own."""
    options = client.connection_pool.connection_kwargs
    path = options.get("path")
    other = FakeAsyncRedis(server=options["server"]) if path is None else Redis(unix_socket_path=path)
    yield a_store(other, clock)
    await other.aclose()


ROUNDS = [
    (required, rejections, seed)
    for required, rejections in [(1, 1), (2, 2), (10, 10), (25, 3)]
    for seed in range(3)
]


class TestRacing:
    """Votes of both kinds at once, over two connections."""

    @pytest.mark.parametrize(("required", "rejections", "seed"), ROUNDS)
    async def test_there_is_one_outcome(
        self, store: Store, beside: Store, client: Redis, required: int, rejections: int, seed: int
    ) -> None:
        """Exactly as many as it takes have counted for it, one event tells it, all later votes hear of it."""
        ask = await asked(store, new={"required": required})
        ballots = [(f"p{n}", APPROVE if n % 2 else REJECT) for n in range(50)]
        random.Random(seed).shuffle(ballots)
        answers = await asyncio.gather(
            *(
                cast((store, beside)[n % 2], ask, person, verdict, required=required, rejections=rejections)
                for n, (person, verdict) in enumerate(ballots)
            )
        )
        status, _, approved, rejected = await quorum_of(store, ask)
        assert (approved == required, rejected == rejections) == (status == "approved", status == "rejected")
        assert status in {"approved", "rejected"}
        rulings = [answer.ruling for answer in answers]
        assert rulings.count(Ruling.OK) == approved + rejected
        assert rulings.count(Ruling.DECIDED) == 50 - approved - rejected
        ends = [event for _, event in await events(client) if event in {"approved", "rejected"}]
        assert ends == [status]
        assert approval_of(await read(store, ask)).ends <= {Status.REJECTED}

    @pytest.mark.parametrize("seed", range(3))
    async def test_people_who_say_both_count_once(
        self, store: Store, beside: Store, client: Redis, seed: int
    ) -> None:
        """Each of ten approves and rejects at the same time, from two places, several times over."""
        ask = await asked(store, new={"required": 6})
        votes = [(f"p{n}", verdict) for n in range(10) for verdict in (APPROVE, REJECT)] * 3
        random.Random(seed).shuffle(votes)
        answers = await asyncio.gather(
            *(
                cast((store, beside)[n % 2], ask, person, verdict, required=6, rejections=6)
                for n, (person, verdict) in enumerate(votes)
            )
        )
        status, _, approved, rejected = await quorum_of(store, ask)
        assert approved + rejected <= 10
        assert (approved == 6, rejected == 6) == (status == "approved", status == "rejected")
        assert sum(event in {"approved", "rejected"} for _, event in await events(client)) == 1
        assert {answer.ruling for answer in answers} <= {
            Ruling.OK,
            Ruling.UNCHANGED,
            Ruling.REVERSED,
            Ruling.DECIDED,
        }
        state = record_of(await read(store, ask)).state()
        assert len({person for person, _ in state.votes}) == len(state.votes)

    async def test_the_same_vote_from_everywhere_is_one(
        self, store: Store, beside: Store, client: Redis
    ) -> None:
        """A double click on two replicas."""
        ask = await asked(store, new={"required": 2})
        answers = await asyncio.gather(*(cast((store, beside)[n % 2], ask, "ann") for n in range(20)))
        assert sorted(answer.ruling for answer in answers) == [Ruling.OK] + [Ruling.UNCHANGED] * 19
        assert await events(client) == [(ask.id, "requested"), (ask.id, "voted")]
        assert digest_of(ask) == approval_of(answers[0]).digest


class TestOvertaken:
    """A vote is judged by the votes that were read for it; if there are others by now it is judged again."""

    async def test_nothing_is_written(self, store: Store, client: Redis) -> None:
        """Neither the vote nor a refusal; whoever reads again votes."""
        ask = await asked(store, new={"required": 3})
        late = a_ballot(ask, "bob")
        await cast(store, ask, "ann")
        before = await dump(client)
        for ballot in (late, structs.replace(late, refusal="FORBIDDEN")):
            answer = await store.approvals.decide(TENANT, ask.id, ballot, epoch=0)
            assert (answer.ruling, answer.record) == (Ruling.STALE, None)
        assert await dump(client) == before
        assert (await deliver(store, ask, late)).ruling is Ruling.OK
        assert await quorum_of(store, ask) == ("pending", 3, 2, 0)

    async def test_a_changed_input_counts_too(self, store: Store) -> None:
        """A digest that somebody knew beforehand is not voted on before there is such a card."""
        ask = await asked(store)
        change = a_change(ask)
        early = a_ballot(ask, "bob", digest=change.digest)
        await edit(store, ask, change)
        assert (await store.approvals.decide(TENANT, ask.id, early, epoch=0)).ruling is Ruling.STALE
        assert (await deliver(store, ask, early)).ruling is Ruling.OK

    async def test_refusals_and_readings_overtake_nobody(self, store: Store) -> None:
        """Only what counts does: else whoever may not vote could keep others from it."""
        ask = await asked(store)
        await deliver(store, ask, a_ballot(ask, "eve", refusal="FORBIDDEN"))
        await read(store, ask)
        answer = await store.approvals.decide(TENANT, ask.id, a_ballot(ask), epoch=0)
        assert answer.ruling is Ruling.OK


class TestWeighed:
    """Votes that are worth nothing today, while it waits."""

    async def test_they_do_not_count(self, store: Store) -> None:
        """Of either kind; whoever gave one can give it, or the opposite, anew."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann", REJECT, rejections=2)
        seen = record_of(await read(store, ask)).votes
        again = a_ballot(ask, "ann", required=2, seen=seen, weighed="")
        assert (await store.approvals.decide(TENANT, ask.id, again, epoch=0)).ruling is Ruling.OK
        assert await quorum_of(store, ask) == ("pending", 2, 1, 0)
        await cast(store, ask, "bob", required=2)
        assert await quorum_of(store, ask) == ("approved", 2, 2, 0)

    async def test_what_is_decided_is(self, store: Store) -> None:
        """However little the votes are worth by now: the same vote again is the same."""
        ask = await asked(store)
        await cast(store, ask, "ann")
        seen = record_of(await read(store, ask)).votes
        again = a_ballot(ask, "ann", seen=seen, weighed="")
        assert (await store.approvals.decide(TENANT, ask.id, again, epoch=0)).ruling is Ruling.UNCHANGED
