"""The request that is being served, for everything that is logged on its way."""

import os
import re
from contextvars import ContextVar
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_NEW_BYTES: Final = 16

_request_id: Final[ContextVar[str | None]] = ContextVar("placet_request_id", default=None)


def request_id() -> str | None:
    """Return the id of the request being served; None outside one."""
    return _request_id.get()


def request_id_or_new(header: str | None) -> str:
    """Keep a foreign ``X-Request-ID`` only if it is plain, else make one.

    It is sent back in a header and written into logs, so it must not carry line breaks, markup or a novel.

    Args:
        header: the header's value, None where there is none.

    Returns:
        The value itself if it is 1 to 64 of ``A-Z a-z 0-9 . _ -``, else 32 random hexadecimal digits.
    """
    if header is not None and _PLAIN.fullmatch(header) is not None:
        return header
    return os.urandom(_NEW_BYTES).hex()


class bound_request_id:  # noqa: N801 - used as the function it could be, were a generator not 2 µs slower
    """Serve a request: its id, kept or new, is `request_id` in this task and in those it starts.

    A context manager whose target is the id.

    Args:
        header: as for `request_id_or_new`.
    """

    __slots__ = ("_bound", "_token")

    def __init__(self, header: str | None) -> None:
        self._bound = request_id_or_new(header)

    def __enter__(self) -> str:
        self._token = _request_id.set(self._bound)
        return self._bound

    def __exit__(self, *_: object) -> None:
        _request_id.reset(self._token)
