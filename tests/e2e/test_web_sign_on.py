"""Signing in with a real issuer, in a real browser: for a session, and for one decision."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Route, expect

from tests.e2e.axe import violations
from tests.e2e.browsers import PHONE, WITHIN_MS
from tests.e2e.issuers import CLIENT_ID, CLIENT_SECRET, an_issuer
from tests.e2e.stage import Cast, Stage, alone, casting

pytestmark = pytest.mark.asyncio(loop_scope="module")

POLICY = """
[[rules]]
name = "all"
capabilities = ["*"]
approvers = { groups = ["ops"] }
"""
DIRECTORY = """
[issuers."{iss}"]
groups_claim = "groups"

[issuers."{iss}".sign_in]
name = "login"
client_id = "{client_id}"
client_secret_file = "{secret_file}"
label = "Example login"
scopes = ["profile", "groups"]
acr_values = ["phr"]

[[people]]
id = "ann"
name = "Ann Marsh"
groups = ["ops"]
oidc = [{{ iss = "{iss}", sub = "u-ann" }}]
"""


@pytest.fixture(scope="module")
def signing_on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A service whose people sign in with an issuer."""
    secret_file: Path = tmp_path_factory.mktemp("issuer") / "secret"
    secret_file.write_text(CLIENT_SECRET)
    with an_issuer() as iss:
        directory = DIRECTORY.format(iss=iss, client_id=CLIENT_ID, secret_file=secret_file)
        with alone(policy=POLICY, directory=directory) as stage:
            yield stage


@pytest_asyncio.fixture(loop_scope="module")
async def cast(signing_on: Stage) -> AsyncIterator[Cast]:
    """Who takes part, in the tenant of the issuer."""
    async with casting(signing_on) as cast:
        cast.tenant = "default"
        yield cast


async def page_of(browser: Browser, **options: object) -> tuple[Page, list[str]]:
    """A page of somebody who is nobody yet, and what it complains of; the issuer's form has no icon."""
    context = await browser.new_context(**options)  # type: ignore[arg-type] # as Playwright has them
    context.set_default_timeout(WITHIN_MS)
    page, complaints = await context.new_page(), []

    def heard(said: ConsoleMessage) -> None:
        if not said.location["url"].endswith("/favicon.ico"):
            complaints.append(said.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return page, complaints


async def says(page: Page, name: str) -> None:
    """Tell the issuer who one is."""
    await expect(page.get_by_role("heading", name="Who are you?")).to_be_visible()
    await page.get_by_label("Name").fill(name)
    await page.get_by_role("button", name="Sign in").click()


async def test_from_a_link_to_the_card_and_through_a_step_up(
    signing_on: Stage, browser: Browser, cast: Cast
) -> None:
    """Where somebody wanted to go they come; a critical call asks them again, and keeps how they answered."""
    (runtime,) = await cast.client("one")
    asked = await runtime.asked(input={"to": "ACME", "amount": 5}, risk="critical")
    page, complaints = await page_of(browser, **PHONE)
    card = f"{signing_on.replicas[0].url}/a/{asked['id']}"
    await page.goto(card)
    assert await violations(page) == []
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.get_by_role("button", name="Sign in with Example login").tap()
    await says(page, "u-ann")
    await page.wait_for_url(card)
    await expect(page.locator(".who")).to_contain_text("Ann Marsh")
    await expect(page.get_by_text("asks you to sign in with Example login once more")).to_be_visible()
    await page.get_by_label("Comment").fill("as agreed")
    for button in ("Approve", "Yes, approve"):
        armed = page.get_by_role("button", name=button, exact=True)
        await expect(armed).to_be_enabled()
        await armed.tap()
    await says(page, "u-ann")
    await page.wait_for_url(card)
    await expect(page.locator(".votes")).to_contain_text("after signing in for it (phr, pin, hwk)")
    vote = (await runtime.seen(asked["id"]))["decisions"][0]
    assert (vote["approver"]["id"], vote["comment"], vote["step_up"]["acr"]) == ("ann", "as agreed", "phr")
    assert complaints == []


async def test_another_person_s_sign_in_decides_nothing(
    signing_on: Stage, browser: Browser, cast: Cast
) -> None:
    """Nor a sign-in that was refused: what was written is still there."""
    (runtime,) = await cast.client("two")
    asked = await runtime.asked(risk="critical", input=2)
    page, _ = await page_of(browser)
    await page.goto(f"{signing_on.replicas[0].url}/a/{asked['id']}")
    await page.get_by_role("button", name="Sign in with Example login").click()
    await says(page, "u-ann")
    for name, said in (
        ("u-bob", "You signed in as somebody else"),
        ("nobody", "You did not sign in with Example login"),
    ):
        comment = page.get_by_label("Comment")
        await comment.fill("as agreed")
        for button in ("Approve", "Yes, approve"):
            await page.get_by_role("button", name=button, exact=True).click()
        await says(page, name)
        await expect(page.get_by_role("alert")).to_contain_text(said)
        await expect(comment).to_have_value("as agreed")
    await expect(page.locator(".who")).to_contain_text("Ann Marsh")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


async def test_without_scripts(signing_on: Stage, browser: Browser, cast: Cast) -> None:
    """There and back by forms; whom the directory does not know comes by the groups of the issuer."""
    (runtime,) = await cast.client("three")
    asked = await runtime.asked(input=3)
    page, _ = await page_of(browser, java_script_enabled=False)
    await page.goto(f"{signing_on.replicas[0].url}/a/{asked['id']}")
    await page.get_by_role("button", name="Sign in with Example login").click()
    await says(page, "u-nina")
    await page.get_by_role("button", name="Go on").click()
    await expect(page.locator(".who")).to_contain_text("u-nina of the issuer")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.locator(".state")).to_contain_text("approved")
    assert (await runtime.seen(asked["id"]))["decisions"][0]["approver"]["id"].startswith("oidc:")


