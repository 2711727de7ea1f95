"""A click is acknowledged in time, whatever store and Slack do, and its author is told what came of it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import Redis

from placet.application import slack_callback
from placet.application import slack_words as words
from placet.domain.deliveries import Failure, Undelivered
from placet.domain.errors import StoreUnavailable
from placet.domain.limits import SLACK_ACK_S, SLACK_PATIENCE_S, SLACK_WORK_S
from placet.store.approvals import Rejudge
from tests.harness import record, refusal
from tests.slack_clicking import BOB, Clicking
from tests.slack_fake import Handed

ACK_MS, PATIENCE_MS, WORK_MS = (round(each * 1_000) for each in (SLACK_ACK_S, SLACK_PATIENCE_S, SLACK_WORK_S))
NOTHING = "Nothing was decided."


@pytest.fixture
async def client() -> AsyncIterator[Redis]:
    """The fake store: it is made slow here."""
    fake = FakeAsyncRedis(server=FakeServer(server_type="valkey"))
    yield fake
    await fake.aclose()


class Gate:
    """Holds up what comes through it."""

    def __init__(self, inside: Any) -> None:
        self._inside = inside
        self.is_reached = asyncio.Event()
        self.is_open = asyncio.Event()

    async def __call__(self, *args: Any, **named: Any) -> Any:
        self.is_reached.set()
        await self.is_open.wait()
        return await self._inside(*args, **named)


def gated(monkeypatch: pytest.MonkeyPatch, held: Any, name: str) -> Gate:
    """Hold up a method."""
    gate = Gate(getattr(held, name))
    monkeypatch.setattr(held, name, gate)
    return gate


class Calls:
    """Remembers how calls failed, and that there was one."""

    def __init__(self, inside: Any) -> None:
        self._inside = inside
        self.failures: list[Failure] = []
        self.is_done = asyncio.Event()

    async def __call__(self, *args: Any) -> None:
        try:
            await self._inside(*args)
        except Undelivered as fault:
            self.failures.append(fault.failure)
            raise
        finally:
            self.is_done.set()


async def sent(desk: Clicking, handed: Handed, gate: Gate) -> asyncio.Task[httpx.Response]:
    """Have Slack send something that is held up."""
    task = asyncio.ensure_future(desk.send(handed))
    async with asyncio.timeout(5):
        await gate.is_reached.wait()
    return task


async def turns() -> None:
    """Let whatever can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("name", ["get", "decide"])
