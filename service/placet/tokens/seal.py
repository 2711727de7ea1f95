"""Seals: proof that a row in the store was written by this service (HMAC-SHA256, RFC 2104).

Whoever can write the store but does not hold the keyring can't make a vote or a credential that counts.
"""

import hmac
from collections.abc import Sequence
from functools import cache

from placet.tokens import base64url
from placet.tokens.keys import SealKey

Sealable = str | int | bytes | None

_DOMAIN = b"placet seal v1"  # nothing else under this key begins so
_LENGTH_BYTES = 8


class Sealer:
    """Seals rows under one secret and checks the seals.

    Seals of different kinds never agree, whatever the fields: a credential's can't pass for a vote's.
    """

    def __init__(self, key: SealKey) -> None:
        self._begun = hmac.new(key.secret.reveal(), _DOMAIN, "sha256")

    def __repr__(self) -> str:
        return "Sealer(hidden)"

    def seal(self, kind: str, fields: Sequence[Sealable]) -> str:
        """The seal of ``fields``, in order: 43 characters of base64url.

        Raises:
            TypeError: a field is of another type, booleans and floats included.
        """
        mac = self._begun.copy()
        mac.update(b"".join([_kind(kind), *map(_encode, fields)]))
        return base64url.encode(mac.digest())

    def secret(self, fields: Sequence[Sealable]) -> bytes:
        """32 bytes that whoever holds the keyring can make again, and nobody else: to sign with.

        No seal of anything is ever one of them.
        """
        mac = self._begun.copy()
        mac.update(b"".join(map(_encode, (None, *fields))))  # where a seal has its kind, which is a text
        return mac.digest()

    def verify(self, kind: str, fields: Sequence[Sealable], seal: str) -> bool:
        """Whether ``seal`` is the seal of ``fields``, in time that does not tell how nearly."""
        expected = self.seal(kind, fields).encode("ascii")
        return hmac.compare_digest(expected, seal.encode("utf-8", "surrogatepass"))


@cache  # there are few kinds, all of them words of the code
def _kind(kind: str) -> bytes:
    return _encode(kind)


def _encode(field: Sealable) -> bytes:
    """Type, length, bytes: no two different sequences of fields concatenate to the same message."""
    match field:
        case bytes():
            tag, data = b"b", field
        case str():
            # What the store holds may be spoilt; a lone surrogate is then a wrong seal, not a fault.
            tag, data = b"s", field.encode("utf-8", "surrogatepass")
        case None:
            tag, data = b"n", b""
        case bool():
            raise TypeError("a boolean can't be sealed: say it in a word")
        case int():
            tag, data = b"i", b"%d" % field
        case _:
            raise TypeError(f"a {type(field).__name__} can't be sealed")
    return tag + len(data).to_bytes(_LENGTH_BYTES, "big") + data
