"""The hook before the real service in this process: what runs, with what, how often, and what is told."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from msgspec import structs

from placet.client import StillPending
from placet.client.hook import (
    ApprovalEdited,
    ApprovalPending,
    ApprovalRefused,
    ExecutionUnknown,
    FileJournal,
    Grant,
    HookRefusal,
    SyncGrant,
)
from placet.client.journal import Entry
from placet.domain.errors import InputInvalid, Issue, PlacetError
from tests.agents import FACES
from tests.harness import Harness, Party, record
from tests.hooks import AGENT, NEW, TURN, People, Runtime
from tests.ruled import Opening

EDITABLE: dict[str, Any] = {"allowed_decisions": ("approve", "edit", "reject"), "effect": "write"}
ITSELF: list[Any] = []
ITSELF.append(ITSELF)
GENERIC = {"code": "INTERNAL_ERROR", "message": "The operation failed.", "retryable": False}


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Each face in turn."""
    return str(request.param)


class Falsy:
    """A no of another type, as numpy has one."""

    def __eq__(self, other: object) -> bool:
        return other is False

    def __hash__(self) -> int:
        return 0


class Company:
    """A runtime's machine, and who approves.

    Attributes:
        ran: What the tool was called with.
    """

    def __init__(self, h: Harness, face: str, party: Party, ann: Party, directory: Path) -> None:
        self.h, self.face, self.party, self.ann = h, face, party, ann
        self.people = People(ann)
        self.ran: list[Any] = []
        self._journal = directory / "journal"

    def runtime(self, *, journal: FileJournal | None = None, skew_ms: int = 0) -> Runtime:
        """A process."""
        return Runtime(self.h, self.party, self.face, journal, skew_ms)

    def journal(self) -> FileJournal:
        """The journal of this machine."""
        return FileJournal(self._journal)

    def refund(self, order: str, amount: int = 5) -> str:
        """The tool."""
        self.ran.append((order, amount))
        return f"refunded {amount}"

    async def only(self) -> dict[str, Any]:
        """The one question there is."""
        [item] = (await self.party.list()).json()["items"]
        return await self.party.seen(item["id"])


@pytest.fixture
async def company(h: Harness, face: str, tmp_path: Path) -> Company:
    """Who takes part."""
    h.services.store.stream.start()
    return Company(h, face, await h.client(), await h.approver(), tmp_path)


@pytest.fixture
async def editors(under: Opening, face: str, tmp_path: Path) -> Company:
    """The same, under a rule by which approvers may change what they approve."""
    ruled = await under('edit = "counts"')
    ruled.h.services.store.stream.start()
    party, (ann, _) = await ruled.parties()
    return Company(ruled.h, face, party, ann, tmp_path)


async def refused(calling: Awaitable[Any], kind: type[HookRefusal] = ApprovalRefused) -> Any:
    """The refusal of a call; it shows what a model may read and no more."""
    with pytest.raises(kind) as raised:
        await calling
    assert type(raised.value) is kind
    shown = f"{raised.value} {raised.value!r} {json.dumps(raised.value.model())}"
    assert "A-1" not in shown
    assert str(raised.value) == raised.value.model()["message"]
    fault: BaseException | None = raised.value
    while fault is not None:
        assert isinstance(fault, HookRefusal | PlacetError | StillPending), "no other fault hangs on it"
        fault = fault.__cause__ or fault.__context__
    return raised.value


