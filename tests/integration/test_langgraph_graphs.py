"""Gated tools in graphs of every kind: nodes that run again, tasks, nodes of tools, middleware."""

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware, ToolRetryMiddleware
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, RetryPolicy, Send

from placet.client.hook import ApprovalPending, ApprovalRefused
from tests.agents import FACES
from tests.chat_models import Scripted, call
from tests.graphs import ASK, ONE, THREAD, THREE, Office, answers, pauses
from tests.harness import Harness
from tests.hooks import AGENT

USED = "This approval was used already."


@pytest.fixture(params=FACES)
async def office(h: Harness, request: pytest.FixtureRequest) -> Office:
    """Who takes part, with each face in turn."""
    return await Office.of(h, request.param)


class TestNodes:
    """A node that calls a gated tool by itself."""

    async def test_runs_again_and_asks_once(self, office: Office) -> None:
        """What it does before the pause it does again; what it calls, once."""
        before: list[str] = []
        refund = office.tool()

        def first(state: Any) -> Any:
            before.append("")
            return {"messages": [refund.invoke({"order": "A-1"})]}

        async def afirst(state: Any) -> Any:
            before.append("")
            return {"messages": [await refund.ainvoke({"order": "A-1"})]}

        graph = office.graph(first, afirst)
        found = await office.play(graph)
        found = await office.play(graph, Command(resume={found["__interrupt__"][0].id: "approved"}))
        assert ((await office.only())["status"], len(before), office.ran) == ("pending", 2, [])
        await office.people.decide()
        office.restart()
        found = await office.play(graph, await office.decided(found))
        assert (len(before), office.ran) == (3, [("A-1", 5)])
        assert found["messages"][-1].content == "refunded 5 of A-1"
        assert (await office.only())["outcome"]["status"] == "succeeded"

    async def test_is_refused_by_an_exception(self, office: Office) -> None:
        """It is no model that has called."""
        refund = office.tool()

        def first(state: Any) -> Any:
            return {"messages": [refund.invoke({"order": "A-1"})]}

        async def afirst(state: Any) -> Any:
            return {"messages": [await refund.ainvoke({"order": "A-1"})]}

        graph = office.graph(first, afirst)
        found = await office.play(graph)
        await office.people.decide("reject")
        with pytest.raises(ApprovalRefused, match="An approver rejected this action"):
            await office.play(graph, await office.decided(found))
        assert not office.ran

    async def test_waits_in_the_call(self, office: Office) -> None:
        """And is told that nobody has decided in time."""
        refund = office.tool(suspend=False, timeout_s=0)

        def first(state: Any) -> Any:
            return {"messages": [refund.invoke({"order": "A-1"})]}

        async def afirst(state: Any) -> Any:
            return {"messages": [await refund.ainvoke({"order": "A-1"})]}

        with pytest.raises(ApprovalPending):
            await office.play(office.graph(first, afirst))

    async def test_is_tried_again(self, office: Office) -> None:
        """It asks once, is refused each time, and does not run what has failed a second time."""
        tried: list[str] = []

        def failing(order: str) -> str:
            """Refund an order."""
            office.ran.append(order)
            raise OSError(order)

        refund = office.tool(failing)

        def first(state: Any) -> Any:
            tried.append("")
            return {"messages": [refund.invoke({"order": "A-1"})]}

        async def afirst(state: Any) -> Any:
            tried.append("")
            return {"messages": [await refund.ainvoke({"order": "A-1"})]}

        policy = RetryPolicy(initial_interval=0.001, max_attempts=3, retry_on=Exception)
        graph = office.graph(first, afirst, retry_policy=policy)
        found = await office.play(graph)
        assert (len(found["__interrupt__"]), len(tried)) == (1, 1), "a pause is no failure"
        await office.people.decide()
        with pytest.raises(ApprovalRefused, match=USED):
            await office.play(graph, await office.decided(found))
        assert (office.ran, len(tried)) == (["A-1"], 4)
        assert (await office.only())["outcome"]["status"] == "failed"

    async def test_calls_one_of_them_and_not_two(self, office: Office) -> None:
        """The first has run when the second one pauses, and is refused when its node comes again."""
        refund = office.tool()

        def first(state: Any) -> Any:
            return {"messages": [refund.invoke({"order": order}) for order in ("A-1", "A-2")]}

        async def afirst(state: Any) -> Any:
            return {"messages": [await refund.ainvoke({"order": order}) for order in ("A-1", "A-2")]}

        graph = office.graph(first, afirst)
        found = await office.play(graph)
        await office.people.decide()
        found = await office.play(graph, await office.decided(found))
        await office.people.decide()
        with pytest.raises(ApprovalRefused, match=USED):
            await office.play(graph, await office.decided(found))
        assert office.ran == [("A-1", 5)]

    async def test_tasks(self, office: Office) -> None:
        """Each is a call of its own, and what it answered is kept: two of one input are two questions."""
        refund = office.tool()

        @task
        def pay(order: str) -> Any:
            return refund.invoke({"order": order})

        @task
        async def apay(order: str) -> Any:
            return await refund.ainvoke({"order": order})

        @entrypoint(checkpointer=office.saver)
        def work(order: str) -> list[Any]:
            return [each.result() for each in (pay(order), pay(order))]

        @entrypoint(checkpointer=office.saver)
        async def awork(order: str) -> list[Any]:
            return list(await asyncio.gather(apay(order), apay(order)))

        graph: Any = awork if office.is_async else work
        found = await office.play(graph, "A-1")
        while paused := graph.get_state(THREAD).interrupts:  # by one of them, or by both
            for each in paused:
                await office.ann.decide(await office.party.seen(each.value["approval"]))
            found = await office.play(graph, await office.decided(graph.get_state(THREAD)))
        assert found == ["refunded 5 of A-1"] * 2
        assert office.ran == [("A-1", 5)] * 2

    async def test_a_graph_within_a_graph(self, office: Office) -> None:
        """It is of its parent's thread."""
        inner = office.agent(ONE, checkpointer=None)
        builder = StateGraph(MessagesState).add_node("inner", inner)
        graph = builder.add_edge(START, "inner").compile(checkpointer=office.saver)
        found = await office.played(graph, "approve")
        assert (office.ran, answers(found)["c-1"].status) == ([("A-1", 5)], "success")
        assert (await office.only())["run"] == "t-1"

    @pytest.mark.parametrize("each_its_own", [True, False])
    async def test_a_node_of_tools(self, office: Office, each_its_own: bool) -> None:  # noqa: FBT001
        """Sent one by one they are as an agent's; in one run an answer gets lost, and nothing runs twice."""
        model = Scripted(turns=[THREE[:2]])

        def think(state: Any) -> Any:
            return {"messages": [model.invoke(state["messages"])]}

        def choose(state: Any) -> Any:
            calls = state["messages"][-1].tool_calls
            return [Send("tools", [each]) for each in calls] if each_its_own else "tools" if calls else END

        builder = StateGraph(MessagesState).add_node("think", think)
        builder.add_node("tools", ToolNode([office.tool()])).add_edge(START, "think")
        builder.add_conditional_edges("think", choose, ["tools", END]).add_edge("tools", "think")
        graph = builder.compile(checkpointer=office.saver)
        found = await office.play(graph)
        for order in ("A-1", "A-2"):
            asked = await office.questions()
            await office.ann.decide(asked[order])
            found = await office.play(graph, Command(resume={each.id: "" for each in found["__interrupt__"]}))
        assert office.ran == [("A-1", 5), ("A-2", 5)]
        told = str(answers(found)["c-1"].content)
        assert told == "refunded 5 of A-1" if each_its_own else told.startswith(USED)


