"""A record as the scripts answer it, and the approval that it tells of.

It comes in parts: the compared fields (a flat hash), the log (the ask first, then what happened to it), the
effective input and, where an approver changed that, the input as it was asked. Folding the log gives the
votes, the consumption and the outcome; nothing is kept twice.
"""

import logging
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from placet.domain import machine
from placet.domain.errors import InternalError
from placet.domain.events import EventType
from placet.domain.kept import Kept
from placet.domain.model import (
    Approval,
    Ask,
    CastVote,
    Consumption,
    Outcome,
    Requested,
    Sealed,
    Status,
    TrailEntry,
    Vote,
)
from placet.store.attempts import Creation
from placet.store.codec import (
    BY_SYSTEM,
    Report,
    Spent,
    deliveries_of,
    number,
    read_line,
    votes_of,
    write_line,
)
from placet.store.trail import entries_of

KEPT_RECORDS = 1024
KEPT_RECORD_BYTES = 8 * 1024
"""How many records of what size are kept folded and rendered: as many as one client may have pending, and
some 30 MB at the very most."""

LATEST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, which RFC 3339 ends with."""

T = TypeVar("T")

_log = logging.getLogger(__name__)

_ask = msgspec.json.Decoder(Ask).decode
_vote = msgspec.json.Decoder(Vote).decode
_spent = msgspec.json.Decoder(Spent).decode
_report = msgspec.json.Decoder(Report).decode

_VOTES = {
    kind.encode() for kind in (EventType.VOTED, EventType.EDITED, EventType.APPROVED, EventType.REJECTED)
}
_CONSUMED = EventType.CONSUMED.encode()
_REPORTED = EventType.REPORTED.encode()
_ENDS = {status.encode(): status for status in machine.TERMINAL}


class Record(Struct, frozen=True, kw_only=True):
    """A record's parts as a script answered them: the compared fields, flat, the log and the input.

    ``kept`` is where :meth:`derived` keeps what it computed, shared by all answers of the same parts.
    """

    tenant: str
    id: str
    flat: tuple[bytes, ...]
    log: tuple[bytes, ...]
    input: bytes | None
    original: bytes | None
    now_ms: int
    small: bool
    kept: dict[Hashable, Any]

    @classmethod
    def of(
        cls,
        tenant: str,
        now_ms: int,
        id: bytes,  # noqa: A002 - what it is
        flat: Sequence[bytes],
        log: Sequence[bytes],
        held: bytes | None,
        original: bytes | None = None,
        *,
        polled: bool = True,
    ) -> "Record":
        """From the parts of a script's answer; ``polled``: these very parts may well be read again."""
        flat, log = tuple(flat), tuple(log)
        small = sum(map(len, log)) + len(held or b"") + len(original or b"") <= KEPT_RECORD_BYTES
        kept = _kept((tenant, id), (flat, log, held, original), polled=polled) if small else {}
        return cls(
            tenant=tenant,
            id=id.decode("utf-8", "replace"),
            flat=flat,
            log=log,
            input=held,
            original=original,
            now_ms=now_ms,
            small=small,
            kept=kept,
        )

    @classmethod
    def asked(cls, ask: Ask, new: Creation, now_ms: int, expires_at_ms: int) -> "Record":
        """As create.lua has just written it: what it would answer is known without asking."""
        held = new.input if ask.input_held else None
        line = write_line(now_ms, EventType.REQUESTED, new.sealed)
        flat = new.flat(ask, now_ms, expires_at_ms)
        record = cls.of(ask.tenant, now_ms, ask.id.encode(), flat, (line,), held)
        record.kept["folded"] = Approval(
            ask=ask,
            sealed=new.sealed,
            nonce=new.nonce,
            status=Status.PENDING,
            digest=new.digest,
            input_hash=ask.input_hash,
            input=None if held is None else Raw(held),
            requested_at_ms=now_ms,
            expires_at_ms=expires_at_ms,
            use_by_ms=None,
            required=new.required,
            counted=(),
            votes=(),
            consumption=None,
            outcome=None,
            requested=None,
            now_ms=0,
        )
        return record

    @property
    def fields(self) -> dict[bytes, bytes]:
        """The compared fields by their letter."""
        return dict(zip(self.flat[::2], self.flat[1::2], strict=True))

    def latest(self, name: Hashable, stamp: Hashable, compute: Callable[[], T]) -> T:
        """As :meth:`derived`, of what is as it was for as long as ``stamp`` is the same."""
        kept = self.kept.get(name)
        if kept is None or kept[0] != stamp:
            kept = self.kept[name] = (stamp, compute())
        found: T = kept[1]
        return found

    @property
    def votes(self) -> int:
        """How many votes were taken: while it is the same, nothing that a vote is judged by has changed."""
        taken = self.fields.get(b"y", b"0")
        if not taken.isdigit():
            raise _unreadable(self, "its votes can't be counted")
        return int(taken)

    def derived(self, name: Hashable, compute: Callable[[], T]) -> T:
        """What ``compute`` makes of the parts, a pure function of them (not of ``now_ms``).

        Kept under ``name`` while the record is small and its parts are the same: who polls gets them again.
        """
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]  # type: ignore[no-any-return]

    def state(self) -> machine.State:
        """The compared fields, as the reference judges in :mod:`placet.domain.machine` take them."""
        fields = self.fields
        outcome = self.approval().outcome
        return machine.State(
            status=Status(fields[b"s"].decode()),
            digest=fields[b"g"].hex(),
            call=fields[b"c"].hex(),
            asked_by=fields[b"k"].decode(),
            audience=fields.get(b"u", fields[b"k"]).decode(),
            expires_at_ms=int(fields[b"x"]),
            use_within_ms=number(fields, b"w"),
            use_by_ms=number(fields, b"b"),
            required=int(fields[b"q"]),
            votes=votes_of(fields.get(b"v", b"").decode()),
            input=self.input,
            execution_id=fields[b"e"].decode() if b"e" in fields else None,
            outcome=None if outcome is None else (outcome.status, outcome.summary),
        )

    def written(self) -> Approval:
        """The approval as it stands written (its ``now_ms`` is 0).

        Raises:
            InternalError: The parts are not a record of this name. An alarm goes to the log.
        """
        return self.derived("folded", lambda: _fold(self))

    def approval(self) -> Approval:
        """The approval as of ``now_ms``, with an expiry that nobody has written down yet.

        Raises:
            InternalError: As :meth:`written`.
        """
        folded = self.written()
        status = machine.settle(folded.status, folded.expires_at_ms, folded.use_by_ms, self.now_ms)
        return msgspec.structs.replace(folded, status=status, now_ms=self.now_ms)

    def trail(self) -> list[TrailEntry]:
        """The audit trail: the log, an expiry not yet written, and refusals that were only counted."""
        return entries_of(self.fields, self.log, self.now_ms)


