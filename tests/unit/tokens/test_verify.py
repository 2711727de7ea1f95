"""Verification: the one true text passes; whatever differs from it, in whatever way, does not."""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from placet.tokens import base64url
from placet.tokens.claims import TokenClaims
from placet.tokens.jwks import VerificationKeys, jwks
from placet.tokens.keyring import Keyring
from placet.tokens.keys import new_signing_key
from placet.tokens.verify import TokenFault, TokenInvalid

NOW_MS = 1_700_000_000_250
L = 2**252 + 27742317777372353535851937790883648493  # the order of Ed25519's group (RFC 8032 §5.1)
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

Forge = Callable[..., str]
Check = Callable[..., TokenClaims]
Refused = Callable[..., TokenFault]


class TestGood:
    """What passes."""

    def test_a_minted_token_gives_its_claims(self, check: Check, token: str) -> None:
        """Claims come back typed, with exp in milliseconds for the store."""
        claims = check(token)
        assert (claims.jti, claims.azp, claims.sub, claims.cap) == (
            "apr-1",
            "runtime",
            "user-7",
            "payments.refund",
        )
        assert (claims.dig, claims.ih) == ("d" * 64, "1" * 64)
        assert [approver.id for approver in claims.apr] == ["p-1"]
        assert claims.exp_ms == 1_700_000_061_000

    def test_the_forger_makes_good_tokens_with_the_right_key(self, check: Check, forge: Forge) -> None:
        """So the refusals below are for what they say."""
        assert check(forge()).jti == "apr-1"

    def test_a_tool_server_verifies_with_the_document_alone(
        self, check: Check, ring: Keyring, token: str
    ) -> None:
        """A JWKS is all that offline proof needs."""
        keys = VerificationKeys.from_jwks(jwks(ring, now_ms=NOW_MS))
        assert check(token, keys=keys) == check(token)


class TestShape:
    """Compact serialisation, one spelling."""

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda token: "",
            lambda token: "..",
            lambda token: token + "\n",
            lambda token: " " + token,
            lambda token: token + "=",
            lambda token: token + "==",
            lambda token: token + ".",
            lambda token: token + ".e30",
            lambda token: "." + token,
            lambda token: token.rpartition(".")[0],
            lambda token: token.rpartition(".")[0] + ".",
            lambda token: token.replace(".", "..", 1),
            lambda token: token.replace(".", "=.", 1),
            lambda token: token.replace(".", "\u2024", 1),
            lambda token: token[:9] + "\n" + token[9:],
            lambda token: token[:9] + "\0" + token[9:],
            lambda token: token[:-1] + "Ä",
            lambda token: "Bearer " + token,
            lambda token: json.dumps({"protected": "e30", "payload": "e30", "signature": "e30"}),
        ],
    )
    def test_other_shapes_are_malformed(
        self, refused: Refused, token: str, spoil: Callable[[str], str]
    ) -> None:
        """Padding, whitespace, missing and surplus parts, JSON serialisation: no token."""
        assert refused(spoil(token)) is TokenFault.MALFORMED

    def test_no_part_has_a_second_spelling(self, refused: Refused, token: str) -> None:
        """The four bits that a 64-byte signature leaves open must be zero."""
        spellings = [token[:-1] + end for end in ALPHABET if end != token[-1]]
        reasons = [refused(spelling) for spelling in spellings]
        assert reasons.count(TokenFault.SIGNATURE) == 3
        assert reasons.count(TokenFault.MALFORMED) == 60

    def test_a_long_text_is_not_looked_at(self, refused: Refused, token: str) -> None:
        """One character beyond the bound is enough, whatever the text is."""
        assert refused("x" * 8_193) is TokenFault.TOO_LONG
        assert refused("x" * 8_192) is TokenFault.MALFORMED
        assert refused(token + "A" * 1_000_000) is TokenFault.TOO_LONG


