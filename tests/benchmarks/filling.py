"""Filling a store with approvals that have been asked for, approved and consumed.

One real lifecycle is recorded on its way to the store, and then sent again and again under other ids. The
append-only file is off meanwhile and on again before anything is measured. Run as a module it is the
sender: ``python -m tests.benchmarks.filling SOCKET COUNT`` with a :class:`Lifecycle` as JSON on standard
input.
"""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from redis.asyncio import Redis

from placet.store import keys
from tests.benchmarks import machine, samples
from tests.benchmarks.load import read_answered
from tests.benchmarks.processes import Failed, module, result
from tests.benchmarks.raw import timed
from tests.benchmarks.replica import TENANT, Lifecycle
from tests.benchmarks.stage import Plan, Stage

_AT_ONCE = 192


class Filled(Struct, frozen=True, kw_only=True):
    """What a store holds now: how many approvals more, and the bytes of each beside its documents.

    ``overhead_bytes`` are its record, indexes and keys; ``stream_bytes`` its transitions in the tenant's
    stream, which is trimmed long before records are forgotten.
    """

    count: int
    overhead_bytes: float
    stream_bytes: float


async def fill(plan: Plan, stage: Stage, count: int) -> Filled:
    """Put ``count`` consumed approvals into the stage's store."""
    client = stage.replica.services.store.client
    lifecycle = await stage.replica.lifecycle()
    before = await _used_bytes(client)
    await client.config_set("appendonly", "no")
    sender = module("tests.benchmarks.filling", str(stage.socket), str(count))
    told = result(sender, msgspec.json.encode(Order(lifecycle=lifecycle, cores=plan.cores.server)))
    if read_answered(told).answers != {"ok": 3 * count}:
        raise Failed(f"the store refused some of what filled it: {read_answered(told).answers}")
    after = await _used_bytes(client)
    stream = await client.memory_usage(keys.stream(TENANT), samples=0) or 0
    await client.config_set("appendonly", "yes")
    while await _is_rewriting(client):  # noqa: ASYNC110 - another process's work has no event
        await asyncio.sleep(0.2)
    return Filled(
        count=count,
        overhead_bytes=(after - before - stream) / count - lifecycle.document_bytes,
        stream_bytes=stream / count,
    )


class Order(Struct, frozen=True, kw_only=True):
    """What the sender is told: what to send, and where to run (the service has nothing to do meanwhile)."""

    lifecycle: Lifecycle
    cores: frozenset[int]


async def _used_bytes(client: Redis) -> int:
    facts: Any = await client.info("memory")
    return int(facts["used_memory"])


async def _is_rewriting(client: Redis) -> bool:
    facts: Any = await client.info("persistence")
    return bool(facts["aof_rewrite_in_progress"] or facts["aof_rewrite_scheduled"])


def commands(lifecycle: Lifecycle, count: int) -> Iterator[bytes]:
    """The lifecycle's commands, ``count`` times, each time as another approval."""
    width = len(lifecycle.id) - len(_PREFIX)
    for number in range(count):
        approval_id = f"{_PREFIX}{number:0{width}d}".encode()
        run = samples.run_of(number).encode()
        for command in lifecycle.commands:
            yield command.replace(lifecycle.id.encode(), approval_id).replace(lifecycle.run.encode(), run)


_PREFIX = "fill"


def _main(socket: str, count: str) -> None:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=Order)
    machine.pin_self(order.cores)
    answered = timed(commands(order.lifecycle, int(count)), Path(socket), _AT_ONCE)
    sys.stdout.buffer.write(msgspec.json.encode(answered))


if __name__ == "__main__":
    _main(*sys.argv[1:])
