"""What comes back: read leniently, to the last digit, and told to no log."""

import msgspec
import pytest
from hypothesis import given

from placet.client import Actor, Approval, ToolCall, Vote
from placet.client.calls import get
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.errors import ApprovalInputMismatch
from placet.domain.model import Risk, Status
from tests.agents import CALL, RECORD
from tests.strategies import json_values

SECRET = "hunter2"


def read(**changes: object) -> Approval:
    """A record, as an answer brings it."""
    return get("apr_1").read(msgspec.json.encode({**RECORD, **changes}))


def test_a_newer_service_is_understood() -> None:
    """Members that are new are left out, words that are new stay text."""
    approval = read(status="paused", risk="absurd", novelty=1, actor={"id": "a", "kind": "swarm", "x": 1})
    assert (approval.status, approval.risk, approval.actor.kind) == ("paused", "absurd", "swarm")
    assert not approval.is_pending
    assert not approval.is_approved


def test_words_compare_with_the_enumerations() -> None:
    """In either spelling."""
    approval = read(status="approved", risk="high")
    assert approval.status == Status.APPROVED
    assert approval.status == "approved"
    assert approval.risk == Risk.HIGH
    assert approval.is_approved


@given(json_values())
def test_an_input_comes_back_as_it_was_bound(value: object) -> None:
    """Its canonical form is to the byte the one that was sent."""
    canonical = canonicalize(value)
    body = msgspec.json.encode({**RECORD, "input": msgspec.Raw(canonical)})
    assert canonicalize(get("apr_1").read(body).input) == canonical


def test_nothing_that_belongs_in_no_log_is_in_a_repr() -> None:
    """Inputs, tokens, comments, summaries, contexts, attributes."""
    held = {
        "input": {"password": SECRET},
        "context": {"password": SECRET},
        "token": SECRET,
        "model": {"message": SECRET},
        "extensions": {"x": SECRET},
        "presentation": {"summary": SECRET},
        "actor": {"id": "agent-7", "kind": "agent", "attributes": {"x": SECRET}},
        "outcome": {"status": "failed", "summary": SECRET, "at": RECORD["expires_at"]},
        "requested": {"input": SECRET},
        "decisions": [
            {
                "decision": "reject",
                "approver": {"id": "ann"},
                "channel": "api",
                "at": RECORD["expires_at"],
                "comment": SECRET,
            }
        ],
    }
    approval = read(**held)
    call = msgspec.structs.replace(CALL, input=SECRET, context={"x": SECRET})
    vote = Vote(id="apr_1", decision="reject", digest="0" * 64, comment=SECRET, input=SECRET)
    values = [approval, *approval.decisions, approval.outcome, approval.requested, call, vote, [approval]]
    assert SECRET not in repr(values)
    assert repr(approval) == "Approval(id='apr_1', capability='orders.refund', status='pending')"
    assert repr(approval.decisions[0]) == "Decision(decision='reject')"


class TestEffective:
    """What is to run."""

    def test_what_was_asked_where_nobody_changed_it(self) -> None:
        """The very call."""
        assert read(status="approved").effective(CALL) is CALL

    def test_what_an_approver_made_of_it(self) -> None:
        """Only the input is another."""
        requested = {"input": CALL.input, "input_hash": sha256_hex(canonicalize(CALL.input))}
        changed = read(input={"order": "A-1", "amount": 4}, requested=requested).effective(CALL)
        assert changed.input == {"order": "A-1", "amount": 4}
        assert (changed.capability, changed.actor) == (CALL.capability, CALL.actor)

    def test_never_that_of_another_question(self) -> None:
        """Whatever an approval says that is not about this call."""
        requested = {"input": {}, "input_hash": sha256_hex(b"{}")}
        with pytest.raises(ApprovalInputMismatch):
            read(input={"amount": 4}, requested=requested).effective(CALL)

    def test_a_withheld_input_is_nobodys_to_change(self) -> None:
        """The call is what it was."""
        call = ToolCall(capability="x", actor=Actor(id="a", kind="agent"), effect="none", input_hash="0" * 64)
        assert read(requested={"input_hash": "0" * 64}).effective(call) is call
