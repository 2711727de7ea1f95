"""Times on pages, in a real browser: one wording of what is left, an urgent last minute, one's own clock."""

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from placet.domain.presentation import DeadlineKind, Dies
from placet.web.render import left
from tests.e2e.browsers import PHONE, invited, opened
from tests.e2e.stage import Cast, Stage, casting
from tests.harness import record

pytestmark = pytest.mark.asyncio(loop_scope="module")

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
LEFT_MS = [
    *(-1, 0, 1, 999, 1_000, 59_999, MINUTE, MINUTE + 1, MINUTE + 5_000, 10 * MINUTE - 1, 10 * MINUTE),
    *(14 * MINUTE + 52_000, HOUR - 1, HOUR, 3 * HOUR + 5 * MINUTE, 10 * HOUR - 1, 10 * HOUR, DAY - 1, DAY),
    *(2 * DAY - 1, 2 * DAY + 4 * HOUR, 10 * DAY - 1, 30 * DAY),
]
ZONE = "Asia/Kathmandu"  # never UTC's, and not off by whole hours


@pytest_asyncio.fixture(loop_scope="module")
async def cast(stage: Stage) -> AsyncIterator[Cast]:
    """Who takes part."""
    async with casting(stage) as cast:
        yield cast


async def test_the_script_says_what_the_service_says(stage: Stage, browser: Browser, cast: Cast) -> None:
    """To the letter, so that nothing changes on a page when its script begins."""
    await cast.client()
    (ann,) = await cast.approver()
    _, page, complaints = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    script = await page.get_attribute('script[src$="inbox.js"]', "src")
    assert script is not None
    told = await page.evaluate(
        "async ([path, all]) => { const live = await import(path); return all.map(live.left); }",
        [script.replace("inbox.js", "live.js"), LEFT_MS],
    )
    words = [re.sub("<[^>]*>", "", left(Dies(kind=DeadlineKind.QUESTION, at_ms=ms), 0)) for ms in LEFT_MS]
    assert told == words
    assert complaints == []


async def test_the_last_minute_stands_out(stage: Stage, browser: Browser, cast: Cast) -> None:
    """By weight, not by colour alone; what has ended does so no more."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    soon = await runtime.asked(input=1, expires_in_ms=50_000)
    await runtime.asked(input=2, expires_in_ms=600_000)
    _, page, complaints = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    first, second = page.locator(".row .left").nth(0), page.locator(".row .left").nth(1)
    await expect(first).to_have_class("left soon")
    await expect(first).to_have_text(re.compile(r"^\d+ s left$"))
    await expect(second).to_have_class("left")
    weight = "each => getComputedStyle(each).fontWeight"
    assert [await each.evaluate(weight) for each in (first, second)] == ["700", "400"]
    record(await ann.decide(soon, "reject"))
    await expect(first).to_have_text("rejected")
    await expect(first).to_have_class("left")
    assert complaints == []


async def test_times_are_told_by_one_s_own_clock_too(stage: Stage, browser: Browser, cast: Cast) -> None:
    """Beside UTC, with the day where that is another; what machines read stays."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = await runtime.asked()
    at = datetime.fromisoformat(asked["requested_at"])
    here = at.astimezone(ZoneInfo(ZONE))
    day = "" if here.date() == at.date() else f"{here:%Y-%m-%d} "
    context, page, complaints = await opened(browser, await invited(stage, ann), timezone_id=ZONE, **PHONE)
    await page.wait_for_url("**/inbox")
    await page.goto(f"{stage.replicas[0].url}/history")
    time = page.locator(".when time")
    await expect(time).to_have_text(f"{at:%Y-%m-%d %H:%M:%S} UTC · {day}{here:%H:%M:%S} your time")
    assert await time.get_attribute("datetime") == f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    await page.locator("details:has(.happened)").evaluate("each => { each.open = true; }")
    await expect(page.locator(".happened time")).to_contain_text("your time")
    await context.close()
    context, page, more = await opened(browser, await invited(stage, ann), timezone_id="UTC")
    await page.wait_for_url("**/inbox")
    await page.goto(f"{stage.replicas[0].url}/history")
    await expect(page.locator(".when time")).to_have_text(f"{at:%Y-%m-%d %H:%M:%S} UTC")
    assert complaints + more == []
