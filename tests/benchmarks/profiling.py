"""Where the time of one kind of call goes: microseconds of each layer, and of each function of ours.

The real service runs with a sampler inside (:mod:`tests.benchmarks.sampled`) under the load of
:mod:`tests.benchmarks.endpoints`; what the scripts take is the store's own count.
"""

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tests.benchmarks import machine, wire
from tests.benchmarks.endpoints import KINDS, Kind, keep_answer
from tests.benchmarks.processes import Failed, module
from tests.benchmarks.replica import attached
from tests.benchmarks.sampled import Samples
from tests.benchmarks.service import serving
from tests.benchmarks.stage import Plan, Stage, bare_endpoint

_WARM_UP_CALLS = 500
_SHOWN_FUNCTIONS = 40
_TELL_PATIENCE_S = 10.0


async def profile(plan: Plan, name: str) -> str:
    """The table of a kind of call."""
    kind = next(kind for kind in KINDS if kind.name == name)
    told = plan.directory / "samples.json"
    command = module("tests.benchmarks.sampled", str(told))
    with serving(plan.directory / "profile", plan.cores, command=command) as service:
        async with attached(service) as replica:
            stage = Stage(service=service, replica=replica, directory=plan.directory / "profile")
            for each in KINDS:
                await keep_answer(stage, each)
            return await _profile(plan, stage, kind, told)


async def _profile(plan: Plan, stage: Stage, kind: Kind, told: Path) -> str:
    count = round(await _seconds_each(plan, stage, kind, _WARM_UP_CALLS) ** -1 * plan.seconds * plan.rounds)
    calls = wire.pack(stage.directory / "calls", (await kind.make(stage, count)).http)
    pid, store = stage.service.process.pid, stage.service.store.pid
    before, store_cpu_s = await _scripts(stage), machine.cpu_s(store)
    os.kill(pid, signal.SIGUSR1)
    rate = plan.load.send(calls, stage.service.port).rate(only=kind.status)
    os.kill(pid, signal.SIGUSR2)
    after, store_cpu_s = await _scripts(stage), machine.cpu_s(store) - store_cpu_s
    with bare_endpoint(plan, stage.directory) as bare:
        bare_cpu_s = machine.cpu_s(bare.pid)
        plan.load.send(calls, bare.port).rate(only=kind.bare_status)
        bare_cpu_s = machine.cpu_s(bare.pid) - bare_cpu_s
    samples = _read(told)
    per_tick = samples.cpu_s / sum(samples.layers.values()) / count
    lines = [
        f"{kind.name}: {count} calls at {rate:,.0f}/s, {plan.load.connections} at once; µs per call",
        f"{1e6 / rate:8.1f}  from one answer to the next",
        f"{samples.cpu_s / count * 1e6:8.1f}  processor time of the service, of which",
        *_lines(samples.layers, per_tick),
        f"{store_cpu_s / count * 1e6:8.1f}  processor time of Valkey, of which",
        f"{(after - before) / count:12.1f}  scripts",
        f"{bare_cpu_s / count * 1e6:8.1f}  processor time of the bare endpoint",
        "",
        "Functions of ours, with what they call:",
        *_lines(samples.functions, per_tick)[:_SHOWN_FUNCTIONS],
    ]
    return "\n".join(lines)


async def _seconds_each(plan: Plan, stage: Stage, kind: Kind, count: int) -> float:
    calls = wire.pack(stage.directory / "calls", (await kind.make(stage, count)).http)
    return 1 / plan.load.send(calls, stage.service.port).rate(only=kind.status)


async def _scripts(stage: Stage) -> int:
    """Microseconds that the store has spent in scripts."""
    facts: Any = await stage.replica.services.store.client.info("commandstats")
    return int(facts["cmdstat_evalsha"]["usec"])


def _read(told: Path) -> Samples:
    deadline_s = time.monotonic() + _TELL_PATIENCE_S
    while not told.exists():
        if time.monotonic() > deadline_s:
            raise Failed("the sampler told nothing")
        time.sleep(0.05)
    return msgspec.json.decode(told.read_bytes(), type=Samples)


def _lines(ticks: Mapping[str, int], per_tick: float) -> list[str]:
    ordered = sorted(ticks.items(), key=lambda item: -item[1])
    return [f"{count * per_tick * 1e6:12.1f}  {name}" for name, count in ordered]
