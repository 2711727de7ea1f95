"""Between the scripts' answers and the domain's values.

A record comes as three parts: the compared fields (a flat hash), the log (the ask first, then what
happened to it, each ``<at_ms> <event type> <json>``) and the effective input. Folding the log gives
the votes, the consumption and the outcome; nothing is kept twice.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw, Struct

from placet.domain import machine
from placet.domain.events import SYSTEM, EventType
from placet.domain.machine import Ruling
from placet.domain.model import (
    Approval,
    Ask,
    CastVote,
    Consumption,
    Outcome,
    OutcomeStatus,
    Status,
    TrailEntry,
    Verdict,
    Vote,
)

KEPT_RECORDS = 512
KEPT_RECORD_BYTES = 8 * 1024
"""How many records of what size are kept folded and rendered: some 15 MB at the very most."""

PERSON_CHARS = 22
"""Characters that stand for a person in a record's votes; decide.lua reads fields of this width."""


class Who(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The caller, as a log entry names it."""

    by: str
    channel: str | None = None


class Spent(Struct, frozen=True, kw_only=True):
    """A consumption, as logged."""

    by: str
    execution_id: str


class Report(Struct, frozen=True, kw_only=True):
    """An outcome, as logged."""

    by: str
    status: OutcomeStatus
    summary: str | None


class _Named(Struct):
    """What any log entry says of who acted; each kind names them in its own member."""

    by: str | None = None
    asked_by: str | None = None
    approver: dict[str, Any] | None = None
    channel: str | None = None

    def actor(self) -> str:
        if self.approver is not None:
            return str(self.approver["id"])
        return self.by or self.asked_by or SYSTEM


encode = msgspec.json.Encoder().encode
_ask = msgspec.json.Decoder(Ask).decode
_vote = msgspec.json.Decoder(Vote).decode
_spent = msgspec.json.Decoder(Spent).decode
_report = msgspec.json.Decoder(Report).decode
_named = msgspec.json.Decoder(_Named).decode

_VOTES = {EventType.VOTED.encode(), EventType.APPROVED.encode(), EventType.REJECTED.encode()}
_CONSUMED = EventType.CONSUMED.encode()
_REPORTED = EventType.REPORTED.encode()
_ENDS = {status.encode(): status for status in machine.TERMINAL}
_REFUSED = EventType.REFUSED.encode() + b":"


class Record(Struct, frozen=True, kw_only=True):
    """A record's parts as a script answered them: the compared fields, flat, the log and the input."""

    flat: tuple[bytes, ...]
    log: tuple[bytes, ...]
    input: bytes | None
    now_ms: int

    @classmethod
    def of(cls, flat: Sequence[bytes], log: Sequence[bytes], held: bytes | None, now_ms: int) -> "Record":
        """From the parts of a script's answer."""
        return cls(flat=tuple(flat), log=tuple(log), input=held, now_ms=now_ms)

    @property
    def fields(self) -> dict[bytes, bytes]:
        """The compared fields by their letter."""
        return _fields(self.flat)

    @property
    def small(self) -> bool:
        """Whether the record is small enough for its renderings to be kept."""
        return sum(map(len, self.log)) + len(self.input or b"") <= KEPT_RECORD_BYTES

    def state(self) -> machine.State:
        """The compared fields, as the reference judges in :mod:`placet.domain.machine` take them."""
        fields = self.fields
        outcome = self.approval().outcome
        return machine.State(
            status=Status(fields[b"s"].decode()),
            digest=fields[b"g"].decode(),
            call=fields[b"c"].decode(),
            asked_by=fields[b"k"].decode(),
            audience=fields[b"u"].decode(),
            expires_at_ms=int(fields[b"x"]),
            use_within_ms=_number(fields, b"w"),
            use_by_ms=_number(fields, b"b"),
            required=int(fields[b"q"]),
            votes=votes_of(fields.get(b"v", b"").decode()),
            input=self.input,
            execution_id=fields[b"e"].decode() if b"e" in fields else None,
            outcome=None if outcome is None else (outcome.status, outcome.summary),
        )

    def approval(self) -> Approval:
        """The approval as of ``now_ms``, with an expiry that nobody has written down yet."""
        # Folding is a pure function of the parts, and callers that poll send the same parts again.
        fold = _fold if self.small else _fold.__wrapped__
        folded = fold(self.flat, self.log, self.input)
        status = machine.settle(folded.status, folded.expires_at_ms, folded.use_by_ms, self.now_ms)
        return msgspec.structs.replace(folded, status=status, now_ms=self.now_ms)

    def trail(self) -> list[TrailEntry]:
        """The audit trail: the log, an expiry not yet written, and refusals that were only counted."""
        entries = [_trail_entry(seq, line) for seq, line in enumerate(self.log, start=1)]
        fields = self.fields
        status = Status(fields[b"s"].decode())
        expires_at_ms, use_by_ms = int(fields[b"x"]), _number(fields, b"b")
        if machine.settle(status, expires_at_ms, use_by_ms, self.now_ms) is not status:
            deadline = expires_at_ms if status is Status.PENDING else use_by_ms
            entries.append(
                TrailEntry(
                    seq=len(entries) + 1, at_ms=deadline or self.now_ms, type=EventType.EXPIRED, by=SYSTEM
                ),
            )
        for name, count in sorted(fields.items()):
            if name.startswith(b"z:"):
                entries.append(
                    TrailEntry(
                        seq=len(entries) + 1,
                        at_ms=self.now_ms,
                        type=EventType.REFUSED,
                        by="various",
                        code=refusal_code(name[2:].decode()),
                        count=int(count),
                    ),
                )
        return entries


def _fields(flat: tuple[bytes, ...]) -> dict[bytes, bytes]:
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _number(fields: Mapping[bytes, bytes], name: bytes) -> int | None:
    value = fields.get(name)
    return None if value is None else int(value)


@lru_cache(maxsize=KEPT_RECORDS)
def _fold(flat: tuple[bytes, ...], log: tuple[bytes, ...], held: bytes | None) -> Approval:
    """The approval that these parts tell of, as it stands written (``now_ms`` is not of it)."""
    fields = _fields(flat)
    _, _, document = log[0].split(b" ", 2)
    ask = _ask(document)
    votes: list[CastVote] = []
    consumption: Consumption | None = None
    outcome: Outcome | None = None
    kinds: list[bytes] = []
    for line in log[1:]:
        at, kind, document = line.split(b" ", 2)
        kinds.append(kind)
        if kind in _VOTES:
            votes.append(CastVote(vote=_vote(document), at_ms=int(at)))
        elif kind == _CONSUMED:
            spent = _spent(document)
            consumption = Consumption(execution_id=spent.execution_id, client=spent.by, at_ms=int(at))
        elif kind == _REPORTED:
            report = _report(document)
            outcome = Outcome(status=report.status, summary=report.summary, at_ms=int(at))
    cast = votes_of(fields.get(b"v", b"").decode())
    return Approval(
        ask=ask,
        status=Status(fields[b"s"].decode()),
        digest=fields[b"g"].decode(),
        input_hash=ask.input_hash,
        input=None if held is None else Raw(held),
        requested_at_ms=int(fields[b"t"]),
        expires_at_ms=int(fields[b"x"]),
        use_by_ms=_number(fields, b"b"),
        required=int(fields[b"q"]),
        approved=sum(verdict is Verdict.APPROVE for _, verdict in cast),
        votes=tuple(votes),
        consumption=consumption,
        outcome=outcome,
        requested=None,
        ends=frozenset(_ENDS[kind] for kind in kinds if kind in _ENDS),
        now_ms=0,
    )


def _trail_entry(seq: int, line: bytes) -> TrailEntry:
    at, kind, document = line.split(b" ", 2)
    named = _named(document)
    channel = msgspec.UNSET if named.channel is None else named.channel
    if kind.startswith(_REFUSED):
        code = refusal_code(kind[len(_REFUSED) :].decode())
        return TrailEntry(
            seq=seq, at_ms=int(at), type=EventType.REFUSED, by=named.actor(), channel=channel, code=code
        )
    return TrailEntry(seq=seq, at_ms=int(at), type=kind.decode(), by=named.actor(), channel=channel)


_LETTERS = {"a": Verdict.APPROVE, "r": Verdict.REJECT, "e": Verdict.EDIT}


def votes_of(packed: str) -> tuple[tuple[str, Verdict], ...]:
    """``(person, verdict)`` pairs out of a record's packed votes."""
    width = PERSON_CHARS + 1
    cells = [packed[i : i + width] for i in range(0, len(packed), width)]
    return tuple((cell[:-1], _LETTERS[cell[-1]]) for cell in cells)


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
    Ruling.NOT_AUDIENCE: "FORBIDDEN",
    Ruling.NOT_ASKER: "FORBIDDEN",
    Ruling.NOT_CONSUMER: "FORBIDDEN",
}


def refusal_code(word: str) -> str:
    """The error code for the word under which a refusal was logged; a code stands for itself."""
    return _CODES.get(word, word)
