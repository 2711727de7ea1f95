"""Runs of the OpenAI Agents SDK before the service in this process: when they pause, and what runs then."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from agents import Agent, Runner, function_tool

from placet.client.hook import ApprovalRefused
from placet.client.refusals import EDITED, PENDING, UNKNOWN
from placet.domain.errors import ApprovalConsumed, ApprovalExpired, ApprovalRejected
from tests.harness import Harness
from tests.openai_runs import RUN, Office, Process, call, saved

GENERIC = "The operation failed. This did not run. Tell the user before it is tried again."
REJECTED = str(ApprovalRefused(ApprovalRejected()))
SPENT = str(ApprovalRefused(ApprovalConsumed()))
ENDS = {"approve": "refunded 5", "reject": REJECTED}


def said(**changes: Any) -> Callable[[httpx.Response], httpx.Response]:
    """Another answer: of a record that is no longer pending, with these changes."""

    def change(answer: httpx.Response) -> httpx.Response:
        body = answer.json()
        if body.get("status") == "pending":
            return answer
        return httpx.Response(answer.status_code, json={**body, **changes})

    return change


@pytest.fixture
async def office(h: Harness) -> Office:
    """Who takes part."""
    h.services.store.stream.start()
    return Office(h, await h.client(), await h.approver())


class TestPauses:
    """A run until its calls are decided."""

    async def test_asks_once_and_runs_once(self, office: Office) -> None:
        """What was approved has the defaults; the model hears what the tool returned, and so do people."""
        process = office.process()
        agent = process.agent(process.tool(summary=str, risk="high"), calls=[call()])
        paused = await process.run(agent)
        assert [each.call_id for each in paused.interruptions] == ["c-1"]
        state = await process.approvals.answer(paused, timeout_s=0)
        record = await office.only()
        assert record["input"] == {"order": "A-1", "amount": 5}
        assert (record["run"], record["risk"], record["status"]) == ("r-1", "high", "pending")
        done = await process.run(agent, await office.people.meanwhile(process.approvals.answer(state)))
        assert (done.final_output, process.heard()) == ("done", ["refunded 5"])
        assert process.ran == [("A-1", 5)]
        record = await office.only()
        assert (record["status"], record["outcome"]["summary"]) == ("consumed", "refunded 5")

    @pytest.mark.parametrize("context", [None, {**RUN, "more": 1}], ids=["kept", "given again"])
    @pytest.mark.parametrize("decision", ["approve", "reject"])
    async def test_goes_on_in_another_process(self, office: Office, context: Any, decision: str) -> None:
        """What was decided is honoured there, by a client and objects that have seen nothing of it."""
        first = office.process()
        kept = saved(await first.asked(first.agent(first.tool(), calls=[call()])))
        await office.people.decide(decision)
        second = office.process()
        agent = second.agent(second.tool())
        state = await second.approvals.answer(await second.restored(agent, kept))
        done = await second.run(agent, state, **({} if context is None else {"context": context}))
        assert (done.interruptions, second.heard()) == ([], [ENDS[decision]])
        assert (first.ran, second.ran) == ([], [("A-1", 5)] if decision == "approve" else [])

    async def test_of_several_calls_each_is_decided(self, office: Office) -> None:
        """One is approved, one rejected, one waits; by their ids, and kept in between."""
        first = office.process()
        calls = [call({"order": order}, order) for order in ("A-1", "B-2", "C-3")]
        state = await first.asked(first.agent(first.tool(), calls=calls))
        await office.decide("B-2", "reject", comment="Not this one.")
        await office.decide("A-1")
        state = await first.approvals.answer(state, timeout_s=0)
        second = office.process()
        agent = second.agent(second.tool())
        paused = await second.run(agent, await second.restored(agent, saved(state)))
        assert [each.call_id for each in paused.interruptions] == ["C-3"]
        assert second.ran == [("A-1", 5)]
        await second.run(agent, await office.people.meanwhile(second.approvals.answer(paused)))
        assert second.ran == [("A-1", 5), ("C-3", 5)]
        done, told, also = second.heard()
        assert (done, also) == ("refunded 5", "refunded 5")
        assert told == f'{REJECTED} An approver said: "Not this one."'
        assert len(await office.records()) == 3

    async def test_of_what_nobody_decided(self, office: Office) -> None:
        """It stays paused until the question has expired; then the model hears that."""
        process = office.process()
        agent = process.agent(process.tool(timeout_s=0), calls=[call()])
        paused = await process.run(agent, await process.approvals.answer(await process.run(agent)))
        assert [each.call_id for each in paused.interruptions] == ["c-1"]
        office.h.clock.move(16 * 60_000)
        await process.run(agent, await process.approvals.answer(paused))
        assert (process.heard(), process.ran) == ([str(ApprovalRefused(ApprovalExpired()))], [])

    async def test_a_run_that_is_begun_again_finds_its_answer(self, office: Office) -> None:
        """Where the state got lost."""
        first = office.process()
        await first.asked(first.agent(first.tool(), calls=[call()]))
        await office.people.decide()
        second = office.process()
        agent = second.agent(second.tool(), calls=[call()])
        await second.run(agent, await second.asked(agent))
        assert second.heard() == ["refunded 5"]
        await office.only()

    async def test_streamed(self, office: Office) -> None:
        """The same."""
        process = office.process()
        agent = process.agent(process.tool(), calls=[call()])
        paused = Runner.run_streamed(agent, "Go.", context=dict(RUN))
        async for _ in paused.stream_events():
            pass
        done = Runner.run_streamed(agent, await office.people.meanwhile(process.approvals.answer(paused)))
        async for _ in done.stream_events():
            pass
        assert (done.final_output, process.ran) == ("done", [("A-1", 5)])

    @pytest.mark.parametrize("way", ["tool", "handoff"])
    async def test_of_an_agent_that_another_calls(self, office: Office, way: str) -> None:
        """It interrupts the whole run, which can be kept."""

        def agents(process: Process, *calls: Any) -> Agent[Any]:
            inner = process.agent(process.tool(), calls=calls, name="inner")
            if way == "handoff":
                asked = [call({}, "h-1", "transfer_to_inner")]
                return process.agent(calls=calls and asked, handoffs=[inner])
            asked = [call({"input": "Go."}, "t-1", "inner")]
            return process.agent(inner.as_tool("inner", "It refunds."), calls=calls and asked)

        first = office.process()
        kept = saved(await first.asked(agents(first, call())))
        await office.people.decide()
        second = office.process()
        agent = agents(second)
        done = await second.run(agent, await second.approvals.answer(await second.restored(agent, kept)))
        assert (done.final_output, done.interruptions, second.ran) == ("done", [], [("A-1", 5)])

    async def test_what_is_not_for_placet_to_decide(self, office: Office) -> None:
        """It is left as it is; so is a tool of other approvals, and one of which two have the name."""

        @function_tool(needs_approval=True)
        def other() -> str:
            return "ran"

        @function_tool(needs_approval=True, name_override="twice")
        def twice(order: str) -> str:
            return "ran"

        process, another = office.process(), office.process()
        tools = [process.tool(), another.tool(made={"name_override": "refund_too"}), other]
        tools += [process.tool(made={"name_override": "twice"}), twice]
        calls = [
            call(),
            call({}, "c-2", "other"),
            call(None, "c-3", "refund_too"),
            call(None, "c-4", "twice"),
        ]
        agent = process.agent(*tools, calls=calls)
        state = await office.people.meanwhile(process.approvals.answer(await process.run(agent)))
        paused = await process.run(agent, state)
        assert [each.call_id for each in paused.interruptions] == ["c-2", "c-3", "c-4"]
        assert (process.ran, another.ran) == ([("A-1", 5)], [])
        await office.only()

    async def test_a_service_that_is_away(self, office: Office) -> None:
        """Whoever answers the run is told; later it can be answered."""
        process = office.process()
        process.line.lose["approvals"] = 3
        agent = process.agent(process.tool(), calls=[call()])
        paused = await process.run(agent)
        with pytest.raises(ApprovalRefused) as raised:
            await process.approvals.answer(paused)
        assert raised.value.error.code == "SERVICE_UNREACHABLE"
        await process.run(agent, await office.people.meanwhile(process.approvals.answer(paused)))
        assert process.ran == [("A-1", 5)]
        await office.only()

    async def test_not_where_it_waits_instead(self, office: Office) -> None:
        """The tool's call takes as long as people do."""
        process = office.process()
        agent = process.agent(process.tool(suspend=False), calls=[call()])
        done = await office.people.meanwhile(process.run(agent))
        assert (done.final_output, process.heard(), process.ran) == ("done", ["refunded 5"], [("A-1", 5)])

    async def test_nor_longer_than_it_should(self, office: Office) -> None:
        """The model hears that it is still pending, or the framework's words; asked to, it is withdrawn."""
        process = office.process()
        await process.run(process.agent(process.tool(suspend=False, timeout_s=0), calls=[call()]))
        assert process.heard() == [PENDING["message"]]
        tool = process.tool(made={"timeout": 0.3}, suspend=False, withdraw=True)
        await process.run(process.agent(tool, calls=[call(call_id="c-2")]))
        assert process.heard() == ["Tool 'refund' timed out after 0.3 seconds."]
        assert sorted(each["status"] for each in await office.records()) == ["cancelled", "pending"]


