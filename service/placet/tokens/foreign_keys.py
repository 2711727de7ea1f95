"""The keys of another issuer, from its JWK Set (RFC 7517): which of them may have signed a token.

1. Only public keys to verify with: no symmetric key, none that shows its private part, none for encryption.
2. RSA of 2 048 to 8 192 bits (RFC 7518 §3.3), the curves of RFC 7518 §3.4, Ed25519 (RFC 8037). Others are
   left out, as RFC 7517 §5 has it for keys that are not understood; the rest of the set is used.
3. The algorithm belongs to the key's kind, and where the key names one, to that alone (RFC 8725 §3.1): a
   token chooses nothing.
"""

from collections.abc import Mapping
from typing import Any, Final, Self

import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK, PyJWTError
from msgspec import Struct

from placet.tokens import base64url
from placet.tokens.strict_json import members_of

RSA_MIN_BITS: Final = 2_048
RSA_MAX_BITS: Final = 8_192
"""Verifying takes time with the square of it: 0.3 ms at 8 192 bits."""

PublicKey = RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey

_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    **{f"{family}{bits}": ("RSA", "") for family in ("RS", "PS") for bits in (256, 384, 512)},
    "ES256": ("EC", "P-256"),
    "ES384": ("EC", "P-384"),
    "ES512": ("EC", "P-521"),
    "EdDSA": ("OKP", "Ed25519"),
}
ALGORITHMS: Final = tuple(_KINDS)
"""All that a token of another issuer may be signed with (RFC 7518 §3.1, RFC 8037 §3.1): asymmetric ones."""

_ALGORITHM_OF: Final = {kind: name for name, kind in _KINDS.items()}  # any of them: it reads the same key
_NUMBERS: Final = {"RSA": ("n", "e"), "EC": ("x", "y"), "OKP": ("x",)}


class KeySetError(Exception):
    """The document is no JWK Set."""


class ForeignKey(Struct, frozen=True, kw_only=True):
    """A key that tokens may be verified with; ``algorithm`` where it is for one only."""

    public: PublicKey
    kind: tuple[str, str]
    kid: str | None = None
    algorithm: str | None = None

    def serves(self, algorithm: str) -> bool:
        """Whether a token of this algorithm can be its."""
        return _KINDS.get(algorithm) == self.kind and self.algorithm in {None, algorithm}


class _Jwk(Struct, frozen=True, kw_only=True):
    kty: str
    crv: str = ""
    kid: str | None = None
    use: str = "sig"
    alg: str | None = None
    key_ops: tuple[str, ...] = ("verify",)


class ForeignKeys(Struct, frozen=True, kw_only=True):
    """The keys of an issuer that can be used here."""

    keys: tuple[ForeignKey, ...]

    @classmethod
    def from_jwks(cls, document: bytes) -> Self:
        """What a JWK Set lets one verify.

        Raises:
            KeySetError: The document is none.
        """
        try:
            found = msgspec.convert(members_of(document).get("keys"), list[dict[str, Any]])
        except (ValueError, msgspec.ValidationError):
            raise KeySetError("it is no JWK Set (RFC 7517 section 5)") from None
        return cls(keys=tuple(key for each in found if (key := _read(each)) is not None))

    def find(self, algorithm: str, kid: str | None) -> ForeignKey | None:
        """The one key that a token can be signed with; ``None`` where there is none, or more than one.

        A token that names none is of the only key there is.
        """
        sole = kid is None and len(self.keys) == 1
        serving = [key for key in self.keys if (sole or kid == key.kid is not None) and key.serves(algorithm)]
        return serving[0] if len(serving) == 1 else None


def _read(members: dict[str, Any]) -> ForeignKey | None:
    """A key of the set, or ``None`` where it is none of ours to use."""
    try:
        jwk = msgspec.convert(members, _Jwk)
        kind = (jwk.kty, jwk.crv if jwk.kty != "RSA" else "")
        numbers = {name: members[name] for name in _NUMBERS[jwk.kty]}
        for number in numbers.values():
            base64url.decode(number)  # PyJWT would take other spellings
        public = PyJWK.from_dict({"kty": jwk.kty, "crv": jwk.crv, **numbers}, _ALGORITHM_OF[kind]).key
    except (msgspec.ValidationError, KeyError, TypeError, ValueError, PyJWTError):
        return None
    if "d" in members or jwk.use != "sig" or "verify" not in jwk.key_ops:
        return None
    if isinstance(public, RSAPublicKey) and not RSA_MIN_BITS <= public.key_size <= RSA_MAX_BITS:
        return None
    return ForeignKey(public=public, kind=kind, kid=jwk.kid, algorithm=jwk.alg)
