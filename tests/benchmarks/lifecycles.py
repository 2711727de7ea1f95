"""Whole lifecycles: create, decide, get the token, consume, report the outcome, over HTTP each.

Run as a module it is the load: ``python -m tests.benchmarks.lifecycles PORT COUNT AT_ONCE`` with
:class:`~tests.benchmarks.replica.Credentials` as JSON on standard input.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import uvloop

from tests.benchmarks import samples
from tests.benchmarks.client import Connection
from tests.benchmarks.load import Answered, read_answered
from tests.benchmarks.processes import Failed, module, result
from tests.benchmarks.replica import Credentials
from tests.benchmarks.report import Row, row
from tests.benchmarks.samples import request
from tests.benchmarks.stage import Plan, Stage, staged

_WARM_UP = 100


async def measure(plan: Plan) -> list[Row]:
    """The rows of this part."""
    async with staged(plan, "lifecycles") as stage:
        _round(plan, stage, _WARM_UP)
        count = max(_WARM_UP, round(_round(plan, stage, _WARM_UP) * plan.seconds))
        rates = []
        for number in range(plan.rounds):
            plan.told(f"lifecycles: round {number + 1} of {plan.rounds}, {count} each")
            rates.append(_round(plan, stage, count))
        return [row("lifecycles", "create → decide → get → consume → outcome", "lifecycles/s", rates)]


def _round(plan: Plan, stage: Stage, count: int) -> float:
    first = stage.replica.numbers(count).start
    command = module(
        "tests.benchmarks.lifecycles",
        *map(str, (stage.service.port, first, count, plan.load.connections)),
    )
    told = result(command, msgspec.json.encode(stage.replica.credentials))
    return read_answered(told).rate(only="200")


async def _live(numbers: Iterator[int], port: int, credentials: Credentials) -> None:
    connection = await Connection.open(port)

    async def call(method: str, path: str, credential: str, body: object = None) -> Any:
        status, content = await connection.call(request(method, path, credential, body))
        if status not in {200, 201}:
            raise Failed(f"{method} {path} was answered {status}: {content.decode(errors='replace')}")
        return msgspec.json.decode(content)

    for number in numbers:
        asked = await call("POST", "/v1/approvals", credentials.runtime, samples.question(number))
        path = asked["links"]["self"]
        vote = {"decision": "approve", "digest": asked["digest"]}
        await call("POST", f"{path}/decision", credentials.person, vote)
        token = (await call("GET", path, credentials.runtime))["token"]
        consumption = samples.consumption(number, token)
        await call("POST", f"{path}/consume", credentials.runtime, consumption)
        outcome = {"execution_id": consumption["execution_id"], "status": "succeeded"}
        await call("POST", f"{path}/outcome", credentials.runtime, outcome)
    connection.close()


async def _main(port: int, first: int, count: int, at_once: int) -> Answered:
    credentials = msgspec.json.decode(sys.stdin.buffer.read(), type=Credentials)
    numbers = iter(range(first, first + count))
    began_s = time.perf_counter()
    await asyncio.gather(*(_live(numbers, port, credentials) for _ in range(at_once)))
    return Answered(seconds=time.perf_counter() - began_s, answers={"200": count})


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(_main(*map(int, sys.argv[1:])))))
