"""What the hook adds to a call: against a bare consume, and against the same calls made by hand.

All take turns, call by call, each over a grant of its own. The hook reads the record, proves its token
offline, spends it, runs nothing, and reports; so does whoever makes these calls by hand, but for the proof.
"""

import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec

from placet.client import AsyncClient, ToolCall
from placet.client.handles import Handle, hash_of
from placet.client.hook import FileJournal, Hook
from tests.benchmarks.replica import Approved
from tests.benchmarks.report import Row, row
from tests.benchmarks.stage import Plan, Stage, staged

_CALLS_MIN = 50
_CALLS_A_SECOND = 60
"""About how many of each way there is time for, beside what prepares them."""

Way = Callable[[Approved], Awaitable[float]]
"""Spends a grant; how many milliseconds that took."""


async def measure(plan: Plan) -> list[Row]:
    """The rows of this part."""
    async with staged(plan, "hook") as stage, _ways(stage) as ways:
        await _round(stage, ways, _CALLS_MIN)
        count = max(_CALLS_MIN, round(plan.seconds * _CALLS_A_SECOND))
        rounds = []
        for number in range(plan.rounds):
            plan.told(f"hook: round {number + 1} of {plan.rounds}, {count} calls each")
            rounds.append(await _round(stage, ways, count))

    def ratio(one: str, other: str) -> Row:
        return row("hook", f"{one} / {other}", "ratio", [each[one] / each[other] for each in rounds])

    return [
        *(row("hook", f"a call: {way}", "ms", [each[way] for each in rounds]) for way in ways),
        ratio("hook", "consume"),
        ratio("hook", "by hand"),
        ratio("hook, file journal", "by hand"),
    ]


async def _round(stage: Stage, ways: dict[str, Way], count: int) -> dict[str, float]:
    """The median of a call of each way."""
    approved = iter(await stage.replica.approved(count * len(ways)))
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(count):
        for name, way in ways.items():
            took[name].append(await way(next(approved)))
    return {name: statistics.median(each) for name, each in took.items()}


@asynccontextmanager
async def _ways(stage: Stage) -> AsyncIterator[dict[str, Way]]:
    url, credential = f"http://127.0.0.1:{stage.service.port}", stage.replica.credentials.runtime
    async with AsyncExitStack() as opened:
        client = await opened.enter_async_context(AsyncClient(url, credential))
        journal = FileJournal(stage.directory / "journal")
        opened.callback(journal.close)
        said: Any = {"audience": "runtime", "surface": "mcp"}
        yield {
            "consume": _consume(client),
            "by hand": _by_hand(client),
            "hook": _by_hook(Hook(client, **said)),
            "hook, file journal": _by_hook(Hook(client, journal=journal, **said)),
        }


def _consume(client: AsyncClient) -> Way:
    async def way(approved: Approved) -> float:
        token = (await client.get(approved.id)).token
        began_s = time.perf_counter()
        await client.consume(approved.id, _call(approved), token=token)
        return _since_ms(began_s)

    return way


def _by_hand(client: AsyncClient) -> Way:
    async def way(approved: Approved) -> float:
        began_s = time.perf_counter()
        token = (await client.get(approved.id)).token
        spent = await client.consume(approved.id, _call(approved), token=token)
        await client.report(approved.id, spent.execution_id, "succeeded")
        return _since_ms(began_s)

    return way


def _by_hook(hook: Hook) -> Way:
    async def way(approved: Approved) -> float:
        call = _call(approved)
        handle = Handle(
            approval=approved.id,
            digest=approved.digest,
            call=hash_of(call),
            capability=call.capability,
            run=approved.run,
        )
        said: Any = {"actor": call.actor, "effect": call.effect, "context": call.context}
        began_s = time.perf_counter()
        async with await hook.resume(handle, call.input, **said):
            pass
        return _since_ms(began_s)

    return way


def _call(approved: Approved) -> ToolCall:
    return msgspec.convert(approved.presented, ToolCall)


def _since_ms(began_s: float) -> float:
    return (time.perf_counter() - began_s) * 1_000
