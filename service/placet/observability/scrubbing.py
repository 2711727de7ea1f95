"""What must never be in a log line is taken out of it here, last thing before it is written.

Callers don't log secrets or inputs. This is the net under them and under libraries: members are judged by
name, texts by what is in them, and objects are named instead of shown, since a `repr` may hold anything.
"""

import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from itertools import islice
from pathlib import PurePath
from typing import Final, TypeVar

from structlog.typing import EventDict, WrappedLogger

from placet.domain.text import cut

_T = TypeVar("_T")

HIDDEN: Final = "[hidden]"
TEXT_MAX_CHARS: Final = 16_384
"""Longest text in a line; a deep traceback has about 10 000 characters."""
_ITEMS_MAX: Final = 100
_DEPTH_MAX: Final = 6

_HIDDEN_NAMES: Final = frozenset(
    {
        # credentials
        "api_key", "authorization", "cookie", "credential", "credentials", "password", "private_key",
        "proxy_authorization", "redis_url", "seal", "secret", "set_cookie", "token",
        # what a runtime or an approver wrote (design §5: inputs are in no log)
        "args", "arguments", "attributes", "body", "comment", "context", "effective_input", "extensions",
        "input", "payload", "query", "requested",
    }
)  # fmt: skip
_HIDDEN_ENDINGS: Final = ("_api_key", "_cookie", "_password", "_private_key", "_secret", "_token")

# Every alternative runs in linear time: none can begin inside another's run of characters.
_SECRET_TEXT: Final = re.compile(
    r"""
      plc_[A-Za-z0-9_-]+                                 # our own credentials
    | \b(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}=*      # RFC 6750 §2.1, RFC 7617 §2
    | \bauthorization["'\s]*[:=,][^\r\n]*                # the rest of a header's line
    | (?<=://)[^\s/?\#]*@                                # user and password of a URL
    | -----BEGIN[A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[A-Z ]*-----|\Z)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# What may be a JWT (RFC 7515 §3.1); module paths have the same form. It is one if a JSON object begins in it:
# `{"` in base64url, or `{` before a space, line feed, tab or carriage return.
_DOTTED: Final = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)+")
_JSON_BEGINNINGS: Final = ("eyJ", "eyA", "ewo", "ewk", "ew0")


def scrub(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Take secrets and inputs out of an event; a structlog processor."""
    return {str(name): _member(str(name), value, _DEPTH_MAX) for name, value in event.items()}


def scrub_text(text: str) -> str:
    """Replace every credential in a text by ``[hidden]``, and cut a text that is too long."""
    return _SECRET_TEXT.sub(HIDDEN, _DOTTED.sub(_without_jwt, cut(text, TEXT_MAX_CHARS).text))


def _without_jwt(match: re.Match[str]) -> str:
    return HIDDEN if any(beginning in match[0] for beginning in _JSON_BEGINNINGS) else match[0]


def _member(name: str, value: object, depth: int) -> object:
    plain_name = name.lower().replace("-", "_")
    if plain_name in _HIDDEN_NAMES or plain_name.endswith(_HIDDEN_ENDINGS):
        return HIDDEN
    return _value(value, depth)


def _value(value: object, depth: int) -> object:  # noqa: PLR0911 (one line per kind of value)
    match value:
        case Enum():
            return _value(value.value, depth)
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case str() | PurePath():
            return scrub_text(str(value))
        case bytes() | bytearray() | memoryview():
            return f"<{len(value)} bytes>"
        case BaseException():
            return scrub_text(f"{type(value).__name__}: {value}")
        case Mapping() if depth:
            return {str(name): _member(str(name), item, depth - 1) for name, item in _first(value.items())}
        case list() | tuple() | set() | frozenset() if depth:
            return [_value(item, depth - 1) for item in _first(value)]
        case _:
            return f"<{type(value).__name__}>"


def _first(items: Iterable[_T]) -> Iterable[_T]:
    return islice(items, _ITEMS_MAX)
