"""What is sent of each call, and which answers to it are believed."""

import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from placet.client import Presentation, ToolCall, Vote, calls
from placet.client.calls import Call
from placet.domain.canonical import canonicalize
from placet.domain.errors import (
    ApprovalNotFound,
    ApprovalUnserializableInput,
    InputInvalid,
    StoreUnavailable,
)
from placet.domain.model import Effect
from tests.agents import CALL, RECORD

CYCLE: list[Any] = []
CYCLE.append(CYCLE)
SPENT = {
    **RECORD,
    "status": "consumed",
    "consumption": {"execution_id": "e-1", "client": "runtime", "at": RECORD["expires_at"]},
    "replayed": False,
}


def said(call: Call[Any]) -> Any:
    """The body of a call, which is in canonical form."""
    assert call.body is not None
    value = json.loads(call.body)
    assert canonicalize(value) == call.body
    return value


def consume(**options: Any) -> Call[Any]:
    """Consume in ``e-1``."""
    return calls.consume("apr_1", CALL, **{"token": "t", "execution_id": "e-1", "fresh": False, **options})


class TestAsking:
    """``POST /v1/approvals``."""

    def test_all_there_is_to_say(self) -> None:
        """Every member, the whole actor, and the key; what is None is left out."""
        call = calls.ask(
            msgspec.structs.replace(CALL, effect=Effect.WRITE, context={"n": 1.0}),
            {
                "id": "apr_1",
                "risk": "high",
                "reasons": ("new payee",),
                "presentation": Presentation(title="Refund", redact=("/order",)),
                "expires_at": datetime(2027, 1, 15, 8, 30, tzinfo=UTC),
                "extensions": {"x": [None]},
                "run": None,  # type: ignore[typeddict-item] # as callers do
            },
            "key-1",
        )
        assert said(call) == {
            "capability": "orders.refund",
            "surface": "direct",
            "actor": {
                "id": "agent-7",
                "kind": "agent",
                "display_name": None,
                "on_behalf_of": [],
                "attributes": {},
            },
            "effect": "write",
            "context": {"n": 1},
            "input": {"order": "A-1", "amount": 5},
            "id": "apr_1",
            "risk": "high",
            "reasons": ["new payee"],
            "presentation": {"title": "Refund", "summary": None, "redact": ["/order"]},
            "expires_at": "2027-01-15T08:30:00Z",
            "extensions": {"x": [None]},
        }
        assert call.headers == {"Idempotency-Key": "key-1"}
        assert call.again

    def test_without_a_key_it_is_not_asked_again(self) -> None:
        """Nobody could tell whether that made a second question."""
        call = calls.ask(CALL, {}, None)
        assert (call.headers, call.again) == ({}, False)

    def test_a_withheld_input(self) -> None:
        """Its hash alone."""
        call = ToolCall(capability="x", actor=CALL.actor, effect="none", input_hash="0" * 64)
        assert said(calls.ask(call, {}, "k"))["input_hash"] == "0" * 64
        assert "input" not in said(calls.ask(call, {}, "k"))
        assert said(calls.ask(msgspec.structs.replace(CALL, input=None), {}, "k"))["input"] is None

    def test_a_chosen_id_is_the_record_s(self) -> None:
        """Another record is no answer."""
        assert calls.ask(CALL, {"id": "apr_1"}, "k").read(json.dumps(RECORD).encode()).id == "apr_1"
        with pytest.raises(msgspec.ValidationError):
            calls.ask(CALL, {"id": "apr_2"}, "k").read(json.dumps(RECORD).encode())

    @pytest.mark.parametrize(
        "value",
        [
            float("nan"),
            float("inf"),
            2**53,
            10**400,
            "\ud800",
            {1: 2},
            {"at": datetime(2027, 1, 1, tzinfo=UTC)},
            b"x",
            {"a"},
            CYCLE,
        ],
        ids=lambda value: type(value).__name__,
    )
    @pytest.mark.parametrize("member", ["input", "context"])
    def test_what_could_not_be_bound_does_not_leave(self, member: str, value: object) -> None:
        """It is the service's own refusal, without the value."""
        call = msgspec.structs.replace(CALL, **{member: {"deep": value}})
        with pytest.raises(ApprovalUnserializableInput) as refused:
            calls.ask(call, {}, "k")
        assert refused.value.details == {"path": f"/{member}"}
        assert refused.value.__context__ is None

    def test_nor_does_another_member(self) -> None:
        """The issue names it."""
        with pytest.raises(InputInvalid) as refused:
            calls.ask(CALL, {"extensions": {"x": object()}}, "k")
        assert [issue.path for issue in refused.value.issues] == ["/extensions"]


