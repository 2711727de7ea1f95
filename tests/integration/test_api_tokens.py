"""Approval tokens of every wrong kind, at consume and at introspect."""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from placet.tokens import base64url
from placet.tokens.keyring import Keyring
from tests.factories import T0_MS
from tests.harness import BASE_URL, Harness, record, refusal

Forger = Callable[[Keyring, str, dict[str, Any], dict[str, Any]], str]
"""Makes a token of the ring, the genuine text, its header and its claims."""


def parts(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and claims of a token."""
    head, body, _ = token.split(".")
    return json.loads(base64url.decode(head)), json.loads(base64url.decode(body))


def signed(header: dict[str, Any] | str, claims: Any, sign: Callable[[bytes], bytes]) -> str:
    """A compact JWS of anything; a text stands for itself."""
    pieces = [piece if isinstance(piece, str) else json.dumps(piece) for piece in (header, claims)]
    text = ".".join(base64url.encode(piece.encode()) for piece in pieces)
    return f"{text}.{base64url.encode(sign(text.encode()))}"


def ours(ring: Keyring) -> Callable[[bytes], bytes]:
    """Our own key: the forger may hold it, and still not everything passes."""
    return ring.active.private.sign


def hs256(key: bytes) -> Callable[[bytes], bytes]:
    """A MAC in place of a signature."""
    return lambda text: hmac.digest(key, text, "sha256")


def raw(ring: Keyring) -> bytes:
    """The public key, as bytes."""
    return ring.active.public.public_bytes_raw()


def pem(ring: Keyring) -> bytes:
    """The public key, as PEM."""
    return ring.active.public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


STRANGER = Ed25519PrivateKey.generate()
IAT_S = T0_MS // 1000

WITH_OTHER_HEADERS: dict[str, Forger] = {
    "alg none, unsigned": lambda _r, t, h, c: signed({**h, "alg": "none"}, c, lambda _: b""),
    "alg none, signature kept": lambda r, t, h, c: signed({**h, "alg": "none"}, c, ours(r)),
    "alg in other letters": lambda r, t, h, c: signed({**h, "alg": "eddsa"}, c, ours(r)),
    "HS256 with the public key": lambda r, t, h, c: signed({**h, "alg": "HS256"}, c, hs256(raw(r))),
    "HS256 with the public PEM": lambda r, t, h, c: signed({**h, "alg": "HS256"}, c, hs256(pem(r))),
    "HS512": lambda r, t, h, c: signed(
        {**h, "alg": "HS512"}, c, lambda text: hmac.digest(raw(r), text, "sha512")
    ),
    "no typ": lambda r, t, h, c: signed({"alg": h["alg"], "kid": h["kid"]}, c, ours(r)),
    "another typ": lambda r, t, h, c: signed({**h, "typ": "JWT"}, c, ours(r)),
    "no kid": lambda r, t, h, c: signed({"alg": h["alg"], "typ": h["typ"]}, c, ours(r)),
    "kid of the next key": lambda r, t, h, c: signed({**h, "kid": r.next.kid}, c, ours(r)),
    "kid a path": lambda r, t, h, c: signed({**h, "kid": "../../x"}, c, ours(r)),
    "kid of a megabyte": lambda r, t, h, c: signed({**h, "kid": "k" * 100_000}, c, ours(r)),
    "kid a number": lambda r, t, h, c: signed({**h, "kid": 1}, c, ours(r)),
    "embedded key": lambda r, t, h, c: signed(
        {**h, "jwk": {"kty": "OKP", "crv": "Ed25519", "x": base64url.encode(raw(r))}}, c, STRANGER.sign
    ),
    "key by address": lambda r, t, h, c: signed({**h, "jku": "https://x.example/"}, c, STRANGER.sign),
    "crit": lambda r, t, h, c: signed({**h, "crit": ["x"], "x": 1}, c, ours(r)),
    "crit b64": lambda r, t, h, c: signed({**h, "crit": ["b64"], "b64": True}, c, ours(r)),
    "header twice": lambda r, t, h, c: signed(json.dumps(h)[:-1] + ', "alg": "EdDSA"}', c, ours(r)),
}
WITH_OTHER_CLAIMS: dict[str, Forger] = {
    "another deployment's": lambda r, t, h, c: signed(h, {**c, "iss": "https://x.example"}, ours(r)),
    "issuer a part of ours": lambda r, t, h, c: signed(h, {**c, "iss": BASE_URL[:-1]}, ours(r)),
    "issuer more than ours": lambda r, t, h, c: signed(h, {**c, "iss": BASE_URL + "/"}, ours(r)),
    "another audience": lambda r, t, h, c: signed(h, {**c, "aud": "runtime2"}, ours(r)),
    "audiences": lambda r, t, h, c: signed(h, {**c, "aud": ["runtime", "x"]}, ours(r)),
    "another tenant's": lambda r, t, h, c: signed(h, {**c, "tenant": "other"}, ours(r)),
    "another approval's": lambda r, t, h, c: signed(h, {**c, "jti": "apr_other"}, ours(r)),
    "another digest": lambda r, t, h, c: signed(h, {**c, "dig": "0" * 64}, ours(r)),
    "expired": lambda r, t, h, c: signed(h, {**c, "iat": IAT_S - 60, "exp": IAT_S}, ours(r)),
    "without end": lambda r, t, h, c: signed(h, {k: v for k, v in c.items() if k != "exp"}, ours(r)),
    "end null": lambda r, t, h, c: signed(h, {**c, "exp": None}, ours(r)),
    "end a text": lambda r, t, h, c: signed(h, {**c, "exp": str(c["exp"])}, ours(r)),
    "end a fraction": lambda r, t, h, c: signed(h, {**c, "exp": c["exp"] + 0.5}, ours(r)),
    "end far off": lambda r, t, h, c: signed(h, {**c, "exp": c["exp"] + 10**6}, ours(r)),
    "without subject": lambda r, t, h, c: signed(h, {k: v for k, v in c.items() if k != "sub"}, ours(r)),
    "subject a number": lambda r, t, h, c: signed(h, {**c, "sub": 7}, ours(r)),
    "without approvers": lambda r, t, h, c: signed(h, {**c, "apr": []}, ours(r)),
    "one claim more": lambda r, t, h, c: signed(h, {**c, "admin": True}, ours(r)),
    "a claim twice": lambda r, t, h, c: signed(
        h, json.dumps(c)[:-1] + f', "jti": {json.dumps(c["jti"])}}}', ours(r)
    ),
    "claims a list": lambda r, t, h, c: signed(h, [c], ours(r)),
    "claims no JSON": lambda r, t, h, c: signed(h, "{", ours(r)),
}
SPOILT: dict[str, Forger] = {
    "signed by a stranger": lambda r, t, h, c: signed(h, c, STRANGER.sign),
    "signature cut": lambda r, t, h, c: t[:-4],
    "signature gone": lambda r, t, h, c: t.rpartition(".")[0] + ".",
    "padded": lambda r, t, h, c: t + "==",
    "padded inside": lambda r, t, h, c: t.replace(".", "=.", 1),
    "a blank behind": lambda r, t, h, c: t + " ",
    "a line feed before": lambda r, t, h, c: "\n" + t,
    "one part more": lambda r, t, h, c: t + ".e30",
    "last bits flipped": lambda r, t, h, c: t[:-1] + ("A" if t[-1] != "A" else "B"),
    "claims swapped": lambda r, t, h, c: ".".join(
        [t.split(".")[0], base64url.encode(json.dumps({**c, "exp": c["exp"] + 1}).encode()), t.split(".")[2]]
    ),
    "Bearer before": lambda r, t, h, c: "Bearer " + t,
    "its hash": lambda r, t, h, c: hashlib.sha256(t.encode()).hexdigest(),
    "in quotes": lambda r, t, h, c: f'"{t}"',
    "not ASCII": lambda r, t, h, c: t[:-1] + "\u00e9",
    "digits of another script": lambda r, t, h, c: "\u0661" + t[1:],
}
FORGERS = WITH_OTHER_HEADERS | WITH_OTHER_CLAIMS | SPOILT


@pytest.mark.parametrize("forger", FORGERS.values(), ids=FORGERS.keys())
async def test_a_wrong_token_is_refused_and_burns_nothing(h: Harness, forger: Forger) -> None:
    """B58 to B60, B62: 403, the same every time, everywhere; and the genuine one still works."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    forged = forger(h.services.ring.ring, token, *parts(token))
    assert forged != token
    response = await runtime.consume(asked, forged)
    assert refusal(response) == (403, "APPROVAL_TOKEN_INVALID")
    assert response.json()["confirmation"]["details"] == {"reason": "mismatch"}
    said = record(await runtime.introspect(asked, forged))
    assert said["active"] is False
    assert said["error"] in {"APPROVAL_TOKEN_INVALID", "APPROVAL_NOT_FOUND"}
    assert record(await runtime.introspect(asked, token)) == {"active": True}
    assert record(await runtime.consume(asked, token))["replayed"] is False


async def test_the_forge_can_make_a_good_one(h: Harness) -> None:
    """The forger of these tests holds the real key: unchanged, what it signs is taken."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    header, claims = parts(await runtime.token(asked["id"]))
    assert header == {"alg": "EdDSA", "typ": "approval+jwt", "kid": h.services.ring.ring.active.kid}
    assert claims == {
        "iss": BASE_URL,
        "aud": "runtime",
        "azp": "runtime",
        "sub": "agent-7",
        "jti": asked["id"],
        "iat": IAT_S,
        "exp": IAT_S + 901,
        "tenant": "default",
        "cap": "orders.refund",
        "dig": asked["digest"],
        "ih": asked["input_hash"],
        "apr": [{"id": "ann", "at_ms": T0_MS}],
    }
    record(await runtime.consume(asked, signed(header, claims, ours(h.services.ring.ring))))


async def test_a_token_is_for_the_audience_it_names(h: Harness) -> None:
    """The asker's token names the audience; nobody else can spend it, though they hold it."""
    runtime, tools = await h.client(), await h.client("tools", "consume")
    thief = await h.client("thief", "consume", "read")
    ann = await h.approver()
    asked = await runtime.asked(audience="tools")
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    assert parts(token)[1]["aud"] == "tools"
    assert record(await thief.introspect(asked, token)) == {
        "active": False,
        "error": "APPROVAL_TOKEN_INVALID",
    }
    record(await tools.consume(asked, token))


async def test_an_approval_token_is_no_credential(h: Harness) -> None:
    """B58: as a bearer credential an approval token, good or forged, is 401."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    token = await runtime.token(asked["id"])
    for text in (token, *(each(h.services.ring.ring, token, *parts(token)) for each in SPOILT.values())):
        headers = {b"authorization": b"Bearer " + text.encode()}
        response = await h.http.get("/v1/approvals", headers=headers)
        assert refusal(response) == (401, "UNAUTHENTICATED")
