"""The command line of the benchmark."""

import argparse
import asyncio
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from tests.benchmarks import (
    acknowledging,
    endpoints,
    hooking,
    lifecycles,
    machine,
    profiling,
    volume,
    waiting,
)
from tests.benchmarks.load import Load
from tests.benchmarks.processes import Failed
from tests.benchmarks.report import Row, table
from tests.benchmarks.stage import Plan

PARTS = {
    "endpoints": endpoints.measure,
    "lifecycles": lifecycles.measure,
    "waiting": waiting.measure,
    "volume": volume.measure,
    "hook": hooking.measure,
    "slack": acknowledging.measure,
}

_DESCRIPTION = """\
Measure Placet and compare it, on this machine, within one run. Parts:
  endpoints   create, get and consume against a bare Litestar endpoint with the same bodies and server
              settings, and against the store's script alone
  lifecycles  create, decide, get the token, consume, report the outcome
  waiting     from a decision to the waiter it wakes, and what a waiter costs in memory
  volume      consume and pages over few and over many stored approvals; the store's bytes for each
  hook        what the hook of a runtime adds to a call, with and without a journal
  slack       how soon a click is acknowledged, also with store and Slack slowed down to five seconds
Everything is started and stopped here. A full run takes about a quarter of an hour, --quick a minute and
a half. The exit status is 1 where something was answered wrongly, and 0 whatever the numbers are.
"""


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all where none is named"
    )
    parser.add_argument(
        "--quick", action="store_true", help="shorter rounds, fewer waiters and stored approvals"
    )
    parser.add_argument("--seconds", type=float, help="about how long one round of one thing takes")
    parser.add_argument("--rounds", type=int, help="rounds, each with a turn of everything that is compared")
    parser.add_argument("--connections", type=int, default=64, help="calls under way at once (default 64)")
    parser.add_argument("--waiters", type=_numbers, help="numbers of waiters, separated by commas")
    parser.add_argument("--stored", type=_numbers, help="few and many: two numbers of stored approvals")
    parser.add_argument("--bundled-client", action="store_true", help="send the load without wrk")
    parser.add_argument("--json", action="store_true", help="write the rows as JSON in place of the table")
    parser.add_argument(
        "--profile",
        choices=[kind.name for kind in endpoints.KINDS],
        help="say where the time of one kind of call goes, and nothing else",
    )
    arguments = parser.parse_args(words)
    unknown = [part for part in arguments.parts if part not in PARTS]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}")
    if arguments.stored is not None and len(arguments.stored) != 2:
        parser.error("--stored takes two numbers")
    return arguments


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _plan(arguments: argparse.Namespace, directory: Path) -> Plan:
    quick = arguments.quick
    return Plan(
        seconds=arguments.seconds or (0.5 if quick else 2),
        rounds=arguments.rounds or (3 if quick else 5),
        waiters=arguments.waiters or ((1_000,) if quick else (1_000, 10_000)),
        decisions=300 if quick else 1_000,
        stored=arguments.stored or ((2_000, 20_000) if quick else (10_000, 1_000_000)),
        load=Load(arguments.connections, bundled=arguments.bundled_client),
        cores=machine.divide(),
        directory=directory,
        told=_tell,
    )


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _facts(plan: Plan) -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load": f"{plan.load.name}, {plan.load.connections} connections",
        "rounds": f"{plan.rounds} of about {plan.seconds:g} s",
    }


async def _measure(plan: Plan, parts: Sequence[str]) -> tuple[list[Row], list[str]]:
    """The rows of each part, and what went wrong in those that have none."""
    rows: list[Row] = []
    faults = []
    for part in parts:
        began_s = time.monotonic()
        try:
            rows += await PARTS[part](plan)
        except Failed as fault:
            faults.append(f"{part}: {fault}")
        _tell(f"{part}: {time.monotonic() - began_s:.0f} s")
    return rows, faults


def main(words: Sequence[str]) -> int:
    """Run it; the exit status."""
    arguments = _arguments(words)
    machine.raise_open_files()
    with TemporaryDirectory(prefix="placet-benchmark-") as directory:
        plan = _plan(arguments, Path(directory))
        machine.pin_self(plan.cores.load)
        facts = _facts(plan)
        if arguments.profile:
            sys.stdout.write(asyncio.run(profiling.profile(plan, arguments.profile)) + "\n")
            return 0
        rows, faults = asyncio.run(_measure(plan, arguments.parts or list(PARTS)))
    if arguments.json:
        report = msgspec.json.encode({**facts, "rows": rows, "faults": faults})
        sys.stdout.write(msgspec.json.format(report, indent=2).decode() + "\n")
    else:
        sys.stdout.write("\n".join([*(f"{name}: {fact}" for name, fact in facts.items()), table(rows), ""]))
    for fault in faults:
        _tell(f"FAILED {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