class TestRunsNothing:
    """What the framework is told opens nothing."""

    @pytest.mark.parametrize("how", [{}, {"always_approve": True}], ids=["once", "always"])
    async def test_that_only_a_state_says_is_approved(self, office: Office, how: Any) -> None:
        """The tool asks by itself, and the model hears that it has to wait."""
        process = office.process()
        agent = process.agent(process.tool(), calls=[call()])
        state = (await process.run(agent)).to_state()
        state.approve(state.get_interruptions()[0], **how)
        await process.run(agent, await process.restored(agent, saved(state)))
        assert (process.heard(), process.ran) == ([PENDING["message"]], [])
        assert (await office.only())["status"] == "pending"

    async def test_of_a_later_call_of_what_is_always_approved(self, office: Office) -> None:
        """It is a question of its own."""
        process = office.process()
        agent = process.agent(process.tool(), calls=[call()])
        state = await office.people.meanwhile(process.approvals.answer(await process.run(agent)))
        state.approve(state.get_interruptions()[0], always_approve=True)
        agent.model = process.agent(calls=[call({"order": "B-2"}, "c-2")]).model
        done = await process.run(agent, state)
        assert (done.interruptions, process.heard()) == ([], ["refunded 5", PENDING["message"]])
        assert process.ran == [("A-1", 5)]

    async def test_that_was_rejected(self, office: Office) -> None:
        """And that a state says is approved."""
        process = office.process()
        agent = process.agent(process.tool(), calls=[call()])
        state = await process.asked(agent)
        await office.people.decide("reject", comment="No.")
        state.approve(state.get_interruptions()[0])
        await process.run(agent, state)
        assert process.heard() == [f'{REJECTED} An approver said: "No."']
        assert process.ran == []

    async def test_of_a_state_that_was_written_anew(self, office: Office) -> None:
        """With an approved call's id and other arguments."""
        process = office.process()
        agent = process.agent(process.tool(), calls=[call()])
        await process.asked(agent)
        await office.people.decide()
        agent = process.agent(process.tool(), calls=[call({"order": "B-2"})])
        state = (await process.run(agent)).to_state()
        state.approve(state.get_interruptions()[0])
        await process.run(agent, await process.restored(agent, saved(state)))
        assert (process.heard(), process.ran) == ([GENERIC], [])
        assert (await office.only())["status"] == "approved"

    async def test_twice(self, office: Office) -> None:
        """However often a state is gone on with, one after another or at once."""
        first = office.process()
        agent = first.agent(first.tool(), calls=[call()])
        state = await office.people.meanwhile(first.approvals.answer(await first.run(agent)))
        kept = saved(state)

        async def resumed() -> Process:
            process = office.process()
            agent = process.agent(process.tool())
            await process.run(agent, await process.restored(agent, kept))
            return process

        processes = [*await asyncio.gather(resumed(), resumed(), resumed()), await resumed()]
        assert [made for each in processes for made in each.ran] == [("A-1", 5)]
        heard = [told for each in processes for told in each.heard()]
        assert heard.count("refunded 5") == 1
        assert set(heard) <= {"refunded 5", SPENT, UNKNOWN["message"]}
        assert heard[-1] == SPENT

    async def test_again_for_a_call_that_comes_twice(self, office: Office) -> None:
        """The framework makes one of two calls that are the same, and does not go on where they are not."""
        process = office.process()
        agent = process.agent(process.tool(), calls=[call(), call()])
        await office.played(process, agent)
        assert process.ran == [("A-1", 5)]
        with pytest.raises(Exception, match="reused a tool call ID"):
            await process.run(process.agent(process.tool(), calls=[call(), call({"order": "B-2"})]))
        await office.only()

    async def test_that_was_approved_with_changes(self, office: Office) -> None:
        """As by a service that does what was not asked for: the model hears why, and it is withdrawn."""
        process = office.process()
        agent = process.agent(process.tool(), calls=[call()])
        state = await process.asked(agent)
        record = await office.only()
        requested = {name: record[name] for name in ("input", "input_hash", "digest")}
        edited = {"requested": requested, "input": {"order": "A-1", "amount": 3}, "digest": "0" * 64}
        process.line.change["approvals"] = process.line.change[record["id"]] = said(**edited)
        await process.run(agent, await office.people.meanwhile(process.approvals.answer(state)))
        assert (process.heard(), process.ran) == ([EDITED["message"]], [])
        assert (await office.only())["status"] == "cancelled"

    async def test_where_its_end_is_unknown(self, office: Office, caplog: Any) -> None:
        """The model hears it, and people do."""
        process = office.process()
        process.line.lose["consume"] = 9
        await office.played(process, process.agent(process.tool(), calls=[call()]))
        again = office.process()
        agent = again.agent(again.tool(), calls=[call()])
        await again.run(agent, await again.asked(agent))
        assert (again.heard(), process.ran, again.ran) == ([UNKNOWN["message"]], [], [])
        assert f"a person has to look: approval {(await office.only())['id']!r}" in caplog.text
