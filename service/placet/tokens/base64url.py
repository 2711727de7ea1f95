"""base64url without padding (RFC 7515 §2), where every value has exactly one spelling."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

_ALPHABET = re.compile(r"[A-Za-z0-9_-]*")


def encode(data: bytes) -> str:
    """``data`` in base64url, unpadded."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """The bytes that :func:`encode` would spell ``text``.

    Python's decoder skips characters outside the alphabet, and every base64 decoder may ignore the
    bits that don't fill a last byte. Both would let one value have many spellings, so both are refused.

    Raises:
        ValueError: ``text`` is padded, holds a foreign character, or is not the canonical spelling.
            The message never holds the text, which may be a secret.
    """
    if _ALPHABET.fullmatch(text) is None or len(text) % 4 == 1:
        raise ValueError("not unpadded base64url (RFC 7515 section 2)")
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(data) != text:
        raise ValueError("not the canonical base64url spelling of its bytes")
    return data