async def test_a_slow_store_keeps_nobody_waiting(
    desk: Clicking, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Slack hears in time; the click goes on, and counts."""
    asked, message = await desk.shown()
    gate = gated(monkeypatch, desk.h.services.store.approvals, name)
    task = await sent(desk, desk.slack.press(message, "placet.approve"), gate)
    desk.h.clock.move(ACK_MS - 1)
    await turns()
    assert not task.done()
    desk.h.clock.move(1)
    answer = await task
    assert (answer.status_code, answer.content) == (200, b"")
    gate.is_open.set()
    assert await desk.settled() == []
    assert await desk.status(asked) == "approved"


async def test_the_time_is_counted_from_when_it_came(desk: Clicking, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was lost before is not there any more."""
    _, message = await desk.shown()
    gate = gated(monkeypatch, desk.h.services.store.approvals, "get")
    headers, body = desk.slack.press(message, "placet.approve")
    came_s = desk.h.clock.monotonic_s() - SLACK_ACK_S
    said = await desk.h.services.slack_callback(
        body, headers["X-Slack-Request-Timestamp"], headers["X-Slack-Signature"], came_s
    )
    assert said == b""
    gate.is_open.set()
    assert await desk.settled() == []


async def test_a_refusal_that_comes_late_is_told(desk: Clicking, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is known."""
    asked, message = await desk.shown()
    record(await desk.ann.decide(asked, "approve"))
    gate = gated(monkeypatch, desk.h.services.store.approvals, "decide")
    task = await sent(desk, desk.slack.press(message, "placet.approve", user=BOB), gate)
    desk.h.clock.move(ACK_MS)
    assert (await task).status_code == 200
    gate.is_open.set()
    assert await desk.settled() == [f"{NOTHING} It was decided before your decision came."]


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("act", ["approve", "reject"])
async def test_what_nobody_knows_yet_is_told_as_that(
    desk: Clicking, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, *, ends: bool, act: str
) -> None:
    """It may count still, for a while; and clicking again, or sending the form again, does no harm."""
    asked, message = await desk.shown()
    form = await desk.form(message) if act == "reject" else None
    handed = desk.slack.press(message, "placet.approve") if form is None else desk.slack.submit(form, "No.")
    gate = gated(monkeypatch, desk.h.services.store.approvals, "decide")
    told = Calls(desk.h.services.slack.answer)
    monkeypatch.setattr(desk.h.services.slack, "answer", told)
    task = await sent(desk, handed, gate)
    desk.h.clock.move(ACK_MS)
    assert (await task).status_code == 200
    await turns()
    desk.h.clock.move(PATIENCE_MS - ACK_MS)
    async with asyncio.timeout(5):
        await told.is_done.wait()
    await turns()
    if ends:
        gate.is_open.set()
    else:
        desk.h.clock.move(WORK_MS - PATIENCE_MS)
    assert await desk.settled() == [words.NOT_KNOWN]
    assert ("a click in Slack took too long" in caplog.text) is not ends
    decided = "approved" if form is None else "rejected"
    assert await desk.status(asked) == (decided if ends else "pending")
    gate.is_open.set()
    assert (await desk.send(handed)).content == b""
    assert await desk.settled() == []
    assert await desk.status(asked) == decided


async def test_a_form_that_comes_too_late_is_not_shown(
    desk: Clicking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack would not show it any more."""
    _, message = await desk.shown()
    gate = gated(monkeypatch, desk.h.services.store.approvals, "get")
    task = await sent(desk, desk.slack.press(message, "placet.reject"), gate)
    desk.h.clock.move(ACK_MS)
    assert (await task).status_code == 200
    gate.is_open.set()
    assert await desk.settled() == [words.TOO_LATE]
    assert desk.slack.views == []


async def test_a_form_that_is_sent_to_a_slow_store_closes(
    desk: Clicking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its author is told where they clicked, should it come to nothing."""
    asked, message = await desk.shown()
    view = await desk.form(message)
    gate = gated(monkeypatch, desk.h.services.store.approvals, "decide")
    task = await sent(desk, desk.slack.submit(view, "No."), gate)
    desk.h.clock.move(ACK_MS)
    answer = await task
    assert (answer.status_code, answer.content) == (200, b"")
    record(await desk.runtime.cancel(asked["id"]))
    gate.is_open.set()
    assert await desk.settled() == [f"{NOTHING} Whoever asked withdrew it before your decision came."]


async def test_a_slow_slack_keeps_nobody_waiting(desk: Clicking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forms and answers go out beside; the clock does not move for them."""
    asked, message = await desk.shown()
    record(await desk.ann.decide(asked, "approve"))
    gate = gated(monkeypatch, desk.h.services.slack, "answer")
    assert (await desk.send(desk.slack.press(message, "placet.approve", user=BOB))).status_code == 200
    assert desk.slack.answers == []
    gate.is_open.set()
    assert len(await desk.settled()) == 1
    desk.h.clock.move(2_000)
    _, message = await desk.shown(input={"order": "A-2"})
    gate = gated(monkeypatch, desk.h.services.slack, "open_modal")
    assert (await desk.send(desk.slack.press(message, "placet.reject", user=BOB))).status_code == 200
    assert desk.slack.views == []
    gate.is_open.set()
    assert await desk.settled() == []
    assert len(desk.slack.views) == 1


async def test_a_form_that_slack_does_not_show_is_told(desk: Clicking) -> None:
    """A person waits for it."""
    _, message = await desk.shown()
    desk.slack.fail_next("expired_trigger_id")
    assert await desk.press(message, "reject") == [words.NO_FORM]


@pytest.mark.parametrize(
    "url",
    ["https://evil.example/x", "http://169.254.169.254/", "", "https://hooks.slack.com.evil.example/", "x"],
)
async def test_nobody_is_answered_elsewhere(
    desk: Clicking, url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An address that is not Slack's is not called, whatever signed it; what was decided counts."""
    asked, message = await desk.shown()
    refused = Calls(desk.h.services.slack.answer)
    monkeypatch.setattr(desk.h.services.slack, "answer", refused)

    def change(payload: dict[str, Any]) -> None:
        payload["response_url"] = url

    assert await desk.press(message, change=change, user="U0N0B0DY0") == []
    assert refused.failures == [Failure.FORBIDDEN_ADDRESS]
    assert "somebody who clicked in Slack could not be answered" in caplog.text
    assert await desk.press(message, change=change) == []
    assert await desk.status(asked) == "approved"


class Down:
    """A method that fails, so many times; then it is itself."""

    def __init__(self, inside: Any, error: BaseException, times: int = 1) -> None:
        self._inside, self._error, self._times = inside, error, times

    async def __call__(self, *args: Any, **named: Any) -> Any:
        self._times -= 1
        if self._times >= 0:
            raise self._error
        return await self._inside(*args, **named)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("get", f"{NOTHING} The store does not answer. Try again in a moment."),
        ("decide", words.NOT_KNOWN),
    ],
)
async def test_a_store_that_is_down_decides_nothing(
    desk: Clicking, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    """Or nobody knows; the same click again counts."""
    asked, message = await desk.shown()
    view = await desk.form(message)
    approvals = desk.h.services.store.approvals
    monkeypatch.setattr(approvals, name, Down(getattr(approvals, name), StoreUnavailable(), times=2))
    assert await desk.press(message) == [told]
    answer = await desk.submit(view, "No.")
    assert told in answer["view"]["blocks"][0]["text"]["text"]
    assert await desk.press(message) == []
    assert await desk.status(asked) == "approved"


async def test_what_changes_meanwhile_is_judged_anew(desk: Clicking, monkeypatch: pytest.MonkeyPatch) -> None:
    """As often as it takes, and not for ever."""
    asked, message = await desk.shown()
    approvals = desk.h.services.store.approvals
    with monkeypatch.context() as patch:
        patch.setattr(approvals, "decide", Down(approvals.decide, Rejudge(), times=100))
        assert await desk.press(message) == [f"{NOTHING} The store does not answer. Try again in a moment."]
    monkeypatch.setattr(approvals, "decide", Down(approvals.decide, Rejudge(), times=3))
    assert await desk.press(message) == []
    assert await desk.status(asked) == "approved"


async def test_what_nobody_foresaw_is_logged_and_told(
    desk: Clicking, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without a word of what it was."""
    _, message = await desk.shown()
    approvals = desk.h.services.store.approvals
    monkeypatch.setattr(approvals, "decide", Down(approvals.decide, RuntimeError("secret")))
    with caplog.at_level(logging.ERROR, "placet.slack"):
        [told] = await desk.press(message)
    assert told == f"{NOTHING} Something went wrong here that nobody foresaw. Tell whoever runs this service."
    assert "a click in Slack failed in a way nobody foresaw" in caplog.text


async def test_a_record_that_is_gone_is_not_decided(desk: Clicking) -> None:
    """Its card may stand there for longer."""
    asked, message = await desk.shown()
    for key in await desk.h.redis.keys(f"*:{asked['id']}"):
        await desk.h.redis.delete(key)
    assert await desk.press(message) == [words.NOT_THE_CARD]


async def test_clicks_beyond_measure_are_refused(desk: Clicking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slack shows that to whoever clicked; nothing is decided."""
    asked, message = await desk.shown()
    handed = desk.slack.press(message, "placet.approve")
    with monkeypatch.context() as patch:
        patch.setattr(slack_callback, "SLACK_TASKS_MAX", 0)
        assert refusal(await desk.send(handed)) == (429, "RATE_LIMITED")
    assert await desk.status(asked) == "pending"
    assert (await desk.send(handed)).status_code == 200
    await desk.settled()


async def test_a_service_that_ends_lets_go_of_clicks(desk: Clicking, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for no store; what was not decided can be clicked again."""
    asked, message = await desk.shown()
    gate = gated(monkeypatch, desk.h.services.store.approvals, "get")
    task = await sent(desk, desk.slack.press(message, "placet.approve"), gate)
    desk.h.clock.move(ACK_MS)
    assert (await task).status_code == 200
    await desk.h.services.slack_callback.close()
    assert desk.slack.answers == []
    gate.is_open.set()
    assert await desk.status(asked) == "pending"
