"""Admission: which bytes are JSON that everyone reads alike (RFC 8259, narrowed to I-JSON, RFC 7493).

What is approved is bound by a hash of its canonical form, so nothing is admitted that two readers could
understand differently, or that has no canonical form of its own:

* UTF-8 without a byte order mark (RFC 8259 §8.1), one JSON value and nothing else: else ``not-json``. This is
  judged before every other fault, at any depth of nesting;
* no two members of one object with the same name, compared after unescaping (RFC 7493 §2.3);
* no lone surrogates, in names or values (RFC 7493 §2.1);
* bounded nesting;
* numbers are read as the nearest double (RFC 7493 §2.2). Refused are overflow, integers spelled beyond
  ±(2^53-1), and numbers such as ``1e20`` whose canonical text would be such a spelling.

Law: whatever is admitted has a canonical form that is admitted and is its own canonical form. Therefore a
number without a fraction is an ``int`` here, however spelled: ``1.0`` is 1, ``-0`` and ``1e-400`` are 0.

There are three passes. Most texts need only the first: what is to the byte as an encoder writes its value is
admitted. Any other text meets the interpreter's C scanner and a few checks of its result. One with a fault is
read again token by token, to the end, for the fault's place.
"""

import json
import math
from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final, Never

import msgspec

from placet.domain.json_tokens import tokens

MAX_SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer up to which doubles count without gaps (RFC 7493 §2.2)."""

_MAX_INTEGER_LENGTH: Final = len(str(-MAX_SAFE_INTEGER))
"""Characters, with the sign."""

_EXPONENT_FROM: Final = 1e21
"""From here ECMAScript, and so RFC 8785 §3.2.2.3, spells a number with an exponent, not as an integer."""

_PLAIN_FROM: Final = 1e-5
"""From here to ``MAX_SAFE_INTEGER`` the encoder spells a number with a fraction as ECMAScript does."""

_MAX_POINTER_LENGTH: Final = 512
"""Characters; member names are the caller's and may be as long as the body."""


class FaultKind(StrEnum):
    """Why bytes were not admitted."""

    NOT_JSON = "not-json"
    DUPLICATE_MEMBER = "duplicate-member"
    LONE_SURROGATE = "lone-surrogate"
    TOO_DEEP = "too-deep"
    NUMBER_OVERFLOW = "number-overflow"
    INTEGER_RANGE = "integer-range"


class Fault(Exception):  # noqa: N818 - a fault of the input, not an error of ours
    """The bytes can't be admitted. The message is the kind alone: nothing of the input is in it.

    Attributes:
        kind: What is wrong.
        pointer: Where, as a JSON Pointer (RFC 6901) from the root of what was admitted: the first fault in
            document order. A second member of the same name is where it stands itself; a name with a lone
            surrogate can't be written down, so its object is named, and likewise the nearest enclosing value
            that can be where a pointer would be too long. Empty for the root and for ``not-json``.
    """

    def __init__(self, kind: FaultKind, pointer: str = "") -> None:
        super().__init__(kind.value)
        self.kind = kind
        self.pointer = pointer


def admit(raw: bytes, *, max_depth: int, envelope: int = 1) -> Any:  # noqa: ANN401 - JSON of any shape
    """Admit a request body.

    Args:
        raw: The body as received.
        max_depth: Arrays and objects that may be nested in a member of the body, its own root included.
        envelope: Containers of the body around such a member: 1 where it is a member of the body itself, 3
            for ``input`` in ``{"decisions": [{"input": …}]}``.

    Returns:
        The value: ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` or ``None``. Integers stay within
        ±(2^53-1), and a ``float`` is finite and either has a fraction or is at least 1e21 in size.

    Raises:
        Fault: The body can't be admitted.
    """
    limit = max_depth + envelope
    if _brackets(raw) <= limit:
        try:
            value = _DECODE(raw)
            if (_LONG_NUMBER not in raw.translate(_DIGITS) or is_plain(value)) and _ENCODE(value) == raw:
                return value
        except (ValueError, RecursionError):
            pass
    return _scanned(raw, limit)


def _scanned(raw: bytes, limit: int) -> Any:  # noqa: ANN401 - JSON of any shape
    """The value, by the second pass alone."""
    text = ""
    try:
        text = raw.decode()
        value = _DECODER.decode(text)
        if not (_is_too_deep(raw, value, limit) or _has_lone_surrogate(raw, value)):
            return value
    except ValueError:
        fault = Fault(FaultKind.NOT_JSON)
    except (Fault, RecursionError):
        fault = _locate(text, limit)
    else:
        fault = _locate(text, limit)
    # Raised out here, a fault drags no context along that holds the input (UnicodeDecodeError.object).
    raise fault


def admit_value(raw: bytes, *, max_depth: int) -> Any:  # noqa: ANN401 - JSON of any shape
    """Admit a bare value: :func:`admit` with nothing around it."""
    return admit(raw, max_depth=max_depth, envelope=0)


# --- First pass: what an encoder writes ------------------------------------------------------------------


def _plain(spelling: str) -> float:
    """Read a number with a fraction or an exponent, if the encoder spells it canonically."""
    number = float(spelling)
    if _is_plain(number):
        return number
    raise ValueError("another pass may know it")


def _is_plain(number: float) -> bool:
    return _PLAIN_FROM <= abs(number) <= MAX_SAFE_INTEGER and not number.is_integer()


# No encoder names a member twice, or writes half a surrogate pair, a byte order mark or a comment.
_DECODE: Final = msgspec.json.Decoder(float_hook=_plain).decode
_ENCODE: Final = msgspec.json.Encoder().encode
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER: Final = b"0" * len(str(MAX_SAFE_INTEGER))
"""Digits, maybe of a text, without which there is no integer that is too large."""


