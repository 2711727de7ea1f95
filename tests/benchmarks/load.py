"""Load over HTTP: a file of calls, each sent once, over connections that stay busy until all are answered.

wrk sends it where it is installed, else :mod:`tests.benchmarks.client`; either way it is another process.
"""

import shutil
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.benchmarks.processes import RUN_PATIENCE_S, Failed, module, result

_SCRIPT = Path(__file__).with_name("load.lua")


class Answered(Struct, frozen=True, kw_only=True):
    """How a load was answered: how many answers of each kind, within how long."""

    seconds: float
    answers: dict[str, int]

    def rate(self, *, only: str) -> float:
        """Answers per second.

        Raises:
            Failed: Something was answered that is not ``only``.
        """
        if set(self.answers) != {only}:
            raise Failed(f"every answer should be {only!r}: {self.answers}")
        return self.answers[only] / self.seconds


read_answered = msgspec.json.Decoder(Answered).decode


class Load:
    """Sends files of calls.

    Args:
        connections: How many calls are under way at once.
        bundled: Use the bundled client even where wrk is installed.
    """

    def __init__(self, connections: int, *, bundled: bool = False) -> None:
        self.connections = connections
        self._wrk = None if bundled else shutil.which("wrk")

    @property
    def name(self) -> str:
        """What sends it."""
        return "the bundled client" if self._wrk is None else "wrk"

    def send(self, calls: Path, port: int) -> Answered:
        """Send every call to a server on loopback.

        Raises:
            Failed: The client could not go on to the end.
        """
        if self._wrk is None:
            command = module("tests.benchmarks.client", str(calls), str(port), str(self.connections))
        else:
            options = ["-t1", f"-c{self.connections}", f"-d{RUN_PATIENCE_S:.0f}s", "--timeout", "60s"]
            command = [self._wrk, *options, "-s", str(_SCRIPT), f"http://127.0.0.1:{port}", "--", str(calls)]
        lines = result(command).splitlines()
        if not lines:
            raise Failed("the load was not answered to its end")
        return read_answered(lines[-1])


def send_scripts(calls: Path, socket: Path, at_once: int) -> Answered:
    """Send store commands over one connection, so many under way at once; answers by their first word."""
    command = module("tests.benchmarks.raw", str(calls), str(socket), str(at_once))
    return read_answered(result(command))
