"""Texts that run from right to left, or would turn others round, move nothing that stands beside them."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from markupsafe import escape

from placet.domain.presentation import Budget, present, read_seen
from placet.web.render import code
from tests.browsing import Browser, hidden, words
from tests.harness import record
from tests.ruled import Opening

NAME, OTHER, WORD = "שרה לוי", "محمد", "מחק"
OVERRIDE = "\u202e"
_RUNS_LEFT = re.compile("[\u0590-\u08ff]")
_VOID = frozenset({"meta", "link", "input", "br"})
_OF_ITS_OWN = frozenset({"title", "textarea"})
"""What stands in them is set by itself: the frame of a browser, and a field."""
DIRECTORY = f"""
[[people]]
id = "ann"
name = "{NAME}"
groups = ["treasury"]

[[people]]
id = "{OTHER}"
name = "{NAME} (ann)"
groups = ["treasury"]

[[people]]
id = "bob"
groups = ["treasury"]
"""


class Shown(HTMLParser):
    """The texts of a page that run from right to left: each by itself, or not."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[bool] = []
        self.apart: list[str] = []
        self.beside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element begins: what is in it stands by itself, or beside others."""
        if tag not in _VOID:
            self.open.append(tag == "bdi" or tag in _OF_ITS_OWN or ("dir", "auto") in attrs)

    def handle_endtag(self, tag: str) -> None:
        """It ends."""
        self.open.pop()

    def handle_data(self, data: str) -> None:
        """Its text."""
        if _RUNS_LEFT.search(data):
            (self.apart if any(self.open) else self.beside).append(data)


def apart(response: httpx.Response) -> list[str]:
    """The texts from right to left on a page, each of which stands by itself."""
    shown = Shown()
    shown.feed(response.text)
    shown.close()
    assert shown.open == []
    assert shown.beside == []
    assert OVERRIDE not in response.text
    return shown.apart


def hostile(**members: Any) -> dict[str, Any]:
    """A request with such texts wherever there may be some."""
    return {
        "actor": {"id": OTHER, "kind": "agent", "display_name": NAME, "on_behalf_of": [WORD, NAME]},
        "input": {WORD: [NAME, OTHER], "file": f"{OVERRIDE}gnp.exe", NAME: {WORD: OTHER, "b": 1}},
        "context": {WORD: NAME},
        "reasons": [f"{WORD}: 1", NAME],
        "types": [WORD],
        "presentation": {"title": NAME, "summary": f"{WORD}\nplain\n{OTHER} 12"},
        "allowed_decisions": ["approve", "edit", "reject"],
        **members,
    }


async def test_on_every_page(under: Opening) -> None:
    """In a list, on a card before and after it was decided, where it is changed, and of who has signed in."""
    ruled = await under("quorum = 2", 'edit = "counts"', directory=DIRECTORY)
    runtime, (other,) = await ruled.parties(OTHER)
    asked = await runtime.asked(**hostile(actor={"id": "x", "kind": "agent", "display_name": NAME}))
    own = await runtime.asked(**hostile())
    browser = await Browser(ruled.h).signed_in("ann")
    path = f"/a/{asked['id']}"
    shown = [
        await browser.get(each) for each in ("/inbox", "/history", path, f"/a/{own['id']}", f"{path}/edit")
    ]
    changed = json.dumps({WORD: [OTHER, NAME]}, ensure_ascii=False)
    fields = {**hidden(shown[-1]), "comment": WORD}
    shown.append(await browser.post(f"{path}/edit", {**fields, "input": changed, "decision": "preview"}))
    assert "Approve with these changes?" in words(shown[-1])
    record(await other.decide(asked, comment=f"{WORD}, {NAME}"))
    shown.append(await browser.get(path))
    assert (await browser.decide(asked["id"], "approve", comment=WORD)).status_code == 303
    shown.append(await browser.get(path))
    fields = {**await browser.card(own["id"]), "decision": "reject"}
    bob = await Browser(ruled.h).signed_in("bob")
    await bob.decide(own["id"], "reject")
    shown.append(await browser.post(f"/a/{own['id']}", fields))
    shown.append(await browser.get("/statistics"))
    for response in shown:
        assert NAME in apart(response)
    assert {NAME, f"{NAME} (ann)", OTHER} <= set(apart(shown[-3]))
    assert f'"{WORD}"' in apart(shown[2])


async def test_a_critical_call_is_asked_for_once_more_alike(under: Opening) -> None:
    """With the comment."""
    ruled = await under(directory=DIRECTORY)
    runtime, _ = await ruled.parties("ann")
    asked = await runtime.asked(**hostile(risk="critical"))
    response = await (await Browser(ruled.h).signed_in()).decide(asked["id"], "approve", comment=WORD)
    assert "Approve this critical call?" in words(response)
    assert {NAME, OTHER, WORD} <= {each.strip('"') for each in apart(response)}


async def test_who_an_actor_is_reads_as_elsewhere(under: Opening) -> None:
    """The words of the presentation model, each name by itself."""
    ruled = await under(directory=DIRECTORY)
    runtime, _ = await ruled.parties("ann")
    asked = await runtime.asked(**hostile())
    page = await (await Browser(ruled.h).signed_in()).get(f"/a/{asked['id']}")
    card = present(read_seen(json.dumps(asked).encode()), Budget(lines=100))
    assert f"<dt>For</dt><dd>{escape(card.actor.text)}</dd>" in re.sub("</?bdi>", "", page.text)


@pytest.mark.parametrize(
    ("shown", "made"),
    [
        ('{"a": "b"}', "{&#34;a&#34;: &#34;b&#34;}"),
        (f'"{WORD}": "{NAME}"', f"<bdi>&#34;{WORD}&#34;</bdi>: <bdi>&#34;{NAME}&#34;</bdi>"),
        (f'"a\\"{WORD}": 1', f"<bdi>&#34;a\\&#34;{WORD}&#34;</bdi>: 1"),
        (f'"a" {WORD}', f"&#34;a&#34;<bdi> {WORD}</bdi>"),
        (f'"⟨U+202E⟩{WORD}"', f'<bdi>&#34;<span class="escape">⟨U+202E⟩</span>{WORD}&#34;</bdi>'),
    ],
)
def test_names_and_values_of_json_stay_in_their_places(shown: str, made: str) -> None:
    """Each text by itself; what is no JSON all the same."""
    assert code(shown) == made