def is_plain(value: object) -> bool:
    """Whether the encoder's own spelling of every number and type in `value` is the canonical one.

    Then all of its numbers are admitted, and as what they are.
    """
    pending: list[Any] = [value]
    for node in pending:  # grows on the way
        kind = type(node)
        if kind is str or node is None or kind is bool:
            continue
        if kind is dict:
            pending.extend(node.values())
        elif kind is list or kind is tuple:
            pending.extend(node)
        elif kind is int:
            if not -MAX_SAFE_INTEGER <= node <= MAX_SAFE_INTEGER:
                return False
        elif kind is not float or not _is_plain(node):
            return False
    return True


def _brackets(raw: bytes) -> int:
    """Brackets that open, in strings too: no more containers than this can be nested."""
    return raw.count(b"[") + raw.count(b"{")


# --- Second pass: the C scanner, and checks of what it read ----------------------------------------------


def _integer(spelling: str) -> int:
    """Read an integer; its length is judged first, since reading many digits takes quadratic time."""
    if len(spelling) <= _MAX_INTEGER_LENGTH:
        number = int(spelling)
        if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
            return number
    raise Fault(FaultKind.INTEGER_RANGE)


def _real(spelling: str) -> int | float:
    """Read a number with a fraction or an exponent as the nearest double."""
    number = float(spelling)
    if -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
        return int(number) if number.is_integer() else number
    if math.isinf(number):
        raise Fault(FaultKind.NUMBER_OVERFLOW)
    if abs(number) < _EXPONENT_FROM:
        raise Fault(FaultKind.INTEGER_RANGE)
    return number


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Fault(FaultKind.DUPLICATE_MEMBER)
    return members


def _constant(_: str) -> Never:
    """Refuse ``NaN`` and ``±Infinity``, which Python's reader takes and JSON has not (RFC 8259 §6)."""
    raise ValueError("not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members, parse_int=_integer, parse_float=_real, parse_constant=_constant
)


def _is_too_deep(raw: bytes, value: Any, limit: int) -> bool:  # noqa: ANN401 - JSON of any shape
    """Whether containers are nested beyond `limit`; few brackets are answer enough."""
    if _brackets(raw) <= limit:
        return False
    level: list[Any] = [[value]]
    for _ in range(limit + 1):
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node)
            if type(child) is dict or type(child) is list
        ]
        if not level:
            return False
    return True


def _has_lone_surrogate(raw: bytes, value: Any) -> bool:  # noqa: ANN401 - JSON of any shape
    """Whether any name or string can't be encoded; only an escape brings a surrogate through UTF-8."""
    if b"\\ud" not in raw and b"\\uD" not in raw:
        return False
    try:
        _ENCODE(value)
    except UnicodeEncodeError:
        return True
    return False


# --- Third pass: where the first fault stands ------------------------------------------------------------


def _locate(text: str, limit: int) -> Fault:
    """The fault of a text that the first pass refused: bad syntax anywhere, else the first of the others."""
    reader = _Reader(limit)
    stream = tokens(text)
    try:
        kind = reader.first_fault(stream)
        pointer = _pointer(reader.steps)
        deque(stream, maxlen=0)  # to the end, for the syntax is judged before everything else
    except ValueError:
        return Fault(FaultKind.NOT_JSON)
    # No fault: the text is sound, and within a limit set higher than this interpreter can follow.
    return Fault(kind or FaultKind.TOO_DEEP, pointer)


class _Reader:
    """Follows the tokens of a text by their meaning.

    Attributes:
        steps: The place of the token at hand: for each open container the index or the name of its member.
    """

    def __init__(self, limit: int) -> None:
        self.steps: list[int | str] = []
        self._names: list[set[str]] = []
        self._limit = limit

    def first_fault(self, stream: Iterator[tuple[str, str]]) -> FaultKind | None:
        """Read until a token is at fault, and stay there."""
        try:
            for kind, spelling in stream:
                self._read(kind, spelling)
        except Fault as fault:
            return fault.kind
        return None

    def _read(self, kind: str, spelling: str) -> None:
        match kind:
            case ",":
                if isinstance(self.steps[-1], int):
                    self.steps[-1] += 1
            case "name":
                self.steps.pop()  # while a name is read, the place is its object
                name = _text(spelling)
                self.steps.append(name)
                if name in self._names[-1]:
                    raise Fault(FaultKind.DUPLICATE_MEMBER)
                self._names[-1].add(name)
            case "string":
                _text(spelling)
            case "number":
                _number(spelling)
            case "[" | "{":
                if len(self.steps) == self._limit:
                    raise Fault(FaultKind.TOO_DEEP)
                self.steps.append(0 if kind == "[" else "")
                self._names.append(set())
            case "]" | "}":
                self.steps.pop()
                self._names.pop()


def _text(spelling: str) -> str:
    """Read a name or a string, quotes included."""
    if "\\" not in spelling:
        return spelling[1:-1]
    text: str = json.loads(spelling)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Fault(FaultKind.LONE_SURROGATE) from None
    return text


def _number(spelling: str) -> int | float:
    """Read a number as the first pass does, which tells integers by their spelling."""
    return _integer(spelling) if spelling.lstrip("-").isdigit() else _real(spelling)


def _pointer(steps: list[int | str]) -> str:
    """Write a JSON Pointer (RFC 6901 §3, §4), up to the last step at which it is not too long."""
    pointer = ""
    for step in steps:
        longer = f"{pointer}/{str(step).replace('~', '~0').replace('/', '~1')}"
        if len(longer) > _MAX_POINTER_LENGTH:
            break
        pointer = longer
    return pointer
