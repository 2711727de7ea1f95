"""The pages in a real browser: Debian's chromium, with and without scripts, on a phone and by keyboard."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Error, Route, expect

from tests.e2e.browsers import PHONE, invited, link_for, opened, unfold
from tests.e2e.stage import Cast, Stage, casting
from tests.harness import record
from tests.ruled import EDITABLE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def cast(stage: Stage) -> AsyncIterator[Cast]:
    """Who takes part."""
    async with casting(stage) as cast:
        yield cast


async def test_from_the_link_to_the_decision_on_a_phone(stage: Stage, browser: Browser, cast: Cast) -> None:
    """The link signs in and leaves no secret in the address; the card fits; a thumb approves it."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = await runtime.asked(input={"to": "ACME", "amount": 5}, risk="high")
    _, page, complaints = await opened(browser, link_for(stage, ann), **PHONE)
    await page.wait_for_url("**/inbox")
    await page.get_by_text("orders.refund acts on the world outside").tap()
    await page.wait_for_url(f"**/a/{asked['id']}")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    approve = page.get_by_role("button", name="Approve")
    await expect(approve).to_be_in_viewport()
    await expect(approve).to_be_enabled()
    await approve.tap()
    await expect(page.locator(".state")).to_contain_text("approved, and not used yet")
    seen = await runtime.seen(asked["id"])
    assert (seen["status"], seen["decisions"][0]["channel"]) == ("approved", "web")
    assert complaints == []


async def test_a_critical_call_takes_a_second_step(stage: Stage, browser: Browser, cast: Cast) -> None:
    """On a page of its own; back is as near as on, and what was written stays."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = await runtime.asked(input={"to": "ACME", "amount": 5}, risk="critical")
    _, page, complaints = await opened(browser, await invited(stage, ann), **PHONE)
    await page.wait_for_url("**/inbox")
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    for step in ("back", "on"):
        await expect(page.get_by_role("button", name="Approve")).to_be_enabled()
        if step == "back":
            await page.get_by_label("Comment").fill("as agreed")
        await page.get_by_role("button", name="Approve").tap()
        yes = page.get_by_role("button", name="Yes, approve")
        await expect(yes).to_be_disabled()
        await expect(yes).to_be_in_viewport()
        await expect(yes).to_be_enabled()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if step == "back":
            await page.get_by_role("link", name="Back").tap()
            await expect(page.get_by_label("Comment")).to_have_value("as agreed")
        else:
            await yes.tap()
    await expect(page.locator(".state")).to_contain_text("approved, and not used yet")
    assert (await runtime.seen(asked["id"]))["decisions"][0]["comment"] == "as agreed"
    assert complaints == []


async def test_buttons_are_armed_a_moment_after_a_card_comes(
    stage: Stage, browser: Browser, cast: Cast
) -> None:
    """And again after it has regained the focus: a thumb that was on its way decides nothing."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = await runtime.asked()
    _, page, _ = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}", wait_until="commit")
    buttons = page.locator(".buttons button")
    await expect(buttons.first).to_be_disabled()
    await expect(buttons.first).to_be_enabled()
    await page.evaluate("dispatchEvent(new Event('focus'))")
    assert await buttons.first.is_disabled()
    await expect(buttons.first).to_be_enabled()


async def test_what_somebody_else_decides_is_there_at_once(
    stage: Stage, browser: Browser, cast: Cast
) -> None:
    """The card says who; the inbox says what is new, and moves nothing."""
    (runtime,), (ann,), (bob,) = await cast.client(), await cast.approver(), await cast.approver("bob")
    asked = await runtime.asked(input=1)
    context, page, _ = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    card = await context.new_page()
    await card.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    await card.fill("#comment", "I was about to say")
    record(await bob.decide(asked, "reject", comment="not today"))
    await expect(card.locator(".votes")).to_contain_text("rejected by bob via api")
    await expect(card.locator(".decide")).to_have_count(0)
    await expect(page.locator(".row .left")).to_have_text("rejected")
    await runtime.asked(input=2)
    await expect(page.get_by_role("link", name="Show 1 new")).to_be_visible()
    await expect(page.locator(".row")).to_have_count(1)
    await page.get_by_text("Show 1 new").click()
    await expect(page.locator("#status")).to_have_text("One question awaits you.")


