"""The keys of the ring, one shape per state, and the text forms they have in the keyring file.

Keys are parsed once, when they are made or read, and kept as the cryptography library's objects:
a repr, a log line or a traceback can show no private part. A key that no longer signs keeps none.
"""

import secrets
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct

from placet.tokens import base64url

SECRET_BYTES = 32
"""Of an Ed25519 seed (RFC 8032 §5.1.5), and of an HMAC-SHA256 key (RFC 2104 §3: the hash's length)."""


class SecretBytes:
    """Secret bytes that no repr, log line or traceback shows."""

    __slots__ = ("_value",)

    def __init__(self, value: bytes) -> None:
        """Wrap ``value``.

        Raises:
            ValueError: it is not :data:`SECRET_BYTES` long.
        """
        if len(value) != SECRET_BYTES:
            raise ValueError(f"a secret is {SECRET_BYTES} bytes long")
        self._value = value

    def __repr__(self) -> str:
        return "SecretBytes(hidden)"

    def reveal(self) -> bytes:
        """The bytes, for the one call that needs them."""
        return self._value


class SigningKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key that signs, or will: published in the JWKS since ``published_at_ms``, when it was made."""

    kid: str
    public: Ed25519PublicKey
    private: Ed25519PrivateKey
    published_at_ms: int

    def __post_init__(self) -> None:
        _check_kid(self.kid, self.public)
        if self.private.public_key() != self.public:
            raise ValueError(f"the private part of key {self.kid} does not belong to its public part")


class RetiredKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key that signed until ``retired_at_ms`` and now only verifies."""

    kid: str
    public: Ed25519PublicKey
    published_at_ms: int
    retired_at_ms: int

    def __post_init__(self) -> None:
        _check_kid(self.kid, self.public)


class RevokedKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The memory of a key that is trusted no more."""

    kid: str
    published_at_ms: int
    revoked_at_ms: int


class SealKey(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The secret under which votes and credentials are sealed."""

    kid: str
    secret: SecretBytes


def new_signing_key(now_ms: int) -> SigningKey:
    """A fresh Ed25519 key from the system's randomness, published as of ``now_ms``."""
    private = Ed25519PrivateKey.from_private_bytes(secrets.token_bytes(SECRET_BYTES))
    public = private.public_key()
    return SigningKey(kid=key_id(public), public=public, private=private, published_at_ms=now_ms)


def new_seal_key() -> SealKey:
    """A fresh seal secret from the system's randomness."""
    return SealKey(kid=secrets.token_hex(8), secret=SecretBytes(secrets.token_bytes(SECRET_BYTES)))


def key_id(public: Ed25519PublicKey) -> str:
    """The first 16 hex digits of the key's JWK thumbprint (RFC 7638; RFC 8037 appendix A.3).

    Derived, so that a kid can't name another key; in hex and short, so that an operator can type it
    (base64url may begin with a dash, which a command line takes for an option).
    """
    x = base64url.encode(public.public_bytes_raw())
    return sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode("ascii")).hexdigest()[:16]


def to_text(value: object) -> str:
    """The keyring file's text of a key or secret: its raw bytes in base64url (msgspec's ``enc_hook``)."""
    match value:
        case Ed25519PrivateKey():
            return base64url.encode(value.private_bytes_raw())
        case Ed25519PublicKey():
            return base64url.encode(value.public_bytes_raw())
        case SecretBytes():
            return base64url.encode(value.reveal())
    raise NotImplementedError(f"a keyring holds no {type(value).__name__}")


def from_text(kind: type, text: object) -> object:
    """The key or secret that :func:`to_text` wrote (msgspec's ``dec_hook``).

    Raises:
        ValueError: it is none; the message says why, without the text.
    """
    if not isinstance(text, str):
        raise ValueError("expected base64url text")  # noqa: TRY004 - msgspec reports ValueErrors with their path
    raw = base64url.decode(text)
    if kind is Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(raw)
    if kind is Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(raw)
    return SecretBytes(raw)


def _check_kid(kid: str, public: Ed25519PublicKey) -> None:
    if kid != key_id(public):
        raise ValueError("a kid is not that of its public key")
