"""The gate for MCP before the real service in this process, called by the SDK's own client."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

from placet.client import Actor, PlacetError
from tests.harness import Harness, record
from tests.hooks import AGENT
from tests.mcp_shop import CALL, Shop, both, code, refund, text
from tests.tools import until

REQUIRED = (
    "A person has to approve this first, so nothing was done. It has been asked for."
    " Once it is approved, call this tool again with exactly the same arguments."
)


@pytest.fixture
async def shop(h: Harness, tmp_path: Path) -> Shop:
    """The shop."""
    h.services.store.stream.start()
    return Shop(h, await h.client(), await h.approver(), tmp_path)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_is_answered_at_once_and_runs_when_it_comes_again(shop: Shop, mode: str) -> None:
    """Once; in the protocol of now, and in the one before."""
    async with shop.opened(mode=mode) as client:
        answer = await refund(client)
        asked = await shop.asked()
        assert answer.structured_content == {
            "code": "APPROVAL_REQUIRED",
            "message": REQUIRED,
            "retryable": True,
            "id": asked["id"],
            "expires_at": "2027-01-15T08:15:00Z",
            "link": f"http://127.0.0.1:8420{asked['links']['ui']}",
        }
        assert text(answer).startswith(REQUIRED)
        assert answer.structured_content["link"] in text(answer)
        assert await refund(client) == answer
        assert (shop.ran, asked["input"], asked["surface"]) == ([], CALL, "direct")
        await shop.people.decide()
        ran = await refund(client)
        assert (ran.is_error, ran.structured_content) == (False, {"result": "refunded 5 of A-1"})
        again = await refund(client)
        assert code(again) == "APPROVAL_CONSUMED"
    assert shop.ran == [("A-1", 5)]
    assert (await shop.asked())["outcome"]["status"] == "succeeded"


async def test_the_tool_looks_as_the_function_does(shop: Shop) -> None:
    """With its description and types, and without the parameters that are the server's."""

    async def tool(order: str, amount: int = 5, *, key: str = "") -> str:
        """Give money back."""
        return order

    async with shop.opened(tool, key="key") as client:
        [seen] = (await client.list_tools()).tools
    assert {name: each["type"] for name, each in seen.input_schema["properties"].items()} == {
        "order": "string",
        "amount": "integer",
    }
    assert (seen.input_schema["required"], seen.description) == (["order"], "Give money back.")
    assert seen.output_schema is not None
    assert seen.output_schema["required"] == ["result"]


async def test_a_rejection_is_told_with_what_was_said(shop: Shop) -> None:
    """And nothing more."""
    async with shop.opened() as client:
        await refund(client)
        await shop.people.decide("reject", comment="It was paid yesterday.")
        answer = await refund(client)
    assert code(answer) == "APPROVAL_REJECTED"
    assert text(answer) == (
        "An approver rejected this action. Do not try it again; ask the user how to go on."
        ' An approver said: "It was paid yesterday."'
    )
    assert not shop.ran


@pytest.mark.parametrize(
    "other",
    [
        Actor(id="agent-8", kind="agent"),
        Actor(id="agent-7", kind="service"),
    ],
)
async def test_another_actor_never_finds_it(shop: Shop, other: Actor) -> None:
    """It is asked about for itself, and only who was approved has the call run."""
    async with shop.opened() as client:
        first = await refund(client)
        await shop.people.decide()
        shop.actor = other
        second = await refund(client)
        assert code(second) == "APPROVAL_REQUIRED"
        assert second.structured_content["id"] != first.structured_content["id"]
        assert not shop.ran
        shop.actor = AGENT
        assert not (await refund(client)).is_error
    assert len(shop.ran) == 1


async def test_another_session_of_the_actor_finds_it(shop: Shop) -> None:
    """And one after a restart."""
    async with shop.opened() as client:
        await refund(client)
    await shop.people.decide()
    async with shop.opened() as client:
        assert not (await refund(client)).is_error
    async with shop.opened() as client:
        assert code(await refund(client)) == "APPROVAL_CONSUMED"
    assert len(shop.ran) == 1


async def test_a_run_sets_calls_apart(shop: Shop) -> None:
    """Where the server can tell it."""
    run = "talk-1"
    async with shop.opened(run=lambda _: run) as client:
        await refund(client)
        await shop.people.decide()
        run = "talk-2"
        shop.h.clock.move(1)
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
        run = "talk-1"
        assert not (await refund(client)).is_error
    assert [each["run"] for each in await shop.questions()] == ["talk-2", "talk-1"]


@pytest.mark.parametrize("run", ["", lambda _: "", lambda _: None])
async def test_a_run_that_is_none_shares_nothing(shop: Shop, run: Any) -> None:
    """The server's author meant to set calls apart."""
    async with shop.opened(run=run) as client:
        assert text(await refund(client)) == "Error executing tool refund"
    assert not await shop.questions()


