"""A keyring, a grant, a forger who may hold any key, and the verifier who must not be fooled."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from placet.tokens import base64url
from placet.tokens.claims import ApproverClaim, TokenClaims
from placet.tokens.issue import mint
from placet.tokens.jwks import VerificationKeys
from placet.tokens.keyring import Keyring
from placet.tokens.verify import TokenFault, TokenInvalid, verify

NOW_MS = 1_700_000_000_250

Forge = Callable[..., str]
Check = Callable[..., TokenClaims]
Refused = Callable[..., TokenFault]


@pytest.fixture(scope="session")
def ring() -> Keyring:
    """One ring for the whole session: making keys is the slow part."""
    return Keyring.create(NOW_MS)


@pytest.fixture(scope="session")
def grant() -> dict[str, Any]:
    """The arguments of a mint whose grant may be used for a minute."""
    return {
        "issuer": "https://placet.example",
        "audience": "svc",
        "asker": "runtime",
        "actor_id": "user-7",
        "approval_id": "apr-1",
        "tenant": "default",
        "capability": "payments.refund",
        "digest": "d" * 64,
        "input_hash": "1" * 64,
        "approvers": (ApproverClaim(id="p-1", at_ms=NOW_MS - 2_000),),
        "now_ms": NOW_MS,
        "use_by_ms": NOW_MS + 60_000,
    }


@pytest.fixture(scope="session")
def claims() -> dict[str, Any]:
    """The claims of that grant, as JSON members."""
    return {
        "iss": "https://placet.example",
        "aud": "svc",
        "azp": "runtime",
        "sub": "user-7",
        "jti": "apr-1",
        "iat": NOW_MS // 1_000,
        "exp": NOW_MS // 1_000 + 61,
        "tenant": "default",
        "cap": "payments.refund",
        "dig": "d" * 64,
        "ih": "1" * 64,
        "apr": [{"id": "p-1", "at_ms": NOW_MS - 2_000}],
    }


@pytest.fixture(scope="session")
def forge(ring: Keyring, claims: dict[str, Any]) -> Forge:
    """Sign anything as a token: ``header`` is merged into ours, bytes stand for themselves."""

    def forge(
        *,
        header: dict[str, Any] | bytes | None = None,
        payload: dict[str, Any] | bytes | None = None,
        sign: Callable[[bytes], bytes] | None = None,
        key: Ed25519PrivateKey = ring.active.private,
    ) -> str:
        ours = {"alg": "EdDSA", "typ": "approval+jwt", "kid": ring.active.kid}
        head = header if isinstance(header, bytes) else json.dumps(ours | (header or {})).encode()
        body = payload if isinstance(payload, bytes) else json.dumps(payload or claims).encode()
        signed = f"{base64url.encode(head)}.{base64url.encode(body)}"
        signature = (sign or key.sign)(signed.encode())
        return f"{signed}.{base64url.encode(signature)}"

    return forge


@pytest.fixture(scope="session")
def token(ring: Keyring, grant: dict[str, Any]) -> str:
    """A good token."""
    return mint(ring.active, **grant)


@pytest.fixture(scope="session")
def check(ring: Keyring) -> Check:
    """Verify as the service of the grant would; every argument can be another."""
    ours = VerificationKeys.from_keyring(ring)

    def check(
        token: str,
        *,
        keys: VerificationKeys = ours,
        issuer: str = "https://placet.example",
        audience: str = "svc",
        tenant: str = "default",
        now_ms: int | None = NOW_MS,
    ) -> TokenClaims:
        return verify(token, keys, issuer=issuer, audience=audience, tenant=tenant, now_ms=now_ms)

    return check


@pytest.fixture(scope="session")
def refused(check: Check) -> Refused:
    """Why a token is refused."""

    def refused(token: str, **other: Any) -> TokenFault:
        with pytest.raises(TokenInvalid) as caught:
            check(token, **other)
        return caught.value.reason

    return refused
