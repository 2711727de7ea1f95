"""Who has approved a question that somebody changed: on what it became, and nobody their own change alone."""

import asyncio
from typing import Any

import jwt
import pytest

from tests.harness import quorum, reason, record, refusal
from tests.ruled import EDITABLE, LESS, Opening, hash_of
from tests.tools import until

NOT_ALLOWED = (403, "FORBIDDEN", "decision-not-allowed")
MISMATCH = (409, "APPROVAL_INPUT_MISMATCH")


class TestWhoApproves:
    """A change is its author's yes where the rule lets it be, and never the only one of a grave call."""

    async def test_where_it_does_not_count_another_is_needed(self, under: Opening) -> None:
        """Its author may say no, not yes."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert reason(await ann.decide(changed)) == NOT_ALLOWED
        assert (await runtime.seen(asked["id"]))["status"] == "pending"
        approved = record(await bob.decide(changed))
        assert (approved["status"], approved["quorum"]) == ("approved", quorum(approved=1))

    async def test_its_author_may_say_no(self, under: Opening) -> None:
        """On second thoughts."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert record(await ann.decide(changed, "reject"))["status"] == "rejected"
        assert refusal(await bob.decide(changed)) == (409, "APPROVAL_ALREADY_DECIDED")

    async def test_where_it_counts_it_grants(self, under: Opening) -> None:
        """One is enough, and that one is its author; the token says so."""
        runtime, (ann, _) = await (await under('edit = "counts"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert (changed["status"], changed["quorum"]) == ("approved", quorum(approved=1))
        claims = jwt.decode(await runtime.token(asked["id"]), options={"verify_signature": False})
        assert [approver["id"] for approver in claims["apr"]] == ["ann"]
        assert (claims["dig"], claims["ih"]) == (changed["digest"], hash_of(LESS))

    @pytest.mark.parametrize(
        "grave", [{"effect": "destructive"}, {"effect": "external"}, {"risk": "high"}, {"risk": "critical"}]
    )
    async def test_on_a_grave_call_it_is_never_the_only_one(
        self, under: Opening, grave: dict[str, Any]
    ) -> None:
        """Whatever the rule says, somebody else has to agree."""
        runtime, (ann, bob) = await (await under('edit = "counts"')).parties()
        asked = await runtime.asked(**{**EDITABLE, **grave})
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert (changed["status"], changed["quorum"]) == ("pending", quorum())
        assert reason(await ann.decide(changed)) == NOT_ALLOWED
        assert record(await bob.decide(changed))["status"] == "approved"

    async def test_on_a_grave_call_it_can_be_one_of_two(self, under: Opening) -> None:
        """Where two have to say yes, its author may be one of them."""
        runtime, (ann, bob) = await (await under('edit = "counts"', "quorum = 2")).parties()
        asked = await runtime.asked(**{**EDITABLE, "effect": "destructive"})
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert (changed["status"], changed["quorum"]) == ("pending", quorum(required=2, approved=1))
        assert record(await bob.decide(changed))["status"] == "approved"
        record(await runtime.consume(changed, await runtime.token(asked["id"])))

    async def test_a_floor_of_today_makes_a_call_grave(self, under: Opening) -> None:
        """Also where it was asked before the operator knew better."""
        ruled = await under('edit = "counts"')
        runtime, (ann, _) = await ruled.parties()
        asked = await runtime.asked(**EDITABLE)
        floors = '[[capabilities]]\nmatch = ["orders.*"]\nleast_effect = "destructive"\n'
        await ruled.now('edit = "counts"', floors=floors)
        assert record(await ann.decide(asked, "edit", input=LESS))["status"] == "pending"

    async def test_votes_before_it_count_no_more(self, under: Opening) -> None:
        """They were on another input; they stay on record, and can be given anew."""
        runtime, (ann, bob, cy) = await (await under('edit = "yes"', "quorum = 2")).parties(
            "ann", "bob", "cy"
        )
        asked = await runtime.asked(**EDITABLE)
        record(await bob.decide(asked))
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert changed["quorum"] == quorum(required=2)
        assert [vote["digest"] for vote in changed["decisions"]] == [asked["digest"], changed["digest"]]
        assert refusal(await cy.decide(asked)) == MISMATCH
        assert refusal(await bob.decide(asked)) == MISMATCH
        assert record(await bob.decide(changed))["quorum"] == quorum(required=2, approved=1)
        assert record(await cy.decide(changed))["status"] == "approved"
        claims = jwt.decode(await runtime.token(asked["id"]), options={"verify_signature": False})
        assert [approver["id"] for approver in claims["apr"]] == ["bob", "cy"]

    async def test_who_said_no_does_not_change_it(self, under: Opening) -> None:
        """A no is not turned."""
        runtime, (ann, _) = await (await under('edit = "counts"', "rejections = 2")).parties()
        asked = await runtime.asked(**EDITABLE)
        record(await ann.decide(asked, "reject"))
        assert reason(await ann.decide(asked, "edit", input=LESS)) == NOT_ALLOWED


async def test_a_change_that_does_not_decide_ends_no_wait(under: Opening) -> None:
    """Whoever waits has the changed question once it is decided."""
    ruled = await under('edit = "yes"')
    h, (runtime, (ann, bob)) = ruled.h, await ruled.parties()
    asked = await runtime.asked(**EDITABLE)
    h.services.store.stream.start()
    task = asyncio.create_task(runtime.read(asked["id"], wait=30))
    await until(lambda: h.clock.timers == 1 or task.done(), "the waiter parks")
    changed = record(await ann.decide(asked, "edit", input=LESS))
    await asyncio.sleep(0.05)
    assert not task.done()
    record(await bob.decide(changed))
    seen = record(await task)
    assert (seen["status"], seen["input"]) == ("approved", LESS)
    await h.services.store.stream.stop()


class TestChangedAgain:
    """Every change makes another question of it."""

    async def test_the_last_one_counts(self, under: Opening) -> None:
        """And the original stays what was asked."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        first = record(await ann.decide(asked, "edit", input=LESS))
        second = record(await bob.decide(first, "edit", input={"order": "A-1", "amount": 3}))
        assert (second["input"]["amount"], second["requested"]) == (3, first["requested"])
        assert refusal(await ann.decide(first)) == MISMATCH
        assert reason(await bob.decide(second)) == NOT_ALLOWED
        assert record(await ann.decide(second))["status"] == "approved"
        token = await runtime.token(asked["id"])
        assert refusal(await runtime.consume(first, token)) == MISMATCH
        record(await runtime.consume(second, token))

    async def test_back_to_what_was_asked(self, under: Opening) -> None:
        """Votes from before the first change are void all the same, and nobody approves their own."""
        ruled = await under('edit = "yes"', "quorum = 2")
        runtime, (ann, bob, cy) = await ruled.parties("ann", "bob", "cy")
        asked = await runtime.asked(**EDITABLE)
        record(await cy.decide(asked))
        first = record(await ann.decide(asked, "edit", input=LESS))
        back = record(await bob.decide(first, "edit", input=asked["input"]))
        assert (back["digest"], back["input"]) == (asked["digest"], asked["input"])
        assert (back["quorum"], back["requested"]) == (quorum(required=2), first["requested"])
        record(await ann.decide(back))
        assert reason(await bob.decide(back)) == NOT_ALLOWED
        assert (await runtime.seen(asked["id"]))["status"] == "pending"
        assert record(await cy.decide(back))["status"] == "approved"

    async def test_sent_again_it_is_the_same(self, under: Opening) -> None:
        """A click repeated, on the card as it was: 200 with the record as it is now."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert record(await ann.decide(asked, "edit", input=LESS)) == changed
        assert refusal(await bob.decide(asked, "edit", input=LESS)) == MISMATCH
        approved = record(await bob.decide(changed))
        assert record(await ann.decide(asked, "edit", input=LESS)) == approved

    async def test_to_what_it_is_already_is_no_change(self, under: Opening) -> None:
        """Neither for its author nor for another: they approve it."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert refusal(await bob.decide(changed, "edit", input=LESS)) == (422, "INPUT_INVALID")

    async def test_on_an_old_card_is_a_mismatch(self, under: Opening) -> None:
        """Whoever has not seen the change changes nothing."""
        runtime, (ann, bob) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        changed = record(await ann.decide(asked, "edit", input=LESS))
        assert refusal(await bob.decide(asked, "edit", input=1)) == MISMATCH
        assert refusal(await bob.decide(asked)) == MISMATCH
        assert await runtime.seen(asked["id"]) == changed

    async def test_the_same_question_is_asked_anew(self, under: Opening) -> None:
        """It does not join what an approver has changed; an idempotency key still leads there."""
        runtime, (ann, _) = await (await under('edit = "yes"')).parties()
        asked = await runtime.asked(**EDITABLE)
        keyed = record(await runtime.ask(**EDITABLE, key="k"), 201)
        record(await ann.decide(asked, "edit", input=LESS))
        changed = record(await ann.decide(keyed, "edit", input=LESS))
        anew = record(await runtime.ask(**EDITABLE), 201)
        assert anew["id"] not in {asked["id"], keyed["id"]}
        assert record(await runtime.ask(**EDITABLE, key="k")) == changed
