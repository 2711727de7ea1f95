"""Tools of pydantic-ai: what of a call is asked about, in which types it runs, and what edits do to it."""

from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from pydantic import AfterValidator, BaseModel, Field, SecretStr
from pydantic_ai import DeferredToolRequests, DeferredToolResults, ModelRetry, RunContext, ToolReturn
from pydantic_ai.capabilities import Hooks
from pydantic_ai.exceptions import UserError
from pydantic_ai.tools import Tool, ToolApproved
from pydantic_ai.toolsets import FunctionToolset

from placet.client import Actor
from placet.client.pydantic_ai import Approvals
from placet.client.refusals import changed
from tests.factories import ManualClock
from tests.harness import Harness
from tests.hooks import AGENT
from tests.pydantic_ai_desk import A1, A2, A3, Desk
from tests.pydantic_ai_script import Scripted, call
from tests.ruled import ruling

EDITABLE: Any = {"allowed_decisions": ("approve", "edit", "reject"), "effect": "write"}


class Why(Enum):
    """A reason."""

    LATE = "late"


class Order(BaseModel):
    """An order."""

    id: str
    total: Decimal = Field(alias="Total")
    items: set[str] = set()


class Secretive(BaseModel):
    """One that does not show everything."""

    id: str
    amount: int = Field(5, exclude=True)


@pytest.fixture
async def desk(h: Harness) -> Desk:
    """Who takes part."""
    h.services.store.stream.start()
    return Desk(h, await h.client(), await h.approver())


@pytest.fixture
async def editors(ring_directory: Path, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Desk]:
    """The same, under a rule by which approvers may change what they approve."""
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    async with ruling(redis, ring_directory, clock, tmp_path) as under:
        ruled = await under('edit = "counts"')
        ruled.h.services.store.stream.start()
        party, (ann, _) = await ruled.parties()
        yield Desk(ruled.h, party, ann)