async def test_only_what_awaits_them_here_is_new(stage: Stage, browser: Browser, cast: Cast) -> None:
    """Neither their own request nor what is not chosen; the title counts what awaits them."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    await runtime.asked(input=1, risk="high")
    _, page, complaints = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    await page.goto(f"{stage.replicas[0].url}/inbox?risk=high")
    await expect(page).to_have_title("(1) Inbox · Placet")
    asks: list[str] = []
    page.on("request", lambda request: asks.append(request.url) if "/ui/inbox?" in request.url else None)
    await runtime.asked(input=2, risk="high", actor={"id": "ann", "kind": "user"})
    for number in range(5):
        await runtime.asked(input=[number], risk="low")
    await expect(page).to_have_title("(6) Inbox · Placet")
    await expect(page.locator("#news a")).to_be_hidden()
    await runtime.asked(input=3, risk="high")
    await expect(page.get_by_role("link", name="Show 1 new")).to_be_visible()
    await expect(page).to_have_title("(7) Inbox · Placet")
    assert len(asks) <= 3
    assert complaints == []


async def test_a_countdown_goes_on_while_the_machine_sleeps(
    stage: Stage, browser: Browser, cast: Cast
) -> None:
    """One clock may stand still, the other be set back; and seen again, the service says what time it is."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = await runtime.asked(expires_in_ms=480_000)
    context, page, _ = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    await context.route("**/ui/events", lambda way: way.abort())
    left, seen = page.locator(".state .left"), "document.dispatchEvent(new Event('visibilitychange'))"
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    await expect(left).to_have_text(re.compile("^7 min 5[0-9] s left$"))
    await page.evaluate("{ const now = Date.now; Date.now = () => now() + 300_000; }" + seen)
    await expect(left).to_have_text(re.compile("^2 min 5[0-9] s left$"))
    await page.evaluate("{ const now = Date.now; Date.now = () => now() - 7_200_000; }" + seen)
    await expect(left).to_have_text(re.compile("^7 min [45][0-9] s left$"))
    await page.evaluate("{ const now = Date.now; Date.now = () => now() + 7_000_000; }" + seen)
    await expect(left).to_have_text(re.compile("^6 min|^[0-5] min|^expired"))
    await context.unroute("**/ui/events")
    await page.evaluate(seen)
    await expect(left).to_have_text(re.compile("^7 min [345][0-9] s left$"))


@pytest.mark.parametrize("path", ["/inbox", "/a/{id}"])
async def test_a_page_that_was_kept_whole_follows_again(
    stage: Stage, browser: Browser, cast: Cast, path: str
) -> None:
    """A browser that shows it again does not load it: it asks what it missed."""
    (runtime,), (ann,), (bob,) = await cast.client(), await cast.approver(), await cast.approver("bob")
    asked = await runtime.asked()
    _, page, _ = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    async with page.expect_response("**/ui/events"):
        await page.goto(stage.replicas[0].url + path.format(**asked))
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    record(await bob.decide(asked, "reject"))
    await runtime.asked(input=2)
    shown = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    await page.evaluate(f"void setTimeout(() => {shown})")  # it may load the page anew at once
    if path == "/inbox":
        await expect(page.get_by_role("link", name="Show 1 new")).to_be_visible()
    else:
        await expect(page.locator(".state")).to_contain_text("rejected")


