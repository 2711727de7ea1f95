"""Verification of what a token says: for whom, until when, under which key of the ring."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from placet.tokens.claims import TokenClaims
from placet.tokens.issue import mint
from placet.tokens.jwks import VerificationKeys, jwks
from placet.tokens.keyring import RETIREMENT_GRACE_MS, ROTATION_WAIT_MS, Keyring
from placet.tokens.verify import TokenFault

NOW_MS = 1_700_000_000_250
EXP_MS = 1_700_000_061_000

Forge = Callable[..., str]
Check = Callable[..., TokenClaims]
Refused = Callable[..., TokenFault]


class TestClaims:
    """B60, B62: all of them, of their type, once, and no others."""

    def test_every_claim_is_needed(self, refused: Refused, forge: Forge, claims: dict[str, Any]) -> None:
        """A token without exp does not live for ever; it does not live."""
        for name in claims:
            less = {other: claims[other] for other in claims if other != name}
            assert refused(forge(payload=less)) is TokenFault.CLAIMS, name

    @pytest.mark.parametrize(
        "wrong",
        [
            {"sub": 7},
            {"sub": None},
            {"sub": ""},
            {"iss": ["https://placet.example"]},
            {"aud": ["svc"]},
            {"aud": ["other", "svc"]},
            {"aud": {"svc": 1}},
            {"exp": "1700000061"},
            {"exp": 1700000061.0},
            {"exp": True},
            {"exp": None},
            {"exp": -1},
            {"exp": 2**53},
            {"iat": False},
            {"iat": float("nan")},
            {"iat": float("-inf")},
            {"dig": "D" * 64},
            {"dig": "d" * 64 + "\n"},
            {"ih": "1" * 63},
            {"apr": []},
            {"apr": {}},
            {"apr": ["p-1"]},
            {"apr": [{"id": "p-1"}]},
            {"apr": [{"id": "p-1", "at_ms": True}]},
            {"apr": [{"id": "p-1", "at_ms": 1, "name": "Ann"}]},
            {"nbf": 0},
            {"scope": "admin"},
        ],
    )
    def test_wrong_and_unknown_claims_are_refused(
        self, refused: Refused, forge: Forge, claims: dict[str, Any], wrong: dict[str, Any]
    ) -> None:
        """Though signed with our key. An audience list that holds ours is no audience."""
        assert refused(forge(payload=claims | wrong)) is TokenFault.CLAIMS

    def test_a_claim_said_twice_is_refused(
        self, refused: Refused, forge: Forge, claims: dict[str, Any]
    ) -> None:
        """At any depth, even with the same value: readers would differ about which one counts."""
        text = json.dumps(claims)
        assert refused(forge(payload=text.replace("{", '{"aud": "svc", ', 1).encode())) is TokenFault.CLAIMS
        assert (
            refused(forge(payload=text.replace('{"id"', '{"id": "p-0", "id"').encode())) is TokenFault.CLAIMS
        )
        assert (
            refused(forge(payload=text.replace("{", '{"\\u0061ud": "svc", ', 1).encode()))
            is TokenFault.CLAIMS
        )

    @pytest.mark.parametrize("payload", [b"null", b"[]", b"x", b"\xff", b"[" * 5_000])
    def test_a_payload_is_a_json_object(self, refused: Refused, forge: Forge, payload: bytes) -> None:
        """Signed nonsense is nonsense."""
        assert refused(forge(payload=payload)) is TokenFault.CLAIMS

    @pytest.mark.parametrize(
        "iss",
        [
            "https://placet.exampl",
            "https://placet.example/",
            "https://placet.example.evil",
            "https://PLACET.example",
            "placet.example",
        ],
    )
    def test_the_issuer_is_compared_whole(
        self, refused: Refused, forge: Forge, claims: dict[str, Any], iss: str
    ) -> None:
        """Neither a part of ours nor ours and more."""
        assert refused(forge(payload=claims | {"iss": iss})) is TokenFault.ISSUER

    @pytest.mark.parametrize("aud", ["svc2", "sv", "SVC", "svc ", "svc,svc2"])
    def test_the_audience_is_compared_whole(
        self, refused: Refused, forge: Forge, claims: dict[str, Any], aud: str
    ) -> None:
        """A token for another client is not for this one."""
        assert refused(forge(payload=claims | {"aud": aud})) is TokenFault.AUDIENCE

    def test_another_tenants_token_is_refused(self, refused: Refused, token: str) -> None:
        """Tenants share the ring, not their approvals."""
        assert refused(token, tenant="acme") is TokenFault.TENANT


class TestTime:
    """B61 and the exact instants."""

    def test_a_token_is_dead_at_exp_and_alive_before(
        self, check: Check, refused: Refused, token: str
    ) -> None:
        """To the millisecond, without leeway."""
        assert check(token, now_ms=EXP_MS - 1).jti == "apr-1"
        assert refused(token, now_ms=EXP_MS) is TokenFault.EXPIRED
        assert refused(token, now_ms=EXP_MS + 1) is TokenFault.EXPIRED

    def test_a_minter_may_be_a_little_ahead(self, check: Check, refused: Refused, token: str) -> None:
        """Five seconds of skew are accepted, more and two minutes are refused."""
        iat_ms = 1_700_000_000_000
        assert check(token, now_ms=iat_ms - 3_000).jti == "apr-1"
        assert check(token, now_ms=iat_ms - 5_000).jti == "apr-1"
        assert refused(token, now_ms=iat_ms - 5_001) is TokenFault.NOT_YET_ISSUED
        assert refused(token, now_ms=iat_ms - 120_000) is TokenFault.NOT_YET_ISSUED

    def test_the_store_may_judge_the_time_itself(self, check: Check, token: str) -> None:
        """Without a time nothing but the time is left unproven, and exp is handed on."""
        assert check(token, now_ms=None).exp_ms == EXP_MS

    def test_no_token_lives_longer_than_the_longest_minted(
        self, check: Check, refused: Refused, forge: Forge, claims: dict[str, Any]
    ) -> None:
        """15 minutes and the rounding second; and none dies before it is born, whoever judges the time."""
        iat = claims["iat"]
        assert check(forge(payload=claims | {"exp": iat + 901}), now_ms=None).jti == "apr-1"
        for exp in (iat + 902, iat, iat - 1, 2**53 - 1):
            assert refused(forge(payload=claims | {"exp": exp}), now_ms=None) is TokenFault.LIFETIME


class TestKeysOfTheRing:
    """Which keys count, through a key's life."""

    def test_next_counts_before_this_replica_knows_that_it_signs(
        self, check: Check, ring: Keyring, grant: dict[str, Any]
    ) -> None:
        """Another replica rotated first: its tokens pass here."""
        ahead = ring.rotate(ring.next.published_at_ms + ROTATION_WAIT_MS)
        assert check(mint(ahead.active, **grant)).jti == "apr-1"

    def test_a_retired_key_verifies_what_it_signed(
        self, check: Check, refused: Refused, forge: Forge, ring: Keyring, claims: dict[str, Any]
    ) -> None:
        """Up to its retirement and a grace for replicas that lag; later tokens are not its."""
        retired_at_ms = NOW_MS + 750 + ROTATION_WAIT_MS  # a whole second
        keys = VerificationKeys.from_keyring(ring.rotate(retired_at_ms))
        last = (retired_at_ms + RETIREMENT_GRACE_MS) // 1_000
        good = forge(payload=claims | {"iat": last, "exp": last + 60})
        late = forge(payload=claims | {"iat": last + 1, "exp": last + 60})
        assert check(good, keys=keys, now_ms=None).jti == "apr-1"
        assert refused(late, keys=keys, now_ms=None) is TokenFault.RETIRED_KEY

    def test_a_revoked_key_verifies_nothing(self, refused: Refused, ring: Keyring, token: str) -> None:
        """From the revocation on, what it signed before included; in a JWKS it is unknown."""
        safe = ring.revoke(ring.active.kid, NOW_MS)
        assert refused(token, keys=VerificationKeys.from_keyring(safe)) is TokenFault.REVOKED_KEY
        away = VerificationKeys.from_jwks(jwks(safe, now_ms=NOW_MS))
        assert refused(token, keys=away) is TokenFault.UNKNOWN_KEY

    def test_a_key_revoked_elsewhere_verifies_nothing(
        self, refused: Refused, ring: Keyring, token: str
    ) -> None:
        """Though the ring here still signs with it."""
        keys = VerificationKeys.from_keyring(ring, heeded=[ring.active.kid])
        assert refused(token, keys=keys) is TokenFault.REVOKED_KEY
