"""Proof of a grant that was approved with changes, and of who it is that approved."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from msgspec import Raw, structs

from placet.application.grants import Seals
from placet.domain import binding
from placet.domain.errors import InternalError
from placet.domain.model import (
    Approval,
    Edited,
    Requested,
    Status,
    Verdict,
)
from placet.domain.tally import Tally
from placet.store.codec import encode
from tests.factories import INPUT, a_change, an_ask, call_of, digest_of
from tests.sealed import all_voted, asked, voted


def edited(seals: Seals, *people: str, counts: bool = True, required: int = 1) -> Approval:
    """A question that ann changed, with the approvals of these people on what it became."""
    pending = asked(seals)
    change = a_change(pending.ask, counts=counts)
    hash_of_input = binding.input_hash(change.input)
    edit = Edited(input_hash=hash_of_input, digest=change.digest, counts=counts)
    return structs.replace(
        pending,
        status=Status.APPROVED,
        digest=change.digest,
        input_hash=hash_of_input,
        input=Raw(change.input),
        requested=Requested(input=pending.input, input_hash=pending.input_hash, digest=pending.digest),
        required=required,
        votes=all_voted(
            seals,
            pending,
            ("ann", {"decision": Verdict.EDIT, "edited": edit}),
            *((person, {"digest": change.digest}) for person in people),
        ),
    )


def relabelled(approval: Approval, **members: Any) -> Approval:
    """Its edit with other words under the old seal."""
    cast, *others = approval.votes
    assert cast.vote.edited is not None
    vote = structs.replace(cast.vote, edited=structs.replace(cast.vote.edited, **members))
    forged = structs.replace(cast, vote=vote, sealed=structs.replace(cast.sealed, document=encode(vote)))
    return structs.replace(approval, votes=(forged, *others))


def retold(approval: Approval, **members: Any) -> Approval:
    """With another original than the one that was asked."""
    assert approval.requested is not None
    return structs.replace(approval, requested=structs.replace(approval.requested, **members))


class TestChanged:
    """An approval with changes: what the sealed edit made of the sealed ask, and what people said of that."""

    CALL = a_change(an_ask(id="apr_1")).call

    def test_one_that_counts_is_a_grant(self, seals: Seals) -> None:
        """Of the changed call, with the inputs and after they were erased."""
        approval = edited(seals)
        seals.prove_grant(approval)
        seals.prove_grant(approval, self.CALL)
        erased = retold(structs.replace(approval, input=None), input=None)
        seals.prove_grant(erased, self.CALL)
        seals.prove_decided(approval)

    def test_one_that_does_not_needs_another_s_approval(self, seals: Seals) -> None:
        """On what it became."""
        seals.prove_grant(edited(seals, "bob", counts=False), self.CALL)
        with pytest.raises(InternalError):
            seals.prove_grant(edited(seals, counts=False))

    def test_both_count_where_it_takes_two(self, seals: Seals) -> None:
        """The editor and another; the editor twice is one."""
        seals.prove_grant(edited(seals, "bob", required=2))
        with pytest.raises(InternalError):
            seals.prove_grant(edited(seals, "ann", required=2))

    def test_the_original_call_does_not_run(self, seals: Seals) -> None:
        """Whatever the store compared."""
        with pytest.raises(InternalError):
            seals.prove_grant(edited(seals), call_of(an_ask(id="apr_1")))

    def test_earlier_approvals_count_no_more(self, seals: Seals) -> None:
        """They were on the digest as it was asked."""
        approval = edited(seals, counts=False)
        edit = approval.votes[0].vote.edited
        votes = all_voted(seals, asked(seals), "bob", ("ann", {"decision": Verdict.EDIT, "edited": edit}))
        with pytest.raises(InternalError):
            seals.prove_grant(structs.replace(approval, votes=votes))

    def test_a_card_shows_what_it_became(self, seals: Seals) -> None:
        """While it waits for others."""
        seals.prove_card(structs.replace(edited(seals, counts=False), status=Status.PENDING))

    FORGERIES: Mapping[str, Callable[[Seals, Approval], Approval]] = {
        "counts, says the store": lambda s, _: relabelled(edited(s, counts=False), counts=True),
        "made of something else": lambda _, a: relabelled(a, digest="0" * 64),
        "with another input": lambda _, a: relabelled(a, input_hash="0" * 64),
        "an input that nobody set": lambda _, a: structs.replace(a, input=Raw(b"1")),
        "the original put back": lambda _, a: structs.replace(a, input=Raw(INPUT)),
        "the edit taken out": lambda _, a: structs.replace(a, votes=a.votes[1:], input_hash=a.ask.input_hash),
        "an edit of another record": lambda s, a: structs.replace(
            a, votes=(voted(s, asked(s, id="apr_2"), decision=Verdict.EDIT, edited=a.votes[0].vote.edited),)
        ),
        "another original": lambda _, a: retold(a, input=Raw(b"1")),
        "an original with another digest": lambda _, a: retold(a, digest="0" * 64),
    }

    @pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
    def test_a_forgery_is_no_grant(
        self, seals: Seals, forge: Callable[[Seals, Approval], Approval], caplog: pytest.LogCaptureFixture
    ) -> None:
        """Of what was asked, of what was made of it, or of who did."""
        with pytest.raises(InternalError):
            seals.prove_grant(forge(seals, edited(seals)))
        assert caplog.messages == ["a grant's seal is broken"]

    @pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
    def test_nor_a_card(
        self, seals: Seals, forge: Callable[[Seals, Approval], Approval], caplog: pytest.LogCaptureFixture
    ) -> None:
        """Nobody is shown it to vote on."""
        forged = structs.replace(forge(seals, edited(seals, counts=False)), status=Status.PENDING)
        with pytest.raises(InternalError):
            seals.prove_card(forged)


def approvers(approval: Approval) -> list[str]:
    """Those whose approvals make a record's grant."""
    return [vote.approver.id for vote in Tally.of(approval).approvals]


