"""The pages for people: complete, self-contained, well-formed, readable."""

import json
import re
import shlex
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise, product

import pytest

from placet.api import pages
from placet.api.openapi import document
from placet.api.openapi_bridges import DESCRIBED
from placet.api.routes import ROUTES
from placet.cli import parser
from placet.domain.error_docs import DOCS
from placet.domain.errors import TABLE

PAGES = {
    "front": pages.front(with_reference=True),
    "front of production": pages.front(with_reference=False),
    "index": pages.error_index(),
    "reference": pages.reference(),
    **{code: pages.error_page(code) or "" for code in TABLE},
}
CSS = files("placet.api").joinpath("pages.css").read_text("utf-8")
WITHOUT_END = {"meta"}
DOCUMENTS = {"/", "/errors", "/openapi.json", "/healthz", "/reference"}


class Read(HTMLParser):
    """A page as a browser reads it: what is linked, named, headed and written, and whether tags pair up."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.headings: list[int] = []
        self.tags: set[str] = set()
        self.text = ""
        self.blocks: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.add(tag)
        self.ids += [values["id"] or ""] if "id" in values else []
        self.links += [values["href"] or ""] if "href" in values else []
        assert not any(name.startswith("on") or name == "style" for name in values)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "pre":
            self.blocks.append("")
        if tag not in WITHOUT_END:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data
        if "pre" in self._open:
            self.blocks[-1] += data


READ = {name: Read(page) for name, page in PAGES.items()}
each_page = pytest.mark.parametrize("name", PAGES)


@each_page
def test_a_page_is_self_contained(name: str) -> None:
    """No script, nothing fetched from anywhere: it works under the policy that it is served with."""
    assert READ[name].tags.isdisjoint({"script", "link", "img", "iframe", "object", "form", "base"})
    assert "url(" not in PAGES[name]
    assert "@import" not in PAGES[name]


@each_page
def test_every_link_leads_somewhere(name: str) -> None:
    """To a place on the page, or to one of the service's own documents."""
    ids = READ[name].ids
    assert len(set(ids)) == len(ids)
    known = {f"#{each}" for each in ids} | {f"/errors/{code}" for code in TABLE} | DOCUMENTS
    known.add("/inbox")
    assert set(READ[name].links) <= known


@each_page
def test_headings_make_an_outline(name: str) -> None:
    """One title, and no level is skipped on the way down."""
    levels = READ[name].headings
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_the_front_page_leads_to_what_there_is() -> None:
    """And to the reference only where there is one."""
    assert set(READ["front"].links) == {"#content", "/inbox", *DOCUMENTS}
    assert set(READ["front of production"].links) == {"#content", "/inbox", *DOCUMENTS} - {"/reference"}


def test_the_front_page_says_how_to_begin() -> None:
    """With commands that the command line knows, and calls that the API has."""
    commands = re.findall("<code>placet (.*?)</code>", PAGES["front"])
    assert len(commands) == 5
    assert "placet signin ID" in PAGES["front"]
    assert "decides in the inbox, at /inbox" in READ["front"].text
    for command in commands:
        parser.parse(shlex.split(command))
    calls = re.findall(r"<code>(GET|POST) (/v1/.*?)</code>", PAGES["front"])
    assert {(method, path.partition("?")[0]) for method, path in calls} <= {
        (route.method, route.path) for route in ROUTES
    }
    assert len(calls) == 2


def test_the_menu_of_the_reference_is_folded() -> None:
    """So that it doesn't fill the first screens of a phone."""
    menu = re.search("<nav.*?</nav>", PAGES["reference"], re.DOTALL)
    assert menu is not None
    assert menu[0].startswith('<nav aria-label="Operations"><details><summary>Operations</summary>')
    assert "<details open" not in PAGES["reference"]


def test_the_index_leads_to_every_code() -> None:
    """In the order of the table."""
    assert [each for each in READ["index"].links if each.startswith("/errors/")] == [
        f"/errors/{code}" for code in TABLE
    ]


@pytest.mark.parametrize("code", TABLE)
def test_a_page_of_a_code_says_all_there_is_to_say(code: str) -> None:
    """What happened, what to do, why, and an example that could be copied."""
    doc, read = DOCS[code], READ[code]
    for sentence in (doc.code, doc.title, doc.meaning, doc.action, doc.retry, *doc.reasons.values()):
        assert sentence.replace("`", "") in read.text
    assert [json.loads(block) for block in read.blocks] == ([doc.example] if doc.example else [])


def test_a_page_says_which_calls_answer_so() -> None:
    """All, some, or none."""
    assert "Every call" in READ["UNAUTHENTICATED"].text
    assert "POST /v1/approvals/{id}/consume" in READ["APPROVAL_TOKEN_INVALID"].text
    assert "POST /v1/approvals/{id}/decision" not in READ["APPROVAL_TOKEN_INVALID"].text
    assert "Answered by" not in READ["APPROVAL_RESUME_MISMATCH"].text


@pytest.mark.parametrize("name", ["", "forbidden", "NO_SUCH", "<b>", "../errors"])
def test_an_unknown_code_has_no_page(name: str) -> None:
    """And so nothing of the path is ever shown."""
    assert pages.error_page(name) is None


def test_the_reference_has_every_operation() -> None:
    """With a link to it from the navigation, and its method and path."""
    read = READ["reference"]
    for path, item in document(None)["paths"].items():
        for method, operation in item.items():
            assert operation["operationId"] in read.ids
            assert f"#{operation['operationId']}" in read.links
            assert f"{method.upper()} {path}" in read.text


def test_the_reference_links_every_refusal_of_every_route() -> None:
    """To the page of its code; the introduction links the one of wrong methods."""
    linked = {
        each.removeprefix("/errors/") for each in READ["reference"].links if each.startswith("/errors/")
    }
    assert linked == set(TABLE) - {"APPROVAL_REQUIRED", "APPROVAL_RESUME_MISMATCH"}


def test_every_call_has_a_command_line_that_a_shell_understands() -> None:
    """With a body that is JSON, and a credential wherever one is needed."""
    lines = [shlex.split(block) for block in READ["reference"].blocks if block.startswith("curl")]
    assert len(lines) == sum(len(item) for item in document(None)["paths"].values())
    bodies = [json.loads(line[line.index("-d") + 1]) for line in lines if "-d" in line]
    assert len(bodies) == sum(route.body is not None for route in DESCRIBED)
    credentials = sum("Authorization: Bearer $PLACET_TOKEN" in line for line in lines)
    assert credentials == len(ROUTES)
    assert [line for line in lines if "webhook-id: msg_3f0c5a9d41e27b86c0d8f1a2b4e69753" in line]


def test_every_example_of_the_reference_is_json() -> None:
    """All blocks but the command lines."""
    for block in READ["reference"].blocks:
        assert block.startswith("curl") or json.loads(block)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2, definition)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_every_colour_of_text_has_enough_contrast(scheme: int) -> None:
    """4.5:1 on both grounds, in light and in dark (WCAG 2.2 §1.4.3)."""
    block = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[scheme]
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", block))
    for text, ground in product(("ink", "quiet", "accent", "get", "warn"), ("paper", "panel")):
        bright, dim = sorted((luminance(colours[text]), luminance(colours[ground])), reverse=True)
        assert (bright + 0.05) / (dim + 0.05) >= 4.5, (text, ground)
