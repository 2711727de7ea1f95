"""Volume: what the number of stored approvals changes, and what each of them takes beside its documents.

Two services run side by side, one over few approvals and one over many, and take turns.
"""

import base64
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct

from placet.store import keys
from tests.benchmarks import wire
from tests.benchmarks.endpoints import consume_request
from tests.benchmarks.filling import Filled, fill
from tests.benchmarks.replica import TENANT
from tests.benchmarks.report import Reach, Row, row
from tests.benchmarks.samples import request
from tests.benchmarks.stage import Plan, Stage, staged

_ASKED_AT = 1_000_000
"""Stored approvals for which the targets are meant."""
_WARM_UP_CALLS = 50


class Kind(Struct, frozen=True, kw_only=True):
    """A kind of call, how to make some, and how its time may grow."""

    name: str
    make: Callable[[Stage, int], Awaitable[list[bytes]]]
    reach: Reach | None


async def _consumes(stage: Stage, count: int) -> list[bytes]:
    return [consume_request(stage, grant.id, grant.body) for grant in await stage.replica.grants(count)]


async def _first_pages(stage: Stage, count: int) -> list[bytes]:
    return [request("GET", "/v1/approvals", stage.replica.credentials.auditor)] * count


async def _pages_anywhere(stage: Stage, count: int) -> list[bytes]:
    index = keys.tag(TENANT) + keys.all_index()
    members: Any = await stage.replica.services.store.client.zrandmember(index, -count)
    cursors = [base64.urlsafe_b64encode(member).decode().rstrip("=") for member in members]
    credential = stage.replica.credentials.auditor
    return [request("GET", f"/v1/approvals?cursor={cursor}", credential) for cursor in cursors]


_KINDS = (
    Kind(name="consume", make=_consumes, reach=Reach(at_most=1.2)),
    Kind(name="first page", make=_first_pages, reach=Reach(at_most=1.2)),
    Kind(name="page at a random cursor", make=_pages_anywhere, reach=None),
)


async def measure(plan: Plan) -> list[Row]:
    """The rows of this part."""
    async with staged(plan, "few") as few, staged(plan, "many") as many:
        stages = (few, many)
        filled = []
        for stage, count in zip(stages, plan.stored, strict=True):
            plan.told(f"volume: filling a store with {count:,} approvals")
            filled.append(await fill(plan, stage, count))
        rows = [row for each in filled for row in _bytes(each)]
        for kind in _KINDS:
            rows += await _measure(plan, stages, kind)
        return rows


def _bytes(filled: Filled) -> list[Row]:
    reach = Reach(at_most=800) if filled.count >= _ASKED_AT else None
    each = f"of each of {filled.count:,} approvals"
    return [
        row("volume", f"store overhead {each}", "bytes", [filled.overhead_bytes], reach),
        row("volume", f"transitions in the stream {each}", "bytes", [filled.stream_bytes]),
    ]


async def _measure(plan: Plan, stages: Sequence[Stage], kind: Kind) -> list[Row]:
    for stage in stages:
        await _rate(plan, stage, kind, _WARM_UP_CALLS)
    count = max(_WARM_UP_CALLS, round(await _rate(plan, stages[-1], kind, _WARM_UP_CALLS) * plan.seconds))
    rounds: list[list[float]] = []
    for number in range(plan.rounds):
        plan.told(f"volume: {kind.name}, round {number + 1} of {plan.rounds}, {count} calls each")
        rounds.append([1e3 / await _rate(plan, stage, kind, count) for stage in stages])
    few, many = zip(*rounds, strict=True)
    names = [f"{kind.name}, {stored:,} stored" for stored in plan.stored]
    reach = kind.reach if plan.stored[-1] >= _ASKED_AT else None
    ratios = [of_many / of_few for of_few, of_many in rounds]
    return [
        row("volume", names[0], "ms/call", few),
        row("volume", names[1], "ms/call", many),
        row("volume", f"{kind.name}: time at many / at few", "ratio", ratios, reach),
    ]


async def _rate(plan: Plan, stage: Stage, kind: Kind, count: int) -> float:
    calls = wire.pack(stage.directory / "calls", await kind.make(stage, count))
    return plan.load.send(calls, stage.service.port).rate(only="200")
