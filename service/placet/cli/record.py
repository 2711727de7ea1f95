"""An approval and what belongs to it, as the command line reads them off the wire: what it shows, no more."""

from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct

from placet.cli.exits import Stop
from placet.domain.presentation import Seen as Record
from placet.domain.presentation import at_ms

__all__ = ["Event", "Page", "Record", "Trail", "at_ms", "read"]

_T = TypeVar("_T")


class Page(Struct, frozen=True, kw_only=True):
    """A page of a list, each record as it came."""

    items: tuple[Raw, ...]
    next_cursor: str | None = None


class Event(Struct, frozen=True, kw_only=True):
    """A line of an audit trail."""

    seq: int
    at: datetime
    type: str
    by: str = ""
    channel: str | None = None
    code: str | None = None
    reason: str | None = None
    count: int = 1


class Trail(Struct, frozen=True, kw_only=True):
    """An audit trail."""

    items: tuple[Event, ...]


def read(body: bytes, shape: type[_T]) -> _T:
    """Read an answer.

    Raises:
        Stop: It is something else; the service is of a version that this command does not know.
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, RecursionError) as fault:
        raise Stop(f"The service's answer can't be read ({fault}): is it of the same version?") from fault
