"""The JWK Set: what verifiers may know, and no more."""

import json
from typing import Any

import jwt
import pytest

from placet.tokens.issue import mint
from placet.tokens.jwks import JWKS_MAX_AGE_S, JwksError, VerificationKeys, jwks
from placet.tokens.keyring import RETIRED_KEEP_MS, RETIREMENT_GRACE_MS, ROTATION_WAIT_MS, Keyring

X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"  # RFC 8037 appendix A.2
JWK = {"kty": "OKP", "crv": "Ed25519", "x": X, "use": "sig", "alg": "EdDSA", "kid": "a"}


def test_a_cached_document_is_stale_before_a_new_key_signs() -> None:
    """Five minutes at most, and a minute less than the wait before a rotation."""
    assert JWKS_MAX_AGE_S <= 300
    assert JWKS_MAX_AGE_S * 1_000 + 60_000 <= ROTATION_WAIT_MS


def test_the_document_names_active_and_next_with_public_members_only(ring: Keyring) -> None:
    """RFC 7517 and RFC 8037: exactly these members, `d` never."""
    keys = json.loads(jwks(ring, now_ms=0))["keys"]
    assert [key["kid"] for key in keys] == [ring.active.kid, ring.next.kid]
    for key in keys:
        assert {name: key[name] for name in ("kty", "crv", "use", "alg")} == {
            "kty": "OKP",
            "crv": "Ed25519",
            "use": "sig",
            "alg": "EdDSA",
        }
        assert key.keys() == JWK.keys()


def test_a_retired_key_is_listed_while_its_tokens_live_and_a_revoked_one_never(ring: Keyring) -> None:
    """Verifiers lose a key with its last token, or at once."""
    turned = ring.rotate(ring.next.published_at_ms + ROTATION_WAIT_MS)
    dead_ms = turned.retired[0].retired_at_ms + RETIRED_KEEP_MS
    assert ring.active.kid in jwks(turned, now_ms=dead_ms - 1).decode()
    assert ring.active.kid not in jwks(turned, now_ms=dead_ms).decode()
    revoked = turned.revoke(ring.active.kid, dead_ms - 1)
    assert ring.active.kid not in jwks(revoked, now_ms=dead_ms - 1).decode()


def test_a_key_that_was_revoked_elsewhere_is_not_listed(ring: Keyring) -> None:
    """Though this ring has not heard of it."""
    turned = ring.rotate(ring.next.published_at_ms + ROTATION_WAIT_MS)
    for gone in (turned.active.kid, turned.next.kid, ring.active.kid):
        listed = jwks(turned, now_ms=turned.retired[0].retired_at_ms, revoked={gone, "unknown"}).decode()
        others = {turned.active.kid, turned.next.kid, ring.active.kid} - {gone}
        assert gone not in listed
        assert all(kid in listed for kid in others)


def test_other_libraries_read_the_document(ring: Keyring, grant: dict[str, Any]) -> None:
    """PyJWT finds the key by kid and verifies a token of ours with it."""
    token = mint(ring.active, **grant)
    found = jwt.PyJWKSet.from_json(jwks(ring, now_ms=0).decode())[ring.active.kid]
    assert jwt.PyJWS().decode(token, found, algorithms=["EdDSA"])


def test_a_ring_and_its_document_verify_with_the_same_keys(ring: Keyring) -> None:
    """Offline and at home the same kids name the same keys."""
    turned = ring.rotate(ring.next.published_at_ms + ROTATION_WAIT_MS)
    home = VerificationKeys.from_keyring(turned)
    away = VerificationKeys.from_jwks(jwks(turned, now_ms=turned.retired[0].retired_at_ms))
    assert {kid: key.public for kid, key in home.by_kid.items()} == {
        kid: key.public for kid, key in away.by_kid.items()
    }
    assert len(home.by_kid) == 3


def test_the_ring_knows_when_a_retired_key_signed_last(ring: Keyring) -> None:
    """Its retirement and the grace; the others sign on. Revoked kids are remembered."""
    turned = ring.rotate(ring.next.published_at_ms + ROTATION_WAIT_MS)
    keys = VerificationKeys.from_keyring(turned.revoke(turned.next.kid, 1))
    last_iat_ms = turned.retired[0].retired_at_ms + RETIREMENT_GRACE_MS
    assert keys.by_kid[ring.active.kid].last_iat_ms == last_iat_ms
    assert keys.by_kid[turned.active.kid].last_iat_ms is None
    assert keys.revoked == {turned.next.kid}


def test_what_is_heeded_counts_as_revoked(ring: Keyring) -> None:
    """Besides what the ring itself says."""
    safe = ring.revoke(ring.next.kid, 1)
    keys = VerificationKeys.from_keyring(safe, heeded=["elsewhere"])
    assert keys.revoked == {ring.next.kid, "elsewhere"}


@pytest.mark.parametrize(
    "other",
    [
        {"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "r"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "a", "alg": "HS256"},
        JWK | {"crv": "Ed448"},
        JWK | {"crv": "X25519"},
        JWK | {"use": "enc"},
        JWK | {"alg": "HS256"},
        {name: JWK[name] for name in JWK if name != "kid"},
        JWK | {"kid": ""},
    ],
)
def test_keys_of_other_kinds_are_ignored(other: dict[str, str]) -> None:
    """A set may serve other readers too; none of its keys is taken for ours."""
    keys = VerificationKeys.from_jwks(json.dumps({"keys": [other, JWK], "extra": 1}).encode())
    assert list(keys.by_kid) == ["a"]


def test_use_and_alg_may_be_absent() -> None:
    """Both are optional (RFC 7517 §4.2, §4.4), and further members are ignored."""
    plain = {"kty": "OKP", "crv": "Ed25519", "x": X, "kid": "a", "x5c": []}
    assert list(VerificationKeys.from_jwks(json.dumps({"keys": [plain]}).encode()).by_kid) == ["a"]


@pytest.mark.parametrize(
    ("document", "match"),
    [
        (b"", "no.* JWK Set|not a JWK Set"),
        (b"\xff", "not a JWK Set"),
        (b'{"keys":[{"kty":"\xff"}]}', "not a JWK Set"),
        (b"[]", "not a JWK Set"),
        (b"{}", "not a JWK Set"),
        (b'{"keys":[{"kty":1}]}', "not a JWK Set"),
        (json.dumps({"keys": [JWK, JWK]}).encode(), "share a kid"),
        (json.dumps({"keys": [JWK | {"x": "QUJD"}]}).encode(), "32 bytes"),
        (json.dumps({"keys": [JWK | {"x": X + "="}]}).encode(), "base64url"),
    ],
)
def test_a_document_that_is_no_key_set_is_refused(document: bytes, match: str) -> None:
    """Unclear keys are no keys."""
    with pytest.raises(JwksError, match=match):
        VerificationKeys.from_jwks(document)


def test_a_key_does_not_show_itself(ring: Keyring) -> None:
    """Its repr, which may end in a log, says nothing of the private part."""
    key = VerificationKeys.from_keyring(ring).by_kid[ring.active.kid]
    assert key.private is not None
    assert repr(key) == "VerificationKey(last_iat_ms=None)"
