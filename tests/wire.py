"""One request as a server hands it to the application: for what no HTTP client would send."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from litestar.types import ASGIApp

Headers = Sequence[tuple[bytes, bytes]]

HOST = (b"host", b"127.0.0.1:8420")
"""The name of the default settings."""
TYPE = (b"content-type", b"application/json")


def bearer(credential: str) -> tuple[bytes, bytes]:
    """The header that a credential comes in."""
    return (b"authorization", b"Bearer " + credential.encode())


class Exchange:
    """A request and, once :meth:`run` is done, its answer.

    Args:
        app: The application.
        method: The method.
        target: Path and query, as they stand in the request line.
        headers: All headers, ``Host`` included, in their order.
        chunks: The body, as it arrives. The client then waits for the answer, or hangs up.
        complete: Whether the body ends after ``chunks``.
    """

    def __init__(
        self,
        app: ASGIApp,
        method: str,
        target: str,
        headers: Headers = (),
        *,
        chunks: Sequence[bytes] = (b"",),
        complete: bool = True,
    ) -> None:
        self._app = app
        path, _, query = target.partition("?")
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "root_path": "",
            "headers": list(headers),
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8420),
            "state": {},
        }
        last = len(chunks) - 1
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        for at, chunk in enumerate(chunks):
            more = at < last or not complete
            self._messages.put_nowait({"type": "http.request", "body": chunk, "more_body": more})
        self.status: int | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""

    def hang_up(self) -> None:
        """The client goes away."""
        self._messages.put_nowait({"type": "http.disconnect"})

    async def run(self) -> "Exchange":
        """Have the request answered, or given up."""
        await self._app(self._scope, self._messages.get, self._send)  # type: ignore[arg-type] # plain ASGI
        return self

    async def _send(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = list(message["headers"])
        else:
            self.body += message.get("body", b"")

    def header(self, name: str) -> list[str]:
        """The values of a header of the answer."""
        return [value.decode() for key, value in self.headers if key.decode().lower() == name]

    @property
    def refusal(self) -> tuple[int | None, str]:
        """Status and code of an answer that must be a problem document."""
        return self.status, json.loads(self.body)["code"]
