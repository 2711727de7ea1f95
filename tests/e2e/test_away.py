"""A service or a store that was away: nothing is lost, and nothing is decided by its absence."""

import asyncio
import json
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

import httpx
import pytest

from tests.e2e.lines import Lines, post
from tests.e2e.processes import process_of
from tests.e2e.stage import INPUT, Cast, Stage, alone, casting, several
from tests.harness import Party, call_of, record, refusal
from tests.tools import until

pytestmark = [pytest.mark.e2e, pytest.mark.real]

EVENTS = {
    "ask": "requested",
    "decide": "approved",
    "cancel": "cancelled",
    "consume": "consumed",
    "report": "reported",
}
"""What each call makes happen."""
UNAVAILABLE = (503, "STORE_UNAVAILABLE", True)


@pytest.fixture(scope="module")
def pair() -> Iterator[Stage]:
    """Two replicas that soon lose patience with their store."""
    with several(2, PLACET_STORE_CALL_TIMEOUT_MS="300") as stage:
        yield stage


class TestRestart:
    """What was asked and decided before a service ended is there for the next."""

    async def test_a_card_from_before(self) -> None:
        """A card that was shown before a kill can be decided after it, and what waits goes on waiting."""
        with alone() as stage:
            async with casting(stage) as cast:
                (runtime,), (ann,) = await cast.client(), await cast.approver()
                asked = await runtime.asked(input=INPUT)
                card = await ann.seen(asked["id"])
                waiting = asyncio.create_task(runtime.read(asked["id"], wait=60))
                await until(lambda: stage.replicas[0].metric("placet_waiters") == 1, "it waits")
                stage.replicas[0].kill()
                await asyncio.to_thread(stage.replicas[0].start)
                with pytest.raises(ConnectionError):
                    await waiting
                waiting = asyncio.create_task(runtime.read(asked["id"], wait=60))
                assert record(await ann.decide(card))["status"] == "approved"
                grant = record(await waiting)
                consumed = record(await runtime.consume(asked, grant["token"]))
                assert (consumed["status"], consumed["replayed"]) == ("consumed", False)

    async def test_a_grant_from_before(self, pair: Stage) -> None:
        """A process that was started after the approval honours the grant and the token of another."""
        async with casting(pair) as cast:
            runtime, ann = await cast.client(), await cast.approver()
            asked = await runtime[0].asked(input=INPUT)
            record(await ann[0].decide(asked))
            token = await runtime[0].token(asked["id"])
            newcomer = pair.add()
            async with httpx.AsyncClient(transport=Lines(newcomer.port), base_url=newcomer.url) as http:
                fresh = Party(http, cast.tenant, "runtime", runtime[0].credential)
                assert record(await fresh.read(asked["id"], wait=30))["status"] == "approved"
                assert record(await fresh.consume(asked, token))["replayed"] is False
                assert record(await runtime[1].consume(asked, token))["replayed"] is True


async def test_a_reply_that_is_lost(pair: Stage, cast: Cast) -> None:
    """An execution whose reply was lost asks again and is told the same; another one is told of it."""
    runtime, ann = await cast.client(), await cast.approver()
    asked = await runtime[0].asked(input=INPUT)
    record(await ann[0].decide(asked))
    token = await runtime[0].token(asked["id"])
    body = json.dumps({**call_of(asked), "execution_id": "exec-1", "token": token}).encode()
    with socket.create_connection(("127.0.0.1", pair.replicas[0].port)) as line:
        line.sendall(post(f"/v1/approvals/{asked['id']}/consume", runtime[0].credential, body))
    again = record(await runtime[1].consume(asked, token))
    other = await runtime[1].consume(asked, token, execution="exec-2")
    assert again["consumption"]["execution_id"] == "exec-1"
    assert refusal(other) == (409, "APPROVAL_CONSUMED")
    assert other.json()["details"]["execution_id"] == "exec-1"


