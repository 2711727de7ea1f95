"""Keys: their names, their text, and what they never show."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from placet.tokens import base64url
from placet.tokens.keys import (
    SecretBytes,
    from_text,
    key_id,
    new_seal_key,
    new_signing_key,
    to_text,
)


def test_a_kid_begins_the_thumbprint_of_rfc_8037() -> None:
    """The key of RFC 8037 appendix A.2 has the thumbprint that appendix A.3 gives."""
    public = Ed25519PublicKey.from_public_bytes(
        base64url.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
    )
    assert key_id(public) == base64url.decode("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k").hex()[:16]


def test_fresh_keys_differ() -> None:
    """No two keys share a kid or a secret."""
    one, two = new_signing_key(1), new_signing_key(1)
    assert one.kid != two.kid
    assert new_seal_key().secret.reveal() != new_seal_key().secret.reveal()


def test_a_repr_shows_no_secret() -> None:
    """Logs and tracebacks may print keys: nothing private is in them, in any spelling."""
    key, seal = new_signing_key(1), new_seal_key()
    for secret, shown in (
        (key.private.private_bytes_raw(), repr(key)),
        (seal.secret.reveal(), f"{seal!r} {seal.secret}"),
    ):
        assert base64url.encode(secret) not in shown
        assert secret.hex() not in shown
        assert repr(secret) not in shown


def test_text_holds_a_key_whole() -> None:
    """A private key, a public key and a secret come back from their text as they were."""
    key, secret = new_signing_key(1), new_seal_key().secret
    private = from_text(Ed25519PrivateKey, to_text(key.private))
    assert isinstance(private, Ed25519PrivateKey)
    assert private.private_bytes_raw() == key.private.private_bytes_raw()
    assert from_text(Ed25519PublicKey, to_text(key.public)) == key.public
    read = from_text(SecretBytes, to_text(secret))
    assert isinstance(read, SecretBytes)
    assert read.reveal() == secret.reveal()


@pytest.mark.parametrize("kind", [Ed25519PrivateKey, Ed25519PublicKey, SecretBytes])
@pytest.mark.parametrize("text", [7, None, "", "QUJD", "A" * 44, "A" * 42 + "B", "!" * 43])
def test_text_that_is_no_key_is_refused(kind: type, text: object) -> None:
    """Wrong types, lengths and spellings are ValueErrors, which msgspec reports with their place."""
    with pytest.raises(ValueError, match=r"base64url|32 bytes"):
        from_text(kind, text)


def test_only_keys_have_a_text() -> None:
    """A keyring can't come to hold anything else unnoticed."""
    with pytest.raises(NotImplementedError, match="no object"):
        to_text(object())
