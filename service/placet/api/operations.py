"""The operations of the API: each takes a call, asks its use case, renders what came of it."""

import asyncio
import re

from msgspec import Struct

from placet.api.call import Answer, Call, encode, ok
from placet.api.queries import EventsQuery, ListQuery, ReadQuery
from placet.application.bridge_callbacks import BridgeCallbacks
from placet.application.callers import Caller
from placet.application.cancel import CancelApproval
from placet.application.consume import ConsumeApproval
from placet.application.decide import DecideApproval
from placet.application.decide_many import Decided, DecideMany
from placet.application.event_lines import CONTENT_TYPE, begun, last_entry
from placet.application.feed import Feed
from placet.application.query import Filters, ReadApprovals, Seen
from placet.application.report import ReportExecution
from placet.application.request import RequestApproval
from placet.application.slack_callback import SlackCallback
from placet.application.standing import standing_of
from placet.application.views import Sight, link_of, pending_body, record_view, sight_of, trail_view
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid, PlacetError
from placet.domain.limits import IDEMPOTENCY_KEY_PATTERN, Limits
from placet.domain.model import Approval, Status
from placet.domain.tally import Tally
from placet.store.record import Record

_IDEMPOTENCY_KEY = re.compile(IDEMPOTENCY_KEY_PATTERN)


class UseCases(Struct, frozen=True, kw_only=True):
    """Everything the API can ask for."""

    request: RequestApproval
    read: ReadApprovals
    decide: DecideApproval
    decide_many: DecideMany
    cancel: CancelApproval
    consume: ConsumeApproval
    report: ReportExecution
    feed: Feed
    slack: SlackCallback
    bridges: BridgeCallbacks
    limits: Limits


async def create(use: UseCases, call: Call) -> Answer:
    """``POST /v1/approvals``."""
    key = call.header(b"idempotency-key")
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise InputInvalid(
            [Issue(path="", message="Idempotency-Key must be 1 to 128 visible ASCII characters.")]
        )
    asked = await use.request(call.caller, call.client, call.body, call.admitted, key)
    return Answer(
        status=201 if asked.created else 200,
        body=_body(call.caller, asked.record, asked.approval),
        headers=((b"location", link_of(asked.approval).encode()),),
    )


async def read(use: UseCases, call: Call) -> Answer:
    """``GET /v1/approvals/{id}``."""
    query: ReadQuery = call.query
    if query.wait == 0:
        seen = await use.read.get(call.caller, call.path["id"])
    else:
        seen = await use.read.wait(
            call.caller, call.path["id"], until_s=call.began_s + query.wait, gone=call.gone
        )
    if seen.approval.status is Status.PENDING:
        return Answer(status=200, body=pending_body(call.caller, seen.record, seen.approval, seen.sight))
    return ok(_view(call.caller, seen))


async def list_(use: UseCases, call: Call) -> Answer:
    """``GET /v1/approvals``."""
    query: ListQuery = call.query
    listed = await use.read.list(
        call.caller,
        Filters(status=query.status, capability=query.capability, actor_id=query.actor_id, run=query.run),
        limit=use.limits.page_default if query.limit is None else query.limit,
        cursor=query.cursor,
    )
    items = []
    for seen in listed.items:
        if not seen.record.small:
            await asyncio.sleep(0)  # hiding values of a large input takes a while; others get their turn
        items.append(_view(call.caller, seen))
    return ok({"items": items, "next_cursor": listed.next_cursor})


async def trail(use: UseCases, call: Call) -> Answer:
    """``GET /v1/approvals/{id}/events``."""
    entries, sight = await use.read.trail(call.caller, call.path["id"])
    return ok({"items": [trail_view(entry, sight) for entry in entries]})


async def events(use: UseCases, call: Call) -> Answer:
    """``GET /v1/events``."""
    query: EventsQuery = call.query
    filters = Filters(capability=query.capability, actor_id=query.actor_id, run=query.run)
    after = last_entry(call.header(b"last-event-id"))
    stream = await begun(use.feed.follow(call.caller, filters, after, call.renewed))
    return Answer(status=200, body=b"", content_type=CONTENT_TYPE, stream=stream)


async def decide(use: UseCases, call: Call) -> Answer:
    """``POST /v1/approvals/{id}/decision``."""
    return _record(call, await use.decide(call.caller, call.path["id"], call.body))


async def decide_many(use: UseCases, call: Call) -> Answer:
    """``POST /v1/decisions``."""
    results = []
    for each in await use.decide_many(call.caller, call.body.decisions, call.rejudged):
        await asyncio.sleep(0)  # a hundred large inputs take a while; others get their turn
        results.append(_result(each))
    return ok({"results": results})


async def cancel(use: UseCases, call: Call) -> Answer:
    """``POST /v1/approvals/{id}/cancel``."""
    return _record(call, await use.cancel(call.caller, call.client, call.path["id"]))


async def cancel_run(use: UseCases, call: Call) -> Answer:
    """``POST /v1/runs/{run}/cancel``."""
    return ok(await use.cancel.run(call.caller, call.client, call.path["run"]))


async def consume(use: UseCases, call: Call) -> Answer:
    """``POST /v1/approvals/{id}/consume``."""
    consumed = await use.consume(call.caller, call.client, call.path["id"], call.body)
    return _record(call, consumed.approval, replayed=consumed.replayed)


async def outcome(use: UseCases, call: Call) -> Answer:
    """``POST /v1/approvals/{id}/outcome``."""
    return _record(call, await use.report(call.caller, call.client, call.path["id"], call.body))


async def introspect(use: UseCases, call: Call) -> Answer:
    """``POST /v1/tokens/introspect``."""
    return ok(await use.consume.introspect(call.caller, call.client, call.body))


def _body(caller: Caller, record: Record, approval: Approval) -> bytes:
    if approval.status is Status.PENDING:
        return pending_body(caller, record, approval, Sight.WHOLE)
    return encode(changed(caller, approval))


def _view(caller: Caller, seen: Seen) -> object:
    standing = standing_of(caller.authority, seen.approval, seen.suspended)
    return record_view(seen.approval, seen.sight, standing, token=seen.token)


def _record(call: Call, approval: Approval, *, replayed: bool | None = None) -> Answer:
    return ok(changed(call.caller, approval, replayed=replayed))


def changed(caller: Caller, approval: Approval, *, replayed: bool | None = None) -> object:
    """A record that the caller has just acted on."""
    suspended = None
    if approval.status is Status.APPROVED:
        suspended = caller.authority.judge_grant(approval.ask, Tally.of(approval))
    standing = standing_of(caller.authority, approval, suspended)
    return record_view(approval, _sight(caller, approval), standing, replayed=replayed)


def _result(decided: Decided) -> object:
    outcome = decided.outcome
    if isinstance(outcome, PlacetError):
        return {"id": decided.id, "error": outcome.problem()}
    return {"id": decided.id, "approval": changed(decided.caller, outcome)}


def _sight(caller: Caller, approval: Approval) -> Sight:
    # Whoever was let to act on a record sees at least its frame.
    return sight_of(caller, approval) or Sight.FRAME
