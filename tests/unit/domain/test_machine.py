"""The state machine: its table, its deadlines, and the order in which the reference judges."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain import machine
from placet.domain.limits import GRANT_FLOOR_MS, USE_WITHIN_MAX_MS
from placet.domain.machine import TERMINAL, TRANSITIONS, Consume, Decide, Ruling, State, Verb
from placet.domain.model import OutcomeStatus, Status, Verdict

NOW = 1_000_000
DEADLINE = NOW + 1_000
DONE = (OutcomeStatus.SUCCEEDED, "done")
moments = st.integers(0, 2**52)


def a_state(status: Status = Status.APPROVED, **changes: Any) -> State:
    """A record of ``agent``'s for ``tool``, decided where its status says so."""
    members: dict[str, Any] = {
        "status": status,
        "digest": "digest",
        "call": "call",
        "asked_by": "agent",
        "audience": "tool",
        "expires_at_ms": DEADLINE,
        "use_by_ms": None if status is Status.PENDING else DEADLINE,
        "votes": (("ann", Verdict.APPROVE),),
        "input": b"{}",
        "execution_id": "e1" if status is Status.CONSUMED else None,
    }
    return State(**{**members, **changes})


def an_attempt(**changes: Any) -> Consume:
    """The right one."""
    members: dict[str, Any] = {
        "client": "tool",
        "execution_id": "e1",
        "call": "call",
        "input": b"{}",
        "token_digest": "digest",
        "token_exp_ms": NOW + 1,
    }
    return Consume(**{**members, **changes})


class TestTable:
    """The whole of it in seven rows."""

    def test_four_states_are_final(self) -> None:
        """Nothing leaves them."""
        assert {Status.REJECTED, Status.EXPIRED, Status.CANCELLED, Status.CONSUMED} == TERMINAL

    def test_only_a_grant_is_spent(self) -> None:
        """Consumed follows approved and nothing else."""
        before = {status for (status, _), after in TRANSITIONS.items() if after is Status.CONSUMED}
        assert before == {Status.APPROVED}

    def test_nothing_becomes_pending_again(self) -> None:
        """A new attempt is a new approval."""
        assert Status.PENDING not in TRANSITIONS.values()

    def test_every_verb_is_in_it(self) -> None:
        """And leads to one state wherever it is allowed."""
        assert {verb for _, verb in TRANSITIONS} == set(Verb)
        assert len({(verb, after) for (_, verb), after in TRANSITIONS.items()}) == len(Verb)


class TestDeadline:
    """Dead when ``now > deadline``, alive at the very instant."""

    @pytest.mark.parametrize(
        ("status", "deadline_ms"),
        [(Status.PENDING, 5), (Status.APPROVED, 7), *((status, None) for status in sorted(TERMINAL))],
    )
    def test_it_depends_on_the_state(self, status: Status, deadline_ms: int | None) -> None:
        """``expires_at`` while pending, ``use_by`` while approved, none after the end."""
        assert machine.deadline_ms(a_state(status, expires_at_ms=5, use_by_ms=7)) == deadline_ms

    @pytest.mark.parametrize("status", [Status.PENDING, Status.APPROVED])
    @pytest.mark.parametrize(("late_ms", "dead"), [(-1, False), (0, False), (1, True)])
    def test_it_is_compared_once(self, status: Status, late_ms: int, *, dead: bool) -> None:
        """The same comparison for both."""
        state = a_state(status)
        settled = machine.settle(state.status, state.expires_at_ms, state.use_by_ms, DEADLINE + late_ms)
        assert settled is (Status.EXPIRED if dead else status)

    @given(status=st.sampled_from(sorted(TERMINAL)), now_ms=moments)
    def test_what_has_ended_does_not_expire(self, status: Status, now_ms: int) -> None:
        """However late it is."""
        assert machine.settle(status, DEADLINE, DEADLINE, now_ms) is status

    @given(status=st.sampled_from(Status), expires=moments, use_by=moments, one=moments, other=moments)
    def test_expired_stays_expired(
        self, status: Status, expires: int, use_by: int, one: int, other: int
    ) -> None:
        """What is dead at one moment is dead at every later one."""
        early, late = sorted((one, other))
        if machine.settle(status, expires, use_by, early) is Status.EXPIRED:
            assert machine.settle(status, expires, use_by, late) is Status.EXPIRED


