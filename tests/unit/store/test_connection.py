"""What is checked of a server before anything is trusted to it."""

from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import BlockingConnectionPool
from redis.exceptions import NoPermissionError, ResponseError

from placet.settings import Durability, Secret, StoreSettings
from placet.store.connection import (
    Level,
    ServerFacts,
    confirmations,
    connect,
    judge,
    read_facts,
    reply_timeout_s,
)

INFO = {
    "redis_version": "7.2.4",
    "valkey_version": "9.1.2",
    "maxmemory_policy": "noeviction",
    "aof_enabled": 1,
    "connected_slaves": 0,
}


def settings_of(
    durability: Durability = Durability.FSYNC, replicas: int = 1, **changes: Any
) -> StoreSettings:
    """Settings that ask for this durability."""
    return StoreSettings(
        data_dir=Path("data"), durability=durability, durability_replicas=replicas, **changes
    )


def facts_of(**changes: Any) -> ServerFacts:
    """A server as the embedded one is, but for the changes."""
    members: dict[str, Any] = {
        "name": "valkey",
        "version": (9, 1, 2),
        "policy": "noeviction",
        "appendonly": True,
        "appendfsync": "always",
        "replicas": 0,
    }
    return ServerFacts(**{**members, **changes})


def level_of(subject: str, facts: ServerFacts, settings: StoreSettings | None = None) -> Level:
    """How bad the finding about one subject is."""
    (finding,) = [each for each in judge(facts, settings or settings_of()) if each.subject == subject]
    return finding.level


class TestVersion:
    """Redis from 7 on, and every Valkey."""

    @pytest.mark.parametrize(
        ("name", "version", "level"),
        [
            ("valkey", (9, 1, 2), Level.GOOD),
            ("valkey", (7, 2, 5), Level.GOOD),
            ("redis", (8, 0, 0), Level.GOOD),
            ("redis", (7, 0, 0), Level.GOOD),
            ("redis", (7, 0), Level.GOOD),
            ("redis", (6, 2, 14), Level.FAIL),
            ("redis", (), Level.FAIL),
        ],
    )
    def test_older_ones_are_refused(self, name: str, version: tuple[int, ...], level: Level) -> None:
        """They lack what the scripts need."""
        assert level_of("version", facts_of(name=name, version=version)) is level

    def test_it_is_named(self) -> None:
        """So that the operator knows which server was asked."""
        texts = [finding.text for finding in judge(facts_of(name="redis", version=(6, 2)), settings_of())]
        assert texts[0].startswith("redis 6.2 is too old")


class TestEviction:
    """No record is ever dropped to make room."""

    @pytest.mark.parametrize(
        ("policy", "level"),
        [
            ("noeviction", Level.GOOD),
            ("allkeys-lru", Level.FAIL),
            ("allkeys-lfu", Level.FAIL),
            ("allkeys-random", Level.FAIL),
            ("volatile-lru", Level.FAIL),
            ("volatile-lfu", Level.FAIL),
            ("volatile-random", Level.FAIL),
            ("volatile-ttl", Level.FAIL),
            ("of-the-future", Level.FAIL),
            (None, Level.WARN),
        ],
    )
    def test_policies_that_drop_records_are_refused(self, policy: str | None, level: Level) -> None:
        """Ended records have a TTL, so the volatile ones drop them too; an unknown policy is said."""
        assert level_of("eviction", facts_of(policy=policy)) is level


