"""Approve with changes: another input, another question, on which everybody else has yet to vote."""

from msgspec import Raw
from redis.asyncio import Redis

from placet.domain import binding
from placet.domain.machine import Ruling
from placet.domain.model import Requested, Status, Verdict
from placet.store.opened import Store
from tests.ballots import cast, edit
from tests.factories import INPUT, a_change, a_creation, an_ask, digest_of
from tests.steps import TENANT, approval_of, asked, events, read, record_of, trail_of

TAG = "{placet:default}:"
REJECT = Verdict.REJECT


class TestTheChange:
    """What an edit does to the record."""

    async def test_the_effective_input_is_the_new_one(self, store: Store) -> None:
        """Its input, its hash, its digest and the call that may run; and the vote says so."""
        ask = await asked(store)
        change = a_change(ask)
        answer = await edit(store, ask, change)
        approval = approval_of(answer)
        assert answer.ruling is Ruling.OK
        assert (approval.input, approval.digest) == (Raw(change.input), change.digest)
        assert approval.input_hash == binding.input_hash(change.input)
        assert record_of(answer).state().call == change.call
        (cast,) = approval.votes
        assert cast.vote.edited is not None
        assert (cast.vote.decision, cast.vote.digest) == (Verdict.EDIT, digest_of(ask))
        assert (cast.vote.edited.digest, cast.vote.edited.counts) == (change.digest, False)

    async def test_the_original_is_kept(self, store: Store) -> None:
        """Input, hash and digest as they were asked, and the ask is untouched."""
        ask = await asked(store)
        approval = approval_of(await edit(store, ask, a_change(ask)))
        assert approval.requested == Requested(
            input=Raw(INPUT), input_hash=ask.input_hash, digest=digest_of(ask)
        )
        assert approval.ask == ask
        assert approval_of(await read(store, ask)) == approval

    async def test_one_that_was_never_changed_has_no_other(self, store: Store, client: Redis) -> None:
        """Nothing is kept twice."""
        ask = await asked(store)
        assert approval_of(await cast(store, ask, "ann")).requested is None
        assert await client.exists(f"{TAG}o:{ask.id}") == 0

    async def test_earlier_votes_are_superseded(self, store: Store) -> None:
        """They were on another input: they stay on record and count no more."""
        ask = await asked(store, new={"required": 3})
        for person in ("ann", "bob"):
            await cast(store, ask, person)
        change = a_change(ask, counts=True)
        approval = approval_of(await edit(store, ask, change, "cid"))
        assert (approval.status, approval.approved) == (Status.PENDING, 1)
        assert [each.vote.approver.id for each in approval.votes] == ["ann", "bob", "cid"]
        assert approval_of(await cast(store, ask, "ann", digest=change.digest)).approved == 2

    async def test_rejections_are_superseded_too(self, store: Store) -> None:
        """They did not decide, and were on another input."""
        ask = await asked(store)
        await cast(store, ask, "bob", REJECT, rejections=2)
        change = a_change(ask)
        assert approval_of(await edit(store, ask, change, rejections=2)).rejected == 0
        assert approval_of(await cast(store, ask, "bob", digest=change.digest)).status is Status.APPROVED

    async def test_nobody_joins_it(self, store: Store) -> None:
        """The same question as before is a new one; and what it became is not joined either."""
        ask = await asked(store, new={"join": "same"})
        await edit(store, ask, a_change(ask))
        again = an_ask()
        answer = await store.approvals.create(again, a_creation(again, join="same"), epoch=0)
        assert (answer.ruling, approval_of(answer).ask.id) == (Ruling.OK, again.id)

    async def test_its_key_still_leads_to_it(self, store: Store) -> None:
        """Asking again with the idempotency key answers it as it is now."""
        keyed = {"idempotency": ("key", b"a" * 32)}
        ask = await asked(store, new=keyed)
        change = a_change(ask)
        await edit(store, ask, change)
        again = an_ask()
        answer = await store.approvals.create(again, a_creation(again, **keyed), epoch=0)
        assert (answer.ruling, approval_of(answer).digest) == (Ruling.REPLAYED, change.digest)

    async def test_its_trail_and_the_stream_tell_of_it(self, store: Store, client: Redis) -> None:
        """By the editor; a change that decides nothing yet is an event of its own."""
        ask = await asked(store)
        change = a_change(ask)
        await edit(store, ask, change)
        answer = await cast(store, ask, "bob", digest=change.digest)
        assert [(line.type, line.by) for line in trail_of(answer)] == [
            ("requested", "runtime"),
            ("edited", "ann"),
            ("approved", "bob"),
        ]
        assert await events(client) == [(ask.id, each) for each in ("requested", "edited", "approved")]

    async def test_lists_have_both_inputs(self, store: Store) -> None:
        """As a reading does."""
        ask = await asked(store)
        await edit(store, ask, a_change(ask))
        page = await store.approvals.page(TENANT, "x:p", after=None, limit=9, epoch=0)
        (found,) = page.records
        assert found.approval() == approval_of(await read(store, ask))