class TestAsked:
    """What becomes a question."""

    @pytest.mark.parametrize("wrong", [{"order": "A-1", "amount": "many"}, {"amount": 1}, {"order": "A-9"}])
    async def test_not_what_fails_validation(self, desk: Desk, wrong: Any) -> None:
        """Of its types, or of the framework's validator."""

        def known(_: RunContext[Any], order: str, amount: int = 5) -> None:
            if order != "A-1":
                raise ModelRetry("No such order.")

        script = Scripted([call("refund", **wrong)], [A1])
        agent = desk.agent(script, Tool(desk.gated(desk.refund), args_validator=known))
        paused = await agent.run("Refund A-1.")
        assert (paused.output.approvals, [each.outcome for each in script.heard]) == ([A1], ["retried"])
        assert [each["input"] for each in await desk.records()] == [{"order": "A-1", "amount": 1}]

    async def test_not_what_its_own_gate_refuses(self, desk: Desk) -> None:
        """It is given JSON."""
        script = Scripted([A3])
        tool = desk.gated(desk.refund, gate=lambda value: value["amount"] < 3)
        await desk.agent(script, tool).run("Refund A-3.")
        told = "The operation failed. This did not run. Tell the user before it is tried again."
        assert (script.answers, await desk.records()) == ([(told, "failed")], [])

    async def test_what_hooks_of_the_framework_made_of_it(self, desk: Desk) -> None:
        """B10: the arguments that would run, in both runs."""
        hooks: Any = Hooks()

        @hooks.on.before_tool_execute  # type: ignore[untyped-decorator] # of hooks of any agent
        async def less(_: Any, *, call: Any, tool_def: Any, args: dict[str, Any]) -> dict[str, Any]:
            return {**args, "amount": min(args["amount"], 2)}

        agent = desk.agent(Scripted([A3]), capabilities=[hooks])
        paused = await agent.run("Refund A-3.")
        await desk.decides(0)
        await desk.goes_on(agent, paused)
        assert [each["input"]["amount"] for each in await desk.records()] == [2]
        assert desk.ran == [("A-3", 2)]

    async def test_actor_run_and_context_are_the_runtimes(self, desk: Desk) -> None:
        """From what it gave the run."""
        desk.approvals = Approvals(
            desk.runtime.hook,
            actor=lambda ctx: Actor(id=ctx.deps, kind="user"),
            run=lambda ctx: f"of-{ctx.deps}",
            context=lambda ctx: {"step": ctx.run_step},
        )
        await desk.agent(Scripted([A1])).run("Refund A-1.", deps="eve")
        [asked] = await desk.records()
        assert (asked["actor"]["id"], asked["run"], asked["context"]) == ("eve", "of-eve", {"step": 1})

    async def test_in_no_conversation(self, desk: Desk) -> None:
        """Nothing is asked."""
        desk.approvals = Approvals(desk.runtime.hook, actor=AGENT, run=lambda _: "")
        with pytest.raises(TypeError, match="called in a conversation"):
            await desk.agent(Scripted([A1])).run("Refund A-1.")
        assert not await desk.records()

    @pytest.mark.parametrize("kind", [SecretStr, Annotated[str, AfterValidator(lambda said: f"{said}!")]])
    async def test_not_what_would_not_come_back(
        self, desk: Desk, caplog: pytest.LogCaptureFixture, kind: Any
    ) -> None:
        """A secret is stars in JSON; a validator that changes its own result would run something else."""

        def refund(ctx: RunContext[Any], order: kind) -> None:
            desk.ran.append(order)

        script = Scripted([call("refund", order="hunter2")])
        await desk.agent(script, desk.gated(refund)).run("Refund it.")
        assert (script.heard[0].outcome, await desk.records(), desk.ran) == ("failed", [], [])
        assert "arguments of the tool 'refund' can't be approved: ValueError" in caplog.text
        assert "hunter2" not in caplog.text

    async def test_not_what_people_would_not_see(self, desk: Desk) -> None:
        """A field that is left out of the JSON of its model."""

        def refund(ctx: RunContext[Any], order: Secretive) -> None:
            desk.ran.append(order)

        script = Scripted([call("refund", id="A-1", amount=500)])
        await desk.agent(script, desk.gated(refund)).run("Refund it.")
        assert (script.heard[0].outcome, await desk.records(), desk.ran) == ("failed", [], [])

    @pytest.mark.parametrize("hidden", ["live", "ctx", "key"])
    async def test_not_what_is_hidden_from_the_model(self, desk: Desk, hidden: str) -> None:
        """Where it may give further arguments, it may give these too, and nobody would see them."""

        def refund(ctx: RunContext[Any], order: str, live: bool = False, key: str = "", **rest: bool) -> None:  # noqa: FBT001, FBT002
            desk.ran.append(live)

        given: Any = {"order": "A-1", hidden: True}
        script = Scripted([call("refund", **given)])
        await desk.agent(script, desk.gated(refund, unbound=["live"], key="key")).run("Refund it.")
        assert (script.heard[0].outcome, await desk.records(), desk.ran) == ("failed", [], [])


