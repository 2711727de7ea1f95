"""What Slack takes as blocks, and what it makes of them on the way back.

The limits are those of https://docs.slack.dev/reference/block-kit; the last one it keeps to itself.
"""

import re
from collections.abc import Iterator
from typing import Any

BLOCKS_MAX = 50
SECTION_CHARS_MAX = 3_000
FIELDS_MAX = 10
FIELD_CHARS_MAX = 2_000
HEADER_CHARS_MAX = 150
CONTEXT_ELEMENTS_MAX = 10
BUTTON_CHARS_MAX = 75
VALUE_CHARS_MAX = 2_000
URL_CHARS_MAX = 3_000
ALL_CHARS_MAX = 12_000
"""Of the texts of a message, with so much for what is around each block (slackapi/bolt-js #2509, #2867)."""
_AROUND = 125

_BLOCK_MEMBERS = {
    "header": {"text"},
    "section": {"text", "fields", "accessory", "expand"},
    "context": {"elements"},
    "actions": {"elements"},
    "rich_text": {"elements"},
    "divider": set(),
    "input": {"label", "element", "hint", "optional"},
}
_BUTTON_MEMBERS = {"type", "action_id", "text", "value", "style", "url", "confirm"}
_RICH_PARTS = {"rich_text_section", "rich_text_preformatted", "rich_text_quote"}


def units(text: str) -> int:
    """A length as Slack counts it: UTF-16 units of what was sent."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def faults(blocks: Any) -> list[str]:
    """Why Slack would not take these blocks; empty where it does."""
    if not isinstance(blocks, list) or not 0 < len(blocks) <= BLOCKS_MAX:
        return [f"[ERROR] no more than {BLOCKS_MAX} items allowed [json-pointer:/blocks]"]
    found = [
        f"[ERROR] {why} [json-pointer:/blocks/{n}]" for n, block in enumerate(blocks) for why in _block(block)
    ]
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    return found + (["[ERROR] duplicate block_id"] if len(set(ids)) < len(ids) else [])


def is_too_long(blocks: list[Any]) -> bool:
    """Whether it is too much in all."""
    return sum(units(text) for text in said(blocks)) + _AROUND * len(blocks) > ALL_CHARS_MAX


def said(value: Any) -> Iterator[str]:
    """Every text in blocks, as it was sent."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value["text"]
        for member in value.values():
            yield from said(member)
    elif isinstance(value, list):
        for item in value:
            yield from said(item)


def _block(block: Any) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in _BLOCK_MEMBERS:
        yield f"unsupported type: {kind}"
        return
    if more := set(block) - _BLOCK_MEMBERS[kind] - {"type", "block_id"}:
        yield f"additional members: {sorted(more)}"
    yield from {
        "header": _header,
        "section": _section,
        "context": _context,
        "actions": _actions,
        "rich_text": _rich,
        "input": _input,
        "divider": _divider,
    }[kind](block)


def _text(value: Any, most: int, *kinds: str) -> Iterator[str]:
    if not isinstance(value, dict) or value.get("type") not in (kinds or ("plain_text", "mrkdwn")):
        yield f"not a text object: {value!r}"
        return
    flag = "emoji" if value["type"] == "plain_text" else "verbatim"
    if set(value) - {"type", "text", flag}:
        yield f"additional members: {sorted(value)}"
    if not isinstance(value.get("text"), str) or not value["text"].strip():
        yield "must be more than 0 characters"
    elif units(value["text"]) > most:
        yield f"must be less than {most + 1} characters"


def _divider(_: Any) -> Iterator[str]:
    yield from ()


def _header(block: Any) -> Iterator[str]:
    yield from _text(block.get("text"), HEADER_CHARS_MAX, "plain_text")


def _section(block: Any) -> Iterator[str]:
    if "text" not in block and "fields" not in block:
        yield "text or fields are required"
    if "text" in block:
        yield from _text(block["text"], SECTION_CHARS_MAX)
    fields = block.get("fields", [{"type": "plain_text", "text": "x"}])
    if not 0 < len(fields) <= FIELDS_MAX:
        yield f"no more than {FIELDS_MAX} items allowed"
    for field in fields:
        yield from _text(field, FIELD_CHARS_MAX)


