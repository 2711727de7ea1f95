"""Debian's chromium as somebody's browser."""

import json
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from tests.e2e.processes import PLACET, environment
from tests.e2e.stage import Stage
from tests.harness import Party
from tests.tools import require

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
WITHIN_MS = 30_000
"""How long a page may take on a busy machine."""
expect.set_options(timeout=WITHIN_MS)


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """A browser, which ends with the block."""
    path = shutil.which("chromium")
    require(path is not None, "chromium (Debian's package of that name)")
    async with async_playwright() as tools:
        browser = await tools.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        await browser.close()


def link_for(stage: Stage, party: Party) -> str:
    """What an operator's command prints, for a person who has been entered."""
    command = [sys.executable, *PLACET, "signin", party.name, "--tenant", party.tenant, "--json"]
    done = subprocess.run(command, env=environment(stage.variables), capture_output=True, check=True)
    link: str = json.loads(done.stdout)["url"]
    stage.hear(link.rpartition(".")[2].encode())
    return link


async def invited(stage: Stage, party: Party) -> str:
    """The same link, sooner."""
    return await stage.invite(party.tenant, party.name)


async def opened(browser: Browser, link: str, **options: Any) -> tuple[BrowserContext, Page, list[str]]:
    """A browser of somebody who has followed a link, and what it complains of."""
    context = await browser.new_context(**options)
    context.set_default_timeout(WITHIN_MS)
    page, complaints = await context.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    await page.goto(link)
    return context, page, complaints


async def unfold(page: Page) -> None:
    """Show what a page keeps folded."""
    await page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")
