"""What the scripts keep without reading it: documents, lines of a log, packed votes, words of refusals.

A line of a record's log is ``<at_ms> <event type> [seal]<json>``.
"""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from placet.domain.deliveries import Delivery, DeliveryState, Failure
from placet.domain.events import SYSTEM
from placet.domain.machine import Ruling
from placet.domain.model import Edited, OutcomeStatus, Sealed, Verdict

PERSON_CHARS = 22
"""Characters that stand for a person in a record's votes; decide.lua reads fields of this width."""


BY_SYSTEM = b'{"by":"system"}'
"""What the scripts log of what nobody did: a deadline that passed, a rule that asks for fewer rejections."""


class Who(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The caller, as a log entry names it: ``credential`` is the id of what it showed."""

    by: str
    channel: str | None = None
    credential: str | None = None


class Spent(Struct, frozen=True, kw_only=True):
    """A consumption, as logged."""

    by: str
    execution_id: str
    credential: str | None = None


class Report(Struct, frozen=True, kw_only=True):
    """An outcome, as logged."""

    by: str
    status: OutcomeStatus
    summary: str | None
    credential: str | None = None


class Told(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """That somebody was told, or could not be, as logged."""

    target: str
    attempts: int
    error: Failure | None = None
    by: str | None = None


class Named(Struct):
    """What any log entry says of who acted; each kind names them in its own member."""

    by: str | None = None
    asked_by: str | None = None
    approver: dict[str, Any] | None = None
    channel: str | None = None
    credential: str | None = None
    decision: Verdict | None = None
    rule: str | None = None
    policy: str | None = None
    digest: str | None = None
    input_hash: str | None = None
    edited: Edited | None = None
    target: str | None = None
    error: Failure | None = None

    def actor(self) -> str:
        """The client, person or system that acted."""
        if self.approver is not None:
            return str(self.approver["id"])
        return self.by or self.asked_by or SYSTEM


encode = msgspec.json.Encoder().encode


class Line(NamedTuple):
    """A line of a log; the document's seal is ``""`` where it has none."""

    at_ms: int
    kind: bytes
    sealed: Sealed


def read_line(line: bytes) -> Line:
    """A line of a log, taken apart."""
    at, kind, rest = line.split(b" ", 2)
    start = rest.index(b"{")
    return Line(int(at), kind, Sealed(document=rest[start:], seal=rest[:start].decode("latin-1")))


def write_line(at_ms: int, kind: str, sealed: Sealed) -> bytes:
    """A line of a log, as the scripts write it."""
    return b"%d %b %b" % (at_ms, kind.encode(), sealed.stored)


def number(fields: Mapping[bytes, bytes], name: bytes) -> int | None:
    """A number among compared fields."""
    value = fields.get(name)
    return None if value is None else int(value)


_LANE = b"m:"
_NO_WORD = "-"
_STATES = {"q": DeliveryState.QUEUED, "d": DeliveryState.DELIVERED, "f": DeliveryState.FAILED}
STATE_LETTERS: Mapping[DeliveryState, str] = {state: letter for letter, state in _STATES.items()}


def deliveries_of(fields: Mapping[bytes, bytes]) -> tuple[Delivery, ...]:
    """The lanes among compared fields, in the order of their targets."""
    lanes = [name for name in fields if name.startswith(_LANE)]
    if not lanes:  # as with most
        return ()
    lanes.sort()
    return tuple(unpacked(name.removeprefix(_LANE).decode(), fields[name]) for name in lanes)


def lane_name(target: str) -> bytes:
    """The field of a lane."""
    return _LANE + target.encode()


def unpacked(target: str, packed: bytes) -> Delivery:
    """A lane, as a record has it."""
    letter, attempts, covered, at_ms, _, failure, ref = packed.decode().split(" ", 6)
    return Delivery(
        target=target,
        state=_STATES[letter],
        attempts=int(attempts),
        covered=int(covered),
        error=None if failure == _NO_WORD else Failure(failure),
        at_ms=int(at_ms),
        ref=ref,
    )


_LETTERS = {"a": Verdict.APPROVE, "r": Verdict.REJECT, "c": Verdict.EDIT}
_LETTER_OF = {verdict: letter for letter, verdict in _LETTERS.items()}


@lru_cache(maxsize=1024)  # few people decide much
def person_mark(person: str) -> str:
    """The fixed-width stand-in for a person in a record's votes (128 bits of SHA-256)."""
    return urlsafe_b64encode(hashlib.sha256(person.encode()).digest()[:16])[:PERSON_CHARS].decode()


def votes_of(packed: str) -> tuple[tuple[str, Verdict], ...]:
    """``(person, verdict)`` pairs out of a record's packed votes."""
    width = PERSON_CHARS + 1
    cells = [packed[i : i + width] for i in range(0, len(packed), width)]
    return tuple((cell[:-1], _LETTERS[cell[-1]]) for cell in cells)


def pack_votes(votes: Iterable[tuple[str, Verdict]]) -> str:
    """The votes of these people, as a record has them."""
    return "".join(person_mark(person) + _LETTER_OF[verdict] for person, verdict in votes)


class Refused(NamedTuple):
    """What an attempt was refused with: the error code, and of ``FORBIDDEN`` the reason."""

    code: str
    reason: str | None = None

    @property
    def word(self) -> str:
        """The same in one word, as a script logs it."""
        return self.code if self.reason is None else f"{self.code}:{self.reason}"


_CODES: Mapping[str, str] = {
    Ruling.MISSING: "APPROVAL_RESUME_MISMATCH",
    Ruling.PENDING: "APPROVAL_PENDING",
    Ruling.REJECTED: "APPROVAL_REJECTED",
    Ruling.EXPIRED: "APPROVAL_EXPIRED",
    Ruling.CANCELLED: "APPROVAL_CANCELLED",
    Ruling.CONSUMED: "APPROVAL_CONSUMED",
    Ruling.DECIDED: "APPROVAL_ALREADY_DECIDED",
    Ruling.MISMATCH: "APPROVAL_INPUT_MISMATCH",
    Ruling.TOKEN: "APPROVAL_TOKEN_INVALID",
    Ruling.CONFLICT: "INVOCATION_CONFLICT",
    Ruling.REVERSED: "FORBIDDEN:decision-not-allowed",
    Ruling.NOT_AUDIENCE: "FORBIDDEN:not-the-audience",
    Ruling.NOT_ASKER: "FORBIDDEN:not-the-asker",
    Ruling.NOT_CONSUMER: "FORBIDDEN:not-the-consumer",
}


def refused_of(word: str) -> Refused:
    """What the word under which a refusal was logged stands for: a ruling's, or that of an error."""
    return Refused(*_CODES.get(word, word).split(":", 1))
