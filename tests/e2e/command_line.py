"""A person's machine, as the tests of the command line see it: commands, a service, a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped] # it ships no types

import placet
from tests.tools import gone

WITHIN_S = 30.0
"""How long anything may take before a test gives up; never waited out where all is well."""

_COMMAND = [sys.executable, "-m", "placet"]
_ON_TERMINAL = 'exec "$@" <"$0" >"$0" 2>&1'
"""Opening the terminal by its name makes it the one that controls the new session."""


class Machine:
    """A home directory, an environment, and what runs in it."""

    def __init__(self, home: Path) -> None:
        self.data_dir = home / ".local" / "state" / "placet"
        self.environ = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(Path(placet.__file__).parent.parent),
            "LANG": "C.UTF-8",
        }
        self._started: list[subprocess.Popen[str]] = []

    def placet(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, without a terminal."""
        return subprocess.run(
            [*_COMMAND, *argv],
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=WITHIN_S,
        )

    def redirected(self, where: str, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end with its streams redirected as a shell does it, ``>/dev/full`` say."""
        return subprocess.run(
            ["sh", "-c", f'exec "$@" {where}', "sh", *_COMMAND, *argv],
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
            timeout=WITHIN_S,
        )

    def said(self, *argv: str, **environ: str) -> Any:
        """What a command that succeeds says in JSON."""
        ran = self.placet(*argv, "--json", **environ)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    def serve(self, *argv: str, **environ: str) -> Service:
        """Start a service on free ports, and wait until it is ready."""
        process = subprocess.Popen(
            [*_COMMAND, "serve", "--port", "0", "--json", *argv],
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._started.append(process)
        return Service(process)

    @contextlib.contextmanager
    def terminal(self, *argv: str, **environ: str) -> Iterator[Terminal]:
        """Run a command in a terminal of its own."""
        terminal = Terminal([*_COMMAND, *argv], {**self.environ, "TERM": "xterm", **environ})
        try:
            yield terminal
        finally:
            terminal.close()

    def end(self) -> None:
        """End whatever is still there."""
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()


class Service:
    """A service in a process of its own. Its first line says where it is."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        self.said: dict[str, Any] = json.loads(line)
        self.url = f"http://127.0.0.1:{self.said['port']}"
        self.family = psutil.Process(process.pid).children(recursive=True)
        """The store's processes."""

    def client(self, token: str) -> httpx.Client:
        """A caller with a credential."""
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=WITHIN_S, trust_env=False)

    def connect(self) -> socket.socket:
        """A bare connection."""
        return socket.create_connection(("127.0.0.1", self.said["port"]), timeout=WITHIN_S)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def ended(self) -> tuple[int, str]:
        """Wait for its end: the status, and all it has logged. Nothing of it is left."""
        _, log = self.process.communicate(timeout=WITHIN_S)
        deadline_s = time.monotonic() + WITHIN_S
        while not all(map(gone, self.family)):
            assert time.monotonic() < deadline_s, "the store is still there"
            time.sleep(0.01)
        return self.process.returncode, log


class Terminal:
    """A command in a terminal, and the person before it."""

    def __init__(self, command: list[str], environ: dict[str, str]) -> None:
        self._screen, line = pty.openpty()
        name = os.ttyname(line)
        self._process = subprocess.Popen(
            ["sh", "-c", _ON_TERMINAL, name, *command], env=environ, start_new_session=True
        )
        # The line stays open until the command has opened it, or the screen would be gone before.
        self.shown = ""
        self._line = line

    def until(self, text: str) -> str:
        """Read on until a text is on the screen; all that has been shown."""
        deadline_s = time.monotonic() + WITHIN_S
        while text not in self.shown:
            assert time.monotonic() < deadline_s, f"{text!r} did not come: {self.shown}"
            self._read(0.1)
        return self.shown

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._screen, keys.encode())

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._line)
        os.close(self._screen)
        self._line = self._screen = -1

    def ended(self) -> int:
        """Wait for the end, reading on; the exit status."""
        deadline_s = time.monotonic() + WITHIN_S
        while self._process.poll() is None:
            assert time.monotonic() < deadline_s, f"it does not end: {self.shown}"
            self._read(0.05)
        self._read(0)
        return self._process.wait()

    @property
    def pid(self) -> int:
        """The command's process."""
        return self._process.pid

    def close(self) -> None:
        """End it, if it is still there, and take the terminal away."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._screen >= 0:
            self.hang_up()

    def _read(self, within_s: float) -> None:
        if self._screen < 0:
            time.sleep(within_s)
            return
        while select.select([self._screen], [], [], within_s)[0]:
            self.shown += os.read(self._screen, 65_536).decode(errors="replace").replace("\r\n", "\n")
            within_s = 0
