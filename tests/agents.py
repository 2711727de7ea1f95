"""Agents' runtimes: the client of either face, used in one way, before real services and scripted ones."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, closing
from itertools import islice
from typing import Any

import httpx

from placet.client import Actor, AsyncClient, Client, Retries, ToolCall
from placet.domain.errors import PlacetError

URL = "https://placet.example"
TOKEN = "plc_default_abcdefghijkl_0123456789"
CALL = ToolCall(
    capability="orders.refund",
    actor=Actor(id="agent-7", kind="agent"),
    effect="external",
    input={"order": "A-1", "amount": 5},
)
RECORD: dict[str, Any] = {
    "id": "apr_1",
    "status": "pending",
    "capability": "orders.refund",
    "actor": {"id": "agent-7", "kind": "agent"},
    "effect": "external",
    "requested_at": "2027-01-15T08:00:00.000Z",
    "expires_at": "2027-01-15T08:15:00.000Z",
}
"""What a record has at least."""

FACES = ["async", "sync"]


class Agent:
    """A client. Every verb is awaited; one that blocks does so in a thread."""

    def __init__(self, client: AsyncClient | Client) -> None:
        self.client = client

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        async def do(*said: Any, **members: Any) -> Any:
            method = getattr(self.client, verb)
            if isinstance(self.client, AsyncClient):
                return await method(*said, **members)
            return await asyncio.to_thread(method, *said, **members)

        return do

    async def first(self, count: int, verb: str, **members: Any) -> list[Any]:
        """The first so many of what goes on."""
        if isinstance(self.client, AsyncClient):
            found: list[Any] = []
            async with aclosing(getattr(self.client, verb)(**members)) as more:
                async for each in more:
                    found.append(each)
                    if len(found) == count:
                        break
            return found

        def take() -> list[Any]:
            with closing(getattr(self.client, verb)(**members)) as more:
                return list(islice(more, count))

        return await asyncio.to_thread(take)

    async def close(self) -> None:
        """Let go."""
        if isinstance(self.client, AsyncClient):
            await self.client.aclose()
        else:
            self.client.close()


class Bridge(httpx.BaseTransport):
    """Carries the calls of a thread to an application on this loop."""

    def __init__(self, app: Any) -> None:
        self._asgi = httpx.ASGITransport(app=app)
        self._loop = asyncio.get_running_loop()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One call, from another thread than the loop's."""
        return asyncio.run_coroutine_threadsafe(self._carried(request), self._loop).result(20)

    async def _carried(self, request: httpx.Request) -> httpx.Response:
        copy = httpx.Request(request.method, request.url, headers=request.headers, content=request.read())
        answer = await self._asgi.handle_async_request(copy)
        return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())


def before(app: Any, credential: str, face: str, **options: Any) -> Agent:
    """A client before an application in this process."""
    if face == "async":
        http = httpx.AsyncClient(transport=httpx.ASGITransport(app=app))
        return Agent(AsyncClient("http://127.0.0.1:8420", credential, http=http, **options))
    blocking = httpx.Client(transport=Bridge(app))
    return Agent(Client("http://127.0.0.1:8420", credential, http=blocking, **options))


class Scene:
    """A client before a service that answers one thing after another; time passes as the client lets it.

    Attributes:
        agent: The client.
        requests: What it has sent.
        pauses: How long it has paused each time, in seconds.
        now_s: Its clock.
    """

    def __init__(self, face: str, answers: Sequence[Any], *, took_s: float = 10.0, **retries: Any) -> None:
        self._answers = list(answers)
        self._took_s = took_s
        self.requests: list[httpx.Request] = []
        self.pauses: list[float] = []
        self.now_s = 0.0
        with_ = Retries(**{"chance": lambda: 0.5, "now_s": lambda: self.now_s, **retries})
        mock = httpx.MockTransport(self._answer)
        if face == "async":
            http = httpx.AsyncClient(transport=mock, follow_redirects=True)
            self.agent = Agent(AsyncClient(URL, TOKEN, http=http, retries=with_, sleep=self._asleep))
        else:
            blocking = httpx.Client(transport=mock, follow_redirects=True)
            self.agent = Agent(Client(URL, TOKEN, http=blocking, retries=with_, sleep=self._pause))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        self.now_s += self._took_s
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer.stream, httpx.ByteStream):  # a copy: it may be given to another client too
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)
        response: httpx.Response = answer
        return response

    def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now_s += seconds

    async def _asleep(self, seconds: float) -> None:
        self._pause(seconds)

    @property
    def left(self) -> int:
        """Answers that nobody has asked for."""
        return len(self._answers)


def record(**changes: Any) -> httpx.Response:
    """A record as an answer."""
    return httpx.Response(200, json={**RECORD, **changes})


def problem(error: PlacetError, **headers: str) -> httpx.Response:
    """A refusal as the service answers it."""
    wait_s = error.retry_after_s()
    said = {} if wait_s is None else {"retry-after": str(wait_s)}
    return httpx.Response(
        error.status,
        json=error.problem(),
        headers={"content-type": "application/problem+json", **said, **headers},
    )
