"""What gated tools of LangChain are called with, what comes of them, and of what they can be made."""

import asyncio
import logging
import subprocess
import sys
from datetime import date
from inspect import signature
from threading import Event
from typing import Annotated, Any

import pytest
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from langgraph.prebuilt import InjectedState, ToolRuntime
from pydantic import AfterValidator, BaseModel, Field

from placet.domain.errors import InputInvalid, Issue
from tests.agents import FACES
from tests.chat_models import call
from tests.graphs import ASK, ONE, THREAD, Office, answers, pauses
from tests.harness import Harness


class Money(BaseModel):
    """An amount."""

    cents: int = Field(gt=0)
    currency: str = "EUR"


@pytest.fixture(params=FACES)
async def office(h: Harness, request: pytest.FixtureRequest) -> Office:
    """Who takes part, with each face in turn."""
    return await Office.of(h, request.param)


class TestArguments:
    """What is asked about is what runs."""

    async def test_values_are_the_tool_s_own(self, office: Office) -> None:
        """They are asked about as JSON, and read back by the tool."""

        def pay(money: Money, due: date) -> str:
            """Pay."""
            office.ran.append((money, due))
            return "paid"

        calls = [call("pay", "c-1", money={"cents": "500"}, due="2027-01-15", noise=1)]
        await office.played(office.agent(calls, tools=[office.tool(pay)]), "approve")
        asked = await office.only()
        assert asked["input"] == {"money": {"cents": 500, "currency": "EUR"}, "due": "2027-01-15"}
        assert office.ran == [(Money(cents=500), date(2027, 1, 15))]

    async def test_values_that_are_no_others_when_they_are_read_back(
        self, office: Office, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Or nobody is asked, and nothing runs."""

        def pay(amount: Annotated[int, AfterValidator(lambda each: each * 100)]) -> str:
            """Pay."""
            raise AssertionError

        def rate(amount: float) -> str:
            """Rate."""
            raise AssertionError

        def show(amount: Any) -> str:
            """Show."""
            raise AssertionError

        tools = [office.tool(each) for each in (pay, rate, show)]
        calls = [call("pay", "c-1", amount=777), call("rate", "c-2", amount="nan")]
        calls += [call("show", "c-3", amount=object())]
        found = await office.play(office.agent(calls, tools=tools, checkpointer=None))
        told = {(str(each.content), each.status) for each in answers(found).values()}
        assert told == {
            ("The operation failed. This did not run. Tell the user before it is tried again.", "error")
        }
        assert office.runtime.line.calls == []
        assert "the arguments of 'pay' are not the same when read back from JSON" in caplog.text
        assert "777" not in caplog.text

    async def test_arguments_that_are_none_of_the_tool_s(self, office: Office) -> None:
        """The model is told by the framework, as of any tool, and nobody is asked."""
        found = await office.play(office.agent([call("refund", "c-1", order="A-1", amount="much")]))
        assert str(answers(found)["c-1"].content).startswith("Error invoking tool 'refund'")
        assert office.runtime.line.calls == []

    async def test_what_is_injected_is_not_asked_about(self, office: Office) -> None:
        """It is given as the framework has it, whatever the model wrote in its place."""

        def pay(
            order: str,
            state: Annotated[Any, InjectedState],
            mine: Annotated[str, InjectedToolCallId],
            runtime: ToolRuntime,
            key: Annotated[str, InjectedToolArg],
        ) -> str:
            """Pay."""
            office.ran.append((order, len(state["messages"]), mine, runtime.tool_call_id, key))
            return "paid"

        gated = office.tool(pay, key="key")
        calls = [call("pay", "c-1", order="A-1", state="model", mine="model", key="model")]
        found = await office.played(office.agent(calls, tools=[gated]), "approve")
        asked = await office.only()
        assert asked["input"] == {"order": "A-1"}
        assert office.ran == [("A-1", 2, "c-1", "c-1", asked["consumption"]["execution_id"])]
        assert answers(found)["c-1"].content == "paid"

    @pytest.mark.parametrize("kind", ["function", "class", "schema"])
    async def test_what_a_model_can_have_written_is_asked_about(self, office: Office, kind: str) -> None:
        """Where a node of one's own passes on what is hidden from it; unless it is said to be the node's."""

        def pay(
            order: str,
            user: Annotated[str, InjectedToolArg] = "nobody",
            token: Annotated[str, InjectedToolArg] = "",
            desk: Annotated[Any, InjectedToolArg] = None,
        ) -> str:
            """Pay."""
            office.ran.append((order, user, token, desk))
            return "paid"

        async def apay(
            order: str,
            user: Annotated[str, InjectedToolArg] = "nobody",
            token: Annotated[str, InjectedToolArg] = "",
            desk: Annotated[Any, InjectedToolArg] = None,
        ) -> str:
            """Pay."""
            return pay(order, user, token, desk)

        class Pay(BaseTool):
            name: str = "pay"
            description: str = "Pay."
            _run = staticmethod(pay)
            _arun = staticmethod(apay)

        schema = {"type": "object", "properties": {"order": {"type": "string"}}}
        how: Any = {"coroutine": apay} if office.is_async else {"func": pay}
        given: Any = {
            "function": tool("pay")(apay if office.is_async else pay),
            "class": Pay(),
            "schema": StructuredTool(name="pay", description="Pay.", args_schema=schema, **how),
        }
        gated = office.tool(given[kind], unbound=["token"])
        written = call("pay", "c-1", order="A-1", user="admin", token="model")
        sent: Any = {**written, "args": {**written["args"], "token": "secret", "desk": office}}

        def node(_: Any) -> Any:
            return {"messages": [gated.invoke(sent)]}

        async def anode(_: Any) -> Any:
            return {"messages": [await gated.ainvoke(sent)]}

        await office.played(office.graph(node, anode), "approve")
        assert (await office.only())["input"] == {"order": "A-1", "user": "admin"}
        assert office.ran == [("A-1", "admin", "secret", office)]

    async def test_tools_without_a_model_of_their_arguments(self, office: Office) -> None:
        """What a schema in JSON lets pass is bound as it is; a model can't give what is LangChain's own."""
        schema = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}

        async def apay(**arguments: Any) -> str:
            office.ran.append(arguments)
            return "paid"

        def pay(**arguments: Any) -> str:
            office.ran.append(arguments)
            return "paid"

        how: Any = {"coroutine": apay} if office.is_async else {"func": pay}
        given = StructuredTool(name="pay", description="Pay.", args_schema=schema, **how)
        calls = [call("pay", "c-1", order="A-1", more=[1], callbacks="mine")]
        await office.played(office.agent(calls, tools=[office.tool(given)]), "approve")
        assert (await office.only())["input"] == {"order": "A-1", "more": [1]}
        assert office.ran == [{"order": "A-1", "more": [1]}]

    async def test_tools_of_a_class(self, office: Office) -> None:
        """With a body of either kind, or both."""
        ran = office.ran

        class Pay(BaseTool):
            name: str = "pay"
            description: str = "Pay."

            def _run(self, order: str, amount: int = 5) -> str:
                ran.append(("run", order, amount))
                return "paid"

        class AsyncPay(Pay):
            async def _arun(self, order: str, amount: int = 5) -> str:
                ran.append(("arun", order, amount))
                return "paid"

        kind = AsyncPay if office.is_async else Pay
        gated = office.tool(kind())
        assert gated.args == kind().args
        await office.played(office.agent([call("pay", "c-1", order="A-1")], tools=[gated]), "approve")
        assert (await office.only())["input"] == {"order": "A-1"}
        assert ran == [("arun" if office.is_async else "run", "A-1", 5)]

    async def test_its_own_gate_judges_before_anybody_is_asked(self, office: Office) -> None:
        """And says why not."""

        def gate(given: Any) -> None:
            if given["amount"] > 500:
                raise InputInvalid([Issue(path="/amount", message="At most 500.")])

        calls = [call("refund", "c-1", order="A-1", amount=501)]
        found = await office.play(office.agent(calls, tools=[office.tool(gate=gate)]))
        assert str(answers(found)["c-1"].content).endswith("/amount: At most 500.")
        assert office.runtime.line.calls == []


class TestResult:
    """What comes of a tool that has run."""

    async def test_its_own_failures_are_its_own(self, office: Office) -> None:
        """Raised, or told to the model, as the framework has it; reported either way."""

        @tool
        def strict(order: str) -> str:
            """Refund an order."""
            raise ToolException(f"no order {order}")

        @tool
        def broken(order: str) -> str:
            """Refund an order."""
            raise OSError(order)

        strict.handle_tool_error = True
        calls = [call("strict", "c-1", order="A-1")]
        found = await office.played(office.agent(calls, tools=[office.tool(strict)]), "approve")
        assert (answers(found)["c-1"].status, answers(found)["c-1"].content) == ("error", "no order A-1")
        ended = (await office.only())["outcome"]
        assert (ended["status"], ended["summary"]) == ("failed", "It failed.")
        agent = office.agent(
            [call("broken", "c-2", order="A-2")], tools=[office.tool(broken, tell_errors=True)]
        )
        thread: Any = {"configurable": {"thread_id": "t-2"}}
        with pytest.raises(OSError, match="A-2"):
            await office.played(agent, "approve", config=thread)
        ended = (await office.questions())["A-2"]["outcome"]
        assert (ended["status"], ended["summary"]) == ("failed", "A-2")

    async def test_its_words_are_told_where_that_is_wanted(self, office: Office) -> None:
        """Of its content, without what belongs to it."""

        @tool(response_format="content_and_artifact")
        def refund(order: str) -> tuple[str, dict[str, str]]:
            """Refund an order."""
            return f"refunded {order}", {"order": order}

        gated = office.tool(refund, summary=str.upper)
        found = await office.played(office.agent(ONE, tools=[gated]), "approve")
        assert answers(found)["c-1"].artifact == {"order": "A-1"}
        assert (await office.only())["outcome"]["summary"] == "REFUNDED A-1"

    async def test_such_a_tool_is_refused_as_any(self, office: Office) -> None:
        """A rejection has no artifact."""

        @tool(response_format="content_and_artifact")
        def refund(order: str) -> tuple[str, dict[str, str]]:
            """Refund an order."""
            raise AssertionError

        found = await office.played(office.agent(ONE, tools=[office.tool(refund)]), "reject")
        assert (answers(found)["c-1"].status, answers(found)["c-1"].artifact) == ("error", None)

    async def test_nothing_of_a_call_is_logged(
        self, office: Office, caplog: pytest.LogCaptureFixture
    ) -> None:
        """No input, no result, no comment."""
        caplog.set_level(logging.DEBUG, "placet.client")
        calls = [call("refund", "c-1", order="A-secret")]
        await office.played(office.agent(calls), "approve", comment="a comment")
        assert office.ran == [("A-secret", 5)]
        assert not [each for each in ("A-secret", "a comment") if each in caplog.text]


class TestCancelled:
    """Who waited for a call waits no longer, in asyncio."""

    async def test_a_body_in_a_thread_goes_on(self, h: Harness) -> None:
        """And how it ended is reported."""
        office = await Office.of(h, "async")
        started, go = Event(), Event()

        def slow(order: str) -> str:
            """Refund an order."""
            started.set()
            go.wait(20)
            office.ran.append(order)
            return order

        agent = office.agent([call("slow", "c-1", order="A-1")], tools=[office.tool(slow)])
        found = await office.play(agent)
        await office.people.decide()
        playing = asyncio.ensure_future(agent.ainvoke(await office.decided(found), THREAD))
        await asyncio.to_thread(started.wait, 20)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert (await office.only())["outcome"] is None
        go.set()
        await office.runtime.settle()
        assert (office.ran, (await office.only())["outcome"]["status"]) == (["A-1"], "succeeded")

    async def test_a_coroutine_ends_where_it_is(self, h: Harness) -> None:
        """It has failed."""
        office = await Office.of(h, "async")
        started = asyncio.Event()

        async def slow(order: str) -> str:
            """Refund an order."""
            started.set()
            await asyncio.Event().wait()
            return order

        agent = office.agent([call("slow", "c-1", order="A-1")], tools=[office.tool(slow)])
        found = await office.play(agent)
        await office.people.decide()
        playing = asyncio.ensure_future(agent.ainvoke(await office.decided(found), THREAD))
        await started.wait()
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        await office.runtime.settle()
        ended = (await office.only())["outcome"]
        assert (ended["status"], ended["summary"]) == ("failed", "It was interrupted while it ran.")


class TestMade:
    """Of what it can be made, and how it is called."""

    def test_it_looks_like_the_tool(self, office: Office) -> None:
        """To a model, and to whoever has it."""
        plain = tool(office.refund, return_direct=True, extras={"defer_loading": True})
        gated = office.tool(plain)
        for name in ("name", "description", "return_direct", "extras", "args", "response_format"):
            assert getattr(gated, name) == getattr(plain, name)
        schemas: Any = [each.tool_call_schema for each in (gated, plain)]
        assert schemas[0].model_json_schema() == schemas[1].model_json_schema()
        assert not {"tool", "gate"} & gated.model_dump().keys()
        assert "gate=" not in repr(gated)

    def test_what_it_shows_of_its_function_is_to_be_looked_at(self, office: Office) -> None:
        """There are those who make other tools of it."""
        gated: Any = office.tool()
        assert signature(gated.func) == signature(office.refund)
        with pytest.raises(NotImplementedError):
            gated.func("A-1")
        assert not office.ran

    def test_what_it_can_not_be_made_of(self, office: Office) -> None:
        """Is told where it is made."""

        async def coroutine(order: str) -> str:
            """Refund an order."""
            return order

        def keyed(order: str, key: str = "") -> str:
            """Refund an order."""
            return order

        def generator(order: str) -> Any:
            """Refund an order, later."""
            yield order

        with pytest.raises(TypeError, match="a generator runs when it is read from"):
            office.tool(generator)
        with pytest.raises(TypeError, match="gated already"):
            office.tool(office.tool())
        with pytest.raises(TypeError, match="no such option: alowed_decisions"):
            office.tool(alowed_decisions=["reject"])
        with pytest.raises(TypeError, match="a model sees key: annotate it with InjectedToolArg"):
            office.tool(keyed, key="key")
        with pytest.raises(TypeError, match="a model sees order"):
            office.tool(keyed, unbound=["order"])
        with pytest.raises(TypeError, match="text has no parameters that could be approved"):
            office.tool(Tool(name="text", description="A text.", func=str))
        if not office.is_async:
            with pytest.raises(TypeError, match="takes Approvals"):
                office.tool(coroutine)

    async def test_the_other_way_of_calling(self, office: Office) -> None:
        """Threads go on in threads; what is for asyncio can't be called from them."""
        agent = office.agent(ONE)
        if office.is_async:
            with pytest.raises(TypeError, match="SyncApprovals"):
                await asyncio.to_thread(agent.invoke, ASK, THREAD)
            return
        found = await agent.ainvoke(ASK, THREAD)
        assert list(pauses(found)) == ["c-1"]
        await office.people.decide()
        await agent.ainvoke(await office.decided(found), THREAD)
        assert office.ran == [("A-1", 5)]

    @pytest.mark.parametrize("missing", ["langgraph", "langchain_core"])
    def test_without_the_framework(self, missing: str) -> None:
        """It says what to install."""
        code = f"import sys; sys.modules[{missing!r}] = None; import placet.client.langgraph"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stderr.splitlines()[-1] == (
            "ImportError: for tools of LangGraph: pip install 'placet[langgraph]'"
        )
