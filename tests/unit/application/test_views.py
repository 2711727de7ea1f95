"""What each kind of caller sees of a record."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw, structs

from placet.application.standing import as_decided
from placet.application.views import Sight, pending_body, record_view, sight_of, trail_view
from placet.domain.model import (
    Actor,
    ActorKind,
    Approval,
    CastVote,
    Consumption,
    Outcome,
    OutcomeStatus,
    Person,
    Presentation,
    Risk,
    Status,
    TrailEntry,
    Verdict,
    Vote,
)
from placet.domain.principals import Approver, Client, Principal, Scope
from placet.domain.tally import slot_of
from placet.store.codec import person_mark
from placet.store.record import Record
from tests.factories import INPUT, T0_MS, a_caller, an_ask, digest_of, unsealed


def an_approval(status: Status = Status.PENDING, **changes: Any) -> Approval:
    """A question with everything in it that could be hidden."""
    ask = an_ask(
        id="apr_1",
        audience="tools",
        actor=Actor(id="a", kind=ActorKind.USER, display_name="A", attributes=Raw(b'{"x":1}')),
        context=Raw(b'{"c":1}'),
        extensions=Raw(b'{"e":1}'),
        presentation=Presentation(title="T", redact=changes.pop("redact", ())),
        risk=changes.pop("risk", Risk.MEDIUM),
    )
    vote = Vote(
        decision=Verdict.APPROVE,
        approver=Person(id="ann", display_name="Ann"),
        channel="api",
        submitted_by=None,
        comment="fine",
        digest=digest_of(ask),
    )
    cast = CastVote(vote=vote, sealed=unsealed(vote), at_ms=T0_MS + 1)
    approval = Approval(
        ask=ask,
        sealed=unsealed(ask),
        nonce=b"",
        status=status,
        digest=digest_of(ask),
        input_hash=ask.input_hash,
        input=Raw(INPUT),
        requested_at_ms=T0_MS,
        expires_at_ms=T0_MS + 60_000,
        use_by_ms=T0_MS + 60_000 if status is not Status.PENDING else None,
        required=1,
        counted=() if status is Status.PENDING else ((person_mark(slot_of(vote)), vote.decision),),
        votes=() if status is Status.PENDING else (cast,),
        consumption=None,
        outcome=None,
        requested=None,
        now_ms=T0_MS,
    )
    return structs.replace(approval, **changes)


def shown(approval: Approval, sight: Sight, **more: Any) -> dict[str, Any]:
    """The view as it goes over the wire."""
    seen: dict[str, Any] = json.loads(
        msgspec.json.encode(record_view(approval, sight, as_decided(approval), **more))
    )
    return seen


def a_client(name: str, *scopes: Scope, **bounds: Any) -> Client:
    """A client."""
    return Client(tenant="default", name=name, scopes=frozenset(scopes), **bounds)


BRIDGE = a_client("bridge", Scope.DECIDE_AS, people=("ann",), max_risk=Risk.MEDIUM)
CALLERS: list[tuple[Principal, Sight | None, Sight | None]] = [
    (a_client("runtime", Scope.REQUEST), Sight.WHOLE, Sight.WHOLE),
    (a_client("tools", Scope.CONSUME), Sight.WHOLE, Sight.WHOLE),
    (a_client("stranger", Scope.REQUEST, Scope.CONSUME), None, None),
    (a_client("auditor", Scope.READ_INPUT), Sight.WHOLE, Sight.WHOLE),
    (a_client("boss", Scope.ADMIN), Sight.WHOLE, Sight.WHOLE),
    (a_client("reader", Scope.READ), Sight.FRAME, Sight.FRAME),
    (BRIDGE, Sight.CARD, None),
    (structs.replace(BRIDGE, scopes=frozenset({Scope.DECIDE_AS, Scope.READ})), Sight.CARD, Sight.FRAME),
    (structs.replace(BRIDGE, max_risk=None), None, None),
    (Approver(tenant="default", id="ann"), Sight.CARD, Sight.CARD),
]


@pytest.mark.parametrize(("caller", "medium", "high"), CALLERS)
def test_how_much_a_caller_sees(caller: Principal, medium: Sight | None, high: Sight | None) -> None:
    """By part, by scope, by risk; a person always the card."""
    assert sight_of(a_caller(caller), an_approval()) is medium
    assert sight_of(a_caller(caller), an_approval(risk=Risk.HIGH)) is high


def test_a_frame_has_nothing_of_what_is_said() -> None:
    """No input, context, attributes, comment, extensions, nor a hash of them."""
    seen = shown(an_approval(Status.APPROVED), Sight.FRAME)
    assert (seen["input"], seen["input_hash"], seen["digest"]) == (None, None, None)
    assert (seen["context"], seen["extensions"], seen["actor"]["attributes"]) == ({}, {}, {})
    assert (seen["decisions"][0]["comment"], seen["decisions"][0]["digest"]) == (None, None)
    assert seen["decisions"][0]["approver"] == {"id": "ann", "display_name": "Ann"}
    assert seen["presentation"]["title"] == "T"


@pytest.mark.parametrize("sight", [Sight.WHOLE, Sight.CARD])
def test_whole_and_card_have_all_of_it(sight: Sight) -> None:
    """Where nothing is hidden, who may decide sees what the parties see."""
    approval = an_approval(Status.APPROVED)
    seen = shown(approval, sight)
    assert seen["input"] == json.loads(INPUT)
    assert (seen["input_hash"], seen["digest"]) == (approval.input_hash, approval.digest)
    assert (seen["context"], seen["extensions"]) == ({"c": 1}, {"e": 1})
    assert (seen["actor"]["attributes"], seen["decisions"][0]["comment"]) == ({"x": 1}, "fine")


def test_a_card_hides_what_is_named() -> None:
    """And then has no hash that one could guess with."""
    approval = an_approval(redact=("/order",))
    assert shown(approval, Sight.WHOLE)["input"] == json.loads(INPUT)
    seen = shown(approval, Sight.CARD)
    assert seen["input"] == {"amount": 5, "order": "[redacted]"}
    assert (seen["input_redacted"], seen["input_hash"]) == (True, None)


def test_an_erased_input_is_null_and_its_hash_is_for_the_parties() -> None:
    """After its retention the input is gone for everybody."""
    approval = an_approval(Status.CONSUMED, input=None)
    assert (shown(approval, Sight.WHOLE)["input"], shown(approval, Sight.CARD)["input"]) == (None, None)
    assert shown(approval, Sight.WHOLE)["input_hash"] == approval.input_hash
    assert shown(approval, Sight.CARD)["input_hash"] is None


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("sight", list(Sight))
def test_members_that_come_and_go(status: Status, sight: Sight) -> None:
    """Only a pending record has the faces; token and replayed are there when they are given."""
    seen = shown(an_approval(status), sight)
    assert ("model" in seen, "confirmation" in seen) == (status is Status.PENDING,) * 2
    assert not {"token", "replayed", "input_redacted"} & set(seen)
    seen = shown(an_approval(status), sight, token="t", replayed=False)
    assert (seen["token"], seen["replayed"]) == ("t", False)


def test_what_became_of_it_is_told() -> None:
    """Consumption and outcome, with their times."""
    approval = an_approval(
        Status.CONSUMED,
        consumption=Consumption(execution_id="e", client="tools", at_ms=T0_MS + 2),
        outcome=Outcome(status=OutcomeStatus.FAILED, summary="no", at_ms=T0_MS + 3),
    )
    seen = shown(approval, Sight.FRAME)
    assert seen["consumption"] == {"execution_id": "e", "client": "tools", "at": "2027-01-15T08:00:00.002Z"}
    assert seen["outcome"] == {"status": "failed", "summary": "no", "at": "2027-01-15T08:00:00.003Z"}


def test_a_pending_body_is_the_view() -> None:
    """What is kept rendered for those who poll is what a view gives, for each sight its own."""
    ask = an_ask(id="apr_1", presentation=Presentation(redact=("/order",)))
    fields = {
        "s": "pending",
        "g": digest_of(ask),
        "c": "0" * 64,
        "k": "runtime",
        "u": "runtime",
        "x": str(T0_MS + 60_000),
        "q": "1",
        "t": str(T0_MS),
        "n": "n",
        "j": "j",
    }
    flat = [piece.encode() for pair in fields.items() for piece in pair]
    log = [b"%d requested " % T0_MS + msgspec.json.encode(ask)]
    record = Record.of("default", T0_MS, b"apr_1", flat, log, INPUT)
    again = Record.of("default", T0_MS + 5, b"apr_1", flat, log, INPUT)
    caller = a_caller(a_client("runtime"))
    bodies = {sight: pending_body(caller, record, record.approval(), sight) for sight in Sight}
    for sight, body in bodies.items():
        assert json.loads(body) == shown(record.approval(), sight)
        assert pending_body(caller, again, again.approval(), sight) == body
    assert len(set(bodies.values())) == len(Sight)


@pytest.mark.parametrize(
    ("entry", "seen"),
    [
        (
            TrailEntry(seq=1, at_ms=T0_MS, type="requested", by="runtime"),
            {"seq": 1, "at": "2027-01-15T08:00:00.000Z", "type": "requested", "by": "runtime"},
        ),
        (
            TrailEntry(seq=9, at_ms=T0_MS, type="refused", by="x", channel="api", code="FORBIDDEN", count=3),
            {
                "seq": 9,
                "at": "2027-01-15T08:00:00.000Z",
                "type": "refused",
                "by": "x",
                "channel": "api",
                "code": "FORBIDDEN",
                "count": 3,
            },
        ),
    ],
)
def test_a_line_of_the_trail(entry: TrailEntry, seen: dict[str, Any]) -> None:
    """What does not apply is left out."""
    assert json.loads(msgspec.json.encode(trail_view(entry, Sight.WHOLE))) == seen


@pytest.mark.parametrize(
    ("sight", "hashes"),
    [(Sight.WHOLE, {"digest", "input_hash"}), (Sight.CARD, {"digest"}), (Sight.FRAME, set())],
)
def test_a_line_has_the_hashes_that_its_reader_may_know(sight: Sight, hashes: set[str]) -> None:
    """As the record itself does; rule and credential are for everyone who sees the line."""
    entry = TrailEntry(
        seq=1,
        at_ms=T0_MS,
        type="requested",
        by="runtime",
        credential="k" * 12,
        rule="payments",
        policy="a" * 64,
        digest="b" * 64,
        input_hash="c" * 64,
    )
    seen = json.loads(msgspec.json.encode(trail_view(entry, sight)))
    assert seen.keys() & {"digest", "input_hash"} == hashes
    assert (seen["rule"], seen["policy"], seen["credential"]) == ("payments", "a" * 64, "k" * 12)