async def test_what_happens_while_nobody_listens_is_seen_after(
    stage: Stage, browser: Browser, cast: Cast
) -> None:
    """Between a card and its stream, and behind another page; where nothing is followed, that is said."""
    (runtime,), (ann,), (bob,) = await cast.client(), await cast.approver(), await cast.approver("bob")
    context, page, _ = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    held = asyncio.Event()

    async def late(way: Route) -> None:
        await held.wait()
        await way.continue_()

    async def gone(way: Route) -> None:
        await way.fulfill(status=429)

    async def seen(is_hidden: bool) -> None:  # noqa: FBT001
        told = None
        while told is not is_hidden:
            with suppress(Error):  # it is loading anew
                told = await page.evaluate(
                    "is => { Object.defineProperty(document, 'hidden', {value: is, configurable: true});"
                    " document.dispatchEvent(new Event('visibilitychange')); return document.hidden; }",
                    is_hidden,
                )
            await page.wait_for_load_state()

    asked = await runtime.asked(input=1)
    await context.route("**/ui/events", late)
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    record(await bob.decide(asked, "reject"))
    held.set()
    await expect(page.locator(".state")).to_contain_text("rejected")
    await context.unroute("**/ui/events")
    asked = await runtime.asked(input=2)
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    await seen(is_hidden=True)
    record(await bob.decide(asked, "reject"))
    await seen(is_hidden=False)
    await expect(page.locator(".state")).to_contain_text("rejected")
    await context.route("**/ui/events", gone)
    await page.goto(f"{stage.replicas[0].url}/inbox")
    await expect(page.locator("#stale")).to_contain_text("no longer follows what happens")


async def test_a_link_for_somebody_else_asks_first(stage: Stage, browser: Browser, cast: Cast) -> None:
    """What is decided in a browser is decided by whom its user takes themself for."""
    (ann,), (bob,) = await cast.approver(), await cast.approver("bob")
    _, page, complaints = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    await page.goto(await invited(stage, bob))
    await expect(page.locator(".mind")).to_contain_text("You are signed in as ann.")
    assert "#" not in page.url
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/inbox")
    await expect(page.locator(".who")).to_contain_text("bob")
    assert complaints == []


async def test_without_scripts(stage: Stage, browser: Browser, cast: Cast) -> None:
    """The code is typed, the form is sent; everything is there."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = await runtime.asked()
    page_url, _, secret = (await invited(stage, ann)).partition("#")
    _, page, _ = await opened(browser, page_url, java_script_enabled=False)
    await page.get_by_label("The code of the link").fill(secret)
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/inbox")
    await page.get_by_text("orders.refund").click()
    await page.get_by_label("Comment").fill("fine")
    await page.get_by_role("button", name="Reject").click()
    await expect(page.locator(".state")).to_contain_text("rejected")
    assert (await runtime.seen(asked["id"]))["decisions"][0]["comment"] == "fine"


async def test_by_keyboard_alone(stage: Stage, browser: Browser, cast: Cast) -> None:
    """What has the focus is seen, and all can be reached."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = await runtime.asked()
    _, page, _ = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    row = page.locator(".row")
    for _ in range(10):
        await page.keyboard.press("Tab")
        if await row.evaluate("row => row === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**/a/{asked['id']}")
    approve = page.get_by_role("button", name="Approve")
    await expect(approve).to_be_enabled()
    for _ in range(20):
        await page.keyboard.press("Tab")
        if await approve.evaluate("each => each === document.activeElement"):
            break
    outline = await approve.evaluate("each => getComputedStyle(each).outlineStyle")
    assert outline == "solid"
    await page.keyboard.press("Enter")
    await expect(page.locator(".state")).to_contain_text("approved")


async def test_a_draft_waits_for_whoever_wrote_it(stage: Stage, browser: Browser, cast: Cast) -> None:
    """Through a sign-out in between, in this window; nobody else gets it, and it goes with the decision."""
    (runtime,), (ann,), (bob,) = await cast.client(), await cast.approver(), await cast.approver("bob")
    asked = await runtime.asked()
    _, page, complaints = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    card, comment = f"{stage.replicas[0].url}/a/{asked['id']}", page.locator("#comment")
    await page.goto(card)
    await comment.fill("as agreed")
    for person, draft in ((bob, ""), (ann, "as agreed")):
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_url("**/signin")
        await page.goto(await invited(stage, person))
        await page.wait_for_url("**/inbox")
        await page.goto(card)
        await expect(comment).to_have_value(draft)
    await page.get_by_role("button", name="Reject").click()
    await expect(page.locator(".state")).to_contain_text("rejected")
    assert await page.evaluate("Object.keys(sessionStorage).filter(key => key.startsWith('comment:'))") == []
    assert complaints == []