class TestHeader:
    """B58, B59: the token chooses nothing."""

    @pytest.mark.parametrize(
        "alg", ["none", "None", "HS256", "HS512", "ES256", "RS256", "Ed25519", "eddsa", ""]
    )
    def test_other_algorithms_are_refused(self, refused: Refused, forge: Forge, alg: str) -> None:
        """Even where the signature is ours."""
        assert refused(forge(header={"alg": alg})) is TokenFault.ALGORITHM

    def test_an_unsigned_token_is_no_token(self, refused: Refused, forge: Forge) -> None:
        """`alg: none` has an empty signature."""
        assert refused(forge(header={"alg": "none"}, sign=lambda _: b"")) is TokenFault.MALFORMED

    @pytest.mark.parametrize("form", [PublicFormat.Raw, PublicFormat.SubjectPublicKeyInfo])
    @pytest.mark.parametrize("hashed", [hashlib.sha256, hashlib.sha512])
    def test_the_public_key_is_no_shared_secret(
        self, refused: Refused, forge: Forge, ring: Keyring, form: PublicFormat, hashed: Any
    ) -> None:
        """An HMAC keyed with it passes under no name of the algorithm."""
        encoding = Encoding.Raw if form is PublicFormat.Raw else Encoding.PEM
        public = ring.active.public.public_bytes(encoding, form)

        def sign(message: bytes) -> bytes:
            return hmac.digest(public, message, hashed)

        alg = "HS256" if hashed is hashlib.sha256 else "HS512"
        assert refused(forge(header={"alg": alg}, sign=sign)) is TokenFault.ALGORITHM
        assert refused(forge(sign=sign)) is TokenFault.SIGNATURE

    @pytest.mark.parametrize(
        "typ", ["JWT", "at+jwt", "application/approval+jwt", "APPROVAL+JWT", "approval+jwt ", ""]
    )
    def test_other_types_are_refused(self, refused: Refused, forge: Forge, typ: str) -> None:
        """A token of another kind never passes for an approval."""
        assert refused(forge(header={"typ": typ})) is TokenFault.TYPE

    @pytest.mark.parametrize(
        "extra",
        [
            {"crit": ["x"], "x": 1},
            {"crit": ["b64"], "b64": True},
            {"crit": []},
            {"b64": False},
            {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}},
            {"jku": "https://evil.example/jwks.json"},
            {"x5u": "https://evil.example/cert"},
            {"x5c": []},
            {"cty": "JWT"},
            {"zip": "DEF"},
            {"x": None},
        ],
    )
    def test_other_members_are_refused(self, refused: Refused, forge: Forge, extra: dict[str, Any]) -> None:
        """What is not understood is not ignored."""
        assert refused(forge(header=extra)) is TokenFault.HEADER

    def test_an_embedded_key_is_never_used(self, refused: Refused, forge: Forge) -> None:
        """A token that brings its own key and is signed with it stays refused."""
        own = new_signing_key(1)
        jwk = {"kty": "OKP", "crv": "Ed25519", "x": base64url.encode(own.public.public_bytes_raw())}
        assert refused(forge(header={"jwk": jwk}, key=own.private)) is TokenFault.HEADER
        assert refused(forge(header={"kid": own.kid}, key=own.private)) is TokenFault.UNKNOWN_KEY
        assert refused(forge(key=own.private)) is TokenFault.SIGNATURE

    @pytest.mark.parametrize("member", ["alg", "typ", "kid"])
    def test_every_member_is_needed_once_and_as_text(
        self, refused: Refused, forge: Forge, ring: Keyring, member: str
    ) -> None:
        """Absent, twice, null, a number, a list: refused."""
        ours = {"alg": "EdDSA", "typ": "approval+jwt", "kid": ring.active.kid}
        less = {name: ours[name] for name in ours if name != member}
        twice = json.dumps(ours)[:-1] + f', "{member}": "{ours[member]}"}}'
        assert refused(forge(header=json.dumps(less).encode())) is TokenFault.HEADER
        assert refused(forge(header=twice.encode())) is TokenFault.HEADER
        for value in (None, 1, True, [ours[member]], {"a": 1}):
            assert refused(forge(header={member: value})) is TokenFault.HEADER

    @pytest.mark.parametrize(
        "header",
        [
            b"null",
            b"[]",
            b"{",
            b"\xff",
            b"\xef\xbb\xbf{}",
            "{}".encode("utf-16"),
            b"[" * 5_000,
            b'{"a":' * 1_000,
            b"9" * 5_000,
        ],
    )
    def test_what_is_no_json_object_is_no_header(self, refused: Refused, forge: Forge, header: bytes) -> None:
        """Other encodings, depth and huge numbers end as a refusal, not as a fault."""
        assert refused(forge(header=header)) is TokenFault.HEADER

    @pytest.mark.parametrize("kid", ["../../x", "/dev/null", "' OR 1=1 --", "", "k" * 4_000, "\ud83d\ude00"])
    def test_a_kid_that_is_not_ours_is_unknown(self, refused: Refused, forge: Forge, kid: str) -> None:
        """It is looked up among our kids and used for nothing else."""
        assert refused(forge(header={"kid": kid})) is TokenFault.UNKNOWN_KEY

    def test_a_huge_kid_is_not_looked_at(self, refused: Refused, forge: Forge) -> None:
        """A megabyte costs nothing."""
        assert refused(forge(header={"kid": "k" * 1_000_000})) is TokenFault.TOO_LONG

    def test_the_kid_of_another_key_of_ours_does_not_help(
        self, refused: Refused, forge: Forge, ring: Keyring
    ) -> None:
        """The signature must be that key's."""
        assert refused(forge(header={"kid": ring.next.kid})) is TokenFault.SIGNATURE


