"""Proof of a grant: enough sealed votes on exactly what would run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Raw, structs

from placet.application.grants import KEPT_BINDINGS, VOTE_TAKES_MS, Seals, members_of
from placet.domain.errors import InternalError
from placet.domain.limits import USE_WITHIN_MAX_MS
from placet.domain.model import (
    Approval,
    Ask,
    Person,
    Sealed,
    Status,
    Verdict,
)
from placet.domain.tally import Tally
from placet.store.codec import encode
from tests.factories import T0_MS, an_ask, call_of
from tests.factories import members_of as presented
from tests.sealed import NONCE, a_seals, all_voted, asked, granted, reworded, voted


def test_a_genuine_grant_is_proven(seals: Seals) -> None:
    """With and without the call, with the input and after it was erased."""
    approval = granted(seals, "ann")
    seals.prove_grant(approval)
    seals.prove_grant(approval, call_of(approval.ask))
    seals.prove_grant(structs.replace(approval, input=None), call_of(approval.ask))
    seals.prove_grant(granted(seals, "ann", "bob", required=2))


FORGERIES: dict[str, Callable[[Seals, Approval], Approval]] = {
    "no vote": lambda _, a: structs.replace(a, votes=()),
    "too few": lambda _, a: structs.replace(a, required=2),
    "one vote twice": lambda _, a: structs.replace(a, required=2, votes=a.votes * 2),
    "a vote against": lambda s, a: structs.replace(
        a, votes=all_voted(s, asked(s), ("ann", {"decision": Verdict.REJECT}))
    ),
    "on another digest": lambda s, a: structs.replace(
        a, votes=all_voted(s, asked(s), ("ann", {"digest": "0" * 64}))
    ),
    "of another record": lambda s, a: structs.replace(a, votes=(voted(s, asked(s, id="apr_2")),)),
    "of a record of the same name before": lambda s, a: structs.replace(
        a, votes=(voted(s, asked(s, b"earlier")),)
    ),
    "of another tenant": lambda s, a: structs.replace(
        a, votes=(voted(s, asked(s, tenant="other"), digest=a.digest),)
    ),
    "another digest": lambda _, a: structs.replace(a, digest="0" * 64),
    "another nonce": lambda _, a: structs.replace(a, nonce=b"m" * 12),
    "other words": lambda _, a: reworded(a, capability="orders.delete"),
    "other owners": lambda _, a: reworded(a, owners=("eve",)),
    "another asker": lambda _, a: reworded(a, asked_by="payroll"),
    "an unsealed ask": lambda _, a: structs.replace(a, sealed=structs.replace(a.sealed, seal="")),
    "cancelled before": lambda _, a: structs.replace(a, ends=frozenset({Status.CANCELLED})),
    "expired before": lambda _, a: structs.replace(a, ends=frozenset({Status.EXPIRED})),
    "another input": lambda _, a: structs.replace(a, input=Raw(b'{"order":"A-1"}')),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forgery_is_not(
    seals: Seals, forge: Callable[[Seals, Approval], Approval], caplog: pytest.LogCaptureFixture
) -> None:
    """The caller learns nothing, the log has the alarm with the record's id."""
    with pytest.raises(InternalError):
        seals.prove_grant(forge(seals, granted(seals, "ann")))
    (line,) = caplog.records
    assert (line.message, line.__dict__["approval_id"]) == ("a grant's seal is broken", "apr_1")


@pytest.mark.parametrize(
    "changes",
    [
        {"approver": Person(id="eve")},
        {"approver": Person(id="ann", display_name="Ann")},
        {"channel": "slack"},
        {"submitted_by": "bridge"},
        {"comment": "c"},
    ],
)
def test_every_member_of_a_vote_is_sealed(seals: Seals, changes: dict[str, Any]) -> None:
    """Whatever is changed in it, the vote counts no more."""
    approval = granted(seals, "ann")
    (cast,) = approval.votes
    vote = structs.replace(cast.vote, **changes)
    forged = structs.replace(cast, vote=vote, sealed=structs.replace(cast.sealed, document=encode(vote)))
    with pytest.raises(InternalError):
        seals.prove_grant(structs.replace(approval, votes=(forged,)))


def test_a_seal_somebody_made_up_is_none(seals: Seals) -> None:
    """Of whatever length and letters."""
    approval = granted(seals, "ann")
    (cast,) = approval.votes
    for seal in ("", "A" * 43, "\xff" * 43, cast.sealed.seal + "A"):
        forged = structs.replace(cast, sealed=structs.replace(cast.sealed, seal=seal))
        with pytest.raises(InternalError):
            seals.prove_grant(structs.replace(approval, votes=(forged,)))


