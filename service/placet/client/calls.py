"""Every call of the API as a value: what is sent, how often it may be, and how its answer is read.

Nothing here talks. Bodies are canonical JSON, encoded once, so that the same call sent again is the same
bytes, and what the service could not bind to is refused before it leaves.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec import structs

from placet.client.errors import refusal_of
from placet.client.questions import Filters, ListFilters, Terms, ToolCall, Vote
from placet.client.quiet import Quiet
from placet.client.shapes import (
    Approval,
    Decided,
    Event,
    Introspection,
    Page,
    RunCancelled,
    Spent,
    TrailLine,
)
from placet.client.writing import body, members, path_of, query, segment, vote_members
from placet.domain.errors import InternalError, PlacetError
from placet.domain.model import Status

T = TypeVar("T")

JSON: Final = "application/json"
JWK_SET: Final = "application/jwk-set+json"
EVENT_STREAM: Final = "text/event-stream"

_KEY: Final = "Idempotency-Key"


class Call(Quiet, Generic[T], frozen=True, kw_only=True):
    """A call.

    Attributes:
        read: Makes the answer of its body; a ``msgspec.ValidationError`` where it can't be one.
        again: Whether it may be sent again when nobody knows whether it was done: it is then done once.
        media_type: What a good answer is of.
        wait_s: How long the service may take before it begins to answer.
        public: Whether it needs no credential, and so gets none.
    """

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, str] = {}
    body: bytes | None = None
    headers: Mapping[str, str] = {}
    again: bool = True
    media_type: str = JSON
    wait_s: int = 0
    public: bool = False


class _Trail(Quiet, frozen=True, kw_only=True):
    items: tuple[TrailLine, ...]


class _Result(Quiet, frozen=True, kw_only=True):
    id: str
    approval: Approval | None = None
    error: dict[str, Any] | None = None


class _Results(Quiet, frozen=True, kw_only=True):
    results: tuple[_Result, ...]


_approval = msgspec.json.Decoder(Approval).decode
_trail = msgspec.json.Decoder(_Trail).decode
_page = msgspec.json.Decoder(Page).decode
_results = msgspec.json.Decoder(_Results).decode
_run_cancelled = msgspec.json.Decoder(RunCancelled).decode
_introspection = msgspec.json.Decoder(Introspection).decode
_event = msgspec.json.Decoder(Event).decode


def ask(call: ToolCall, terms: Terms, key: str | None) -> Call[Approval]:
    """Ask for approval. Without a key a question that got lost is not asked again by itself."""
    said = {name: value for name, value in terms.items() if value is not None}
    chosen = terms.get("id")
    return Call(
        method="POST",
        path="/v1/approvals",
        read=_approval if chosen is None else _record_of(chosen),
        body=body({**members(call, call.actor), **said}),
        headers={} if key is None else {_KEY: key},
        again=key is not None,
    )


def get(approval_id: str, wait_s: int = 0) -> Call[Approval]:
    """Read an approval; with ``wait_s`` as soon as it leaves pending."""
    return Call(
        method="GET",
        path=path_of(approval_id),
        read=_record_of(approval_id),
        query={"wait": str(wait_s)} if wait_s else {},
        wait_s=wait_s,
    )


def page(filters: ListFilters, cursor: str | None) -> Call[Page]:
    """Read a page of a list."""
    said = query({**filters, "cursor": cursor})
    return Call(method="GET", path="/v1/approvals", read=_page, query=said)


def trail(approval_id: str) -> Call[tuple[TrailLine, ...]]:
    """Read an approval's audit trail."""

    def read(raw: bytes) -> tuple[TrailLine, ...]:
        return _trail(raw).items

    return Call(method="GET", path=path_of(approval_id, "events"), read=read)


def decide(vote: Vote) -> Call[Approval]:
    """Decide. The same decision again is answered with the record."""
    path, said = path_of(vote.id, "decision"), body(vote_members(vote))
    return Call(method="POST", path=path, read=_record_of(vote.id), body=said)