class TestMiddleware:
    """The framework's own middleware around a gated tool."""

    @pytest.mark.parametrize("mode", ["batched", "per_call"])
    async def test_its_human_in_the_loop_opens_nothing(self, office: Office, mode: Any) -> None:
        """People are asked all the same, about what it makes of a call."""
        review = HumanInTheLoopMiddleware({"refund": True}, interrupt_mode=mode)
        agent = office.agent(ONE, middleware=[review])
        found = await office.play(agent)
        assert await office.decided(found) is None
        change = {"name": "refund", "args": {"order": "A-1", "amount": 7}}
        answer: Any = {"type": "edit", "edited_action": change}
        answer = {"decisions": [answer]} if mode == "batched" else answer
        found = await office.play(agent, Command(resume=answer))
        assert ((await office.only())["input"]["amount"], office.ran) == (7, [])
        await office.people.decide()
        found = await office.play(agent, await office.decided(found))
        assert office.ran == [("A-1", 7)]
        assert str(answers(found)["c-1"].content).endswith("refunded 7 of A-1")

    async def test_it_can_not_choose_a_gated_tool_unseen(self, office: Office) -> None:
        """A call that a reviewer has turned into one of a gated tool is asked about."""

        @tool
        def lookup(order: str) -> str:
            """Look an order up."""
            raise AssertionError

        review = HumanInTheLoopMiddleware({"lookup": True})
        calls = [call("lookup", "c-1", order="A-1")]
        agent = office.agent(calls, tools=[office.tool(), lookup], middleware=[review])
        await office.play(agent)
        change = {"name": "refund", "args": {"order": "A-1", "amount": 500}}
        decisions = [{"type": "edit", "edited_action": change}]
        found = await office.play(agent, Command(resume={"decisions": decisions}))
        assert (len(pauses(found)), office.ran) == (1, [])

    async def test_it_serves_other_tools_beside_them(self, office: Office) -> None:
        """In the same turn of the model."""

        @tool
        def mail(to: str) -> str:
            """Write."""
            return f"wrote to {to}"

        review = HumanInTheLoopMiddleware({"mail": True})
        calls = [*ONE, call("mail", "c-2", to="ann")]
        agent = office.agent(calls, tools=[office.tool(), mail], middleware=[review])
        await office.play(agent)
        found = await office.play(agent, Command(resume={"decisions": [{"type": "approve"}]}))
        await office.people.decide()
        found = await office.play(agent, await office.decided(found))
        told = {each: str(answer.content) for each, answer in answers(found).items()}
        assert told == {"c-1": "refunded 5 of A-1", "c-2": "wrote to ann"}

    async def test_trying_again_runs_nothing_twice(self, office: Office) -> None:
        """A failure is one; what is tried after it is refused, and not another question."""

        def failing(order: str) -> str:
            """Refund an order."""
            office.ran.append(order)
            raise OSError(order)

        again = ToolRetryMiddleware(max_retries=2, initial_delay=0.001, jitter=False)
        calls = [call("failing", "c-1", order="A-1")]
        agent = office.agent(calls, tools=[office.tool(failing)], middleware=[again])
        found = await office.played(agent, "approve")
        assert (office.ran, len(await office.questions())) == (["A-1"], 1)
        assert (answers(found)["c-1"].status, str(answers(found)["c-1"].content)[:31]) == ("error", USED)


