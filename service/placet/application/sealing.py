"""Documents that are kept in the store for whoever brings a secret: under its hash, and sealed.

Whoever reads the store can't come in with what is there, and whoever writes it can't make any of it.
"""

import hashlib
import secrets
from typing import Final

from placet.domain.errors import Unauthenticated
from placet.tokens import base64url
from placet.tokens.keyring_file import KeyringFile

_SECRET_BYTES: Final = 32


class Sealing:
    """Seals them, and proves that they are ours.

    Args:
        ring: Has the key.
    """

    def __init__(self, ring: KeyringFile) -> None:
        self._ring = ring

    def sealed(self, kind: str, tenant: str, hashed: str, document: bytes) -> bytes:
        """A document as a tenant keeps it under a hash."""
        return self._ring.sealer.seal(kind, (tenant, hashed, document)).encode() + document

    def opened(self, kind: str, tenant: str, hashed: str, kept: bytes | None) -> bytes:
        """What was kept.

        Raises:
            Unauthenticated: There is nothing, or it is not ours, or another tenant's.
        """
        start = -1 if kept is None else kept.find(b"{")
        if kept is None or start < 0:
            raise Unauthenticated
        seal, document = kept[:start].decode("latin-1"), kept[start:]
        if not self._ring.sealer.verify(kind, (tenant, hashed, document), seal):
            raise Unauthenticated
        return document


def random_secret() -> str:
    """What nobody can guess: 256 bits, base64url."""
    return base64url.encode(secrets.token_bytes(_SECRET_BYTES))


def hash_of(kind: str, secret: str) -> str:
    """Under what it is kept; of another kind it is another."""
    return hashlib.sha256(f"{kind}\0{secret}".encode()).hexdigest()