class TestGrant:
    """How long a grant may wait to be used."""

    @given(expires_at_ms=moments, use_within_ms=st.none() | st.integers(1, 2**40), now_ms=moments)
    def test_never_more_than_a_day(self, expires_at_ms: int, use_within_ms: int | None, now_ms: int) -> None:
        """And always some time."""
        use_by_ms = machine.use_by_ms(expires_at_ms=expires_at_ms, use_within_ms=use_within_ms, now_ms=now_ms)
        assert 0 < use_by_ms - now_ms <= USE_WITHIN_MAX_MS

    @pytest.mark.parametrize(
        ("expires_at_ms", "use_within_ms", "grant_ms"),
        [
            (NOW, None, GRANT_FLOOR_MS),
            (NOW + GRANT_FLOOR_MS + 1, None, GRANT_FLOOR_MS + 1),
            (NOW + USE_WITHIN_MAX_MS + 1, None, USE_WITHIN_MAX_MS),
            (NOW + 500_000, 1, 1),
            (NOW, USE_WITHIN_MAX_MS + 1, USE_WITHIN_MAX_MS),
        ],
    )
    def test_its_deadline(self, expires_at_ms: int, use_within_ms: int | None, grant_ms: int) -> None:
        """What was asked for, else the later of the question's deadline and a minute."""
        use_by_ms = machine.use_by_ms(expires_at_ms=expires_at_ms, use_within_ms=use_within_ms, now_ms=NOW)
        assert use_by_ms - NOW == grant_ms


class TestConsume:
    """The order of judgement for consume."""

    @pytest.mark.parametrize(
        ("state", "attempt", "ruling"),
        [
            ({}, {}, Ruling.OK),
            ({}, {"client": "other"}, Ruling.MISSING),
            ({}, {"client": "other", "sees": True}, Ruling.NOT_AUDIENCE),
            ({}, {"client": "agent"}, Ruling.NOT_AUDIENCE),
            ({"status": Status.PENDING}, {}, Ruling.PENDING),
            ({"status": Status.PENDING}, {"call": "x"}, Ruling.MISMATCH),
            ({"status": Status.REJECTED}, {"call": "x"}, Ruling.REJECTED),
            ({"status": Status.CANCELLED}, {}, Ruling.CANCELLED),
            ({"use_by_ms": NOW - 1}, {}, Ruling.EXPIRED),
            ({"status": Status.CONSUMED, "execution_id": "e1"}, {"token_digest": None}, Ruling.REPLAYED),
            ({"status": Status.CONSUMED, "execution_id": "e1"}, {"call": "x"}, Ruling.MISMATCH),
            ({"status": Status.CONSUMED, "execution_id": "e2"}, {"call": "x"}, Ruling.CONSUMED),
            ({}, {"token_digest": None, "call": "x"}, Ruling.TOKEN),
            ({}, {"token_digest": "x"}, Ruling.TOKEN),
            ({}, {"token_exp_ms": NOW}, Ruling.TOKEN),
            ({}, {"token_from_ms": NOW}, Ruling.OK),
            ({}, {"token_from_ms": NOW + 1}, Ruling.TOKEN),
            ({}, {"refusal": "FORBIDDEN"}, Ruling.REFUSED),
            ({}, {"refusal": "FORBIDDEN", "token_exp_ms": NOW}, Ruling.TOKEN),
            ({}, {"call": "x"}, Ruling.MISMATCH),
            ({}, {"input": b"[]"}, Ruling.MISMATCH),
            ({}, {"input": None}, Ruling.MISMATCH),
            ({"input": None}, {"input": None}, Ruling.OK),
        ],
    )
    def test_what_is_wrong_first_is_said(
        self, state: dict[str, Any], attempt: dict[str, Any], ruling: Ruling
    ) -> None:
        """Who, state, deadline, token, match."""
        assert machine.judge_consume(a_state(**state), an_attempt(**attempt), NOW) is ruling


