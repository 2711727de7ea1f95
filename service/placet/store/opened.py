"""A store in use: its connections and what works through them, opened and closed together."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

from placet.domain.errors import StoreUnavailable
from placet.domain.limits import Limits
from placet.settings import StoreSettings
from placet.store.approvals import Approvals
from placet.store.clock import Clocks
from placet.store.connection import (
    Finding,
    Level,
    ServerFacts,
    confirmations,
    connect,
    followers,
    judge,
    read_facts,
    replicas_wanted,
    replication,
    reply_timeout_s,
)
from placet.store.deliveries import Deliveries
from placet.store.link import Link
from placet.store.outbox import Outbox
from placet.store.principals import Principals
from placet.store.registry import Registry
from placet.store.stream import StreamReader, Transition


class StoreRefused(Exception):  # noqa: N818 - reads as what happened
    """The server can't be reached, or is not fit to keep approvals; the message says what to do."""


class Store(Struct, frozen=True, kw_only=True):
    """Everything that works through one server."""

    client: Redis
    link: Link
    approvals: Approvals
    clocks: Clocks
    principals: Principals
    registry: Registry
    stream: StreamReader
    deliveries: Deliveries
    outbox: Outbox
    findings: tuple[Finding, ...] = ()
    replicas: int = 0
    """How many of the server's must confirm every answer."""

    async def ping(self) -> None:
        """Nothing, where the server answers.

        Raises:
            StoreUnavailable: It does not.
        """
        try:
            await self.client.ping()
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault

    async def lacking(self) -> str | None:
        """What the server has no more, though every answer waits for it, and what to do; ``None``: nothing.

        Raises:
            StoreUnavailable: It can't be asked.
        """
        if not self.replicas:
            return None
        try:
            following = followers(await self.client.info("replication"))
        except (RedisError, OSError) as fault:
            raise StoreUnavailable from fault
        finding = replication(following, self.replicas)
        return None if finding.level is Level.GOOD else finding.text

    async def close(self) -> None:
        """Answer what was asked, then let the connections go."""
        await self.link.close()
        await self.stream.stop()
        await self.outbox.close()
        await self.client.aclose()


async def inspect(settings: StoreSettings, socket_path: Path | None) -> tuple[ServerFacts, list[Finding]]:
    """What the server is, and how fit.

    Raises:
        StoreRefused: It can't be reached.
    """
    client = connect(settings, socket_path)
    try:
        facts = await read_facts(client)
    except (RedisError, OSError) as fault:
        where = "the embedded store" if settings.embedded else "the server of PLACET_REDIS_URL"
        raise StoreRefused(f"{where} {_why_not(fault)}") from fault
    finally:
        await client.aclose()
    return facts, judge(facts, settings)


def _why_not(fault: Exception) -> str:
    """What is wrong with a connection, and what to do."""
    # The library may hand on what the server said as the cause of a broken connection.
    for each in (fault, fault.__cause__):
        if isinstance(each, AuthenticationError):
            return "refuses the user or the password in it: set the right ones there."
        if isinstance(each, NoPermissionError):
            return "does not let its user ask INFO: extend that user's ACL."
    return f"can't be reached ({type(fault).__name__}): check that it runs and the URL is right."


async def open_store(
    settings: StoreSettings,
    limits: Limits,
    *,
    socket_path: Path | None,
    clock: Callable[[], int] | None,
    heard: Callable[[Transition], None],
    observe: Callable[[int, float], None],
) -> Store:
    """Connect, check, and put together.

    Raises:
        StoreRefused: The server can't be reached, or is not fit: the message says what to do.
    """
    facts, findings = await inspect(settings, socket_path)
    failed = [finding.text for finding in findings if finding.level is Level.FAIL]
    if failed:
        raise StoreRefused(" ".join(failed))
    link = Link(
        connect(settings, socket_path, patient=True),
        timeout_s=reply_timeout_s(settings),
        confirmations=confirmations(settings, facts),
        observe=observe,
    )
    clients = Clients(
        plain=connect(settings, socket_path),
        stream=connect(settings, socket_path, patient=True),
        outbox=connect(settings, socket_path, patient=True),
    )
    return assemble(
        clients,
        link,
        limits,
        clock=clock,
        heard=heard,
        findings=tuple(findings),
        replicas=replicas_wanted(settings),
    )


class Clients(NamedTuple):
    """Clients of the server: for single commands, and one for each that holds a connection while it waits."""

    plain: Redis
    stream: Redis
    outbox: Redis


def assemble(
    clients: Clients,
    link: Link,
    limits: Limits,
    *,
    clock: Callable[[], int] | None,
    heard: Callable[[Transition], None],
    findings: tuple[Finding, ...] = (),
    replicas: int = 0,
) -> Store:
    """A store over clients that are already there."""
    return Store(
        client=clients.plain,
        link=link,
        approvals=Approvals(link, limits, clock),
        clocks=Clocks(link, limits, clock),
        principals=Principals(link),
        registry=Registry(clients.plain),
        stream=StreamReader(clients.stream, heard),
        deliveries=Deliveries(link, clock),
        outbox=Outbox(clients.outbox),
        findings=findings,
        replicas=replicas,
    )
