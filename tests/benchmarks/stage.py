"""What every part of the benchmark is given, and the processes that more than one of them starts."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from msgspec import Struct

from placet.store.datadir import SOCKET_NAME
from tests.benchmarks import machine
from tests.benchmarks.load import Load
from tests.benchmarks.machine import Cores
from tests.benchmarks.processes import module, running
from tests.benchmarks.replica import Replica, attached
from tests.benchmarks.report import Told
from tests.benchmarks.service import Service, serving, wait_until_ready


class Plan(Struct, frozen=True, kw_only=True):
    """How much to measure, and with what.

    ``seconds`` is how long one round of one thing should take, ``rounds`` how many there are.
    """

    seconds: float
    rounds: int
    waiters: tuple[int, ...]
    decisions: int
    stored: tuple[int, int]
    load: Load
    cores: Cores
    directory: Path
    told: Told


class Stage(Struct, frozen=True, kw_only=True):
    """A running service, and a replica beside it that prepares what is measured."""

    service: Service
    replica: Replica
    directory: Path

    @property
    def socket(self) -> Path:
        """The store's."""
        return self.service.settings.store.data_dir / SOCKET_NAME


@asynccontextmanager
async def staged(plan: Plan, name: str) -> AsyncIterator[Stage]:
    """A fresh service of that name."""
    directory = plan.directory / name
    with serving(directory, plan.cores) as service:
        async with attached(service) as replica:
            yield Stage(service=service, replica=replica, directory=directory)


class Bare(Struct, frozen=True, kw_only=True):
    """The endpoint that is compared with."""

    port: int
    pid: int


@contextmanager
def bare_endpoint(plan: Plan, directory: Path) -> Iterator[Bare]:
    """The endpoint to compare with, over the answers in ``directory``."""
    port, log = machine.free_port(), directory / "bare.log"
    with running(module("tests.benchmarks.bare", str(port), str(directory)), log) as process:
        wait_until_ready(process, f"http://127.0.0.1:{port}/readyz", log)
        machine.pin(process.pid, plan.cores.server)
        yield Bare(port=port, pid=process.pid)
