"""Tokens that were minted here are known again, letter for letter, and judged like any other."""

from collections.abc import Callable
from typing import Any

import pytest

from placet.tokens.claims import TokenClaims
from placet.tokens.issue import mint
from placet.tokens.jwks import VerificationKeys
from placet.tokens.keyring import Keyring
from placet.tokens.minted import KEPT_TOKENS, Minted
from placet.tokens.verify import TokenFault

NOW_MS = 1_700_000_000_250

Check = Callable[..., TokenClaims]
Refused = Callable[..., TokenFault]


@pytest.fixture
def memory() -> Minted:
    """Of a process that has minted nothing yet."""
    return Minted()


@pytest.fixture
def token(ring: Keyring, grant: dict[str, Any], memory: Minted) -> str:
    """A token that was minted here."""
    return mint(ring.active, **grant, minted=memory)


@pytest.fixture
def keys(ring: Keyring, memory: Minted) -> VerificationKeys:
    """What the process verifies with."""
    return VerificationKeys.from_keyring(ring, minted=memory)


def test_what_is_known_is_what_would_have_been_proven(
    ring: Keyring, memory: Minted, token: str, keys: VerificationKeys, check: Check
) -> None:
    """The same claims, with and without the memory."""
    proven = check(token, keys=VerificationKeys.from_keyring(ring))
    assert memory.known(token) == (ring.active.kid, proven)
    assert check(token, keys=keys) == proven


@pytest.mark.parametrize("spoil", [lambda t: t + "=", lambda t: t[:-1], lambda t: t + " ", lambda t: "x" + t])
def test_another_text_is_not_known(
    memory: Minted, token: str, keys: VerificationKeys, refused: Refused, spoil: Callable[[str], str]
) -> None:
    """It is verified as if nobody had made anything."""
    assert memory.known(spoil(token)) is None
    assert refused(spoil(token), keys=keys)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"issuer": "https://other.example"}, TokenFault.ISSUER),
        ({"audience": "other"}, TokenFault.AUDIENCE),
        ({"tenant": "other"}, TokenFault.TENANT),
        ({"now_ms": NOW_MS + 61_000}, TokenFault.EXPIRED),
        ({"now_ms": NOW_MS - 60_000}, TokenFault.NOT_YET_ISSUED),
    ],
)
def test_what_it_says_is_judged_all_the_same(
    token: str, keys: VerificationKeys, refused: Refused, changes: dict[str, Any], fault: TokenFault
) -> None:
    """For whom, from whom, when."""
    assert refused(token, keys=keys, **changes) is fault


def test_a_revoked_key_s_tokens_are_no_more_for_being_known(
    ring: Keyring, memory: Minted, token: str, refused: Refused
) -> None:
    """Revocation holds at once, whoever minted them."""
    keys = VerificationKeys.from_keyring(ring, heeded=[ring.active.kid], minted=memory)
    assert refused(token, keys=keys) is TokenFault.REVOKED_KEY


def test_the_longest_known_is_forgotten(
    memory: Minted, token: str, keys: VerificationKeys, check: Check
) -> None:
    """And verified again where it comes."""
    known = memory.known(token)
    assert known is not None
    for number in range(KEPT_TOKENS):
        memory.remember(str(number), *known)
    assert memory.known(token) is None
    assert check(token, keys=keys) == known[1]
