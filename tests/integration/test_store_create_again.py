"""Asking again: the re-sent call, the idempotency key, the identical question that is still pending."""

from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.store.opened import Store
from tests.factories import T0_MS, ManualClock, a_creation, an_ask
from tests.steps import (
    WAIT_MS,
    approval_of,
    asked,
    cancel,
    consumed,
    dump,
    events,
    in_status,
)

BODY, OTHER_BODY = b"a" * 32, b"b" * 32
KEYED = {"idempotency": ("key", BODY)}


@pytest.mark.parametrize("changes", [{}, {"chosen_id": True}, KEYED], ids=["plain", "chosen id", "keyed"])
async def test_a_re_sent_create_knows_its_own(store: Store, client: Redis, changes: dict[str, Any]) -> None:
    """The very same call, sent again by the link, hears that it made the record, and makes no other."""
    ask = an_ask()
    new = a_creation(ask, **changes)
    await store.approvals.create(ask, new, epoch=0)
    before = await dump(client)
    again = await store.approvals.create(ask, new, epoch=0)
    assert (again.ruling, approval_of(again).ask.id) == (Ruling.OK, ask.id)
    assert await dump(client) == before


class TestIdempotencyKey:
    """The key is compared by the hash of the admitted body, per client."""

    async def test_the_same_body_is_replayed(self, store: Store, client: Redis) -> None:
        """A hundred repetitions are one record and one event (B28)."""
        first = await asked(store, new=KEYED)
        for _ in range(99):
            ask = an_ask()
            again = await store.approvals.create(ask, a_creation(ask, **KEYED), epoch=0)
            assert (again.ruling, approval_of(again).ask.id) == (Ruling.REPLAYED, first.id)
        assert await events(client) == [(first.id, "requested")]

    async def test_another_body_conflicts(self, store: Store, client: Redis) -> None:
        """The same key with other words is refused, and nothing is written."""
        await asked(store, new=KEYED)
        before = await dump(client)
        ask = an_ask()
        answer = await store.approvals.create(ask, a_creation(ask, idempotency=("key", OTHER_BODY)), epoch=0)
        assert (answer.ruling, answer.record) == (Ruling.CONFLICT, None)
        assert await dump(client) == before

    async def test_another_client_has_its_own_keys(self, store: Store) -> None:
        """A key belongs to the client that sent it."""
        first = await asked(store, new=KEYED)
        second = await asked(store, new=KEYED, asked_by="other", audience="other")
        assert first.id != second.id

    @pytest.mark.parametrize("status", list(Status))
    async def test_it_answers_with_the_record_as_it_is_now(
        self, store: Store, clock: ManualClock, status: Status
    ) -> None:
        """Whatever has become of the record, the replay says so."""
        first = await in_status(store, clock, status, new=KEYED)
        ask = an_ask()
        again = await store.approvals.create(ask, a_creation(ask, **KEYED), epoch=0)
        assert (again.ruling, approval_of(again).ask.id) == (Ruling.REPLAYED, first.id)
        assert approval_of(again).status is status

    async def test_it_is_judged_before_the_deadline(self, store: Store, clock: ManualClock) -> None:
        """A replay asks for nothing new, so its absolute deadline may have passed meanwhile."""
        soon = {**KEYED, "expires_in_ms": None, "expires_at_ms": T0_MS + 1_000}
        first = await asked(store, new=soon)
        clock.move(5_000)
        ask = an_ask()
        again = await store.approvals.create(ask, a_creation(ask, **soon), epoch=0)
        assert (again.ruling, approval_of(again).ask.id) == (Ruling.REPLAYED, first.id)

    async def test_it_ends_with_its_record(self, store: Store, client: Redis) -> None:
        """After the record has been forgotten the key is free, even where its own end comes later."""
        first = await consumed(store, new=KEYED)
        await client.delete(*[f"{{placet:default}}:{part}:{first.id}" for part in "ali"])
        ask = an_ask()
        again = await store.approvals.create(ask, a_creation(ask, idempotency=("key", OTHER_BODY)), epoch=0)
        assert (again.ruling, approval_of(again).ask.id) == (Ruling.OK, ask.id)

    async def test_a_freed_key_is_kept_for_the_new_record(self, store: Store, client: Redis) -> None:
        """The retention of the old record's key does not cut the new one's short."""
        first = await consumed(store, new=KEYED)
        await client.delete(*[f"{{placet:default}}:{part}:{first.id}" for part in "ali"])
        await asked(store, new=KEYED)
        assert await client.pttl("{placet:default}:k:runtime:key") == -1


