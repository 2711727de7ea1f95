"""Processes of the benchmark: started with our own Python and path, ended by their pid."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

END_PATIENCE_S = 30.0
"""A service answers its waiters and flushes its store before it ends."""
RUN_PATIENCE_S = 900.0
"""No single load takes longer, filling a store included; where one does, something hangs."""

_NOTHING: Mapping[str, str] = {}


class Failed(Exception):  # noqa: N818 - reads as what happened
    """The benchmark can't go on, or something answered what it should not; the message says which."""


def environment(settings: Mapping[str, str] = _NOTHING) -> dict[str, str]:
    """Our environment, without settings of Placet but for these, and with our import path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLACET_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path), **settings}


def module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours."""
    return [sys.executable, "-m", name, *arguments]


@contextmanager
def running(
    command: list[str], log: Path, settings: Mapping[str, str] = _NOTHING
) -> Iterator[subprocess.Popen[bytes]]:
    """A process whose output goes to a log, ended at the end."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment(settings))
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def result(command: list[str], told: bytes = b"") -> bytes:
    """What a process that ends by itself writes, when it is told something on its standard input.

    Raises:
        Failed: It ended badly, or not in time.
    """
    try:
        done = subprocess.run(
            command, input=told, capture_output=True, env=environment(), timeout=RUN_PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"not done within {RUN_PATIENCE_S:.0f} s: {' '.join(command)}") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")
        raise Failed(f"ended with {done.returncode}: {' '.join(command)}\n{said}")
    return done.stdout
