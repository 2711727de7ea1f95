"""Waiters: how soon after a decision its waiter has the answer, and what a waiter costs in memory.

Each waits for an approval of its own, over a connection of its own (:mod:`tests.benchmarks.crowd`). Then a
person decides some of them, one after the other.
"""

import asyncio
import time
from collections.abc import Sequence

import msgspec

from tests.benchmarks import machine
from tests.benchmarks.crowd import Crowd, Woken
from tests.benchmarks.processes import Failed, environment, module
from tests.benchmarks.report import Reach, Row, row
from tests.benchmarks.stage import Plan, Stage, staged

_ASKED_AT = 1_000
"""Waiters for which the wake-up has a target."""
_SPARE_FILES = 200
_WARM_UP = 100
_PATIENCE_S = 45.0
_BUFFER_BYTES = 1 << 20


async def measure(plan: Plan) -> list[Row]:
    """The rows of this part."""
    rows: list[Row] = []
    open_files = machine.raise_open_files()
    for waiters in plan.waiters:
        if waiters + _SPARE_FILES > open_files:
            plan.told(f"{waiters} waiters need more open files than the {open_files} we may have: left out")
            continue
        async with staged(plan, f"waiting-{waiters}") as stage:
            plan.told(f"waiting: {waiters:,} waiters")
            rows += await _measure(plan, stage, waiters)
    return rows


async def _measure(plan: Plan, stage: Stage, waiters: int) -> list[Row]:
    await _crowd(stage, _WARM_UP, _WARM_UP)
    woken, bytes_each = await _crowd(stage, waiters, min(waiters, plan.decisions))
    part, name = "waiting", f"{waiters:,} waiters"
    reach = Reach(at_most=25) if waiters == _ASKED_AT else None
    return [
        _percentile(f"{name}: decision sent → woken, p50", woken.since_sent_ms, 50),
        _percentile(f"{name}: decision sent → woken, p99", woken.since_sent_ms, 99, reach),
        _percentile(f"{name}: decision answered → woken, p50", woken.since_answered_ms, 50),
        _percentile(f"{name}: decision answered → woken, p99", woken.since_answered_ms, 99),
        row(part, f"{name}: memory of each", "KiB", [bytes_each / 1024], Reach(at_most=20)),
    ]


def _percentile(what: str, values: Sequence[float], percent: int, reach: Reach | None = None) -> Row:
    ordered = sorted(values)
    value = ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]
    return row("waiting", what, "ms", [value], reach)


async def _crowd(stage: Stage, waiters: int, decisions: int) -> tuple[Woken, float]:
    """Have some wait and some woken; what they saw, and the bytes of the service for each."""
    service, credentials = stage.service, stage.replica.credentials
    crowd = Crowd(
        port=service.port,
        runtime=credentials.runtime,
        person=credentials.person,
        pending=await stage.replica.pending(waiters),
        decisions=decisions,
    )
    before = machine.resident_bytes(service.process.pid)
    load = await asyncio.create_subprocess_exec(
        *module("tests.benchmarks.crowd"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environment(),
        limit=_BUFFER_BYTES,
    )
    assert load.stdin is not None
    assert load.stdout is not None
    try:
        load.stdin.write(msgspec.json.encode(crowd) + b"\n")
        if await load.stdout.readline() != b"parked\n":
            raise Failed("the waiters could not be parked")
        await _until_they_wait(stage, waiters)
        bytes_each = (machine.resident_bytes(service.process.pid) - before) / waiters
        load.stdin.write(b"\n")
        told = await load.stdout.read()
    finally:
        if load.returncode is None:
            load.kill()
        await load.wait()
    if not told:
        raise Failed("a waiter was not woken as it should be")
    return msgspec.json.decode(told, type=Woken), bytes_each


async def _until_they_wait(stage: Stage, waiters: int) -> None:
    deadline_s = time.monotonic() + _PATIENCE_S
    while (waiting := stage.service.waiters()) < waiters:
        if time.monotonic() > deadline_s:
            raise Failed(f"{waiting} of {waiters} wait after {_PATIENCE_S:.0f} s")
        await asyncio.sleep(0.2)
