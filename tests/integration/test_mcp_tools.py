"""What tools for MCP can be, and what of a call is approved and run."""

import sys
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
from mcp import Client
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, SecretStr

from placet.client.mcp import Approvals
from placet.client.refusals import ExecutionUnknown
from tests.harness import Harness
from tests.mcp_shop import CALL, Shop, code, refund, text
from tests.ruled import Opening

EDITS: Any = {"allowed_decisions": ["approve", "edit", "reject"]}


@pytest.fixture
async def shop(h: Harness, tmp_path: Path) -> Shop:
    """The shop."""
    h.services.store.stream.start()
    return Shop(h, await h.client(), await h.approver(), tmp_path)


@pytest.fixture
async def editing(under: Opening, tmp_path: Path) -> Shop:
    """The same, where an approver may change a call."""
    ruled = await under('edit = "counts"')
    ruled.h.services.store.stream.start()
    party, (ann, _) = await ruled.parties()
    return Shop(ruled.h, party, ann, tmp_path)


class Line(BaseModel):
    """A value of the tool's own type."""

    article: str
    count: int = 1


async def test_arguments_of_any_type_are_approved_as_json(shop: Shop) -> None:
    """With the defaults of all parts; the tool has its types."""

    def tool(day: date, lines: list[Line], schema: str = "v1", note: str | None = None) -> None:
        shop.ran.append((day, lines, schema, note))

    said = {"day": "2026-02-03", "lines": [{"article": "tea"}]}
    async with shop.opened(tool) as client:
        await client.call_tool("refund", said)
        asked = await shop.people.decide()
        assert not (await client.call_tool("refund", said)).is_error
    whole = {"day": "2026-02-03", "lines": [{"article": "tea", "count": 1}], "schema": "v1", "note": None}
    assert asked["input"] == whole
    assert shop.ran == [(date(2026, 2, 3), [Line(article="tea")], "v1", None)]


def secret(order: SecretStr) -> None:
    """Hides what it would run with."""
    raise NotImplementedError


def infinite(order: float) -> None:
    """Has no canonical form."""
    raise NotImplementedError


def anything(order: Any) -> None:
    """Too large a number for what numbers are in JSON."""
    raise NotImplementedError


@pytest.mark.parametrize(("tool", "order"), [(secret, "s3cret"), (infinite, "inf"), (anything, 2**60)])
async def test_what_does_not_come_through_unchanged_is_not_asked(
    shop: Shop, caplog: pytest.LogCaptureFixture, tool: Any, order: Any
) -> None:
    """Nor run."""
    async with shop.opened(tool) as client:
        assert code(await client.call_tool("refund", {"order": order})) == "INTERNAL_ERROR"
    assert not await shop.questions()
    assert str(order) not in caplog.text


async def test_what_the_tool_does_not_take_is_the_sdks_to_refuse(shop: Shop) -> None:
    """Before anybody is asked."""
    async with shop.opened() as client:
        assert "validation error" in text(await refund(client, amount="much"))
    assert not await shop.questions()


@pytest.mark.parametrize("structured", [True, False])
async def test_an_edit_runs_and_is_told(editing: Shop, structured: bool) -> None:  # noqa: FBT001
    """Beside the result, which is as the tool has it."""

    def tool(order: str, amount: int = 5) -> CallToolResult:
        return CallToolResult(content=[], structured_content={"amount": amount})

    async with editing.opened(None if structured else tool, **EDITS) as client:
        await refund(client)
        await editing.people.decide("edit", input={"order": "A-1", "amount": 3})
        result = await refund(client)
    assert result.structured_content == ({"result": "refunded 3 of A-1"} if structured else {"amount": 3})
    assert text(result).endswith(
        "An approver changed this call before it ran. What ran is not what you wrote, but:"
        ' {"amount": 3, "order": "A-1"}'
    )
    assert not result.is_error


async def test_the_edited_call_is_another(editing: Shop) -> None:
    """What was asked about is what is found again, not what came of it."""
    async with editing.opened(**EDITS) as client:
        await refund(client)
        await editing.people.decide("edit", input={"order": "A-1", "amount": 3})
        assert code(await refund(client, amount=3)) == "APPROVAL_REQUIRED"
        assert not (await refund(client)).is_error
    assert editing.ran == [("A-1", 3)]


@pytest.mark.parametrize(
    "edited",
    [{"order": "A-1"}, {"order": "A-1", "amount": "3"}, {**CALL, "more": 1}, {"order": 1, "amount": 3}, {}],
)
async def test_an_edit_that_the_tool_does_not_take_does_not_run(editing: Shop, edited: Any) -> None:
    """And is withdrawn."""
    async with editing.opened(**EDITS) as client:
        await refund(client)
        await editing.people.decide("edit", input=edited)
        assert code(await refund(client)) == "INTERNAL_ERROR"
    assert (editing.ran, (await editing.asked())["status"]) == ([], "cancelled")