class TestTyped:
    """Arguments of the types that pydantic knows."""

    async def test_are_json_to_people_and_themselves_to_the_tool(self, desk: Desk) -> None:
        """Defaults and rest arguments too."""

        async def refund(
            ctx: RunContext[Any],
            order: Order,
            amount: Decimal,
            due: date = date(2026, 1, 2),
            why: Why = Why.LATE,
            share: Annotated[float, Field(le=1)] = 1.0,
            note: str = None,  # type: ignore[assignment] # noqa: RUF013 - as people write it
            **more: Decimal,
        ) -> str:
            desk.ran.append((ctx.tool_call_id, order, amount, due, why, share, note, more))
            return "done"

        order = {"id": "A-1", "Total": "9.90", "items": ["x"]}
        script = Scripted([call("refund", order=order, amount="5.00", tip="0.1")])
        agent = desk.agent(script, desk.gated(refund))
        paused = await agent.run("Refund A-1.")
        await desk.decides(0)
        await desk.goes_on(agent, paused)
        asked = {"order": order, "amount": "5.00", "due": "2026-01-02", "why": "late", "share": 1}
        assert [each["input"] for each in await desk.records()] == [
            {**asked, "note": None, "more": {"tip": "0.1"}}
        ]
        got = Order(id="A-1", Total=Decimal("9.90"), items={"x"})
        rest = (Decimal("5.00"), date(2026, 1, 2), Why.LATE, 1.0, None, {"tip": Decimal("0.1")})
        assert desk.ran == [("c-1", got, *rest)]

    async def test_a_default_stays_what_it_is(self, desk: Desk) -> None:
        """Whatever a call does with its own: the next one was approved with what the function says."""

        async def refund(ctx: RunContext[Any], order: str, notes: list[str] = []) -> None:  # noqa: B006
            desk.ran.append((order, list(notes)))
            notes.append(order)

        calls = [call("refund", f"c-{n}", order=f"A-{n}") for n in (1, 2)]
        agent = desk.agent(Scripted(calls), desk.gated(refund))
        paused = await agent.run("Refund them.")
        await desk.decides(0)
        await desk.decides(1)
        await desk.goes_on(agent, paused)
        assert desk.ran == [("A-1", []), ("A-2", [])]

    @pytest.mark.parametrize("hides", [False, True])
    async def test_the_model_is_told_of_the_function(
        self,
        desk: Desk,
        hides: bool,  # noqa: FBT001 - which kind
    ) -> None:
        """Its schema and words, without what is not the model's."""

        def plain(ctx: RunContext[Any], order: str, *amounts: Annotated[int, Field(ge=1)]) -> str:
            """Refund an order.

            Args:
                ctx: What the run knows.
                order: Its number.
                amounts: What to pay.
            """
            return f"{order} {amounts}"

        def hidden(
            ctx: RunContext[Any],
            order: str,
            *amounts: Annotated[int, Field(ge=1)],
            key: str,
            db: object = plain,
        ) -> str:
            assert (db, len(key)) == (plain, 32)
            return plain(ctx, order, *amounts)

        hidden.__doc__ = plain.__doc__
        said: Any = {"key": "key", "unbound": ["db"]} if hides else {}
        script = Scripted([call("refund", order="A-1", amounts=[1, 2])])
        gated = desk.gated(hidden if hides else plain, suspend=False, **said)
        await desk.people.meanwhile(desk.agent(script, Tool(gated, name="refund")).run("Refund A-1."))
        assert Tool(gated, name="refund").tool_def == Tool(plain, name="refund").tool_def
        assert script.heard[0].content == "A-1 (1, 2)"
        assert (await desk.records())[0]["input"] == {"order": "A-1", "amounts": [1, 2]}

    async def test_every_way_to_give_an_agent_a_tool(self, desk: Desk) -> None:
        """But for ``tool_plain``, which is told nothing of its call."""
        agent = desk.agent(Scripted([A1]), Tool(desk.refund, name="other"))
        agent.tool(desk.gated(desk.refund))
        toolset: FunctionToolset[Any] = FunctionToolset([desk.gated(desk.refund)])
        toolset.tool(name="other")(desk.gated(desk.refund))
        assert isinstance((await agent.run("Refund A-1.")).output, DeferredToolRequests)
        second = desk.agent(Scripted([A2]), toolsets=[toolset])
        assert isinstance((await second.run("Refund A-2.")).output, DeferredToolRequests)
        with pytest.raises(UserError, match="can only be used with tools that take context"):
            agent.tool_plain(name="plain")(desk.gated(desk.refund))

    @pytest.mark.parametrize(
        ("said", "why"),
        [
            ({"unbound": ["order"]}, "needs a default"),
            ({"unbound": ["strange"]}, "no such parameter"),
            ({"key": "strange"}, "no such parameter"),
            ({"timeout": 5}, "no such option: timeout"),
        ],
    )
    def test_what_can_not_be_said_of_a_tool(self, said: Any, why: str) -> None:
        """Is known at once."""

        def refund(ctx: RunContext[Any], order: str) -> None: ...

        with pytest.raises(TypeError, match=why):
            Approvals(None, actor=AGENT).requires_approval("x", effect="write", **said)(refund)  # type: ignore[arg-type] # never called

    def test_what_can_not_be_a_tool(self) -> None:
        """One that is not told of its call, and one that runs when it is read from."""
        approvals: Any = Approvals(None, actor=AGENT)  # type: ignore[arg-type] # never called

        def plain(order: str) -> None: ...

        def slowly(ctx: RunContext[Any]) -> Any:
            yield

        for function, why in ((plain, "takes a RunContext first"), (slowly, "a generator runs when")):
            with pytest.raises(TypeError, match=why):
                approvals.requires_approval("x", effect="write")(function)


