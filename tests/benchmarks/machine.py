"""The machine under measurement: its cores, its processes, its limits."""

import os
import resource
import socket
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types
from msgspec import Struct


class Cores(Struct, frozen=True, kw_only=True):
    """Which cores do what, so that a server and its load never take turns on one. Empty: anywhere."""

    server: frozenset[int]
    store: frozenset[int]
    load: frozenset[int]


def divide() -> Cores:
    """The cores we may use, divided. With two, store and load share one; with more, the store has its own."""
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    if len(usable) <= 1:
        return Cores(server=frozenset(), store=frozenset(), load=frozenset())
    server, store, *rest = usable
    return Cores(server=frozenset({server}), store=frozenset({store}), load=frozenset(rest or {store}))


def pin(pid: int, cores: frozenset[int]) -> None:
    """Keep a process, all threads of it, on some cores. Processes it starts later stay there too."""
    if not cores:
        return
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def pin_self(cores: frozenset[int]) -> None:
    """Keep this process, and what it starts, on some cores."""
    if cores:
        os.sched_setaffinity(0, cores)


def descendants(pid: int) -> list[psutil.Process]:
    """The processes that a process has started, and those they have."""
    found: list[psutil.Process] = psutil.Process(pid).children(recursive=True)
    return found


def resident_bytes(pid: int) -> int:
    """How much of a process is in memory."""
    return int(psutil.Process(pid).memory_info().rss)


def cpu_s(pid: int) -> float:
    """Seconds of a processor that a process has used."""
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def raise_open_files() -> int:
    """Allow this process, and those it starts, as many open files as the system lets it; returns how many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def free_port() -> int:
    """A TCP port of loopback that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
