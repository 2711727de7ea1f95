"""The canonical form of JSON (RFC 8785, JCS), and the hash over it.

Byte for byte what the reference library ``rfc8785`` writes; the tests hold the two together. Most values are
written by one call of a C encoder, whose text is canonical already unless a number needs its exponent or a
trailing ``.0`` treated ECMAScript's way, or a name lies outside the Basic Multilingual Plane. Other values
are first rebuilt with members in order and numbers spelled out, and then written by the same encoder.
"""

import hashlib
import math
from decimal import Decimal
from typing import Any, Final

import msgspec

from placet.domain.admission import MAX_SAFE_INTEGER, is_plain

# Strings: both encoders escape what RFC 8785 §3.2.2.2 escapes, and refuse lone surrogates.
_SORTING: Final = msgspec.json.Encoder(order="sorted")  # by code point
_KEEPING: Final = msgspec.json.Encoder()

_UTF8_LEADS_BEYOND_BMP: Final = bytes(range(0xF0, 0xF5))
_ALL_OTHER_BYTES: Final = bytes(set(range(0x100)).difference(_UTF8_LEADS_BEYOND_BMP))


def canonicalize(value: object) -> bytes:
    """Write a value in canonical form.

    Args:
        value: JSON as Python has it: ``dict`` with ``str`` names, ``list`` or ``tuple``, ``str``, ``int``,
            ``float``, ``bool``, ``None``, and subclasses such as a ``StrEnum``. Everything admitted
            (:mod:`placet.domain.admission`) has a canonical form.

    Returns:
        The canonical UTF-8 text.

    Raises:
        ValueError: No canonical form: an integer beyond ±(2^53-1), NaN, an infinity, a lone surrogate.
        TypeError: Not JSON: another type, or a name that is no string.
    """
    if is_plain(value):
        text = _SORTING.encode(value)
        # Within the Basic Multilingual Plane code points sort as UTF-16 units do (RFC 8785 §3.2.3).
        if text.isascii() or not text.translate(None, _ALL_OTHER_BYTES):
            return text
    return _KEEPING.encode(_rebuilt(value))


def sha256_hex(data: bytes) -> str:
    """SHA-256 in lower-case hex, 64 characters."""
    return hashlib.sha256(data).hexdigest()


def _rebuilt(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape, a case for each
    """A copy that is canonical as the encoder writes it: members in order, numbers as verbatim text.

    Of subclasses the value counts, not the text they have of themselves, as ``numpy.float64`` does.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__pos__(value)
        if not -MAX_SAFE_INTEGER <= number <= MAX_SAFE_INTEGER:
            raise ValueError("an integer beyond ±(2^53-1) has no canonical form")
        return number
    if isinstance(value, float):
        return msgspec.Raw(_number(float.__pos__(value)).encode())
    if isinstance(value, (list, tuple)):
        return [_rebuilt(item) for item in value]
    if isinstance(value, dict):
        return {name: _rebuilt(value[name]) for name in sorted(value, key=_utf16_units)}
    raise TypeError("only JSON has a canonical form")


def _utf16_units(name: object) -> bytes:
    """Sort key of a member (RFC 8785 §3.2.3)."""
    if not isinstance(name, str):
        raise TypeError("the names of members must be strings")
    return name.encode("utf-16-be")


def _number(number: float) -> str:
    """Spell a double as ECMAScript's ``Number::toString`` does (RFC 8785 §3.2.2.3).

    Python's ``repr`` has the same digits, the shortest that read back as the same double, but writes an
    exponent below 1e-4 and from 1e16 where ECMAScript does below 1e-6 and from 1e21, and pads it.
    """
    if not math.isfinite(number):
        raise ValueError("NaN and infinities have no canonical form")
    if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER:
        return str(int(number))  # also -0.0, which is 0
    text = repr(number).removesuffix(".0")
    if "e" not in text:
        return text
    if 1e-6 <= abs(number) < 1e21:  # noqa: PLR2004 - ECMAScript's bounds, as above
        return format(Decimal(text), "f")
    return text.replace("e-0", "e-")
