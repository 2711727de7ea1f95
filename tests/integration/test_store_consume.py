"""Consuming: once, by the audience, for exactly the call that was approved."""

import asyncio
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.canonical import canonicalize
from placet.domain.machine import Ruling
from placet.domain.model import Effect, Status
from placet.store.opened import Store
from tests.factories import INPUT, T0_MS, ManualClock, a_spending, an_ask, call_of
from tests.steps import (
    TENANT,
    WAIT_MS,
    approval_of,
    approved,
    asked,
    cancel,
    consumed,
    dump,
    events,
    in_status,
    read,
    spend,
    trail_of,
)

OTHER_INPUT = canonicalize({"order": "A-1", "amount": 50})
OTHER_CALL = {"call": "0" * 64}


async def test_a_grant_is_spent(store: Store, clock: ManualClock, client: Redis) -> None:
    """The record names the execution, the client and the moment."""
    ask = await approved(store)
    clock.move(1_000)
    answer = await spend(store, ask)
    spent = approval_of(answer).consumption
    assert (answer.ruling, approval_of(answer).status) == (Ruling.OK, Status.CONSUMED)
    assert spent is not None
    assert (spent.execution_id, spent.client, spent.at_ms) == ("exec-1", "runtime", T0_MS + 1_000)
    assert await events(client) == [(ask.id, "requested"), (ask.id, "approved"), (ask.id, "consumed")]


async def test_the_audience_spends_what_another_asked_for(store: Store) -> None:
    """The grant is the audience's."""
    ask = await approved(store, audience="tool-server")
    assert (await spend(store, ask)).ruling is Ruling.OK


class TestReplay:
    """The same execution with the same call hears the same answer; nothing new is granted."""

    async def test_the_same_execution_is_replayed(self, store: Store, client: Redis) -> None:
        """A reply that was lost can be asked for again (B19)."""
        ask = await consumed(store)
        before = await dump(client)
        assert (await spend(store, ask)).ruling is Ruling.REPLAYED
        assert await dump(client) == before

    async def test_a_re_sent_consume_knows_its_own(self, store: Store) -> None:
        """The very same call, sent again by the link, is no replay."""
        ask = await approved(store)
        attempt = a_spending(ask)
        answers = [await store.approvals.consume(TENANT, ask.id, attempt, epoch=0) for _ in range(2)]
        assert [answer.ruling for answer in answers] == [Ruling.OK, Ruling.OK]

    async def test_another_execution_hears_who_had_it(self, store: Store) -> None:
        """The record says which execution consumed it (B19)."""
        ask = await consumed(store)
        answer = await spend(store, ask, execution_id="exec-2")
        spent = approval_of(answer).consumption
        assert answer.ruling is Ruling.CONSUMED
        assert spent is not None
        assert spent.execution_id == "exec-1"

    async def test_another_input_is_a_mismatch(self, store: Store) -> None:
        """The same execution with another call is not that execution."""
        ask = await consumed(store)
        assert (await spend(store, ask, **OTHER_CALL)).ruling is Ruling.MISMATCH

    async def test_another_execution_is_judged_before_its_input(self, store: Store) -> None:
        """Another execution with another call hears that it is consumed."""
        ask = await consumed(store)
        assert (await spend(store, ask, execution_id="exec-2", **OTHER_CALL)).ruling is Ruling.CONSUMED

    async def test_it_needs_no_token_and_no_time(self, store: Store, clock: ManualClock) -> None:
        """After ``use_by``, without a token: nothing is granted, so nothing is asked."""
        ask = await consumed(store)
        clock.move(WAIT_MS + 1)
        assert (await spend(store, ask, token_digest=None)).ruling is Ruling.REPLAYED

    @pytest.mark.parametrize(
        ("presented", "ruling"),
        [
            ({}, Ruling.REPLAYED),
            ({"input": None}, Ruling.REPLAYED),
            (OTHER_CALL, Ruling.MISMATCH),
        ],
    )
    async def test_an_erased_input_leaves_its_hash(
        self, store: Store, client: Redis, presented: dict[str, Any], ruling: Ruling
    ) -> None:
        """After the input's retention the call hash is compared alone."""
        ask = await consumed(store)
        await client.delete("{placet:default}:i:" + ask.id)
        assert (await spend(store, ask, **presented)).ruling is ruling


