"""From the scripts' parts to the domain's values: the folded approval, the trail, what is kept of them."""

from typing import Any

import pytest
from msgspec import UNSET

from placet.domain.model import OutcomeStatus, Status, TrailEntry, Verdict
from placet.store.codec import Report, Spent, Who
from placet.store.record import KEPT_RECORD_BYTES
from tests.factories import T0_MS, a_ballot, a_change, an_edit, digest_of
from tests.records import ANN, ASK, BOB, DEADLINE, a_line, a_record


class TestApproval:
    """Folding the log gives what happened; nothing is kept twice."""

    def test_a_pending_one(self) -> None:
        """The ask and its deadline, and nothing else yet."""
        approval = a_record().approval()
        assert (approval.ask, approval.status, approval.input_hash) == (ASK, Status.PENDING, ASK.input_hash)
        assert (approval.votes, approval.consumption, approval.outcome) == ((), None, None)
        assert (approval.requested_at_ms, approval.expires_at_ms, approval.use_by_ms) == (
            T0_MS,
            DEADLINE,
            None,
        )

    def test_a_finished_one(self) -> None:
        """Votes, consumption and outcome with their moments."""
        approval = a_record(
            a_line(T0_MS + 1, "voted", a_ballot(ASK, "ann").vote),
            a_line(T0_MS + 2, "refused:pending", Who(by="tool-server")),
            a_line(T0_MS + 3, "approved", a_ballot(ASK, "bob").vote),
            a_line(T0_MS + 4, "consumed", Spent(by="tool-server", execution_id="e1")),
            a_line(
                T0_MS + 5, "reported", Report(by="tool-server", status=OutcomeStatus.FAILED, summary="no")
            ),
            s="consumed",
            v=f"{ANN}a{BOB}a",
            q=2,
            b=DEADLINE,
        ).approval()
        assert [(cast.vote.approver.id, cast.at_ms) for cast in approval.votes] == [
            ("ann", T0_MS + 1),
            ("bob", T0_MS + 3),
        ]
        assert (approval.required, approval.approved, approval.use_by_ms) == (2, 2, DEADLINE)
        assert approval.consumption is not None
        assert (approval.consumption.client, approval.consumption.at_ms) == ("tool-server", T0_MS + 4)
        assert approval.outcome is not None
        assert (approval.outcome.status, approval.outcome.summary) == (OutcomeStatus.FAILED, "no")

    @pytest.mark.parametrize(("now_ms", "status"), [(DEADLINE, "pending"), (DEADLINE + 1, "expired")])
    def test_an_expiry_nobody_has_written_down(self, now_ms: int, status: str) -> None:
        """The reader judges by the moment it read at."""
        approval = a_record(now_ms=now_ms).approval()
        assert (approval.status, approval.now_ms) == (status, now_ms)

    def test_the_moment_is_not_kept(self) -> None:
        """The same parts read later are judged by the later moment."""
        early, late = a_record(now_ms=DEADLINE), a_record(now_ms=DEADLINE + 1)
        assert [each.approval().status for each in (early, late, early)] == ["pending", "expired", "pending"]

    @pytest.mark.parametrize(
        "ends", [(), ("rejected",), ("expired",), ("cancelled",), ("expired", "cancelled")]
    )
    def test_its_ends_are_those_of_the_log(self, ends: tuple[str, ...]) -> None:
        """Whatever the fields say: more than one, or another, tells of a store that was tampered with."""
        vote = a_ballot(ASK, "ann", Verdict.REJECT).vote
        lines = [a_line(T0_MS + 1, kind, vote if kind == "rejected" else Who(by="x")) for kind in ends]
        assert a_record(a_line(T0_MS, "refused:expired", Who(by="x")), *lines).approval().ends == {*ends}

    def test_an_erased_input_is_none(self) -> None:
        """The ask still says that there was one."""
        approval = a_record(held=None).approval()
        assert (approval.input, approval.ask.input_held) == (None, True)

    @pytest.mark.parametrize(("size", "small"), [(10, True), (KEPT_RECORD_BYTES, False)])
    def test_size_changes_nothing(self, size: int, *, small: bool) -> None:
        """Only small records are kept folded; all are folded alike."""
        record = a_record(held=b"x" * size)
        assert record.small is small
        assert bytes(record.approval().input or b"") == b"x" * size


