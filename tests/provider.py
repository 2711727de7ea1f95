"""An OIDC provider for tests: it signs in whomever a test says, as well or as badly as the test wants."""

import asyncio
import html
import json
import re
from base64 import b64decode
from collections.abc import Callable
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlencode, urlsplit

import httpx

from placet.tokens import base64url
from tests.browsing import Browser
from tests.factories import ManualClock
from tests.issuer import Server, SigningKey, a_key, signed

CLIENT_ID = "placet web"
SECRET = "s3cret/with:colon"
_HIDDEN = re.compile(r'<input type="hidden" name="([a-z]+)" value="([^"]*)"')


class Provider:
    """The provider.

    Args:
        server: Where it is.
        clock: When it signs people in.
    """

    def __init__(self, server: Server, clock: ManualClock) -> None:
        self.server = server
        self.clock = clock
        self.configured: dict[str, Any] = {}
        """Members of its configuration; ``...`` leaves one out."""
        self.claimed: dict[str, Any] = {}
        """Claims of the next ID tokens; ``...`` leaves one out."""
        self.key: SigningKey = a_key()
        self.token_answer: tuple[int, dict[str, str], bytes] | None = None
        self._codes: dict[str, dict[str, str]] = {}
        self.redeemed: list[dict[str, str]] = []
        self.publish()

    def publish(self) -> None:
        """Show its configuration and keys."""
        self.server.publish(self.key)
        url = self.server.url
        configuration = {
            **self.server.documents["/.well-known/openid-configuration"],
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "authorization_response_iss_parameter_supported": True,
            **self.configured,
        }
        shown = {name: value for name, value in configuration.items() if value is not ...}
        self.server.documents["/.well-known/openid-configuration"] = shown
        self.server.documents["/token"] = self._token

    def authorize(self, address: str, **changes: str) -> str:
        """What a person brings back who has signed in at this address: a query."""
        asked = dict(parse_qsl(urlsplit(address).query, strict_parsing=True))
        code = base64url.encode(sha256(address.encode()).digest())
        self._codes[code] = asked
        back = {"code": code, "state": asked["state"], "iss": self.server.url, **changes}
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    async def _token(self, writer: asyncio.StreamWriter) -> None:
        form = {name: values[0] for name, values in parse_qs(self.server.bodies[-1]).items()}
        scheme, _, said = self.server.headers[-1].get("authorization", "").partition(" ")
        if scheme == "Basic":
            name, _, password = b64decode(said).decode().partition(":")
            form |= {"client_id": unquote(name), "client_secret": unquote(password)}
        self.redeemed.append({**form, "scheme": scheme})
        status, headers, body = self.token_answer or self._answer(form)
        lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in headers.items())]
        lines += [f"content-length: {len(body)}", "connection: close", "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()

    def _answer(self, form: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        asked = self._codes.pop(form.get("code", ""), None)
        challenge = base64url.encode(sha256(form.get("code_verifier", "").encode()).digest())
        is_good = asked is not None and (
            challenge == asked["code_challenge"]
            and asked["code_challenge_method"] == "S256"
            and form.get("redirect_uri") == asked["redirect_uri"]
            and form.get("client_id") == asked["client_id"] == CLIENT_ID
            and form.get("grant_type") == "authorization_code"
        )
        if asked is None or not is_good:
            return 400, {}, b'{"error": "invalid_grant", "error_description": "PRIVATE"}'
        return 200, {}, json.dumps({"id_token": self.id_token(asked), "access_token": "unused"}).encode()

    def id_token(self, asked: dict[str, str]) -> str:
        """Who has signed in, to whoever asked so."""
        now_s = self.clock.now_ms() // 1_000
        claims = {
            "iss": self.server.url,
            "sub": "u-1",
            "aud": CLIENT_ID,
            "iat": now_s,
            "exp": now_s + 300,
            "nonce": asked["nonce"],
            "auth_time": now_s,
            **self.claimed,
        }
        kept = {name: value for name, value in claims.items() if value is not ...}
        return signed(kept, self.key, {"typ": ...})


def address_in(response: httpx.Response) -> str:
    """Where a page sends somebody on to."""
    assert response.status_code == 200, response.text
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]*)"', response.text)
    assert found is not None, response.text
    return html.unescape(found[1])


async def returned(browser: Browser, back: str, edit: Callable[..., Any] = dict) -> httpx.Response:
    """Come back with this, and go on from the page there."""
    where = urlsplit(back)
    page = await browser.get(f"{where.path}?{where.query}")
    if page.status_code == 401:  # this browser did not begin it
        return page
    assert (page.status_code, "set-cookie" in page.headers) == (200, False), page.text
    fields = {name: html.unescape(value) for name, value in _HIDDEN.findall(page.text)}
    return await browser.post(f"{where.path}/back", edit(fields))


async def signed_on(
    browser: Browser, provider: Provider, name: str = "login", onward: str = "/inbox"
) -> httpx.Response:
    """Sign in, all the way."""
    leaving = await browser.post(f"/signin/{name}", {"next": onward})
    return await returned(browser, provider.authorize(address_in(leaving)))
