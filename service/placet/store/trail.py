"""The audit trail of a record: its log, told line by line."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from placet.domain import machine
from placet.domain.events import SYSTEM, EventType
from placet.domain.model import Status, TrailEntry
from placet.store.codec import Named, number, read_line, refused_of

_named = msgspec.json.Decoder(Named).decode

_REQUESTED = EventType.REQUESTED.encode()
_REFUSED = EventType.REFUSED.encode() + b":"


def entries_of(fields: Mapping[bytes, bytes], log: Sequence[bytes], now_ms: int) -> list[TrailEntry]:
    """The log, an expiry that has happened and is not written yet, and refusals that were only counted."""
    asked = fields.get(b"h", fields[b"g"]).hex()
    entries = [_trail_entry(seq, line, asked) for seq, line in enumerate(log, start=1)]
    status = Status(fields[b"s"].decode())
    expires_at_ms, use_by_ms = int(fields[b"x"]), number(fields, b"b")
    if machine.settle(status, expires_at_ms, use_by_ms, now_ms) is not status:
        deadline = expires_at_ms if status is Status.PENDING else use_by_ms
        entries.append(
            TrailEntry(seq=len(entries) + 1, at_ms=deadline or now_ms, type=EventType.EXPIRED, by=SYSTEM),
        )
    for name, count in sorted(fields.items()):
        if name.startswith(b"z:"):
            code, reason = refused_of(name[2:].decode())
            entries.append(
                TrailEntry(
                    seq=len(entries) + 1,
                    at_ms=now_ms,
                    type=EventType.REFUSED,
                    by="various",
                    code=code,
                    reason=_told_or_unset(reason),
                    count=int(count),
                ),
            )
    return entries


def _trail_entry(seq: int, line: bytes, asked: str) -> TrailEntry:
    """A line of the log, told; ``asked`` is the digest as it was asked."""
    at_ms, kind, sealed = read_line(line)
    named = _named(sealed.document)
    refused = refused_of(kind[len(_REFUSED) :].decode()) if kind.startswith(_REFUSED) else None
    digest, input_hash = named.digest, named.input_hash
    if named.edited is not None:
        digest, input_hash = named.edited.digest, named.edited.input_hash
    elif kind == _REQUESTED:
        digest = asked
    return TrailEntry(
        seq=seq,
        at_ms=at_ms,
        type=kind.decode() if refused is None else EventType.REFUSED,
        by=named.actor(),
        channel=_told_or_unset(named.channel),
        credential=_told_or_unset(named.credential),
        code=UNSET if refused is None else refused.code,
        reason=_told_or_unset(None if refused is None else refused.reason),
        decision=UNSET if named.decision is None else named.decision,
        rule=_told_or_unset(named.rule or None),
        policy=_told_or_unset(named.policy),
        digest=_told_or_unset(digest),
        input_hash=_told_or_unset(input_hash),
        target=_told_or_unset(named.target),
        error=UNSET if named.error is None else named.error,
    )


def _told_or_unset(value: str | None) -> str | UnsetType:
    return UNSET if value is None else value
