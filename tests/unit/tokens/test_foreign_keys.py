"""Which keys of an issuer's JWK Set can have signed a token."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ed448, rsa

from placet.settings import directory_file
from placet.tokens.foreign_keys import ALGORITHMS, ForeignKeys, KeySetError
from tests.issuer import SigningKey, a_key, jwks


def keys_of(*keys: SigningKey | dict[str, Any]) -> ForeignKeys:
    """The keys of a set."""
    return ForeignKeys.from_jwks(json.dumps(jwks(*keys)).encode())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_key_serves_its_own_algorithm_alone(algorithm: str) -> None:
    """Where it names one; otherwise all of its kind."""
    ring = keys_of(a_key(algorithm))
    assert [name for name in ALGORITHMS if ring.find(name, "k1") is not None] == [algorithm]
    unnamed = keys_of(a_key(algorithm).jwk(alg=...))
    kind = [name for name in ALGORITHMS if (name[0] in "RP") is (algorithm[0] in "RP")]
    expected = kind if algorithm[0] in "RP" else [algorithm]
    assert [name for name in ALGORITHMS if unnamed.find(name, "k1") is not None] == expected


def test_what_a_directory_may_name_can_be_verified() -> None:
    """The floors keep these lists apart."""
    assert set(directory_file.ALGORITHMS) == set(ALGORITHMS)


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ES256K", "Ed25519", "EdDsa", ""])
def test_no_key_serves_other_algorithms(algorithm: str) -> None:
    """Symmetric ones, unsigned ones, those that nobody knows."""
    ring = keys_of(*(a_key(name, name) for name in ALGORITHMS))
    assert [ring.find(algorithm, name) for name in ALGORITHMS] == [None] * len(ALGORITHMS)


def weak_rsa() -> SigningKey:
    """An RSA key of 1 024 bits."""
    return SigningKey("RS256", rsa.generate_private_key(65_537, 1_024), "k1")  # noqa: S505 - that is the point


UNUSABLE: dict[str, dict[str, Any]] = {
    "symmetric": {"kty": "oct", "k": "c2VjcmV0", "kid": "k1", "alg": "HS256"},
    "for encryption": a_key().jwk(use="enc"),
    "not to verify with": a_key().jwk(key_ops=["sign"]),
    "with its private part": a_key().jwk(d="AAAA"),
    "short": weak_rsa().jwk(),
    "long": a_key("RS256").jwk(n="_" * 2_730),
    "even exponent": a_key("RS256").jwk(e="Ag"),
    "exponent one": a_key("RS256").jwk(e="AQ"),
    "no exponent": a_key("RS256").jwk(e=...),
    "not canonical": a_key().jwk(x=a_key().jwk()["x"] + "="),
    "off the curve": a_key("ES256").jwk(y=a_key("ES256").jwk()["x"]),
    "other curve": a_key("ES256").jwk(crv="secp256k1"),
    "curve of another length": a_key("ES256").jwk(crv="P-384"),
    "Ed448": SigningKey("EdDSA", ed448.Ed448PrivateKey.generate(), "k1").jwk(),
    "number as a number": a_key().jwk(x=1),
    "no type": a_key().jwk(kty=...),
    "kid as a number": a_key().jwk(kid=1),
    "unknown type": {"kty": "AKP", "kid": "k1"},
}


@pytest.mark.parametrize("jwk", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_a_key_that_is_none_of_ours_to_use_is_left_out(jwk: dict[str, Any]) -> None:
    """Alone it leaves the set empty; beside a good key, that one is used (RFC 7517 §5)."""
    assert keys_of(jwk).keys == ()
    assert keys_of(jwk, a_key("ES384", "good")).find("ES384", "good") is not None


def test_a_key_is_found_by_its_name() -> None:
    """Whoever names another, or none where there are several, finds nothing."""
    ring = keys_of(a_key(), a_key("ES256", "k2"))
    assert ring.find("EdDSA", "k1") is not None
    for kid in ("k2", "K1", "", None, "../k1"):
        assert ring.find("EdDSA", kid) is None, kid


def test_the_only_key_need_not_be_named() -> None:
    """With or without a name of its own; but one without is not found by any."""
    for kid in ("k1", None):
        assert keys_of(a_key(kid=kid)).find("EdDSA", None) is not None
    assert keys_of(a_key(kid=None)).find("EdDSA", "k1") is None


def test_a_name_that_two_keys_have_is_nobody_s() -> None:
    """Unless they are of different kinds (RFC 7517 §4.5)."""
    ring = keys_of(a_key(), a_key(number=1), a_key("ES256"))
    assert ring.find("EdDSA", "k1") is None
    assert ring.find("ES256", "k1") is not None


@pytest.mark.parametrize(
    "document", [b"", b"[]", b"{}", b'{"keys": {}}', b'{"keys": [1]}', b'{"keys":[],"keys":[]}']
)
def test_what_is_no_key_set_is_refused(document: bytes) -> None:
    """The message says what it should be."""
    with pytest.raises(KeySetError, match="no JWK Set"):
        ForeignKeys.from_jwks(document)