class TestStoreAway:
    """A store that does not answer is no verdict."""

    @pytest.mark.parametrize("verb", EVENTS)
    async def test_killed(self, pair: Stage, cast: Cast, verb: str) -> None:
        """A call that meets no store changes nothing; made again once there is one, it is done."""
        assert pair.external is not None
        play = await Play.before(verb, cast)
        records, happened = await play.records(), await play.happened()
        await asyncio.to_thread(pair.external.kill)
        try:
            assert told(await play.call()) == UNAVAILABLE
            assert not pair.replicas[0].is_ready()
        finally:
            await asyncio.to_thread(pair.external.start)
        assert await play.records() == records
        assert (await play.call()).is_success
        assert await play.happened() == happened + Counter([EVENTS[verb]])

    @pytest.mark.parametrize("verb", EVENTS)
    async def test_stopped(self, pair: Stage, cast: Cast, verb: str) -> None:
        """A call that a stopped store may yet carry out is done once, be it then or when it is repeated."""
        play = await Play.before(verb, cast)
        happened = await play.happened()
        store = await asyncio.to_thread(process_of, pair.socket)
        store.suspend()
        try:
            assert told(await play.call()) == UNAVAILABLE
        finally:
            store.resume()
        assert (await play.call()).is_success
        assert await play.happened() == happened + Counter([EVENTS[verb]])

    async def test_a_parked_call(self, pair: Stage, cast: Cast) -> None:
        """A call that waits outlives the store, and hears of a decision that the next one took."""
        assert pair.external is not None
        runtime, ann = await cast.client(), await cast.approver()
        asked = await runtime[0].asked(input=INPUT)
        waiting = asyncio.create_task(runtime[0].read(asked["id"], wait=60))
        await until(lambda: pair.replicas[0].metric("placet_waiters") == 1, "it waits")
        await asyncio.to_thread(pair.external.kill)
        await asyncio.to_thread(pair.external.start)
        record(await ann[1].decide(asked))
        assert record(await waiting)["status"] == "approved"


class Play:
    """A call of one kind, and all that comes before it. Repeated it is the same call.

    Args:
        verb: The kind.
        runtime: Who asks and consumes, at each replica.
        ann: Who decides.
        asked: What it is about.
        token: To consume with.
    """

    def __init__(
        self, verb: str, runtime: list[Party], ann: list[Party], asked: dict[str, Any], token: str
    ) -> None:
        self._verb = verb
        self._runtime = runtime
        self._ann = ann
        self._asked = asked
        self._token = token

    @classmethod
    async def before(cls, verb: str, cast: Cast) -> Self:
        """Play up to the call."""
        runtime, ann = await cast.client(), await cast.approver()
        asked, token = await runtime[0].asked(input=INPUT), ""
        if verb in {"consume", "report"}:
            record(await ann[0].decide(asked))
            token = await runtime[0].token(asked["id"])
        if verb == "report":
            record(await runtime[0].consume(asked, token))
        return cls(verb, runtime, ann, asked, token)

    async def call(self) -> httpx.Response:
        """Make the call."""
        match self._verb:
            case "ask":
                return await self._runtime[0].ask(input=INPUT, context={"call": 2}, key="key-2")
            case "decide":
                return await self._ann[0].decide(self._asked)
            case "cancel":
                return await self._runtime[0].cancel(self._asked["id"])
            case "consume":
                return await self._runtime[0].consume(self._asked, self._token)
            case _:
                return await self._runtime[0].report(self._asked["id"])

    async def records(self) -> list[dict[str, Any]]:
        """Every record that there is, newest first."""
        items: list[dict[str, Any]] = record(await self._runtime[1].list())["items"]
        return items

    async def happened(self) -> Counter[str]:
        """How often each event is in their trails."""
        trails = [record(await self._runtime[1].trail(each["id"])) for each in await self.records()]
        return Counter(line["type"] for trail in trails for line in trail["items"])


def told(response: httpx.Response) -> tuple[int, str, bool]:
    """Status, code and ``retryable`` of a refusal."""
    problem = response.json()
    return response.status_code, problem["code"], problem["retryable"]