_records: Kept[tuple[str, bytes], tuple[object, dict[Hashable, Any]]] = Kept(KEPT_RECORDS)


def _kept(name: tuple[str, bytes], parts: object, *, polled: bool) -> dict[Hashable, Any]:
    """What was derived of a record so far, where it has the same parts."""
    known = _records.get(name)
    if known is None or known[0] != parts:
        known = (parts, {})
        if polled:
            _records.put(name, known)
    return known[1]


def _moment(text: bytes) -> int:
    """A time in a record, which must be one that a calendar has."""
    at_ms = int(text)
    if not 0 <= at_ms <= LATEST_MS:
        raise ValueError("no time")
    return at_ms


class _History(Struct):
    """What happened to a question after it was asked."""

    votes: list[CastVote] = []
    consumption: Consumption | None = None
    outcome: Outcome | None = None
    ends: set[Status] = set()


def _fold(record: Record) -> Approval:
    try:
        folded = _told(record)
    except (ValueError, LookupError, RecursionError, msgspec.MsgspecError) as fault:
        # A later release may have written it, or something other than Placet; values stay out of the log.
        raise _unreadable(record, type(fault).__name__) from None
    if (folded.ask.tenant, folded.ask.id) != (record.tenant, record.id):
        raise _unreadable(record, "it is another record")
    return folded


def _unreadable(record: Record, fault: str) -> InternalError:
    facts = {"tenant": record.tenant, "approval_id": record.id, "fault": fault}
    _log.error("a record in the store can't be read", extra=facts)
    return InternalError()


def _told(record: Record) -> Approval:
    """The approval that these parts tell of, as it stands written (``now_ms`` is not of it)."""
    asked = read_line(record.log[0]).sealed
    history = _History()
    for line in record.log[1:]:
        at_ms, kind, sealed = read_line(line)
        if kind in _VOTES and sealed.document != BY_SYSTEM:
            history.votes.append(CastVote(vote=_vote(sealed.document), sealed=sealed, at_ms=at_ms))
        elif kind == _CONSUMED:
            spent = _spent(sealed.document)
            history.consumption = Consumption(execution_id=spent.execution_id, client=spent.by, at_ms=at_ms)
        elif kind == _REPORTED:
            report = _report(sealed.document)
            history.outcome = Outcome(status=report.status, summary=report.summary, at_ms=at_ms)
        if kind in _ENDS:
            history.ends.add(_ENDS[kind])
    return _approval(record, _ask(asked.document), asked, history)


def _approval(record: Record, ask: Ask, sealed: Sealed, history: _History) -> Approval:
    fields, held, original = record.fields, record.input, record.original
    edits = [cast.vote.edited for cast in history.votes if cast.vote.edited is not None]
    requested = None
    if edits:
        requested = Requested(
            input=None if original is None else Raw(original),
            input_hash=ask.input_hash,
            digest=fields[b"h"].hex(),
        )
    return Approval(
        ask=ask,
        sealed=sealed,
        nonce=fields[b"n"],
        status=Status(fields[b"s"].decode()),
        digest=fields[b"g"].hex(),
        input_hash=edits[-1].input_hash if edits else ask.input_hash,
        input=None if held is None else Raw(held),
        requested_at_ms=_moment(fields[b"t"]),
        expires_at_ms=_moment(fields[b"x"]),
        use_by_ms=_moment(fields[b"b"]) if b"b" in fields else None,
        required=int(fields[b"q"]),
        counted=votes_of(fields.get(b"v", b"").decode()),
        votes=tuple(history.votes),
        consumption=history.consumption,
        outcome=history.outcome,
        requested=requested,
        ends=frozenset(history.ends),
        deliveries=deliveries_of(fields),
        now_ms=0,
    )
