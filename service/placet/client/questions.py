"""What a caller says, as values: the call that is to run, and what else there is to say of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from msgspec import UNSET

from placet.client.quiet import Quiet


class Actor(Quiet, frozen=True, kw_only=True):
    """On whose behalf the tool would run; ``id`` and ``kind`` are bound by the approval."""

    id: str
    kind: str
    display_name: str | None = None
    on_behalf_of: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = {}


class Presentation(Quiet, frozen=True, kw_only=True):
    """The runtime's own words for the card; ``redact`` are JSON Pointers into the input."""

    title: str | None = None
    summary: str | None = None
    redact: tuple[str, ...] = ()


class ToolCall(Quiet, frozen=True, kw_only=True):
    """A call as it will run: what an approval is bound to.

    Make it once, ask with it, and consume with it. Give ``input``, or ``input_hash`` in its place where a
    policy lets requests withhold it.
    """

    capability: str
    actor: Actor
    effect: str
    input: Any = UNSET
    input_hash: str | None = None
    surface: str = "direct"
    context: Mapping[str, Any] = {}


class Vote(Quiet, frozen=True, kw_only=True):
    """A decision on the card that was shown.

    ``digest`` is that card's. ``input`` is what an ``edit`` makes of the input. ``approver`` is the person
    that a bridge speaks for.
    """

    id: str
    decision: str
    digest: str
    comment: str | None = None
    input: Any = UNSET
    approver: str | None = None


class Terms(TypedDict, total=False):
    """What a request may say besides the call itself; what is left out has the service's default."""

    id: str
    risk: str
    reasons: Sequence[str]
    types: Sequence[str]
    allowed_decisions: Sequence[str]
    presentation: Presentation
    run: str
    audience: str
    expires_in_ms: int
    expires_at: datetime
    use_within_ms: int
    extensions: Mapping[str, Any]


class Filters(TypedDict, total=False):
    """Of which records a list is, or of which an event stream tells."""

    capability: str
    actor_id: str
    run: str


class ListFilters(Filters, total=False):
    """What else a list can be narrowed to."""

    status: str
    limit: int