class TestTurn:
    """For whom, and within what."""

    async def test_who_calls_and_in_which_run(self, office: Office) -> None:
        """The graph's own context says; nothing that the model wrote does."""
        approvals = office.approvals(
            actor=lambda runtime: AGENT if runtime.context == "agent" else None,
            run=lambda runtime: f"run-of-{runtime.execution_info.thread_id}",
            context={"release": 7},
        )
        refund = approvals.requires_approval("orders.refund", effect="write")(office.refund)
        agent = office.agent(ONE, tools=[refund], context_schema=str)
        await office.play(agent, context="agent")
        asked = await office.only()
        assert (asked["run"], asked["context"]) == ("run-of-t-1", {"release": 7})
        assert asked["actor"]["id"] == AGENT.id

    async def test_where_nothing_can_be_told(self, office: Office) -> None:
        """It is told before anybody is asked."""
        refund, ask = office.tool(), {"order": "A-1"}
        with pytest.raises(TypeError, match="with a checkpointer, called with a thread_id"):
            await office.play(office.agent(ONE, checkpointer=None), ASK, {})
        with pytest.raises(TypeError, match="is called within a graph"):
            await office.play(refund, ask, None)
        chain: Any = RunnableLambda(lambda _: refund.invoke(ask), lambda _: refund.ainvoke(ask))
        with pytest.raises(TypeError, match="is called within a graph"):
            await office.play(chain, ask, THREAD)
        with pytest.raises(TypeError, match="by name"):
            await office.play(refund, "A-1", None)
        assert office.runtime.line.calls == []

    async def test_without_a_checkpointer_nothing_is_gone_on_with(self, office: Office) -> None:
        """The framework says so, and nothing runs."""
        agent = office.agent(ONE, checkpointer=None)
        found = await office.play(agent)
        await office.people.decide()
        with pytest.raises(RuntimeError, match="checkpointer"):
            await office.play(agent, await office.decided(found))
        assert not office.ran