class TestJoining:
    """An identical question of the same client gets the one that is pending."""

    JOIN = {"join": "same"}  # noqa: RUF012 - never changed

    async def ask_again(self, store: Store, **changes: Any) -> tuple[Ruling, str]:
        """Ask the same, with a fresh id."""
        ask = an_ask()
        answer = await store.approvals.create(ask, a_creation(ask, **self.JOIN, **changes), epoch=0)
        return answer.ruling, approval_of(answer).ask.id

    async def test_it_joins(self, store: Store, client: Redis) -> None:
        """One record, one event, however often it is asked."""
        first = await asked(store, new=self.JOIN)
        before = await dump(client)
        assert await self.ask_again(store) == (Ruling.JOINED, first.id)
        assert await dump(client) == before

    @pytest.mark.parametrize("changes", [{"chosen_id": True}, KEYED], ids=["chosen id", "keyed"])
    async def test_an_id_or_a_key_never_joins(self, store: Store, changes: dict[str, Any]) -> None:
        """Who names its question means that one."""
        first = await asked(store, new=self.JOIN)
        ruling, found = await self.ask_again(store, **changes)
        assert (ruling, found == first.id) == (Ruling.OK, False)

    async def test_another_question_does_not_join(self, store: Store) -> None:
        """Other words, other deadline settings: another join hash, another record."""
        await asked(store, new={"join": "other"})
        assert (await self.ask_again(store))[0] is Ruling.OK

    @pytest.mark.parametrize("status", sorted(set(Status) - {Status.PENDING}))
    async def test_only_a_pending_one_is_joined(
        self, store: Store, clock: ManualClock, status: Status
    ) -> None:
        """An ended or decided question is never inherited (B14, B29)."""
        first = await in_status(store, clock, status, new=self.JOIN)
        ruling, found = await self.ask_again(store)
        assert (ruling, found == first.id) == (Ruling.OK, False)

    async def test_it_joins_at_the_very_deadline(self, store: Store, clock: ManualClock) -> None:
        """At the exact instant the question is alive."""
        first = await asked(store, new=self.JOIN)
        clock.move(WAIT_MS)
        assert await self.ask_again(store) == (Ruling.JOINED, first.id)

    async def test_it_finds_one_of_several(self, store: Store) -> None:
        """While any identical question is pending it is joined, also after a later one has ended."""
        first = await asked(store, new=self.JOIN)
        second = await asked(store, new={**self.JOIN, **KEYED})
        await cancel(store, second)
        assert await self.ask_again(store) == (Ruling.JOINED, first.id)

    async def test_it_joins_the_one_that_lives_longest(self, store: Store, clock: ManualClock) -> None:
        """Of several the joiner gets the most time."""
        await asked(store, new=self.JOIN)
        clock.move(10)
        second = await asked(store, new={**self.JOIN, **KEYED})
        assert await self.ask_again(store) == (Ruling.JOINED, second.id)

    async def test_a_re_sent_create_after_a_join_is_its_own(self, store: Store) -> None:
        """Joining and re-sending don't get in each other's way."""
        ask = an_ask()
        new = a_creation(ask, **self.JOIN)
        await store.approvals.create(ask, new, epoch=0)
        await self.ask_again(store)
        assert (await store.approvals.create(ask, new, epoch=0)).ruling is Ruling.OK