class TestDurability:
    """What was asked for must be there; what can't be read is not."""

    @pytest.mark.parametrize(
        ("changes", "level"),
        [
            ({}, Level.GOOD),
            ({"appendfsync": "everysec"}, Level.GOOD),  # WAITAOF
            ({"appendfsync": None}, Level.GOOD),  # WAITAOF tells
            ({"appendfsync": "no"}, Level.FAIL),  # WAITAOF would never be satisfied
            ({"appendonly": False}, Level.FAIL),
            ({"appendonly": None}, Level.FAIL),
            ({"name": "redis", "version": (7, 0, 15)}, Level.GOOD),
            ({"name": "redis", "version": (7, 0, 15), "appendfsync": "everysec"}, Level.FAIL),
            ({"name": "redis", "version": (7, 0, 15), "appendfsync": None}, Level.FAIL),
            ({"name": "redis", "version": (7, 2, 0), "appendfsync": "everysec"}, Level.GOOD),
        ],
    )
    @pytest.mark.parametrize("asked", [Durability.FSYNC, Durability.REPLICATED])
    def test_every_answer_on_disk(self, changes: dict[str, Any], level: Level, asked: Durability) -> None:
        """Fsync always, or a server that can be waited for; ``replicated`` asks for it too."""
        assert level_of("durability", facts_of(**changes), settings_of(asked)) is level

    @pytest.mark.parametrize(
        ("changes", "level"),
        [
            ({}, Level.GOOD),
            ({"appendfsync": "everysec"}, Level.WARN),
            ({"appendonly": False}, Level.WARN),
            ({"appendonly": None, "appendfsync": None}, Level.WARN),
        ],
    )
    def test_best_effort_takes_what_there_is(self, changes: dict[str, Any], level: Level) -> None:
        """And says what may be lost."""
        assert level_of("durability", facts_of(**changes), settings_of(Durability.BEST_EFFORT)) is level

    @pytest.mark.parametrize(
        ("replicas", "level"), [(0, Level.FAIL), (1, Level.FAIL), (2, Level.GOOD), (None, Level.GOOD)]
    )
    def test_replicas_are_counted(self, replicas: int | None, level: Level) -> None:
        """With too few nothing would ever be answered."""
        settings = settings_of(Durability.REPLICATED, 2)
        assert level_of("replication", facts_of(replicas=replicas), settings) is level

    @pytest.mark.parametrize(
        ("replicas", "wanted", "text"),
        [
            (0, 1, "0 of 1 replicas follow the server"),
            (1, 1, "Every answer is on 1 replica first; 1 follows."),
            (3, 2, "Every answer is on 2 replicas first; 3 follow."),
            (None, 1, "Every answer is on 1 replica first."),
        ],
    )
    def test_it_is_said_how_many_there_are(self, replicas: int | None, wanted: int, text: str) -> None:
        """And how many it takes."""
        findings = judge(facts_of(replicas=replicas), settings_of(Durability.REPLICATED, wanted))
        assert findings[-1].text.startswith(text)

    def test_nobody_counts_replicas_unasked(self) -> None:
        """Where none must confirm there is nothing to say."""
        subjects = [finding.subject for finding in judge(facts_of(), settings_of())]
        assert subjects == ["version", "eviction", "durability"]


class TestConfirmations:
    """What each batch waits for."""

    @pytest.mark.parametrize(
        ("asked", "appendfsync", "words"),
        [
            (Durability.BEST_EFFORT, "everysec", []),
            (Durability.BEST_EFFORT, "always", []),
            (Durability.FSYNC, "always", []),
            (Durability.FSYNC, "everysec", [("WAITAOF", 1, 0, 700)]),
            (Durability.FSYNC, None, [("WAITAOF", 1, 0, 700)]),
            (Durability.REPLICATED, "always", [("WAIT", 2, 700)]),
            (Durability.REPLICATED, "everysec", [("WAITAOF", 1, 0, 700), ("WAIT", 2, 700)]),
        ],
    )
    def test_they_follow_what_was_asked(
        self, asked: Durability, appendfsync: str | None, words: list[tuple[str | int, ...]]
    ) -> None:
        """Nothing where the server syncs before it replies."""
        settings = settings_of(asked, 2, confirm_timeout_ms=700)
        waits = confirmations(settings, facts_of(appendfsync=appendfsync))
        assert [wait.command for wait in waits] == words

    @pytest.mark.parametrize(
        ("asked", "reply", "enough"),
        [
            (Durability.FSYNC, [0, 3], False),
            (Durability.FSYNC, [1, 0], True),
            (Durability.REPLICATED, 1, False),
            (Durability.REPLICATED, 2, True),
            (Durability.REPLICATED, 3, True),
        ],
    )
    def test_a_reply_is_judged(self, asked: Durability, reply: Any, *, enough: bool) -> None:
        """The local file, or the number of replicas asked for."""
        appendfsync = "always" if asked is Durability.REPLICATED else "everysec"
        (wait,) = confirmations(settings_of(asked, 2), facts_of(appendfsync=appendfsync))
        assert wait.enough(reply) is enough


class Server:
    """A client whose server says what a test wants."""

    def __init__(self, info: dict[str, Any], config: dict[str, str] | Exception) -> None:
        self._info = info
        self._config = config

    async def info(self) -> dict[str, Any]:
        return self._info

    async def config_get(self, *_names: str) -> dict[str, str]:
        if isinstance(self._config, Exception):
            raise self._config
        return self._config


