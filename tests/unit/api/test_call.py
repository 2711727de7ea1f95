"""A call and its answer."""

import json
from typing import Any

import pytest

from placet.api.call import PROBLEM, Call, problem
from placet.application.callers import Caller
from placet.domain.errors import (
    Forbidden,
    MethodNotAllowed,
    RateLimited,
    RateLimitReason,
    StoreUnavailable,
    Unauthenticated,
)
from placet.domain.principals import Approver, Client, Scope
from tests.factories import a_caller


def a_call(principal: Any) -> Call:
    """A call by this principal."""

    async def gone() -> None:
        """Nobody leaves."""

    caller = a_caller(principal)

    async def rejudged() -> Caller:
        return caller

    return Call(
        caller=caller,
        path={},
        query=None,
        body=None,
        admitted=None,
        header=lambda _: None,
        began_s=0.0,
        gone=gone,
        rejudged=rejudged,
        renewed=rejudged,
    )


def test_the_client_of_a_call_is_a_client() -> None:
    """A person is turned away, should a route for services ever let one through."""
    client = Client(tenant="t", name="c", scopes=frozenset({Scope.REQUEST}))
    assert a_call(client).client is client
    with pytest.raises(Forbidden):
        _ = a_call(Approver(tenant="t", id="ann")).client


@pytest.mark.parametrize(
    ("error", "headers"),
    [
        (Unauthenticated(), {b"www-authenticate": b'Bearer realm="placet"'}),
        (StoreUnavailable(), {b"retry-after": b"1"}),
        (RateLimited(RateLimitReason.QUEUE_FULL, retry_after_ms=1_001), {b"retry-after": b"2"}),
        (MethodNotAllowed(["GET", "HEAD"]), {b"allow": b"GET, HEAD"}),
    ],
)
def test_what_a_refusal_says_in_headers(error: Any, headers: dict[bytes, bytes]) -> None:
    """RFC 9110: a challenge with 401, the methods with 405, the time to wait where it helps."""
    answer = problem(error)
    assert dict(answer.headers) == headers
    assert (answer.status, answer.code, answer.content_type) == (error.status, error.code, PROBLEM)
    assert json.loads(answer.body)["code"] == error.code
