"""The demo's story, before services that don't answer as they must."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from placet.cli.console import Console
from placet.cli.exits import Exit, Stop
from placet.cli.story import AGENT, PERSON, Story
from placet.domain.errors import RateLimited, RateLimitReason
from tests.unit.cli.conftest import Screen

Answer = Callable[[httpx.Request], httpx.Response]


async def tell(answer: Answer) -> None:
    """Tell it before a service that answers so."""

    async def decide(_question: str, _waiting: Any) -> bool:
        return True

    console = Console(Screen(terminal=False), Screen(terminal=False), {})
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://x") as http:
        story = Story(console, http, {AGENT: "a", PERSON: "p"}, decide=decide, wait_s=1, pause_s=0)
        await story.tell(expires_in_ms=1_000)


async def test_an_answer_that_must_not_be_ends_it() -> None:
    """With what was answered and what was to come of it."""
    error = RateLimited(RateLimitReason.RATE, retry_after_ms=1_000)
    headers = {"content-type": "application/problem+json"}
    answer = httpx.Response(429, json=error.problem(), headers=headers)
    with pytest.raises(Stop, match="ask was answered 429 RATE_LIMITED, and 201") as stopped:
        await tell(lambda _: answer)
    assert stopped.value.status is Exit.FAILED


async def test_a_service_that_is_not_there_ends_it() -> None:
    """Status 3."""

    def answer(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(Stop, match="No Placet answers at http://x") as stopped:
        await tell(answer)
    assert stopped.value.status is Exit.UNREACHABLE


async def test_something_else_that_answers_ends_it() -> None:
    """A page of another service is no answer."""
    with pytest.raises(Stop, match="is not Placet"):
        await tell(lambda _: httpx.Response(200, text="<html>"))


async def test_a_question_that_expires_ends_the_story_as_it_must() -> None:
    """Nobody decided: the wait comes back by itself, and nothing can be consumed."""
    record = {"id": "apr_1", "requested_at": "2027-01-15T08:00:00Z", "expires_at": "2027-01-15T08:00:01Z"}
    reads: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        match request.url.path.rpartition("/")[2]:
            case "approvals":
                return httpx.Response(201, json={**record, "status": "pending"})
            case "consume":
                headers = {"content-type": "application/problem+json"}
                return httpx.Response(409, json={"code": "APPROVAL_EXPIRED"}, headers=headers)
            case "events":
                return httpx.Response(200, json={"items": []})
        reads.append(str(request.url.query))
        return httpx.Response(200, json={**record, "status": "pending" if len(reads) < 3 else "expired"})

    async def decide(_question: str, waiting: "asyncio.Task[Any]") -> None:
        await waiting

    console = Console(Screen(terminal=False), Screen(terminal=False), {})
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://x") as http:
        story = Story(console, http, {AGENT: "a", PERSON: "p"}, decide=decide, wait_s=1, pause_s=0)
        assert await story.tell(expires_in_ms=1_000) == "expired"
    assert [step["step"] for step in story.steps] == ["ask", "look", "wait", "consume", "trail"]
