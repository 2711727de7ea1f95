"""The rules of axe-core, asked of a page as it stands in a browser."""

from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from playwright.async_api import Page

from tests.tools import require

NODE_MODULES: Final = Path(__file__).parent / "node_modules"
TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
WIDTHS_PX: Final = (360, 1280)
_ASKED: Final = "tags => axe.run(document, { runOnly: tags, resultTypes: ['violations'] })"


async def violations(page: Page) -> list[str]:
    """What is wrong with a page by WCAG 2.2, levels A and AA: the rule, where, and how the page looked then.

    It is looked at in light and dark, as wide as a phone and as a desk; motion is left out, and disabled
    buttons are waited for.
    """
    await page.evaluate(_source())
    found = []
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        for width_px in WIDTHS_PX:
            await page.set_viewport_size({"width": width_px, "height": 800})
            told: dict[str, Any] = await page.evaluate(_ASKED, TAGS)
            assert told["passes"], "no rule was applied"
            found += [f"{scheme}, {width_px} px: {_words(each)}" for each in told["violations"]]
    return found


def _words(violation: dict[str, Any]) -> str:
    places = [" ".join(map(str, node["target"])) for node in violation["nodes"]]
    return f"{violation['id']} at {', '.join(places)}"


@cache
def _source() -> str:
    path = NODE_MODULES / "axe-core" / "axe.min.js"
    require(path.is_file(), "axe-core (`npm install --no-package-lock --prefix tests/e2e`)")
    return path.read_text(encoding="utf-8")
