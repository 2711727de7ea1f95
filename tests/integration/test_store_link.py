"""The link on real servers: storms of cancelled callers, lost scripts, servers that stop and come back."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest
from redis.asyncio import Redis

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.domain.model import Status
from placet.settings import StoreSettings
from placet.store.link import MAX_BATCHES_IN_FLIGHT
from placet.store.opened import Store, open_store
from tests import servers
from tests.factories import a_creation, an_ask
from tests.steps import TENANT, approval_of, approved, asked, read, record_of, spend, voted
from tests.tools import gone, require, until


async def test_lost_scripts_are_loaded_again(store: Store, client: Redis) -> None:
    """A server that was restarted or flushed knows no scripts: nobody notices."""
    ask = await asked(store)
    await client.script_flush()
    assert (await voted(store, ask)).ruling is Ruling.OK


async def test_every_caller_gets_its_own_answer(store: Store) -> None:
    """In a batch of all kinds of calls."""
    asks = await asyncio.gather(*(approved(store) for _ in range(30)))
    calls = [step(store, ask) for ask in asks for step in (read, spend, read)]
    answers = await asyncio.gather(*calls)
    found = [approval_of(answer).ask.id for answer in answers]
    assert found == [ask.id for ask in asks for _ in range(3)]


async def test_a_storm_of_cancelled_callers_crosses_no_answers(store: Store, client: Redis) -> None:
    """300 callers that leave after as many moments, then 1 000 reads of another record (B64, B65)."""
    one, other = await asked(store), await asked(store)
    callers = []
    for i in range(300):
        callers.append(asyncio.create_task(read(store, one)))
        if i % 3:
            await asyncio.sleep(0)
        callers[i // 2].cancel()
    await asyncio.wait(callers)
    for _ in range(100):
        answers = await asyncio.gather(*(read(store, other) for _ in range(10)))
        assert {record_of(answer).approval().ask.id for answer in answers} == {other.id}
    pool: Any = client.connection_pool
    assert len(pool._in_use_connections) <= MAX_BATCHES_IN_FLIGHT
    assert len(pool._available_connections) <= 5


async def test_a_script_that_breaks_is_unavailable(store: Store, client: Redis) -> None:
    """A fault inside the store is never a verdict: here a key of the wrong type."""
    ask = await asked(store)
    await client.delete("{placet:default}:l:" + ask.id)
    await client.set("{placet:default}:l:" + ask.id, "no list")
    with pytest.raises(StoreUnavailable):
        await read(store, ask)


class Server:
    """A server in a directory of its own that a test can stop, kill and start again there."""

    def __init__(self, binary: str, directory: Path) -> None:
        self._binary = binary
        self._directory = directory
        self._exits = ExitStack()
        self.socket = directory / "s"
        self.process = psutil.Process()

    async def start(self) -> None:
        """Start it, or start it again on what it left."""
        self.socket.unlink(missing_ok=True)
        self._exits.enter_context(servers.running(self._binary, self._directory))
        client = Redis(unix_socket_path=str(self.socket))
        self.process = psutil.Process((await client.info("server"))["process_id"])
        await client.aclose()

    async def kill(self) -> None:
        """End it at once, as a crash does."""
        os.kill(self.process.pid, signal.SIGKILL)
        await until(lambda: gone(self.process), "the server has gone")

    def stop(self) -> None:
        """Let all that was started go."""
        self._exits.close()


@pytest.mark.real
class TestServerThatStops:
    """Stopping is an unknown outcome, coming back is enough (B71)."""

    @pytest.fixture(params=["valkey", "redis"])
    def server(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
        """A server of either kind, not started yet."""
        binary = servers.valkey_binary() if request.param == "valkey" else servers.redis_binary()
        require(binary is not None, request.param)
        server = Server(str(binary), tmp_path)
        yield server
        server.stop()

    @pytest.fixture
    async def store(self, request: pytest.FixtureRequest, server: Server) -> AsyncIterator[Store]:
        """A store as the service opens it, on the server's own clock."""
        await server.start()
        settings = StoreSettings(
            data_dir=server.socket.parent,
            call_timeout_ms=getattr(request, "param", 200),
            confirm_timeout_ms=100,
        )
        store = await open_store(
            settings,
            Limits(),
            socket_path=server.socket,
            clock=None,
            heard=lambda _: None,
            observe=lambda _calls, _seconds: None,
        )
        yield store
        await store.close()

    async def test_what_was_answered_survives_a_kill(self, store: Store, server: Server) -> None:
        """Every record and every decision, on the same connections' pool."""
        asks = [await approved(store) for _ in range(5)]
        await server.kill()
        await server.start()
        answers = [await read(store, ask) for ask in asks]
        assert {approval_of(answer).status for answer in answers} == {Status.APPROVED}
        assert (await spend(store, asks[0])).ruling is Ruling.OK

    async def test_a_store_that_is_gone_is_unavailable(self, store: Store, server: Server) -> None:
        """For decide and consume alike; afterwards the same call goes through and nothing was changed."""
        waits, granted = await asked(store), await approved(store)
        await server.kill()
        for call in (voted(store, waits), spend(store, granted), read(store, waits)):
            with pytest.raises(StoreUnavailable):
                await call
        await server.start()
        assert approval_of(await read(store, waits)).status is Status.PENDING
        assert (await voted(store, waits)).ruling is Ruling.OK
        assert (await spend(store, granted)).ruling is Ruling.OK

    async def test_a_connection_that_was_cut_is_replaced(self, store: Store, server: Server) -> None:
        """Idle connections that the server closed cost nobody an answer."""
        ask = await asked(store)
        await asyncio.gather(*(read(store, ask) for _ in range(10)))
        admin = Redis(unix_socket_path=str(server.socket))
        await admin.client_kill_filter(_type="normal", skipme=True)
        await admin.aclose()
        assert approval_of(await read(store, ask)).ask.id == ask.id

    async def test_a_late_reply_is_an_unknown_outcome(self, store: Store, server: Server) -> None:
        """Not sent again by itself: the server may yet apply it, and the caller's own retry knows."""
        ask = an_ask()
        new = a_creation(ask)
        server.process.suspend()
        with pytest.raises(StoreUnavailable):
            await store.approvals.create(ask, new, epoch=0)
        server.process.resume()
        again = await store.approvals.create(ask, new, epoch=0)
        assert (again.ruling, approval_of(again).ask.id) == (Ruling.OK, ask.id)
        page = await store.approvals.page(TENANT, "x", after=None, limit=10, epoch=0)
        assert [record.approval().ask.id for record in page.records] == [ask.id]

    async def test_replies_that_come_too_late_are_nobodys(self, store: Store, server: Server) -> None:
        """The connection they come on is gone, so they cross with no other answer."""
        one, other = await asked(store), await asked(store)
        server.process.suspend()
        with pytest.raises(StoreUnavailable):
            await read(store, one)
        server.process.resume()
        for _ in range(20):
            assert approval_of(await read(store, other)).ask.id == other.id

    @pytest.mark.parametrize("store", [20_000], indirect=True)  # a storm on a busy machine is just slow
    async def test_a_storm_leaves_the_pool_as_it_was(self, store: Store, server: Server) -> None:
        """No connection of the service's own bounded pool is lost to callers that leave (B65)."""
        ask = await asked(store)
        callers = []
        for i in range(300):
            callers.append(asyncio.create_task(read(store, ask)))
            await asyncio.sleep(0)
            callers[i // 2].cancel()
        await asyncio.wait(callers)
        await asyncio.gather(*(read(store, ask) for _ in range(2_000)))
        admin = Redis(unix_socket_path=str(server.socket))
        clients: Any = await admin.client_list()
        await admin.aclose()
        assert len(clients) <= 1 + MAX_BATCHES_IN_FLIGHT

    async def test_ping_says_whether_it_is_there(self, store: Store, server: Server) -> None:
        """Nothing, or that it is unavailable."""
        await store.ping()
        await server.kill()
        with pytest.raises(StoreUnavailable):
            await store.ping()
