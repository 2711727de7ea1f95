"""An approval as the command line reads it off the wire: what it shows, and no more.

Members a service does not send, because it is older or does not show them to this caller, are empty;
those it sends besides are ignored.
"""

from datetime import datetime
from typing import Final, TypeVar

import msgspec
from msgspec import Raw, Struct

from placet.cli.exits import Stop
from placet.domain.canonical import sha256_hex

_T = TypeVar("_T")
_NULL: Final = Raw(b"null")
_HASH_OF_NULL: Final = sha256_hex(b"null")


class Actor(Struct, frozen=True, kw_only=True):
    """On whose behalf the tool would run, as the asking client says."""

    id: str = ""
    kind: str = ""
    display_name: str | None = None
    on_behalf_of: tuple[str, ...] = ()


class Words(Struct, frozen=True, kw_only=True):
    """The runtime's own title and summary, and the JSON Pointers of what is hidden."""

    title: str | None = None
    summary: str | None = None
    redact: tuple[str, ...] = ()


class Person(Struct, frozen=True, kw_only=True):
    """An approver."""

    id: str = ""
    display_name: str | None = None


class Vote(Struct, frozen=True, kw_only=True):
    """A decision."""

    decision: str = ""
    approver: Person = Person()
    channel: str = ""
    comment: str | None = None
    at: datetime | None = None


class Quorum(Struct, frozen=True, kw_only=True):
    """How many must approve, and how many have."""

    required: int = 1
    approved: int = 0


class Consumption(Struct, frozen=True, kw_only=True):
    """Who spent the grant."""

    execution_id: str = ""
    client: str = ""
    at: datetime | None = None


class Outcome(Struct, frozen=True, kw_only=True):
    """What the runtime reported."""

    status: str = ""
    summary: str | None = None
    at: datetime | None = None


class Record(Struct, frozen=True, kw_only=True):
    """An approval. ``input`` keeps the bytes it came in, so that its numbers stay as they are."""

    id: str
    status: str
    requested_at: datetime
    expires_at: datetime
    capability: str = ""
    tenant: str = ""
    surface: str = ""
    actor: Actor = Actor()
    effect: str = ""
    risk: str = ""
    context: Raw = _NULL
    input: Raw = _NULL
    input_hash: str | None = None
    input_redacted: bool = False
    digest: str | None = None
    reasons: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    allowed_decisions: tuple[str, ...] = ()
    presentation: Words = Words()
    run: str | None = None
    asked_by: str = ""
    audience: str = ""
    use_by: datetime | None = None
    quorum: Quorum = Quorum()
    decisions: tuple[Vote, ...] = ()
    consumption: Consumption | None = None
    outcome: Outcome | None = None

    @property
    def has_input(self) -> bool:
        """Whether the input is there: null stands for an absent one, unless it is what was asked."""
        return bytes(self.input) != b"null" or self.input_hash == _HASH_OF_NULL


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
    except msgspec.DecodeError as fault:
        raise Stop(f"The service's answer can't be read ({fault}): is it of the same version?") from fault


def at_ms(moment: datetime) -> int:
    """Unix milliseconds."""
    return round(moment.timestamp() * 1000)
