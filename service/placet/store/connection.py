"""Connections to the server, and what is checked of it before anything is trusted to it.

``INFO`` is asked first and ``CONFIG`` for what it lacks; managed services often refuse ``CONFIG``, so
what can't be read is *unknown*, which is said, and is not enough where durability was asked for.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from msgspec import Struct
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.connection import UnixDomainSocketConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from placet.settings import Durability, StoreSettings
from placet.store.link import MAX_BATCHES_IN_FLIGHT, Confirmation

MIN_VERSION = (7, 0)
"""Redis 7: functions of the stream and ``PEXPIRE GT``. Every Valkey (7.2 on) has them."""
WAITAOF_VERSION = (7, 2)
KEEPING_POLICIES = frozenset({"noeviction"})
"""Eviction policies that never drop a record. The ``volatile-`` ones do: ended records have a TTL."""
_SPARE_CONNECTIONS = 4

_NO_RETRY = Retry(NoBackoff(), 0)  # the library would re-send scripts blindly


class Level(StrEnum):
    """How bad a finding is."""

    GOOD = "good"
    WARN = "warn"
    FAIL = "fail"


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that was looked at: how it stands, and what to do where it does not stand well."""

    level: Level
    subject: str
    text: str


class ServerFacts(Struct, frozen=True, kw_only=True):
    """What is known of the server; ``None`` where it would not say."""

    name: str
    version: tuple[int, ...]
    policy: str | None
    appendonly: bool | None
    appendfsync: str | None
    replicas: int | None


def reply_timeout_s(settings: StoreSettings) -> float:
    """Longest wait for a reply, its confirmation included."""
    return (settings.call_timeout_ms + settings.confirm_timeout_ms) / 1000


def connect(settings: StoreSettings, socket_path: Path | None, *, patient: bool = False) -> Redis:
    """A client with no retries of its own, over the socket of the embedded server or the URL.

    A ``patient`` one waits for a reply as long as it takes: for blocking reads, and for the link, which
    has a timer of its own.
    """
    timeout_s = None if patient else reply_timeout_s(settings)
    shared: dict[str, Any] = {
        "max_connections": MAX_BATCHES_IN_FLIGHT + _SPARE_CONNECTIONS,
        "timeout": settings.connect_timeout_ms / 1000,
        "socket_timeout": timeout_s,
        "socket_connect_timeout": settings.connect_timeout_ms / 1000,
        "retry": _NO_RETRY,
        "retry_on_error": [],
        "health_check_interval": 0,
    }
    if settings.redis_url is not None:
        pool = BlockingConnectionPool.from_url(settings.redis_url.reveal(), **shared)
    else:
        pool = BlockingConnectionPool(
            connection_class=UnixDomainSocketConnection, path=str(socket_path), **shared
        )
    return Redis.from_pool(pool)


def confirmations(settings: StoreSettings, facts: ServerFacts) -> Sequence[Confirmation]:
    """What each batch waits for. Nothing where the server syncs its file before it replies."""
    timeout_ms = settings.confirm_timeout_ms
    waits: list[Confirmation] = []
    if settings.durability is Durability.BEST_EFFORT:
        return waits
    if facts.appendfsync != "always":
        waits.append(Confirmation(("WAITAOF", 1, 0, timeout_ms), lambda reply: reply[0] >= 1))
    if wanted := replicas_wanted(settings):
        waits.append(Confirmation(("WAIT", wanted, timeout_ms), lambda reply: reply >= wanted))
    return waits


async def read_facts(client: Redis) -> ServerFacts:
    """Ask the server what it is.

    Raises:
        RedisError, OSError: It can't be reached.
    """
    info: Mapping[str, Any] = await client.info()
    known = await _config(client)
    name = "valkey" if "valkey_version" in info else "redis"
    text = str(info.get("valkey_version") or info["redis_version"])
    aof = info.get("aof_enabled")
    return ServerFacts(
        name=name,
        version=tuple(int(part) for part in text.split(".")[:3] if part.isdigit()),
        policy=info.get("maxmemory_policy") or known.get("maxmemory-policy"),
        appendonly=bool(aof) if aof is not None else None,
        appendfsync=known.get("appendfsync"),
        replicas=followers(info),
    )