async def test_those_that_were_opened_are_approved_together(
    stage: Stage, browser: Browser, cast: Cast
) -> None:
    """In this window: the button comes with the first of them, and works for such alone."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = [await runtime.asked(input=each, expires_in_ms=600_000 + each * 1_000) for each in range(3)]
    _, page, complaints = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    url = stage.replicas[0].url
    approve = page.get_by_role("button", name="Approve those ticked")
    await page.get_by_text("Decide several").click()
    await expect(approve).to_be_hidden()
    for each in asked[:2]:
        await page.goto(f"{url}/a/{each['id']}")
    await page.goto(f"{url}/inbox")
    await page.get_by_text("Decide several").click()
    ticks = page.locator(".choose")
    await expect(approve).to_be_disabled()
    for place in (0, 2):
        await ticks.nth(place).check()
    await expect(approve).to_be_disabled()
    await ticks.nth(2).uncheck()
    await ticks.nth(1).check()
    await expect(page.locator(".row", has_text="opened")).to_have_count(2)
    await approve.click()
    await expect(page.get_by_role("heading", name="2 were approved")).to_be_visible()
    statuses = [(await runtime.seen(each["id"]))["status"] for each in asked]
    assert statuses == ["approved", "approved", "pending"]
    assert complaints == []


async def test_an_inbox_is_worked_through_by_keyboard(stage: Stage, browser: Browser, cast: Cast) -> None:
    """From row to row; some are ticked and rejected together; letters do nothing elsewhere."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    asked = [await runtime.asked(input=each, expires_in_ms=600_000 + each * 1_000) for each in range(4)]
    _, page, complaints = await opened(browser, await invited(stage, ann))
    await page.wait_for_url("**/inbox")
    rows, ticks = page.locator(".row"), page.locator(".choose")
    await expect(ticks.first).to_be_hidden()
    await page.keyboard.press("x")
    await expect(ticks.first).to_be_hidden()
    await rows.first.focus()
    for key in ("x", "j", "ArrowDown", "x", "ArrowUp", "k"):
        await page.keyboard.press(key)
    await expect(rows.first).to_be_focused()
    assert [await each.is_checked() for each in await ticks.all()] == [True, False, True, False]
    await page.locator("#comment").press_sequentially("jjx, not today")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="2 were rejected")).to_be_visible()
    statuses = [(await runtime.seen(each["id"]))["status"] for each in asked]
    assert statuses == ["rejected", "pending", "rejected", "pending"]
    await page.get_by_role("link", name="To the inbox").click()
    await expect(rows).to_have_count(2)
    await expect(ticks.first).to_be_hidden()
    assert complaints == []


