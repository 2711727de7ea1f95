"""What a message says, whatever Slack made of its blocks (design §10).

Between posting a message and handing it back with a click, Slack gives its blocks ids, sets flags, escapes
entities where there were none, writes ``verbatim``, and may wrap an address. None of it changes what a person
reads, and none of it changes what these functions find. What was never in a message of ours (a picture, a
link under another text, a mention) is found as itself, and so makes any message differ from ours.

How a text is shown, and what a button does, are found as well: the same words are something else where Slack
formats them, and another decision where another button bears them.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

# However often it was escaped.
_ENTITY: Final = re.compile(r"&(?:amp;)*(amp|lt|gt);")
_CHARACTERS: Final = {"amp": "&", "lt": "<", "gt": ">"}
_WRAPPED: Final = re.compile(r"<((?:https?://|mailto:)[^|<>\s]+)(?:\|([^|<>]*))?>")
_SCHEMES: Final = ("", "https://", "http://", "mailto:")
_SAYS: Final = ("action_id", "value", "url")
_ASKS: Final = ("title", "text", "confirm", "deny")
_RICH_PARTS: Final = frozenset({"rich_text_section", "rich_text_preformatted", "rich_text_quote"})

_Found = tuple[str, str]
"""How something is shown, and what it says."""


def normalised(blocks: object) -> tuple[str, ...]:
    """All texts of a message's blocks, in order, as they can be compared. It takes any value."""
    return tuple(text for _, text in _found(blocks))


def fingerprint(blocks: object) -> str:
    """What stands for a message: SHA-256, lower-case hex.

    Equal where the same texts are shown in the same way, and the same buttons do the same; and only there.
    """
    return hashlib.sha256(json.dumps([*_found(blocks)]).encode()).hexdigest()


def _found(blocks: object) -> Iterator[_Found]:
    for number, block in enumerate(_each(blocks)):
        kind = block.get("type") if isinstance(block, Mapping) else None
        for how, text in _texts(block):
            yield f"{number} {kind} {how}", text


def _texts(block: object) -> Iterator[_Found]:
    """The texts of a block; one that is none of ours as a whole."""
    match block:
        case {"type": "header", "text": text}:
            yield _text(text)
        case {"type": "section", **parts}:
            yield from _section(parts)
        case {"type": "context", "elements": elements}:
            yield from map(_text, _each(elements))
        case {"type": "actions", "elements": elements}:
            yield from map(_button, _each(elements))
        case {"type": "rich_text", "elements": elements}:
            yield from map(_rich, _each(elements))
        case _:
            yield "", _foreign(block)


def _section(parts: Mapping[object, object]) -> Iterator[_Found]:
    if "text" in parts:
        yield _text(parts["text"])
    yield from map(_text, _each(parts.get("fields", ())))
    if "accessory" in parts:
        yield "", _foreign(parts["accessory"])


def _text(value: object) -> _Found:
    """A text object."""
    match value:
        case {"type": "plain_text" | "mrkdwn" as kind, "text": str(text)}:
            return str(kind), _unescaped(_WRAPPED.sub(_unwrapped, text)).strip()
    return "", _foreign(value)


def _button(value: object) -> _Found:
    """What a button is called, and all that comes of it."""
    match value:
        case {"type": "button", "text": text, **more}:
            how, label = _text(text)
            says = [more.get(name) or "" for name in _SAYS]
            return json.dumps([how, *says, _asks(more.get("confirm"))], default=repr), label
    return "", _foreign(value)


def _asks(confirm: object) -> object:
    """What Slack asks before it sends a click."""
    if not isinstance(confirm, Mapping):
        return confirm or ""
    return [_text(confirm.get(name)) for name in _ASKS]


def _rich(value: object) -> _Found:
    """A part of rich text: its texts as one, however many Slack made of it."""
    match value:
        case {"type": str(kind), "elements": elements} if kind in _RICH_PARTS:
            return kind, "".join(map(_run, _each(elements)))
    return "", _foreign(value)


def _run(value: object) -> str:
    match value:
        case {"style": Mapping() as style} if any(style.values()):  # struck out, it is not what it says
            return _foreign(value)
        case {"type": "text", "text": str(text)}:
            return _unescaped(text)
        case {"type": "link", "url": str(url), "text": str(label)} if _is_itself(url, label):
            return _unescaped(label)
        case {"type": "link", "url": str(url), **more} if "text" not in more:
            return _unescaped(url)
    return _foreign(value)


def _unwrapped(match: re.Match[str]) -> str:
    """An address without what is around it; as it is where another text stands for it."""
    url, label = match[1], match[2]
    return (label or url) if _is_itself(url, label or url) else match[0]


def _is_itself(url: str, label: object) -> bool:
    return any(url == f"{scheme}{label}" for scheme in _SCHEMES)


def _unescaped(text: str) -> str:
    """A text without entities: none that we post has one of its own."""
    return _ENTITY.sub(lambda match: _CHARACTERS[match[1]], text)


def _each(value: object) -> Iterable[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else (value,)


def _foreign(value: object) -> str:
    """Anything that is none of ours, so that it can't pass for nothing."""
    if isinstance(value, dict):
        value = {name: member for name, member in value.items() if name != "block_id"}
    return "\N{NULL}" + json.dumps(value, sort_keys=True, default=repr)