def followers(info: Mapping[str, Any]) -> int | None:
    """How many replicas follow, by the section ``replication`` of ``INFO``; ``None`` where it doesn't say.

    One that is still being sent what there is (``wait_bgsave``, ``send_bulk``) can't confirm anything yet.
    """
    if "connected_slaves" not in info:
        return None
    listed = [info.get(f"slave{place}") for place in range(info["connected_slaves"])]
    return len([each for each in listed if not isinstance(each, dict) or each.get("state") == "online"])


def replicas_wanted(settings: StoreSettings) -> int:
    """How many replicas must have confirmed whatever is answered."""
    return settings.durability_replicas if settings.durability is Durability.REPLICATED else 0


async def _config(client: Redis) -> Mapping[str, str]:
    try:
        found = await client.config_get("appendfsync", "maxmemory-policy")
    except RedisError:
        return {}
    return {str(name): str(value) for name, value in found.items()}


def judge(facts: ServerFacts, settings: StoreSettings) -> list[Finding]:
    """What of the server is good enough, and what is not. Any :attr:`Level.FAIL` refuses to start."""
    findings = [_version(facts), _eviction(facts), *_persistence(facts, settings)]
    wanted = replicas_wanted(settings)
    return [*findings, replication(facts.replicas, wanted)] if wanted else findings


def _version(facts: ServerFacts) -> Finding:
    shown = f"{facts.name} {'.'.join(map(str, facts.version))}"
    if facts.version >= MIN_VERSION:
        return Finding(level=Level.GOOD, subject="version", text=shown)
    return Finding(
        level=Level.FAIL, subject="version", text=f"{shown} is too old: use Valkey, or Redis 7 or later."
    )


def _eviction(facts: ServerFacts) -> Finding:
    if facts.policy is None:
        text = "The eviction policy can't be read: make sure that it is noeviction."
        return Finding(level=Level.WARN, subject="eviction", text=text)
    if facts.policy in KEEPING_POLICIES:
        return Finding(level=Level.GOOD, subject="eviction", text=f"{facts.policy}: no record is dropped.")
    text = f"{facts.policy} drops records when memory is short: set maxmemory-policy noeviction."
    return Finding(level=Level.FAIL, subject="eviction", text=text)


def _persistence(facts: ServerFacts, settings: StoreSettings) -> list[Finding]:
    asked = settings.durability
    always = facts.appendonly is True and facts.appendfsync == "always"
    # With appendfsync no the server never says that anything is on disk: every wait would run out.
    syncs = facts.appendonly is True and facts.appendfsync != "no"
    can_wait = syncs and facts.version >= WAITAOF_VERSION
    if asked is Durability.BEST_EFFORT:
        level = Level.GOOD if always else Level.WARN
        text = (
            "Every answer is on disk (appendfsync always)."
            if always
            else "Answers may be lost in a crash: set appendonly yes and appendfsync always on the server."
        )
        return [Finding(level=level, subject="durability", text=text)]
    if always or can_wait:
        how = "appendfsync always" if always else "WAITAOF"
        return [
            Finding(level=Level.GOOD, subject="durability", text=f"Every answer is on disk first ({how}).")
        ]
    text = (
        f"PLACET_DURABILITY={asked} needs appendonly yes and appendfsync always"
        " (from version 7.2 on everysec is enough)."
    )
    return [Finding(level=Level.FAIL, subject="durability", text=text)]


def replication(following: int | None, wanted: int) -> Finding:
    """Whether as many replicas follow as must confirm every answer."""
    if following is None or following >= wanted:
        shown = "" if following is None else f"; {following} follow{'s' if following == 1 else ''}"
        text = f"Every answer is on {wanted} replica{'s' if wanted > 1 else ''} first{shown}."
        return Finding(level=Level.GOOD, subject="replication", text=text)
    text = (
        f"{following} of {wanted} replicas follow the server, and every answer waits for {wanted}: attach "
        "more, or ask for less with PLACET_DURABILITY or PLACET_DURABILITY_REPLICAS."
    )
    return Finding(level=Level.FAIL, subject="replication", text=text)
