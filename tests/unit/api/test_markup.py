"""Pages are written so that text can't become markup by being forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from placet.api.markup import Markup, code, el, inline, json_block, link, page, prose, table

HOSTILE = "<script>alert('&\"')</script>"
HARMLESS = "&lt;script&gt;alert(&#x27;&amp;&quot;&#x27;)&lt;/script&gt;"


def test_text_is_escaped_and_markup_is_not() -> None:
    """The difference is the type, so that nobody has to remember it."""
    assert el("p", HOSTILE) == f"<p>{HARMLESS}</p>"
    assert el("p", Markup("<b>x</b>"), " & ", code("y")) == "<p><b>x</b> &amp; <code>y</code></p>"


def test_attributes_are_escaped() -> None:
    """Names are ours; values may be anything."""
    assert link(HOSTILE, HOSTILE) == f'<a href="{HARMLESS}">{HARMLESS}</a>'
    assert el("i", class_="a", aria_label="b") == '<i class="a" aria-label="b"></i>'


@given(st.text())
def test_no_text_gets_out_of_its_element(text: str) -> None:
    """Whatever it is, between the tags there is none."""
    inside = el("p", text).removeprefix("<p>").removesuffix("</p>")
    assert "<" not in inside
    assert ">" not in inside


def test_backticks_set_off_code_and_blank_lines_paragraphs() -> None:
    """The little Markdown that our sentences use."""
    assert inline("a `<b>` c") == "a <code>&lt;b&gt;</code> c"
    assert prose("one\n\ntwo `x`") == "<p>one</p><p>two <code>x</code></p>"


def test_code_that_is_explained_somewhere_leads_there() -> None:
    """Whole, and only as code."""
    targets = {"A&B": "/a?b&c"}
    assert inline("A&B `A&B` `A`", targets) == (
        'A&amp;B <a href="/a?b&amp;c"><code>A&amp;B</code></a> <code>A</code>'
    )
    assert prose("`A`", {"A": "/a"}) == '<p><a href="/a"><code>A</code></a></p>'


def test_json_is_shown_with_its_names_set_off() -> None:
    """Names in strings are not, and nothing in a value is markup."""
    shown = json_block({"a": '"b": <i>', "c\\": [1]})
    assert '<span class="name">"a"</span>: "\\"b\\": &lt;i&gt;"' in shown
    assert '<span class="name">"c\\\\"</span>: [' in shown
    assert shown.count('<span class="name">') == 2


def test_the_first_cell_of_a_row_heads_it() -> None:
    """And the roles stay where the layout takes the table apart."""
    shown = table(("A", "B"), [("x", "<y>")])
    assert '<th scope="row" role="rowheader">x</th><td role="cell">&lt;y&gt;</td>' in shown
    assert shown.startswith('<table role="table"><thead role="rowgroup"><tr role="row">')


def test_a_page_is_whole() -> None:
    """With a title, a language, and a way past the navigation."""
    shown = page("<T>", el("h1", "x"), navigation=el("nav", "n"))
    assert shown.startswith('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">')
    assert "<title>&lt;T&gt; · Placet</title>" in shown
    assert '<a class="skip" href="#content">' in shown
    assert '<nav>n</nav><main id="content"><h1>x</h1></main>' in shown
