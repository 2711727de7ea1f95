"""A call that comes again while it runs: in the same process it is known that it does."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from placet.client.hook import ApprovalRefused, ExecutionUnknown, FileJournal, during
from tests.agents import FACES
from tests.harness import Harness
from tests.hooks import AGENT, TURN, People, Runtime

CALL: Any = ("authorize", "orders.refund", {"order": "A-1"})


class Desk:
    """A process with a journal, and who approves."""

    def __init__(self, runtime: Runtime, people: People) -> None:
        self.runtime, self.people = runtime, people

    async def granted(self, **said: Any) -> Any:
        """A call that may run."""
        options: Any = {"actor": AGENT, "effect": "external", "run": "r-1", "call_id": "c-1", **said}
        return await self.runtime.does(*CALL, **options)


@pytest.fixture(params=FACES)
async def desk(h: Harness, request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    """Both."""
    h.services.store.stream.start()
    journal = FileJournal(tmp_path / "journal")
    return Desk(Runtime(h, await h.client(), request.param, journal), People(await h.approver()))


@pytest.mark.parametrize("idempotent", [False, True])
async def test_it_is_refused_until_it_has_ended(desk: Desk, idempotent: bool) -> None:  # noqa: FBT001
    """Nobody has to look; and one that may run again does not run beside itself."""
    grant = await desk.people.meanwhile(desk.granted(idempotent=idempotent))
    for ended in (False, True):
        if ended:
            await desk.runtime.on(grant, "succeeded")
            await desk.runtime.settle()
        with pytest.raises(ApprovalRefused) as raised:
            await desk.granted(idempotent=idempotent)
        assert type(raised.value) is ApprovalRefused
        assert raised.value.error.code == "APPROVAL_CONSUMED"
        assert (raised.value.outcome is not None) is ended


async def test_one_of_several_that_are_approved_runs(desk: Desk) -> None:
    """Though all of them have the key of an idempotent tool."""
    calls = [asyncio.ensure_future(desk.granted(idempotent=True)) for _ in range(4)]
    await desk.people.decide()
    ended = await asyncio.gather(*calls, return_exceptions=True)
    [grant] = [each for each in ended if not isinstance(each, BaseException)]
    refused = [each for each in ended if isinstance(each, ApprovalRefused)]
    assert [type(each) for each in refused] == [ApprovalRefused] * 3
    await desk.runtime.on(grant, "succeeded")


async def test_what_nobody_will_report_is_unknown(desk: Desk) -> None:
    """And goes on where it may, under its key."""
    grant = await desk.people.meanwhile(desk.granted(idempotent=True))
    key = grant.execution_id
    del grant
    with pytest.raises(ExecutionUnknown):
        await desk.granted()
    assert (await desk.granted(idempotent=True)).execution_id == key


async def test_a_thread_that_raises_what_no_future_takes(h: Harness) -> None:
    """It has failed, and whoever waits for it is told."""
    h.services.store.stream.start()
    runtime, people = Runtime(h, await h.client(), "async"), People(await h.approver())

    @runtime.hook.requires_approval("orders.refund", effect="write")  # type: ignore[untyped-decorator]
    def tool() -> None:
        next(iter(()))

    with during(TURN):
        calling = asyncio.ensure_future(tool())
    await people.decide()
    with pytest.raises(RuntimeError, match="a tool raised StopIteration"):
        await asyncio.wait_for(calling, 20)
    await runtime.settle()
    assert (await people.shown())["outcome"]["status"] == "failed"
