"""Verifying: a text is an approval token only if all of it is as :mod:`placet.tokens.issue` writes it.

In this order, each step with its own word for the audit trail (:class:`TokenFault`):

1. Length, before anything is parsed.
2. Three base64url parts, unpadded and canonically spelt (RFC 7515 §7.1): one token, one text.
3. A header of exactly ``alg``, ``typ`` and ``kid``, none twice. So no ``crit``, ``jwk``, ``jku``, ``x5u``
   or ``b64`` can be understood in another way, or be ignored (RFC 8725 §3.10; RFC 7515 §4.1.11).
4. The algorithm and type are ours, not the token's choice (RFC 8725 §3.1, §3.11).
5. The key is ours, found by ``kid`` among those we hold.
6. The signature (Ed25519, RFC 8032 §5.1.7): signed again where the key is our own, else by PyJWT.
7. Every claim there, of its type, none twice, none besides.
8. Issuer, audience and tenant, compared whole.
9. The times. PyJWT's own clock is never asked.
"""

import hmac
from enum import StrEnum
from typing import TypeVar

import msgspec
from jwt import PyJWS, PyJWTError
from msgspec import Struct

from placet.tokens import base64url
from placet.tokens.claims import ALGORITHM, MAX_LIFETIME_S, MAX_TOKEN_BYTES, TOKEN_TYPE, TokenClaims
from placet.tokens.jwks import VerificationKey, VerificationKeys
from placet.tokens.strict_json import members_of

_PARTS = 3
_JWS = PyJWS(algorithms=[ALGORITHM])

Shape = TypeVar("Shape", bound=Struct)


class TokenFault(StrEnum):
    """Why a text is not an approval token that counts here and now."""

    TOO_LONG = "too-long"
    MALFORMED = "malformed"
    HEADER = "header"
    ALGORITHM = "algorithm"
    TYPE = "type"
    UNKNOWN_KEY = "unknown-key"
    REVOKED_KEY = "revoked-key"
    SIGNATURE = "signature"
    CLAIMS = "claims"
    ISSUER = "issuer"
    AUDIENCE = "audience"
    TENANT = "tenant"
    LIFETIME = "lifetime"
    """It lives longer than any token that is minted, or dies before it is born."""
    RETIRED_KEY = "retired-key"
    """It was signed long after its key retired."""
    NOT_YET_ISSUED = "not-yet-issued"
    EXPIRED = "expired"


class TokenInvalid(Exception):  # noqa: N818 - named after its code, APPROVAL_TOKEN_INVALID
    """The text is not an approval token that counts; ``reason`` is for the audit trail, never the caller."""

    def __init__(self, reason: TokenFault) -> None:
        super().__init__(f"approval token refused: {reason}")
        self.reason = reason


class _Header(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    alg: str
    typ: str
    kid: str


def verify(
    token: str, keys: VerificationKeys, *, issuer: str, audience: str, tenant: str, now_ms: int | None
) -> TokenClaims:
    """The claims of ``token``, every one of them proven.

    Args:
        token: what a caller presented.
        keys: the keys that count, from our ring or from a JWKS document.
        issuer: the service's public URL, exactly.
        audience: the one client the token must be for.
        tenant: the tenant it must belong to.
        now_ms: the time to judge by, or ``None`` to leave ``iat`` and ``exp`` to a judge with a better
            clock: the store's script compares :attr:`TokenClaims.exp_ms` itself.

    Raises:
        TokenInvalid: anything is not as it must be. Neither it nor its message holds a piece of the token.
    """
    minted = None if keys.minted is None else keys.minted.known(token)
    if minted is None:
        key = _key_of(_header_of(token), keys)
        claims = _claims_of(token, key)
    else:  # steps 1 to 4, 6 and 7 hold of what was made here
        kid, claims = minted
        key = _key_named(kid, keys)
    for is_ours, fault in (
        (claims.iss == issuer, TokenFault.ISSUER),
        (claims.aud == audience, TokenFault.AUDIENCE),
        (claims.tenant == tenant, TokenFault.TENANT),
    ):
        if not is_ours:
            raise TokenInvalid(fault)
    _check_times(claims, key, now_ms)
    return claims


def _header_of(token: str) -> _Header:
    if len(token) > MAX_TOKEN_BYTES:
        raise TokenInvalid(TokenFault.TOO_LONG)
    parts = token.split(".")
    if len(parts) != _PARTS or not all(parts):
        raise TokenInvalid(TokenFault.MALFORMED)
    try:
        header, *_ = [base64url.decode(part) for part in parts]
    except ValueError:
        raise TokenInvalid(TokenFault.MALFORMED) from None
    return _read(header, _Header, TokenFault.HEADER)


def _key_of(header: _Header, keys: VerificationKeys) -> VerificationKey:
    if header.alg != ALGORITHM:
        raise TokenInvalid(TokenFault.ALGORITHM)
    if header.typ != TOKEN_TYPE:
        raise TokenInvalid(TokenFault.TYPE)
    return _key_named(header.kid, keys)


def _key_named(kid: str, keys: VerificationKeys) -> VerificationKey:
    if kid in keys.revoked:
        raise TokenInvalid(TokenFault.REVOKED_KEY)
    key = keys.by_kid.get(kid)
    if key is None:
        raise TokenInvalid(TokenFault.UNKNOWN_KEY)
    return key


def _claims_of(token: str, key: VerificationKey) -> TokenClaims:
    try:
        payload = _own(token, key) or _JWS.decode(token, key.public, algorithms=[ALGORITHM])
    except PyJWTError:
        raise TokenInvalid(TokenFault.SIGNATURE) from None
    return _read(payload, TokenClaims, TokenFault.CLAIMS)


def _own(token: str, key: VerificationKey) -> bytes | None:
    """The payload, where the token is letter for letter what we would sign.

    Ed25519 is deterministic (RFC 8032 §5.1.6): signing again and comparing proves the same as verifying,
    in a quarter of the time. What differs is left to the verification to refuse.
    """
    if key.private is None:
        return None
    signed, _, signature = token.rpartition(".")
    again = key.private.sign(signed.encode("ascii"))
    if not hmac.compare_digest(again, base64url.decode(signature)):
        return None
    return base64url.decode(signed.partition(".")[2])


def _check_times(claims: TokenClaims, key: VerificationKey, now_ms: int | None) -> None:
    if not 0 < claims.exp - claims.iat <= MAX_LIFETIME_S:
        raise TokenInvalid(TokenFault.LIFETIME)
    if key.last_iat_ms is not None and claims.iat * 1_000 > key.last_iat_ms:
        raise TokenInvalid(TokenFault.RETIRED_KEY)
    if now_ms is None:
        return
    if now_ms < claims.from_ms:
        raise TokenInvalid(TokenFault.NOT_YET_ISSUED)
    if now_ms >= claims.exp_ms:
        raise TokenInvalid(TokenFault.EXPIRED)


def _read(data: bytes, shape: type[Shape], fault: TokenFault) -> Shape:
    try:
        return msgspec.convert(members_of(data), shape)
    except (ValueError, msgspec.ValidationError):
        raise TokenInvalid(fault) from None
