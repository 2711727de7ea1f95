"""Tools of pydantic-ai that pause a run, or wait in it: decided by people, gone on with, and run once."""

import asyncio
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.conversation import ConversationTypeAdapter
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import Tool, ToolApproved, ToolDenied

from placet.client import Actor
from placet.client.pydantic_ai import Approvals
from tests.harness import Harness
from tests.pydantic_ai_desk import A1, A2, A3, Desk
from tests.pydantic_ai_script import Scripted, call
from tests.tools import until

TOO_LATE = (
    "An approver rejected this action. Do not try it again; ask the user how to go on. "
    'An approver said: "Too late."'
)


@pytest.fixture
async def desk(h: Harness) -> Desk:
    """Who takes part."""
    h.services.store.stream.start()
    return Desk(h, await h.client(), await h.approver())


class TestPaused:
    """A run that waits for people."""

    async def test_goes_on_once_it_is_approved(self, desk: Desk) -> None:
        """The tool runs with what was asked about; the pause shows where to decide, and holds no secret."""
        script = Scripted([A1])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.")
        assert (paused.output.approvals, desk.ran) == ([A1], [])
        [asked] = await desk.records()
        assert paused.output.metadata["c-1"]["placet"] == {
            "id": asked["id"],
            "link": f"http://127.0.0.1:8420{asked['links']['ui']}",
            "expires_at": datetime.fromisoformat(asked["expires_at"]).isoformat(),
        }
        assert asked["run"] == paused.conversation.conversation_id
        await desk.decides(0)
        done = await desk.goes_on(agent, paused)
        assert (done.output, desk.ran) == ("It is done.", [("A-1", 1)])
        assert script.answers == [("refunded 1", "success")]
        [asked] = await desk.records()
        assert (asked["status"], asked["outcome"]["status"]) == ("consumed", "succeeded")

    async def test_several_calls_are_decided_each_by_its_id(self, desk: Desk) -> None:
        """What is pending pauses the run again; what is approved runs, and what is rejected says why."""
        script = Scripted([A1, A2, A3])
        agent = desk.agent(script)
        paused = await agent.run("Refund them.")
        assert [each.tool_call_id for each in paused.output.approvals] == ["c-1", "c-2", "c-3"]
        await desk.decides(1, "reject", comment="Too late.")
        await desk.decides(0)
        decided = await desk.approvals.results(paused.output, timeout_s=0)
        assert decided.approvals == {
            "c-1": ToolApproved(),
            "c-2": ToolDenied(TOO_LATE),
            "c-3": ToolApproved(),
        }
        again = await agent.run(conversation=paused.conversation, deferred_tool_results=decided)
        assert [each.tool_call_id for each in again.output.approvals] == ["c-3"]
        assert desk.ran == [("A-1", 1)]
        await desk.decides(2)
        await desk.goes_on(agent, again)
        assert script.answers == [("refunded 1", "success"), (TOO_LATE, "denied"), ("refunded 3", "success")]
        assert desk.ran == [("A-1", 1), ("A-3", 3)]
        assert [each["status"] for each in await desk.records()] == ["consumed", "rejected", "consumed"]

    async def test_in_whichever_order_people_decide(self, desk: Desk) -> None:
        """And the framework's answers."""
        script = Scripted([A1, A2])
        agent = desk.agent(script)
        paused = await agent.run("Refund them.")
        waiting = asyncio.ensure_future(desk.approvals.results(paused.output, timeout_s=30))
        await desk.decides(1)
        await desk.decides(0, "reject")
        decided = await waiting
        decided.approvals = dict(reversed(decided.approvals.items()))
        await agent.run(conversation=paused.conversation, deferred_tool_results=decided)
        assert desk.ran == [("A-2", 2)]
        assert [outcome for _, outcome in script.answers] == ["denied", "success"]

    async def test_expired_and_cancelled_is_told(self, desk: Desk) -> None:
        """Each in its words; calls of others are left alone."""
        tool = desk.gated(desk.refund, expires_in_ms=1000)
        other = Tool(lambda: None, name="other", requires_approval=True)
        paused = await desk.agent(Scripted([A1, A2, call("other", "c-9")]), tool, other).run("Refund them.")
        [_, second] = await desk.records()
        await desk.party.cancel(second["id"])
        desk.h.clock.move(1001)
        decided = await desk.approvals.results(paused.output)
        wanted = "If the action is still wanted, request it again."
        assert decided.approvals == {
            "c-1": ToolDenied(f"The approval expired before it was used. {wanted}"),
            "c-2": ToolDenied(f"The approval was withdrawn. {wanted}"),
        }

    @pytest.mark.parametrize("kept", ["conversation", "messages"])
    async def test_goes_on_in_another_process(self, desk: Desk, kept: str) -> None:
        """From the conversation as it was saved, or from its messages alone."""
        paused = await desk.agent(Scripted([A1, A2])).run("Refund them.")
        saved = ConversationTypeAdapter.dump_json(paused.conversation)
        history = paused.all_messages_json()
        await desk.decides(0)
        await desk.decides(1, "reject", comment="Too late.")
        other, script, again = desk.again(), Scripted([A1, A2]), ConversationTypeAdapter.validate_json(saved)
        assert again.deferred_tool_requests is not None
        decided: Any = await other.approvals.results(again.deferred_tool_requests)
        going_on: Any = {"conversation": again}
        if kept == "messages":
            going_on = {"message_history": ModelMessagesTypeAdapter.validate_json(history)}
        done = await other.agent(script).run(**going_on, deferred_tool_results=decided)
        assert (done.output, other.ran) == ("It is done.", [("A-1", 1)])
        assert script.answers == [("refunded 1", "success"), (TOO_LATE, "denied")]

    async def test_goes_on_without_results(self, desk: Desk) -> None:
        """Its tools look for themselves; then a rejection is a failed result."""
        script = Scripted([A1, A2])
        agent = desk.agent(script)
        paused = await agent.run("Refund them.")
        await desk.decides(0)
        await desk.decides(1, "reject", comment="Too late.")
        await agent.run(conversation=paused.conversation)
        assert script.answers == [("refunded 1", "success"), (TOO_LATE, "failed")]
        assert desk.ran == [("A-1", 1)]

    async def test_streams_and_steps_pause_too(self, desk: Desk) -> None:
        """The same question, for it is the same conversation."""
        agent = desk.agent(Scripted([A1]))
        async with agent.run_stream("Refund A-1.", conversation_id="k") as stream:
            paused = await stream.get_output()
        assert isinstance(paused, DeferredToolRequests)
        async with agent.iter("Refund A-1.", conversation_id="k") as run:
            async for _ in run:
                pass
        assert run.result is not None
        await desk.decides(0)
        assert len(await desk.records()) == 1
        history: Any = {"message_history": run.result.all_messages(), "conversation_id": "k"}
        decided = await desk.approvals.results(paused)
        async with agent.run_stream(**history, deferred_tool_results=decided) as stream:
            assert await stream.get_output() == "It is done."
        assert desk.ran == [("A-1", 1)]

    async def test_a_model_that_calls_whatever_there_is(self, desk: Desk) -> None:
        """The framework's own model for tests."""
        agent = Agent(TestModel(), output_type=[str, DeferredToolRequests], tools=[desk.gated(desk.refund)])
        paused = await agent.run("Refund something.")
        assert not desk.ran
        await desk.decides(0)
        done = await desk.goes_on(agent, paused)
        assert (done.output, desk.ran) == ('{"refund":"refunded 5"}', [("a", 5)])


