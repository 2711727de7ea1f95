"""Tools of the OpenAI Agents SDK before the service in this process: what is approved, and what they get."""

import asyncio
import sys
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib import reload
from pathlib import Path
from typing import Annotated, Any

import pytest
from agents import RunContextWrapper, UserError, function_tool, tool_namespace
from agents.tool_context import ToolContext
from pydantic import AfterValidator, BaseModel, Field

from placet.client import openai_agents
from placet.client.hook import FileJournal
from placet.client.openai_agents import Approvals
from tests.harness import Harness
from tests.hooks import AGENT
from tests.openai_runs import Office, Process, call

FAILED = "An error occurred while running the tool. Please try again."
"""The framework's own words."""
GENERIC = "The operation failed. This did not run. Tell the user before it is tried again."


class Order(BaseModel):
    """What a tool may take."""

    id: str
    lines: list[float] = Field(alias="rows")
    note: str | None = None


@pytest.fixture
async def office(h: Harness) -> Office:
    """Who takes part."""
    h.services.store.stream.start()
    return Office(h, await h.client(), await h.approver())


@pytest.fixture
def process(office: Office) -> Process:
    """The agent's."""
    return office.process()


class TestArguments:
    """What is approved, and what a function gets."""

    async def test_are_json_and_come_as_their_types(self, office: Office, process: Process) -> None:
        """After the framework's validation, with defaults; key and unbound parameters are no part of it."""
        got: list[Any] = []

        async def refund(
            run: RunContextWrapper[Any],
            order: Order,
            clerk: str = "nobody",
            day: date = date(2027, 1, 1),
            *rest: int,
            context: Annotated[float, Field(alias="euros")] = 5.0,
            key: str = "",
        ) -> str:
            """Refund it."""
            got.append((run, order, clerk, day, rest, context, key))
            return "ok"

        tool = process.tool(refund, key="key", unbound=["clerk"])
        assert list(tool.params_json_schema["properties"]) == ["order", "day", "rest", "euros"]
        assert (tool.name, tool.description) == ("refund", "Refund it.")
        given = {"order": {"id": "A-1", "rows": [1.0]}, "day": "2027-01-15", "rest": [1, 2], "clerk": "ann"}
        await office.played(process, process.agent(tool, calls=[call({**given, "euros": 6.0})]))
        record = await office.only()
        assert record["input"] == {
            "order": {"id": "A-1", "lines": [1], "note": None},
            "day": "2027-01-15",
            "rest": [1, 2],
            "context": 6,
        }
        [(run, *args)] = got
        assert isinstance(run, ToolContext)
        key = record["consumption"]["execution_id"]
        order = Order(id="A-1", rows=[1.0])
        assert args == [order, "nobody", date(2027, 1, 15), (1, 2), 6.0, key]

    @pytest.mark.parametrize("written", ["", "{}"])
    async def test_none(self, office: Office, process: Process, written: str) -> None:
        """Which models may write as nothing at all."""

        async def refund(order: str = "A-1") -> str:
            return order

        await office.played(process, process.agent(process.tool(refund), calls=[call(written)]))
        assert process.heard() == ["A-1"]

    @pytest.mark.parametrize("bad", ["{", "[1]", '{"order": 7}', '{"order": NaN}', '{"amount": 1}'])
    async def test_that_are_none_of_the_tool(self, office: Office, process: Process, bad: str) -> None:
        """The model hears it as the framework says it, and nobody is asked."""
        agent = process.agent(process.tool(), calls=[call(bad)])
        await process.run(agent, await process.asked(agent))
        assert (process.heard(), process.ran, await office.records()) == ([FAILED], [], [])

    @pytest.mark.parametrize(
        "kind",
        [
            Annotated[str, AfterValidator(lambda told: told + "!")],
            Annotated[date, AfterValidator(lambda _: object())],
            float,
            Any,
        ],
        ids=["another each time", "no JSON", "no number", "no number, and no type"],
    )
    async def test_that_would_change_on_their_way(
        self, office: Office, process: Process, kind: Any, caplog: Any
    ) -> None:
        """A function would get something else than was approved: nobody is asked, and nothing runs."""

        async def refund(order: Any) -> None:
            process.ran.append(order)

        refund.__annotations__["order"] = kind
        written = '{"order": NaN}' if kind in (float, Any) else {"order": "2027-01-15"}
        agent = process.agent(process.tool(refund), calls=[call(written)])
        await process.run(agent, await process.asked(agent))
        assert (process.heard(), process.ran, await office.records()) == ([GENERIC], [], [])
        assert "the arguments of 'refund' change on their way through JSON" in caplog.text

    async def test_that_are_other_ones_each_time(self, office: Office, process: Process) -> None:
        """A default that is made anew is another call."""
        numbers = iter(range(9))

        async def refund(order: str, n: int = Field(default_factory=lambda: next(numbers))) -> None:
            process.ran.append((order, n))

        await office.played(process, process.agent(process.tool(refund), calls=[call()]))
        assert (process.heard(), process.ran) == ([GENERIC], [])

    async def test_that_the_tools_own_gate_refuses(self, office: Office, process: Process) -> None:
        """Before anybody is asked."""
        agent = process.agent(process.tool(gate=lambda value: value["amount"] < 3), calls=[call()])
        await process.run(agent, await process.asked(agent))
        assert (process.heard(), process.ran, await office.records()) == ([GENERIC], [], [])


