"""Proof of a grant: enough sealed votes on exactly what would run."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec import Raw, structs

from placet.application import grants
from placet.domain.errors import InternalError
from placet.domain.model import Approval, CastVote, Person, Status, Verdict
from placet.tokens.keys import new_seal_key
from placet.tokens.seal import Sealer
from tests.factories import INPUT, T0_MS, an_ask, call_of, digest_of

SEALER = Sealer(new_seal_key())


def voted(ask: Any, person: str = "ann", decision: Verdict = Verdict.APPROVE, **changes: Any) -> CastVote:
    """A genuine vote on this question."""
    members: dict[str, Any] = {
        "decision": decision,
        "person": Person(id=person),
        "channel": "api",
        "submitted_by": None,
        "comment": None,
        "digest": digest_of(ask),
    }
    return CastVote(vote=grants.cast(SEALER, ask, **{**members, **changes}), at_ms=T0_MS)


def granted(*people: str, required: int = 1, **changes: Any) -> Approval:
    """An approved question."""
    ask = grants.seal_ask(SEALER, an_ask(id="apr_1"))
    approval = Approval(
        ask=ask,
        status=Status.APPROVED,
        digest=digest_of(ask),
        input_hash=ask.input_hash,
        input=Raw(INPUT),
        requested_at_ms=T0_MS,
        expires_at_ms=T0_MS + 60_000,
        use_by_ms=T0_MS + 60_000,
        required=required,
        approved=len(people),
        votes=tuple(voted(ask, person) for person in people),
        consumption=None,
        outcome=None,
        requested=None,
        now_ms=T0_MS,
    )
    return structs.replace(approval, **changes)


def test_a_genuine_grant_is_proven() -> None:
    """With and without the call, with the input and after it was erased."""
    approval = granted("ann")
    grants.prove(SEALER, approval)
    grants.prove(SEALER, approval, call_of(approval.ask))
    grants.prove(SEALER, structs.replace(approval, input=None), call_of(approval.ask))
    grants.prove(SEALER, granted("ann", "bob", required=2))


FORGERIES: dict[str, Callable[[Approval], Approval]] = {
    "no vote": lambda a: structs.replace(a, votes=()),
    "too few": lambda a: structs.replace(a, required=2),
    "one vote twice": lambda a: structs.replace(a, required=2, votes=a.votes * 2),
    "a vote against": lambda a: structs.replace(a, votes=(voted(a.ask, decision=Verdict.REJECT),)),
    "on another digest": lambda a: structs.replace(a, votes=(voted(a.ask, digest="0" * 64),)),
    "of another record": lambda a: structs.replace(a, votes=(voted(an_ask(id="apr_2")),)),
    "of another tenant": lambda a: structs.replace(
        a, votes=(voted(an_ask(id="apr_1", tenant="other"), digest=a.digest),)
    ),
    "another digest": lambda a: structs.replace(a, digest="0" * 64),
    "other words": lambda a: structs.replace(a, ask=structs.replace(a.ask, capability="orders.delete")),
    "other owners": lambda a: structs.replace(a, ask=structs.replace(a.ask, owners=("eve",))),
    "another asker": lambda a: structs.replace(a, ask=structs.replace(a.ask, asked_by="payroll")),
    "an unsealed ask": lambda a: structs.replace(a, ask=structs.replace(a.ask, seal="")),
    "cancelled before": lambda a: structs.replace(a, ends=frozenset({Status.CANCELLED})),
    "expired before": lambda a: structs.replace(a, ends=frozenset({Status.EXPIRED})),
    "another input": lambda a: structs.replace(a, input=Raw(b'{"order":"A-1"}')),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_forgery_is_not(forge: Callable[[Approval], Approval], caplog: pytest.LogCaptureFixture) -> None:
    """The caller learns nothing, the log has the alarm with the record's id."""
    with pytest.raises(InternalError):
        grants.prove(SEALER, forge(granted("ann")))
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
        {"seal": "A" * 43},
    ],
)
def test_every_member_of_a_vote_is_sealed(changes: dict[str, Any]) -> None:
    """Whatever is changed in it, the vote counts no more."""
    approval = granted("ann")
    (cast,) = approval.votes
    forged = structs.replace(cast, vote=structs.replace(cast.vote, **changes))
    with pytest.raises(InternalError):
        grants.prove(SEALER, structs.replace(approval, votes=(forged,)))


def test_another_call_is_not_confirmed() -> None:
    """What is about to run must be what was voted on, whatever the store compared it with."""
    with pytest.raises(InternalError):
        grants.prove(SEALER, granted("ann"), call_of(an_ask(capability="orders.delete")))


def test_a_key_that_is_not_ours_proves_nothing() -> None:
    """Votes sealed elsewhere count nowhere else."""
    with pytest.raises(InternalError):
        grants.prove(Sealer(new_seal_key()), granted("ann"))


def test_a_card_is_what_its_digest_says(caplog: pytest.LogCaptureFixture) -> None:
    """A changed word, asker or input is an alarm, and so is an input that has gone while it waits."""
    approval = structs.replace(granted(), status=Status.PENDING)
    grants.check_card(SEALER, approval)
    for changed in (
        structs.replace(approval, input=None),
        structs.replace(approval, ask=structs.replace(approval.ask, asked_by="payroll")),
        structs.replace(approval, input=Raw(b"1")),
        structs.replace(approval, ask=structs.replace(approval.ask, reasons=("because",))),
    ):
        with pytest.raises(InternalError):
            grants.check_card(SEALER, changed)
    assert caplog.messages == ["a card is not what its digest says"] * 4


def test_the_votes_of_a_grant_are_those_on_its_digest() -> None:
    """Rejections and votes on an earlier digest are left out."""
    ask = an_ask()
    votes = (voted(ask, "a"), voted(ask, "b", Verdict.REJECT), voted(ask, "c", digest="0" * 64))
    assert [each.vote.approver.id for each in grants.approvers(votes, digest_of(ask))] == ["a"]


def test_the_digest_is_that_of_the_words() -> None:
    """Computed from the record alone."""
    ask = an_ask(context=Raw(msgspec.json.encode({"b": 1, "a": 2})))
    assert grants.digest_of(ask) == digest_of(ask)
