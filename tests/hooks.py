"""Hooks of either face before the service in this process, on a line that loses and changes what is told."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from placet.client import Actor, AsyncClient, Client, Retries
from placet.client.hook import Hook, Journal, SyncHook, Turn, during
from tests.agents import Bridge
from tests.harness import Harness, Party

AGENT = Actor(id="agent-7", kind="agent")
TURN = Turn(actor=AGENT, run="r-1", call_id="c-1")
NEW = Turn(actor=AGENT)
"""A call without an id: each is a new question."""
RETRIES = 2
"""How often a runtime here sends again what got lost."""


class Line(httpx.AsyncBaseTransport):
    """To the application.

    Attributes:
        lose: How many answers to calls of a path's end get lost after they were given.
        change: Makes another answer of an answer, by a path's end.
        calls: The methods and ends of the paths that were called.
    """

    def __init__(self, app: Any) -> None:
        self._asgi = httpx.ASGITransport(app=app)
        self.lose: dict[str, int] = {}
        self.change: dict[str, Callable[[httpx.Response], httpx.Response | Awaitable[httpx.Response]]] = {}
        self.calls: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Carry a call."""
        end = request.url.path.rpartition("/")[2]
        self.calls.append(end)
        answer = await self._asgi.handle_async_request(request)
        await answer.aread()
        if self.lose.get(end, 0) > 0:
            self.lose[end] -= 1
            raise httpx.ReadError("lost")
        if end in self.change:
            changed = self.change[end](answer)
            return await changed if inspect.isawaitable(changed) else changed
        return answer


class Runtime:
    """A process with a hook; another one over the same journal is the same after a restart.

    Attributes:
        hook: The hook.
        line: Its line.
    """

    def __init__(
        self,
        h: Harness,
        party: Party,
        face: str,
        journal: Journal | None = None,
        skew_ms: int = 0,
        line: Line | None = None,
    ) -> None:
        self.line = line or Line(h.app)
        self.hook: Any
        retries = Retries(most=RETRIES, first_s=0)
        said: Any = {"audience": party.name, "journal": journal, "now_ms": lambda: h.clock.now_ms() + skew_ms}
        where = ("http://127.0.0.1:8420", party.credential)
        if face == "async":
            http = httpx.AsyncClient(transport=self.line)
            self.hook = Hook(AsyncClient(*where, http=http, retries=retries), **said)
        else:
            bridge = Bridge(h.app)
            bridge._asgi = self.line  # type: ignore[assignment] # one line for both
            self.hook = SyncHook(Client(*where, http=httpx.Client(transport=bridge), retries=retries), **said)

    @property
    def is_async(self) -> bool:
        """Which face it has."""
        return isinstance(self.hook, Hook)

    def tool(self, body: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """A function as a tool; for asyncio a coroutine of it."""

        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            return body(*args, **kwargs)

        coroutine.__signature__ = inspect.signature(body)  # type: ignore[attr-defined] # as wrappers do
        said = {"effect": "external", **options}
        decorate = self.hook.requires_approval("orders.refund", **said)
        tool: Callable[..., Any] = decorate(coroutine if self.is_async else body)
        return tool

    async def call(self, tool: Callable[..., Any], *args: Any, turn: Turn = TURN, **kwargs: Any) -> Any:
        """Call a tool in a turn, and wait for its report."""

        def block() -> Any:
            with during(turn):
                return tool(*args, **kwargs)

        try:
            if not self.is_async:
                return await asyncio.to_thread(block)
            with during(turn):
                return await tool(*args, **kwargs)
        finally:
            await self.settle()

    async def does(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        """A verb of the hook or of a grant."""
        return await self.on(self.hook, verb, *args, **kwargs)

    async def on(self, what: Any, verb: str, *args: Any, **kwargs: Any) -> Any:
        """A verb of a grant."""
        method = getattr(what, verb)
        return await (
            method(*args, **kwargs) if self.is_async else asyncio.to_thread(method, *args, **kwargs)
        )

    async def settle(self) -> None:
        """Wait until all is reported."""
        if self.is_async:
            await self.hook.aclose()


class People:
    """An approver who decides on whatever comes."""

    def __init__(self, ann: Party) -> None:
        self.ann = ann

    async def shown(self, *status: str) -> dict[str, Any]:
        """The newest question, once it is there."""
        found: list[dict[str, Any]] = []
        async with asyncio.timeout(20):
            while not found:
                query = {"status": status[0]} if status else {}
                found = (await self.ann.list(**query)).json()["items"]
                await asyncio.sleep(0.01)
        return found[0]

    async def decide(
        self, decision: str = "approve", *, first: Callable[[str], Any] | None = None, **members: Any
    ) -> dict[str, Any]:
        """Wait for a question and decide it, having done something with its id; the record."""
        shown = await self.shown("pending")
        if first is not None:
            first(shown["id"])
        answer = await self.ann.decide(shown, decision, **members)
        assert answer.status_code == 200, answer.text
        decided: dict[str, Any] = answer.json()
        return decided

    async def meanwhile(self, running: Any, decision: str = "approve", **members: Any) -> Any:
        """Decide while something waits for it; what comes of that."""
        task = asyncio.ensure_future(running)
        await self.decide(decision, **members)
        return await task
