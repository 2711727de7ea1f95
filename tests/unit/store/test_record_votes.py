"""What a record tells of votes and changes, and one that tells of nothing that can be read."""

from typing import Any

import pytest
from msgspec import Raw

from placet.domain import binding
from placet.domain.errors import InternalError
from placet.domain.machine import Change
from placet.domain.model import Approval, Requested, Verdict
from placet.store.codec import person_mark
from placet.store.record import Record
from tests.factories import INPUT, T0_MS, a_ballot, a_change, an_edit, digest_of
from tests.records import ANN, ASK, BOB, a_line, a_record


class TestVotes:
    """How many people there are either way is told by the packed votes, what they said by the log."""

    def test_they_are_counted_by_their_letter(self) -> None:
        """Approvals, rejections, and editors who did neither."""
        cid, dan = person_mark("cid"), person_mark("dan")
        approval = a_record(v=f"{ANN}a{BOB}r{cid}c{dan}a", q=3).approval()
        assert (approval.required, approval.approved, approval.rejected) == (3, 2, 1)

    def test_nobody_has_voted(self) -> None:
        """There is no such field then."""
        approval = a_record().approval()
        assert (approval.approved, approval.rejected) == (0, 0)

    def test_a_vote_of_each_kind_is_in_the_log(self) -> None:
        """In the order in which they came."""
        kinds = {"voted": Verdict.APPROVE, "edited": Verdict.EDIT, "rejected": Verdict.REJECT}
        lines = [
            a_line(T0_MS + n, kind, a_ballot(ASK, f"p{n}", verdict).vote)
            for n, (kind, verdict) in enumerate(kinds.items())
        ]
        votes = a_record(*lines, s="rejected").approval().votes
        assert [cast.vote.decision for cast in votes] == list(kinds.values())


class TestChanged:
    """A question whose input an approver changed."""

    CHANGE = a_change(ASK, counts=True)
    OTHER = a_change(ASK, {"order": "A-2"})

    def changed(self, *changes: Change, **members: Any) -> Approval:
        """It, after these edits one after the other."""
        lines = [a_line(T0_MS + 1, "edited", an_edit(ASK, change).vote) for change in changes]
        fields: dict[str, Any] = {
            "g": bytes.fromhex(changes[-1].digest),
            "c": bytes.fromhex(changes[-1].call),
            "h": bytes.fromhex(digest_of(ASK)),
            "held": changes[-1].input,
            "original": INPUT,
            **members,
        }
        return a_record(*lines, **fields).approval()

    def test_it_has_both(self) -> None:
        """What is effective, and what was asked."""
        approval = self.changed(self.CHANGE)
        assert (approval.digest, approval.input) == (self.CHANGE.digest, Raw(self.CHANGE.input))
        assert approval.input_hash == binding.input_hash(self.CHANGE.input)
        assert approval.requested == Requested(
            input=Raw(INPUT), input_hash=ASK.input_hash, digest=digest_of(ASK)
        )

    def test_the_last_change_is_the_effective_one(self) -> None:
        """However often it was changed; the original is what was asked."""
        approval = self.changed(self.CHANGE, self.OTHER)
        assert approval.input_hash == binding.input_hash(self.OTHER.input)
        assert approval.requested is not None
        assert approval.requested.input_hash == ASK.input_hash

    def test_erased_inputs_leave_their_hashes(self) -> None:
        """Of both."""
        approval = self.changed(self.CHANGE, held=None, original=None)
        assert (approval.input, approval.input_hash) == (None, binding.input_hash(self.CHANGE.input))
        assert approval.requested == Requested(input=None, input_hash=ASK.input_hash, digest=digest_of(ASK))

    def test_without_a_change_there_is_no_original(self) -> None:
        """Whatever the store keeps in its place: only a sealed edit makes one."""
        fields = {"original": b"1", "h": bytes.fromhex("0" * 64)}
        approval = a_record(**fields).approval()  # type: ignore[arg-type] # parts of both kinds
        assert (approval.requested, approval.input_hash) == (None, ASK.input_hash)

    def test_a_change_that_lacks_its_original_can_t_be_read(self) -> None:
        """Nobody could tell what was asked."""
        line = a_line(T0_MS + 1, "edited", an_edit(ASK, self.CHANGE).vote)
        with pytest.raises(InternalError):
            a_record(line).approval()

    def test_it_is_no_other_s_kept_record(self) -> None:
        """Two records that differ in their original alone are told apart, where they are kept folded."""
        one, other = self.changed(self.CHANGE), self.changed(self.CHANGE, original=b"1")
        assert one.requested != other.requested


class TestUnreadable:
    """What is no record of ours is refused with an alarm that says where, and no value of it."""

    @pytest.mark.parametrize(
        "record",
        [
            Record.of("other", T0_MS, b"apr_1", a_record().flat, a_record().log, INPUT),
            Record.of("default", T0_MS, b"apr_2", a_record().flat, a_record().log, INPUT),
            Record.of("default", T0_MS, b"apr_1", a_record().flat, [], INPUT),
            Record.of("default", T0_MS, b"apr_1", [], a_record().log, INPUT),
            Record.of("default", T0_MS, b"apr_1", a_record().flat, [b"secret"], INPUT),
            Record.of("default", T0_MS, b"apr_1", a_record().flat, [b"1 requested secret"], INPUT),
            Record.of("default", T0_MS, b"apr_1", a_record().flat, [b'1 requested {"id":"secret"}'], INPUT),
            a_record(b"x voted {}"),
            a_record(b'1 voted {"secret":1}'),
            a_record(b'1 voted {"secret":' + b"[" * 100_000),
            a_record(b'1 consumed {"secret":1}'),
            a_record(b'1 reported {"secret":1}'),
            a_record(s="secret"),
            a_record(v="secret"),
            a_record(v=f"{ANN}s"),
            a_record(v=b"\xff"),
            a_record(x="secret"),
            a_record(q=""),
        ],
    )
    def test_it_is_refused(self, record: Record, caplog: pytest.LogCaptureFixture) -> None:
        """Every time it is read."""
        for _ in range(2):
            with pytest.raises(InternalError):
                record.approval()
        assert [line.message for line in caplog.records] == ["a record in the store can't be read"] * 2
        for line in caplog.records:
            assert (line.__dict__["tenant"], line.__dict__["approval_id"]) == (record.tenant, record.id)
            assert "secret" not in str(line.__dict__)
            assert line.exc_info is None
