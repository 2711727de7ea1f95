"""The service held against its own OpenAPI document by schemathesis, as each kind of caller."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import environment
from tests.e2e.stage import INPUT, Stage, alone, casting
from tests.harness import Party, record

pytestmark = [pytest.mark.e2e, pytest.mark.real]

BUDGET_S = 12
"""For one kind of caller; schemathesis goes on making up calls until it is spent."""
PATIENCE_S = 120
SCOPES = ("request", "consume", "read", "read_input", "admin")
PEOPLE = ("ann", "bob")


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """A service of its own, over its embedded store."""
    with alone() as stage:
        yield stage


@pytest.mark.parametrize("role", ["runtime", "approver", "bridge"])
async def test_conformance(stage: Stage, tmp_path: Path, role: str) -> None:
    """Whatever is sent, the document knows the answer: no 5xx, and nothing invalid is accepted."""
    async with casting(stage) as cast:
        (runtime,), (ann,) = await cast.client("runtime", *SCOPES), await cast.approver(PEOPLE[0])
        (bridge,) = await cast.bridge(*PEOPLE)
        records = await every_status(runtime, ann)
        caller = {"runtime": runtime, "approver": ann, "bridge": bridge}[role]
        done = await asyncio.to_thread(schemathesis, stage.replicas[0].url, caller, records, tmp_path)
        assert done.returncode == 0, done.stdout


def schemathesis(
    url: str, caller: Party, records: dict[str, str], directory: Path
) -> subprocess.CompletedProcess[str]:
    """Run it, in a process of its own."""
    options = {
        "--header": f"Authorization: Bearer {caller.credential}",
        "--checks": "all",
        # What a schema can't say is refused all the same: an unknown audience, a cursor of another list.
        "--exclude-checks": "positive_data_acceptance",
        # Events have no end, and would be waited for; tests/integration/test_api_events.py listens to them.
        # A callback needs a signature: without a good one its failures would soon be too many, and limited.
        "--exclude-path-regex": "^/v1/(events|callbacks/.+)$",
        "--max-time": str(BUDGET_S),
        "--max-examples": "20",
        "--seed": "1",
        "--generation-database": "none",
    }
    hooks = {
        "SCHEMATHESIS_HOOKS": "tests.e2e.schema_hooks",
        "PLACET_TEST_RECORDS": json.dumps(records),
    }
    words = [word for option in options.items() for word in option]
    return subprocess.run(
        [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json", "--no-color", *words],
        cwd=directory,
        env=environment(hooks),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


async def every_status(runtime: Party, ann: Party) -> dict[str, str]:
    """Records to be found: of each status one, and more of those that can still be moved."""
    records = {}
    ends = ("approved", "rejected", "cancelled", "consumed", *["pending"] * 6)
    for number, end in enumerate(ends):
        asked = await runtime.asked(input=INPUT, context={"call": number})
        records[asked["id"]] = asked["digest"]
        if end in {"approved", "consumed"}:
            record(await ann.decide(asked))
        if end == "rejected":
            record(await ann.decide(asked, "reject"))
        if end == "cancelled":
            record(await runtime.cancel(asked["id"]))
        if end == "consumed":
            record(await runtime.consume(asked, await runtime.token(asked["id"])))
    return records
