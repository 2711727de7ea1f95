"""A replica that has not heard of a revocation: whether the credential counts comes before all else."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.harness import QUESTION, Harness, Party, holder, record, refusal

GONE = (401, "UNAUTHENTICATED")
TOO_MUCH = b'"' + b"x" * (257 * 1024) + b'"'

Call = Callable[[Party, dict[str, Any]], Awaitable[httpx.Response]]
"""A call by a client, at times about a record of its own."""


def post(content: bytes, media_type: str | None = "application/json") -> Call:
    """A create with these bytes."""
    headers = {} if media_type is None else {"content-type": media_type}
    return lambda party, _: party.call("POST", "/v1/approvals", content=content, headers=headers)


MALFORMED: dict[str, tuple[int, Call]] = {
    "an unknown query": (422, lambda party, _: party.call("GET", "/v1/approvals", params={"x": "1"})),
    "a limit out of bounds": (422, lambda party, _: party.list(limit=0)),
    "a cursor of nobody's": (422, lambda party, _: party.list(cursor="x")),
    "no media type": (415, post(b"{}", None)),
    "another media type": (415, post(b"{}", "text/plain")),
    "too many bytes": (413, post(TOO_MUCH)),
    "no JSON": (400, post(b"{")),
    "not UTF-8": (400, post(b'"\xff"')),
    "an unknown member": (422, lambda party, _: party.ask(surprise=1)),
    "a member missing": (422, lambda party, _: party.ask(capability=...)),
    "an input without a canonical form": (
        422,
        post(b'{"capability":"c","actor":{"id":"a","kind":"agent"},"effect":"none","input":1e999}'),
    ),
    "contradicting members": (422, lambda party, _: party.ask(input_hash="0" * 64)),
    "an unknown audience": (422, lambda party, _: party.ask(audience="nobody")),
    "a key with blanks": (422, lambda party, _: party.ask(key="a b")),
    "a critical risk": (403, lambda party, _: party.ask(risk="critical")),
    "a hidden input": (403, lambda party, _: party.ask(input=..., input_hash="0" * 64, effect="write")),
    "what it was never let ask for": (403, lambda party, _: party.ask(capability="other")),
    "the wrong scope": (403, lambda party, asked: party.decide(asked)),
    "a summary too long": (422, lambda party, asked: party.report(asked["id"], summary="x" * 2_001)),
    "neither input nor hash": (422, lambda party, asked: party.consume(asked, input=...)),
    "both input and hash": (422, lambda party, asked: party.consume(asked, input_hash="0" * 64)),
    "a token about nothing": (422, lambda party, asked: party.introspect(asked, "t", input=...)),
}
everyhow = pytest.mark.parametrize(("status", "call"), MALFORMED.values(), ids=MALFORMED.keys())


@everyhow
async def test_a_revoked_credential_is_told_only_that(
    pair: tuple[Harness, Harness], status: int, call: Call
) -> None:
    """Whatever else is wrong with the call; while it counts, it is told that."""
    here, there = pair
    runtime = await here.client(capabilities=[QUESTION["capability"]])
    away = holder(there, "runtime", runtime.credential)
    asked = await away.asked()
    assert (await call(away, asked)).status_code == status
    await here.services.enrolment.revoke("default", "client:runtime")
    assert refusal(await call(away, asked)) == GONE


async def test_a_revoked_approver_is_told_only_that(pair: tuple[Harness, Harness]) -> None:
    """A person as well: a comment too long, a bridge's member, a call that is not for people."""
    here, there = pair
    runtime, ann = await here.client(), await here.approver()
    asked, away = await runtime.asked(), holder(there, "ann", ann.credential)
    calls: list[Callable[[], Awaitable[httpx.Response]]] = [
        lambda: away.decide(asked, comment="x" * 2_001),
        lambda: away.decide(asked, approver={"id": "bob"}),
        lambda: away.decide(asked, "edit"),
        away.ask,
    ]
    assert [(await call()).status_code for call in calls] == [422, 422, 422, 403]
    await here.services.enrolment.revoke("default", "approver:ann")
    assert [refusal(await call()) for call in calls] == [GONE] * 4


async def test_a_secret_rotated_out_is_told_only_that(pair: tuple[Harness, Harness]) -> None:
    """The first of two secrets, once the second rotation has put an end to it."""
    here, there = pair
    runtime = await here.client()
    away = holder(there, "runtime", runtime.credential)
    record(await away.list())
    for _ in range(2):
        await here.services.enrolment.rotate("default", "client:runtime")
    assert refusal(await away.call("GET", "/v1/approvals", params={"x": "1"})) == GONE


async def test_other_changes_take_nothing_away(pair: tuple[Harness, Harness]) -> None:
    """A malformed call of a credential that still counts is told what is wrong with it."""
    here, there = pair
    runtime = await here.client()
    away = holder(there, "runtime", runtime.credential)
    record(await away.list())
    await here.client("other")
    assert refusal(await away.ask(surprise=1)) == (422, "INPUT_INVALID")
    assert refusal(await away.ask(audience="other", surprise=1)) == (422, "INPUT_INVALID")