class TestPaths:
    """Ids and runs in paths."""

    def test_everything_is_escaped(self) -> None:
        """An id leads nowhere else."""
        assert calls.get("a/b?c#d%é").path == "/v1/approvals/a%2Fb%3Fc%23d%25%C3%A9"
        assert calls.cancel_run("a/..").path == "/v1/runs/a%2F../cancel"

    @pytest.mark.parametrize("name", ["", ".", ".."])
    def test_what_a_path_would_swallow_is_refused(self, name: str) -> None:
        """Whoever is on the way would take it for another path."""
        for make in (calls.get, calls.trail, calls.cancel, calls.cancel_run):
            with pytest.raises(InputInvalid):
                make(name)

    def test_a_wait_is_in_the_query(self) -> None:
        """And no wait is not."""
        assert calls.get("apr_1").query == {}
        assert (calls.get("apr_1", 9).query, calls.get("apr_1", 9).wait_s) == ({"wait": "9"}, 9)

    def test_filters_are_in_the_query(self) -> None:
        """Those that are given."""
        call = calls.page({"status": "pending", "limit": 5, "run": None}, "c")  # type: ignore[typeddict-item]
        assert call.query == {"status": "pending", "limit": "5", "cursor": "c"}
        assert calls.events({"run": "r"}, "1-0").query == {"run": "r"}
        assert calls.events({}, "1-0").headers == {"Last-Event-ID": "1-0"}
        assert calls.events({}, None).headers == {}


class TestConsuming:
    """``POST …/consume``: the go-ahead."""

    def test_only_what_is_bound_is_presented(self) -> None:
        """With the token and the execution."""
        assert said(consume()) == {
            "capability": "orders.refund",
            "surface": "direct",
            "actor": {"id": "agent-7", "kind": "agent"},
            "effect": "external",
            "context": {},
            "input": {"order": "A-1", "amount": 5},
            "token": "t",
            "execution_id": "e-1",
        }

    def test_a_first_consumption_is_the_go_ahead(self) -> None:
        """A replay is none, but where nobody else knows of the execution."""
        first, again = json.dumps(SPENT).encode(), json.dumps({**SPENT, "replayed": True}).encode()
        told = [consume().read(first), consume().read(again), consume(fresh=True).read(again)]
        assert [(each.replayed, each.go_ahead) for each in told] == [
            (False, True),
            (True, False),
            (True, True),
        ]

    @pytest.mark.parametrize(
        "changes",
        [
            {"status": "approved"},
            {"consumption": None},
            {"consumption": {**SPENT["consumption"], "execution_id": "e-2"}},
            {"replayed": None},
            {"replayed": "no"},
            {"id": "apr_2"},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_nothing_else_is(self, changes: dict[str, Any]) -> None:
        """An answer that does not say all of it says nothing."""
        with pytest.raises(msgspec.ValidationError):
            consume(fresh=True).read(json.dumps({**SPENT, **changes}).encode())

    def test_whether_a_token_would_be_taken(self) -> None:
        """The execution is said where it is known."""
        assert "execution_id" not in said(calls.introspect(CALL, "t", None))
        call = calls.introspect(CALL, "t", "e-1")
        assert said(call)["execution_id"] == "e-1"
        assert call.read(b'{"active":false,"error":"NEW_CODE"}').error == "NEW_CODE"


class TestDeciding:
    """One, and several."""

    def test_a_vote_says_what_it_has_to(self) -> None:
        """Members that are not given are left out; null is an input like any other."""
        vote = Vote(id="apr_1", decision="edit", digest="d", comment="less", input=None, approver="ann")
        assert said(calls.decide(vote)) == {
            "decision": "edit",
            "digest": "d",
            "comment": "less",
            "input": None,
            "approver": {"id": "ann"},
        }
        assert said(calls.decide(Vote(id="apr_1", decision="reject", digest="d"))) == {
            "decision": "reject",
            "digest": "d",
        }

    def test_several_come_back_in_their_order(self) -> None:
        """Each as a record or as the class of its refusal."""
        votes = [Vote(id=name, decision="approve", digest="d") for name in ("apr_1", "apr_2", "apr_3")]
        call = calls.decide_many(votes)
        assert [each["id"] for each in said(call)["decisions"]] == ["apr_1", "apr_2", "apr_3"]
        results = [
            {"id": "apr_1", "approval": RECORD},
            {"id": "apr_2", "error": ApprovalNotFound().problem()},
            {"id": "apr_3", "error": StoreUnavailable().problem()},
        ]
        first, second, third = call.read(json.dumps({"results": results}).encode())
        assert first.approval is not None
        assert first.error is None
        assert isinstance(second.error, ApprovalNotFound)
        assert isinstance(third.error, StoreUnavailable)

    @pytest.mark.parametrize(
        "results",
        [
            [],
            [{"id": "apr_2", "approval": RECORD}],
            [{"id": "apr_1"}],
            [{"id": "apr_1", "error": {"oh": "no"}}],
            [{"id": "apr_1", "approval": RECORD, "error": ApprovalNotFound().problem()}],
        ],
    )
    def test_other_results_are_none(self, results: list[Any]) -> None:
        """Nobody is told that something was decided which was not."""
        call = calls.decide_many([Vote(id="apr_1", decision="approve", digest="d")])
        with pytest.raises(msgspec.ValidationError):
            call.read(json.dumps({"results": results}).encode())


def test_the_key_set_is_public() -> None:
    """No credential is sent for it, and it comes back as it is, if it is JSON."""
    call = calls.jwks()
    assert call.public
    assert call.read(b'{"keys":[]}') == b'{"keys":[]}'
    with pytest.raises(msgspec.DecodeError):
        call.read(b"<html>")