async def test_hostile_text_is_harmless(stage: Stage, browser: Browser, cast: Cast) -> None:
    """Markup is text, characters that hide are seen, and nothing of it runs."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    hostile = "<img src=x onerror=alert(1)>\u202egnp.exe\u200b</textarea><script>alert(2)</script>"
    asked = await runtime.asked(
        input={hostile: [hostile, {"a": hostile}]},
        reasons=[hostile],
        context={"x": hostile},
        presentation={"title": hostile, "summary": hostile},
    )
    _, page, complaints = await opened(browser, await invited(stage, ann), color_scheme="dark")
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    await page.wait_for_url("**/inbox")
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    await expect(page.locator(".mind li").first).to_contain_text("Look twice at")
    assert await page.locator("main img").count() == 0
    assert await page.locator(".escape").count() >= 8
    assert (alerts, complaints) == ([], [])


PLACES_OF = """(place, words) => {
  const nodes = [], walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const text = nodes.map(each => each.data).join("");
  let from = 0;
  return words.map(word => {
    let at = text.indexOf(word, from);
    if (at < 0) throw new Error(`${word} is not in ${text}`);
    from = at + word.length;
    const node = nodes.find(each => (at -= each.data.length) < 0), range = document.createRange();
    range.setStart(node, at + node.data.length);
    range.setEnd(node, at + node.data.length + 1);
    const box = range.getBoundingClientRect();
    return [(box.top + box.bottom) / 2, box.left];
  });
}"""
"""Where the first letters of these words are seen: how far from the top, and from the left."""
LINE_PX = 10
"""What is further below than this is in another line."""


@pytest.mark.parametrize("width_px", [320, 1280])
async def test_names_from_right_to_left_move_nothing(
    stage: Stage, browser: Browser, cast: Cast, width_px: int
) -> None:
    """What stands beside them is read in its order, from line to line and from left to right; and it fits."""
    (runtime,), (ann,), (bob,) = await cast.client(), await cast.approver(), await cast.approver("bob")
    name, other = "\u05e9\u05e8\u05d4 (1)", "\u0645\u062d\u0645\u062f"
    hostile = {"actor": {"id": other, "kind": "agent", "display_name": name}, "reasons": [f"1: {name}"]}
    asked = await runtime.asked(input={"a": f"\u202e{other}", other: [name, other]}, **hostile)
    record(await bob.decide(await runtime.asked(input=1, **hostile), "reject", comment=name))
    options: dict[str, Any] = {"viewport": {"width": width_px, "height": 700}}
    _, page, complaints = await opened(browser, await invited(stage, ann), **options)
    await page.wait_for_url("**/inbox")
    actor = [other, name, "an AI", "as the"]
    for path, where, words in (
        ("/inbox", ".row .by", ["for", *actor, "asked by"]),
        ("/history", ".row .by", ["for", *actor, "asked by"]),
        (f"/a/{asked['id']}", ".facts div:has(> dt:text('For')) dd", actor),
        (f"/a/{asked['id']}", "pre.sheet", ["a", "U+202E", other, other, ":[", name, ",", other, "]"]),
    ):
        await page.goto(stage.replicas[0].url + path)
        await unfold(page)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        places = await page.locator(where).first.evaluate(PLACES_OF, words)
        for (top, left), (next_top, next_left) in pairwise(places):
            assert next_top > top + LINE_PX or (abs(next_top - top) < LINE_PX and next_left > left), where
    assert complaints == []


async def test_history_on_a_phone(stage: Stage, browser: Browser, cast: Cast) -> None:
    """It fits the narrowest, goes to a card that tells what happened, and is there again on the way back."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    await runtime.asked(input=1)
    asked = await runtime.asked(input=2, run="run-" + "x" * 120)
    record(await ann.decide(asked, "reject"))
    narrow = {**PHONE, "viewport": {"width": 320, "height": 640}}
    _, page, complaints = await opened(browser, await invited(stage, ann), **narrow)
    await page.wait_for_url("**/inbox")
    fits = "document.documentElement.scrollWidth <= innerWidth"
    await page.get_by_role("link", name="History").tap()
    await page.wait_for_url("**/history")
    assert await page.evaluate(fits)
    await expect(page.locator(".row")).to_have_count(2)
    await page.get_by_text("Filters").tap()
    await page.get_by_label("Status").select_option("rejected")
    await page.get_by_role("button", name="Show these").tap()
    await expect(page.locator(".row")).to_have_count(1)
    assert await page.evaluate(fits)
    await page.locator(".row").tap()
    await page.wait_for_url(f"**/a/{asked['id']}")
    await expect(page.locator(".happened")).to_contain_text(f"rejected by {ann.name}")
    await expect(page.locator(".happened")).to_be_visible()
    assert await page.evaluate(fits)
    await page.go_back()
    await expect(page.get_by_label("Status")).to_have_value("rejected")
    await expect(page.locator(".row")).to_have_count(1)
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_statistics_on_a_phone(stage: Stage, browser: Browser, cast: Cast, scheme: Any) -> None:
    """They fit the narrowest with all tables open; charts have names; whoever was too fast is told so."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    for number in range(6):
        capability = f"payments.transfer.international.to-a-bank-account-{number}"
        asked = await runtime.asked(input=number, capability=capability)
        record(await ann.decide(asked, "reject" if number == 5 else "approve"))
    narrow = {**PHONE, "viewport": {"width": 320, "height": 640}, "color_scheme": scheme}
    _, page, complaints = await opened(browser, link_for(stage, ann), **narrow)
    await page.wait_for_url("**/inbox")
    await page.get_by_role("link", name="Statistics").tap()
    await page.wait_for_url("**/statistics")
    await expect(page.get_by_role("region", name="Too fast to have been read")).to_contain_text(
        "You approved 5 in"
    )
    for name in ("Decisions per day", "Time to decide", "How questions ended"):
        await expect(page.get_by_role("img", name=name)).to_be_visible()
        await expect(page.get_by_role("table", name=name)).to_be_hidden()
    for table in await page.get_by_text("The same as a table").all():
        await table.tap()
    for name in ("Decisions per day", "By capability", "By person"):
        await expect(page.get_by_role("table", name=name)).to_be_visible()
    named = page.get_by_role("table", name="By person").get_by_role("row", name="ann 5 1 0")
    await expect(named.get_by_role("rowheader")).to_have_text("ann")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    within = "[...document.querySelectorAll('.wide')].every((each) => each.scrollWidth <= each.clientWidth)"
    assert await page.evaluate(within)
    await page.get_by_role("link", name="30 days").tap()
    await page.wait_for_url("**/statistics?days=30")
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complaints == []


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
async def test_approving_with_changes(stage: Stage, browser: Browser, cast: Cast, scripts: bool) -> None:  # noqa: FBT001
    """Written, shown, approved, on the smallest of phones; and what was written stays on the way back."""
    (runtime,), (ann,) = await cast.client(), await cast.approver()
    order = {"order": "A-1", "amount": 5, "lines": [{"sku": "a-long-name-of-a-thing-" * 3, "count": 12}]}
    asked = await runtime.asked(**EDITABLE, input=order)
    phone = {**PHONE, "viewport": {"width": 320, "height": 640}}
    page_url, _, secret = (await invited(stage, ann)).partition("#")
    _, page, complaints = await opened(browser, page_url, **phone, java_script_enabled=scripts)
    await page.get_by_label("The code of the link").fill(secret)
    await page.get_by_role("button", name="Sign in").tap()
    await page.wait_for_url("**/inbox")
    await page.goto(f"{stage.replicas[0].url}/a/{asked['id']}")
    await page.get_by_role("link", name="Approve with changes").tap()
    await page.wait_for_url("**/edit")
    written = page.get_by_label("What would run, as JSON")
    assert json.loads(await written.input_value()) == order
    less = json.dumps({**order, "amount": 4}, indent=1)
    await written.fill(less)
    await page.get_by_label("Comment").fill("four will do")
    for step in ("Back", "Approve with these changes"):
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.get_by_role("button", name="See the changes").tap()
        await expect(page.locator(".changes li")).to_contain_text("/amount")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await expect(page.get_by_role("button", name="Approve with these changes")).to_be_in_viewport()
        await page.get_by_role("button", name=step).tap()
        if step == "Back":
            await expect(written).to_have_value(less)
            await expect(page.get_by_label("Comment")).to_have_value("four will do")
    await expect(page.locator(".state")).to_contain_text("approved, and not used yet")
    seen = await runtime.seen(asked["id"])
    assert (seen["input"]["amount"], seen["decisions"][0]["comment"]) == (4, "four will do")
    assert complaints == []