class TestBinding:
    """What was approved is what runs."""

    @pytest.mark.parametrize(
        "presented",
        [
            OTHER_CALL,
            {"input": OTHER_INPUT},
            {"input": None},
            {"input": b""},
            {"input": INPUT + b" "},
        ],
        ids=["another call", "other bytes", "hash only", "empty", "other spelling"],
    )
    async def test_anything_else_is_a_mismatch(self, store: Store, presented: dict[str, Any]) -> None:
        """Never hash only: the canonical bytes are compared besides the call hash."""
        ask = await approved(store)
        assert (await spend(store, ask, **presented)).ruling is Ruling.MISMATCH

    @pytest.mark.parametrize(
        "changes",
        [
            {"capability": "files.delete"},
            {"surface": "mcp"},
            {"effect": Effect.READ},
            {"input_hash": "0" * 64},
        ],
    )
    async def test_every_bound_member_is_compared(self, store: Store, changes: dict[str, Any]) -> None:
        """Another capability, surface, effect or input hash is another call (B02, B05, B10)."""
        ask = await approved(store)
        presented = an_ask(id=ask.id, **changes)
        assert (await spend(store, ask, call=call_of(presented))).ruling is Ruling.MISMATCH

    @pytest.mark.parametrize(
        ("bound", "presented"),
        [("\u00e9", "e\u0301"), ("1000", 1000)],
        ids=["no normalisation", "no conversion"],
    )
    async def test_like_is_not_equal(self, store: Store, bound: Any, presented: Any) -> None:
        """Two Unicode forms, a number and its text: different bytes are different inputs (B53, B54)."""
        ask = await approved(store, new={"input": canonicalize({"p": bound})})
        answer = await spend(store, ask, input=canonicalize({"p": presented}))
        assert answer.ruling is Ruling.MISMATCH

    @pytest.mark.parametrize("presented", [None, INPUT])
    async def test_a_hidden_input_is_bound_by_its_hash(self, store: Store, presented: bytes | None) -> None:
        """Where the service never held the input the hash is all there is."""
        ask = await approved(store, input_held=False)
        assert (await spend(store, ask, input=presented)).ruling is Ruling.OK

    async def test_a_wrong_attempt_never_burns_the_grant(self, store: Store) -> None:
        """After every refusal the right call still goes through."""
        ask = await approved(store)
        for wrong in (OTHER_CALL, {"input": None}, {"token_digest": None}, {"client": "other"}):
            assert (await spend(store, ask, **wrong)).ruling is not Ruling.OK
        assert (await spend(store, ask)).ruling is Ruling.OK


class TestToken:
    """No token, no consumption."""

    @pytest.mark.parametrize(
        "token", [{"token_digest": None}, {"token_digest": "0" * 64}, {"token_exp_ms": 0}]
    )
    async def test_without_the_right_token_nothing_is_spent(
        self, store: Store, token: dict[str, Any]
    ) -> None:
        """Absent, of another digest, expired."""
        ask = await approved(store)
        answer = await spend(store, ask, **token)
        assert (answer.ruling, approval_of(answer).status) == (Ruling.TOKEN, Status.APPROVED)

    @pytest.mark.parametrize(("left_ms", "ruling"), [(1, Ruling.OK), (0, Ruling.TOKEN), (-1, Ruling.TOKEN)])
    async def test_a_token_is_dead_at_its_exp(self, store: Store, left_ms: int, ruling: Ruling) -> None:
        """RFC 7519 section 4.1.4: not accepted on or after it."""
        ask = await approved(store)
        assert (await spend(store, ask, token_exp_ms=T0_MS + left_ms)).ruling is ruling

    @pytest.mark.parametrize(("ahead_ms", "ruling"), [(0, Ruling.OK), (1, Ruling.TOKEN)])
    async def test_a_token_counts_from_its_first_moment(
        self, store: Store, ahead_ms: int, ruling: Ruling
    ) -> None:
        """One that is minted in the store's future grants nothing yet."""
        ask = await approved(store)
        assert (await spend(store, ask, token_from_ms=T0_MS + ahead_ms)).ruling is ruling

    async def test_a_right_that_was_lost_is_judged_last(self, store: Store) -> None:
        """Token and call are right, and only the right is not: that is said, and the grant kept."""
        ask = await approved(store)
        assert (await spend(store, ask, refusal="FORBIDDEN", token_digest=None)).ruling is Ruling.TOKEN
        assert (await spend(store, ask, refusal="FORBIDDEN", **OTHER_CALL)).ruling is Ruling.MISMATCH
        answer = await spend(store, ask, refusal="FORBIDDEN")
        assert (answer.ruling, approval_of(answer).status) == (Ruling.REFUSED, Status.APPROVED)
        assert trail_of(answer)[-1].code == "FORBIDDEN"
        assert (await spend(store, ask)).ruling is Ruling.OK

    async def test_a_replay_is_granted_nothing_new(self, store: Store) -> None:
        """What was consumed is told again, whoever lost which right since."""
        ask = await consumed(store)
        assert (await spend(store, ask, refusal="FORBIDDEN")).ruling is Ruling.REPLAYED

    async def test_the_token_is_judged_before_the_call(self, store: Store) -> None:
        """Who has no right hears nothing about the match."""
        ask = await approved(store)
        assert (await spend(store, ask, token_digest=None, **OTHER_CALL)).ruling is Ruling.TOKEN