class TestRuns:
    """An approved call."""

    async def test_with_what_was_approved_and_is_reported(self, company: Company) -> None:
        """After defaults; the record has all of it."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund, summary=str, risk="high")
        assert await company.people.meanwhile(runtime.call(tool, "A-1")) == "refunded 5"
        assert company.ran == [("A-1", 5)]
        seen = await company.only()
        assert seen["input"] == {"order": "A-1", "amount": 5}
        assert (seen["run"], seen["risk"], seen["status"]) == ("r-1", "high", "consumed")
        assert seen["outcome"]["status"] == "succeeded"
        assert seen["outcome"]["summary"] == "refunded 5"

    async def test_what_the_body_gets_is_read_back_from_what_was_bound(self, company: Company) -> None:
        """A tuple is a list, 5.0 is 5, rest arguments come as they should, and nothing is shared."""
        got: list[Any] = []

        def tool(first: Any, *rest: Any, word: str = "w", **more: Any) -> None:
            got.append((first, rest, word, more))

        runtime, given = company.runtime(), {"a": [1]}
        gated = runtime.tool(tool)
        await company.people.meanwhile(runtime.call(gated, (1, 2), given, 5.0, x=1))
        assert got == [([1, 2], ({"a": [1]}, 5), "w", {"x": 1})]
        assert got[0][1][0] is not given
        assert isinstance(got[0][1][1], int)

    async def test_a_failure_is_the_tools_own_and_its_text_stays_here(self, company: Company) -> None:
        """Unless it is asked for."""

        def tool() -> None:
            raise LookupError("hunter2")

        runtime = company.runtime()
        for turn, options, told in ((TURN, {}, "It failed."), (NEW, {"tell_errors": True}, "hunter2")):
            with pytest.raises(LookupError, match="hunter2"):
                await company.people.meanwhile(runtime.call(runtime.tool(tool, **options), turn=turn))
            items = (await company.party.list()).json()["items"]
            outcome = (await company.party.seen(items[0]["id"]))["outcome"]
            assert (outcome["status"], outcome["summary"]) == ("failed", told)
            company.h.clock.move(1)

    async def test_a_report_that_fails_hides_no_result(
        self, company: Company, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It is logged by its code; nor does a summary that can't be made."""
        runtime = company.runtime()
        runtime.line.change["outcome"] = lambda _: httpx.Response(500)
        tool = runtime.tool(company.refund, summary=lambda _: 1 / 0)
        assert await company.people.meanwhile(runtime.call(tool, "A-1")) == "refunded 5"
        assert "no summary of a result: ZeroDivisionError" in caplog.text
        assert "is not reported: ANSWER_NOT_UNDERSTOOD" in caplog.text

    async def test_parallel_calls_are_approved_each(self, company: Company) -> None:
        """Three calls, three questions."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund)
        calls = [asyncio.ensure_future(runtime.call(tool, f"A-{n}", turn=NEW)) for n in range(3)]
        for _ in calls:
            await company.people.decide()
        await asyncio.gather(*calls)
        assert sorted(company.ran) == [("A-0", 5), ("A-1", 5), ("A-2", 5)]
        assert runtime.line.calls.count("jwks.json") == 1, "the keys are fetched once"

    async def test_a_callable_that_is_no_function(self, company: Company) -> None:
        """Has run once it is awaited; threads can't do that."""
        runtime = company.runtime()
        lying = runtime.hook.requires_approval("orders.refund", effect="write")(Later)
        calling = company.people.meanwhile(runtime.call(lying))
        if runtime.is_async:
            assert await calling == "x"
        else:
            with pytest.raises(TypeError, match="asyncio"):
                await calling

    async def test_a_hook_that_is_closed(self, company: Company, caplog: pytest.LogCaptureFixture) -> None:
        """Hides no result either."""
        runtime = company.runtime()
        if runtime.is_async:
            return
        await runtime.does("close")
        tool = runtime.tool(company.refund)
        assert await company.people.meanwhile(runtime.call(tool, "A-1")) == "refunded 5"
        assert "is not reported: RuntimeError" in caplog.text

    async def test_a_grant_whose_person_may_not_decide_any_more(self, company: Company) -> None:
        """Is not used; why is said, and nothing else."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund, suspend=True)
        await refused(runtime.call(tool, "A-1"), ApprovalPending)
        await company.people.decide()
        await company.h.services.enrolment.revoke("default", "approver:ann")
        said = await refused(runtime.call(tool, "A-1"))
        assert said.model()["code"] == "FORBIDDEN"
        assert said.error.details == {"reason": "approver-no-longer-entitled"}
        assert not company.ran

    async def test_without_a_decorator(self, company: Company) -> None:
        """A grant has what is to run, and reports in the end."""
        runtime = company.runtime()
        said: Any = {"actor": AGENT, "effect": "external"}
        grant = await company.people.meanwhile(runtime.does("authorize", "orders.refund", {"n": 1}, **said))
        assert isinstance(grant, Grant | SyncGrant)
        assert grant.input == {"n": 1}
        await runtime.on(grant, "failed", "no funds")
        await runtime.on(grant, "succeeded")
        await runtime.settle()
        seen = await company.only()
        assert (seen["outcome"]["status"], seen["outcome"]["summary"]) == ("failed", "no funds")
        assert seen["consumption"]["execution_id"] == grant.execution_id


class TestEdited:
    """An approver's changes."""

    async def test_what_was_made_of_it_runs(self, editors: Company) -> None:
        """And the gate has judged both."""
        judged: list[Any] = []
        runtime = editors.runtime()
        tool = runtime.tool(editors.refund, gate=judged.append, **EDITABLE)
        changed = {"order": "A-1", "amount": 3}
        await editors.people.meanwhile(runtime.call(tool, "A-1"), "edit", input=changed)
        assert editors.ran == [("A-1", 3)]
        assert judged == [{"order": "A-1", "amount": 5}, changed]

    async def test_however_the_service_spells_it(self, editors: Company) -> None:
        """The tool gets what its gate has judged, and what is consumed with: 3, where 3.0 came."""
        runtime = editors.runtime()

        def spelt(name: str) -> None:
            for end in (name, "consume"):
                runtime.line.change[end] = lambda answer: httpx.Response(
                    answer.status_code,
                    content=answer.content.replace(b'"amount":3', b'"amount":3.0'),
                    headers={"content-type": "application/json"},
                )

        calling = runtime.call(runtime.tool(editors.refund, **EDITABLE), "A-1")
        changed = {"order": "A-1", "amount": 3}
        assert await editors.people.meanwhile(calling, "edit", input=changed, first=spelt) == "refunded 3"

    @pytest.mark.parametrize(
        "changed",
        [{"order": "A-1", "amount": 99}, {"order": "A-1"}, {"order": "A-1", "amount": 1, "x": 1}, [], 7],
        ids=str,
    )
    async def test_not_where_the_tool_would_not_take_it(self, editors: Company, changed: Any) -> None:
        """A gate's no, a member too few or too many: nothing is spent, and the grant is withdrawn."""
        runtime = editors.runtime()
        tool = runtime.tool(editors.refund, gate=lambda said: said["amount"] < 10, **EDITABLE)
        said = await refused(editors.people.meanwhile(runtime.call(tool, "A-1"), "edit", input=changed))
        assert said.error.code == "APPROVAL_INPUT_MISMATCH"
        assert (editors.ran, (await editors.only())["status"]) == ([], "cancelled")

    async def test_not_where_no_changes_can_be_made(self, editors: Company) -> None:
        """The model hears why, and the grant is gone."""
        runtime = editors.runtime()
        tool = runtime.tool(editors.refund, edits=False, **EDITABLE)
        calling = editors.people.meanwhile(
            runtime.call(tool, "A-1"), "edit", input={"order": "A-1", "amount": 3}
        )
        said = await refused(calling, ApprovalEdited)
        assert said.model()["code"] == "APPROVAL_EDITED"
        assert said.text == "A person approved this with changes that cannot be made here. It did not run."
        assert ((await editors.only())["status"], editors.ran) == ("cancelled", [])

    async def test_rest_arguments_stay_what_they_are(self, editors: Company) -> None:
        """An array, and an object without the names of parameters, the key's among them."""

        def tool(a: int, *rest: int, key: str, **more: int) -> None:
            editors.ran.append((a, rest, more, key))

        runtime = editors.runtime()
        for wrong in ({"a": 1, "rest": {}, "more": {}}, {"a": 1, "rest": [], "more": {"key": 2}}):
            calling = runtime.call(runtime.tool(tool, key="key", **EDITABLE), 1, 2, turn=NEW)
            await refused(editors.people.meanwhile(calling, "edit", input=wrong))
        assert not editors.ran


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

    @pytest.mark.parametrize("no", [False, 0, Falsy()], ids=["False", "0", "another type's"])
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

    @pytest.mark.parametrize("bad", [{1}, float("nan"), 2**60, object, "\ud800", ITSELF], ids=repr)
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