def _context(block: Any) -> Iterator[str]:
    if not 0 < len(block.get("elements", [])) <= CONTEXT_ELEMENTS_MAX:
        yield f"no more than {CONTEXT_ELEMENTS_MAX} items allowed"
    for element in block.get("elements", []):
        yield from _text(element, FIELD_CHARS_MAX)


def _actions(block: Any) -> Iterator[str]:
    elements = block.get("elements", [])
    if not 0 < len(elements) <= 25:
        yield "no more than 25 items allowed"
    if len({each.get("action_id") for each in elements}) < len(elements):
        yield "`action_id` must be unique"
    for each in elements:
        yield from _button(each)


def _button(button: Any) -> Iterator[str]:
    if button.get("type") != "button" or set(button) - _BUTTON_MEMBERS:
        yield f"not a button: {sorted(button)}"
    yield from _text(button.get("text"), BUTTON_CHARS_MAX, "plain_text")
    if units(button.get("value", "")) > VALUE_CHARS_MAX or button.get("value") == "":
        yield f"must be less than {VALUE_CHARS_MAX + 1} characters"
    if units(button.get("url", "")) > URL_CHARS_MAX:
        yield f"must be less than {URL_CHARS_MAX + 1} characters"
    if button.get("style", "primary") not in {"primary", "danger"}:
        yield "unsupported style"
    if "confirm" in button:
        for name, most in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
            yield from _text(button["confirm"].get(name), most)


def _rich(block: Any) -> Iterator[str]:
    if not block.get("elements"):
        yield "must have at least 1 element"
    for part in block.get("elements", []):
        if part.get("type") not in _RICH_PARTS or not part.get("elements"):
            yield f"unsupported type: {part.get('type')}"
        for run in part.get("elements", []):
            if run.get("type") != "text" or not run.get("text"):
                yield "must be more than 0 characters"


def _input(block: Any) -> Iterator[str]:
    yield from _text(block.get("label"), FIELD_CHARS_MAX, "plain_text")
    if "hint" in block:
        yield from _text(block["hint"], FIELD_CHARS_MAX, "plain_text")
    element = block.get("element", {})
    if element.get("type") != "plain_text_input" or not 0 < element.get("max_length", 1) <= 3_000:
        yield "unsupported element"


def view_faults(view: Any) -> list[str]:
    """Why Slack would not open this modal."""
    found = [f"[ERROR] {name} is required" for name in ("type", "title", "blocks") if name not in view]
    asks = any(isinstance(each, dict) and each.get("type") == "input" for each in view.get("blocks", []))
    needed = {"title", *({"submit"} if asks else ()), *(name for name in ("submit", "close") if name in view)}
    for name in sorted(needed):
        found += [
            f"[ERROR] {why} [json-pointer:/view/{name}]" for why in _text(view.get(name), 24, "plain_text")
        ]
    if units(view.get("private_metadata", "")) > 3_000:
        found.append("[ERROR] must be less than 3001 characters [json-pointer:/view/private_metadata]")
    return found + faults(view.get("blocks"))


_BARE = re.compile(r"&(?!(?:amp|lt|gt);)")
_URL = re.compile(r"(?<![<|])https?://[^\s<>|]+")


def returned(blocks: list[Any]) -> list[Any]:
    """The blocks as they come back: with ids, flags, entities, wrapped addresses."""
    return [
        {**_returned(block), "block_id": block.get("block_id", f"b{n}=")} for n, block in enumerate(blocks)
    ]


def _returned(value: Any) -> Any:
    if isinstance(value, list):
        return [_returned(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {
        name: member if name in {"value", "url"} else _returned(member) for name, member in value.items()
    }
    match found:
        case {"type": "plain_text", "text": text}:
            found |= {"text": _URL.sub(r"<\g<0>>", _escaped(text)), "emoji": True}
        case {"type": "mrkdwn"}:
            found["verbatim"] = bool(found.get("verbatim", False))
        case {"type": "text", "text": text}:
            found["text"] = _escaped(text)
    return found


def _escaped(text: str) -> str:
    """Entities where there were none; those that are there stay."""
    return _BARE.sub("&amp;", text).replace("<", "&lt;").replace(">", "&gt;")
