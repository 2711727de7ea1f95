"""The grammar of JSON (RFC 8259), token by token and without recursion.

The interpreter's own scanner is the fast way in, but it ends where its stack ends and says nothing about
places. This one is slower, reads nesting of any depth, and hands out what it reads in document order, so that
:mod:`placet.domain.admission` can judge the syntax of a hopelessly deep text and say where a fault stands.
"""

import re
from collections.abc import Iterator
from typing import Final

# RFC 8259 §2, §3, §6, §7. Repeats are possessive (`*+`): what they took is never given back, so that no text
# makes matching quadratic.
_SYNTAX: Final = r"""
      [\[\]{},:]
    | " (?: [^"\\\x00-\x1f]++ | \\ (?: ["\\/bfnrt] | u[0-9A-Fa-f]{4} ) )*+ "
    | -? (?: 0 | [1-9][0-9]*+ ) (?: \. [0-9]++ )?+ (?: [eE] [+-]? [0-9]++ )?+
    | true | false | null
"""
_TOKEN: Final = re.compile(_SYNTAX, re.VERBOSE)
_TOKENS_ONLY: Final = re.compile(rf"(?: [ \t\n\r]++ | {_SYNTAX} )*+", re.VERBOSE)
_KIND_BY_FIRST_CHARACTER: Final = {
    **{mark: mark for mark in "[]{},:"},
    '"': "string",
    **dict.fromkeys("-0123456789", "number"),
    **dict.fromkeys("tfn", "literal"),
}

_VALUE: Final = frozenset({"[", "{", "string", "number", "literal"})
_VALUE_OR_END: Final = _VALUE | {"]"}
_NAME: Final = frozenset({"string"})
_NAME_OR_END: Final = frozenset({"string", "}"})
_COLON: Final = frozenset({":"})
_NOTHING: Final[frozenset[str]] = frozenset()
# By the innermost open container: what must follow a comma, and what may follow a whole value.
_AFTER_COMMA: Final = {"[": _VALUE, "{": _NAME}
_AFTER_VALUE: Final = {"[": frozenset({",", "]"}), "{": frozenset({",", "}"})}


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """Read one JSON text in document order.

    Whoever stops early learns nothing about the rest: the text is JSON only if the iterator ends by itself.

    Args:
        text: What should be one JSON value, white space around it allowed.

    Yields:
        ``(kind, spelling)`` of each token once everything before it was found in order. Kinds are the marks
        ``[ ] { } , :`` and ``name``, ``string``, ``number``, ``literal``; names and strings are spelled with
        their quotes.

    Raises:
        ValueError: The text is not JSON. The message carries nothing of it.
    """
    if not _TOKENS_ONLY.fullmatch(text):
        raise ValueError("not JSON")
    containers: list[str] = []
    expected = _VALUE
    for spelling in _TOKEN.findall(text):
        kind = _KIND_BY_FIRST_CHARACTER[spelling[0]]
        if kind not in expected:
            raise ValueError("not JSON")
        if kind == "string" and (expected is _NAME or expected is _NAME_OR_END):
            kind = "name"
            expected = _COLON
        elif kind == ",":
            expected = _AFTER_COMMA[containers[-1]]
        elif kind == ":":
            expected = _VALUE
        elif kind in "[{":
            containers.append(kind)
            expected = _VALUE_OR_END if kind == "[" else _NAME_OR_END
        else:
            if kind in "]}":
                containers.pop()
            expected = _AFTER_VALUE[containers[-1]] if containers else _NOTHING
        yield kind, spelling
    if expected:
        raise ValueError("not JSON")