class TestFacts:
    """``INFO`` first, ``CONFIG`` for what it lacks; what neither says is unknown."""

    async def read(
        self, config: dict[str, str] | Exception | None = None, *, without: str = "", **changes: Any
    ) -> ServerFacts:
        """What is known of a server."""
        info = {name: value for name, value in {**INFO, **changes}.items() if name != without}
        client: Any = Server(info, {} if config is None else config)
        return await read_facts(client)

    async def test_a_server_that_says_everything(self) -> None:
        """Valkey names its own version besides the one of Redis that it resembles."""
        config = {"appendfsync": "everysec", "maxmemory-policy": "noeviction"}
        assert await self.read(config) == facts_of(appendfsync="everysec")

    async def test_redis_has_one_version(self) -> None:
        """And is called by its name."""
        facts = await self.read(without="valkey_version")
        assert (facts.name, facts.version) == ("redis", (7, 2, 4))

    async def test_a_version_may_have_a_tail(self) -> None:
        """Its numbers count."""
        assert (await self.read(valkey_version="9.1.0-rc2")).version == (9, 1)

    @pytest.mark.parametrize(
        "refusal", [NoPermissionError("NOPERM"), ResponseError("unknown command 'CONFIG'")]
    )
    async def test_config_may_be_refused(self, refusal: Exception) -> None:
        """Managed services often do; what it alone knows is unknown then."""
        facts = await self.read(refusal)
        assert (facts.appendfsync, facts.policy) == (None, "noeviction")

    async def test_config_fills_in(self) -> None:
        """The policy, where INFO lacks it."""
        facts = await self.read({"maxmemory-policy": "allkeys-lru"}, without="maxmemory_policy")
        assert facts.policy == "allkeys-lru"

    @pytest.mark.parametrize(
        ("name", "fact"),
        [("maxmemory_policy", "policy"), ("aof_enabled", "appendonly"), ("connected_slaves", "replicas")],
    )
    async def test_what_nobody_says_is_unknown(self, name: str, fact: str) -> None:
        """None, never a guess."""
        assert getattr(await self.read(without=name), fact) is None

    @pytest.mark.parametrize(
        ("listed", "follow"),
        [
            ({"connected_slaves": 1, "slave0": {"state": "online"}}, 1),
            ({"connected_slaves": 2, "slave0": {"state": "wait_bgsave"}, "slave1": {"state": "online"}}, 1),
            ({"connected_slaves": 1, "slave0": {"state": "send_bulk"}}, 0),
            ({"connected_slaves": 2}, 2),  # a managed service may not list them
        ],
    )
    async def test_a_replica_that_is_still_being_filled_does_not_count(
        self, listed: dict[str, Any], follow: int
    ) -> None:
        """It confirms nothing yet."""
        assert (await self.read(**listed)).replicas == follow

    @pytest.mark.parametrize(("said", "known"), [(0, False), (1, True)])
    async def test_the_append_only_file_is_on_or_off(self, said: int, *, known: bool) -> None:
        """As INFO says."""
        assert (await self.read(aof_enabled=said)).appendonly is known


class TestConnect:
    """Clients never re-send by themselves."""

    @pytest.mark.parametrize("url", [None, "redis://:secret@example.invalid:6380/2", "unix:///run/x"])
    async def test_there_are_no_retries(self, url: str | None) -> None:
        """The library would re-send scripts blindly."""
        settings = settings_of(redis_url=None if url is None else Secret(url))
        client = connect(settings, Path("data/s"))
        pool: Any = client.connection_pool
        connection = pool.make_connection()
        assert isinstance(pool, BlockingConnectionPool)
        assert (connection.retry.get_retries(), connection.retry_on_error) == (0, [])
        await client.aclose()

    async def test_the_url_is_taken_apart(self) -> None:
        """Host, port, database and password."""
        settings = settings_of(redis_url=Secret("redis://:secret@example.invalid:6380/2"))
        client = connect(settings, None)
        asked = client.connection_pool.connection_kwargs
        assert (asked["host"], asked["port"], asked["db"], asked["password"]) == (
            "example.invalid",
            6380,
            2,
            "secret",
        )
        await client.aclose()

    @pytest.mark.parametrize(("patient", "timeout_s"), [(False, 3.5), (True, None)])
    async def test_a_patient_one_waits(self, timeout_s: float | None, *, patient: bool) -> None:
        """Others wait as long as a call and its confirmation may take."""
        settings = settings_of(call_timeout_ms=2_000, confirm_timeout_ms=1_500)
        client = connect(settings, Path("data/s"), patient=patient)
        assert client.connection_pool.connection_kwargs["socket_timeout"] == timeout_s
        assert reply_timeout_s(settings) == 3.5
        await client.aclose()
