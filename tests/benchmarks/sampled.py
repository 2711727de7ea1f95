"""Run ``placet`` with a sampler inside: ``python -m tests.benchmarks.sampled FILE ARGUMENT…``.

Between SIGUSR1 and SIGUSR2 it notes, at every tick of processor time, which layer the code is in and which of
our functions are on the stack, and then writes that to FILE as JSON (:class:`Samples`). A tick is taken
between two steps of the interpreter, so the time of C code falls on the function that called it.
"""

import runpy
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import msgspec
from msgspec import Struct

from tests.benchmarks.layers import LOOP, layer_of, name_of

_TICK_S = 0.001


class Samples(Struct, frozen=True, kw_only=True):
    """What was seen: ticks by layer, ticks by function (itself and what it calls), seconds of processor."""

    layers: dict[str, int]
    functions: dict[str, int]
    cpu_s: float


class Sampler:
    """Counts ticks."""

    def __init__(self, told: Path) -> None:
        self._told = told
        self._layers: Counter[str] = Counter()
        self._functions: Counter[str] = Counter()
        self._known: dict[CodeType, tuple[str | None, str | None]] = {}
        self._began_s = 0.0

    def listen(self) -> None:
        """Be ready for the two signals."""
        signal.signal(signal.SIGPROF, self._tick)
        signal.signal(signal.SIGUSR1, self._start)
        signal.signal(signal.SIGUSR2, self._stop)

    def _start(self, _number: int, _frame: FrameType | None) -> None:
        self._began_s = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, _TICK_S, _TICK_S)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        samples = Samples(
            layers=dict(self._layers),
            functions=dict(self._functions),
            cpu_s=time.process_time() - self._began_s,
        )
        unfinished = self._told.with_suffix(".unfinished")
        unfinished.write_bytes(msgspec.json.encode(samples))
        unfinished.rename(self._told)

    def _tick(self, _number: int, frame: FrameType | None) -> None:
        layer: str | None = None
        functions = set()
        while frame is not None:
            code = frame.f_code
            known = self._known.get(code)
            if known is None:
                known = self._known[code] = layer_of(code), name_of(code)
            layer = layer or known[0]
            if known[1] is not None:
                functions.add(known[1])
            frame = frame.f_back
        self._layers[layer or LOOP] += 1
        self._functions.update(functions)


def _main(told: str, *arguments: str) -> None:
    Sampler(Path(told)).listen()
    sys.argv = ["placet", *arguments]
    runpy.run_module("placet", run_name="__main__")


if __name__ == "__main__":
    _main(*sys.argv[1:])