class TestAgain:
    """After a restart, or where answers got lost."""

    async def test_an_answer_that_gets_lost_is_asked_for_again(self, company: Company) -> None:
        """In the same execution; the tool runs once."""
        runtime = company.runtime()
        runtime.line.lose = {"consume": 2, "approvals": 1, "outcome": 1}
        tool = runtime.tool(company.refund)
        assert await company.people.meanwhile(runtime.call(tool, "A-1")) == "refunded 5"
        assert (company.ran, runtime.line.calls.count("consume")) == ([("A-1", 5)], 3)
        assert (await company.only())["outcome"]["status"] == "succeeded"

    async def test_answers_that_stay_lost(self, company: Company) -> None:
        """Nothing runs; and later it is unknown, though the journal knows that nothing had started."""
        journal = company.journal()
        runtime = company.runtime(journal=journal)
        runtime.line.lose["consume"] = 9
        tool = runtime.tool(company.refund)
        refusal = await refused(company.people.meanwhile(runtime.call(tool, "A-1")))
        assert refusal.error.code == "SERVICE_UNREACHABLE"
        unknown = await refused(runtime.call(tool, "A-1"), ExecutionUnknown)
        assert (unknown.phase, unknown.model()["code"]) == ("begun", "EXECUTION_UNKNOWN")
        assert unknown.approval_id == (await company.only())["id"]
        assert not company.ran
        journal.close()

    async def test_a_process_that_ends_before_the_tool(self, company: Company) -> None:
        """Spent, but not begun: unknown, with and without a journal, after a restart too."""
        journal = company.journal()
        runtime = company.runtime(journal=journal)
        tool = runtime.tool(company.refund)
        runtime.hook._journal = Dying(journal, "started")
        refusal = await refused(company.people.meanwhile(runtime.call(tool, "A-1")))
        assert refusal.error.code == "INTERNAL_ERROR"
        journal.close()
        for kept, phase in ((None, None), (company.journal(), "begun")):
            second = company.runtime(journal=kept)
            unknown = await refused(second.call(second.tool(company.refund), "A-1"), ExecutionUnknown)
            assert unknown.phase == phase
        assert not company.ran

    async def test_a_process_that_ends_while_the_tool_runs(self, company: Company) -> None:
        """Unknown; an idempotent tool runs again, under the same key."""
        journal = company.journal()
        runtime = company.runtime(journal=journal)
        runtime.hook._journal = Dying(journal, "ended")

        def tool(order: str, *, key: str) -> None:
            company.ran.append((order, key))

        options: Any = {"idempotent": True, "key": "key"}
        await company.people.meanwhile(runtime.call(runtime.tool(tool, **options), "A-1"))
        journal.close()
        second = company.runtime(journal=company.journal())
        unknown = await refused(second.call(second.tool(company.refund), "A-1"))
        assert unknown.error.code == "INVOCATION_CONFLICT", "that is another call"
        plain = second.tool(tool, key="key")
        assert (await refused(second.call(plain, "A-1"), ExecutionUnknown)).phase == "started"
        again = second.tool(tool, **options)
        await second.call(again, "A-1")
        [first, repeated] = company.ran
        assert first == repeated
        assert len(first[1]) == 32
        over = await refused(second.call(again, "A-1"))
        assert (over.error.code, over.outcome.status) == ("APPROVAL_CONSUMED", "succeeded")

    async def test_a_process_that_ends_before_the_report(self, company: Company) -> None:
        """It is reported by the next; the tool does not run again."""
        journal = company.journal()
        runtime = company.runtime(journal=journal)
        runtime.line.lose["outcome"] = 0
        runtime.line.change["outcome"] = lambda _: httpx.Response(500)
        runtime.hook.client = Mute(runtime.hook.client)
        await company.people.meanwhile(runtime.call(runtime.tool(company.refund), "A-1"))
        assert (await company.only())["outcome"] is None
        journal.close()
        second = company.runtime(journal=company.journal())
        over = await refused(second.call(second.tool(company.refund), "A-1"))
        assert (over.error.code, over.outcome.status) == ("APPROVAL_CONSUMED", "succeeded")
        assert (await company.only())["outcome"]["status"] == "succeeded"
        assert company.ran == [("A-1", 5)]

    async def test_a_journal_that_can_not_be_written(self, company: Company) -> None:
        """Nothing is spent."""
        journal = company.journal()
        runtime = company.runtime(journal=journal)
        runtime.hook._journal = Dying(journal, "begun")
        await refused(company.people.meanwhile(runtime.call(runtime.tool(company.refund), "A-1")))
        assert (await company.only())["status"] == "approved"

    @pytest.mark.parametrize("turn", [TURN, NEW], ids=["no journal", "no id"])
    async def test_idempotent_without_what_it_takes(self, company: Company, turn: Any) -> None:
        """Refused before it is asked."""
        runtime = company.runtime(journal=None if turn is TURN else company.journal())
        await refused(runtime.call(runtime.tool(company.refund, idempotent=True), "A-1", turn=turn))
        assert runtime.line.calls == []

    async def test_somebody_else_was_first(self, company: Company) -> None:
        """Between the token and its use: unknown, for this hook does not know who."""
        journal = company.journal()
        runtime = company.runtime(journal=journal)
        tool = runtime.tool(company.refund)

        async def spent(answer: httpx.Response) -> httpx.Response:
            found = answer.json()
            if found["status"] == "approved" and not runtime.line.calls.count("consume"):
                record(await company.party.consume(found, found["token"]))
            return answer

        def first(name: str) -> None:
            runtime.line.change[name] = spent

        unknown = await refused(
            company.people.meanwhile(runtime.call(tool, "A-1"), first=first), ExecutionUnknown
        )
        assert (unknown.execution_id, unknown.phase) == ("exec-1", None)
        assert not company.ran

    async def test_a_replay_starts_nothing(self, company: Company) -> None:
        """Where the execution is not this attempt's alone, and the tool isn't idempotent, or it is over."""
        journal = company.journal()
        runtime = company.runtime(journal=journal)
        outcome = {"status": "succeeded", "summary": None, "at": "2027-01-15T08:00:00.000Z"}
        runtime.line.change["consume"] = said(outcome=outcome, replayed=True)
        tool = runtime.tool(company.refund, idempotent=True)
        await refused(company.people.meanwhile(runtime.call(tool, "A-1")), ExecutionUnknown)
        assert not company.ran


