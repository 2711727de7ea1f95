"""Calls of gated tools of LangChain that an approver changes."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from tests.agents import FACES
from tests.chat_models import call
from tests.factories import ManualClock
from tests.graphs import ONE, Office, answers
from tests.harness import record
from tests.ruled import ruling

EDITABLE: Any = {"allowed_decisions": ["approve", "edit", "reject"]}
CHANGED = "An approver changed this call before it ran. What ran is not what you wrote, but: "
GENERIC = "The operation failed. This did not run. Tell the user before it is tried again."


@pytest.fixture(params=FACES)
async def editors(
    ring_directory: Path, clock: ManualClock, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Office]:
    """Who takes part, with each face in turn, where approvers may change what they approve."""
    redis = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    async with ruling(redis, ring_directory, clock, tmp_path) as under:
        ruled = await under('edit = "counts"')
        ruled.h.services.store.stream.start()
        party, (ann, _) = await ruled.parties()
        yield Office(ruled.h, request.param, party, ann)


async def test_what_runs_is_what_was_approved(editors: Office) -> None:
    """And the model is told so, beside the result."""
    agent = editors.agent(ONE, tools=[editors.tool(**EDITABLE)])
    found = await editors.played(agent, "edit", input={"order": "A-1", "amount": 3})
    assert editors.ran == [("A-1", 3)]
    told = CHANGED + '{"amount": 3, "order": "A-1"}\nrefunded 3 of A-1'
    assert answers(found)["c-1"].content == told


async def test_whatever_the_result_is(editors: Office) -> None:
    """Blocks, or a command with messages; what is no answer to the model is left as it is."""

    def blocks(order: str) -> Any:
        """Refund an order."""
        return [{"type": "text", "text": order}]

    def command(order: str) -> Any:
        """Refund an order."""
        return Command(update={"messages": [ToolMessage(order, tool_call_id="c-2")]})

    def several(order: str) -> Any:
        """Refund an order."""
        return [Command(update={"messages": [ToolMessage(order, tool_call_id="c-3")]}), Command(goto="x")]

    bodies = (blocks, command, several)
    tools = [editors.tool(each, **EDITABLE) for each in bodies]
    calls = [call(each.__name__, f"c-{n}", order=f"A-{n}") for n, each in enumerate(bodies, 1)]
    agent = editors.agent(calls, tools=tools)
    found = await editors.play(agent)
    for order, asked in (await editors.questions()).items():
        record(await editors.ann.decide(asked, "edit", input={"order": f"{order}0"}))
    found = await editors.play(agent, await editors.decided(found))
    notes = {f"c-{n}": CHANGED + f'{{"order": "A-{n}0"}}' for n in (1, 2, 3)}
    told = {each: answer.content for each, answer in answers(found).items()}
    assert told == {
        "c-1": [{"type": "text", "text": notes["c-1"]}, {"type": "text", "text": "A-10"}],
        "c-2": f"{notes['c-2']}\nA-20",
        "c-3": f"{notes['c-3']}\nA-30",
    }


@pytest.mark.parametrize(
    "changed",
    [
        {"order": "A-1", "amount": "much"},
        {"order": "A-1", "amount": "7"},
        {"order": "A-1"},
        {"order": "A-1", "amount": 7, "more": 1},
        ["A-1", 7],
    ],
    ids=str,
)
async def test_what_the_tool_can_not_be_called_with(editors: Office, changed: Any) -> None:
    """Is refused: nothing runs."""
    agent = editors.agent(ONE, tools=[editors.tool(**EDITABLE)])
    found = await editors.played(agent, "edit", input=changed)
    assert (answers(found)["c-1"].content, editors.ran) == (GENERIC, [])


async def test_its_own_gate_judges_it_too(editors: Office) -> None:
    """What was approved is no more than it allows."""
    gated = editors.tool(**EDITABLE, gate=lambda given: given["amount"] <= 5)
    found = await editors.played(
        editors.agent(ONE, tools=[gated]), "edit", input={"order": "A-1", "amount": 6}
    )
    assert (answers(found)["c-1"].content, editors.ran) == (GENERIC, [])
