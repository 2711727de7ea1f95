"""The story that ``placet demo`` plays: an approval from the question to its end, over real HTTP.

Every step says what is done and what comes of it, and checks that it is what must come of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final

import httpx
import msgspec
from msgspec import Struct

from placet.cli import card
from placet.cli.console import Console, Ink
from placet.cli.exits import Stop
from placet.cli.record import Record, Trail, at_ms, read
from placet.cli.remote import refusal, unreachable

AGENT: Final = "demo-agent"
PERSON: Final = "ada@demo.example"
QUESTION: Final = "Approve exactly this?"

CALL: Mapping[str, Any] = MappingProxyType(
    {
        "capability": "payments.refund",
        "actor": {"id": "refund-bot", "kind": "agent", "on_behalf_of": ["customer:4711"]},
        "effect": "external",
        "context": {"tool_call": "call_1"},
        "input": {"order": "A-1042", "amount_cents": 12900, "iban": "DE02120300000000202051"},
    }
)
"""The tool call that the agent is about to make: what is bound, and is presented again to run it."""
CHANGED: Mapping[str, Any] = MappingProxyType({**CALL, "input": {**CALL["input"], "amount_cents": 912900}})
ASK: Mapping[str, Any] = MappingProxyType(
    {
        **CALL,
        "risk": "high",
        "reasons": ["A refund above 100 EUR needs a person."],
        "presentation": {"title": "Refund order A-1042", "redact": ["/iban"]},
    }
)
_INDENT: Final = "   "


class Told(Struct, frozen=True, kw_only=True):
    """An answer of the service, and when it was there (seconds of a monotonic clock)."""

    status: int
    body: bytes
    at_s: float

    def json(self) -> Any:  # noqa: ANN401 - any JSON
        """The body, decoded."""
        return msgspec.json.decode(self.body)


Decide = Callable[[str, "asyncio.Task[Told]"], Awaitable[bool | None]]
"""Asks for the decision; None where the waiting call came back before there was one."""


class Story:
    """One telling.

    Args:
        console: Where it is told.
        http: Speaks to the service.
        tokens: The credentials of the agent's runtime and of the person, by name.
        decide: Finds the decision.
        wait_s: How long one call may wait.
        pause_s: How long to stay on a step, so that it can be read.

    Attributes:
        steps: What happened, for machines.
    """

    def __init__(
        self,
        console: Console,
        http: httpx.AsyncClient,
        tokens: Mapping[str, str],
        *,
        decide: Decide,
        wait_s: int,
        pause_s: float,
    ) -> None:
        self._console = console
        self._people = console.people
        self._http = http
        self._tokens = tokens
        self._decide = decide
        self._wait_s = wait_s
        self._pause_s = pause_s
        self.steps: list[dict[str, Any]] = []

    async def tell(self, *, expires_in_ms: int) -> str:
        """Tell it; the state in which the approval ends.

        Raises:
            Stop: The service can't be reached, or did not answer as it must.
        """
        path = await self._ask(expires_in_ms)
        token, status = await self._decided(path)
        if token is None:
            await self._refused(path, status)
        else:
            await self._use(path, token)
            status = "consumed"
        await self._trail(path)
        return status

    async def _ask(self, expires_in_ms: int) -> str:
        await self._head("The agent asks", "Before the tool runs, the agent's runtime asks.")
        asked = await self._call(AGENT, "POST", "/v1/approvals", {**ASK, "expires_in_ms": expires_in_ms})
        record = self._expect("ask", asked, 201)
        self._good(f"{record['id']} is {record['status']}.")
        return f"/v1/approvals/{record['id']}"

    async def _decided(self, path: str) -> tuple[str | None, str]:
        """The wait, the decision, the end of the wait: the token, if there is one, and the state."""
        await self._head("It waits", "One open call; it comes back the moment there is a decision.")
        self._sent("GET", f"{path}?wait={self._wait_s}")
        waiting = asyncio.create_task(self._wait(path))
        await self._head("A person decides", f"This is what {PERSON} sees, and what the answer is bound to.")
        at_s = await self._decision(path, waiting)
        await self._head("The waiting call comes back", "")
        told = await waiting
        record = self._expect("wait", told, 200)
        token: str | None = record.get("token")
        after_ms = 0 if at_s is None else max(told.at_s - at_s, 0) * 1000
        after = "" if at_s is None else f", {after_ms:.0f} ms after the decision was sent"
        with_token = f", with a token ({len(token)} characters, not for your eyes)" if token else ""
        self._good(f"{record['status']}{after}{with_token}.")
        return token, record["status"]

    async def _wait(self, path: str) -> Told:
        while True:
            told = await self._call(AGENT, "GET", f"{path}?wait={self._wait_s}", shown=False)
            if told.status != httpx.codes.OK or told.json()["status"] != "pending":
                return told

    async def _decision(self, path: str, waiting: "asyncio.Task[Told]") -> float | None:
        seen = self._expect("look", shown := await self._call(PERSON, "GET", path, shown=False), 200)
        record = read(shown.body, Record)
        self._people.line()
        for line in card.render(record, self._people, now_ms=at_ms(record.requested_at)).lines:
            self._people.line(line)
        self._people.line()
        approved = await self._decide(QUESTION, waiting)
        if approved is None:
            return None
        body = {"decision": "approve" if approved else "reject", "digest": seen["digest"]}
        at_s = perf_counter()
        decided = await self._call(PERSON, "POST", f"{path}/decision", body)
        record_after = self._expect("decide", decided, 200)
        self._good(f"{record_after['status']}, by {PERSON}, for exactly this digest.")
        return at_s

    async def _use(self, path: str, token: str) -> None:
        spend = {"token": token, "execution_id": "run-1"}
        await self._head("A changed input is refused", "The same token, but 9,129.00 EUR. It burns nothing.")
        changed = await self._call(AGENT, "POST", f"{path}/consume", {**CHANGED, **spend})
        self._expect("consume-changed", changed, 409, "APPROVAL_INPUT_MISMATCH")
        self._good("409 APPROVAL_INPUT_MISMATCH")
        await self._head("What was approved runs", "The token is spent, in one atomic step; the tool runs.")
        first = await self._call(AGENT, "POST", f"{path}/consume", {**CALL, **spend})
        record = self._expect("consume", first, 200)
        self._good(f"{record['status']}, by {AGENT}, as execution run-1.")
        await self._head("Once", "Another execution with the same token and the same input:")
        again = await self._call(AGENT, "POST", f"{path}/consume", {**CALL, **spend, "execution_id": "run-2"})
        self._expect("consume-again", again, 409, "APPROVAL_CONSUMED")
        self._good("409 APPROVAL_CONSUMED")

    async def _refused(self, path: str, status: str) -> None:
        await self._head("Nothing runs", "There is no token, and without one nothing can be consumed.")
        spend = {"execution_id": "run-1"}
        refused = await self._call(AGENT, "POST", f"{path}/consume", {**CALL, **spend})
        code = f"APPROVAL_{status.upper()}"
        self._expect("consume", refused, 409, code)
        self._good(f"409 {code}")

    async def _trail(self, path: str) -> None:
        await self._head("All of it is on record", "Refused attempts too.")
        told = await self._call(PERSON, "GET", f"{path}/events")
        self._expect("trail", told, 200)
        for line in card.trail(read(told.body, Trail).items, self._people):
            self._people.line(_INDENT + line)

    async def _call(
        self, who: str, method: str, path: str, body: object = None, *, shown: bool = True
    ) -> Told:
        if shown:
            self._sent(method, path)
        content = None if body is None else msgspec.json.encode(body)
        headers = {"Authorization": f"Bearer {self._tokens[who]}", "Content-Type": "application/json"}
        try:
            answer = await self._http.request(method, path, content=content, headers=headers)
        except httpx.HTTPError as fault:
            raise unreachable(str(self._http.base_url), fault) from fault
        if not answer.headers.get("content-type", "").startswith(("application/json", "application/problem")):
            raise refusal(str(self._http.base_url), answer)
        return Told(status=answer.status_code, body=answer.content, at_s=perf_counter())

    def _expect(self, step: str, told: Told, status: int, code: str | None = None) -> dict[str, Any]:
        """Check an answer and note it down; what it said."""
        said: dict[str, Any] = told.json()
        self.steps.append({"step": step, "status": told.status, "code": said.get("code")})
        if told.status != status or said.get("code") != code:
            raise Stop(
                f"The demo came to a halt: {step} was answered {told.status} {said.get('code', '')}, and "
                f"{status} {code or ''} was to come of it. {said.get('detail', '')}"
            )
        return said

    async def _head(self, title: str, words: str) -> None:
        await asyncio.sleep(self._pause_s)
        people = self._people
        people.line()
        people.line(f"{people.paint('●', Ink.CYAN)}  {people.paint(title, Ink.BOLD)}")
        if words:
            people.line(_INDENT + words)

    def _sent(self, method: str, path: str) -> None:
        self._people.line(_INDENT + self._people.paint(f"{method} {path}", Ink.DIM))

    def _good(self, text: str) -> None:
        self._people.line(f"{_INDENT}{self._people.mark(Ink.GREEN)} {text}")
