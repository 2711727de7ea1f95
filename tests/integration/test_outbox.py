"""The outbox where the store is away, or another: nothing is lost, nobody is told twice for nothing."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Gone
from redis.exceptions import ResponseError

from placet.application import spread
from placet.application.ending import end
from placet.domain.errors import StoreUnavailable
from placet.domain.principals import Endpoint
from placet.store.approvals import Rejudge
from placet.store.outbox import GROUP, Outbox
from tests.harness import Harness, record


class Failing:
    """A client whose every call fails."""

    def __init__(self, fault: Exception) -> None:
        self._fault = fault

    def __getattr__(self, _: str) -> Any:
        async def call(*_args: Any, **_options: Any) -> Any:
            raise self._fault

        return call


CALLS = {
    "follow": lambda outbox: outbox.follow(["a"]),
    "news": lambda outbox: outbox.news(["a"], 1, wait=False),
    "forsaken": lambda outbox: outbox.forsaken("a", idle_ms=0, count=1),
    "done": lambda outbox: outbox.done("a", ["1-0"]),
}


@pytest.mark.parametrize(
    "fault", [Gone("no"), OSError("no"), ResponseError("no")], ids=lambda f: type(f).__name__
)
@pytest.mark.parametrize("name", CALLS)
async def test_a_store_that_can_not_be_asked(name: str, fault: Exception) -> None:
    """Is said to be one."""
    with pytest.raises(StoreUnavailable):
        await CALLS[name](Outbox(Failing(fault)))  # type: ignore[arg-type] # it answers as a client does


async def test_a_stream_without_its_group_is_followed_anew(anywhere: Harness) -> None:
    """As where a tenant was removed and made again."""
    outbox = anywhere.services.store.outbox
    runtime = await anywhere.client()
    await outbox.follow(["default"])
    await outbox.follow(["default"])
    assert list(outbox.followed) == ["default"]
    await anywhere.redis.xgroup_destroy("{placet:default}:s", GROUP)
    assert await outbox.news(["default"], 10, wait=False) == []
    assert not list(outbox.followed)
    await runtime.asked()
    await outbox.follow(["default"])
    assert [each.type for each in await outbox.news(["default"], 10, wait=False)] == ["requested"]


async def test_news_is_waited_for(anywhere: Harness) -> None:
    """It comes as it happens."""
    runtime = await anywhere.client()
    outbox = anywhere.services.store.outbox
    await outbox.follow(["default"])
    waiting = asyncio.ensure_future(outbox.news(["default"], 10, wait=True))
    asked = await runtime.asked()
    assert [each.approval_id for each in await waiting] == [asked["id"]]


async def test_it_goes_on_once_the_store_is_back(
    anywhere: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What happened meanwhile is spread then; and it ends when it is told to."""
    monkeypatch.setattr(spread, "LOOK_EVERY_S", 0.001)
    monkeypatch.setattr(spread, "SILENT_FOR_S", 0.0)
    services = anywhere.services
    runtime = await anywhere.client()
    await services.enrolment.create(Endpoint(tenant="default", name="audit", url="https://hooks.example/x"))
    asked = await runtime.asked()
    services.dispatcher._senders = {}
    real = services.store.outbox._client
    services.store.outbox._client = Failing(Gone("no"))
    services.spreader.start()
    async with asyncio.timeout(20):
        while "trying again" not in caplog.text:
            anywhere.clock.move(1)
            await asyncio.sleep(0)
        services.store.outbox._client = real
        while not (await runtime.seen(asked["id"]))["deliveries"]:
            anywhere.clock.move(1)
            await asyncio.sleep(0)
    record(await runtime.cancel(asked["id"]))
    await services.spreader.stop()


async def test_a_task_that_loses_a_cancellation_is_ended_all_the_same() -> None:
    """It is cancelled again."""
    lost: list[int] = []

    async def stubborn() -> None:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if lost:
                    raise
                lost.append(1)

    task = asyncio.ensure_future(stubborn())
    await asyncio.sleep(0)
    await end(task)
    assert (task.cancelled(), lost) == (True, [1])


async def test_what_a_task_raised_is_looked_at() -> None:
    """So that nothing is told of it later."""

    async def breaks() -> None:
        raise ValueError

    task = asyncio.ensure_future(breaks())
    await asyncio.wait({task})
    await end(task)
    assert isinstance(task.exception(), ValueError)


async def test_replicas_follow_a_tenant_together(pair: tuple[Harness, Harness]) -> None:
    """What one was given the other is not."""
    here, there = (each.services.store.outbox for each in pair)
    runtime = await pair[0].client()
    for outbox in (here, there):
        await outbox.follow(["default"])
    await runtime.asked()
    found = [await outbox.news(["default"], 10, wait=False) for outbox in (here, there)]
    assert [len(each) for each in found] == [1, 0]


async def test_lanes_are_not_judged_by_a_clock_that_is_behind(anywhere: Harness) -> None:
    """Nor under who and what there was before."""
    runtime, lanes = await anywhere.client(), anywhere.services.store.deliveries
    asked = await runtime.asked()
    await lanes.wake("default", asked["id"], ["webhook:x"])
    with pytest.raises(Rejudge):
        await lanes.lease("default", "webhook:x", limit=1, lease_ms=1, nonce="a", epoch=1)
    anywhere.clock.move(-3_600_000)
    with pytest.raises(StoreUnavailable):
        await lanes.ring("default", limit=1)
