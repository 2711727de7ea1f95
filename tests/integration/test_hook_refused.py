"""What a hook does not let run, and what is said of that."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from msgspec import structs

from placet.client.hook import ApprovalPending
from placet.domain.errors import InputInvalid, Issue
from tests.companies import Company, Later, refused, said
from tests.hooks import NEW, TURN

ITSELF: list[Any] = []
ITSELF.append(ITSELF)
GENERIC = {"code": "INTERNAL_ERROR", "message": "The operation failed.", "retryable": False}


class Falsy:
    """A no of another type, as numpy has one."""

    def __eq__(self, other: object) -> bool:
        return other is False

    def __hash__(self) -> int:
        return 0


class TestRefused:
    """What does not run."""

    async def test_what_people_reject(self, company: Company) -> None:
        """The model hears it, and what they said of it."""
        runtime = company.runtime()
        calling = runtime.call(runtime.tool(company.refund), "A-1")
        said = await refused(company.people.meanwhile(calling, "reject", comment='Not "today".'))
        assert said.model()["code"] == "APPROVAL_REJECTED"
        assert said.text == rf'{said} An approver said: "Not \"today\"."'
        assert said.comments == ('Not "today".',)
        assert not company.ran

    async def test_what_people_reject_without_a_word(self, company: Company) -> None:
        """There is none to tell."""
        runtime = company.runtime()
        calling = runtime.call(runtime.tool(company.refund), "A-1")
        said = await refused(company.people.meanwhile(calling, "reject"))
        assert said.text == str(said)

    async def test_what_a_gate_refuses_is_not_even_asked(self, company: Company) -> None:
        """In the gate's own words, where they are of the table; else in none."""

        def says(_: Any) -> None:
            raise InputInvalid([Issue(path="/amount", message="Too much.")])

        def breaks(_: Any) -> None:
            raise RuntimeError("A-1")

        runtime = company.runtime()
        said = await refused(runtime.call(runtime.tool(company.refund, gate=says), "A-1"))
        assert said.model()["issues"] == [{"path": "/amount", "message": "Too much."}]
        assert said.text == f"{said} /amount: Too much."
        said = await refused(runtime.call(runtime.tool(company.refund, gate=breaks), "A-1"))
        assert said.model() == GENERIC
        assert said.text == f"{GENERIC['message']} This did not run. Tell the user before it is tried again."
        assert runtime.line.calls == []

    async def test_a_gate_that_finds_a_fault(self, company: Company) -> None:
        """Says no, in words that nobody else hears."""

        def finds(_: Any) -> None:
            raise ValueError("A-1 is paid already")

        runtime = company.runtime()
        said = await refused(runtime.call(runtime.tool(company.refund, gate=finds), "A-1"))
        assert said.error.code == "APPROVAL_INPUT_MISMATCH"
        assert runtime.line.calls == []

    @pytest.mark.parametrize(
        "no",
        [False, 0, Falsy(), "At most 500.", {}, {"ok": True}],
        ids=["False", "0", "another type's", "words", "empty", "anything else"],
    )
    async def test_a_gate_s_no(self, company: Company, no: Any) -> None:
        """However it says it."""
        runtime = company.runtime()
        said = await refused(runtime.call(runtime.tool(company.refund, gate=lambda _: no), "A-1"))
        assert said.error.code == "APPROVAL_INPUT_MISMATCH"
        assert runtime.line.calls == []

    async def test_a_gate_that_has_to_be_awaited(self, company: Company) -> None:
        """Is, or refuses: it has not judged yet."""

        async def judged(value: Any) -> bool:
            return value is None

        def gate(value: Any) -> Any:
            return judged(value)

        runtime = company.runtime()
        tool = runtime.tool(company.refund, gate=gate)
        said = await refused(runtime.call(tool, "A-1"))
        assert said.error.code == ("APPROVAL_INPUT_MISMATCH" if runtime.is_async else "INTERNAL_ERROR")
        assert runtime.line.calls == []

    async def test_a_gate_that_has_still_to_run(self, company: Company) -> None:
        """Whatever it has given in place of a judgement: nothing of it is one."""

        def reads(_: Any) -> Iterator[bool]:
            yield False

        async def forgets(_: Any) -> Any:
            return Later()

        def waits(_: Any) -> Any:
            return Later() if company.face == "sync" else forgets(_)

        runtime = company.runtime()
        for gate in (reads, waits):
            said = await refused(runtime.call(runtime.tool(company.refund, gate=gate), "A-1"))
            assert said.error.code == "INTERNAL_ERROR"
        assert runtime.line.calls == []

    @pytest.mark.parametrize("bad", [{1}, float("nan"), 2**60, 2.0**60, object, "\ud800", ITSELF], ids=repr)
    async def test_what_is_no_json(self, company: Company, bad: Any) -> None:
        """Before anybody is asked."""
        runtime = company.runtime()
        said = await refused(runtime.call(runtime.tool(company.refund), bad))
        assert said.error.code == "APPROVAL_UNSERIALIZABLE_INPUT"

    async def test_a_gate_changes_nothing(self, company: Company) -> None:
        """It judges a copy."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund, gate=lambda said: said.update(amount=1))
        await company.people.meanwhile(runtime.call(tool, "A-1"))
        assert company.ran == [("A-1", 5)]

    async def test_facts_that_change_meanwhile(self, company: Company) -> None:
        """What was asked with is what is consumed with."""
        facts = {"till": 1}
        runtime = company.runtime()
        calling = runtime.call(runtime.tool(company.refund), "A-1", turn=structs.replace(TURN, context=facts))
        await company.people.meanwhile(calling, first=lambda _: facts.update(till=2))
        assert company.ran == [("A-1", 5)]
        assert (await company.only())["context"] == {"till": 1}

    async def test_what_can_not_be_called_so(self, company: Company) -> None:
        """As Python would."""
        runtime = company.runtime()
        said = await refused(runtime.call(runtime.tool(company.refund), "A-1", nothing=1))
        assert said.model()["code"] == "INPUT_INVALID"

    async def test_another_call_under_the_same_id(self, company: Company) -> None:
        """The run and call id stand for one call."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund, suspend=True)
        await refused(runtime.call(tool, "A-1"), ApprovalPending)
        said = await refused(runtime.call(tool, "A-2"))
        assert said.error.code == "INVOCATION_CONFLICT"

    async def test_a_service_that_is_away(self, company: Company) -> None:
        """Closed."""
        runtime = company.runtime()
        runtime.line.lose["approvals"] = 9
        said = await refused(runtime.call(runtime.tool(company.refund), "A-1"))
        assert (said.error.code, said.model()) == ("SERVICE_UNREACHABLE", GENERIC)

    @pytest.mark.parametrize("token", [None, "not.a.token", "x"])
    async def test_a_grant_without_a_token_that_holds(self, company: Company, token: str | None) -> None:
        """As where a rule of now suspends it, or somebody has put another in its place: nothing is spent."""
        runtime = company.runtime()

        def tampered(name: str) -> None:
            runtime.line.change[name] = said(token=token)

        calling = runtime.call(runtime.tool(company.refund), "A-1")
        refusal = await refused(company.people.meanwhile(calling, first=tampered))
        assert (refusal.error.code, refusal.model()) == ("APPROVAL_TOKEN_INVALID", GENERIC)
        assert "consume" not in runtime.line.calls

    @pytest.mark.parametrize(
        "other", [{"digest": "0" * 64}, {"capability": "orders.delete"}, {"id": "apr_2"}, {"status": "odd"}]
    )
    async def test_a_record_that_is_not_of_this_call(self, company: Company, other: Any) -> None:
        """What the service says is held against what was asked."""
        runtime = company.runtime()

        def tampered(name: str) -> None:
            runtime.line.change[name] = said(**other)

        await refused(
            company.people.meanwhile(runtime.call(runtime.tool(company.refund), "A-1"), first=tampered)
        )
        assert "consume" not in runtime.line.calls

    async def test_a_token_of_another_approval(self, company: Company, caplog: Any) -> None:
        """Though it is a good one, and of the same call."""
        asked = await company.party.asked()
        await company.ann.decide(asked)
        token = await company.party.token(asked["id"])
        runtime = company.runtime()

        def swapped(name: str) -> None:
            runtime.line.change[name] = said(token=token)

        calling = runtime.call(runtime.tool(company.refund), "A-1")
        refusal = await refused(company.people.meanwhile(calling, first=swapped))
        assert refusal.error.code == "APPROVAL_TOKEN_INVALID"
        assert "is for something else: jti, dig" in caplog.text
        assert "consume" not in runtime.line.calls

    @pytest.mark.parametrize(
        ("skew_ms", "runs"), [(-65_000, True), (-66_000, False), (950_000, True), (962_000, False)]
    )
    async def test_a_clock_that_is_off(self, company: Company, skew_ms: int, runs: bool) -> None:  # noqa: FBT001
        """A minute is nothing; a day is unclear. When a grant is dead the service's clock says."""
        runtime = company.runtime(skew_ms=skew_ms)
        calling = company.people.meanwhile(runtime.call(runtime.tool(company.refund), "A-1"))
        if runs:
            await calling
        else:
            assert (await refused(calling)).error.code == "APPROVAL_TOKEN_INVALID"
        assert bool(company.ran) is runs

    async def test_keys_that_were_rotated(self, company: Company) -> None:
        """Are fetched again because of a token that names another, once."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund)
        runtime.line.change["jwks.json"] = keys({"keys": []})
        await refused(company.people.meanwhile(runtime.call(tool, "A-1")))
        assert runtime.line.calls.count("jwks.json") == 1, "not again at once"
        runtime.line.change.clear()
        runtime.hook._keys._at_s -= 10
        assert await runtime.call(tool, "A-1") == "refunded 5"
        assert runtime.line.calls.count("jwks.json") == 2

    async def test_keys_that_are_none(self, company: Company) -> None:
        """Or other people's."""
        documents: list[Any] = [{"keys": []}, {"keys": [1]}]
        for document in documents:
            runtime = company.runtime()
            runtime.line.change["jwks.json"] = keys(document)
            calling = runtime.call(runtime.tool(company.refund), "A-1", turn=NEW)
            refusal = await refused(company.people.meanwhile(calling))
            assert refusal.error.code == "APPROVAL_TOKEN_INVALID"
            assert "consume" not in runtime.line.calls


def keys(document: Any) -> Callable[[httpx.Response], httpx.Response]:
    """Another set of keys."""
    return lambda answer: httpx.Response(
        200, json=document, headers={"content-type": "application/jwk-set+json"}
    )
