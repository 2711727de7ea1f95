"""Callbacks: calls that come with a signature over their body in place of a credential.

They are in no route table for callers: nobody but the system that signs them makes one. What is signed has to
be read first, so media type and size are judged before whose it is; where the headers of a signature are
missing, nothing is read at all.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from placet.api import bodies
from placet.api.bodies import Header, Receive
from placet.api.call import JSON, PROBLEM, Answer, ok
from placet.api.operations import UseCases, changed
from placet.application.bridge_callbacks import Answered, Proven, Signed
from placet.application.commands import CallBack
from placet.channels.slack.signing import SIGNATURE_HEADER, TIMESTAMP_HEADER
from placet.channels.webhooks import signing
from placet.domain.errors import (
    ApprovalUnserializableInput,
    Forbidden,
    InputInvalid,
    PlacetError,
    StoreUnavailable,
    Unauthenticated,
)
from placet.domain.limits import JUDGED_MAX, SLACK_BODY_MAX_BYTES
from placet.store.approvals import Rejudge

_TEXT = b"text/plain; charset=utf-8"
_SIGNED = tuple(name.encode() for name in (signing.ID, signing.TIMESTAMP, signing.SIGNATURE))
_UNASKED = (ApprovalUnserializableInput, Forbidden, InputInvalid)
"""Refusals that may come before any script was told the epoch, as in the transport."""


class Arrival(Struct, frozen=True, kw_only=True):
    """A callback that has come, and is not proven yet.

    ``header`` gives a header, and the empty text for one that is there twice; ``began_s`` is when it came, on
    the clock's ``monotonic_s``; ``address`` is where from.
    """

    path: Mapping[str, str]
    header: Header
    receive: Receive
    began_s: float
    address: str = ""


Take = Callable[[UseCases, Arrival], Awaitable[Answer]]


class Callback(Struct, frozen=True, kw_only=True):
    """One callback: where it comes in, and what takes it."""

    method: str
    path: str
    name: str
    take: Take


async def bridge(use: UseCases, arrival: Arrival) -> Answer:
    """``POST /v1/callbacks/{name}``."""
    sent = [(name, arrival.header(name) or "") for name in _SIGNED]
    if not all(value for _, value in sent):
        raise Unauthenticated
    body = await bodies.read(arrival.receive, arrival.header, use.limits.max_body_bytes, optional=False)
    signed = Signed(
        named=arrival.path["name"],
        headers=tuple((name, value.encode("latin-1")) for name, value in sent),
        body=body,
        address=arrival.address,
    )
    for _ in range(JUDGED_MAX):
        proven = await use.bridges.prove(signed)
        try:
            return await _answered(use, proven)
        except Rejudge:
            use.bridges.forget(proven)
    raise StoreUnavailable


async def _answered(use: UseCases, proven: Proven) -> Answer:
    """What a message is answered, now or as it was before.

    Raises:
        Rejudge: Credentials or rules have changed.
    """
    before = await use.bridges.answered(proven)
    if before is not None:
        return await _as_before(use, proven, before)
    try:
        value, fault = bodies.parse(proven.body, use.limits, CallBack)
        said: Any = bodies.convert(value, fault, CallBack)
        approval = await use.decide(proven.caller, said.approval_id, said)
    except PlacetError as error:
        if isinstance(error, _UNASKED):
            await use.bridges.confirm(proven)
        await use.bridges.refused(proven, error)
        raise
    await use.bridges.taken(proven, said.approval_id)
    return ok(changed(proven.caller, approval))


async def _as_before(use: UseCases, proven: Proven, before: Answered) -> Answer:
    """The same refusal, or the record as it is now; nothing is decided."""
    if before.problem is not None:
        status, document = before.problem
        code = msgspec.json.decode(document)["code"]
        return Answer(status=status, body=bytes(document), content_type=PROBLEM, code=code)
    seen = await use.read.get(proven.caller, before.approval or "")
    return ok(changed(proven.caller, seen.approval))


async def slack(use: UseCases, arrival: Arrival) -> Answer:
    """``POST /v1/callbacks/slack``."""
    timestamp, signature = arrival.header(TIMESTAMP_HEADER), arrival.header(SIGNATURE_HEADER)
    body = b""
    if timestamp and signature:
        body = await bodies.read(
            arrival.receive, arrival.header, SLACK_BODY_MAX_BYTES, optional=False, media=bodies.FORM
        )
    said = await use.slack(body, timestamp, signature, arrival.began_s)
    return Answer(status=200, body=said, content_type=JSON if said else _TEXT)


CALLBACKS: tuple[Callback, ...] = (
    Callback(method="POST", path="/v1/callbacks/slack", name="slack_callback", take=slack),
    Callback(method="POST", path="/v1/callbacks/{name}", name="bridge_callback", take=bridge),
)