class TestWhoApproved:
    """Whoever said yes, and nothing else since, to what the grant is of."""

    def test_who_turned_is_none(self, seals: Seals) -> None:
        """An approval that its own author took back made nothing."""
        on = asked(seals)
        votes = all_voted(seals, on, "ann", ("ann", {"decision": Verdict.REJECT}), "bob")
        assert approvers(structs.replace(on, votes=votes)) == ["bob"]
        turned = structs.replace(on, status=Status.APPROVED, required=2, votes=votes)
        with pytest.raises(InternalError):
            seals.prove_grant(turned)

    @pytest.mark.parametrize("order", [(1, 0, 2), (0, 2), (0, 2, 1), (2, 0), (0, 1, 2, 0), (0, 0, 2)])
    def test_votes_are_proven_in_their_order(self, seals: Seals, order: tuple[int, ...]) -> None:
        """None can be moved, taken out or told again: each is sealed over what came before it."""
        on = asked(seals)
        votes = all_voted(seals, on, "ann", ("ann", {"decision": Verdict.REJECT}), "bob", "cid")
        forged = structs.replace(on, votes=tuple(votes[place] for place in order))
        for prove, status in ((seals.prove_grant, Status.APPROVED), (seals.prove_card, Status.PENDING)):
            with pytest.raises(InternalError):
                prove(structs.replace(forged, status=status))
        for status in (Status.REJECTED, Status.PENDING):
            with pytest.raises(InternalError):
                seals.prove_decided(structs.replace(forged, status=status))
        seals.prove_grant(structs.replace(on, status=Status.APPROVED, required=2, votes=votes))

    def test_who_changed_it_back_is_none(self, seals: Seals) -> None:
        """An editor whose change does not count, who had approved what they changed it back to."""
        on = asked(seals)
        changed = a_change(on.ask)
        there = Edited(input_hash=binding.input_hash(changed.input), digest=changed.digest, counts=False)
        back = Edited(input_hash=on.input_hash, digest=on.digest, counts=False)
        votes = all_voted(
            seals,
            on,
            "ann",
            ("bob", {"decision": Verdict.EDIT, "edited": there}),
            ("ann", {"decision": Verdict.EDIT, "digest": changed.digest, "edited": back}),
            "cid",
        )
        assert approvers(structs.replace(on, votes=votes)) == ["cid"]

    def test_who_was_superseded_is_none(self, seals: Seals) -> None:
        """Though it was changed back to what they had approved."""
        on = asked(seals)
        changed = a_change(on.ask)
        there = Edited(input_hash=binding.input_hash(changed.input), digest=changed.digest, counts=False)
        back = Edited(input_hash=on.input_hash, digest=on.digest, counts=True)
        votes = all_voted(
            seals,
            on,
            "ann",
            ("bob", {"decision": Verdict.EDIT, "edited": there}),
            ("cid", {"decision": Verdict.EDIT, "digest": changed.digest, "edited": back}),
        )
        assert approvers(structs.replace(on, votes=votes)) == ["cid"]

    def test_an_editor_whose_change_does_not_count_is_none(self, seals: Seals) -> None:
        """The others on it are."""
        approval = edited(seals, "bob", "cid", counts=False)
        assert approvers(approval) == ["bob", "cid"]

    def test_an_editor_whose_change_counts_is_one(self, seals: Seals) -> None:
        """Of what it became, not of what it was."""
        approval = edited(seals, "bob")
        assert approvers(approval) == ["ann", "bob"]
        assert approvers(structs.replace(approval, digest=digest_of(approval.ask))) == []
