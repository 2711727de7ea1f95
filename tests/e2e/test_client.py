"""The client before a real service, and what becomes of a call whose answer is lost."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from placet.client import AsyncClient, Client, Gap, Retries, ServiceUnreachable
from placet.domain.errors import ApprovalConsumed
from placet.domain.model import Risk
from placet.domain.principals import Approver, Scope
from placet.domain.principals import Client as Runtime
from tests.agents import CALL, FACES, Agent
from tests.e2e.processes import WITHIN_S
from tests.e2e.stage import Stage

pytestmark = [pytest.mark.e2e, pytest.mark.real]


class Losing(httpx.HTTPTransport):
    """Loses the first answer to each consumption, once the service has given it."""

    lost = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a call."""
        answer = super().handle_request(request)
        if request.url.path.endswith("/consume") and not self.lost:
            self.lost += 1
            answer.read()
            answer.close()
            raise httpx.ReadError("lost")
        return answer


class AsyncLosing(httpx.AsyncHTTPTransport):
    """The same."""

    lost = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a call."""
        answer = await super().handle_async_request(request)
        if request.url.path.endswith("/consume") and not self.lost:
            self.lost += 1
            await answer.aread()
            await answer.aclose()
            raise httpx.ReadError("lost")
        return answer


class Company:
    """A runtime whose answers get lost, an approver, and somebody who reads."""

    def __init__(self, stage: Stage, face: str) -> None:
        self._stage = stage
        self._face = face
        self._agents: list[Agent] = []
        self._https: list[httpx.AsyncClient | httpx.Client] = []

    async def enter(self) -> list[Agent]:
        """All three, in a tenant of their own."""
        tenant = f"client-{self._face}"
        runtime = Runtime(tenant=tenant, name="runtime", scopes=frozenset({Scope.REQUEST, Scope.CONSUME}))
        auditor = Runtime(tenant=tenant, name="auditor", scopes=frozenset({Scope.READ}))
        credentials = await self._stage.enter([runtime, auditor])
        credentials += await self._stage.enter([Approver(tenant=tenant, id="ann")])
        self._agents = [self._agent(credential) for credential in credentials]
        return self._agents

    def _agent(self, credential: str) -> Agent:
        url = self._stage.replicas[0].url
        if self._face == "async":
            http = httpx.AsyncClient(transport=AsyncLosing())
            self._https.append(http)
            return Agent(AsyncClient(url, credential, http=http))
        blocking = httpx.Client(transport=Losing())
        self._https.append(blocking)
        return Agent(Client(url, credential, http=blocking))

    async def close(self) -> None:
        """Everybody leaves."""
        for http in self._https:
            if isinstance(http, httpx.AsyncClient):
                await http.aclose()
            else:
                http.close()


@pytest.fixture(params=FACES)
async def company(request: pytest.FixtureRequest, service: Stage) -> AsyncIterator[Company]:
    """Who takes part, each face in turn."""
    company = Company(service, request.param)
    yield company
    await company.close()


async def test_what_was_approved_is_consumed_once_though_the_answer_is_lost(
    service: Stage, company: Company
) -> None:
    """Asked, waited for, decided, consumed, asked about once more, reported; and somebody heard all of it."""
    runtime, auditor, ann = await company.enter()
    heard = asyncio.create_task(auditor.first(5, "events", last_event_id="0-1"))
    asked = await runtime.ask(CALL, risk=Risk.HIGH)
    waiting = asyncio.create_task(runtime.wait(asked.id, timeout_s=WITHIN_S))
    await ann.decide(asked.id, "approve", (await ann.get(asked.id)).digest)
    approval = await waiting
    service.hear(f"token {approval.token}".encode())

    spent = await runtime.consume(asked.id, CALL, token=approval.token)
    assert (spent.replayed, spent.go_ahead) == (True, True), "the first answer was lost, and is ours"
    again = await runtime.consume(asked.id, CALL, token=approval.token, execution_id=spent.execution_id)
    assert (again.replayed, again.go_ahead) == (True, False), "nothing starts twice"
    with pytest.raises(ApprovalConsumed):
        await runtime.consume(asked.id, CALL, token=approval.token)

    done = await runtime.report(asked.id, spent.execution_id, "succeeded")
    assert done.outcome.status == "succeeded"
    async with asyncio.timeout(WITHIN_S):
        events: list[Any] = await heard
    assert isinstance(events[0], Gap), "nobody has an entry from before there were any"
    assert [event.type for event in events[1:]] == ["requested", "approved", "consumed", "reported"]


async def test_a_service_that_is_not_there(service: Stage) -> None:
    """Is told as what it is: nothing was done."""
    async with AsyncClient("http://127.0.0.1:9", "plc_none", retries=Retries(most=1)) as client:
        with pytest.raises(ServiceUnreachable, match="Connection refused") as gone:
            await client.jwks()
    assert not gone.value.effect_unknown
    async with AsyncClient(service.replicas[0].url, "plc_none") as client:
        assert b'"keys"' in await client.jwks()
