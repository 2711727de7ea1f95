"""A second replica, in this process, over the store of a service: it prepares what is measured."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from placet.application.callers import Caller
from placet.application.commands import Consume, Create, Decide
from placet.application.consume import ConsumeApproval
from placet.application.decide import DecideApproval
from placet.application.grants import Seals
from placet.application.request import RequestApproval
from placet.application.rights import Judged, Rights
from placet.bootstrap import Services, open_services
from placet.domain.model import Verdict
from placet.domain.principals import Approver, Client, Scope
from placet.store.approvals import Approvals
from placet.store.embedded import attach
from placet.store.opened import open_store
from tests.benchmarks import samples
from tests.benchmarks.client import Connection
from tests.benchmarks.doors import Nowhere, Recording, stopped
from tests.benchmarks.processes import Failed
from tests.benchmarks.service import Service

TENANT = "default"
_AT_ONCE = 200
_CONNECTIONS = 32
_OK = 200

T = TypeVar("T")


class Credentials(Struct, frozen=True, kw_only=True):
    """Of a runtime that asks and consumes, a person who decides, an auditor who reads everything."""

    runtime: str
    person: str
    auditor: str


class Pending(Struct, frozen=True, kw_only=True):
    """A question that waits: its id, and what a decision on it must name."""

    id: str
    digest: str


class Approved(Struct, frozen=True, kw_only=True):
    """An approved question, and what was presented with it."""

    id: str
    digest: str
    number: int

    @property
    def presented(self) -> dict[str, Any]:
        """The call that is to be presented again."""
        return samples.presented(self.number)

    @property
    def run(self) -> str:
        """Its run."""
        return samples.run_of(self.number)


class Grant(Struct, frozen=True, kw_only=True):
    """An approved question: its id, and the body that consumes it."""

    id: str
    body: dict[str, Any]


class Lifecycle(Struct, frozen=True, kw_only=True):
    """What an approval's create, decision and consumption sent to the store, and what of it is its own.

    ``document_bytes`` is the size of what it keeps: the input, and the documents of its log.
    """

    commands: tuple[bytes, ...]
    id: str
    run: str
    document_bytes: int


class _Granting(Rights):
    """Knows of every grant that it can be used, so that nobody has to look at its record first."""

    def known(self, caller: Caller, approval_id: str) -> Judged:
        """Of any."""
        return Judged(epoch=caller.epoch, refusal=None, claimed=samples.EFFECT, effect=samples.EFFECT)


class Replica:
    """Use cases over the service's store, and callers enrolled there.

    Attributes:
        services: Everything a service is made of.
        credentials: Of the callers, for whoever sends requests.
    """

    def __init__(self, services: Services, credentials: Credentials, runtime: Caller, person: Caller) -> None:
        self.services = services
        self.credentials = credentials
        self._runtime = runtime
        self._person = person
        self._number = 0
        self._port = services.settings.server.port
        self._nowhere = Approvals(Nowhere(), services.settings.limits)
        self._seals, self._rights = Seals(services.ring), _Granting()

    def numbers(self, count: int) -> range:
        """Numbers of questions that nobody has asked yet."""
        self._number += count
        return range(self._number - count, self._number)

    async def pending(self, count: int) -> list[Pending]:
        """Ask ``count`` questions."""
        return await _in_batches(self._ask, self.numbers(count))

    async def approved(self, count: int) -> list[Approved]:
        """Ask ``count`` questions, and approve them."""
        return await _in_batches(self._approve, self.numbers(count))

    async def grants(self, count: int) -> list[Grant]:
        """The same, with the tokens that the service gave for them, as a runtime fetches them."""
        left = iter(await self.approved(count))
        made: list[Grant] = []
        await asyncio.gather(*(self._fetch(left, made) for _ in range(_CONNECTIONS)))
        return made

    async def _ask(self, number: int) -> Pending:
        asked = await self._create(self.services.request, number)
        return Pending(id=asked.approval.ask.id, digest=asked.approval.digest)

    async def _approve(self, number: int) -> Approved:
        pending = await self._ask(number)
        decision = Decide(decision=Verdict.APPROVE, digest=pending.digest)
        await self.services.decide(self._person, pending.id, decision)
        return Approved(id=pending.id, digest=pending.digest, number=number)

    async def _fetch(self, left: Iterator[Approved], made: list[Grant]) -> None:
        connection = await Connection.open(self._port)
        for approved in left:
            get = samples.request("GET", f"/v1/approvals/{approved.id}", self.credentials.runtime)
            status, body = await connection.call(get)
            if status != _OK:
                raise Failed(f"a granted approval was answered {status}: {body.decode(errors='replace')}")
            token = msgspec.json.decode(body)["token"]
            made.append(Grant(id=approved.id, body=samples.consumption(approved.number, token)))
        connection.close()

    def _create(self, use: RequestApproval, number: int) -> Any:
        admitted = samples.question(number)
        return use(self._runtime, self._client, msgspec.convert(admitted, Create), admitted, None)

    async def get_command(self, approval_id: str) -> bytes:
        """What a get sends to the store."""
        return await stopped(self._nowhere.get(TENANT, approval_id, epoch=self._runtime.epoch))

    async def create_command(self, number: int) -> bytes:
        """What asking question ``number`` sends to the store."""
        services = self.services
        use = RequestApproval(self._nowhere, self._seals, services.settings.limits)
        return await stopped(self._create(use, number))

    async def consume_command(self, grant: Grant) -> bytes:
        """What consuming ``grant`` sends to the store."""
        use = ConsumeApproval(self._nowhere, self._rights, self._seals, self.services.ring, self._issuer)
        body = msgspec.convert(grant.body, Consume)
        return await stopped(use(self._runtime, self._client, grant.id, body))

    async def lifecycle(self) -> Lifecycle:
        """Ask, approve and consume one question, and tell what was sent to the store for it."""
        services, limits = self.services, self.services.settings.limits
        recorder = Recording(services.store.link)
        store = Approvals(recorder, limits)
        [number] = self.numbers(1)
        asked = await self._create(RequestApproval(store, self._seals, limits), number)
        ask = asked.approval.ask
        decide = DecideApproval(store, self._seals, limits)
        await decide(self._person, ask.id, Decide(decision=Verdict.APPROVE, digest=asked.approval.digest))
        seen = await services.read.get(self._runtime, ask.id)
        body = msgspec.convert(samples.consumption(number, seen.token or ""), Consume)
        await ConsumeApproval(store, self._rights, self._seals, services.ring, self._issuer)(
            self._runtime, self._client, ask.id, body
        )
        record = (await services.store.approvals.get(TENANT, ask.id, epoch=None)).record
        assert record is not None
        documents = [line.split(b" ", 2)[2] for line in record.log]
        return Lifecycle(
            commands=tuple(recorder.sent[name] for name in ("create", "decide", "consume")),
            id=ask.id,
            run=ask.run or "",
            document_bytes=len(record.input or b"") + sum(map(len, documents)),
        )

    @property
    def _client(self) -> Client:
        return cast("Client", self._runtime.principal)

    @property
    def _issuer(self) -> str:
        return self.services.settings.server.public_url


@asynccontextmanager
async def attached(service: Service) -> AsyncIterator[Replica]:
    """A replica beside a service, with its callers enrolled; closed at the end."""
    settings = service.settings
    async with attach(settings.store.data_dir) as socket_path:
        store = await open_store(
            settings.store,
            settings.limits,
            socket_path=socket_path,
            clock=None,
            heard=lambda _transition: None,
            observe=lambda _calls, _seconds: None,
        )
        services = await open_services(settings, store=lambda _heard: store)
        try:
            credentials = await _enroll(services)
            yield Replica(
                services,
                credentials,
                await services.directory.authenticate(credentials.runtime),
                await services.directory.authenticate(credentials.person),
            )
        finally:
            await services.close()


async def _enroll(services: Services) -> Credentials:
    runtime = Client(tenant=TENANT, name="runtime", scopes=frozenset({Scope.REQUEST, Scope.CONSUME}))
    auditor = Client(tenant=TENANT, name="auditor", scopes=frozenset({Scope.READ, Scope.READ_INPUT}))
    person = Approver(tenant=TENANT, id="ann", display_name="Ann")
    return Credentials(
        runtime=(await services.enrolment.create(runtime)).credential,
        auditor=(await services.enrolment.create(auditor)).credential,
        person=(await services.enrolment.create(person)).credential,
    )


async def _in_batches(make: Callable[[int], Awaitable[T]], numbers: range) -> list[T]:
    made: list[T] = []
    for first in range(0, len(numbers), _AT_ONCE):
        made += await asyncio.gather(*map(make, numbers[first : first + _AT_ONCE]))
    return made