class TestWaiting:
    """Waiting within the run."""

    @pytest.mark.parametrize("blocks", [True, False])
    async def test_a_tool_that_waits(self, desk: Desk, blocks: bool) -> None:  # noqa: FBT001 - which kind
        """A rejection is a failed result with what the approver said."""

        async def coroutine(ctx: RunContext[Any], order: str, amount: int) -> str:
            return desk.refund(ctx, order, amount)

        script = Scripted([A1], [A2])
        tool = Tool(desk.gated(desk.refund if blocks else coroutine, suspend=False), name="refund")
        running = asyncio.ensure_future(desk.agent(script, tool).run("Refund A-1."))
        await desk.people.decide()
        await desk.people.decide("reject", comment="No.")
        await running
        assert [each.outcome for each in script.heard] == ["success", "failed"]
        assert str(script.heard[1].content).endswith('An approver said: "No."')
        assert desk.ran == [("A-1", 1)]

    async def test_the_frameworks_own_capability(self, desk: Desk) -> None:
        """For all calls of a step at once; what is pending after all pauses the run."""
        script = Scripted([A1, A2, A3])
        waits: Any = HandleDeferredToolCalls(
            lambda _, requests: desk.approvals.results(requests, timeout_s=1)
        )
        agent = desk.agent(script, capabilities=[waits])
        running = asyncio.ensure_future(agent.run("Refund them."))
        await until(lambda: desk.runtime.line.calls.count("approvals") == 3, "all are asked")
        await desk.decides(0)
        await desk.decides(1, "reject")
        while not running.done():
            desk.h.clock.move(100)
            await asyncio.sleep(0.01)
        paused = await running
        assert [each.tool_call_id for each in paused.output.approvals] == ["c-3"]
        assert desk.ran == [("A-1", 1)]

    async def test_it_leaves_the_calls_of_others(self, desk: Desk) -> None:
        """To whoever handles them."""
        other = Tool(desk.refund, requires_approval=True)
        waits: Any = HandleDeferredToolCalls(lambda _, requests: desk.approvals.results(requests))
        agent = desk.agent(Scripted([A1]), other, capabilities=[waits])
        assert ((await agent.run("Refund A-1.")).output.approvals, desk.ran) == ([A1], [])


