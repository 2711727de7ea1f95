"""Connections to addresses that were judged, which take in so much and no more."""

import ssl
from collections.abc import Iterable, Sequence
from typing import Any

from httpcore import (
    AnyIOBackend,
    AsyncNetworkBackend,
    AsyncNetworkStream,
    ConnectError,
    ConnectTimeout,
    ReadError,
)


class Pinned(AsyncNetworkBackend):
    """Connects to these addresses, whatever the name: nobody is asked for it again.

    The name stays what ``Host`` and SNI say, and what a certificate has to be for.

    Args:
        addresses: At least one. They are tried in turn, each for its share of the time.
        answer_max_bytes: How much is taken in on a connection, all told.
    """

    def __init__(self, addresses: Sequence[str], answer_max_bytes: int) -> None:
        self._addresses = addresses
        self._answer_max_bytes = answer_max_bytes
        self._network = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the point of it
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> AsyncNetworkStream:
        """A connection to the first address that takes one."""
        share_s = None if timeout is None else timeout / len(self._addresses)
        *others, last = self._addresses
        for address in others:
            try:
                stream = await self._network.connect_tcp(
                    address, port, share_s, local_address, socket_options
                )
            except (ConnectError, ConnectTimeout):
                continue
            return _Bounded(stream, self._answer_max_bytes)
        stream = await self._network.connect_tcp(last, port, share_s, local_address, socket_options)
        return _Bounded(stream, self._answer_max_bytes)


class _Bounded(AsyncNetworkStream):
    """A connection that is broken off where more comes than is taken."""

    def __init__(self, stream: AsyncNetworkStream, left_bytes: int) -> None:
        self._stream = stream
        self._left_bytes = left_bytes

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        if not self._left_bytes:
            raise ReadError("The answer is too long.")
        read = await self._stream.read(min(max_bytes, self._left_bytes), timeout)
        self._left_bytes -= len(read)
        return read

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
    ) -> AsyncNetworkStream:
        stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return _Bounded(stream, self._left_bytes)

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - httpcore's signature
        return self._stream.get_extra_info(info)