class TestEdited:
    """An approver's edit is what runs."""

    async def test_as_the_framework_validates_it(self, editors: Desk) -> None:
        """It is given to the framework; the tool has it in its types, and the model is told."""
        judged: list[Any] = []

        def refund(ctx: RunContext[Any], order: str, amount: Decimal) -> ToolReturn[str]:
            editors.ran.append((order, amount))
            return ToolReturn("done", content="Thanks.", metadata={"m": 1})

        def validator(_: RunContext[Any], order: str, amount: Decimal) -> None:
            judged.append(amount)

        script = Scripted([call("refund", order="A-1", amount="5.00")])
        agent = editors.agent(script, Tool(editors.gated(refund, **EDITABLE), args_validator=validator))
        paused = await agent.run("Refund A-1.")
        await editors.decides(0, "edit", input={"order": "A-1", "amount": "4.50"})
        decided = await editors.approvals.results(paused.output)
        less = {"order": "A-1", "amount": "4.50"}
        assert decided.approvals["c-1"] == ToolApproved(override_args=less)
        judged.clear()
        await agent.run(conversation=paused.conversation, deferred_tool_results=decided)
        assert editors.ran == [("A-1", Decimal("4.50"))]
        assert judged[0] == Decimal("4.50")
        assert script.answers == [("done", "success")]
        [told] = script.told
        assert "Thanks." in told
        assert changed(less) in told

    @pytest.mark.parametrize("amount", ["many", 400])
    async def test_that_the_framework_refuses_does_not_run(self, editors: Desk, amount: Any) -> None:
        """By the types, or by its validator: the model is told to try again, which is asked."""

        def validator(_: RunContext[Any], order: str, amount: int) -> None:
            if amount > 9:
                raise ModelRetry("Too much.")

        script = Scripted([A1])
        tool = Tool(editors.gated(editors.refund, **EDITABLE), args_validator=validator)
        agent = editors.agent(script, tool)
        paused = await agent.run("Refund A-1.")
        await editors.decides(0, "edit", input={"order": "A-1", "amount": amount})
        await editors.goes_on(agent, paused)
        assert (script.heard[0].outcome, editors.ran) == ("retried", [])
        assert (await editors.records())[0]["status"] == "approved"

    @pytest.mark.parametrize(("amount", "runs"), [(4, True), (400, False), ("many", False)])
    @pytest.mark.parametrize("how", ["lone", "unasked", "waits", "renamed"])
    async def test_that_the_framework_has_not_seen_is_validated_too(
        self,
        editors: Desk,
        amount: Any,
        runs: bool,  # noqa: FBT001 - expected
        how: str,
    ) -> None:
        """Of a lone model, a run that goes on by itself, a tool that waits: a no withdraws the grant."""

        async def refund(ctx: RunContext[Any], order: Order) -> str:
            editors.ran.append(order.total)
            return "done"

        async def validator(_: RunContext[Any], order: Order) -> None:
            if order.total > 9:
                raise ModelRetry("Too much.")

        name = "our_refund" if how == "renamed" else "refund"
        script = Scripted([call(name, id="A-1", Total="5")])
        gated = editors.gated(refund, **EDITABLE, suspend=how != "waits")
        toolset: FunctionToolset[Any] = FunctionToolset([Tool(gated, args_validator=validator)])
        agent = editors.agent(script, toolsets=[toolset.prefixed("our") if how == "renamed" else toolset])
        edited = {"order": {"Total": amount, "id": "A-1", "items": []}}
        if how == "waits":
            await editors.people.meanwhile(agent.run("Refund A-1."), "edit", input=edited)
        else:
            paused = await agent.run("Refund A-1.")
            await editors.decides(0, "edit", input=edited)
            going_on: Any = {"deferred_tool_results": await editors.approvals.results(paused.output)}
            assert going_on["deferred_tool_results"].approvals == {"c-1": ToolApproved()}
            await agent.run(conversation=paused.conversation, **({} if how == "unasked" else going_on))
        assert editors.ran == ([Decimal(4)] if runs else [])
        assert script.heard[0].outcome == ("success" if runs else "failed")
        assert (await editors.records())[0]["status"] == ("consumed" if runs else "cancelled")
        assert script.told == ([changed(edited)] if runs else [])

    @pytest.mark.parametrize("tip", [1, "much"])
    async def test_of_further_arguments(self, editors: Desk, tip: Any) -> None:
        """The framework gives them no name of their own, so they are validated here."""

        def refund(ctx: RunContext[Any], order: str, **more: int) -> str:
            editors.ran.append((order, more))
            return "done"

        def validator(_: RunContext[Any], /, order: str, **more: int) -> None:
            editors.ran.append(sorted(more))

        script = Scripted([call("refund", order="A-1", tip=2)])
        agent = editors.agent(script, Tool(editors.gated(refund, **EDITABLE), args_validator=validator))
        paused = await agent.run("Refund A-1.")
        await editors.decides(0, "edit", input={"order": "A-1", "more": {"tip": tip, "fee": 0}})
        editors.ran.clear()
        await editors.goes_on(agent, paused)
        judged = [["tip"]]  # the framework's own, of what the model wrote
        ran: list[Any] = [["fee", "tip"], ("A-1", {"tip": 1, "fee": 0})]
        assert editors.ran == ([*judged, *ran] if tip == 1 else judged)

    @pytest.mark.parametrize("name", ["amount", "ctx", "live"])
    async def test_of_further_arguments_that_have_the_name_of_others(self, editors: Desk, name: str) -> None:
        """They would take the place of what was approved, or of what is nobody's to approve."""

        def refund(ctx: RunContext[Any], *, amount: int = 1, live: int = 0, **more: int) -> None:
            editors.ran.append(amount)

        agent = editors.agent(
            Scripted([call("refund", tip=1)]), editors.gated(refund, unbound=["live"], **EDITABLE)
        )
        paused = await agent.run("Refund it.")
        await editors.decides(0, "edit", input={"amount": 2, "more": {name: 9}})
        await editors.goes_on(agent, paused)
        assert (editors.ran, (await editors.records())[0]["status"]) == ([], "cancelled")

    @pytest.mark.parametrize("gate", [True, False])
    async def test_its_own_gate_judges_it_too(self, editors: Desk, gate: bool) -> None:  # noqa: FBT001 - its word
        """A no withdraws the grant."""
        script = Scripted([A1])
        tool = editors.gated(editors.refund, **EDITABLE, gate=lambda value: gate or value["amount"] == 1)
        agent = editors.agent(script, tool)
        paused = await agent.run("Refund A-1.")
        await editors.decides(0, "edit", input={"order": "A-1", "amount": 4})
        await editors.goes_on(agent, paused)
        assert editors.ran == ([("A-1", 4)] if gate else [])
        assert (await editors.records())[0]["status"] == ("consumed" if gate else "cancelled")

    @pytest.mark.parametrize("forged", [{"order": "A-1", "amount": 400}, {"order": "A-2", "amount": 4}])
    async def test_what_the_framework_is_given_instead_does_not_run(self, editors: Desk, forged: Any) -> None:
        """What was approved runs, whatever the answer says."""
        agent = editors.agent(Scripted([A1]), editors.gated(editors.refund, **EDITABLE))
        paused = await agent.run("Refund A-1.")
        await editors.decides(0, "edit", input={"order": "A-1", "amount": 4})
        decided: DeferredToolResults = await editors.approvals.results(paused.output)
        decided.approvals["c-1"] = ToolApproved(override_args=forged)
        await agent.run(conversation=paused.conversation, deferred_tool_results=decided)
        assert editors.ran == [("A-1", 4)]

    async def test_in_no_run_that_is_known_does_not_run(self, editors: Desk) -> None:
        """Where there is no finding out which validator there is, the change is refused."""
        script = Scripted([A1])
        tool = editors.gated(editors.refund, **EDITABLE)

        async def elsewhere(ctx: RunContext[Any], order: str, amount: int) -> Any:
            ctx.tool_manager = None
            return await tool(ctx, order=order, amount=amount)

        agent = editors.agent(script, Tool(elsewhere, name="refund"))
        paused = await agent.run("Refund A-1.")
        await editors.decides(0, "edit", input={"order": "A-1", "amount": 4})
        await agent.run(conversation=paused.conversation)
        assert (script.heard[0].outcome, editors.ran) == ("failed", [])
