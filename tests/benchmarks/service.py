"""The service under measurement: ``placet serve`` in a process of its own, over a store of its own."""

import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types

from placet.settings import Settings, load
from tests.benchmarks import machine
from tests.benchmarks.machine import Cores
from tests.benchmarks.processes import Failed, module, running

START_PATIENCE_S = 30.0
MANY = "1000000"
"""Live pending approvals, and asks at once: the benchmark asks more than people would answer."""


class Service:
    """A running service.

    Attributes:
        settings: What it was started with.
        port: Where its API listens.
        metrics_port: Where its metrics do.
        process: The service itself.
        store: Its Valkey.
    """

    def __init__(self, settings: Settings, process: subprocess.Popen[bytes]) -> None:
        self.settings = settings
        self.port = settings.server.port
        self.metrics_port = settings.metrics.port
        self.process = process
        self.store = _store_of(process.pid)

    def waiters(self) -> int:
        """How many calls wait in it for a decision now."""
        metrics = _read(f"http://127.0.0.1:{self.metrics_port}/metrics").decode()
        line = next(line for line in metrics.splitlines() if line.startswith("placet_waiters "))
        return int(float(line.split()[1]))


@contextmanager
def serving(directory: Path, cores: Cores, *, command: Sequence[str] = ()) -> Iterator[Service]:
    """A service with its data in a directory, stopped at the end.

    Args:
        directory: Made if absent.
        cores: Where it and its store run.
        command: What runs ``serve`` in place of ``python -m placet``.

    Raises:
        Failed: It did not become ready; the message quotes its log.
    """
    directory.mkdir(exist_ok=True)
    log = directory / "log"
    wanted = {
        "PLACET_HOST": "127.0.0.1",
        "PLACET_PORT": str(machine.free_port()),
        "PLACET_METRICS_BIND": f"127.0.0.1:{machine.free_port()}",
        "PLACET_DATA_DIR": str(directory / "data"),
        "PLACET_LIVE_PENDING_PER_CLIENT": MANY,
        "PLACET_LIVE_PENDING_PER_TENANT": MANY,
        "PLACET_ASK_RATE_PER_MINUTE": "60000000",
        "PLACET_ASK_BURST": MANY,
        "PLACET_LOG_LEVEL": "warning",
    }
    settings = load(wanted)
    with running([*(command or module("placet")), "serve"], log, wanted) as process:
        wait_until_ready(process, f"{settings.server.public_url}/readyz", log)
        service = Service(settings, process)
        machine.pin(process.pid, cores.server)
        machine.pin(service.store.pid, cores.store)
        yield service


def wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Wait until a server answers 200.

    Raises:
        Failed: It ended, or took too long; the message quotes its log.
    """
    deadline_s = time.monotonic() + START_PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline_s:
        try:
            _read(url)
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise Failed(f"{url} did not become ready:\n{log.read_text(errors='replace')[-4000:]}")


def _read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - a fixed http URL of ours
        content: bytes = answer.read()
        return content


def _store_of(pid: int) -> psutil.Process:
    for process in machine.descendants(pid):
        if "valkey-server" in process.name():
            return process
    raise Failed("the service has no Valkey of its own")
