"""The store fails: never a verdict, nothing half done, and the next correct request works."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fakeredis import FakeAsyncRedis, FakeServer

from placet.store.scripts import load
from placet.store.wires import Exchange
from tests.factories import ManualClock
from tests.harness import Harness, Party, opened, record, refusal
from tests.link_wire import Unheard
from tests.tools import until

DOWN = (503, "STORE_UNAVAILABLE")


class Broken:
    """A service and the server under it, to be stopped and started."""

    def __init__(self, h: Harness, server: FakeServer) -> None:
        self.h = h
        self.server = server

    def stop(self) -> None:
        """Nothing answers any more."""
        self.server.connected = False

    def start(self) -> None:
        """Everything is there again."""
        self.server.connected = True


@pytest.fixture
async def broken(ring_directory: Path, clock: ManualClock) -> AsyncIterator[Broken]:
    """A service over a fake server."""
    server = FakeServer(server_type="valkey")
    async with opened(FakeAsyncRedis(server=server), ring_directory, clock) as harness:
        yield Broken(harness, server)
        server.connected = True


def unavailable(response: httpx.Response) -> bool:
    """Whether the answer says that asking again may help, and when."""
    problem = response.json()
    assert refusal(response) == DOWN
    assert problem["retryable"] is True
    assert response.headers["retry-after"] == "1"
    assert problem["confirmation"]["details"] == {"transient": True, "retryAfterMs": 1_000}
    assert problem["model"] == {
        "code": "INTERNAL_ERROR",
        "message": "The operation failed.",
        "retryable": False,
    }
    return True


async def every_call(runtime: Party, ann: Party, asked: dict[str, Any], token: str) -> list[httpx.Response]:
    """One answer of each route."""
    return [
        await runtime.ask(input=1),
        await runtime.list(),
        await runtime.read(asked["id"]),
        await runtime.read(asked["id"], wait=30),
        await runtime.trail(asked["id"]),
        await ann.decide(asked),
        await runtime.cancel(asked["id"]),
        await runtime.cancel_run("r"),
        await runtime.consume(asked, token),
        await runtime.report(asked["id"]),
        await runtime.introspect(asked, token),
    ]


async def test_a_stopped_store_is_503_on_every_route(broken: Broken) -> None:
    """B71: whatever is asked, the answer is temporary and says so; afterwards nothing has changed."""
    h = broken.h
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    before = await ann.seen(asked["id"])
    broken.stop()
    for response in await every_call(runtime, ann, asked, token):
        assert unavailable(response)
    assert len(h.services.waiters) == 0
    broken.start()
    assert await ann.seen(asked["id"]) == before
    assert record(await runtime.consume(asked, token))["replayed"] is False


async def test_a_store_that_stops_before_the_decision_decides_nothing(broken: Broken) -> None:
    """B71: neither approved nor rejected; the same decision later is taken."""
    h = broken.h
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    await ann.list()
    broken.stop()
    assert unavailable(await ann.decide(asked))
    assert unavailable(await ann.decide(asked, "reject"))
    broken.start()
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
    assert record(await ann.decide(asked))["status"] == "approved"


async def test_a_caller_that_nobody_knows_yet_is_not_refused(broken: Broken) -> None:
    """Where a credential can't be looked up the answer is temporary, not 401."""
    h = broken.h
    runtime = await h.client()
    h.services.directory.forget("default")
    broken.stop()
    assert unavailable(await runtime.list())
    assert refusal(await Party(h.http, "default", "x", "nonsense").list()) == (401, "UNAUTHENTICATED")
    broken.start()
    record(await runtime.list())


async def loaded(h: Harness) -> None:
    """Have the server know every script, as after its first minute."""
    for script in load().values():
        await h.redis.script_load(script.text)


