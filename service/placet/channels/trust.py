"""Whom we trust where we call others over TLS."""

import asyncio
import ssl

import httpx


class Trust:
    """The authorities of this machine; ``SSL_CERT_FILE`` and ``SSL_CERT_DIR`` count everywhere."""

    def __init__(self) -> None:
        self._read: asyncio.Task[ssl.SSLContext] | None = None

    async def context(self) -> ssl.SSLContext:
        """What a connection is made with. It takes 20 ms to be read, once, in which others are served."""
        if self._read is None:
            reading = asyncio.to_thread(httpx.create_ssl_context)
            self._read = asyncio.get_running_loop().create_task(reading)
        return await asyncio.shield(self._read)
