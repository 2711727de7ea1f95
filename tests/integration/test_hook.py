"""The hook before the real service in this process: what runs, with what, and what is told of it."""

import asyncio
import logging
from typing import Any

import httpx
import pytest
from msgspec import structs

from placet.client.hook import ApprovalEdited, ApprovalPending, Grant, SyncGrant
from tests.companies import EDITABLE, Company, Later, refused
from tests.harness import BASE_URL
from tests.hooks import AGENT, NEW, TURN


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


class TestTold:
    """What whoever runs it reads in the log, and nothing of a call is in that."""

    async def test_who_is_waited_for_and_where(
        self, company: Company, caplog: pytest.LogCaptureFixture
    ) -> None:
        """The page's address; and how it ended, by its code."""
        caplog.set_level(logging.INFO, "placet.client.hook")
        runtime = company.runtime()
        await refused(company.people.meanwhile(runtime.call(runtime.tool(company.refund), "A-1"), "reject"))
        asked = await company.only()
        told = [(each.levelname, each.getMessage()) for each in caplog.records]
        assert told == [
            ("INFO", f"a person has to approve orders.refund: {BASE_URL}/a/{asked['id']}"),
            ("INFO", "orders.refund (run 'r-1', call 'c-1') does not run: APPROVAL_REJECTED"),
        ]
        runtime.line.change["approvals"] = lambda _: httpx.Response(500)
        await refused(runtime.call(runtime.tool(company.refund), "A-1", turn=NEW))
        assert (caplog.records[-1].levelname, "A-1" in caplog.text) == ("WARNING", False)

    async def test_a_name_that_is_another_client_s(
        self, company: Company, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Nobody is asked for an approval that this hook could not use: it is withdrawn at once."""
        runtime = company.runtime()
        runtime.hook._desk = structs.replace(
            runtime.hook._desk, expected=structs.replace(runtime.hook.expected, audience="shop")
        )
        assert (
            await refused(runtime.call(runtime.tool(company.refund), "A-1"))
        ).error.code == "INTERNAL_ERROR"
        assert (await company.only())["status"] == "cancelled"
        assert f"the hook is audience 'shop', and this is asked for {company.party.name!r}" in caplog.text