async def test_a_cookie_that_was_there_before_is_nobody_s(signing_on: Stage, browser: Browser) -> None:
    """Session fixation: what somebody planted is replaced at the sign-in, and leads nowhere."""
    stage_url = signing_on.replicas[0].url
    page, _ = await page_of(browser)
    name, planted = f"placet-{signing_on.replicas[0].port}", "default." + "A" * 43
    await page.context.add_cookies([{"name": name, "value": planted, "url": stage_url}])
    await page.goto(f"{stage_url}/inbox")
    await page.get_by_role("button", name="Sign in with Example login").click()
    await says(page, "u-ann")
    await page.wait_for_url("**/inbox")
    held = {each["name"]: each for each in await page.context.cookies() if each["name"] == name}
    assert held[name]["value"] != planted
    assert (held[name]["httpOnly"], held[name]["sameSite"]) == (True, "Lax")
    other, _ = await page_of(browser)
    await other.context.add_cookies([{"name": name, "value": planted, "url": stage_url}])
    await other.goto(f"{stage_url}/inbox")
    await expect(other.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_a_page_of_another_site_decides_nothing(
    signing_on: Stage, browser: Browser, cast: Cast
) -> None:
    """A form that sends itself, with all that it could know, is refused (cross-site request forgery)."""
    (runtime,) = await cast.client("four")
    asked = await runtime.asked(input=4)
    page, _ = await page_of(browser)
    card = f"{signing_on.replicas[0].url}/a/{asked['id']}"
    await page.goto(card)
    await page.get_by_role("button", name="Sign in with Example login").click()
    await says(page, "u-ann")
    await page.wait_for_url(card)
    fields = await page.locator("#decide input[type=hidden]").evaluate_all(
        "inputs => inputs.map(input => input.outerHTML).join('')"
    )

    async def forged(route: Route) -> None:
        form = f'<form method="post" action="{card}">{fields}<input name="decision" value="approve"></form>'
        await route.fulfill(
            content_type="text/html", body=f"{form}<button onclick='document.forms[0].submit()'>"
        )

    await page.context.route(re.compile("^http://evil.example/"), forged)
    await page.goto("http://evil.example/")
    await page.get_by_role("button").click()
    await expect(page.locator("main")).to_contain_text("has to come from a page of this service")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
