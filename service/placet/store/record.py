"""A record as the scripts answer it, and the approval that it tells of.

It comes as three parts: the compared fields (a flat hash), the log (the ask first, then what happened to
it) and the effective input. Folding the log gives the votes, the consumption and the outcome; nothing is
kept twice.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from placet.domain import machine
from placet.domain.events import SYSTEM, EventType
from placet.domain.model import (
    Approval,
    Ask,
    CastVote,
    Consumption,
    Outcome,
    Sealed,
    Status,
    TrailEntry,
    Verdict,
    Vote,
)
from placet.store.codec import Named, Report, Spent, read_line, refusal_code, votes_of, write_line

KEPT_RECORDS = 512
KEPT_RECORD_BYTES = 8 * 1024
"""How many records of what size are kept folded and rendered: some 15 MB at the very most."""

T = TypeVar("T")

_ask = msgspec.json.Decoder(Ask).decode
_vote = msgspec.json.Decoder(Vote).decode
_spent = msgspec.json.Decoder(Spent).decode
_report = msgspec.json.Decoder(Report).decode
_named = msgspec.json.Decoder(Named).decode

_VOTES = {EventType.VOTED.encode(), EventType.APPROVED.encode(), EventType.REJECTED.encode()}
_CONSUMED = EventType.CONSUMED.encode()
_REPORTED = EventType.REPORTED.encode()
_ENDS = {status.encode(): status for status in machine.TERMINAL}
_REFUSED = EventType.REFUSED.encode() + b":"


class Record(Struct, frozen=True, kw_only=True):
    """A record's parts as a script answered them: the compared fields, flat, the log and the input.

    ``kept`` is where :meth:`derived` keeps what it computed, shared by all answers of the same parts.
    """

    flat: tuple[bytes, ...]
    log: tuple[bytes, ...]
    input: bytes | None
    now_ms: int
    small: bool
    kept: dict[Hashable, Any]

    @classmethod
    def of(cls, flat: Sequence[bytes], log: Sequence[bytes], held: bytes | None, now_ms: int) -> "Record":
        """From the parts of a script's answer."""
        flat, log = tuple(flat), tuple(log)
        small = sum(map(len, log)) + len(held or b"") <= KEPT_RECORD_BYTES
        kept = _kept(flat, log, held) if small else {}
        return cls(flat=flat, log=log, input=held, now_ms=now_ms, small=small, kept=kept)

    @classmethod
    def asked(
        cls, fields: Mapping[bytes, bytes], ask: Ask, sealed: Sealed, held: bytes | None, now_ms: int
    ) -> "Record":
        """As create.lua has just written it: what it would answer is known without asking."""
        flat = tuple(part for pair in fields.items() for part in pair)
        line = write_line(now_ms, EventType.REQUESTED, sealed)
        record = cls.of(flat, (line,), held, now_ms)
        record.derived("folded", lambda: _approval(fields, ask, sealed, held, _History()))
        return record

    @property
    def fields(self) -> dict[bytes, bytes]:
        """The compared fields by their letter."""
        return dict(zip(self.flat[::2], self.flat[1::2], strict=True))

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
        folded = self.derived("folded", lambda: _fold(self.fields, self.log, self.input))
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


@lru_cache(maxsize=KEPT_RECORDS)
def _kept(_flat: tuple[bytes, ...], _log: tuple[bytes, ...], _held: bytes | None) -> dict[Hashable, Any]:
    """What was derived of these parts so far."""
    return {}


def _number(fields: Mapping[bytes, bytes], name: bytes) -> int | None:
    value = fields.get(name)
    return None if value is None else int(value)


class _History(Struct):
    """What happened to a question after it was asked."""

    votes: list[CastVote] = []
    consumption: Consumption | None = None
    outcome: Outcome | None = None
    ends: set[Status] = set()


def _fold(fields: Mapping[bytes, bytes], log: Sequence[bytes], held: bytes | None) -> Approval:
    """The approval that these parts tell of, as it stands written (``now_ms`` is not of it)."""
    asked = read_line(log[0]).sealed
    history = _History()
    for line in log[1:]:
        at_ms, kind, sealed = read_line(line)
        if kind in _VOTES:
            history.votes.append(CastVote(vote=_vote(sealed.document), sealed=sealed, at_ms=at_ms))
        elif kind == _CONSUMED:
            spent = _spent(sealed.document)
            history.consumption = Consumption(execution_id=spent.execution_id, client=spent.by, at_ms=at_ms)
        elif kind == _REPORTED:
            report = _report(sealed.document)
            history.outcome = Outcome(status=report.status, summary=report.summary, at_ms=at_ms)
        if kind in _ENDS:
            history.ends.add(_ENDS[kind])
    return _approval(fields, _ask(asked.document), asked, held, history)


def _approval(
    fields: Mapping[bytes, bytes], ask: Ask, sealed: Sealed, held: bytes | None, history: _History
) -> Approval:
    cast = votes_of(fields.get(b"v", b"").decode())
    return Approval(
        ask=ask,
        sealed=sealed,
        nonce=fields[b"n"],
        status=Status(fields[b"s"].decode()),
        digest=fields[b"g"].hex(),
        input_hash=ask.input_hash,
        input=None if held is None else Raw(held),
        requested_at_ms=int(fields[b"t"]),
        expires_at_ms=int(fields[b"x"]),
        use_by_ms=_number(fields, b"b"),
        required=int(fields[b"q"]),
        approved=sum(verdict is Verdict.APPROVE for _, verdict in cast),
        votes=tuple(history.votes),
        consumption=history.consumption,
        outcome=history.outcome,
        requested=None,
        ends=frozenset(history.ends),
        now_ms=0,
    )


def _trail_entry(seq: int, line: bytes) -> TrailEntry:
    at_ms, kind, sealed = read_line(line)
    named = _named(sealed.document)
    channel = msgspec.UNSET if named.channel is None else named.channel
    if kind.startswith(_REFUSED):
        code = refusal_code(kind[len(_REFUSED) :].decode())
        return TrailEntry(
            seq=seq, at_ms=at_ms, type=EventType.REFUSED, by=named.actor(), channel=channel, code=code
        )
    return TrailEntry(seq=seq, at_ms=at_ms, type=kind.decode(), by=named.actor(), channel=channel)
