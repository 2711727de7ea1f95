"""Minting: an approved record becomes a token, each time it is read."""

from collections.abc import Sequence

import msgspec
from jwt import PyJWS

from placet.tokens.claims import (
    ALGORITHM,
    MAX_TOKEN_BYTES,
    TOKEN_LIFETIME_MS,
    TOKEN_TYPE,
    ApproverClaim,
    TokenClaims,
)
from placet.tokens.keys import SigningKey
from placet.tokens.minted import Minted

_JWS = PyJWS(algorithms=[ALGORITHM])
_CLAIMS = msgspec.json.Decoder(TokenClaims)


def mint(  # noqa: PLR0913 - one keyword per claim; a Struct to carry them would be TokenClaims again
    key: SigningKey,
    *,
    issuer: str,
    audience: str,
    asker: str,
    actor_id: str,
    approval_id: str,
    tenant: str,
    capability: str,
    digest: str,
    input_hash: str,
    approvers: Sequence[ApproverClaim],
    now_ms: int,
    use_by_ms: int,
    minted: Minted | None = None,
) -> str:
    """A token for the grant, signed with ``key`` (compact JWS, RFC 7515 §3.1), and noted in ``minted``.

    A grant is alive *at* its deadline and dead after it; a JWT is dead *at* its ``exp`` (RFC 7519
    §4.1.4) and counts in seconds. So ``exp`` is the first whole second after the deadline: the token
    never dies before the grant, and outlives it by a second at most, in which the record still refuses.

    Raises:
        ValueError: the grant is dead at ``now_ms``, or the token would be longer than
            :data:`~placet.tokens.claims.MAX_TOKEN_BYTES`.
        msgspec.ValidationError: a claim is not of its shape; the token would be refused everywhere.
    """
    if now_ms > use_by_ms:
        raise ValueError("the grant is dead: there is nothing to mint a token for")
    iat = now_ms // 1_000
    deadline_ms = min(use_by_ms, iat * 1_000 + TOKEN_LIFETIME_MS)
    payload = msgspec.json.encode(
        TokenClaims(
            iss=issuer,
            aud=audience,
            azp=asker,
            sub=actor_id,
            jti=approval_id,
            iat=iat,
            exp=deadline_ms // 1_000 + 1,
            tenant=tenant,
            cap=capability,
            dig=digest,
            ih=input_hash,
            apr=tuple(approvers),
        )
    )
    claims = _CLAIMS.decode(payload)  # a Struct's constructor does not check its members
    headers = {"typ": TOKEN_TYPE, "kid": key.kid}
    token = _JWS.encode(payload, key.private, algorithm=ALGORITHM, headers=headers)
    if len(token) > MAX_TOKEN_BYTES:
        raise ValueError(f"the token would be longer than {MAX_TOKEN_BYTES} bytes")
    if minted is not None:
        minted.remember(token, key.kid, claims)
    return token
