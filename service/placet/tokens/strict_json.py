"""JSON as tokens and key sets are read: whatever two readers could understand differently is refused.

Both of our JSON libraries would silently keep the last of two members (RFC 8725 §2.4), and Python's own takes
numbers that are none.
"""

import json
import re
from typing import Any, Final

_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")  # JSON can spell one (RFC 8259 §8.2), UTF-8 can't


def members_of(data: bytes) -> dict[str, Any]:
    """The members of a JSON object in UTF-8.

    Raises:
        ValueError: It is none, has a member twice at any depth, a number that is none, half of a surrogate
            pair, or nests too deeply. The message may hold a piece of it.
    """
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number)
    except RecursionError as fault:
        raise ValueError("it nests too deeply") from fault
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004 - as every other fault of the text
    if _SURROGATE.search(data):
        json.dumps(value, ensure_ascii=False).encode()  # half of a pair is a ValueError
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member appears twice")
    return members


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number (RFC 8259 section 6)")
