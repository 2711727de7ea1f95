"""The rules of axe-core, asked of a page as it stands in a browser."""

from functools import cache
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page

from tests.tools import require

NODE_MODULES: Final = Path(__file__).parent / "node_modules"
TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
_ASKED: Final = "tags => axe.run(document, { runOnly: tags, resultTypes: ['violations'] })"


async def violations(page: Page) -> list[str]:
    """What is wrong with a page by WCAG 2.2, levels A and AA: the rule, and where."""
    await page.evaluate(_source())
    found: dict[str, Any] = await page.evaluate(_ASKED, TAGS)
    assert found["passes"], "no rule was applied"
    return [f"{each['id']}: {', '.join(_places(each))}" for each in found["violations"]]


def _places(violation: dict[str, Any]) -> list[str]:
    return [" ".join(map(str, node["target"])) for node in violation["nodes"]]


@cache
def _source() -> str:
    path = NODE_MODULES / "axe-core" / "axe.min.js"
    require(path.is_file(), "axe-core (`npm install --no-package-lock --prefix tests/e2e`)")
    return path.read_text(encoding="utf-8")
