"""Processes for tests from outside: ``placet serve``, and a store that may be killed under it.

Everything listens on free ports of loopback or on sockets in temporary directories, and is ended by its pid.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types
from redis import Redis

from tests import servers

WITHIN_S = 30.0
"""How long anything may take before a test gives up; never waited out where all is well."""

PLACET = ("-m", "placet")


class Replica:
    """A service, ready for calls. Started again it listens on the port that it was given first.

    Args:
        variables: Its ``PLACET_`` variables.
        directory: Where its output goes; made.
        module: What Python runs in place of Placet's command line.

    Attributes:
        log: What it has written to standard error, of all its lives.
        port: Where its API listens.
        process: Its present or last life.
        family: Everyone there was at each of its ends: itself and, where it has a store, guard and Valkey.
    """

    def __init__(self, variables: Mapping[str, str], directory: Path, module: Sequence[str] = PLACET) -> None:
        own = {"PLACET_PORT": "0", "PLACET_METRICS_BIND": "127.0.0.1:0", "PLACET_ASK_BURST": "1000000"}
        self._variables = {**own, **variables}
        self._command = [sys.executable, *module, "serve", "--json"]
        directory.mkdir()
        self.log = directory / "log"
        self._told = directory / "told"
        self.family: set[psutil.Process] = set()
        self.start()

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        with self.log.open("ab") as log, self._told.open("wb") as told:
            self.process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=log,
                env=environment(self._variables),
            )
        self._wait(lambda: self._told.read_bytes().endswith(b"\n"), "it says where it is")
        document = json.loads(self._told.read_bytes())
        assert "port" in document, document
        self.port = int(document["port"])
        self._metrics_url = str(document["metrics_url"])
        self._variables["PLACET_PORT"] = str(self.port)
        self._wait(self.is_ready, "it is ready")

    @property
    def url(self) -> str:
        """Where its API is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def is_ready(self) -> bool:
        """Whether it says that calls are welcome."""
        try:
            _read(f"{self.url}/readyz")
        except OSError:  # an answer of 503 too
            return False
        return True

    def metric(self, name: str) -> float:
        """A metric without labels, as it stands."""
        lines = _read(self._metrics_url).splitlines()
        return float(next(line for line in lines if line.startswith(f"{name} ")).split()[1])

    def connections(self) -> int:
        """How many connections to its API are open in it."""
        open_ = psutil.Process(self.process.pid).net_connections("tcp")
        return sum(each.laddr.port == self.port and each.status != psutil.CONN_LISTEN for each in open_)

    def end(self) -> int:
        """End it in good order; its exit status. One that doesn't end is killed, and has -9."""
        self._remember()
        self.process.terminate()
        try:
            return self.process.wait(WITHIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.process.returncode

    def kill(self) -> None:
        """End it as a power cut would."""
        self._remember()
        self.process.kill()
        self.process.wait(WITHIN_S)

    def _remember(self) -> None:
        itself = psutil.Process(self.process.pid)
        self.family |= {itself, *itself.children(recursive=True)}

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        deadline_s = time.monotonic() + WITHIN_S
        while not condition():
            if not self.runs or time.monotonic() > deadline_s:
                said = self.log.read_text(errors="replace")[-4000:]
                raise AssertionError(f"not so: {what} (exit status {self.process.poll()})\n{said}")
            time.sleep(0.01)


class ExternalStore:
    """A Valkey that has every change on the disk before it answers, in a directory that outlives it.

    Args:
        binary: The server.
        directory: Where it keeps its data, its log and its socket.
        options: Further arguments.
    """

    def __init__(self, binary: str, directory: Path, *options: str) -> None:
        self.directory = directory
        self._binary = binary
        self._options = options
        self._exits = ExitStack()
        self.socket = directory / "s"

    def start(self) -> None:
        """Start it on whatever the directory holds."""
        self.socket.unlink(missing_ok=True)
        self._exits.enter_context(servers.running(self._binary, self.directory, *self._options))

    def kill(self) -> None:
        """End it as a power cut would."""
        process_of(self.socket).kill()
        self._exits.close()

    def stop(self) -> None:
        """Stop it, where it runs."""
        self._exits.close()


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=WITHIN_S) as answer:  # noqa: S310 - a fixed http URL of ours
        return str(answer.read().decode())


def process_of(socket: Path) -> psutil.Process:
    """The server that listens on a socket."""
    with Redis(unix_socket_path=str(socket)) as client:
        return psutil.Process(int(client.info("server")["process_id"]))


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Ours without settings of Placet but for these, and with our import path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLACET_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **variables}
