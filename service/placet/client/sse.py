"""Server-sent events, as they arrive (WHATWG HTML §9.2.6): from pieces of bytes to blocks."""

import re
from collections.abc import Iterator
from typing import Final

from placet.client.quiet import Quiet

BLOCK_MAX_BYTES: Final = 1024 * 1024
"""Our own events have some hundred bytes."""

# A final \r may be half of a pair.
_END_OF_LINE: Final = re.compile(rb"\r\n|\n|\r(?!\Z)")
_BOM: Final = b"\xef\xbb\xbf"


class Block(Quiet, frozen=True, kw_only=True):
    """One event."""

    type: str
    data: bytes


class Blocks:
    """Reads one stream.

    Attributes:
        last_id: The id of the latest event that is complete and had one.
        retry_ms: After how long the service wants a lost listener back.
    """

    def __init__(self, last_id: str | None = None, retry_ms: int = 0) -> None:
        self.last_id = last_id
        self.retry_ms = retry_ms
        self._next_id = last_id
        self._rest = b""
        self._begun = False
        self._type = ""
        self._data: list[bytes] = []
        self._held_bytes = 0

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """The events that are complete with this piece.

        Raises:
            ValueError: One has no end.
        """
        *lines, self._rest = _END_OF_LINE.split(self._rest + chunk)
        for line in lines:
            if not self._begun:
                line, self._begun = line.removeprefix(_BOM), True  # noqa: PLW2901 - the same without its mark
            if line:
                self._field(line)
                continue
            self.last_id = self._next_id
            if self._data:
                yield Block(type=self._type or "message", data=b"\n".join(self._data))
            self._type, self._data, self._held_bytes = "", [], 0
        if self._held_bytes + len(self._rest) > BLOCK_MAX_BYTES:
            raise ValueError("an event has no end")

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        self._held_bytes += len(line)
        match name:
            case b"data":
                self._data.append(value)
            case b"event":
                self._type = value.decode(errors="replace")
            case b"id" if b"\0" not in value:
                self._next_id = value.decode(errors="replace") or None
            case b"retry" if value.isdigit() and len(value) < 6:  # noqa: PLR2004 - a minute and a half
                self.retry_ms = int(value)
