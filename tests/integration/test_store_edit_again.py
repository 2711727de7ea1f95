"""Changes that come late, twice, one after the other or without a right: only one question stands."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import Status, Verdict
from placet.store.opened import Store
from tests.ballots import cast, edit, spending
from tests.factories import INPUT, ManualClock, a_change, digest_of
from tests.steps import (
    WAIT_MS,
    approval_of,
    asked,
    cancel,
    dump,
    read,
    spend,
)

REJECT = Verdict.REJECT


class TestAnotherChange:
    """Every change makes another question of it."""

    async def test_it_supersedes_the_one_before(self, store: Store) -> None:
        """Of two editors the later one's input is what is voted on; the original stays the original."""
        ask = await asked(store)
        first, second = a_change(ask, 1), a_change(ask, 2)
        await edit(store, ask, first, "ann")
        approval = approval_of(await edit(store, ask, second, "bob", digest=first.digest))
        assert (approval.digest, approval.input) == (second.digest, Raw(b"2"))
        assert approval.requested is not None
        assert (approval.requested.input, approval.requested.digest) == (Raw(INPUT), digest_of(ask))
        assert len(approval.votes) == 2

    async def test_the_first_editor_may_approve_the_second_change(self, store: Store) -> None:
        """It is not theirs any more."""
        ask = await asked(store)
        first, second = a_change(ask, 1), a_change(ask, 2)
        await edit(store, ask, first, "ann")
        await edit(store, ask, second, "bob", digest=first.digest)
        assert (await cast(store, ask, "bob", digest=second.digest)).ruling is Ruling.REVERSED
        assert approval_of(await cast(store, ask, "ann", digest=second.digest)).status is Status.APPROVED

    async def test_one_person_may_change_it_twice(self, store: Store) -> None:
        """Still nobody has approved."""
        ask = await asked(store)
        first, second = a_change(ask, 1), a_change(ask, 2)
        await edit(store, ask, first)
        answer = await edit(store, ask, second, digest=first.digest)
        assert (answer.ruling, approval_of(answer).approved) == (Ruling.OK, 0)
        assert (await cast(store, ask, "ann", digest=second.digest)).ruling is Ruling.REVERSED

    async def test_it_can_be_changed_back(self, store: Store) -> None:
        """To what was asked, by somebody else: a change as well, and votes before the first are void."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "cid")
        change, back = a_change(ask), a_change(ask, {"order": "A-1", "amount": 5})
        await edit(store, ask, change, "ann")
        approval = approval_of(await edit(store, ask, back, "bob", digest=change.digest))
        assert (approval.digest, approval.approved) == (digest_of(ask), 0)
        assert approval.requested is not None
        assert (await cast(store, ask, "bob", digest=digest_of(ask))).ruling is Ruling.REVERSED
        assert approval_of(await cast(store, ask, "dan", digest=digest_of(ask))).approved == 1

    async def test_two_at_once_are_one_after_the_other(self, store: Store, client: Redis) -> None:
        """The second was made of a card that is no more."""
        ask = await asked(store)
        answers = await asyncio.gather(
            edit(store, ask, a_change(ask, 1), "ann"), edit(store, ask, a_change(ask, 2), "bob")
        )
        assert sorted(answer.ruling for answer in answers) == [Ruling.MISMATCH, Ruling.OK]
        assert len(approval_of(await read(store, ask)).votes) == 1


class TestSentAgain:
    """The same change by the same person is the same change."""

    @pytest.mark.parametrize("counts", [True, False])
    async def test_it_changes_nothing(self, store: Store, client: Redis, *, counts: bool) -> None:
        """A click that was repeated, on the card that was shown then."""
        ask = await asked(store)
        change = a_change(ask, counts=counts)
        await edit(store, ask, change)
        before = await dump(client)
        answer = await edit(store, ask, change)
        assert (answer.ruling, approval_of(answer).digest) == (Ruling.UNCHANGED, change.digest)
        assert await dump(client) == before

    async def test_also_when_all_is_over(self, store: Store) -> None:
        """The record as it is now, whatever became of it."""
        ask = await asked(store)
        change = a_change(ask, counts=True)
        await edit(store, ask, change)
        await spend(store, ask, **spending(change))
        answer = await edit(store, ask, change)
        assert (answer.ruling, approval_of(answer).status) == (Ruling.UNCHANGED, Status.CONSUMED)

    async def test_another_s_is_not_the_same(self, store: Store) -> None:
        """Made of the card as it was before."""
        ask = await asked(store)
        change = a_change(ask)
        await edit(store, ask, change)
        assert (await edit(store, ask, change, "bob")).ruling is Ruling.MISMATCH

    async def test_one_that_was_superseded_is_not_made_again(self, store: Store) -> None:
        """Neither by its author."""
        ask = await asked(store)
        first, second = a_change(ask, 1), a_change(ask, 2)
        await edit(store, ask, first)
        await edit(store, ask, second, "bob", digest=first.digest)
        assert (await edit(store, ask, first)).ruling is Ruling.MISMATCH

    async def test_an_approval_of_what_was_asked_comes_too_late(self, store: Store) -> None:
        """It is on an old card, though it was cast before."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "bob")
        await edit(store, ask, a_change(ask))
        for person in ("bob", "cid"):
            assert (await cast(store, ask, person)).ruling is Ruling.MISMATCH


@pytest.mark.parametrize(
    ("changes", "ruling"),
    [
        ({"hidden": True}, Ruling.MISSING),
        ({"digest": "0" * 64, "refusal": "FORBIDDEN"}, Ruling.MISMATCH),
        ({"refusal": "FORBIDDEN"}, Ruling.REFUSED),
    ],
)
async def test_a_change_that_is_refused_changes_nothing(
    store: Store, changes: dict[str, Any], ruling: Ruling
) -> None:
    """Judged as any vote is."""
    ask = await asked(store)
    before = approval_of(await read(store, ask))
    assert (await edit(store, ask, a_change(ask, counts=True), required=2, **changes)).ruling is ruling
    after = approval_of(await read(store, ask))
    assert after == before


@pytest.mark.parametrize(
    ("end", "ruling"),
    [
        ("approve", Ruling.DECIDED),
        ("reject", Ruling.DECIDED),
        ("cancel", Ruling.CANCELLED),
        ("", Ruling.EXPIRED),
    ],
)
async def test_what_has_ended_is_not_changed(
    store: Store, clock: ManualClock, end: str, ruling: Ruling
) -> None:
    """A grant is for what was granted."""
    ask = await asked(store)
    if end == "cancel":
        await cancel(store, ask)
    elif end:
        await cast(store, ask, "bob", Verdict(end))
    else:
        clock.move(WAIT_MS + 1)
    assert (await edit(store, ask, a_change(ask))).ruling is ruling
    assert approval_of(await read(store, ask)).requested is None
