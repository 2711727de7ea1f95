"""HTML written by small functions: text is escaped unless it is :class:`Markup`, so none can be forgotten.

A template engine would be one more dependency of the server, for a few pages that take no input.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from types import MappingProxyType

_MEMBER = re.compile(r'^( *)("(?:[^"\\]|\\.)*")(: )', re.MULTILINE)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def el(name: str, *children: str, **attributes: str) -> Markup:
    """An element. Children are text unless they are :class:`Markup`.

    In names of attributes a trailing underscore is dropped (``class_``), others are hyphens (``aria_label``).
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{shown}>{join(children)}</{name}>")


def join(children: Iterable[str]) -> Markup:
    """Children without an element around them."""
    return Markup("".join(child if isinstance(child, Markup) else escape(child) for child in children))


def code(text: str, **attributes: str) -> Markup:
    """Text as a machine reads it."""
    return el("code", text, **attributes)


def link(text: str, target: str) -> Markup:
    """A link."""
    return el("a", text, href=target)


def inline(markdown: str, targets: Mapping[str, str] = MappingProxyType({})) -> Markup:
    """A sentence in which `backticks` set off code; ``targets`` says where some of it is explained."""

    def shown(text: str) -> Markup:
        return el("a", code(text), href=targets[text]) if text in targets else code(text)

    return join(shown(part) if index % 2 else part for index, part in enumerate(markdown.split("`")))


def prose(markdown: str, targets: Mapping[str, str] = MappingProxyType({})) -> Markup:
    """Paragraphs of such sentences."""
    return join(el("p", inline(paragraph, targets)) for paragraph in markdown.split("\n\n"))


def json_block(value: object) -> Markup:
    """A JSON value, indented, its members' names set off."""
    text = escape(json.dumps(value, indent=2, ensure_ascii=False), quote=False)
    return el("pre", el("code", Markup(_MEMBER.sub(r'\1<span class="name">\2</span>\3', text))))


def table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    """A table whose first cell of each row heads it; where it is narrow, rows are stacked.

    The roles are written out since browsers drop them from a table that is laid out as blocks.
    """
    names = tuple(headings)
    head = el("tr", *(el("th", name, scope="col", role="columnheader") for name in names), role="row")
    body = [
        el(
            "tr",
            el("th", first, scope="row", role="rowheader"),
            *(el("td", cell, role="cell") for cell in rest),
            role="row",
        )
        for first, *rest in rows
    ]
    groups = (el("thead", head, role="rowgroup"), el("tbody", *body, role="rowgroup"))
    return el("table", *groups, role="table")


def page(title: str, *content: str, navigation: Markup | None = None) -> str:
    """A whole page, self-contained. ``navigation`` stands beside the content where there is room."""
    head = join(
        (
            Markup('<meta charset="utf-8">'),
            Markup('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            Markup('<meta name="color-scheme" content="light dark">'),
            el("title", f"{title} · Placet"),
            el("style", Markup(_style())),
        )
    )
    main = el("main", *content, id="content")
    body = [
        el("a", "Skip to content", class_="skip", href="#content"),
        el("header", el("a", "Placet", class_="mark", href="/"), el("span", title, class_="where")),
        el("div", main, class_="plain") if navigation is None else el("div", navigation, main, class_="wide"),
    ]
    return "<!doctype html>\n" + el("html", el("head", head), el("body", *body), lang="en")


@cache
def _style() -> str:
    return files("placet.api").joinpath("pages.css").read_text("utf-8")
