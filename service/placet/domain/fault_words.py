"""What is wrong with a JSON text that was not admitted: in words for whoever wrote it, and where."""

import json
from collections.abc import Mapping
from typing import Final

from placet.domain.admission import Fault, FaultKind
from placet.domain.text import visible

_WORDS: Final[Mapping[FaultKind, str]] = {
    FaultKind.NOT_JSON: "it is not JSON in UTF-8",
    FaultKind.DUPLICATE_MEMBER: "a name is there twice",
    FaultKind.LONE_SURROGATE: "a text has half a character (a lone surrogate)",
    FaultKind.TOO_DEEP: "it is nested too deep",
    FaultKind.NUMBER_OVERFLOW: "a number is too large",
    FaultKind.INTEGER_RANGE: "a whole number is beyond 2^53 - 1",
}


def words_of(fault: Fault) -> str:
    """What is wrong, and in which member, where that can be told."""
    return _WORDS[fault.kind] + (f" (at {visible(fault.pointer)})" if fault.pointer else "")


def place_in(raw: bytes) -> str:
    """Where bytes stop being JSON, where that can be told; never what stands there."""
    try:
        json.loads(raw.decode())
    except UnicodeDecodeError as fault:
        return f" (at byte {fault.start + 1})"
    except json.JSONDecodeError as fault:
        return f" (at line {fault.lineno}, column {fault.colno})"
    except (ValueError, RecursionError):
        return ""
    return ""
