"""The public half of the keyring: as a JWK Set (RFC 7517; RFC 8037 for Ed25519), and as keys to verify with.

A tool server needs the document and :func:`placet.tokens.verify.verify`, nothing of ours besides. Proof
made offline never replaces the consume: it can't know that a grant is spent.
"""

from collections.abc import Collection, Mapping
from typing import Self

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from msgspec import Struct

from placet.tokens import base64url
from placet.tokens.claims import ALGORITHM
from placet.tokens.keyring import RETIREMENT_GRACE_MS, Keyring
from placet.tokens.keys import RetiredKey, SigningKey
from placet.tokens.minted import Minted

JWKS_MAX_AGE_S = 240
"""``Cache-Control: max-age`` of the document, a minute below
:data:`placet.tokens.keyring.ROTATION_WAIT_MS`: that minute is for services to re-read the keyring file."""


_OURS = ("OKP", "Ed25519", "sig", ALGORITHM)


class JwksError(Exception):
    """The document is no JWK Set that tokens can be verified with."""


class _Jwk(Struct, frozen=True, kw_only=True):
    kty: str
    crv: str = ""
    x: str = ""
    use: str = "sig"
    alg: str = ALGORITHM
    kid: str = ""


class _JwkSet(Struct, frozen=True, kw_only=True):
    keys: tuple[_Jwk, ...]


class VerificationKey(Struct, frozen=True, kw_only=True):
    """A public key, and the last moment at which it may have signed (``None``: it still may).

    ``private`` is there where the key is our own and signs. It is no part of the repr.
    """

    public: Ed25519PublicKey
    last_iat_ms: int | None = None
    private: Ed25519PrivateKey | None = None

    def __repr__(self) -> str:
        return f"VerificationKey(last_iat_ms={self.last_iat_ms!r})"


class VerificationKeys(Struct, frozen=True, kw_only=True):
    """The keys that a token may name, by kid; ``revoked`` are the kids that it must not.

    ``minted`` are tokens whose signature and form need not be proven; all else is judged of them as well.
    """

    by_kid: Mapping[str, VerificationKey]
    revoked: frozenset[str] = frozenset()
    minted: Minted | None = None

    @classmethod
    def from_keyring(
        cls, ring: Keyring, *, heeded: Collection[str] = (), minted: Minted | None = None
    ) -> Self:
        """What a holder of the ring accepts, who has heard that the ``heeded`` kids are revoked too.

        Next is accepted too: another replica may have rotated a moment ago, and its private part is
        guarded no less than the active one's.
        """
        keys = {
            key.kid: VerificationKey(public=key.public, private=key.private)
            for key in (ring.active, ring.next)
        }
        for key in ring.retired:
            last_iat_ms = key.retired_at_ms + RETIREMENT_GRACE_MS
            keys[key.kid] = VerificationKey(public=key.public, last_iat_ms=last_iat_ms)
        revoked = frozenset(key.kid for key in ring.revoked).union(heeded)
        return cls(by_kid=keys, revoked=revoked, minted=minted)

    @classmethod
    def from_jwks(cls, document: bytes) -> Self:
        """What a JWK Set lets one verify.

        Keys of other types and uses, or without a kid, are ignored (RFC 7517 §5).

        Raises:
            JwksError: the document is no JWK Set, or two of its Ed25519 keys share a kid.
        """
        try:
            found = msgspec.json.decode(document, type=_JwkSet).keys
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JwksError(f"this is not a JWK Set: {error}") from error
        keys: dict[str, VerificationKey] = {}
        for jwk in found:
            if not jwk.kid or (jwk.kty, jwk.crv, jwk.use, jwk.alg) != _OURS:
                continue
            if jwk.kid in keys:
                raise JwksError("two keys of the JWK Set share a kid")
            keys[jwk.kid] = VerificationKey(public=_public_key(jwk.x))
        return cls(by_kid=keys)


def jwks(ring: Keyring, *, now_ms: int, revoked: Collection[str] = ()) -> bytes:
    """The ring's JWK Set: active, next, and the retired keys that may have live tokens at ``now_ms``.

    Without those of the ``revoked`` kids that this ring has not heard of being so.
    """
    keys: tuple[SigningKey | RetiredKey, ...] = (ring.active, ring.next, *ring.verifiable_retired(now_ms))
    return msgspec.json.encode(
        _JwkSet(
            keys=tuple(
                _Jwk(kty="OKP", crv="Ed25519", x=base64url.encode(key.public.public_bytes_raw()), kid=key.kid)
                for key in keys
                if key.kid not in revoked
            )
        )
    )


def _public_key(x: str) -> Ed25519PublicKey:
    try:
        return Ed25519PublicKey.from_public_bytes(base64url.decode(x))
    except ValueError as error:
        raise JwksError(f"an Ed25519 key of the JWK Set can't be read: {error}") from error
