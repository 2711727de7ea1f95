"""Create, get and consume: against a bare endpoint with the same bodies, and against the script alone.

The three take turns, one round of each after the other. Each call is sent once: a create asks something new
and a consume spends a grant of its own, so every answer has to be that of a first time.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct

from placet.tokens.minted import KEPT_TOKENS
from tests.benchmarks import machine, samples, wire
from tests.benchmarks.client import Connection
from tests.benchmarks.load import send_scripts
from tests.benchmarks.processes import Failed
from tests.benchmarks.report import Reach, Row, row
from tests.benchmarks.samples import request
from tests.benchmarks.stage import Bare, Plan, Stage, bare_endpoint, staged

_WARM_UP_CALLS = 600


class Calls(Struct, frozen=True, kw_only=True):
    """A number of calls, as the service is sent them and as it sends them on to the store."""

    http: list[bytes]
    scripts: list[bytes]


class Kind(Struct, frozen=True, kw_only=True):
    """A kind of call: how to make some, what their answer is, and what to reach.

    ``most`` is how many of them one round may have.
    """

    name: str
    make: Callable[[Stage, int], Awaitable[Calls]]
    status: str
    bare_status: str
    reach: Reach
    most: int | None = None


async def _creates(stage: Stage, count: int) -> Calls:
    replica, credential = stage.replica, stage.replica.credentials.runtime
    asked = [
        request("POST", "/v1/approvals", credential, samples.question(n)) for n in replica.numbers(count)
    ]
    return Calls(http=asked, scripts=[await replica.create_command(n) for n in replica.numbers(count)])


async def _gets(stage: Stage, count: int) -> Calls:
    replica, credential = stage.replica, stage.replica.credentials.runtime
    waiting = await replica.pending(min(count, _WARM_UP_CALLS))
    http = [request("GET", f"/v1/approvals/{pending.id}", credential) for pending in waiting]
    scripts = [await replica.get_command(pending.id) for pending in waiting]
    return Calls(http=_repeated(http, count), scripts=_repeated(scripts, count))


async def _consumes(stage: Stage, count: int) -> Calls:
    replica = stage.replica
    scripts = [await replica.consume_command(grant) for grant in await replica.grants(count)]
    grants = await replica.grants(count)  # the last to be fetched: the service remembers only so many tokens
    return Calls(http=[consume_request(stage, grant.id, grant.body) for grant in grants], scripts=scripts)


def consume_request(stage: Stage, approval_id: str, body: object) -> bytes:
    """The request that spends a grant."""
    return request("POST", f"/v1/approvals/{approval_id}/consume", stage.replica.credentials.runtime, body)


def _repeated(calls: Sequence[bytes], count: int) -> list[bytes]:
    return [calls[i % len(calls)] for i in range(count)]


KINDS = (
    Kind(name="create", make=_creates, status="201", bare_status="201", reach=Reach(at_least=0.6)),
    Kind(name="get", make=_gets, status="200", bare_status="200", reach=Reach(at_least=0.75)),
    Kind(
        name="consume",
        make=_consumes,
        status="200",
        bare_status="200",
        reach=Reach(at_least=0.5),
        most=KEPT_TOKENS - 2 * _WARM_UP_CALLS,  # a runtime consumes what it was just granted
    ),
)


async def measure(plan: Plan) -> list[Row]:
    """The rows of this part."""
    async with staged(plan, "endpoints") as stage:
        for kind in KINDS:
            await keep_answer(stage, kind)
        with bare_endpoint(plan, stage.directory) as bare:
            rows: list[Row] = []
            for kind in KINDS:
                rows += await _measure(plan, stage, bare, kind)
            return rows


async def keep_answer(stage: Stage, kind: Kind) -> None:
    """Have the service answer once, and keep the body for the bare endpoint."""
    connection = await Connection.open(stage.service.port)
    [call] = (await kind.make(stage, 1)).http
    status, body = await connection.call(call)
    connection.close()
    if str(status) != kind.status:
        raise Failed(f"{kind.name} was answered {status}: {body.decode(errors='replace')}")
    (stage.directory / f"{kind.name}.json").write_bytes(body)


async def _measure(plan: Plan, stage: Stage, bare: Bare, kind: Kind) -> list[Row]:
    turn = _Turn(plan, stage, bare, kind)
    await turn.take(_WARM_UP_CALLS)
    count = max(_WARM_UP_CALLS, round((await turn.take(_WARM_UP_CALLS)).placet * plan.seconds))
    count = min(count, kind.most or count)
    rounds = []
    for number in range(plan.rounds):
        plan.told(f"{kind.name}: round {number + 1} of {plan.rounds}, {count} calls each")
        rounds.append(await turn.take(count))
    part = "endpoints"
    return [
        row(part, f"{kind.name}: bare endpoint", "calls/s", [each.bare for each in rounds]),
        row(part, f"{kind.name}: placet", "calls/s", [each.placet for each in rounds]),
        row(part, f"{kind.name}: script alone", "calls/s", [each.script for each in rounds]),
        row(
            part,
            f"{kind.name}: placet / bare endpoint",
            "ratio",
            [each.placet / each.bare for each in rounds],
            kind.reach,
        ),
        row(part, f"{kind.name}: the same by processor time", "ratio", [each.by_cpu for each in rounds]),
        row(
            part,
            f"{kind.name}: placet / script alone",
            "ratio",
            [each.placet / each.script for each in rounds],
        ),
    ]


class Round(Struct, frozen=True, kw_only=True):
    """Calls per second of each, and the bare endpoint's processor time for a call over the service's.

    The last says the same as the ratio of the first two, but is little moved by whoever else is at work
    on the machine.
    """

    bare: float
    placet: float
    script: float
    by_cpu: float


class _Turn:
    """One round of each that is compared."""

    def __init__(self, plan: Plan, stage: Stage, bare: Bare, kind: Kind) -> None:
        self._plan = plan
        self._stage = stage
        self._bare = bare
        self._kind = kind

    async def take(self, count: int) -> Round:
        """Send so many calls to each."""
        stage, kind = self._stage, self._kind
        calls = await kind.make(stage, count)
        http = wire.pack(stage.directory / "calls", calls.http)
        scripts = wire.pack(stage.directory / "scripts", calls.scripts)
        bare, bare_cpu_s = self._send(http, self._bare.port, self._bare.pid, kind.bare_status)
        placet, cpu_s = self._send(http, stage.service.port, stage.service.process.pid, kind.status)
        script = send_scripts(scripts, stage.socket, self._plan.load.connections).rate(only="ok")
        return Round(bare=bare, placet=placet, script=script, by_cpu=bare_cpu_s / cpu_s)

    def _send(self, calls: Path, port: int, pid: int, status: str) -> tuple[float, float]:
        """Calls per second, and seconds of a processor for all of them."""
        before_s = machine.cpu_s(pid)
        rate = self._plan.load.send(calls, port).rate(only=status)
        return rate, machine.cpu_s(pid) - before_s