class TestTools:
    """What else there is to a tool."""

    async def test_that_blocks(self, office: Office, process: Process) -> None:
        """It runs in a thread."""

        def refund(order: str) -> str:
            with pytest.raises(RuntimeError, match="no running event loop"):
                asyncio.get_running_loop()
            return order

        await office.played(process, process.agent(process.tool(refund), calls=[call()]))
        assert process.heard() == ["A-1"]

    @pytest.mark.parametrize(
        ("made", "heard"),
        [({}, FAILED), ({"failure_error_function": lambda _, error: f"no {error}"}, "no A-1")],
        ids=["by default", "its own"],
    )
    async def test_that_fails(self, office: Office, process: Process, made: Any, heard: str) -> None:
        """As the framework has it: its own words or the tool's; people hear that it did."""

        async def refund(order: str) -> None:
            raise LookupError(order)

        await office.played(process, process.agent(process.tool(refund, made=made), calls=[call()]))
        assert process.heard() == [heard]
        assert (await office.only())["outcome"]["status"] == "failed"

    async def test_that_raises(self, office: Office, process: Process) -> None:
        """Where the framework is told to let it."""

        async def refund(order: str) -> None:
            raise LookupError(order)

        tool = process.tool(refund, made={"failure_error_function": None}, tell_errors=True)
        with pytest.raises(UserError, match="A-1"):
            await office.played(process, process.agent(tool, calls=[call()]))
        assert (await office.only())["outcome"]["summary"] == "A-1"

    async def test_that_takes_too_long(self, office: Office, process: Process) -> None:
        """It is interrupted, and people hear that."""

        async def refund(order: str) -> None:
            await asyncio.Event().wait()

        tool = process.tool(refund, made={"timeout": 0.2})
        await office.played(process, process.agent(tool, calls=[call()]))
        assert process.heard() == ["Tool 'refund' timed out after 0.2 seconds."]
        assert (await office.only())["outcome"]["summary"] == "It was interrupted while it ran."

    async def test_that_is_idempotent(self, office: Office, tmp_path: Path) -> None:
        """Its key is the execution's id."""
        process, keys = office.process(FileJournal(tmp_path / "journal")), []

        async def refund(order: str, *, key: str = "") -> None:
            keys.append(key)

        tool = process.tool(refund, key="key", idempotent=True)
        await office.played(process, process.agent(tool, calls=[call()]))
        assert keys == [(await office.only())["consumption"]["execution_id"]]

    async def test_in_a_namespace(self, office: Office, process: Process) -> None:
        """The framework makes a copy, which is gated all the same."""
        [tool] = tool_namespace(name="shop", description="A shop.", tools=[process.tool()])
        await office.played(process, process.agent(tool, calls=[call(namespace="shop")]))
        assert (process.heard(), process.ran) == (["refunded 5"], [("A-1", 5)])

    async def test_always_waits_for_people(self, office: Office, process: Process) -> None:
        """Whatever the framework is told of needing approval."""
        agent = process.agent(process.tool(made={"needs_approval": False}), calls=[call()])
        assert len((await process.run(agent)).interruptions) == 1

    @pytest.mark.parametrize("facts", [{"shift": "night"}, lambda run: {"shift": run.context["shift"]}])
    async def test_is_told_what_is_the_same_for_all_calls(
        self, office: Office, process: Process, facts: Any
    ) -> None:
        """Actor, run and facts may be given as they are, or found out."""
        process.approvals = Approvals(process.hook, actor=lambda _: AGENT, run="r-2", context=facts)
        agent = process.agent(process.tool(), calls=[call()])
        await office.played(process, agent, context={"shift": "night"})
        record = await office.only()
        assert (record["run"], record["context"]) == ("r-2", {"shift": "night"})
        assert record["actor"]["id"] == AGENT.id
        assert process.ran == [("A-1", 5)]

    async def test_in_a_run_without_an_id(self, office: Office, process: Process) -> None:
        """It fails, rather than be taken for another."""
        agent = process.agent(process.tool(), calls=[call()])
        paused = await process.run(agent, context={"run": ""})
        with pytest.raises(ValueError, match="one of them is empty"):
            await process.approvals.answer(paused)
        assert await office.records() == []

    @pytest.mark.parametrize(
        ("function", "options", "why"),
        [
            (len, {"allowed_decisions": ["approve", "edit", "reject"]}, "nobody can approve with changes"),
            (len, {"edits": True}, "nobody can approve with changes"),
            (lambda x: x, {"needs_approval": True}, "no such option: needs_approval"),
            (function_tool(lambda: None, name_override="x"), {}, "made of a function"),
            (partial(len), {}, "made of a function"),
            (lambda x: x, {"unbound": ["x"]}, "nobody gives a value for x"),
            (lambda x: x, {"key": "k"}, "no such parameter: k"),
            (lambda **x: x, {}, "have names"),
            (lambda: (yield), {}, "a generator runs when it is read from"),
        ],
    )
    async def test_that_can_not_be(
        self, process: Process, function: Callable[..., Any], options: Any, why: str
    ) -> None:
        """It is said when it is made."""
        with pytest.raises(TypeError, match=why):
            process.tool(function, **options)

    def test_without_the_framework(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The way to get it is said."""
        monkeypatch.setitem(sys.modules, "agents", None)
        with pytest.raises(ImportError, match=r"pip install 'placet\[openai-agents\]'"):
            reload(openai_agents)
