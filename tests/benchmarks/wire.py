"""Bytes on the wire: commands of the Redis protocol, and calls packed into files for the load to send."""

from collections.abc import Iterable, Iterator
from pathlib import Path


def command(*words: str | bytes | int) -> bytes:
    """A command as the Redis protocol has it: an array of bulk strings."""
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    bulk = b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)
    return b"*%d\r\n%b" % (len(parts), bulk)


def pack(path: Path, calls: Iterable[bytes]) -> Path:
    """Write calls to a file, each behind its length in decimal digits and a line feed."""
    with path.open("wb") as file:
        for call in calls:
            file.write(b"%d\n%b" % (len(call), call))
    return path


def unpack(path: Path) -> Iterator[bytes]:
    """Read them again."""
    with path.open("rb") as file:
        while length := file.readline():
            yield file.read(int(length))