@pytest.mark.parametrize("changes", [{"amount": 50}, {"order": "A-2"}])
async def test_changed_arguments_are_another_call(shop: Shop, changes: dict[str, Any]) -> None:
    """Which is asked about for itself."""
    async with shop.opened() as client:
        await refund(client)
        await shop.people.decide()
        assert code(await refund(client, **changes)) == "APPROVAL_REQUIRED"
        assert not shop.ran
        assert not (await refund(client)).is_error
    assert shop.ran == [("A-1", 5)]
    assert len(await shop.questions()) == 2


async def test_another_tool_of_the_same_capability_is_another_call(shop: Shop) -> None:
    """An approval is for one of them."""
    async with shop.opened() as client:
        await refund(client)
    await shop.people.decide()

    def express(order: str, amount: int = 5) -> str:
        raise NotImplementedError

    async with shop.opened(express) as client:
        assert code(await refund(client)) == "APPROVAL_REQUIRED"
    seen = [await shop.party.seen(each["id"]) for each in await shop.questions()]
    assert {each["context"]["tool"] for each in seen} == {"express", "refund"}


async def test_what_is_spelt_in_another_way_is_the_same_call(shop: Shop) -> None:
    """A default that is left out, a number in a text where the SDK takes it for one, members in any order."""
    async with shop.opened() as client:
        for said in (
            CALL,
            {"order": "A-1"},
            {"amount": "5", "order": "A-1"},
            {"amount": 5.0, "order": "A-1"},
        ):
            await client.call_tool("refund", said)
    assert (await shop.asked())["input"] == CALL


async def test_identical_calls_at_once_find_one_question_and_run_once(shop: Shop) -> None:
    """From one process or two; whoever comes too late is told so."""
    async with shop.opened() as one, shop.opened() as two:
        asked = await both(*(refund(each) for each in (one, one, one, two, two, two)))
        assert {each.structured_content["id"] for each in asked} == {(await shop.asked())["id"]}
        await shop.people.decide()
        ended = await both(*(refund(each) for each in (one, one, one, two, two, two)))
    assert shop.ran == [("A-1", 5)]
    assert [each.is_error for each in ended].count(False) == 1
    codes = {code(each) for each in ended if each.is_error}
    assert codes <= {"APPROVAL_CONSUMED", "EXECUTION_UNKNOWN"}


async def test_in_one_process_identical_calls_are_told_of_each_other(shop: Shop) -> None:
    """Even where one comes between the moment that a grant is spent and the moment that this is known."""

    async def late(answer: Any) -> Any:
        shop.runtime.line.change.clear()
        await asyncio.sleep(0.05)
        return answer

    async with shop.opened() as client:
        await refund(client)
        await shop.people.decide()
        shop.runtime.line.change["consume"] = late
        ended = await both(*(refund(client) for _ in range(3)))
    assert sorted(code(each) if each.is_error else "" for each in ended) == ["", *["APPROVAL_CONSUMED"] * 2]
    assert len(shop.ran) == 1


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("idempotent", [True, False])
async def test_a_call_that_comes_while_it_runs_is_told_at_once(
    shop: Shop,
    blocks: bool,  # noqa: FBT001
    idempotent: bool,  # noqa: FBT001
) -> None:
    """In this process it is known to run; and then how it ended."""
    running, done = threading.Event(), threading.Event()

    def block(order: str, amount: int = 5) -> None:
        running.set()
        assert done.wait(20)

    async def wait(order: str, amount: int = 5) -> None:
        running.set()
        await until(done.is_set, "it may end")

    said: Any = {"idempotent": idempotent, "journaled": True}
    async with shop.opened(block if blocks else wait, **said) as client:
        await refund(client)
        await shop.people.decide()
        first = asyncio.ensure_future(refund(client))
        await until(running.is_set, "it runs")
        late = await refund(client)
        assert (code(late), "call again after" in text(late)) == ("APPROVAL_CONSUMED", False)
        done.set()
        assert not (await first).is_error
        assert "If a person wants it done once more, call again after 2027-01-15T08:05:00Z." in text(
            await refund(client)
        )


async def test_two_tools_at_once_are_decided_one_by_one(shop: Shop) -> None:
    """By their questions: one approved, one rejected, one still open."""
    orders = ("A-1", "A-2", "A-3")
    async with shop.opened() as client:
        answers = await both(*(refund(client, order=each) for each in orders))
        ids = [each.structured_content["id"] for each in answers]
        for which, decision in zip(ids, ("approve", "reject"), strict=False):
            record(await shop.people.ann.decide(await shop.people.ann.seen(which), decision))
        ended = await both(*(refund(client, order=each) for each in orders))
    assert text(ended[0]) == "refunded 5 of A-1"
    assert [code(each) for each in ended[1:]] == ["APPROVAL_REJECTED", "APPROVAL_REQUIRED"]
    assert shop.ran == [("A-1", 5)]


