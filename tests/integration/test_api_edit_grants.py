"""A grant of a changed call: that one runs and no other, and the change is what was sealed."""

from dataclasses import dataclass
from typing import Any

import pytest

from placet.domain.canonical import canonicalize
from tests.factories import ManualClock
from tests.harness import Party, reason, record, refusal
from tests.ruled import EDITABLE, LESS, Opening, Ruled, hash_of
from tests.tampering import BROKEN, a, held, log, original, rewritten

STRICTER = '[[rules.stricter]]\nwhen = { effect = ["write"] }'
MISMATCH = (409, "APPROVAL_INPUT_MISMATCH")


class TestRunning:
    """The effective call runs, and nothing else."""

    async def granted(self, under: Opening) -> tuple[Ruled, Party, dict[str, Any], dict[str, Any], str]:
        """A grant of a change: the runtime, what it asked, what it became, the token."""
        ruled = await under('edit = "counts"')
        runtime, (ann, _) = await ruled.parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        return ruled, runtime, asked, changed, await runtime.token(asked["id"])

    async def test_the_original_is_a_mismatch(self, under: Opening) -> None:
        """Before, and after the right one ran; which it may."""
        _, runtime, asked, changed, token = await self.granted(under)
        assert record(await runtime.introspect(asked, token)) == {
            "active": False,
            "error": "APPROVAL_INPUT_MISMATCH",
        }
        assert record(await runtime.introspect(changed, token)) == {"active": True}
        assert refusal(await runtime.consume(asked, token)) == MISMATCH
        spent = record(await runtime.consume(changed, token))
        assert (spent["input"], spent["requested"]["input"]) == (LESS, asked["input"])
        assert refusal(await runtime.consume(asked, token)) == MISMATCH
        assert record(await runtime.consume(changed, token))["replayed"] is True

    async def test_its_hash_alone_is_a_mismatch(self, under: Opening) -> None:
        """The service holds the effective input too."""
        _, runtime, _, changed, token = await self.granted(under)
        response = await runtime.consume(changed, token, input=..., input_hash=hash_of(LESS))
        assert refusal(response) == MISMATCH

    async def test_while_it_waits_the_original_is_a_mismatch_already(self, under: Opening) -> None:
        """The changed call is the one that is pending."""
        runtime, (ann, _) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert refusal(await runtime.consume(asked)) == MISMATCH
        assert refusal(await runtime.consume(changed)) == (409, "APPROVAL_PENDING")

    async def test_it_is_replayed_when_both_inputs_are_erased(self, under: Opening) -> None:
        """The hashes stay."""
        ruled, runtime, asked, changed, token = await self.granted(under)
        record(await runtime.consume(changed, token))
        await ruled.h.redis.delete(held(asked), original(asked))
        again = record(await runtime.consume(changed, token))
        assert again["replayed"] is True
        seen = await runtime.seen(asked["id"])
        assert (seen["input"], seen["input_hash"]) == (None, hash_of(LESS))
        assert seen["requested"] == {
            "input": None,
            "input_hash": asked["input_hash"],
            "digest": asked["digest"],
        }

    async def test_an_editor_who_may_decide_no_more_has_granted_nothing(self, under: Opening) -> None:
        """Revoked after the change that counted."""
        ruled, runtime, _, changed, token = await self.granted(under)
        await ruled.h.services.enrolment.revoke("default", "approver:ann")
        response = await runtime.consume(changed, token)
        assert reason(response) == (403, "FORBIDDEN", "approver-no-longer-entitled")

    @pytest.mark.parametrize(
        ("lines", "floors"),
        [
            (['edit = "no"'], ""),
            (['edit = "yes"'], ""),
            (['edit = "counts"', STRICTER, 'edit = "yes"'], ""),
            (['edit = "counts"'], '[[capabilities]]\nmatch = ["orders.*"]\nleast_risk = "high"\n'),
        ],
        ids=["no change any more", "none that counts", "none that counts here", "a grave call now"],
    )
    async def test_a_rule_that_lets_a_change_count_no_more(
        self, under: Opening, lines: list[str], floors: str
    ) -> None:
        """The grant rested on that alone: it is kept, and not used."""
        ruled, runtime, _, changed, token = await self.granted(under)
        await ruled.now(*lines, floors=floors)
        response = await runtime.consume(changed, token)
        assert refusal(response) == (403, "FORBIDDEN")
        assert (await runtime.seen(changed["id"]))["status"] == "approved"

    async def test_it_can_be_withdrawn(self, under: Opening) -> None:
        """As any grant."""
        _, runtime, asked, changed, token = await self.granted(under)
        assert record(await runtime.cancel(asked["id"]))["status"] == "cancelled"
        assert refusal(await runtime.consume(changed, token)) == (409, "APPROVAL_CANCELLED")

    async def test_it_expires(self, under: Opening, clock: ManualClock) -> None:
        """As any grant."""
        _, runtime, asked, changed, token = await self.granted(under)
        clock.move(900_001)
        assert (await runtime.seen(asked["id"]))["status"] == "expired"
        assert refusal(await runtime.consume(changed, token)) == (409, "APPROVAL_EXPIRED")


