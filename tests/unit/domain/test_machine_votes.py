"""The reference on votes: what the same person said before, and on which question."""

from typing import Any

import pytest
from msgspec import structs

from placet.domain import machine
from placet.domain.machine import Change, Decide, Ruling, State
from placet.domain.model import Status, Verdict

NOW = 1_000_000


def a_state(votes: tuple[tuple[str, Verdict], ...], status: Status = Status.PENDING) -> State:
    """A record of which these people have voted, three being needed."""
    return State(
        status=status,
        digest="digest",
        call="call",
        asked_by="agent",
        audience="tool",
        expires_at_ms=NOW,
        use_by_ms=None if status is Status.PENDING else NOW,
        required=3,
        votes=votes,
        input=b"{}",
    )


def a_vote(person: str, verdict: Verdict, **changes: Any) -> Decide:
    """On the card as it stands; an edit makes another one of it. It takes three to reject."""
    change = a_change("changed") if verdict is Verdict.EDIT else None
    members = {"person": person, "verdict": verdict, "digest": "digest", "rejections": 3, "change": change}
    return Decide(**{**members, **changes})


def a_change(digest: str, *, counts: bool = False) -> Change:
    """To a question with this digest."""
    return Change(digest=digest, call=f"call of {digest}", input=b"[]", counts=counts)


class TestOwnVote:
    """Of one person, on the card as it stands."""

    @pytest.mark.parametrize(
        ("mine", "verdict", "ruling"),
        [
            (Verdict.APPROVE, Verdict.APPROVE, Ruling.UNCHANGED),
            (Verdict.APPROVE, Verdict.REJECT, Ruling.OK),
            (Verdict.APPROVE, Verdict.EDIT, Ruling.OK),
            (Verdict.REJECT, Verdict.REJECT, Ruling.UNCHANGED),
            (Verdict.REJECT, Verdict.APPROVE, Ruling.REVERSED),
            (Verdict.REJECT, Verdict.EDIT, Ruling.REVERSED),
            (Verdict.EDIT, Verdict.APPROVE, Ruling.REVERSED),
            (Verdict.EDIT, Verdict.REJECT, Ruling.OK),
            (Verdict.EDIT, Verdict.EDIT, Ruling.OK),
            (None, Verdict.EDIT, Ruling.OK),
        ],
    )
    def test_what_follows_one_s_own_vote(
        self, mine: Verdict | None, verdict: Verdict, ruling: Ruling
    ) -> None:
        """From an approval to a rejection and never back; an editor may withdraw or change it once more."""
        votes = (("bob", Verdict.APPROVE), *(() if mine is None else (("ann", mine),)))
        state = a_state(votes)
        assert machine.judge_decide(state, a_vote("ann", verdict), NOW) is ruling

    @pytest.mark.parametrize("mine", [Verdict.REJECT, Verdict.EDIT])
    @pytest.mark.parametrize(
        ("changes", "ruling"),
        [({"digest": "x"}, Ruling.MISMATCH), ({"refusal": "FORBIDDEN"}, Ruling.REFUSED)],
    )
    def test_what_was_voted_before_is_looked_at_last(
        self, mine: Verdict, changes: dict[str, Any], ruling: Ruling
    ) -> None:
        """After the digest and the right to vote."""
        state = a_state((("ann", mine),))
        assert machine.judge_decide(state, a_vote("ann", Verdict.APPROVE, **changes), NOW) is ruling

    @pytest.mark.parametrize("status", Status)
    @pytest.mark.parametrize("mine", [Verdict.APPROVE, Verdict.EDIT])
    @pytest.mark.parametrize("shown", ["as asked", "digest"])
    def test_an_edit_sent_again_is_the_same(self, status: Status, mine: Verdict, shown: str) -> None:
        """Whatever the state, and whichever card it names: what it makes of the question stands already."""
        again = a_vote("ann", Verdict.EDIT, digest=shown, change=a_change("digest"))
        assert machine.judge_decide(a_state((("ann", mine),), status), again, NOW) is Ruling.UNCHANGED

    @pytest.mark.parametrize(
        ("votes", "changed", "shown", "ruling"),
        [
            ((), "digest", "as asked", Ruling.MISMATCH),
            ((("bob", Verdict.EDIT),), "digest", "as asked", Ruling.MISMATCH),
            ((("ann", Verdict.REJECT),), "digest", "as asked", Ruling.MISMATCH),
            ((("ann", Verdict.REJECT),), "other", "digest", Ruling.REVERSED),
            ((("ann", Verdict.EDIT),), "other", "as asked", Ruling.MISMATCH),
            ((("ann", Verdict.EDIT),), "other", "digest", Ruling.OK),
            ((("ann", Verdict.APPROVE),), "other", "digest", Ruling.OK),
        ],
    )
    def test_an_edit_is_of_the_card_as_it_stands(
        self, votes: tuple[tuple[str, Verdict], ...], changed: str, shown: str, ruling: Ruling
    ) -> None:
        """Another person's, or one that was superseded, is another."""
        vote = a_vote("ann", Verdict.EDIT, digest=shown, change=a_change(changed))
        assert machine.judge_decide(a_state(votes), vote, NOW) is ruling


class TestWhatRulesMakeOfVotes:
    """Rules may have changed since somebody voted."""

    REJECTED = (("ann", Verdict.REJECT),)

    @pytest.mark.parametrize("verdict", Verdict)
    def test_rejections_that_are_enough_by_now_end_it(self, verdict: Verdict) -> None:
        """Whatever the next one says: it is decided before that. Who rejected hears that it stands."""
        state = a_state(self.REJECTED)
        later = a_vote("bob", verdict, rejections=1)
        assert machine.is_rejected_by_now(state, later, NOW)
        assert machine.judge_decide(state, later, NOW) is Ruling.DECIDED
        again = a_vote("ann", Verdict.REJECT, rejections=1)
        assert machine.judge_decide(state, again, NOW) is Ruling.UNCHANGED
        assert not machine.is_rejected_by_now(state, a_vote("bob", verdict, rejections=2), NOW)
        assert not machine.is_rejected_by_now(state, a_vote("bob", verdict, rejections=1, weighed=()), NOW)
        assert not machine.is_rejected_by_now(state, later, NOW + 1), "it has expired"

    @pytest.mark.parametrize(
        ("changes", "ruling"),
        [
            ({}, Ruling.OK),
            ({"required": 4}, Ruling.UNCHANGED),
            ({"refusal": "FORBIDDEN"}, Ruling.UNCHANGED),
            ({"weighed": (("ann", Verdict.APPROVE), ("bob", Verdict.APPROVE))}, Ruling.UNCHANGED),
            ({"weighed": (("bob", Verdict.APPROVE), ("cid", Verdict.APPROVE))}, Ruling.OK),
            ({"verdict": Verdict.EDIT, "change": a_change("digest")}, Ruling.UNCHANGED),
        ],
    )
    def test_an_approval_given_again_counts_where_there_are_enough(
        self, changes: dict[str, Any], ruling: Ruling
    ) -> None:
        """Those whose approval was worth nothing for a while; it is anew where it still is not."""
        state = a_state(tuple((each, Verdict.APPROVE) for each in ("ann", "bob", "cid")))
        again = a_vote("ann", Verdict.APPROVE)
        assert machine.judge_decide(state, structs.replace(again, **changes), NOW) is ruling
