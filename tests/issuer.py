"""An OIDC issuer for tests: keys of every kind, tokens as good or bad as a test wants them, and a server."""

import asyncio
import json
import secrets
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from placet.domain.people import Issuer
from placet.tokens import base64url
from placet.tokens.foreign import ForeignInvalid, Proof, examine, prove
from placet.tokens.foreign_keys import ForeignKeys
from tests.factories import T0_MS
from tests.loopback import listening

T0_S = T0_MS // 1_000
ISS = "https://id.example"
AUDIENCE = "placet"

Documents = dict[str, Any]
"""What a server answers at a path: a JSON value, ``(status, headers, body)``, or a coroutine function."""


class SigningKey:
    """A private key that an issuer signs with, and how its JWK Set shows it."""

    def __init__(self, algorithm: str, private: Any, kid: str | None) -> None:
        self.algorithm = algorithm
        self.private = private
        self.kid = kid

    def sign(self, message: bytes) -> bytes:
        """A signature over the message."""
        implementation = jwt.get_algorithm_by_name(self.algorithm)
        return implementation.sign(message, self.private)

    def jwk(self, **changes: Any) -> dict[str, Any]:
        """The public half; a member given as ``...`` is left out."""
        implementation = jwt.get_algorithm_by_name(self.algorithm)
        shown = {**implementation.to_jwk(self.private.public_key(), as_dict=True)}
        shown.pop("key_ops", None)
        shown |= {"kid": self.kid, "use": "sig", "alg": self.algorithm} | changes
        return {name: value for name, value in shown.items() if value is not ... and value is not None}


@cache
def private_key(algorithm: str, number: int = 0) -> Any:
    """A key for the algorithm, made once; ``number`` tells several apart."""
    curves = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
    if algorithm in curves:
        return ec.generate_private_key(curves[algorithm])
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65_537, 2_048)


def a_key(algorithm: str = "EdDSA", kid: str | None = "k1", number: int = 0) -> SigningKey:
    """A signing key."""
    family = "RSA" if algorithm[0] in "RP" else algorithm
    return SigningKey(algorithm, private_key(family, number), kid)


def an_issuer(**changes: Any) -> Issuer:
    """An issuer of the default tenant, as a directory configures it."""
    return Issuer(**{"iss": ISS, "tenant": "default", "audience": AUDIENCE, **changes})


def claims(**changes: Any) -> dict[str, Any]:
    """The claims of a good access token that lives for a quarter of an hour; ``...`` leaves one out."""
    good = {"iss": ISS, "sub": "u-1", "aud": AUDIENCE, "iat": T0_S, "exp": T0_S + 900}
    return {name: value for name, value in {**good, **changes}.items() if value is not ...}


def signed(
    payload: Mapping[str, Any] | bytes,
    key: SigningKey | None = None,
    header: Mapping[str, Any] | bytes | None = None,
    sign: Callable[[bytes], bytes] | None = None,
) -> str:
    """Anything, signed as a token. ``header`` is merged into a good one; bytes stand for themselves."""
    key = key or a_key()
    good = {"alg": key.algorithm, "typ": "at+jwt", "kid": key.kid}
    merged = {
        name: value
        for name, value in {**good, **(header if isinstance(header, Mapping) else {})}.items()
        if value is not ... and value is not None
    }
    head = header if isinstance(header, bytes) else json.dumps(merged).encode()
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    message = f"{base64url.encode(head)}.{base64url.encode(body)}"
    return f"{message}.{base64url.encode((sign or key.sign)(message.encode()))}"


OTHER = an_issuer(iss="https://id.example/other", audience="other")
"""One more issuer that is configured."""


def check(token: str, *keys: SigningKey, now_ms: int = T0_MS, **configured: Any) -> Proof:
    """What the token proves to us; ``configured`` is of the issuer."""
    issuers: Mapping[str, Issuer] = {ISS: an_issuer(**configured), OTHER.iss: OTHER}
    ring = ForeignKeys.from_jwks(json.dumps(jwks(*(keys or (a_key(),)))).encode())
    candidate = examine(token, issuers, now_ms=now_ms, leeway_s=5)
    return prove(candidate, ring.find(candidate.algorithm, candidate.kid))


def refused(token: str, *keys: SigningKey, now_ms: int = T0_MS, **configured: Any) -> str:
    """Why the token is refused."""
    with pytest.raises(ForeignInvalid) as caught:
        check(token, *keys, now_ms=now_ms, **configured)
    assert str(caught.value) == f"foreign token refused: {caught.value.reason}"
    return caught.value.reason


def jwks(*keys: SigningKey | dict[str, Any]) -> dict[str, Any]:
    """A JWK Set."""
    return {"keys": [key.jwk() if isinstance(key, SigningKey) else key for key in keys]}


class Server:
    """An issuer on this machine. ``documents`` may be changed at any time; ``asked`` are the paths so far."""

    def __init__(self) -> None:
        self.documents: Documents = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[str] = []
        self.url = ""

    def publish(self, *keys: SigningKey | dict[str, Any], **headers: str) -> None:
        """Show these keys, and the configuration that leads to them."""
        self.documents["/.well-known/openid-configuration"] = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
        }
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        self.documents["/keys"] = (200, told, json.dumps(jwks(*keys)).encode())

    def token(self, key: SigningKey | None = None, header: Any = None, **changes: Any) -> str:
        """A token of this issuer."""
        return signed(claims(**{"iss": self.url, "jti": secrets.token_hex(4), **changes}), key, header)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            self.asked.append(path)
            fields = (line.split(": ", 1) for line in head[1:] if line)
            self.headers.append({name.lower(): value for name, value in fields})
            length = int(self.headers[-1].get("content-length", 0))
            self.bodies.append((await reader.readexactly(length)).decode())
            found = self.documents.get(path, (404, {}, b""))
            if callable(found):
                await found(writer)
                return
            if not isinstance(found, tuple):
                found = (200, {}, json.dumps(found).encode())
            status, headers, body = found
            lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in headers.items())]
            lines += [f"content-length: {len(body)}", "connection: close", "", ""]
            writer.write("\r\n".join(lines).encode() + body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """A server of a test's own, on a free port."""
    server = Server()
    async with listening(server.answer, tls) as server.url:
        yield server