def decide_many(votes: Sequence[Vote]) -> Call[tuple[Decided, ...]]:
    """Decide several, each by itself."""

    def read(raw: bytes) -> tuple[Decided, ...]:
        results = _results(raw).results
        if [each.id for each in results] != [vote.id for vote in votes]:
            raise msgspec.ValidationError("other results than were asked for")
        return tuple(map(_decided, results))

    bodies = b",".join(body({"id": vote.id, **vote_members(vote)}) for vote in votes)
    return Call(method="POST", path="/v1/decisions", read=read, body=b'{"decisions":[%b]}' % bodies)


def cancel(approval_id: str) -> Call[Approval]:
    """Withdraw a question or an unused grant; one that is withdrawn already stays so."""
    path = path_of(approval_id, "cancel")
    return Call(method="POST", path=path, read=_record_of(approval_id), body=b"{}")


def cancel_run(run: str) -> Call[RunCancelled]:
    """Withdraw whatever a run still has open; sent again, what is withdrawn already is among the skipped."""
    path = f"/v1/runs/{segment(run, 'run')}/cancel"
    return Call(method="POST", path=path, read=_run_cancelled, body=b"{}")


def consume(
    approval_id: str, call: ToolCall, *, token: str | None, execution_id: str, fresh: bool
) -> Call[Spent]:
    """Spend a grant. Whatever does not say in so many words that this was done is no answer to it.

    Args:
        approval_id: Whose.
        call: The call about to run.
        token: The approval token.
        execution_id: The execution to run it in.
        fresh: Whether nobody else knows that execution yet: then even a replay is news of this very call.
    """

    def read(raw: bytes) -> Spent:
        record = _record_of(approval_id)(raw)
        spent = record.consumption
        if record.status != Status.CONSUMED or spent is None or record.replayed is None:
            raise msgspec.ValidationError("not a consumption")
        if spent.execution_id != execution_id:
            raise msgspec.ValidationError("another execution")
        return Spent(
            approval=record,
            execution_id=execution_id,
            replayed=record.replayed,
            go_ahead=fresh or not record.replayed,
        )

    said = body({**members(call), "execution_id": execution_id, "token": token})
    return Call(method="POST", path=path_of(approval_id, "consume"), read=read, body=said)


def report(approval_id: str, execution_id: str, status: str, summary: str | None) -> Call[Approval]:
    """Report how the execution ended; the same again changes nothing."""
    return Call(
        method="POST",
        path=path_of(approval_id, "outcome"),
        read=_record_of(approval_id),
        body=body({"execution_id": execution_id, "status": status, "summary": summary}),
    )


def introspect(call: ToolCall, token: str, execution_id: str | None) -> Call[Introspection]:
    """Ask whether a token would be taken for a call; changes nothing."""
    said = {} if execution_id is None else {"execution_id": execution_id}
    return Call(
        method="POST",
        path="/v1/tokens/introspect",
        read=_introspection,
        body=body({**members(call), "token": token, **said}),
    )


def jwks() -> Call[bytes]:
    """Fetch the keys that tokens can be verified with offline."""

    def read(raw: bytes) -> bytes:
        msgspec.json.decode(raw, type=dict[str, Any])
        return raw

    return Call(method="GET", path="/.well-known/jwks.json", read=read, media_type=JWK_SET, public=True)


def events(filters: Filters, after: str | None) -> Call[Event]:
    """Follow what happens, after the entry ``after``."""
    headers = {} if after is None else {"Last-Event-ID": after}
    return Call(
        method="GET",
        path="/v1/events",
        read=_event,
        query=query(filters),
        headers=headers,
        media_type=EVENT_STREAM,
    )


def event_of(data: bytes, entry: str) -> Event:
    """The event that a block of the stream tells of.

    Raises:
        msgspec.DecodeError: None that is known.
    """
    return structs.replace(_event(data), entry=entry)


def _record_of(approval_id: str) -> Callable[[bytes], Approval]:
    """Reads a record, of this approval and no other."""

    def read(raw: bytes) -> Approval:
        record = _approval(raw)
        if record.id != approval_id:
            raise msgspec.ValidationError("another record")
        return record

    return read


def _decided(result: _Result) -> Decided:
    error: PlacetError | None = None
    if result.error is not None:
        error = refusal_of(result.error, status=InternalError.status)
    if (error is None) == (result.approval is None):
        raise msgspec.ValidationError("neither a record nor a refusal")
    return Decided(id=result.id, approval=result.approval, error=error)
