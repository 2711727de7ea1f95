"""A hook's call that is made again: after a restart, where answers got lost, later, or not at all."""

import asyncio
import json
from functools import partial
from typing import Any

import anyio
import httpx
import pytest
from msgspec import structs

from placet.client.hook import ApprovalPending, ExecutionUnknown, FileJournal
from placet.client.journal import Entry
from tests.companies import Company, refused, said
from tests.harness import record
from tests.hooks import AGENT, NEW, TURN


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

    async def test_a_report_that_can_not_be_made_up_for(self, company: Company) -> None:
        """It is over all the same, and nobody is told that it did not run; later it is reported."""
        runtime = company.runtime(journal=company.journal())
        runtime.hook.client = Mute(runtime.hook.client)
        tool = runtime.tool(company.refund)
        await company.people.meanwhile(runtime.call(tool, "A-1"))
        over = await refused(runtime.call(tool, "A-1"))
        assert (over.error.code, over.outcome) == ("APPROVAL_CONSUMED", None)
        runtime.hook.client = runtime.hook.client.client
        over = await refused(runtime.call(tool, "A-1"))
        assert (over.error.code, over.outcome.status) == ("APPROVAL_CONSUMED", "succeeded")

    async def test_what_may_have_run_and_can_not_run_now(self, company: Company) -> None:
        """Stays unknown, whatever is in its way."""
        runtime = company.runtime(journal=company.journal())
        runtime.hook._journal = Dying(runtime.hook._journal, "ended")
        tool = runtime.tool(company.refund, idempotent=True)
        await company.people.meanwhile(runtime.call(tool, "A-1"))
        runtime.line.lose["consume"] = 9
        unknown = await refused(runtime.call(tool, "A-1"), ExecutionUnknown)
        assert (unknown.phase, company.ran) == ("started", [("A-1", 5)])

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

    async def test_somebody_else_was_first_and_then_the_service_is_away(self, company: Company) -> None:
        """Unknown too: that other one may have run it."""
        runtime = company.runtime()

        async def spent(answer: httpx.Response) -> httpx.Response:
            found = answer.json()
            if found["status"] == "approved":
                record(await company.party.consume(found, found["token"]))
                runtime.line.lose[found["id"]] = 9
            return answer

        def first(name: str) -> None:
            runtime.line.change[name] = spent

        calling = runtime.call(runtime.tool(company.refund), "A-1")
        unknown = await refused(company.people.meanwhile(calling, first=first), ExecutionUnknown)
        assert (unknown.execution_id, unknown.phase) == (None, None)
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
        value = json.loads(pending.handle.json())
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
        await refused(runtime.does("resume", {**json.loads(handle.json()), "version": 2}, 1, **who))
        grant = await runtime.does("resume", handle, 1, **who)
        assert grant.input == 1

    async def test_a_gate_judges_once_more(self, company: Company) -> None:
        """As it does where the same is asked again."""
        runtime = company.runtime()
        pending = await refused(
            runtime.call(runtime.tool(company.refund, suspend=True), "A-1"), ApprovalPending
        )
        await company.people.decide()
        later = structs.replace(TURN, handle=pending.handle)
        tool = runtime.tool(company.refund, gate=lambda _: False)
        assert (await refused(runtime.call(tool, "A-1", turn=later))).error.code == "APPROVAL_INPUT_MISMATCH"
        assert (company.ran, (await company.only())["status"]) == ([], "approved")

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
        self.client = client

    def __getattr__(self, name: str) -> Any:
        if name == "report":
            raise OSError("gone")
        return getattr(self.client, name)


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
