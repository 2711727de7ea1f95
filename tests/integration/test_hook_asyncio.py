"""What only the hook for asyncio can meet: being cancelled, gates that wait, and tools that block."""

import asyncio
import inspect
import threading
from typing import Any

import pytest

from placet.client.hook import during
from tests.harness import Harness
from tests.hooks import TURN, People, Runtime
from tests.tools import until


class Desk:
    """A runtime, and who approves."""

    def __init__(self, runtime: Runtime, people: People) -> None:
        self.runtime, self.people = runtime, people


@pytest.fixture
async def desk(h: Harness) -> Desk:
    """Both."""
    h.services.store.stream.start()
    return Desk(Runtime(h, await h.client(), "async"), People(await h.approver()))


@pytest.mark.parametrize(("withdraw", "status"), [(True, "cancelled"), (False, "pending")])
async def test_who_is_cancelled_can_withdraw(desk: Desk, withdraw: bool, status: str) -> None:  # noqa: FBT001
    """Where it is wanted; and the cancellation goes on."""
    tool = desk.runtime.tool(print, withdraw=withdraw)
    calling = asyncio.ensure_future(desk.runtime.call(tool, "x"))
    await desk.people.shown()
    await until(lambda: len(desk.runtime.line.calls) > 1, "it waits")
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert (await desk.people.shown())["status"] == status


async def test_a_tool_that_is_cancelled_has_failed(desk: Desk) -> None:
    """As far as anybody knows."""
    running = asyncio.Event()

    @desk.runtime.hook.requires_approval("orders.refund", effect="write")  # type: ignore[untyped-decorator]
    async def tool() -> None:
        running.set()
        await asyncio.Event().wait()

    with during(TURN):
        calling = asyncio.ensure_future(tool())
    await desk.people.decide()
    await running.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await desk.runtime.settle()
    outcome = (await desk.people.shown())["outcome"]
    assert (outcome["status"], outcome["summary"]) == ("failed", "It was interrupted while it ran.")


async def test_a_tool_that_can_not_be_called_has_failed(desk: Desk) -> None:
    """What it says of itself is not so; its grant is spent, and that it did not run is told."""

    async def tool() -> None:
        raise AssertionError

    tool.__signature__ = inspect.signature(lambda order: order)  # type: ignore[attr-defined] # on purpose
    gated = desk.runtime.hook.requires_approval("orders.refund", effect="write")(tool)
    with pytest.raises(TypeError, match="positional"):
        await desk.people.meanwhile(desk.runtime.call(gated, "A-1"))
    assert (await desk.people.shown())["outcome"]["status"] == "failed"


async def test_a_tool_that_blocks_runs_to_its_end(desk: Desk) -> None:
    """Though who waited for it is gone: it is told how it did end."""
    running, go_on = threading.Event(), threading.Event()

    @desk.runtime.hook.requires_approval("orders.refund", effect="write")  # type: ignore[untyped-decorator]
    def tool() -> None:
        running.set()
        go_on.wait(20)

    with during(TURN):
        calling = asyncio.ensure_future(tool())
    await desk.people.decide()
    await asyncio.to_thread(running.wait, 20)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    go_on.set()
    await desk.runtime.settle()
    assert (await desk.people.shown())["outcome"]["status"] == "succeeded"


async def test_a_gate_may_wait(desk: Desk) -> None:
    """For as long as it likes."""
    judged: list[Any] = []

    async def gate(said: Any) -> None:
        await asyncio.sleep(0)
        judged.append(said)

    tool = desk.runtime.tool(lambda order: order, gate=gate)
    assert await desk.people.meanwhile(desk.runtime.call(tool, "A-1")) == "A-1"
    assert judged == [{"order": "A-1"}]


async def test_a_report_that_is_cancelled(desk: Desk) -> None:
    """As when the loop ends: nothing is left."""
    task = desk.runtime.hook.aside(asyncio.sleep(60))
    task.cancel()
    await desk.runtime.settle()
    assert task.cancelled()
    assert not desk.runtime.hook._tasks


async def test_a_hook_is_left_in_good_order(desk: Desk) -> None:
    """Reports are waited for."""
    async with desk.runtime.hook as hook:
        with during(TURN):
            calling = asyncio.ensure_future(desk.runtime.tool(lambda: None)())
        await desk.people.decide()
        await calling
    assert not hook._tasks