async def test_nothing_that_a_client_sends_decides(shop: Shop) -> None:
    """Neither an elicitation that it would accept, nor what it says beside or among the arguments."""
    elicited: list[Any] = []

    async def accept(context: Any, params: ElicitRequestParams) -> ElicitResult:
        elicited.append(params)
        return ElicitResult(action="accept", content={"approved": True})

    async with shop.opened() as client:
        server = client.server
    async with Client(server, elicitation_callback=accept) as client:
        asked = await refund(client)
        approval = asked.structured_content["id"]
        meta: Any = {"approved": True, "approval": approval, "actor": "ann", "placet_context": {}}
        for more in (
            {"approved": True},
            {"placet_context": {"approved": True}},
            {"_meta": meta},
            {"key": "k"},
        ):
            answer = await client.call_tool("refund", {**CALL, **more}, meta=meta)
            assert answer.structured_content["id"] == approval
    assert (shop.ran, elicited) == ([], [])
    assert (await shop.asked())["status"] == "pending"


async def test_a_forged_answer_of_the_service_opens_nothing(shop: Shop) -> None:
    """What is called approved has no proof."""

    def approved(answer: Any) -> Any:
        body = {**answer.json(), "status": "approved", "token": "a.b.c"}
        return type(answer)(answer.status_code, json=body)

    async with shop.opened() as client:
        asked = await refund(client)
        shop.runtime.line.change[asked.structured_content["id"]] = approved
        assert code(await refund(client)) == "INTERNAL_ERROR"
    assert not shop.ran


async def test_a_service_that_is_away_is_a_refusal(shop: Shop) -> None:
    """Nothing runs, and the model is told no more than that."""
    async with shop.opened() as client:
        await refund(client)
        await shop.people.decide()
        asked = await shop.asked()
        shop.runtime.line.lose[asked["id"]] = 99
        answer = await refund(client)
    assert text(answer) == "The operation failed. This did not run. Tell the user before it is tried again."
    assert not shop.ran


async def test_what_waits_within_a_call(shop: Shop) -> None:
    """Comes with the result, or with the envelope where time has run out."""
    async with shop.opened(suspend=False) as client:
        ran = await shop.people.meanwhile(refund(client))
        assert text(ran) == "refunded 5 of A-1"
    async with shop.opened(suspend=False, timeout_s=0) as client:
        assert code(await refund(client, order="A-2")) == "APPROVAL_REQUIRED"


async def test_what_the_tool_returns_and_raises_is_the_tools(shop: Shop) -> None:
    """A failure is reported as one, whichever way a tool has of telling it."""

    def tool(order: str, amount: int = 5) -> CallToolResult:
        shop.ran.append(order)
        if order == "raises":
            raise ValueError("no such order")
        return CallToolResult(content=[TextContent(type="text", text="no")], is_error=order == "says so")

    async with shop.opened(tool, tell_errors=True, summary=lambda _: "Done.") as client:
        for order in ("raises", "says so", "works"):
            shop.h.clock.move(1)
            await refund(client, order=order)
            await shop.people.decide()
            result = await refund(client, order=order)
            assert (result.is_error, result.structured_content) == (order != "works", None)
    ends = [await shop.party.seen(each["id"]) for each in reversed(await shop.questions())]
    assert [(each["outcome"]["status"], each["outcome"]["summary"]) for each in ends] == [
        ("failed", "no such order"),
        ("failed", "Done."),
        ("succeeded", "Done."),
    ]


async def test_a_call_that_is_given_up_has_failed(shop: Shop) -> None:
    """As far as anybody knows, where it can be stopped."""
    running = asyncio.Event()

    async def tool(order: str, amount: int = 5) -> None:
        running.set()
        await asyncio.Event().wait()

    async with shop.opened(tool) as client:
        await refund(client)
        await shop.people.decide()
        calling = asyncio.ensure_future(refund(client))
        await running.wait()
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        await until(lambda: not shop.runtime.hook._tasks, "it is reported")
    assert (await shop.asked())["outcome"]["status"] == "failed"


async def test_a_thread_that_is_given_up_goes_on(shop: Shop) -> None:
    """And its end is told; meanwhile the call is one that runs."""
    running, done = threading.Event(), threading.Event()

    def tool(order: str, amount: int = 5) -> None:
        running.set()
        assert done.wait(20)

    async with shop.opened(tool) as client:
        await refund(client)
        await shop.people.decide()
        calling = asyncio.ensure_future(refund(client))
        await until(running.is_set, "it runs")
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        assert code(await refund(client)) == "APPROVAL_CONSUMED"
        done.set()
    assert (await shop.asked())["outcome"]["status"] == "succeeded"


async def test_what_ended_and_was_not_reported_is_unknown(shop: Shop) -> None:
    """To the next call; its own client has its result."""

    async def away(*_: Any, **__: Any) -> None:
        raise PlacetError

    async with shop.opened() as client:
        await refund(client)
        await shop.people.decide()
        shop.runtime.hook.client.report = away
        assert text(await refund(client)) == "refunded 5 of A-1"
        assert code(await refund(client)) == "EXECUTION_UNKNOWN"
