"""Seals hold exactly what was sealed."""

import hmac
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.tokens import base64url
from placet.tokens.keyring import Keyring
from placet.tokens.keys import SealKey, SecretBytes, new_seal_key
from placet.tokens.seal import Sealer

# Few and colliding values find an ambiguous encoding; wide ones find what can't be encoded.
FIELD = st.one_of(
    st.none(),
    st.integers(-11, 11),
    st.integers(),
    st.text("ins01\0", max_size=3),
    st.text(st.characters(), max_size=3),
    st.binary(max_size=3),
)
FIELDS = st.lists(FIELD, max_size=4)


@pytest.fixture(scope="session")
def sealer(ring: Keyring) -> Sealer:
    """The ring's sealer."""
    return Sealer(ring.seal)


@given(FIELDS)
def test_a_seal_holds_what_was_sealed(sealer: Sealer, fields: list[Any]) -> None:
    """Whatever the fields, the seal is 43 characters and verifies, under a copy of the key too."""
    seal = sealer.seal("vote", fields)
    assert len(seal) == 43
    assert sealer.verify("vote", fields, seal)


@given(FIELDS, FIELDS)
def test_other_fields_have_another_seal(sealer: Sealer, one: list[Any], two: list[Any]) -> None:
    """Two rows share a seal only if they are the same row: types, order and borders count."""
    same = [(type(field), field) for field in one] == [(type(field), field) for field in two]
    assert sealer.verify("vote", two, sealer.seal("vote", one)) is same


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (["ab", "c"], ["a", "bc"]),
        (["1"], [1]),
        (["1"], [b"1"]),
        ([None], [""]),
        ([None], []),
        (["a"], ["a", None]),
        (["a", "b"], ["b", "a"]),
        (["é"], ["e\u0301"]),
    ],
)
def test_neighbouring_rows_are_not_confused(sealer: Sealer, one: list[Any], two: list[Any]) -> None:
    """Concatenation, conversion, absence and normalisation change the seal."""
    assert not sealer.verify("vote", two, sealer.seal("vote", one))


def test_kinds_are_worlds_apart(sealer: Sealer) -> None:
    """A credential's seal is no vote's, nor can a field pass for a kind."""
    assert not sealer.verify("vote", ["a"], sealer.seal("credential", ["a"]))
    assert not sealer.verify("vote", ["a", "b"], sealer.seal("vo", ["te", "a", "b"]))


def test_another_key_gives_another_seal(sealer: Sealer) -> None:
    """Who lacks the secret can't seal."""
    assert not sealer.verify("vote", ["a"], Sealer(new_seal_key()).seal("vote", ["a"]))


@pytest.mark.parametrize("seal", ["", "x", "ä" * 43, "\ud800", "A" * 43, "A" * 10_000])
def test_what_is_no_seal_does_not_verify(sealer: Sealer, seal: str) -> None:
    """Anything the store may hold in a seal's place is a wrong seal, never a fault."""
    assert sealer.verify("vote", ["a"], seal) is False


def test_only_the_seals_own_spelling_verifies(sealer: Sealer) -> None:
    """Padding, a trailing newline and stray bits are refused."""
    seal = sealer.seal("vote", ["a"])
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spellings = [f"{seal}=", f"{seal}\n", *(seal[:-1] + end for end in last if end != seal[-1])]
    assert not any(sealer.verify("vote", ["a"], spelling) for spelling in spellings)


@pytest.mark.parametrize("field", [True, 1.5, ["a"], {"a": 1}])
def test_fields_without_one_encoding_are_refused(sealer: Sealer, field: Any) -> None:
    """A boolean could pass for a number, a float has many spellings: they are said in words."""
    with pytest.raises(TypeError, match="can't be sealed"):
        sealer.seal("vote", [field])


def test_the_encoding_is_fixed() -> None:
    """Seals written by one release verify in the next: type, eight-byte length, bytes, under a prefix."""
    key = SealKey(kid="k", secret=SecretBytes(bytes(range(32))))
    message = (
        b"placet seal v1"
        b"s\0\0\0\0\0\0\0\x04vote"
        b"s\0\0\0\0\0\0\0\x02\xc3\xa9"
        b"i\0\0\0\0\0\0\0\x02-5"
        b"n\0\0\0\0\0\0\0\0"
        b"b\0\0\0\0\0\0\0\x01\xff"
    )
    expected = base64url.encode(hmac.digest(bytes(range(32)), message, "sha256"))
    assert Sealer(key).seal("vote", ["é", -5, None, b"\xff"]) == expected


def test_a_sealer_shows_no_secret(ring: Keyring, sealer: Sealer) -> None:
    """Its repr is fixed."""
    assert repr(sealer) == "Sealer(hidden)"
