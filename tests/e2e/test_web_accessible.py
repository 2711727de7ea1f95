"""What axe-core finds wrong with the pages by WCAG 2.2, levels A and AA: nothing."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.e2e.axe import violations
from tests.e2e.browsers import invited, opened, unfold
from tests.e2e.stage import Cast, Stage, casting
from tests.harness import Party, record
from tests.ruled import EDITABLE

HAZARDS: dict[str, Any] = {
    "input": {"to": "\u202egnp.exe", "name": "שרה", "lines": [{"sku": "x" * 90, "count": 1, "note": None}]},
    "reasons": ["the amount is large", "\u0440\u0430ypal"],
    "context": {"ticket": "T-1"},
    "presentation": {"title": "Refund", "summary": "As agreed\nwith them", "redact": ["/lines"]},
    "run": "run-1",
    "risk": "high",
}


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def cast(stage: Stage) -> AsyncIterator[Cast]:
    """Who takes part."""
    async with casting(stage) as cast:
        yield cast


async def at_once(page: Page, stage: Stage, path: str) -> Page:
    """A page, its buttons armed."""
    await page.goto(stage.replicas[0].url + path)
    await expect(page.locator("button:disabled")).to_have_count(0)
    return page


async def signed_in(stage: Stage, browser: Browser, cast: Cast) -> tuple[Party, Party, Page]:
    """A runtime, bob, and the page of ann."""
    (runtime,), (ann,), (bob,) = await cast.client(), await cast.approver(), await cast.approver("bob")
    _, page, _ = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    return runtime, bob, page


async def test_signing_in_and_notices(stage: Stage, browser: Browser) -> None:
    """Where everybody begins, and what somebody is told who is refused."""
    _, page, _ = await opened(browser, f"{stage.replicas[0].url}/signin")
    assert await violations(page) == []
    await page.get_by_label("The code of the link").fill("default." + "A" * 43)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("used already")
    assert await violations(page) == []
    for path in ("/nowhere", "/ui/x/y"):
        assert await violations(await at_once(page, stage, path)) == []


async def test_an_inbox(stage: Stage, browser: Browser, cast: Cast) -> None:
    """Empty, full, narrowed, with ticks; and what came of rejecting several."""
    runtime, bob, page = await signed_in(stage, browser, cast)
    assert await violations(page) == []
    for number, risk in enumerate(("low", "medium", "high", "critical")):
        await runtime.asked(input=number, risk=risk, run="r-1" if number < 2 else None)
    over = await runtime.asked(input="over", capability="orders.cancel")
    async with page.expect_response("**/ui/events"):  # it listens
        await at_once(page, stage, "/inbox")
    record(await bob.decide(over, "reject"))
    await expect(page.locator(".row.void")).to_have_count(1)
    await runtime.asked(input="new")
    await expect(page.locator("#news a")).to_be_visible()
    await page.get_by_text("Decide several").click()
    assert await violations(page) == []
    await at_once(page, stage, "/inbox?risk=high")
    assert await violations(page) == []
    await at_once(page, stage, "/inbox?risk=none")
    assert await violations(page) == []
    await at_once(page, stage, "/inbox")
    await page.get_by_text("Decide several").click()
    for tick in await page.locator(".choose").all():
        await tick.check()
    await page.get_by_role("button", name="Reject those ticked").click()
    assert await violations(page) == []


async def test_a_card(stage: Stage, browser: Browser, cast: Cast) -> None:
    """Pending, with what could mislead, a critical one's second step, refused, decided, used and reported."""
    runtime, bob, page = await signed_in(stage, browser, cast)
    asked = await runtime.asked(input={"to": "ACME", "amount": 5})
    misleading = await runtime.asked(**HAZARDS)
    critical = await runtime.asked(risk="critical")
    for each in (asked, misleading, critical):
        assert await violations(await at_once(page, stage, f"/a/{each['id']}")) == []
    await page.get_by_label("Comment").fill("as agreed")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("button", name="Yes, approve")).to_be_enabled()
    assert await violations(page) == []
    await page.get_by_role("button", name="Yes, approve").click()
    await expect(page.locator(".state")).to_contain_text("approved")
    assert await violations(page) == []
    await at_once(page, stage, f"/a/{misleading['id']}")
    await page.locator("input[name=receipt]").evaluate("each => { each.value = 'x'; }")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("alert")).to_contain_text("Nothing was decided")
    await expect(page.locator("button:disabled")).to_have_count(0)
    assert await violations(page) == []
    record(await bob.decide(misleading, "reject", comment="not this"))
    await expect(page.locator(".state")).to_contain_text("rejected")
    record(await runtime.consume(critical, await runtime.token(critical["id"])))
    record(await runtime.report(critical["id"], status="succeeded", summary="done"))
    for each in (misleading, critical):
        await at_once(page, stage, f"/a/{each['id']}")
        await unfold(page)
        assert await violations(page) == []


async def test_changes_and_history(stage: Stage, browser: Browser, cast: Cast) -> None:
    """Where an input is changed, what that changes, what was asked so far, and how much of it."""
    runtime, bob, page = await signed_in(stage, browser, cast)
    asked = await runtime.asked(**EDITABLE, input={"order": "A-1", "amount": 5})
    record(await bob.decide(await runtime.asked(input=2), "reject"))
    await at_once(page, stage, f"/a/{asked['id']}/edit")
    assert await violations(page) == []
    for text in ("{", '{"order": "A-1", "amount": 4, "note": "שרה"}'):
        await page.get_by_label("What would run, as JSON").fill(text)
        await page.get_by_role("button", name="See the changes").click()
        await expect(page.locator("button:disabled")).to_have_count(0)
        assert await violations(page) == []
    await page.get_by_role("button", name="Approve with these changes").click()
    await expect(page.locator(".state")).to_contain_text("approved")
    assert await violations(page) == []
    for path in (
        "/history",
        "/history?status=rejected",
        "/history?status=no",
        f"/a/{asked['id']}/edit",
        "/statistics",
    ):
        assert await violations(await at_once(page, stage, path)) == []
