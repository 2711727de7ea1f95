"""What a store that is opened has checked and waits for, on servers of every configuration."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.domain.errors import StoreUnavailable
from placet.domain.machine import Ruling
from placet.settings import Durability, Secret
from placet.store.connection import Level, ServerFacts, connect, read_facts
from placet.store.opened import StoreRefused, inspect
from tests.factories import a_creation, an_ask
from tests.fleet import EVERYSEC, META, Fleet, calls_of, opened, settings_of
from tests.steps import approval_of, approved, asked, read, spend, voted

pytestmark = pytest.mark.real


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
    async def test_config_may_be_refused(self, fleet: Fleet, kind: str) -> None:
        """What it alone knows is unknown then; INFO still tells of policy and append-only file."""
        socket = fleet.run(kind, "--rename-command", "CONFIG", "")
        facts = await self.facts(socket)
        assert (facts.policy, facts.appendonly, facts.appendfsync) == ("noeviction", True, None)


class TestOpening:
    """A server that is not fit is refused with what to do."""

    @pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
    async def test_evicting_servers_are_refused(self, fleet: Fleet, policy: str) -> None:
        """They would drop records."""
        socket = fleet.run("valkey", "--maxmemory-policy", policy)
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
        self, fleet: Fleet, kind: str, options: tuple[str, ...]
    ) -> None:
        """Where ``fsync`` is asked for; with ``best-effort`` they are taken, with a warning."""
        socket = fleet.run(kind, *options)
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

    async def test_a_wrong_password_is_said_to_be_that(self, fleet: Fleet) -> None:
        """Whether there is none or another; neither is repeated."""
        socket = fleet.run("valkey", "--requirepass", "hunter2")
        for given in ("", ":hunter3@"):
            settings = settings_of(socket, redis_url=Secret(f"unix://{given}{socket}"))
            with pytest.raises(StoreRefused, match="refuses the user or the password") as caught:
                await inspect(settings, None)
            assert "hunter" not in str(caught.value)

    async def test_a_user_that_may_not_look_is_said_to_be_that(self, fleet: Fleet) -> None:
        """Its rights are the server's to change."""
        socket = fleet.run("valkey", "--user", "looker", "on", "nopass", "~*", "+@all", "-info")
        settings = settings_of(socket, redis_url=Secret(f"unix://looker:x@{socket}"))
        with pytest.raises(StoreRefused, match="does not let its user ask INFO"):
            await inspect(settings, None)

    async def test_a_fit_server_is_opened(self, valkey_socket: Path) -> None:
        """By URL too."""
        url = Secret(f"unix://{valkey_socket}")
        async with opened(valkey_socket, redis_url=url) as store:
            assert {finding.level for finding in store.findings} == {Level.GOOD}
            await store.ping()


class TestFsync:
    """Every answer is on disk first."""

    async def test_a_server_that_syncs_is_not_waited_for(self, fleet: Fleet) -> None:
        """With appendfsync always its reply is the confirmation."""
        async with opened(fleet.run("valkey")) as store:
            await asked(store)
            assert await calls_of(store.client, "waitaof") == 0
            assert await store.client.hget(META, "mark") is None

    async def test_a_server_that_syncs_every_second_is_waited_for(self, fleet: Fleet) -> None:
        """With WAITAOF, on the connection that wrote."""
        async with opened(fleet.run("valkey", *EVERYSEC)) as store:
            await asked(store)
            before = await calls_of(store.client, "waitaof")
            await asked(store)
            assert await calls_of(store.client, "waitaof") == before + 1

    async def test_a_replay_is_confirmed_too(self, fleet: Fleet) -> None:
        """It writes nothing of its own, so a marker is written for it to wait for."""
        async with opened(fleet.run("valkey", *EVERYSEC)) as store:
            ask = await approved(store)
            await spend(store, ask)
            await store.client.hdel(META, "mark")
            before = await calls_of(store.client, "waitaof")
            assert (await spend(store, ask)).ruling is Ruling.REPLAYED
            assert await store.client.hget(META, "mark") == b"1"
            assert await calls_of(store.client, "waitaof") == before + 1

    async def test_a_batch_waits_once(self, fleet: Fleet) -> None:
        """However many calls travel together."""
        async with opened(fleet.run("valkey", *EVERYSEC)) as store:
            await asked(store)
            before = await calls_of(store.client, "waitaof")
            await asyncio.gather(*(asked(store) for _ in range(20)))
            assert await calls_of(store.client, "waitaof") == before + 1

    async def test_a_file_that_was_turned_off_is_noticed(self, fleet: Fleet) -> None:
        """Nothing is answered that may be lost; once it is on again, retries go through."""
        async with opened(fleet.run("valkey", *EVERYSEC)) as store:
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


async def test_a_full_server_is_unavailable(fleet: Fleet) -> None:
    """Out of memory is no verdict and leaves nothing half-written; with room again it goes on."""
    async with opened(fleet.run("valkey")) as store:
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