class TestWhetherItCounts:
    """A change is its author's approval where the rule lets it be, and is not where not."""

    async def test_one_that_counts_grants_at_a_quorum_of_one(self, store: Store, client: Redis) -> None:
        """Alone; the line of the log is an approval's."""
        ask = await asked(store, use_within_ms=5_000)
        answer = await edit(store, ask, a_change(ask, counts=True))
        approval = approval_of(answer)
        assert (approval.status, approval.approved) == (Status.APPROVED, 1)
        assert approval.use_by_ms == answer.now_ms + 5_000
        assert await events(client) == [(ask.id, "requested"), (ask.id, "approved")]

    async def test_one_that_counts_is_one_of_several(self, store: Store) -> None:
        """At a quorum of two it takes another, on what it became."""
        ask = await asked(store, new={"required": 2})
        change = a_change(ask, counts=True)
        assert approval_of(await edit(store, ask, change)).status is Status.PENDING
        assert approval_of(await cast(store, ask, "bob", digest=change.digest)).status is Status.APPROVED

    async def test_a_rule_of_today_may_take_more(self, store: Store) -> None:
        """Than the one it was asked under, for an edit as for any vote."""
        ask = await asked(store)
        approval = approval_of(await edit(store, ask, a_change(ask, counts=True), required=2))
        assert (approval.status, approval.required, approval.approved) == (Status.PENDING, 2, 1)

    async def test_one_that_does_not_waits_for_another(self, store: Store) -> None:
        """Nobody has approved yet."""
        ask = await asked(store)
        change = a_change(ask)
        approval = approval_of(await edit(store, ask, change))
        assert (approval.status, approval.approved, approval.rejected) == (Status.PENDING, 0, 0)
        assert approval_of(await cast(store, ask, "bob", digest=change.digest)).status is Status.APPROVED

    async def test_its_author_does_not_approve_it(self, store: Store) -> None:
        """Also not in a second call; the attempt is recorded."""
        ask = await asked(store)
        change = a_change(ask)
        await edit(store, ask, change)
        answer = await cast(store, ask, "ann", digest=change.digest)
        assert (answer.ruling, approval_of(answer).approved) == (Ruling.REVERSED, 0)
        assert (trail_of(answer)[-1].code, trail_of(answer)[-1].by) == ("FORBIDDEN", "ann")

    async def test_its_author_may_reject_it(self, store: Store) -> None:
        """A second thought; then nobody can approve, its author least of all."""
        ask = await asked(store)
        change = a_change(ask)
        await edit(store, ask, change)
        assert (
            approval_of(await cast(store, ask, "ann", REJECT, digest=change.digest)).status is Status.REJECTED
        )
        assert (await cast(store, ask, "bob", digest=change.digest)).ruling is Ruling.DECIDED

    async def test_who_rejected_does_not_change_it(self, store: Store) -> None:
        """A rejection is not turned, not by way of an edit either."""
        ask = await asked(store)
        await cast(store, ask, "ann", REJECT, rejections=2)
        answer = await edit(store, ask, a_change(ask, counts=True), rejections=2)
        assert answer.ruling is Ruling.REVERSED
        assert approval_of(answer).digest == digest_of(ask)

    async def test_who_approved_may_change_it(self, store: Store) -> None:
        """What they approved is no more; they count anew where the change counts, else not."""
        ask = await asked(store, new={"required": 2})
        await cast(store, ask, "ann")
        assert approval_of(await edit(store, ask, a_change(ask))).approved == 0