class TestSignature:
    """Whatever was changed, the signature is another's."""

    def test_no_bit_can_be_flipped(self, refused: Refused, token: str) -> None:
        """Every one of the text's bits, each alone."""
        for position, character in enumerate(token):
            for bit in range(8):
                flipped = chr(ord(character) ^ (1 << bit))
                assert refused(token[:position] + flipped + token[position + 1 :])

    @given(st.data())
    @settings(max_examples=300, deadline=None)
    def test_no_change_survives(self, refused: Refused, token: str, data: st.DataObject) -> None:
        """Any stretch replaced by any text: the result is the same token or none."""
        start = data.draw(st.integers(0, len(token)))
        end = data.draw(st.integers(start, min(len(token), start + 12)))
        mutated = token[:start] + data.draw(st.text(ALPHABET + ".=\n", max_size=12)) + token[end:]
        if mutated != token:
            assert refused(mutated)

    @given(st.text(max_size=40) | st.text(ALPHABET + ".", max_size=400))
    @settings(deadline=None)
    def test_any_other_text_is_refused_in_order(self, refused: Refused, text: str) -> None:
        """A refusal, never another exception."""
        assert refused(text)

    def test_a_signature_is_not_malleable(self, refused: Refused, token: str) -> None:
        """S + L is the same point, and refused (RFC 8032 §5.1.7: S below L)."""
        signed, _, signature = token.rpartition(".")
        raw = base64url.decode(signature)
        s = int.from_bytes(raw[32:], "little") + L
        other = base64url.encode(raw[:32] + s.to_bytes(32, "little"))
        assert refused(f"{signed}.{other}") is TokenFault.SIGNATURE

    @pytest.mark.parametrize("cut", [lambda raw: raw[:-1], lambda raw: raw + b"\0", lambda raw: bytes(64)])
    def test_a_signature_has_its_length_and_value(
        self, refused: Refused, token: str, cut: Callable[[bytes], bytes]
    ) -> None:
        """Shorter, longer and zero ones are no signature."""
        signed, _, signature = token.rpartition(".")
        other = base64url.encode(cut(base64url.decode(signature)))
        assert refused(f"{signed}.{other}") is TokenFault.SIGNATURE


def test_a_refusal_holds_no_piece_of_the_token(forge: Forge, check: Check) -> None:
    """Its text is the reason's word, and no cause carries the rest along when it is printed."""
    with pytest.raises(TokenInvalid) as caught:
        check(forge(payload=b'{"secret-of-the-payload'))
    assert str(caught.value) == "approval token refused: claims"
    assert caught.value.__suppress_context__
