"""A call and its answer, free of any framework: what operations take and give."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from placet.application.callers import Caller
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import Forbidden, MethodNotAllowed, PlacetError
from placet.domain.principals import Client

JSON = b"application/json"
PROBLEM = b"application/problem+json"

encode = msgspec.json.Encoder().encode


class Call(Struct, frozen=True, kw_only=True):
    """One authenticated request.

    ``body`` is the typed body (``None`` where the call takes none), ``admitted`` the same as it was
    admitted. ``began_s`` is when it arrived on the clock's ``monotonic_s``; ``gone`` returns when the
    client has hung up; ``rejudged`` authenticates the caller anew, for an operation that goes on by itself
    where credentials have changed; ``renewed`` does so where they may have.
    """

    caller: Caller
    path: Mapping[str, str]
    query: Any
    body: Any
    admitted: Any
    header: Callable[[bytes], str | None]
    began_s: float
    gone: Callable[[], Coroutine[Any, Any, None]]
    rejudged: Callable[[], Awaitable[Caller]]
    renewed: Callable[[], Awaitable[Caller]]

    @property
    def client(self) -> Client:
        """The calling service; routes for services let nobody else through.

        Raises:
            Forbidden: The caller is a person.
        """
        if not isinstance(self.caller.principal, Client):
            raise Forbidden(ForbiddenReason.SCOPE)
        return self.caller.principal


class Answer(Struct, frozen=True, kw_only=True):
    """What goes back. Headers are lower-case; content type and length are added by the transport."""

    status: int
    body: bytes
    content_type: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    code: str = ""
    """The error code, for metrics and the log; empty for a success."""
    stream: AsyncGenerator[bytes] | None = None
    """What goes back bit by bit, for as long as the client listens, in place of ``body``."""


def ok(value: object, status: int = 200, headers: tuple[tuple[bytes, bytes], ...] = ()) -> Answer:
    """A JSON answer."""
    return Answer(status=status, body=encode(value), headers=headers)


def problem(error: PlacetError) -> Answer:
    """The one renderer of errors (RFC 9457)."""
    headers: list[tuple[bytes, bytes]] = []
    if isinstance(error, MethodNotAllowed):
        headers.append((b"allow", ", ".join(error.allow).encode()))
    wait_s = error.retry_after_s()
    if wait_s is not None:
        headers.append((b"retry-after", str(wait_s).encode()))
    if error.status == 401:  # noqa: PLR2004 - RFC 9110 §11.6.1 asks for the challenge
        headers.append((b"www-authenticate", b'Bearer realm="placet"'))
    return Answer(
        status=error.status,
        body=encode(error.problem()),
        content_type=PROBLEM,
        headers=tuple(headers),
        code=error.code,
    )
