"""``placet serve`` in this thread, while something is done beside it in another."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped] # it ships no types

from placet.cli import program
from tests.unit.cli.conftest import Ran, Screen, Type, cli  # noqa: F401 - the fixture types a command line

WITHIN_S = 30.0
Said = dict[str, Any]


def guards() -> list[psutil.Process]:
    """The guards of embedded stores that this process has started; other tests' servers have none."""
    return [each for each in psutil.Process().children() if "guard.py" in " ".join(each.cmdline())]


def served(
    data_dir: Path, act: Callable[[Said], None], *argv: str, terminal: bool = False, ends: bool = True
) -> Ran:
    """Serve in this thread, ``act`` in another when it is ready, and then have a signal end it."""
    out, err = Screen(terminal=False), Screen(terminal=terminal)
    failed: list[BaseException] = []

    def beside() -> None:
        deadline_s = time.monotonic() + WITHIN_S
        while not out.getvalue().endswith("\n"):
            if over.is_set() or time.monotonic() > deadline_s:
                return
            time.sleep(0.01)
        try:
            act(json.loads(out.getvalue()))
        except BaseException as fault:  # noqa: BLE001 - it is raised where the test sees it
            failed.append(fault)
        if ends or failed:
            os.kill(os.getpid(), signal.SIGTERM)

    over = threading.Event()
    thread = threading.Thread(target=beside)
    thread.start()
    environ = {"HOME": str(data_dir.parent), "NO_COLOR": "1"}
    command = ["serve", "--json", "--port", "0", "--data-dir", str(data_dir), *argv]
    status = program.run(command, Screen(terminal=False), out, err, environ=environ)
    over.set()
    thread.join()
    if failed:
        raise failed[0]
    return Ran(status=int(status), out=out.getvalue(), err=err.getvalue())
