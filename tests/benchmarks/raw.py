"""A minimal pipelined client of the store: what the scripts alone can do.

``python -m tests.benchmarks.raw FILE SOCKET AT_ONCE`` sends the commands of a file over one connection.
"""

import socket
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import hiredis
import msgspec

from tests.benchmarks import wire
from tests.benchmarks.load import Answered

_RECEIVE_BYTES = 1 << 20


def timed(commands: Iterable[bytes], path: Path, at_once: int) -> Answered:
    """Send commands, so many under way at once; answers by their first word."""
    began_s = time.perf_counter()
    answers = _send(iter(commands), path, at_once)
    return Answered(seconds=time.perf_counter() - began_s, answers=answers)


def _send(left: Iterator[bytes], path: Path, at_once: int) -> Counter[str]:
    answers: Counter[str] = Counter()
    reader = hiredis.Reader()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        room = at_once
        while True:
            ready = list(islice(left, room))
            connection.sendall(b"".join(ready))
            under_way = at_once - room + len(ready)
            if not under_way:
                return answers
            reader.feed(connection.recv(_RECEIVE_BYTES))
            room = at_once - under_way
            while (reply := reader.gets()) is not False:
                room += 1
                answers[_word(reply)] += 1


def _word(reply: object) -> str:
    return reply[0].decode() if isinstance(reply, list) else str(reply)


def _main(file: str, path: str, at_once: str) -> None:
    commands = list(wire.unpack(Path(file)))
    sys.stdout.buffer.write(msgspec.json.encode(timed(commands, Path(path), int(at_once))))


if __name__ == "__main__":
    _main(*sys.argv[1:])