class TestDecide:
    """The order of judgement for a vote by someone who may see the record."""

    @pytest.mark.parametrize(
        ("status", "attempt", "ruling"),
        [
            (Status.PENDING, {}, Ruling.OK),
            (Status.PENDING, {"digest": "x", "refusal": "FORBIDDEN"}, Ruling.MISMATCH),
            (Status.PENDING, {"refusal": "FORBIDDEN"}, Ruling.REFUSED),
            (Status.PENDING, {"person": "ann", "required": 2}, Ruling.UNCHANGED),
            (Status.PENDING, {"person": "ann", "digest": "x"}, Ruling.MISMATCH),
            (Status.PENDING, {"person": "ann", "verdict": Verdict.REJECT}, Ruling.OK),
            (Status.EXPIRED, {"person": "ann"}, Ruling.UNCHANGED),
            (Status.EXPIRED, {"digest": "x"}, Ruling.EXPIRED),
            (Status.CANCELLED, {}, Ruling.CANCELLED),
            (Status.APPROVED, {"digest": "x"}, Ruling.DECIDED),
            (Status.REJECTED, {}, Ruling.DECIDED),
            (Status.CONSUMED, {}, Ruling.DECIDED),
        ],
    )
    def test_what_is_wrong_first_is_said(
        self, status: Status, attempt: dict[str, Any], ruling: Ruling
    ) -> None:
        """The same vote, state, digest, entitlement."""
        vote = Decide(**{"person": "bob", "verdict": Verdict.APPROVE, "digest": "digest", **attempt})
        assert machine.judge_decide(a_state(status), vote, NOW) is ruling

    def test_a_late_vote_finds_it_expired(self) -> None:
        """Whether or not anyone has written that down."""
        vote = Decide(person="bob", verdict=Verdict.APPROVE, digest="digest")
        assert machine.judge_decide(a_state(Status.PENDING), vote, DEADLINE + 1) is Ruling.EXPIRED


class TestCancel:
    """The order of judgement for a withdrawal."""

    @pytest.mark.parametrize(
        ("status", "ruling"),
        [
            (Status.PENDING, Ruling.OK),
            (Status.APPROVED, Ruling.OK),
            (Status.CANCELLED, Ruling.UNCHANGED),
            (Status.REJECTED, Ruling.REJECTED),
            (Status.EXPIRED, Ruling.EXPIRED),
            (Status.CONSUMED, Ruling.CONSUMED),
        ],
    )
    def test_the_state_decides(self, status: Status, ruling: Ruling) -> None:
        """For the asker and for administrators."""
        assert machine.judge_cancel(a_state(status), "agent", NOW) is ruling
        assert machine.judge_cancel(a_state(status), "other", NOW, admin=True) is ruling

    @pytest.mark.parametrize(
        ("client", "sees", "ruling"),
        [
            ("tool", False, Ruling.NOT_ASKER),
            ("other", True, Ruling.NOT_ASKER),
            ("other", False, Ruling.MISSING),
        ],
    )
    def test_others_may_not(self, client: str, ruling: Ruling, *, sees: bool) -> None:
        """Who sees it hears whose it is."""
        assert machine.judge_cancel(a_state(), client, NOW, sees=sees) is ruling


class TestOutcome:
    """The order of judgement for a report."""

    @pytest.mark.parametrize(
        ("state", "ruling"),
        [
            ({"status": Status.CONSUMED}, Ruling.OK),
            ({"status": Status.CONSUMED, "outcome": DONE}, Ruling.UNCHANGED),
            ({"status": Status.CONSUMED, "outcome": (OutcomeStatus.FAILED, "done")}, Ruling.CONFLICT),
            ({"status": Status.CONSUMED, "execution_id": "e2"}, Ruling.CONFLICT),
            ({"status": Status.APPROVED}, Ruling.CONFLICT),
            ({"status": Status.PENDING}, Ruling.PENDING),
            ({"status": Status.CANCELLED}, Ruling.CANCELLED),
            ({"status": Status.APPROVED, "use_by_ms": NOW - 1}, Ruling.EXPIRED),
        ],
    )
    def test_the_first_report_stands(self, state: dict[str, Any], ruling: Ruling) -> None:
        """By the execution that consumed."""
        assert machine.judge_outcome(a_state(**state), "tool", "e1", DONE, NOW) is ruling

    @pytest.mark.parametrize(
        ("client", "sees", "ruling"),
        [
            ("agent", False, Ruling.NOT_CONSUMER),
            ("other", True, Ruling.NOT_CONSUMER),
            ("other", False, Ruling.MISSING),
        ],
    )
    def test_others_may_not(self, client: str, ruling: Ruling, *, sees: bool) -> None:
        """Who sees it hears whose it is."""
        assert machine.judge_outcome(a_state(), client, "e1", DONE, NOW, sees=sees) is ruling