class TestSuspended:
    """Not waiting."""

    async def test_goes_on_in_another_process(self, company: Company) -> None:
        """With the handle's JSON, and the call as it was."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund, suspend=True)
        pending = await refused(runtime.call(tool, "A-1"), ApprovalPending)
        assert pending.approval.confirmation["code"] == "CONFIRMATION_REQUIRED"
        value = json.loads(json.dumps(pending.handle.json()))
        await company.people.decide()
        second = company.runtime()
        later = structs.replace(TURN, handle=value)
        for changed in ({"actor": structs.replace(AGENT, id="other")}, {"run": "r-2"}, {"call_id": None}):
            wrong = structs.replace(later, **changed)
            await refused(second.call(second.tool(company.refund), "A-1", turn=wrong))
        await refused(second.call(second.tool(company.refund), "A-2", turn=later))
        assert await second.call(second.tool(company.refund), "A-1", turn=later) == "refunded 5"
        assert company.ran == [("A-1", 5)]

    async def test_without_a_decorator(self, company: Company) -> None:
        """The same; a handle that is none is refused."""
        runtime = company.runtime()
        who: Any = {"actor": AGENT, "effect": "external", "run": "r"}
        asking = runtime.does("authorize", "orders.refund", 1, suspend=True, **who)
        handle = (await refused(asking, ApprovalPending)).handle
        await company.people.decide("approve")
        del who["run"]
        await refused(runtime.does("resume", {**handle.json(), "version": 2}, 1, **who))
        grant = await runtime.does("resume", handle, 1, **who)
        assert grant.input == 1

    async def test_what_was_decided_can_be_seen_first(self, company: Company) -> None:
        """A look asks the same question, and spends nothing."""
        runtime = company.runtime()
        said: Any = {"actor": AGENT, "effect": "external", "run": "r-1", "call_id": "c-1"}
        looking = ("look", "orders.refund", {"order": "A-1", "amount": 5})
        pending = await refused(runtime.does(*looking, suspend=True, **said), ApprovalPending)
        seen = await company.people.meanwhile(runtime.does(*looking, **said))
        assert (seen.id, seen.status) == (pending.handle.approval, "approved")
        assert await runtime.call(runtime.tool(company.refund), "A-1") == "refunded 5"
        assert (await runtime.does(*looking, **said)).status == "consumed"
        assert len(company.ran) == 1

    async def test_what_was_rejected_can_be_seen_too(self, company: Company) -> None:
        """With what was said of it."""
        runtime = company.runtime()
        looking = runtime.does("look", "orders.refund", {}, actor=AGENT, effect="external")
        said = await refused(company.people.meanwhile(looking, "reject", comment="No."))
        assert (said.error.code, said.comments) == ("APPROVAL_REJECTED", ("No.",))

    async def test_waiting_ends(self, company: Company) -> None:
        """In a handle too."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund, timeout_s=0)
        assert (await refused(runtime.call(tool, "A-1"), ApprovalPending)).model() == {
            "code": "APPROVAL_PENDING",
            "message": "A person has to approve this first. It has been asked for; do not ask again.",
            "retryable": False,
        }


