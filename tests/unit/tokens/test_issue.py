"""Minting: what a token says, and when it ends."""

import json
from typing import Any

import jwt
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.tokens.issue import mint
from placet.tokens.jwks import VerificationKeys
from placet.tokens.keyring import Keyring
from placet.tokens.verify import TokenFault, TokenInvalid, verify

MINUTE_MS = 60_000


def read(token: str) -> dict[str, Any]:
    """Header and claims, unverified, as PyJWT reads them."""
    return jwt.api_jwt.decode_complete(token, options={"verify_signature": False})


def test_a_token_says_what_was_granted(ring: Keyring, grant: dict[str, Any], claims: dict[str, Any]) -> None:
    """The header is exactly type, algorithm and the active key; the claims are the grant's."""
    token = read(mint(ring.active, **grant))
    assert token["header"] == {"typ": "approval+jwt", "alg": "EdDSA", "kid": ring.active.kid}
    assert token["payload"] == claims


def test_claims_stand_in_their_documented_order(ring: Keyring, grant: dict[str, Any]) -> None:
    """Two mints of one grant in the same second are the same text."""
    assert mint(ring.active, **grant) == mint(ring.active, **grant | {"now_ms": grant["now_ms"] + 1})
    assert list(read(mint(ring.active, **grant))["payload"]) == (
        ["iss", "aud", "azp", "sub", "jti", "iat", "exp", "tenant", "cap", "dig", "ih", "apr"]
    )


@pytest.mark.parametrize(
    ("use_by_ms", "exp"),
    [
        (1_699_999_980_000, 1_699_999_981),  # on a whole second: alive at it
        (1_699_999_980_001, 1_699_999_981),
        (1_699_999_980_999, 1_699_999_981),
        (1_699_999_981_000, 1_699_999_982),
        (1_699_999_980_000 + 15 * MINUTE_MS, 1_700_000_881),
        (1_699_999_980_000 + 24 * 60 * MINUTE_MS, 1_700_000_881),  # never more than 15 minutes
    ],
)
def test_exp_is_the_first_whole_second_after_the_deadline(
    ring: Keyring, grant: dict[str, Any], use_by_ms: int, exp: int
) -> None:
    """The earlier of use_by and iat + 15 minutes, and then the next second."""
    token = mint(ring.active, **grant | {"now_ms": 1_699_999_980_000, "use_by_ms": use_by_ms})
    assert read(token)["payload"]["exp"] == exp


@given(now_ms=st.integers(1, 2**42), left_ms=st.integers(0, 25 * 60 * MINUTE_MS))
def test_a_token_lives_as_long_as_its_grant(
    ring: Keyring, grant: dict[str, Any], now_ms: int, left_ms: int
) -> None:
    """Alive from its minting to the very instant of the deadline, dead within a second after it."""
    token = mint(ring.active, **grant | {"now_ms": now_ms, "use_by_ms": now_ms + left_ms})
    deadline_ms = min(now_ms + left_ms, now_ms // 1_000 * 1_000 + 15 * MINUTE_MS)
    names = {name: grant[name] for name in ("issuer", "audience", "tenant")}
    keys = VerificationKeys.from_keyring(ring)
    for alive_ms in (now_ms, max(now_ms, deadline_ms)):
        assert verify(token, keys, **names, now_ms=alive_ms).jti == grant["approval_id"]
    with pytest.raises(TokenInvalid) as caught:
        verify(token, keys, **names, now_ms=deadline_ms + 1_000)
    assert caught.value.reason is TokenFault.EXPIRED


def test_a_dead_grant_gets_no_token(ring: Keyring, grant: dict[str, Any]) -> None:
    """At its deadline it still does, a millisecond later not."""
    assert mint(ring.active, **grant | {"now_ms": grant["use_by_ms"]})
    with pytest.raises(ValueError, match="dead"):
        mint(ring.active, **grant | {"now_ms": grant["use_by_ms"] + 1})


@pytest.mark.parametrize(
    "wrong", [{"approvers": ()}, {"digest": "D" * 64}, {"input_hash": "1" * 63 + "\n"}, {"actor_id": ""}]
)
def test_a_token_that_would_be_refused_is_not_minted(
    ring: Keyring, grant: dict[str, Any], wrong: dict[str, Any]
) -> None:
    """No approver, no hash, no actor: the fault shows where it is made."""
    with pytest.raises(msgspec.ValidationError):
        mint(ring.active, **grant | wrong)


def test_a_token_too_long_to_be_verified_is_not_minted(ring: Keyring, grant: dict[str, Any]) -> None:
    """Both sides know one bound."""
    with pytest.raises(ValueError, match="8192 bytes"):
        mint(ring.active, **grant | {"actor_id": "x" * 8_192})


def test_any_text_is_carried_whole(ring: Keyring, grant: dict[str, Any]) -> None:
    """Ids of every script arrive as they were."""
    actor = 'ä"\\\u2028😀'
    payload = read(mint(ring.active, **grant | {"actor_id": actor}))["payload"]
    assert json.loads(json.dumps(payload["sub"])) == actor
