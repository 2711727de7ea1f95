"""The whole service in one process: a store, the real application, and people and programs who call it.

Nothing runs by itself: no stream reader, no sweeper. A test starts what it is about, and moves the clock.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from fakeredis import FakeAsyncRedis
from msgspec import structs
from redis.asyncio import Redis

from placet.app import create_app
from placet.application.rulebooks import Source
from placet.bootstrap import Services, open_services
from placet.domain.limits import Limits
from placet.domain.model import Risk
from placet.domain.principals import Approver, Client, Scope
from placet.settings import Settings, StoreSettings, WebhookSettings
from placet.store.connection import connect
from placet.store.link import Link
from placet.store.opened import Clients, Store, assemble
from tests.factories import ManualClock

BASE_URL = "http://127.0.0.1:8420"
"""The public URL of the default settings, and so the issuer of tokens."""

QUESTION: Mapping[str, Any] = {
    "capability": "orders.refund",
    "actor": {"id": "agent-7", "kind": "agent"},
    "effect": "external",
    "input": {"order": "A-1", "amount": 5},
}
"""What a runtime asks where a test does not care: the members without a default."""

_CALL_MEMBERS = ("capability", "surface", "actor", "effect", "context", "input")


class Party:
    """Someone with a credential, and what they can say to the service. Every verb gives the response."""

    def __init__(self, http: httpx.AsyncClient, tenant: str, name: str, credential: str) -> None:
        self._http = http
        self.tenant = tenant
        self.name = name
        self.credential = credential

    async def call(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Any call, under this credential."""
        headers = {"authorization": f"Bearer {self.credential}", **options.pop("headers", {})}
        return await self._http.request(method, path, headers=headers, **options)

    async def ask(self, *, key: str | None = None, **members: Any) -> httpx.Response:
        """Create; a member given as ``...`` is left out."""
        body = {name: value for name, value in {**QUESTION, **members}.items() if value is not ...}
        headers = {} if key is None else {"idempotency-key": key}
        return await self.call("POST", "/v1/approvals", json=body, headers=headers)

    async def asked(self, **members: Any) -> dict[str, Any]:
        """Create, and have the record."""
        return record(await self.ask(**members), 201)

    async def read(self, approval_id: str, *, wait: int | None = None) -> httpx.Response:
        """Read, or wait."""
        query = {} if wait is None else {"wait": wait}
        return await self.call("GET", f"/v1/approvals/{approval_id}", params=query)

    async def seen(self, approval_id: str) -> dict[str, Any]:
        """Read, and have the record."""
        return record(await self.read(approval_id))

    async def list(self, **query: Any) -> httpx.Response:
        """List."""
        return await self.call("GET", "/v1/approvals", params=query)

    async def trail(self, approval_id: str) -> httpx.Response:
        """Read the audit trail."""
        return await self.call("GET", f"/v1/approvals/{approval_id}/events")

    async def decide(
        self, shown: Mapping[str, Any], decision: Any = "approve", **members: Any
    ) -> httpx.Response:
        """Vote on the record as it was shown."""
        body = {"decision": decision, "digest": shown["digest"], **members}
        return await self.call("POST", f"/v1/approvals/{shown['id']}/decision", json=body)

    async def decide_all(self, *votes: Mapping[str, Any]) -> httpx.Response:
        """Vote on several in one call; see :func:`vote_on`."""
        return await self.call("POST", "/v1/decisions", json={"decisions": votes})

    async def cancel(self, approval_id: str) -> httpx.Response:
        """Withdraw."""
        return await self.call("POST", f"/v1/approvals/{approval_id}/cancel")

    async def cancel_run(self, run: str) -> httpx.Response:
        """Withdraw all of a run."""
        return await self.call("POST", f"/v1/runs/{run}/cancel")

    async def token(self, approval_id: str) -> str:
        """Read, and have the token."""
        token: str = (await self.seen(approval_id))["token"]
        return token

    async def consume(
        self, asked: Mapping[str, Any], token: Any = None, *, execution: str = "exec-1", **changes: Any
    ) -> httpx.Response:
        """Consume what was asked; a member given as ``...`` is left out."""
        body = {**call_of(asked), "execution_id": execution, "token": token, **changes}
        body = {name: value for name, value in body.items() if value is not ...}
        return await self.call("POST", f"/v1/approvals/{asked['id']}/consume", json=body)

    async def introspect(self, asked: Mapping[str, Any], token: str, **changes: Any) -> httpx.Response:
        """Ask whether the token would be taken."""
        body = {**call_of(asked), "token": token, **changes}
        body = {name: value for name, value in body.items() if value is not ...}
        return await self.call("POST", "/v1/tokens/introspect", json=body)

    async def report(self, approval_id: str, *, execution: str = "exec-1", **members: Any) -> httpx.Response:
        """Report the outcome."""
        body = {"execution_id": execution, "status": "succeeded", **members}
        return await self.call("POST", f"/v1/approvals/{approval_id}/outcome", json=body)


