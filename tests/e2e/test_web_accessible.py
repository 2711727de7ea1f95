"""What axe-core finds wrong with the pages by WCAG 2.2, levels A and AA: nothing."""

from playwright.async_api import Browser

from tests.e2e.axe import violations
from tests.e2e.browsers import opened
from tests.e2e.stage import Stage


async def test_signing_in(stage: Stage, browser: Browser) -> None:
    """The page that everybody begins on."""
    _, page, _ = await opened(browser, f"{stage.replicas[0].url}/signin")
    assert await violations(page) == []
