"""uvicorn's HTTP/1.1 protocol with two bounds that it lacks: on the size of a head, and on waiting for one.

A connection on which nothing is being served has the keep-alive time to bring the next complete head. So
whoever sends nothing, or a head in trickles, or goes on with a body that has been answered, is hung up on.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_MAX_BYTES: Final = 64 * 1024
"""Request line and headers together; usual servers take 8 to 64 KiB."""

# RFC 6585 §5.
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
)


class BoundedProtocol(HttpToolsProtocol):
    """Counts what it is fed until a head is complete, and hangs up on one that does not end or come."""

    _late: asyncio.TimerHandle

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._head_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Somebody has come."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone."""
        self._late.cancel()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._in_head = False
        self._head_bytes = 0
        self._late.cancel()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """An answer is complete; requests that came before it was may still wait for theirs."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._await_head()

    def _await_head(self) -> None:
        # uvicorn's own timer is called off by whatever arrives, and there is none before the first answer.
        self._late = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def data_received(self, data: bytes) -> None:
        """Take bytes off the connection."""
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_MAX_BYTES and not self.transport.is_closing():
                self.transport.write(_TOO_LARGE)
                self.transport.close()
