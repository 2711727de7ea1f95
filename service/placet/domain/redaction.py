"""Redaction: chosen parts of a value hidden behind a mark that everybody sees.

Parts are named by JSON Pointers (RFC 6901). What is shown can differ from what is bound only by values that
are visibly hidden, so a pointer can't add, move or remove anything.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

REDACTED: Final = "[redacted]"
"""What stands in place of a hidden value, whatever its type was."""

_BAD_ESCAPE: Final = re.compile("~(?![01])")


def parse_pointer(text: str) -> tuple[str, ...]:
    """Read a JSON Pointer.

    Args:
        text: Empty for the whole document, else steps that each begin with ``/``, in which ``~1`` stands for
            ``/`` and ``~0`` for ``~`` (RFC 6901 §3).

    Returns:
        The steps, unescaped.

    Raises:
        ValueError: Bad syntax. The message carries nothing of the text.
    """
    if not text:
        return ()
    if not text.startswith("/"):
        raise ValueError("a JSON Pointer is empty or begins with '/'")
    if _BAD_ESCAPE.search(text):
        raise ValueError("in a JSON Pointer '~' is followed by '0' or '1'")
    # In this order (RFC 6901 §4): "~01" is "~1", not "/".
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text[1:].split("/"))


def redact(value: Any, pointers: Sequence[str]) -> tuple[Any, bool]:  # noqa: ANN401 - JSON of any shape
    """Hide what the pointers name.

    Args:
        value: An admitted value. It is not changed.
        pointers: JSON Pointers in any order; they may repeat, enclose one another, or name nothing.

    Returns:
        The value with :data:`REDACTED` in each named place, and whether there was such a place. Parts without
        one are shared with `value`, not copied.

    Raises:
        ValueError: A pointer has bad syntax.
    """
    return _hide(value, [parse_pointer(pointer) for pointer in pointers])


def _hide(node: Any, places: list[tuple[str, ...]]) -> tuple[Any, bool]:  # noqa: ANN401 - JSON of any shape
    if () in places:
        return REDACTED, True
    if not places or not isinstance(node, (dict, list)):
        return node, False
    below: dict[str, list[tuple[str, ...]]] = {}
    for step, *rest in places:
        below.setdefault(step, []).append(tuple(rest))
    shown = node.copy()
    hidden = False
    # An index is compared as it is spelled (RFC 6901 §4): "01" and "-" are the index of no item.
    for key, child in node.items() if isinstance(node, dict) else enumerate(node):
        if str(key) in below:
            shown[key], found = _hide(child, below[str(key)])
            hidden = hidden or found
    return shown, hidden