class TestOrderOfJudgement:
    """What is wrong first is said."""

    async def test_an_unknown_record_is_missing(self, store: Store, client: Redis) -> None:
        """A made-up id creates nothing (B01)."""
        answer = await spend(store, an_ask())
        assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
        assert await dump(client) == {}

    @pytest.mark.parametrize("status", list(Status))
    async def test_an_outsider_hears_of_none(self, store: Store, clock: ManualClock, status: Status) -> None:
        """In every state the answer is that of an unknown record; the trail has the truth."""
        ask = await in_status(store, clock, status)
        answer = await spend(store, ask, client="other")
        assert (answer.ruling, answer.record) == (Ruling.MISSING, None)
        assert trail_of(await read(store, ask))[-1].code == "APPROVAL_RESUME_MISMATCH"

    @pytest.mark.parametrize("status", list(Status))
    @pytest.mark.parametrize(
        "changes", [{"client": "runtime"}, {"client": "auditor", "sees": True}], ids=["asker", "sees"]
    )
    async def test_only_the_audience_may(
        self, store: Store, clock: ManualClock, status: Status, changes: dict[str, Any]
    ) -> None:
        """Who may see it hears whose it is, in every state."""
        ask = await in_status(store, clock, status, audience="tool-server")
        answer = await spend(store, ask, **changes)
        assert (answer.ruling, approval_of(answer).status) == (Ruling.NOT_AUDIENCE, status)

    @pytest.mark.parametrize(
        ("status", "ruling"),
        [
            (Status.PENDING, Ruling.PENDING),
            (Status.REJECTED, Ruling.REJECTED),
            (Status.CANCELLED, Ruling.CANCELLED),
            (Status.EXPIRED, Ruling.EXPIRED),
        ],
    )
    async def test_the_state_forbids_it(
        self, store: Store, clock: ManualClock, status: Status, ruling: Ruling
    ) -> None:
        """Pending is not yet, the others are no more (B11, B13, B30)."""
        ask = await in_status(store, clock, status)
        answer = await spend(store, ask, token_digest=None)
        assert (answer.ruling, approval_of(answer).status) == (ruling, status)

    @pytest.mark.parametrize("status", [Status.REJECTED, Status.CANCELLED, Status.EXPIRED])
    async def test_an_ended_state_comes_before_the_match(
        self, store: Store, clock: ManualClock, status: Status
    ) -> None:
        """What has ended is not compared any more."""
        ask = await in_status(store, clock, status)
        assert (await spend(store, ask, **OTHER_CALL)).ruling == status.value

    async def test_pending_is_said_only_of_the_call_asked_about(self, store: Store) -> None:
        """Another call is a mismatch even before anyone has decided."""
        ask = await asked(store)
        assert (await spend(store, ask, **OTHER_CALL)).ruling is Ruling.MISMATCH

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"token_digest": None}, "APPROVAL_TOKEN_INVALID"),
            (OTHER_CALL, "APPROVAL_INPUT_MISMATCH"),
            ({"client": "auditor", "sees": True}, "FORBIDDEN"),
        ],
    )
    async def test_a_refusal_is_recorded_by_its_code(
        self, store: Store, changes: dict[str, Any], code: str
    ) -> None:
        """Every refusal has a line in the trail that says who tried."""
        ask = await approved(store)
        last = trail_of(await spend(store, ask, **changes))[-1]
        assert (last.type, last.code, last.by) == ("refused", code, changes.get("client", "runtime"))


async def test_a_withdrawn_grant_is_not_spent(store: Store) -> None:
    """Cancelling comes in time until the very consumption."""
    ask = await approved(store)
    await cancel(store, ask)
    assert (await spend(store, ask)).ruling is Ruling.CANCELLED


async def test_fifty_executions_at_once_are_one(store: Store, client: Redis) -> None:
    """Of many executions one gets the grant."""
    ask = await approved(store)
    answers = await asyncio.gather(*(spend(store, ask, execution_id=f"exec-{i}") for i in range(50)))
    rulings = [answer.ruling for answer in answers]
    assert (rulings.count(Ruling.OK), rulings.count(Ruling.CONSUMED)) == (1, 49)
    assert [event for _, event in await events(client)].count("consumed") == 1


async def test_fifty_calls_of_one_execution_are_one_and_its_replays(store: Store) -> None:
    """Repetitions in flight at once are told from the first."""
    ask = await approved(store)
    answers = await asyncio.gather(*(spend(store, ask) for _ in range(50)))
    rulings = [answer.ruling for answer in answers]
    assert (rulings.count(Ruling.OK), rulings.count(Ruling.REPLAYED)) == (1, 49)
