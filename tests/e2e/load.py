"""Load that keeps its own books: whole lives of approvals, each call repeated until there is a verdict."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx

from tests.e2e.stage import INPUT, MARKER
from tests.harness import Party, record

_PLANS = (
    ("approve", "consume", "report"),
    ("approve", "consume"),
    ("approve", "cancel"),
    ("approve",),
    ("reject",),
    ("cancel",),
    (),
)
_EVENTS = {"approve": "approved", "reject": "rejected"}
_PAUSE_S = 0.02
_AUDITORS = 32
_LASTING = ("status", "digest", "input", "expires_at", "use_by", "decisions", "consumption", "outcome")
"""Members that must be for good as the last acknowledged answer said."""


class Load:
    """Agents and people who use the service, and write down what it acknowledged.

    A lost reply and ``STORE_UNAVAILABLE`` leave a call's outcome unknown; the same call again, with the same
    idempotency key, digest or execution id, resolves it. Nobody else acts on these records, so that any other
    refusal would contradict something.

    Args:
        runtime: The asker, at each replica.
        ann: Who decides, at each replica.

    Attributes:
        acknowledged: For each approval the last record that was answered.
        unsure: How many answers left the outcome unknown.
        keys: The idempotency key of each approval.
    """

    def __init__(self, runtime: Sequence[Party], ann: Sequence[Party]) -> None:
        self._runtime = runtime
        self._ann = ann
        self._begun = 0
        self.acknowledged: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, str] = {}
        self.unsure = 0

    async def go_on(self, over: asyncio.Event) -> None:
        """Live one life after another until it is over."""
        while not over.is_set():
            self._begun += 1
            await self._live(self._begun, random.choice(_PLANS))

    async def insist(self, call: Callable[[], Awaitable[httpx.Response]]) -> tuple[httpx.Response, bool]:
        """Repeat a call until its answer is a verdict; the answer, and whether it was the first."""
        first = True
        while True:
            try:
                response = await call()
            except ConnectionError:
                response = None
            if response is not None and response.status_code != 503:
                return response, first
            if response is not None:
                problem = response.json()
                assert (problem["code"], problem["retryable"]) == ("STORE_UNAVAILABLE", True)
            first = False
            self.unsure += 1
            await asyncio.sleep(_PAUSE_S)

    async def _live(self, number: int, plan: Sequence[str]) -> None:
        key = f"key-{number}"
        asked, _ = await self._done(
            lambda: self._any(self._runtime).ask(input=INPUT, context={"call": number}, key=key)
        )
        self.keys[asked["id"]] = key
        parked = asyncio.create_task(self._wait(asked["id"])) if plan else None
        for step in plan:
            await getattr(self, f"_{step}")(asked)
        if parked is not None:
            assert (await parked)["status"] != "pending"

    async def _wait(self, approval_id: str) -> dict[str, Any]:
        while True:
            answer, _ = await self.insist(lambda: self._any(self._runtime).read(approval_id, wait=20))
            seen = record(answer)
            if seen["status"] != "pending":
                return seen

    async def _approve(self, asked: dict[str, Any]) -> None:
        await self._done(lambda: self._any(self._ann).decide(asked, "approve", comment=MARKER))

    async def _reject(self, asked: dict[str, Any]) -> None:
        await self._done(lambda: self._any(self._ann).decide(asked, "reject"))

    async def _cancel(self, asked: dict[str, Any]) -> None:
        await self._done(lambda: self._any(self._runtime).cancel(asked["id"]))

    async def _consume(self, asked: dict[str, Any]) -> None:
        answer, _ = await self.insist(lambda: self._any(self._runtime).read(asked["id"]))
        token = record(answer)["token"]
        consumed, sure = await self._done(lambda: self._any(self._runtime).consume(asked, token))
        assert not (sure and consumed["replayed"])
        other, _ = await self.insist(
            lambda: self._any(self._runtime).consume(asked, token, execution="exec-2")
        )
        assert (other.status_code, other.json()["code"]) == (409, "APPROVAL_CONSUMED")

    async def _report(self, asked: dict[str, Any]) -> None:
        await self._done(lambda: self._any(self._runtime).report(asked["id"], summary=MARKER))

    async def _done(self, call: Callable[[], Awaitable[httpx.Response]]) -> tuple[dict[str, Any], bool]:
        """Insist on a success and write it down."""
        answer, sure = await self.insist(call)
        assert answer.is_success, answer.text
        done: dict[str, Any] = answer.json()
        self.acknowledged[done["id"]] = done
        return done, sure

    @staticmethod
    def _any(parties: Sequence[Party]) -> Party:
        return random.choice(parties)

    async def audit(self, transitions: Sequence[tuple[str, str]]) -> None:
        """Hold everything that was acknowledged against what the service says now.

        Args:
            transitions: The tenant's stream, as pairs of approval id and event type.

        Raises:
            AssertionError: Something acknowledged is not so, or happened twice, or nobody was told of it.
        """
        room = asyncio.Semaphore(_AUDITORS)

        async def look(approval_id: str, told: dict[str, Any]) -> None:
            async with room:
                reader = self._any(self._runtime)
                seen = await reader.seen(approval_id)
                assert {name: seen[name] for name in _LASTING} == {name: told[name] for name in _LASTING}
                key = self.keys[approval_id]
                again = record(await reader.ask(input=INPUT, context=told["context"], key=key))
                assert again["id"] == approval_id

        await asyncio.gather(*(look(*each) for each in self.acknowledged.items()))
        happened = {(approval_id, event) for approval_id, event in transitions}
        assert len(happened) == len(transitions), "something happened twice"
        assert happened == {
            (told["id"], event) for told in self.acknowledged.values() for event in _events_of(told)
        }


def _events_of(told: dict[str, Any]) -> set[str]:
    """The transitions that led to a record as it was told."""
    events = {"requested", *(_EVENTS[vote["decision"]] for vote in told["decisions"])}
    events |= {"consumed"} if told["consumption"] else set()
    events |= {"reported"} if told["outcome"] else set()
    return events | ({"cancelled"} if told["status"] == "cancelled" else set())
