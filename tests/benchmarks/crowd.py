"""A crowd of waiters, in a process of its own; ``python -m tests.benchmarks.crowd``.

It reads a :class:`Crowd` as a line of JSON, has everyone wait over a connection of their own, and says
``parked``. Given another line it has a person decide some of the approvals, one after the other, and writes
what it saw (:class:`Woken`).
"""

import asyncio
import random
import sys
import time
from collections.abc import Sequence

import msgspec
import uvloop
from msgspec import Struct

from tests.benchmarks import machine
from tests.benchmarks.client import Connection
from tests.benchmarks.processes import Failed
from tests.benchmarks.replica import Pending
from tests.benchmarks.samples import request

WAIT_S = 60
_AT_ONCE = 200
_OK = 200


class Crowd(Struct, frozen=True, kw_only=True):
    """Who waits for what, and how many of them are answered."""

    port: int
    runtime: str
    person: str
    pending: Sequence[Pending]
    decisions: int


class Woken(Struct, frozen=True, kw_only=True):
    """Milliseconds until each waiter had its answer: from sending the decision, and from its answer."""

    since_sent_ms: list[float]
    since_answered_ms: list[float]


async def _park(crowd: Crowd) -> list[tuple[Connection, asyncio.Future[tuple[int, bytes]]]]:
    connections: list[Connection] = []
    for first in range(0, len(crowd.pending), _AT_ONCE):
        some = crowd.pending[first : first + _AT_ONCE]
        connections += await asyncio.gather(*(Connection.open(crowd.port) for _ in some))
    return [
        (
            connection,
            connection.call(request("GET", f"/v1/approvals/{each.id}?wait={WAIT_S}", crowd.runtime)),
        )
        for connection, each in zip(connections, crowd.pending, strict=True)
    ]


async def _main() -> None:
    machine.raise_open_files()
    crowd = msgspec.json.decode(sys.stdin.buffer.readline(), type=Crowd)
    parked = await _park(crowd)
    sys.stdout.buffer.write(b"parked\n")
    sys.stdout.buffer.flush()
    await asyncio.to_thread(sys.stdin.buffer.readline)  # who is answered early is seen meanwhile
    early = [answer.result() for _, answer in parked if answer.done()]
    if early:
        raise Failed(f"{len(early)} waiters were answered before anybody decided, one of them {early[0]}")
    woken = Woken(since_sent_ms=[], since_answered_ms=[])
    decider = await Connection.open(crowd.port)
    for chosen in random.Random(1).sample(range(len(parked)), crowd.decisions):
        pending, (waiter, answer) = crowd.pending[chosen], parked[chosen]
        vote = {"decision": "approve", "digest": pending.digest}
        decision = request("POST", f"/v1/approvals/{pending.id}/decision", crowd.person, vote)
        sent_s = time.perf_counter()
        status, body = await decider.call(decision)
        if status != _OK:
            raise Failed(f"a decision was answered {status}: {body.decode(errors='replace')}")
        status, body = await answer
        if status != _OK or msgspec.json.decode(body)["status"] != "approved":
            raise Failed(f"a waiter was answered {status}: {body.decode(errors='replace')}")
        woken.since_sent_ms.append((waiter.answered_s - sent_s) * 1e3)
        woken.since_answered_ms.append((waiter.answered_s - decider.answered_s) * 1e3)
    sys.stdout.buffer.write(msgspec.json.encode(woken))


if __name__ == "__main__":
    uvloop.run(_main())
