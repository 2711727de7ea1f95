"""What becomes of a change that was granted: the effective input runs, and both inputs go together."""

import json
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain import binding
from placet.domain.limits import USE_WITHIN_MAX_MS, Limits
from placet.domain.machine import Change, Ruling
from placet.domain.model import Ask, Requested, Status, Verdict
from placet.store.opened import Store
from tests.ballots import cast, edit, spending
from tests.conftest import a_store
from tests.factories import INPUT, ManualClock, a_change, call_of, digest_of
from tests.steps import TENANT, WAIT_MS, approval_of, asked, cancel, spend

TAG = "{placet:default}:"
REJECT = Verdict.REJECT
SLACK_MS = 60_000
"""The server counts down while the test looks."""


def about(expected_ms: int, left_ms: int) -> bool:
    """Whether a countdown has just begun at ``expected_ms``."""
    return expected_ms - SLACK_MS < left_ms <= expected_ms


class TestConsuming:
    """What runs is the effective input, and nothing else."""

    async def changed(self, store: Store, **members: Any) -> tuple[Ask, Change]:
        """A grant of a change."""
        ask = await asked(store, **members)
        change = a_change(ask, counts=True)
        assert approval_of(await edit(store, ask, change)).status is Status.APPROVED
        return ask, change

    async def test_the_changed_call_runs(self, store: Store) -> None:
        """Once."""
        ask, change = await self.changed(store)
        assert (await spend(store, ask, **spending(change))).ruling is Ruling.OK
        assert (await spend(store, ask, **spending(change))).ruling is Ruling.REPLAYED
        late = await spend(store, ask, **spending(change, execution_id="exec-2"))
        assert late.ruling is Ruling.CONSUMED

    @pytest.mark.parametrize("part", ["call", "input", "both"])
    async def test_the_original_does_not(self, store: Store, part: str) -> None:
        """Not by its hash, not by its bytes, not after the right one ran."""
        ask, change = await self.changed(store)
        asked_for = {"call": call_of(ask), "input": INPUT}
        wrong = asked_for if part == "both" else {part: asked_for[part]}
        assert (await spend(store, ask, **spending(change, **wrong))).ruling is Ruling.MISMATCH
        assert (await spend(store, ask, **spending(change))).ruling is Ruling.OK
        assert (await spend(store, ask, **spending(change, **wrong))).ruling is Ruling.MISMATCH

    async def test_a_token_of_the_original_is_none(self, store: Store) -> None:
        """One that names the digest as it was asked."""
        ask, change = await self.changed(store)
        stale = spending(change, token_digest=digest_of(ask))
        assert (await spend(store, ask, **stale)).ruling is Ruling.TOKEN

    async def test_while_it_waits_the_changed_call_is_the_one_that_is_pending(self, store: Store) -> None:
        """The original is a mismatch already."""
        ask = await asked(store)
        change = a_change(ask)
        await edit(store, ask, change)
        assert (await spend(store, ask, **spending(change))).ruling is Ruling.PENDING
        assert (await spend(store, ask)).ruling is Ruling.MISMATCH

    async def test_a_replay_is_answered_when_the_inputs_are_erased(self, store: Store, client: Redis) -> None:
        """By their hashes; another input is still a mismatch."""
        ask, change = await self.changed(store)
        await spend(store, ask, **spending(change))
        await client.delete(f"{TAG}i:{ask.id}", f"{TAG}o:{ask.id}")
        again = await spend(store, ask, **spending(change))
        assert again.ruling is Ruling.REPLAYED
        approval = approval_of(again)
        assert approval.requested == Requested(input=None, input_hash=ask.input_hash, digest=digest_of(ask))
        assert (approval.input, approval.input_hash) == (None, binding.input_hash(change.input))
        original = spending(change, call=call_of(ask), input=INPUT)
        assert (await spend(store, ask, **original)).ruling is Ruling.MISMATCH


class TestRetention:
    """Both inputs go together."""

    @pytest.fixture
    def store(self, client: Redis, clock: ManualClock) -> Store:
        """A store that keeps inputs for three days."""
        return a_store(client, clock, limits=Limits(input_retention_ms=3 * USE_WITHIN_MAX_MS))

    async def left_ms(self, client: Redis, ask: Ask) -> tuple[int, int]:
        """How long the input and the original are still kept; -1 for without an end."""
        return await client.pttl(f"{TAG}i:{ask.id}"), await client.pttl(f"{TAG}o:{ask.id}")

    @pytest.mark.parametrize("counts", [True, False])
    async def test_neither_has_an_end_while_it_lives(
        self, store: Store, client: Redis, *, counts: bool
    ) -> None:
        """Pending or granted."""
        ask = await asked(store)
        await edit(store, ask, a_change(ask, counts=counts))
        assert await self.left_ms(client, ask) == (-1, -1)

    @pytest.mark.parametrize("end", ["consume", "cancel", "expire", "reject"])
    @pytest.mark.parametrize("counts", [True, False])
    async def test_both_end_together(
        self, store: Store, client: Redis, clock: ManualClock, end: str, *, counts: bool
    ) -> None:
        """However it ends; what nobody decided on goes sooner."""
        ask = await asked(store, use_within_ms=1_000)
        change = a_change(ask, counts=counts and end != "reject")
        await edit(store, ask, change)
        if end == "consume":
            await cast(store, ask, "bob", digest=change.digest)
            await spend(store, ask, **spending(change))
        elif end == "cancel":
            await cancel(store, ask)
        elif end == "reject":
            await cast(store, ask, "bob", REJECT, digest=change.digest)
        else:
            clock.move(WAIT_MS + 1)
            await store.approvals.sweep(TENANT, limit=9)
        decided = counts or end in {"consume", "reject"}
        kept_ms = (3 if decided else 1) * USE_WITHIN_MAX_MS
        assert [about(kept_ms, left) for left in await self.left_ms(client, ask)] == [True, True]

    async def test_a_late_vote_ends_it_as_well(self, store: Store, client: Redis, clock: ManualClock) -> None:
        """An expiry that is written down by whoever comes too late."""
        ask = await asked(store)
        change = a_change(ask)
        await edit(store, ask, change)
        clock.move(WAIT_MS + 1)
        assert (await cast(store, ask, "bob", digest=change.digest)).ruling is Ruling.EXPIRED
        assert all(about(USE_WITHIN_MAX_MS, left) for left in await self.left_ms(client, ask))


async def test_large_inputs_end_a_page_early_whichever_they_are(store: Store) -> None:
    """What was asked counts into the size of a page as what is effective does."""
    big = json.dumps("x" * 700_000).encode()
    asks = [await asked(store, new={"input": big}) for _ in range(3)]
    for ask in asks:
        await edit(store, ask, a_change(ask, "y" * 700_000))
    page = await store.approvals.page(TENANT, "x", after=None, limit=9, epoch=0)
    assert (len(page.records), page.last is None) == (2, False)