class Harness:
    """An opened service. ``client`` and ``approver`` enter somebody and give their :class:`Party`."""

    def __init__(self, services: Services, redis: Redis, clock: ManualClock) -> None:
        self.services = services
        self.redis: Any = redis  # the client's own types know no plain bytes
        self.clock = clock
        self.app = create_app(services, services.settings)
        transport = httpx.ASGITransport(app=self.app)  # type: ignore[arg-type] # Litestar's own ASGI types
        self.http = httpx.AsyncClient(transport=transport, base_url=BASE_URL)

    async def client(
        self,
        name: str = "runtime",
        *scopes: str,
        tenant: str = "default",
        owners: Sequence[str] = (),
        capabilities: Sequence[str] = (),
        people: Sequence[str] = (),
        groups: Sequence[str] = (),
        max_risk: str | None = None,
    ) -> Party:
        """Enter a client; a runtime that asks and consumes where no scopes are given."""
        client = Client(
            tenant=tenant,
            name=name,
            scopes=frozenset(map(Scope, scopes or ("request", "consume"))),
            owners=tuple(owners),
            capabilities=tuple(capabilities),
            people=tuple(people),
            groups=tuple(groups),
            max_risk=None if max_risk is None else Risk(max_risk),
        )
        issued = await self.services.enrolment.create(client)
        return Party(self.http, tenant, name, issued.credential)

    async def approver(
        self,
        name: str = "ann",
        *,
        tenant: str = "default",
        shown_as: str | None = None,
        groups: Sequence[str] = (),
    ) -> Party:
        """Enter an approver."""
        person = Approver(tenant=tenant, id=name, display_name=shown_as, groups=tuple(groups))
        issued = await self.services.enrolment.create(person)
        return Party(self.http, tenant, name, issued.credential)

    async def owned_by(self, name: str, *owners: str) -> None:
        """Change who stands behind a client."""
        enrolment = self.services.enrolment
        client, stored = await enrolment._known("default", f"client:{name}")
        await enrolment._write(client, expected=stored, changed=structs.replace(client, owners=owners))

    async def close(self) -> None:
        """Stop everything."""
        await self.http.aclose()
        await self.services.close()


@asynccontextmanager
async def opened(
    redis: Redis,
    directory: Path,
    clock: ManualClock,
    *,
    limits: Limits | None = None,
    rules: Source | None = None,
) -> AsyncIterator[Harness]:
    """A service over the server of ``redis``; two in one directory and over one server are replicas.

    ``rules`` are put in force, as when a service starts; without them nothing is.
    """
    settings = Settings(
        store=StoreSettings(data_dir=directory),
        limits=limits or Limits(),
        webhooks=WebhookSettings(allow=("127.0.0.1",)),
    )

    clients, link = _clients(redis, settings.store)

    def store(heard: Any) -> Store:
        return assemble(clients, Link(link), settings.limits, clock=clock.now_ms, heard=heard)

    services = await open_services(settings, clock=clock, store=store, rules=rules)
    harness = Harness(services, redis, clock)
    try:
        if rules is not None:
            await services.activation.start()
        yield harness
    finally:
        await harness.close()


def holder(h: Harness, name: str, credential: str) -> Party:
    """Someone who holds this credential, before this service."""
    return Party(h.http, "default", name, credential)


def _clients(redis: Redis, settings: StoreSettings) -> tuple[Clients, Redis]:
    """Those of the store, and one for the link: of their own, as in production."""
    options = redis.connection_pool.connection_kwargs
    path = options.get("path")
    if path is None:
        fake = [FakeAsyncRedis(server=options["server"], socket_timeout=None) for _ in range(4)]
        return Clients(fake[0], fake[1], fake[2]), fake[3]
    link, stream, outbox = (connect(settings, Path(path), patient=True) for _ in range(3))
    return Clients(connect(settings, Path(path)), stream, outbox), link


def call_of(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a consumer presents of a record: the members that are bound."""
    call = {name: asked[name] for name in _CALL_MEMBERS}
    return {**call, "actor": {"id": asked["actor"]["id"], "kind": asked["actor"]["kind"]}}


def quorum(*, required: int = 1, approved: int = 0, rejections: int = 1, rejected: int = 0) -> dict[str, int]:
    """How many people it takes, and how many have decided, as records say it."""
    return {"required": required, "approved": approved, "rejections": rejections, "rejected": rejected}


def vote_on(shown: Mapping[str, Any], decision: Any = "approve", **members: Any) -> dict[str, Any]:
    """One of several votes, on the record as it was shown."""
    return {"id": shown["id"], "decision": decision, "digest": shown["digest"], **members}


def record(response: httpx.Response, status: int = 200) -> dict[str, Any]:
    """The body of an answer that must be a success."""
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    return body


def refusal(response: httpx.Response) -> tuple[int, str]:
    """Status and code of an answer that must be a problem document."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    return response.status_code, json.loads(response.content)["code"]


def reason(response: httpx.Response) -> tuple[int, str, str]:
    """Status, code and ``details.reason``."""
    return *refusal(response), response.json()["details"]["reason"]


def results(response: httpx.Response) -> list[tuple[str, str]]:
    """Of each of several decisions the id, and the status it led to or the code it was refused with."""
    told = []
    for each in record(response)["results"]:
        assert set(each) in ({"id", "approval"}, {"id", "error"})
        told.append((each["id"], each["approval"]["status"] if "approval" in each else each["error"]["code"]))
    return told


def issues(response: httpx.Response) -> dict[str, str]:
    """The issues of a body that was refused, by path."""
    assert refusal(response) == (422, "INPUT_INVALID")
    return {issue["path"]: issue["message"] for issue in response.json()["model"]["issues"]}