class TestHowLong:
    """A grant lives no longer after its last vote than it was meant to."""

    @pytest.mark.parametrize(
        ("use_within_ms", "lives_ms"),
        [
            (None, USE_WITHIN_MAX_MS),
            (1, 1),
            (USE_WITHIN_MAX_MS, USE_WITHIN_MAX_MS),
            (2**40, USE_WITHIN_MAX_MS),
        ],
    )
    def test_its_end_is_bounded_by_what_was_asked(
        self, seals: Seals, use_within_ms: int | None, lives_ms: int
    ) -> None:
        """And by a day, in any case."""
        pending = asked(seals, use_within_ms=use_within_ms)
        last_ms = T0_MS + 5_000
        votes = all_voted(seals, pending, "ann", ("bob", {"seen_at_ms": last_ms}))
        granted = structs.replace(pending, status=Status.APPROVED, votes=votes)
        latest_ms = last_ms + lives_ms + VOTE_TAKES_MS
        seals.prove_grant(structs.replace(granted, use_by_ms=latest_ms))
        with pytest.raises(InternalError):
            seals.prove_grant(structs.replace(granted, use_by_ms=latest_ms + 1))


def test_a_later_release_proves_what_an_earlier_one_wrote(seals: Seals) -> None:
    """The seal is over the bytes as they are kept, also where they hold a member nobody here knows."""
    pending = asked(seals)
    document = encode(pending.ask)[:-1] + b',"later":1}'
    sealer = seals._ring.sealer
    sealed = Sealed(document=document, seal=sealer.seal("ask", (NONCE, document)))
    assert msgspec.json.decode(document, type=Ask) == pending.ask
    seals.prove_card(structs.replace(pending, sealed=sealed))


def test_another_call_is_not_confirmed(seals: Seals) -> None:
    """What is about to run must be what was voted on, whatever the store compared it with."""
    with pytest.raises(InternalError):
        seals.prove_grant(granted(seals, "ann"), call_of(an_ask(capability="orders.delete")))


def test_a_key_that_is_not_ours_proves_nothing(seals: Seals, tmp_path: Path) -> None:
    """Votes sealed elsewhere count nowhere else."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(InternalError):
        a_seals(elsewhere).prove_grant(granted(seals, "ann"))


def test_a_card_is_what_its_digest_says(seals: Seals, caplog: pytest.LogCaptureFixture) -> None:
    """A changed word, asker or input is an alarm, and so is an input that has gone while it waits."""
    approval = asked(seals)
    seals.prove_card(approval)
    for changed in (
        structs.replace(approval, input=None),
        structs.replace(approval, input=Raw(b"1")),
        structs.replace(approval, digest="0" * 64),
        reworded(approval, asked_by="payroll"),
        reworded(approval, reasons=("because",)),
    ):
        with pytest.raises(InternalError):
            seals.prove_card(changed)
    assert caplog.messages == ["a card is not what its digest says"] * 5


def test_what_words_hash_to_is_remembered_for_so_many_asks(seals: Seals) -> None:
    """The longest known is forgotten, and computed again where it is needed."""
    first = asked(seals)
    for n in range(KEPT_BINDINGS):
        seals.ask(first.ask, b"%d" % n, digest="d", call="c")
    assert len(seals._bindings) == KEPT_BINDINGS
    seals.prove_card(first)


@pytest.mark.parametrize("status", [Status.REJECTED, Status.CANCELLED, Status.EXPIRED, Status.PENDING])
def test_decisions_are_shown_as_they_were_made(seals: Seals, status: Status) -> None:
    """A genuine rejection stays one, whatever became of the record."""
    pending = asked(seals)
    rejection = voted(seals, pending, decision=Verdict.REJECT)
    seals.prove_decided(structs.replace(pending, status=status, votes=(rejection,)))


def test_a_decision_that_nobody_made_is_not_shown(seals: Seals, caplog: pytest.LogCaptureFixture) -> None:
    """A rejection without a vote against, a vote that is not ours in any state, a grant without its votes."""
    pending = asked(seals)
    genuine, foreign = voted(seals, pending), voted(seals, asked(seals, id="apr_2"))
    unfounded = structs.replace(pending, status=Status.REJECTED, votes=(genuine,))
    mixed = structs.replace(pending, votes=(genuine, foreign))
    for forged in (unfounded, mixed):
        with pytest.raises(InternalError):
            seals.prove_decided(forged)
    for status in (Status.APPROVED, Status.CONSUMED):
        with pytest.raises(InternalError):
            seals.prove_decided(structs.replace(pending, status=status))
    assert caplog.messages == ["a decision's seal is broken"] * 2 + ["a grant's seal is broken"] * 2


def test_the_votes_of_a_grant_are_those_on_its_digest(seals: Seals) -> None:
    """Rejections and votes on an earlier digest are left out."""
    on = asked(seals)
    votes = all_voted(seals, on, "a", ("b", {"decision": Verdict.REJECT}), ("c", {"digest": "0" * 64}))
    approvals = Tally.of(structs.replace(on, votes=votes)).approvals
    assert [vote.approver.id for vote in approvals] == ["a"]


def test_what_a_consumer_must_present_follows_from_the_ask() -> None:
    """From its own words, its context read again where it is not at hand."""
    ask = an_ask(context=Raw(msgspec.json.encode({"b": 1, "a": 2})))
    assert members_of(ask) == presented(ask)
    assert members_of(ask, {"a": 2, "b": 1}) == presented(ask)