class TestWithdrawn:
    """A call that is cancelled while it waits."""

    async def test_takes_its_question_back(self, company: Company) -> None:
        """Where it was asked to; that anyio goes on cancelling whoever waits does not cut this short."""
        runtime = company.runtime()
        if not runtime.is_async:
            return
        runtime.hook.client = Slow(runtime.hook.client)
        tool = runtime.tool(company.refund, withdraw=True)
        async with anyio.create_task_group() as group:
            group.start_soon(partial(runtime.call, tool, "A-1"))
            await company.people.shown("pending")
            group.cancel_scope.cancel()
        await runtime.settle()
        assert (await company.only())["status"] == "cancelled"

    async def test_or_leaves_it(self, company: Company) -> None:
        """Where it was not: somebody may go on with it."""
        runtime = company.runtime()
        if not runtime.is_async:
            return
        calling = asyncio.ensure_future(runtime.call(runtime.tool(company.refund), "A-1"))
        await company.people.shown("pending")
        calling.cancel()
        await asyncio.wait({calling})
        assert (await company.only())["status"] == "pending"


class TestTerms:
    """What a turn says of the question."""

    async def test_in_place_of_what_the_tool_says(self, company: Company) -> None:
        """An id for it, and why."""
        runtime = company.runtime()
        tool = runtime.tool(company.refund, suspend=True, reasons=["large"], risk="high")
        terms: Any = {"id": "mine-1", "reasons": ["again"]}
        await refused(runtime.call(tool, "A-1", turn=structs.replace(TURN, terms=terms)), ApprovalPending)
        seen = await company.party.seen("mine-1")
        assert (seen["reasons"], seen["risk"], seen["run"]) == (["again"], "high", "r-1")