async def test_the_tools_own_gate_judges_before_and_after(editing: Shop) -> None:
    """What it refuses is not asked, or does not run."""
    async with editing.opened(gate=lambda said: said["amount"] <= 500, **EDITS) as client:
        assert code(await refund(client, amount=501)) == "INTERNAL_ERROR"
        assert not await editing.questions()
        await refund(client)
        await editing.people.decide("edit", input={"order": "A-1", "amount": 501})
        assert code(await refund(client)) == "INTERNAL_ERROR"
    assert not editing.ran


async def test_a_tool_may_have_the_sdks_context_and_a_key(shop: Shop) -> None:
    """Neither is an argument."""

    async def tool(order: str, ctx: Context, *, key: str, amount: int = 5) -> str:
        return f"{ctx.request_context.method} {key}"

    async with shop.opened(tool, key="key") as client:
        await refund(client)
        await shop.people.decide()
        ran = await refund(client)
    asked = await shop.asked()
    assert asked["input"] == CALL
    assert text(ran) == f"tools/call {asked['consumption']['execution_id']}"


async def test_what_can_only_be_awaited_is_run(shop: Shop) -> None:
    """To its end."""

    async def late(order: str) -> str:
        return f"late {order}"

    def tool(order: str, amount: int = 5) -> Any:
        return late(order)

    async with shop.opened(tool) as client:
        await refund(client)
        await shop.people.decide()
        assert text(await refund(client)) == "late A-1"
    assert (await shop.asked())["outcome"]["status"] == "succeeded"


async def test_a_refusal_that_the_tool_itself_meets_is_a_failure_of_it(shop: Shop) -> None:
    """It has run, whatever it was refused in turn."""

    def tool(order: str, amount: int = 5) -> None:
        raise ExecutionUnknown("another", None, None)

    async with shop.opened(tool) as client:
        await refund(client)
        await shop.people.decide()
        assert text(await refund(client)) == "Error executing tool refund"
    assert (await shop.asked())["outcome"]["status"] == "failed"


async def test_an_idempotent_tool_needs_a_journal(shop: Shop) -> None:
    """Nobody is asked in vain."""

    def tool(order: str, *, key: str, amount: int = 5) -> None:
        raise NotImplementedError

    async with shop.opened(tool, idempotent=True, key="key") as client:
        assert code(await refund(client)) == "INTERNAL_ERROR"
    assert not await shop.questions()


def resolved(order: str, more: Annotated[str, Resolve(lambda: Elicit("?", Line))]) -> str:
    """Would ask its client."""
    raise NotImplementedError


def asks(order: str) -> str | InputRequiredResult:
    """Asks its client."""
    raise NotImplementedError


def rest(*orders: str) -> None:
    """Has no names for them."""
    raise NotImplementedError


def members(**orders: str) -> None:
    """Has no names for them."""
    raise NotImplementedError


def nameless(order: str, /) -> None:
    """Has no name for it."""
    raise NotImplementedError


def generator(order: str) -> Any:
    """Runs later, when its end has been reported."""
    yield order


def plain(order: str) -> None:
    """Is fine."""
    raise NotImplementedError


@pytest.mark.parametrize(
    ("tool", "said", "reason"),
    [
        (resolved, {}, "what a tool asks its client for"),
        (asks, {}, "what a tool asks its client for"),
        (rest, {}, "a name for each argument"),
        (members, {}, "a name for each argument"),
        (nameless, {}, "a name for each argument"),
        (generator, {}, "a generator runs when it is read from"),
        (plain, {"key": "kee"}, "no such parameter: kee"),
        (plain, {"gaet": None}, "no such option: gaet"),
        (plain, {"unbound": ["order"]}, "no arguments that nobody approves"),
    ],
)
async def test_what_can_not_be_gated_is_refused_at_once(
    shop: Shop, tool: Any, said: Any, reason: str
) -> None:
    """With the reason."""
    approvals = Approvals(shop.process().hook)
    with pytest.raises(TypeError, match=reason):
        approvals.requires_approval("orders.refund", effect="write", **said)(tool)


async def test_without_anybody_authenticated_nothing_is_asked(shop: Shop) -> None:
    """Unless the server says for whom calls are."""
    server = MCPServer("shop", log_level="CRITICAL")
    approvals = Approvals(shop.process().hook)
    server.tool()(approvals.requires_approval("orders.refund", effect="write")(plain))
    async with Client(server) as client:
        result = await client.call_tool("plain", {"order": "A-1"})
    assert (result.is_error, text(result)) == (True, "Error executing tool plain")
    assert not await shop.questions()


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a plain error."""
    for name in [name for name in sys.modules if name.startswith("placet.client.mcp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(ImportError, match=r"pip install 'placet\[mcp\]'"):
        import_module("placet.client.mcp")