@dataclass(frozen=True)
class Changed:
    """A question that ann changed, and what is shown of it."""

    ruled: Ruled
    runtime: Party
    bob: Party
    shown: dict[str, Any]

    @property
    def redis(self) -> Any:
        """The store, for somebody who can only write it."""
        return self.ruled.h.redis


@pytest.fixture(params=["pending", "approved"])
async def changed(request: pytest.FixtureRequest, under: Opening) -> Changed:
    """In either state."""
    ruled = await under(f'edit = "{"counts" if request.param == "approved" else "yes"}"')
    runtime, (ann, bob) = await ruled.parties()
    shown = record(await ann.decide(await runtime.asked(**EDITABLE), "edit", input=LESS))
    assert shown["status"] == request.param
    return Changed(ruled, runtime, bob, shown)


class TestTampering:
    """What was asked, what was made of it and who did is sealed: who only writes the store changes none."""

    @pytest.mark.parametrize("part", ["effective", "original", "both exchanged"])
    async def test_neither_input_is_exchanged(self, changed: Changed, part: str) -> None:
        """An approver compares the two; neither is shown but as it was."""
        redis, bob, shown = changed.redis, changed.bob, changed.shown
        if part == "both exchanged":
            first, second = await redis.get(held(shown)), await redis.get(original(shown))
            await redis.mset({held(shown): second, original(shown): first})
        else:
            key = held(shown) if part == "effective" else original(shown)
            await redis.set(key, canonicalize({"order": "A-1", "amount": 5_000}))
        assert refusal(await bob.read(shown["id"])) == BROKEN
        assert refusal(await bob.decide(shown)) == BROKEN
        assert record(await bob.list())["items"] == []

    @pytest.mark.parametrize("member", ["counts", "digest", "input_hash"])
    async def test_the_edit_is_sealed(self, changed: Changed, member: str) -> None:
        """What it made, and whether it counts."""
        bob, shown = changed.bob, changed.shown
        value: Any = shown["status"] == "pending" if member == "counts" else "0" * 64
        await rewritten(changed.redis, log(shown), 1, lambda vote: vote["edited"].update({member: value}))
        for party in (changed.runtime, bob):
            assert refusal(await party.read(shown["id"])) == BROKEN
        assert refusal(await bob.decide(shown)) == BROKEN

    @pytest.mark.parametrize("digest", [b"\0" * 32, b""], ids=["another", "none"])
    async def test_the_digest_that_was_asked_is_the_one_that_was(
        self, changed: Changed, digest: bytes
    ) -> None:
        """It follows from the sealed question."""
        await changed.redis.hset(a(changed.shown), "h", digest)
        assert refusal(await changed.bob.read(changed.shown["id"])) == BROKEN

    async def test_a_change_that_does_not_count_is_not_called_a_grant(self, changed: Changed) -> None:
        """Flipped to approved in the store; nor is one that counts where it takes two."""
        shown, required = changed.shown, {"pending": "1", "approved": "2"}[changed.shown["status"]]
        flipped = {"s": "approved", "b": "1800000900000", "q": required}
        await changed.redis.hset(a(shown), mapping=flipped)
        assert refusal(await changed.runtime.read(shown["id"])) == BROKEN
        assert refusal(await changed.runtime.consume(shown)) == BROKEN

    async def test_the_original_does_not_run_in_its_place(self, changed: Changed) -> None:
        """Its digest, call and input put back under the approval of the change."""
        redis, runtime, shown = changed.redis, changed.runtime, changed.shown
        asked = {**shown, **shown["requested"]}
        call = await redis.hget(a(await runtime.asked(**EDITABLE)), "c")
        back = {"g": bytes.fromhex(asked["digest"]), "c": call, "s": "approved", "b": "1800000900000"}
        await redis.hset(a(shown), mapping=back)
        await redis.set(held(shown), canonicalize(asked["input"]))
        assert refusal(await runtime.read(shown["id"])) == BROKEN
        assert refusal(await runtime.consume(asked)) == BROKEN