def said(**changes: Any) -> Callable[[httpx.Response], httpx.Response]:
    """Another answer: of a record that is no longer pending, with these changes."""

    def change(answer: httpx.Response) -> httpx.Response:
        body = answer.json()
        if body.get("status") == "pending":
            return answer
        return httpx.Response(answer.status_code, json={**body, **changes})

    return change


def keys(document: Any) -> Callable[[httpx.Response], httpx.Response]:
    """Another set of keys."""
    return lambda answer: httpx.Response(
        200, json=document, headers={"content-type": "application/jwk-set+json"}
    )


class Later:
    """Something to be awaited."""

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return "x"


class Dying:
    """A journal whose process ends when a step of this kind is to be written."""

    def __init__(self, journal: FileJournal, phase: str) -> None:
        self._journal, self._phase = journal, phase

    def write(self, entry: Entry) -> None:
        """Keep it, or not."""
        if entry.phase == self._phase:
            raise OSError("gone")
        self._journal.write(entry)


class Mute:
    """A client whose reports never leave."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        if name == "report":
            raise OSError("gone")
        return getattr(self._client, name)


class Slow:
    """A client that takes its time to cancel."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def cancel(self, approval_id: str) -> Any:
        """Cancel, in the end."""
        await asyncio.sleep(0.01)
        return await self._client.cancel(approval_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)