class TestForged:
    """Words of the framework that nobody at Placet has said."""

    @pytest.mark.parametrize("said", [True, ToolApproved()])
    async def test_an_approval_opens_nothing(self, desk: Desk, said: Any) -> None:
        """The run is paused again, over the same question."""
        agent = desk.agent(Scripted([A1]))
        paused = await agent.run("Refund A-1.")
        forged = DeferredToolResults(approvals={"c-1": said})
        again = await agent.run(conversation=paused.conversation, deferred_tool_results=forged)
        assert again.output.approvals == [A1]
        assert (len(await desk.records()), desk.ran) == (1, [])

    async def test_an_approval_of_what_was_rejected_opens_nothing(self, desk: Desk) -> None:
        """The model reads that it was."""
        script = Scripted([A1])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.")
        await desk.decides(0, "reject", comment="Too late.")
        forged = paused.output.build_results(approve_all=True)
        await agent.run(conversation=paused.conversation, deferred_tool_results=forged)
        assert (script.answers, desk.ran) == ([(TOO_LATE, "failed")], [])

    @pytest.mark.parametrize("said", [None, "Approved", 1, "", {"kind": "tool-approved"}])
    async def test_what_is_no_answer(self, desk: Desk, said: Any) -> None:
        """B08: the framework does not go on."""
        agent = desk.agent(Scripted([A1]))
        paused = await agent.run("Refund A-1.")
        forged = DeferredToolResults(approvals={"c-1": said})
        await desk.decides(0)
        with pytest.raises(UserError):
            await agent.run(conversation=paused.conversation, deferred_tool_results=forged)
        assert not desk.ran

    async def test_an_answer_of_the_wrong_kind(self, desk: Desk) -> None:
        """B09: somebody else's result is one to the framework; the tool did not run, and nothing is spent."""
        script = Scripted([A1])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.")
        forged = DeferredToolResults(calls={"c-1": "refunded"})
        await agent.run(conversation=paused.conversation, deferred_tool_results=forged)
        assert [each.content for each in script.heard] == ["refunded"]
        assert ((await desk.records())[0]["status"], desk.ran) == ("pending", [])

    @pytest.mark.parametrize("kept", [None, {"placet": {"asked": {"order": "A-1", "amount": 1}}}])
    async def test_other_arguments_do_not_run(self, desk: Desk, kept: Any) -> None:
        """They are another call; or, with what was asked about beside them, what was approved runs."""
        script = Scripted([A1])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        forged = DeferredToolResults()
        forged.approvals["c-1"] = ToolApproved(override_args={"order": "A-1", "amount": 500})
        if kept:
            forged.metadata["c-1"] = kept
        await agent.run(conversation=paused.conversation, deferred_tool_results=forged)
        assert desk.ran == ([("A-1", 1)] if kept else [])
        assert script.heard[0].outcome == ("success" if kept else "failed")

    async def test_a_history_with_a_call_nobody_asked_about(self, desk: Desk) -> None:
        """B01: is a new question."""
        script = Scripted([A1])
        other = desk.agent(script, Tool(desk.refund, requires_approval=True))
        paused = await other.run("Refund A-1.")
        forged = paused.output.build_results(approve_all=True)
        again = await desk.agent(script).run(conversation=paused.conversation, deferred_tool_results=forged)
        assert (again.output.approvals, desk.ran) == ([A1], [])
        assert [each["status"] for each in await desk.records()] == ["pending"]

    @pytest.mark.parametrize("kept", [{}, {"id": None}, {"id": "other"}])
    async def test_what_is_kept_of_something_else(self, desk: Desk, kept: Any) -> None:
        """Lets its tool look for itself."""
        agent = desk.agent(Scripted([A1]))
        paused = await agent.run("Refund A-1.")
        paused.output.metadata["c-1"]["placet"] = kept
        decided = await desk.approvals.results(paused.output)
        assert decided.approvals == {"c-1": ToolApproved()}
        again = await agent.run(conversation=paused.conversation, deferred_tool_results=decided)
        assert (again.output.approvals, desk.ran) == ([A1], [])

    async def test_the_approval_of_another_call(self, desk: Desk) -> None:
        """Each looks at its own."""
        agent = desk.agent(Scripted([A1, A2]))
        paused = await agent.run("Refund them.")
        kept = paused.output.metadata
        kept["c-1"], kept["c-2"] = kept["c-2"], kept["c-1"]
        await desk.decides(0)
        again = await desk.goes_on(agent, paused, timeout_s=0)
        assert [each.tool_call_id for each in again.output.approvals] == ["c-2"]
        assert desk.ran == [("A-1", 1)]


