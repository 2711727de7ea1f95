"""A store that waits for a replica: what was answered outlives its primary (B67)."""

import asyncio
import socket as sockets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest
from redis.asyncio import Redis

from placet.application.readiness import Readiness
from placet.domain.errors import StoreUnavailable
from placet.domain.machine import Ruling
from placet.settings import Durability
from placet.store.opened import StoreRefused
from placet.tokens.keyring_file import KeyringFile, load_or_create
from tests.factories import T0_MS, a_creation, an_ask
from tests.fleet import META, Fleet, calls_of, opened
from tests.steps import approval_of, approved, asked, cancel, read, spend, voted

pytestmark = pytest.mark.real


class Pair:
    """A primary, its replica, and the process of each."""

    def __init__(self, primary: Path, replica: Path) -> None:
        self.primary = primary
        self.replica = replica

    async def process(self, socket: Path) -> psutil.Process:
        """The server behind a socket."""
        async with Redis(unix_socket_path=str(socket)) as client:
            return psutil.Process((await client.info("server"))["process_id"])

    async def attached(self) -> None:
        """Wait until the replica follows."""
        async with Redis(unix_socket_path=str(self.primary), socket_timeout=30) as client:
            await client.set("probe", "1")
            assert await client.wait(1, 20_000) == 1

    @asynccontextmanager
    async def lagging(self) -> AsyncIterator[None]:
        """Meanwhile the replica stands still."""
        replica = await self.process(self.replica)
        replica.suspend()
        try:
            yield
        finally:
            replica.resume()

    async def promote(self) -> None:
        """Make the replica the primary."""
        async with Redis(unix_socket_path=str(self.replica)) as client:
            await client.replicaof("NO", "ONE")


def a_free_port() -> int:
    """Replication speaks TCP only."""
    with sockets.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class TestReplicated:
    """Every answer is on a replica too, so that a failover loses none (B67)."""

    @pytest.fixture(params=["valkey", "redis"])
    async def pair(self, request: pytest.FixtureRequest, fleet: Fleet) -> Pair:
        """A primary with one replica, both syncing always."""
        port = a_free_port()
        fast = (
            "--bind",
            "127.0.0.1",
            "--repl-diskless-sync-delay",
            "0",
            "--shutdown-on-sigterm",
            "now force",
        )
        primary = fleet.run(request.param, *fast, "--port", str(port))
        pair = Pair(primary, fleet.run(request.param, *fast, "--replicaof", f"127.0.0.1 {port}"))
        await pair.attached()
        return pair

    REPLICATED = {"durability": Durability.REPLICATED, "confirm_timeout_ms": 500}  # noqa: RUF012 - constant

    async def test_a_replica_that_follows_confirms(self, pair: Pair) -> None:
        """The answer says so by being there."""
        async with opened(pair.primary, **self.REPLICATED) as store:
            ask = await asked(store)
            before = await calls_of(store.client, "wait")
            assert (await voted(store, ask)).ruling is Ruling.OK
            assert await calls_of(store.client, "wait") > before
            assert await store.client.hget(META, "mark") == b"1"
            assert (await spend(store, ask)).ruling is Ruling.OK
            assert (await spend(store, ask)).ruling is Ruling.REPLAYED

    async def test_a_replica_that_lags_makes_it_unavailable(self, pair: Pair) -> None:
        """Not a verdict: once the replica follows again, the same call finds its own work."""
        async with opened(pair.primary, **self.REPLICATED) as store:
            ask = an_ask()
            new = a_creation(ask)
            async with pair.lagging():
                with pytest.raises(StoreUnavailable):
                    await store.approvals.create(ask, new, epoch=0)
            await pair.attached()
            again = await store.approvals.create(ask, new, epoch=0)
            assert (again.ruling, approval_of(again).ask.id) == (Ruling.OK, ask.id)

    async def test_no_answer_without_a_replica(self, pair: Pair) -> None:
        """Reads assert a state as well."""
        async with opened(pair.primary, **self.REPLICATED) as store:
            ask = await asked(store)
            (await pair.process(pair.replica)).kill()
            for call in (read(store, ask), voted(store, ask)):
                with pytest.raises(StoreUnavailable):
                    await call

    async def test_what_was_answered_outlives_the_primary(self, pair: Pair) -> None:
        """A consumption that was acknowledged is there after a failover: nobody spends it again."""
        async with opened(pair.primary, **self.REPLICATED) as store:
            ask = await approved(store)
            assert (await spend(store, ask)).ruling is Ruling.OK
            (await pair.process(pair.primary)).kill()
        await pair.promote()
        async with opened(pair.replica) as store:
            assert (await spend(store, ask, execution_id="exec-2")).ruling is Ruling.CONSUMED
            assert (await spend(store, ask)).ruling is Ruling.REPLAYED

    async def test_what_the_replica_missed_was_never_answered(self, pair: Pair) -> None:
        """So the one execution that is acknowledged after the failover is the only one."""
        async with opened(pair.primary, **self.REPLICATED) as store:
            ask = await approved(store)
            async with pair.lagging():
                with pytest.raises(StoreUnavailable):
                    await spend(store, ask)
                (await pair.process(pair.primary)).kill()
        await pair.promote()
        async with opened(pair.replica) as store:
            answers = [await spend(store, ask, execution_id=f"exec-{i}") for i in (2, 3)]
        # The replica may still have had the lost call in its socket's buffer: then nobody spends it.
        assert [answer.ruling for answer in answers].count(Ruling.OK) <= 1
        assert answers[1].ruling is Ruling.CONSUMED

    async def test_a_primary_that_became_a_replica_is_no_store(self, pair: Pair) -> None:
        """Nothing is answered from what may be stale, and the link recovers with the server."""
        async with opened(pair.replica, durability=Durability.BEST_EFFORT) as store:
            ask = an_ask()
            with pytest.raises(StoreUnavailable):
                await store.approvals.create(ask, a_creation(ask), epoch=0)
            await pair.promote()
            assert (await cancel(store, await asked(store))).ruling is Ruling.OK

    async def test_too_few_replicas_are_refused(self, pair: Pair) -> None:
        """Nothing would ever be answered."""
        with pytest.raises(StoreRefused, match="1 of 2 replicas follow"):
            async with opened(pair.primary, durability_replicas=2, **self.REPLICATED):
                pass

    async def test_a_replica_that_is_lost_is_told(self, pair: Pair, tmp_path: Path) -> None:
        """For as long as it is away, and whoever asks whether we are ready."""
        async with opened(pair.primary, **self.REPLICATED) as store:
            assert await store.lacking() is None
            (await pair.process(pair.replica)).kill()
            async with asyncio.timeout(20):
                while (lacking := await store.lacking()) is None:  # noqa: ASYNC110 - the server tells nobody
                    await asyncio.sleep(0.01)
            assert lacking.startswith("0 of 1 replicas follow the server")
            load_or_create(tmp_path / "keyring.json", T0_MS)
            ring = KeyringFile(tmp_path / "keyring.json")
            assert await Readiness(store, ring, "https://here.example").faults() == [lacking]
            (await pair.process(pair.primary)).kill()
            with pytest.raises(StoreUnavailable):
                await store.lacking()

    async def test_nobody_misses_replicas_that_confirm_nothing(self, pair: Pair) -> None:
        """They were not asked for."""
        async with opened(pair.replica, durability=Durability.BEST_EFFORT) as store:
            assert await store.lacking() is None
