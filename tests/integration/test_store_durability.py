"""What a store that is opened has checked and waits for, on servers of every configuration."""

import asyncio
import socket as sockets
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest
from redis.asyncio import Redis

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import Limits
from placet.domain.machine import Ruling
from placet.settings import Durability, Secret, StoreSettings
from placet.store.connection import Level, ServerFacts, connect, read_facts
from placet.store.opened import Store, StoreRefused, inspect, open_store
from tests import servers
from tests.factories import a_creation, an_ask
from tests.steps import approval_of, approved, asked, cancel, read, spend, voted
from tests.tools import require

pytestmark = pytest.mark.real

EVERYSEC = ("--appendfsync", "everysec")
META = "{placet:default}:m"


class Machine:
    """Servers of one test, each in a directory of its own."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._exits = ExitStack()

    def run(self, kind: str, *options: str) -> Path:
        """Start a ``valkey`` or a ``redis``; its socket."""
        binary = servers.valkey_binary() if kind == "valkey" else servers.redis_binary()
        require(binary is not None, kind)
        directory = self._root / f"{kind}-{len(list(self._root.iterdir()))}"
        directory.mkdir()
        return self._exits.enter_context(servers.running(str(binary), directory, *options))

    def stop(self) -> None:
        """End them all."""
        self._exits.close()


@pytest.fixture
def servers_of(tmp_path: Path) -> Iterator[Machine]:
    """Servers that end with the test."""
    machine = Machine(tmp_path)
    yield machine
    machine.stop()


def settings_of(socket: Path, **changes: Any) -> StoreSettings:
    """Settings of a store on ``socket`` that is not patient."""
    members = {"call_timeout_ms": 2_000, "confirm_timeout_ms": 1_500, **changes}
    return StoreSettings(data_dir=socket.parent, **members)


@asynccontextmanager
async def opened(socket: Path, **changes: Any) -> AsyncIterator[Store]:
    """A store as the service opens it."""
    store = await open_store(
        settings_of(socket, **changes),
        Limits(),
        socket_path=socket,
        clock=None,
        heard=lambda _: None,
        observe=lambda _calls, _seconds: None,
    )
    try:
        yield store
    finally:
        await store.close()


async def calls_of(client: Redis, command: str) -> int:
    """How often the server has run a command."""
    stats: Any = await client.info("commandstats")
    return int(stats.get(f"cmdstat_{command}", {"calls": 0})["calls"])


class TestFacts:
    """What real servers say of themselves."""

    async def facts(self, socket: Path) -> ServerFacts:
        """Read by the service's own client."""
        client = connect(settings_of(socket), socket)
        try:
            return await read_facts(client)
        finally:
            await client.aclose()

    async def test_valkey(self, valkey_socket: Path) -> None:
        """By its own name and version."""
        facts = await self.facts(valkey_socket)
        assert (facts.name, facts.version >= (9, 0)) == ("valkey", True)
        assert (facts.policy, facts.appendonly, facts.appendfsync, facts.replicas) == (
            "noeviction",
            True,
            "always",
            0,
        )

    async def test_redis(self, redis_socket: Path) -> None:
        """By its one version."""
        facts = await self.facts(redis_socket)
        assert (facts.name, facts.version >= (7, 0)) == ("redis", True)
        assert (facts.policy, facts.appendonly, facts.appendfsync) == ("noeviction", True, "always")

    @pytest.mark.parametrize("kind", ["valkey", "redis"])
    async def test_config_may_be_refused(self, servers_of: Machine, kind: str) -> None:
        """What it alone knows is unknown then; INFO still tells of policy and append-only file."""
        socket = servers_of.run(kind, "--rename-command", "CONFIG", "")
        facts = await self.facts(socket)
        assert (facts.policy, facts.appendonly, facts.appendfsync) == ("noeviction", True, None)


class TestOpening:
    """A server that is not fit is refused with what to do."""

    @pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
    async def test_evicting_servers_are_refused(self, servers_of: Machine, policy: str) -> None:
        """They would drop records."""
        socket = servers_of.run("valkey", "--maxmemory-policy", policy)
        with pytest.raises(StoreRefused, match=f"{policy} drops records .* set maxmemory-policy noeviction"):
            async with opened(socket):
                pass

    @pytest.mark.parametrize(
        ("kind", "options"),
        [
            ("valkey", ("--appendonly", "no")),
            ("valkey", ("--appendfsync", "no")),
            ("redis", ("--appendonly", "no")),
            ("redis", EVERYSEC),
        ],
    )
    async def test_forgetful_servers_are_refused(
        self, servers_of: Machine, kind: str, options: tuple[str, ...]
    ) -> None:
        """Where ``fsync`` is asked for; with ``best-effort`` they are taken, with a warning."""
        socket = servers_of.run(kind, *options)
        with pytest.raises(StoreRefused, match="PLACET_DURABILITY=fsync needs appendonly yes"):
            async with opened(socket):
                pass
        async with opened(socket, durability=Durability.BEST_EFFORT) as store:
            assert Level.WARN in {finding.level for finding in store.findings}
            await asked(store)

    async def test_no_server_is_refused(self, tmp_path: Path) -> None:
        """The message says where it was looked for."""
        with pytest.raises(StoreRefused, match="the embedded store can't be reached"):
            await inspect(settings_of(tmp_path / "s"), tmp_path / "s")

    async def test_no_server_behind_the_url_is_refused(self, tmp_path: Path) -> None:
        """And never shows the URL, which may hold a password."""
        settings = settings_of(tmp_path / "s", redis_url=Secret(f"unix://:hunter2@{tmp_path}/nothing"))
        with pytest.raises(StoreRefused, match="the server of PLACET_REDIS_URL can't be reached") as caught:
            await inspect(settings, None)
        assert "hunter2" not in str(caught.value)

    async def test_a_fit_server_is_opened(self, valkey_socket: Path) -> None:
        """By URL too."""
        url = Secret(f"unix://{valkey_socket}")
        async with opened(valkey_socket, redis_url=url) as store:
            assert {finding.level for finding in store.findings} == {Level.GOOD}
            await store.ping()


