"""What a card is made from: a record as whoever looks at it may see it (design §4).

One shape for every medium. The API answers a record as JSON; the command line gets that over HTTP, the web
UI and chat channels have the view of it in process. Both become a :class:`Seen`, which keeps what a card
shows and nothing else. A member that is not there, because the service is older or does not show it to this
caller, is empty; others are passed over. Words are any text here: a newer service may know more of them.
"""

from datetime import datetime
from typing import Final

import msgspec
from msgspec import Raw, Struct

from placet.domain.canonical import sha256_hex

_NULL: Final = Raw(b"null")
_HASH_OF_NULL: Final = sha256_hex(b"null")


class SeenActor(Struct, frozen=True, kw_only=True):
    """On whose behalf the tool would run, as the asking client says."""

    id: str = ""
    kind: str = ""
    display_name: str | None = None
    on_behalf_of: tuple[str, ...] = ()


class SeenWords(Struct, frozen=True, kw_only=True):
    """The runtime's own title and summary, and the JSON Pointers of what is hidden."""

    title: str | None = None
    summary: str | None = None
    redact: tuple[str, ...] = ()


class SeenClaims(Struct, frozen=True, kw_only=True):
    """Effect and risk as they were asked with, where a rule raised them."""

    effect: str = ""
    risk: str = ""


class SeenRule(Struct, frozen=True, kw_only=True):
    """The rule it was asked under."""

    name: str = ""
    policy: str | None = None


class SeenPerson(Struct, frozen=True, kw_only=True):
    """An approver."""

    id: str = ""
    display_name: str | None = None


class SeenStepUp(Struct, frozen=True, kw_only=True):
    """The sign-in that was done for a decision."""

    acr: str | None = None
    amr: tuple[str, ...] = ()


class SeenVote(Struct, frozen=True, kw_only=True):
    """A decision; ``digest`` is of what it was about, or of what an edit made of it.

    ``counts`` says whether it still does.
    """

    decision: str = ""
    approver: SeenPerson = SeenPerson()
    channel: str = ""
    submitted_by: str | None = None
    comment: str | None = None
    digest: str | None = None
    at: datetime | None = None
    counts: bool = True
    step_up: SeenStepUp | None = None


class SeenQuorum(Struct, frozen=True, kw_only=True):
    """How many people it takes, and how many have decided."""

    required: int = 1
    approved: int = 0
    rejections: int = 1
    rejected: int = 0


class SeenUse(Struct, frozen=True, kw_only=True):
    """Who spent the grant."""

    execution_id: str = ""
    client: str = ""
    at: datetime | None = None


class SeenOutcome(Struct, frozen=True, kw_only=True):
    """What the runtime reported."""

    status: str = ""
    summary: str | None = None
    at: datetime | None = None


class SeenOriginal(Struct, frozen=True, kw_only=True):
    """What was asked, of an approval that was approved with changes."""

    input: Raw = _NULL
    input_hash: str | None = None
    digest: str | None = None

    @property
    def has_input(self) -> bool:
        """Whether the input is there."""
        return _is_there(self.input, self.input_hash)


class Seen(Struct, frozen=True, kw_only=True):
    """A record. ``input`` and ``context`` keep the bytes they came in, so that numbers stay as they are."""

    id: str
    status: str
    requested_at: datetime
    expires_at: datetime
    capability: str = ""
    tenant: str = ""
    surface: str = ""
    actor: SeenActor = SeenActor()
    effect: str = ""
    risk: str = ""
    claimed: SeenClaims | None = None
    rule: SeenRule | None = None
    context: Raw = _NULL
    input: Raw = _NULL
    input_hash: str | None = None
    input_redacted: bool = False
    digest: str | None = None
    reasons: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    allowed_decisions: tuple[str, ...] = ()
    presentation: SeenWords = SeenWords()
    run: str | None = None
    asked_by: str = ""
    audience: str = ""
    use_by: datetime | None = None
    quorum: SeenQuorum = SeenQuorum()
    decisions: tuple[SeenVote, ...] = ()
    suspended: str | None = None
    consumption: SeenUse | None = None
    outcome: SeenOutcome | None = None
    requested: SeenOriginal | None = None

    @property
    def has_input(self) -> bool:
        """Whether the input is there: null stands for an absent one, unless it is what was asked."""
        return _is_there(self.input, self.input_hash)


_decode = msgspec.json.Decoder(Seen).decode
_encode = msgspec.json.Encoder().encode


def read_seen(record: bytes) -> Seen:
    """Read a record as the API answers it.

    Raises:
        msgspec.DecodeError: It is something else.
    """
    return _decode(record)


def seen_of(view: Struct) -> Seen:
    """Read the view of a record that the API would answer, in process: the same, without HTTP."""
    return _decode(_encode(view))


def at_ms(moment: datetime) -> int:
    """Unix milliseconds."""
    return round(moment.timestamp() * 1000)


def _is_there(held: Raw, input_hash: str | None) -> bool:
    return bytes(held) != b"null" or input_hash == _HASH_OF_NULL