class TestTrail:
    """The log as an audit trail."""

    def test_a_change_is_its_author_s(self) -> None:
        """As any decision is."""
        line = a_line(T0_MS + 1, "edited", an_edit(ASK, a_change(ASK)).vote)
        (_, entry) = a_record(line, h=bytes.fromhex(digest_of(ASK))).trail()
        assert (entry.at_ms, entry.type, entry.by, entry.channel) == (T0_MS + 1, "edited", "ann", "api")

    def test_a_vote_that_was_turned_down_for_an_earlier_one(self) -> None:
        """Is refused as what was not allowed."""
        trail = a_record(a_line(T0_MS + 1, "refused:reversed", Who(by="ann", channel="web"))).trail()
        assert (trail[1].type, trail[1].code, trail[1].channel) == ("refused", "FORBIDDEN", "web")

    def test_every_line_has_its_actor(self) -> None:
        """The asker, the approver with their channel, the client, the system."""
        trail = a_record(
            a_line(T0_MS + 1, "approved", a_ballot(ASK, "ann").vote),
            a_line(T0_MS + 2, "refused:mismatch", Who(by="tool-server")),
            b"%d expired %s" % (T0_MS + 3, b'{"by":"system"}'),
            s="expired",
            b=DEADLINE,
        ).trail()
        about: dict[str, Any] = {"digest": digest_of(ASK)}
        assert trail == [
            TrailEntry(
                seq=1, at_ms=T0_MS, type="requested", by="runtime", input_hash=ASK.input_hash, **about
            ),
            TrailEntry(
                seq=2,
                at_ms=T0_MS + 1,
                type="approved",
                by="ann",
                channel="api",
                decision=Verdict.APPROVE,
                **about,
            ),
            TrailEntry(
                seq=3, at_ms=T0_MS + 2, type="refused", by="tool-server", code="APPROVAL_INPUT_MISMATCH"
            ),
            TrailEntry(seq=4, at_ms=T0_MS + 3, type="expired", by="system"),
        ]

    def test_a_line_that_names_nobody_is_the_systems(self) -> None:
        """Nobody else acts without a name."""
        assert a_record(b"%d cancelled {}" % T0_MS, s="cancelled").trail()[-1].by == "system"

    @pytest.mark.parametrize(
        ("fields", "deadline_ms"),
        [({}, DEADLINE), ({"s": "approved", "b": DEADLINE + 5}, DEADLINE + 5)],
        ids=["expires_at", "use_by"],
    )
    def test_an_expiry_nobody_has_written_down(self, fields: dict[str, Any], deadline_ms: int) -> None:
        """Stands at its end, by the system, at the deadline."""
        trail = a_record(now_ms=DEADLINE + 100, **fields).trail()
        assert trail[1:] == [TrailEntry(seq=2, at_ms=deadline_ms, type="expired", by="system")]

    def test_counted_refusals_come_last(self) -> None:
        """One line a code, in the order of their words."""
        counted: dict[str, Any] = {"z": 207, "z:token": 2, "z:missing": 5}
        trail = a_record(now_ms=T0_MS + 9, **counted).trail()
        assert [(entry.code, entry.count, entry.by, entry.seq) for entry in trail[1:]] == [
            ("APPROVAL_RESUME_MISMATCH", 5, "various", 2),
            ("APPROVAL_TOKEN_INVALID", 2, "various", 3),
        ]

    def test_other_lines_carry_no_count(self) -> None:
        """Members that don't apply are left out."""
        entry = a_record().trail()[0]
        assert (entry.channel, entry.code, entry.count) == (UNSET, UNSET, UNSET)


def test_the_state_is_what_the_judges_take() -> None:
    """The compared fields of a record with everything in it."""
    state = a_record(
        a_line(T0_MS + 1, "reported", Report(by="tool-server", status=OutcomeStatus.SUCCEEDED, summary=None)),
        s="consumed",
        v=f"{ANN}a",
        w=5_000,
        b=DEADLINE,
        e="e1",
    ).state()
    assert (state.status, state.use_within_ms, state.use_by_ms) == (Status.CONSUMED, 5_000, DEADLINE)
    assert (state.votes, state.execution_id) == (((ANN, Verdict.APPROVE),), "e1")
    assert state.outcome == (OutcomeStatus.SUCCEEDED, None)
