"""Real servers for tests: started on a unix socket in a directory of their own, stopped by their pid."""

import shutil
import socket as sockets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from placet.store.binary import find_binary
from placet.store.embedded_errors import EmbeddedUnavailable

_PATIENCE_S = 10.0


def valkey_binary() -> str | None:
    """The embedded Valkey's binary, where there is one for this platform."""
    try:
        return str(find_binary())
    except EmbeddedUnavailable:
        return None


def redis_binary() -> str | None:
    """Debian's redis-server, where it is installed."""
    return shutil.which("redis-server")


def _listens(path: Path) -> bool:
    """Whether somebody takes connections there: the socket is there a moment earlier."""
    with sockets.socket(sockets.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


@contextmanager
def running(binary: str, directory: Path, *options: str) -> Iterator[Path]:
    """A server on ``directory/s``, durable as the embedded one is; yields its socket."""
    socket = directory / "s"
    command = [binary, "--port", "0", "--unixsocket", str(socket), "--dir", str(directory), "--save", ""]
    command += ["--appendonly", "yes", "--appendfsync", "always", *options]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + _PATIENCE_S
        while not _listens(socket):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((directory / "log").read_text())
            time.sleep(0.01)
        yield socket
    finally:
        process.terminate()
        process.wait(_PATIENCE_S)