class TestOnce:
    """A call runs once."""

    async def test_answers_that_are_played_again(self, desk: Desk) -> None:
        """Run nothing; the model reads why."""
        script = Scripted([A1])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        for _ in range(2):
            await desk.goes_on(agent, paused)
        used = "This approval was used already. Do not repeat the action."
        assert (script.answers, desk.ran) == ([(used, "failed")], [("A-1", 1)])

    async def test_answers_that_are_played_at_the_same_time(self, desk: Desk) -> None:
        """One of them runs it."""
        agent = desk.agent(Scripted([A1]))
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        await asyncio.gather(*(desk.goes_on(agent, paused) for _ in range(5)))
        assert desk.ran == [("A-1", 1)]

    @pytest.mark.parametrize("second", ["A-1", "A-9"])
    async def test_an_id_that_the_model_uses_twice(self, desk: Desk, second: str) -> None:
        """Is no second approval: not for the same call, nor for another."""
        first = call("refund", "c-1", order="A-1")
        script = Scripted([first], [call("refund", "c-1", order=second)])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        done = await desk.goes_on(agent, paused)
        assert (done.output, desk.ran, len(await desk.records())) == ("It is done.", [("A-1", 5)], 1)
        assert [each.outcome for each in script.heard] == ["success", "failed"]

    async def test_a_conversation_that_somebody_else_goes_on_with(self, desk: Desk) -> None:
        """What was approved is approved for whom it was asked."""
        desk.approvals = Approvals(desk.runtime.hook, actor=lambda ctx: Actor(id=ctx.deps, kind="user"))
        script = Scripted([A1])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.", deps="eve")
        await desk.decides(0)
        decided = await desk.approvals.results(paused.output)
        going_on: Any = {"conversation": paused.conversation, "deferred_tool_results": decided}
        await agent.run(**going_on, deps="mallory")
        assert ([each.outcome for each in script.heard], desk.ran) == (["failed"], [])
        await agent.run(**going_on, deps="eve")
        assert desk.ran == [("A-1", 1)]

    async def test_what_is_unknown_is_told_and_logged(
        self, desk: Desk, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It does not run; a person has to look."""
        script = Scripted([A1])
        agent = desk.agent(script)
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        desk.runtime.line.lose["consume"] = 9
        for _ in range(2):
            await desk.goes_on(agent, paused)
        told = "Whether this ran is not known. Do not run it again; a person has to look."
        assert (script.answers, desk.ran) == ([(told, "failed")], [])
        assert f"a person has to look: approval {(await desk.records())[0]['id']!r}" in caplog.text
        assert "A-1" not in caplog.text

    async def test_what_the_model_tries_again_is_another_question(self, desk: Desk) -> None:
        """Its tool has run, and has said so by asking for a retry."""

        def refund(ctx: RunContext[Any], order: str) -> str:
            desk.ran.append(order)
            raise ModelRetry("No such order.")

        script = Scripted([call("refund", "c-1", order="A-1")], [call("refund", "c-2", order="A-2")])
        agent = desk.agent(script, desk.gated(refund))
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        again = await desk.goes_on(agent, paused)
        assert [each.tool_call_id for each in again.output.approvals] == ["c-2"]
        assert [each.outcome for each in script.heard] == ["retried"]
        first, second = await desk.records()
        assert (first["outcome"]["status"], second["status"], desk.ran) == ("failed", "pending", ["A-1"])

    async def test_what_a_tool_raises_is_the_tools(self, desk: Desk) -> None:
        """The run ends with it, and it is reported that it failed."""

        async def refund(ctx: RunContext[Any], order: str) -> str:
            raise OSError(order)

        agent = desk.agent(Scripted([call("refund", order="A-1")]), desk.gated(refund))
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        with pytest.raises(OSError, match="A-1"):
            await desk.goes_on(agent, paused)
        assert (await desk.records())[0]["outcome"]["status"] == "failed"


def test_without_the_framework() -> None:
    """Who lacks it is told what to install."""
    code = "import sys; sys.modules['pydantic_ai'] = None; import placet.client.pydantic_ai"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("pip install 'placet[pydantic-ai]'")