class Deaf:
    """A link whose replies are lost: the server does what it is told, and nobody hears of it."""

    def __init__(self, h: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        wires = h.services.store.link._wires
        self._genuine = wires.carry
        self.lost = 0
        monkeypatch.setattr(wires, "carry", self._lose)
        self.deaf = True

    def _lose(self, exchange: Exchange) -> None:
        self.lost += self.deaf
        self._genuine(Unheard(exchange) if self.deaf else exchange)


async def test_a_lost_reply_to_a_consume_is_resolved_by_asking_again(
    anywhere: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B19, B71: it was consumed and nobody heard; the same execution is told, another one refused."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    await loaded(anywhere)
    link = Deaf(anywhere, monkeypatch)
    assert refusal(await runtime.consume(asked, token, execution="e-1")) == DOWN
    assert link.lost == 2, "sent once more by the link itself"
    link.deaf = False
    again = record(await runtime.consume(asked, token, execution="e-1"))
    assert (again["status"], again["replayed"]) == ("consumed", True)
    other = await runtime.consume(asked, token, execution="e-2")
    assert refusal(other) == (409, "APPROVAL_CONSUMED")
    assert other.json()["details"] == {"execution_id": "e-1"}


async def test_a_lost_reply_to_a_question_is_resolved_by_its_key(
    anywhere: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B28: asked again with its key, or joined without one, it is the one record."""
    runtime = await anywhere.client()
    await runtime.list()
    await loaded(anywhere)
    link = Deaf(anywhere, monkeypatch)
    assert refusal(await runtime.ask(key="k")) == DOWN
    assert refusal(await runtime.ask(input=1)) == DOWN
    link.deaf = False
    record(await runtime.ask(key="k"))
    record(await runtime.ask(input=1))
    assert len(record(await runtime.list())["items"]) == 2


async def test_a_lost_reply_to_a_vote_is_resolved_by_voting_again(
    anywhere: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B71: the vote counted once; repeating it answers the record."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    await loaded(anywhere)
    genuine = anywhere.services.store.approvals.decide

    async def deafly(*args: Any, **options: Any) -> Any:
        Deaf(anywhere, monkeypatch)
        return await genuine(*args, **options)

    monkeypatch.setattr(anywhere.services.store.approvals, "decide", deafly)
    assert refusal(await ann.decide(asked)) == DOWN
    monkeypatch.undo()
    assert (await runtime.seen(asked["id"]))["status"] == "approved"
    record(await ann.decide(asked))
    assert len((await runtime.seen(asked["id"]))["decisions"]) == 1


async def test_a_link_that_breaks_once_goes_unnoticed(
    anywhere: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One broken exchange is sent again, and what it did is not done twice."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    await loaded(anywhere)
    link = Deaf(anywhere, monkeypatch)
    genuine = link._genuine

    def once(exchange: Exchange) -> None:
        genuine(exchange)
        link.deaf = False

    monkeypatch.setattr(link, "_genuine", once)
    assert record(await runtime.consume(asked, token))["replayed"] is False
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [line["type"] for line in trail] == ["requested", "approved", "consumed"]


async def test_an_unforeseen_fault_is_500_and_tells_nothing(
    h: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever breaks inside: a generic problem with a request id, and the cause in the log alone."""
    runtime = await h.client()

    async def breaks(*_: Any, **__: Any) -> None:
        raise RuntimeError("placet:default:secret-detail")

    monkeypatch.setattr(h.services.store.approvals, "page", breaks)
    response = await runtime.call("GET", "/v1/approvals", headers={"x-request-id": "req-7"})
    assert refusal(response) == (500, "INTERNAL_ERROR")
    assert response.headers["x-request-id"] == "req-7"
    assert "secret-detail" not in response.text
    assert "Traceback" not in response.text
    assert any(line.exc_info for line in caplog.records)
    assert record(await runtime.ask(), 201)


async def test_credentials_that_never_stop_changing_are_a_503(
    h: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that can't be judged under any epoch gives up, retryable, and does nothing."""
    runtime = await h.client()
    genuine = h.services.store.approvals._run

    async def after_a_change(*args: Any) -> Any:
        await h.services.enrolment.count_change("default")
        return await genuine(*args)

    monkeypatch.setattr(h.services.store.approvals, "_run", after_a_change)
    assert unavailable(await runtime.ask())
    monkeypatch.undo()
    assert record(await runtime.list())["items"] == []


async def test_a_wait_outlives_a_stream_that_is_down(broken: Broken, monkeypatch: pytest.MonkeyPatch) -> None:
    """A waiter whose stream can't be followed still waits, and looks for itself."""
    h = broken.h
    runtime = await h.client()
    asked = await runtime.asked()
    genuine = h.services.store.stream.follow

    async def down(tenant: str) -> None:
        broken.stop()
        await genuine(tenant)
        broken.start()

    monkeypatch.setattr(h.services.store.stream, "follow", down)
    task = asyncio.create_task(runtime.read(asked["id"], wait=10))
    await until(lambda: h.clock.timers == 1 or task.done(), "the waiter parks")
    h.clock.move(10_000)
    assert record(await task)["status"] == "pending"
