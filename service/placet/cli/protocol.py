"""uvicorn's HTTP/1.1 protocol with two bounds that it lacks: on bytes that lead nowhere, and on waiting.

Request lines, headers, trailers and chunk extensions are read, and partly kept, before anyone has looked at
them; so there is only so much of them until something comes of it: a complete head, or bytes of a body.

A connection on which nothing is being served has the keep-alive time to bring the next complete head. So
whoever sends nothing, or a head in trickles, or goes on with a body that has been answered, is hung up on.
"""

import asyncio
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from placet.cli.gathering import Gathering

HEAD_MAX_BYTES: Final = 64 * 1024
"""Request line and headers together, or trailers; usual servers take 8 to 64 KiB."""

# RFC 6585 §5.
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
)


class BoundedProtocol(HttpToolsProtocol):
    """Counts what it is fed while nothing comes of it, and hangs up on a head that does not end or come."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self._head_by_s: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._went_on = False
        self._idle_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """Somebody has come."""
        super().connection_made(cast("asyncio.Transport", Gathering(transport, self.loop)))
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have gone."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_headers_complete(self) -> None:
        """A head is complete."""
        self._went_on = True
        self._head_by_s = None
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of a body has come."""
        self._went_on = True
        super().on_body(body)

    def on_response_complete(self) -> None:
        """An answer is complete; requests that came before it was may still wait for theirs."""
        super().on_response_complete()
        if self.cycle.response_complete:
            self._await_head()

    def _await_head(self) -> None:
        # uvicorn's own timer is called off by whatever arrives, and there is none before the first answer.
        self._head_by_s = self.loop.time() + self.timeout_keep_alive
        if self._timer is None:  # else it looks when that is over: nothing is armed anew for each request
            self._timer = self.loop.call_at(self._head_by_s, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._head_by_s is None:  # something is being served
            return
        if self.loop.time() < self._head_by_s:
            self._timer = self.loop.call_at(self._head_by_s, self._look)
        else:
            self.timeout_keep_alive_handler()

    def data_received(self, data: bytes) -> None:
        """Take bytes off the connection."""
        self._went_on = False
        super().data_received(data)
        self._idle_bytes = 0 if self._went_on else self._idle_bytes + len(data)
        if self._idle_bytes > HEAD_MAX_BYTES and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()
