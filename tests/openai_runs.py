"""Agents of the OpenAI Agents SDK with scripted models, before the service in this process. Offline."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from agents import Agent, Runner, RunState, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from placet.client.hook import Journal
from placet.client.openai_agents import Approvals
from tests.harness import Harness, Party
from tests.hooks import AGENT, People, Runtime

set_tracing_disabled(True)  # or it would send what is traced to its vendor

RUN = {"run": "r-1"}
"""The context of a run."""


def call(arguments: object = None, call_id: str = "c-1", name: str = "refund", **said: Any) -> Any:
    """A call that a model makes."""
    given: Any = {"order": "A-1"} if arguments is None else arguments
    return function_call(name, given, call_id=call_id, **said)


class Process:
    """A process of the agent's: a client, a hook and approvals of its own.

    Attributes:
        approvals: The approvals.
        line: Its line to the service.
        ran: What its tool was called with.
        models: The models that were scripted, in order.
    """

    def __init__(self, h: Harness, party: Party, journal: Journal | None = None) -> None:
        self._runtime = Runtime(h, party, "async", journal)
        self.hook = self._runtime.hook
        self.line = self._runtime.line
        self.approvals = Approvals(self.hook, actor=AGENT, run=lambda run: run.context["run"])
        self.ran: list[Any] = []
        self.models: list[ScriptedModel] = []

    def tool(self, function: Callable[..., Any] | None = None, /, made: Any = None, **said: Any) -> Any:
        """A tool; unless given one, a refund. ``made`` are options of the framework's."""

        async def refund(order: str, amount: int = 5) -> str:
            self.ran.append((order, amount))
            return f"refunded {amount}"

        if made is not None:
            said["tool"] = partial(function_tool, **made)
        decorate = self.approvals.requires_approval("orders.refund", **{"effect": "external", **said})
        return decorate(function or refund)

    def agent(self, *tools: Any, calls: Any = (), **said: Any) -> Agent[Any]:
        """An agent whose model makes these calls at once, and then says that it is done."""
        steps = [list(calls)] if calls else []
        model = ScriptedModel([*steps, [assistant_message("done")]])
        self.models.append(model)
        return Agent(**{"name": "clerk", "model": model, "tools": list(tools), **said})

    async def run(self, agent: Agent[Any], start: Any = "Go.", **said: Any) -> Any:
        """Run it, or go on."""
        if not isinstance(start, RunState):
            said.setdefault("context", dict(RUN))
        try:
            return await Runner.run(agent, start, **said)
        finally:
            await self._runtime.settle()

    async def asked(self, agent: Agent[Any]) -> RunState[Any, Any]:
        """Run it until it pauses, and have that asked which it pauses for."""
        return await self.approvals.answer(await self.run(agent), timeout_s=0)

    async def restored(self, agent: Agent[Any], kept: str) -> RunState[Any, Any]:
        """A run that was kept."""
        return await RunState.from_json(agent, json.loads(kept))

    def heard(self) -> list[str]:
        """What the model was told that its calls came to, by the last it was asked with."""
        last = self.models[-1].last_call
        assert last is not None
        return [each["output"] for each in last.input if each.get("type") == "function_call_output"]


class Office:
    """Who takes part: the agent's machine and the people."""

    def __init__(self, h: Harness, party: Party, ann: Party) -> None:
        self.h, self.party, self.ann = h, party, ann
        self.people = People(ann)

    def process(self, journal: Journal | None = None) -> Process:
        """A process."""
        return Process(self.h, self.party, journal)

    async def played(
        self, process: Process, agent: Agent[Any], decision: str = "approve", **said: Any
    ) -> Any:
        """Run it, decide on its one call while it waits, and go on."""
        paused = await process.run(agent, **said)
        return await process.run(
            agent, await self.people.meanwhile(process.approvals.answer(paused), decision)
        )

    async def records(self) -> list[dict[str, Any]]:
        """All questions, the newest first."""
        items: list[dict[str, Any]] = (await self.party.list()).json()["items"]
        return [await self.party.seen(each["id"]) for each in items]

    async def only(self) -> dict[str, Any]:
        """The one question there is."""
        [record] = await self.records()
        return record

    async def decide(self, order: str, decision: str = "approve", **members: Any) -> None:
        """Decide on the question about an order."""
        [one] = [each for each in await self.records() if each["input"]["order"] == order]
        shown = await self.ann.seen(one["id"])
        assert (await self.ann.decide(shown, decision, **members)).status_code == 200


def saved(state: RunState[Any, Any]) -> str:
    """A run, to be kept."""
    return json.dumps(state.to_json())
