"""Tokens of other issuers: the good ones are proofs, and there is one reason for each way to be bad."""

import json
from hashlib import sha256
from hmac import digest
from typing import Any

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from placet.tokens.foreign import ForeignFault, ForeignInvalid
from placet.tokens.foreign_keys import ALGORITHMS
from tests.factories import T0_MS
from tests.issuer import AUDIENCE, ISS, OTHER, T0_S, a_key, an_issuer, check, claims, refused, signed


def test_a_good_token_proves_whom_it_is_of() -> None:
    """And for how long, with the leeway at both ends."""
    proof = check(signed(claims(nbf=T0_S + 1)))
    assert (proof.vouched.iss, proof.vouched.sub, proof.name, proof.issuer) == (ISS, "u-1", None, an_issuer())
    assert (proof.issued_at_ms, proof.from_ms, proof.until_ms) == (T0_MS, T0_MS - 4_000, T0_MS + 905_000)
    assert [proof.counts(ms) for ms in (T0_MS - 4_001, T0_MS - 4_000, T0_MS + 904_999, T0_MS + 905_000)] == [
        False, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_that_is_configured_is_verified(algorithm: str) -> None:
    """With the key made for it; where it is not configured, a good signature is worth nothing."""
    key = a_key(algorithm)
    token = signed(claims(), key)
    assert check(token, key, algorithms=(algorithm,)).vouched.sub == "u-1"
    others = tuple(name for name in ALGORITHMS if name != algorithm)
    assert refused(token, key, algorithms=others) == "algorithm"
    forged = signed(claims(), a_key(algorithm), sign=lambda message: key.sign(message + b"x"))
    assert refused(forged, key, algorithms=(algorithm,)) == "signature"


def hmac_with_the_public_key() -> str:
    """HS256 whose secret everybody has: the issuer's own public key as PEM (CVE-2022-29217)."""
    key = a_key("RS256")
    pem = key.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return signed(claims(), key, {"alg": "HS256"}, sign=lambda message: digest(pem, message, sha256))


def altered(token: str, part: int, text: str) -> str:
    """The token with something after one of its parts."""
    parts = token.split(".")
    parts[part] += text
    return ".".join(parts)


def with_tail(token: str) -> str:
    """The token, its signature spelt with other bits where no byte is: most decoders take it."""
    last = token[-1]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + alphabet[alphabet.index(last) + 1]


GOOD = signed(claims())
TWICE = json.dumps(claims())[:-1] + ', "sub": "u-2"}'
DEEP = json.dumps(claims(x=1)).replace("1}", '{"a": 1, "a": 1}}')
INFINITE = json.dumps(claims(exp=1)).replace('"exp": 1', '"exp": 1e999')

TOKENS: dict[str, tuple[str, str]] = {
    "nothing": ("", "malformed"),
    "a word": ("token", "malformed"),
    "two parts": (GOOD.rpartition(".")[0], "malformed"),
    "no signature": (GOOD.rpartition(".")[0] + ".", "malformed"),
    "four parts": (GOOD + ".e30", "malformed"),
    "encrypted": (".".join(["e30"] * 5), "malformed"),
    "huge": (signed(claims(x="x" * 16_384)), "too-long"),
    "padded header": (altered(GOOD, 0, "="), "malformed"),
    "padded claims": (altered(GOOD, 1, "="), "malformed"),
    "padded signature": (altered(GOOD, 2, "=="), "malformed"),
    "another spelling": (with_tail(GOOD), "malformed"),
    "not base64url": (altered(GOOD, 2, "+/"), "malformed"),
    "with a line break": (GOOD + "\n", "malformed"),
    "beyond ASCII": (GOOD + "é", "malformed"),
    "header no object": (signed(claims(), header=b"[]"), "malformed"),
    "claims no object": (signed(b"[]"), "malformed"),
    "claims no JSON": (signed(b"{"), "malformed"),
    "header member twice": (
        signed(claims(), header=b'{"alg":"EdDSA","typ":"at+jwt","kid":"k1","alg":"none"}'),
        "malformed",
    ),
    "claim twice": (signed(TWICE.encode()), "malformed"),
    "claim twice inside": (signed(DEEP.encode()), "malformed"),
    "deep": (signed(b"[" * 10_000), "malformed"),
    "no issuer": (signed(claims(iss=...)), "unknown-issuer"),
    "issuer no text": (signed(claims(iss=[ISS])), "unknown-issuer"),
    "unknown issuer": (signed(claims(iss="https://evil.example")), "unknown-issuer"),
    "issuer with a slash": (signed(claims(iss=ISS + "/")), "unknown-issuer"),
    "part of the issuer": (signed(claims(iss=ISS[:-1])), "unknown-issuer"),
    "issuer in capitals": (signed(claims(iss=ISS.upper())), "unknown-issuer"),
    "another's token": (signed(claims(iss=OTHER.iss, aud="other"), a_key(number=1)), "signature"),
    "critical": (signed(claims(), header={"crit": ["x"], "x": 1}), "header"),
    "nothing critical": (signed(claims(), header={"crit": []}), "header"),
    "b64": (signed(claims(), header={"b64": False, "crit": ["b64"]}), "header"),
    "its own key": (signed(claims(), a_key(number=1), {"jwk": a_key(number=1).jwk()}), "header"),
    "its own address": (signed(claims(), header={"jku": "https://evil.example/keys"}), "header"),
    "its own certificate": (signed(claims(), header={"x5c": ["MII"]}), "header"),
    "address of a certificate": (signed(claims(), header={"x5u": "https://evil.example"}), "header"),
    "kid a number": (signed(claims(), header={"kid": 1}), "header"),
    "none": (signed(claims(), header={"alg": "none"}, sign=lambda _: b"x"), "algorithm"),
    "None": (signed(claims(), header={"alg": "None"}), "algorithm"),
    "no algorithm": (signed(claims(), header={"alg": ...}), "algorithm"),
    "algorithm a list": (signed(claims(), header={"alg": ["EdDSA"]}), "algorithm"),
    "HS256 with the public key": (hmac_with_the_public_key(), "algorithm"),
    "ES256K": (signed(claims(), header={"alg": "ES256K"}), "algorithm"),
    "no type": (signed(claims(), header={"typ": ...}), "type"),
    "type of our own tokens": (signed(claims(), header={"typ": "approval+jwt"}), "type"),
    "a logout token by type": (signed(claims(), header={"typ": "logout+jwt"}), "type"),
    "another media type": (signed(claims(), header={"typ": "text/at+jwt"}), "type"),
    "type a number": (signed(claims(), header={"typ": 1}), "type"),
    "no subject": (signed(claims(sub=...)), "claims"),
    "empty subject": (signed(claims(sub="")), "claims"),
    "blank subject": (signed(claims(sub=" ")), "claims"),
    "subject a number": (signed(claims(sub=1)), "claims"),
    "subject null": (signed(claims(sub=None)), "claims"),
    "invisible in the subject": (signed(claims(sub="u\u200b1")), "claims"),
    "NUL in the subject": (signed(claims(sub="u\x001")), "claims"),
    "half a character in the subject": (signed(claims(sub="u\ud800")), "malformed"),
    "half a character for a time": (signed(claims(iat="\ud800")), "malformed"),
    "mixed scripts in the subject": (signed(claims(sub="\u0430nn")), "claims"),
    "long subject": (signed(claims(sub="u" * 257)), "claims"),
    "no end": (signed(claims(exp=...)), "claims"),
    "end a text": (signed(claims(exp=str(T0_S + 900))), "claims"),
    "end true": (signed(claims(exp=True)), "claims"),
    "end infinite": (
        signed(json.dumps(claims(exp=1)).replace('"exp": 1', '"exp": 1e999').encode()),
        "claims",
    ),
    "end beyond numbers": (signed(claims(exp=10**400)), "claims"),
    "end before 1970": (signed(claims(exp=-1)), "claims"),
    "no beginning": (signed(claims(iat=...)), "claims"),
    "not before null": (signed(claims(nbf=None)), "claims"),
    "no audience": (signed(claims(aud=...)), "claims"),
    "audience a number": (signed(claims(aud=1)), "claims"),
    "another audience": (signed(claims(aud="placet2")), "audience"),
    "part of the audience": (signed(claims(aud="place")), "audience"),
    "two audiences": (signed(claims(aud=[AUDIENCE, "other"])), "audience"),
    "an audience twice": (signed(claims(aud=[AUDIENCE, AUDIENCE])), "audience"),
    "no audience in a list": (signed(claims(aud=[])), "audience"),
    "another in a list": (signed(claims(aud=["other"])), "audience"),
    "dead at birth": (signed(claims(exp=T0_S)), "lifetime"),
    "longer than a day": (signed(claims(exp=T0_S + 86_401)), "lifetime"),
    "issued later": (signed(claims(iat=T0_S + 6)), "not-yet"),
    "issued in two minutes": (signed(claims(iat=T0_S + 120)), "not-yet"),
    "not before later": (signed(claims(nbf=T0_S + 6)), "not-yet"),
    "over": (signed(claims(iat=T0_S - 900, exp=T0_S - 5)), "expired"),
    "unknown key": (signed(claims(), header={"kid": "k2"}), "unknown-key"),
    "key of a path": (signed(claims(), header={"kid": "../../k1"}), "unknown-key"),
    "key of another kind": (signed(claims(), a_key("ES256")), "unknown-key"),
    "another's key": (signed(claims(), a_key(number=1)), "signature"),
    "no signature of ours": (signed(claims(), sign=lambda _: b"\0" * 64), "signature"),
    "short signature": (signed(claims(), sign=lambda _: b"\0"), "signature"),
}


@pytest.mark.parametrize(("token", "reason"), TOKENS.values(), ids=TOKENS.keys())
def test_a_bad_token_is_refused(token: str, reason: str) -> None:
    """B58 to B62, and their kind."""
    assert refused(token) == reason


@pytest.mark.parametrize(
    "token",
    [
        signed(claims(aud=[AUDIENCE])),
        signed(claims(iat=T0_S + 5)),
        signed(claims(iat=T0_S + 3)),
        signed(claims(nbf=T0_S + 5)),
        signed(claims(iat=T0_S - 900, exp=T0_S - 4)),
        signed(claims(iat=T0_S - 0.5, exp=T0_S + 0.5)),
        signed(claims(exp=T0_S + 86_400)),
        signed(claims(), header={"kid": ...}),
        signed(claims(), header={"typ": "JWT"}),
        signed(claims(), header={"typ": "AT+JWT"}),
        signed(claims(), header={"typ": "application/at+jwt"}),
        signed(claims(), header={"x5t": "abc", "cty": "x"}),
        signed(claims(scope="openid", anything={"a": [1, 2.5, None]}, big=10**30)),
    ],
)
def test_what_others_write_differently_is_good(token: str) -> None:
    """One audience as a list, fractions of seconds, clocks off by the leeway, media types, the only key."""
    assert check(token).vouched.sub == "u-1"


def test_a_token_without_a_type_is_good_where_that_is_configured() -> None:
    """As some issuers write them; such tokens, and no others."""
    token = signed(claims(), header={"typ": ...})
    assert check(token, types=("at+jwt", "none")).vouched.sub == "u-1"
    for typ in ("JWT", "", "at+jwt"):
        assert refused(signed(claims(), header={"typ": typ}), types=("none",)) == "type"


def test_a_key_must_be_named_where_there_are_several() -> None:
    """Nobody tries them all."""
    token = signed(claims(), header={"kid": ...})
    assert refused(token, a_key(), a_key(kid="k2", number=1)) == "unknown-key"


def test_a_token_is_its_own_issuer_s() -> None:
    """Each issuer's audience holds for its own tokens alone."""
    assert refused(signed(claims(aud="other"))) == "audience"
    assert refused(signed(claims(iss=OTHER.iss))) == "audience"


def test_the_log_hears_which_issuer_it_was() -> None:
    """One that is configured; what the token says otherwise is not repeated."""
    for token, iss in ((signed(claims(aud="x")), ISS), (signed(claims(iss="https://evil.example")), None)):
        with pytest.raises(ForeignInvalid) as caught:
            check(token)
        assert caught.value.iss == iss


def test_groups_count_for_a_quarter_of_an_hour() -> None:
    """From when the token was issued; the rest of it counts on."""
    proof = check(signed(claims(groups=["ops"], email="a@x.example")), groups_claim="groups")
    assert proof.at(T0_MS + 900_000).groups == ("ops",)
    late = proof.at(T0_MS + 900_001)
    assert (late.groups, late.sub, late.aliases) == ((), "u-1", ("a@x.example",))


@given(st.text(st.characters(codec="ascii"), max_size=200) | st.text(max_size=50))
def test_any_text_is_refused_in_the_same_way(text: str) -> None:
    """Whatever it is, nothing else is raised."""
    assert refused(text) in {ForeignFault.MALFORMED, ForeignFault.TOO_LONG}


TEXTS = st.text()


@given(
    st.dictionaries(
        st.sampled_from(
            ["iss", "sub", "aud", "exp", "iat", "nbf", "act", "cnf", "gty", "azp", "email", "name"]
        ),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text()
        | st.lists(st.text()),
    )
)
def test_any_claims_are_judged(changes: dict[str, Any]) -> None:
    """No value of any claim is a fault of ours."""
    try:
        proof = check(signed({**claims(), **changes}), groups_claim="gty", email_authoritative=True)
    except ForeignInvalid:
        return
    json.dumps(proof.vouched.aliases).encode()