class TestFsync:
    """Every answer is on disk first."""

    async def test_a_server_that_syncs_is_not_waited_for(self, servers_of: Machine) -> None:
        """With appendfsync always its reply is the confirmation."""
        async with opened(servers_of.run("valkey")) as store:
            await asked(store)
            assert await calls_of(store.client, "waitaof") == 0
            assert await store.client.hget(META, "mark") is None

    async def test_a_server_that_syncs_every_second_is_waited_for(self, servers_of: Machine) -> None:
        """With WAITAOF, on the connection that wrote."""
        async with opened(servers_of.run("valkey", *EVERYSEC)) as store:
            await asked(store)
            before = await calls_of(store.client, "waitaof")
            await asked(store)
            assert await calls_of(store.client, "waitaof") == before + 1

    async def test_a_replay_is_confirmed_too(self, servers_of: Machine) -> None:
        """It writes nothing of its own, so a marker is written for it to wait for."""
        async with opened(servers_of.run("valkey", *EVERYSEC)) as store:
            ask = await approved(store)
            await spend(store, ask)
            await store.client.hdel(META, "mark")
            before = await calls_of(store.client, "waitaof")
            assert (await spend(store, ask)).ruling is Ruling.REPLAYED
            assert await store.client.hget(META, "mark") == b"1"
            assert await calls_of(store.client, "waitaof") == before + 1

    async def test_a_batch_waits_once(self, servers_of: Machine) -> None:
        """However many calls travel together."""
        async with opened(servers_of.run("valkey", *EVERYSEC)) as store:
            await asked(store)
            before = await calls_of(store.client, "waitaof")
            await asyncio.gather(*(asked(store) for _ in range(20)))
            assert await calls_of(store.client, "waitaof") == before + 1

    async def test_a_file_that_was_turned_off_is_noticed(self, servers_of: Machine) -> None:
        """Nothing is answered that may be lost; once it is on again, retries go through."""
        async with opened(servers_of.run("valkey", *EVERYSEC)) as store:
            ask = an_ask()
            new = a_creation(ask)
            await store.client.config_set("appendonly", "no")
            with pytest.raises(StoreUnavailable):
                await store.approvals.create(ask, new, epoch=0)
            await store.client.config_set("appendonly", "yes")
            await until_rewritten(store.client)
            assert (await store.approvals.create(ask, new, epoch=0)).ruling is Ruling.OK


async def until_rewritten(client: Redis) -> None:
    """Turning the file on writes it anew, which takes a moment."""
    async with asyncio.timeout(20):
        while True:
            facts: Any = await client.info("persistence")
            if not facts["aof_rewrite_in_progress"] and not facts["aof_rewrite_scheduled"]:
                return
            await asyncio.sleep(0.02)


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
    async def pair(self, request: pytest.FixtureRequest, servers_of: Machine) -> Pair:
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
        primary = servers_of.run(request.param, *fast, "--port", str(port))
        pair = Pair(primary, servers_of.run(request.param, *fast, "--replicaof", f"127.0.0.1 {port}"))
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

    async def test_too_few_replicas_are_a_warning(self, pair: Pair) -> None:
        """More may attach; each answer waits for them anyway."""
        async with opened(pair.primary, durability_replicas=2, **self.REPLICATED) as store:
            (finding,) = [each for each in store.findings if each.subject == "replication"]
            assert (finding.level, "1 replicas" in finding.text) == (Level.WARN, True)
            with pytest.raises(StoreUnavailable):
                await asked(store)


async def test_a_full_server_is_unavailable(servers_of: Machine) -> None:
    """Out of memory is no verdict and leaves nothing half-written; with room again it goes on."""
    async with opened(servers_of.run("valkey")) as store:
        waits = await asked(store)
        used: Any = await store.client.info("memory")
        await store.client.config_set("maxmemory", str(used["used_memory"] // 2))
        ask = an_ask()
        with pytest.raises(StoreUnavailable):
            await store.approvals.create(ask, a_creation(ask), epoch=0)
        with pytest.raises(StoreUnavailable):
            await voted(store, waits)
        await store.client.config_set("maxmemory", "0")
        assert (await read(store, ask)).ruling is Ruling.MISSING
        assert approval_of(await read(store, waits)).votes == ()
        assert (await voted(store, waits)).ruling is Ruling.OK
