"""Fetching what an OIDC issuer publishes: where its keys are, and the keys (OpenID Connect Discovery §4).

An address is asked once, without redirects: who an issuer is must not be for a third party to say. Over
https; plain http only on this machine, where the directory leads there or an issuer that is there itself. An
answer is read up to a bound, in a bounded time, and as it was sent: what is compressed could be without one.
"""

import asyncio
import re
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import httpx
from msgspec import Struct

from placet.domain.people import Issuer
from placet.settings.parsing import is_loopback
from placet.tokens.foreign_keys import ForeignKeys, KeySetError
from placet.tokens.strict_json import members_of

DOCUMENT_MAX_BYTES: Final = 256 * 1_024
"""A hundred times what usual documents have."""
DOCUMENT_TIMEOUT_S: Final = 5.0
"""For one document, from the first byte sent to the last one read."""

MAX_AGE_MIN_S: Final = 5 * 60
MAX_AGE_MAX_S: Final = 24 * 60 * 60
"""Keys are kept for as long as the answer may be (RFC 9111 §5.2.2.1), within these bounds."""

_DISCOVERY: Final = "/.well-known/openid-configuration"
_MAX_AGE: Final = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_UNCACHED: Final = re.compile(r"(?:^|[\s,])no-(?:store|cache)", re.IGNORECASE)
_OK: Final = 200
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "placet"}


class IssuerFault(Exception):  # noqa: N818 - what is wrong with an issuer, as RollSpoilt is with a roll
    """An issuer's keys can't be had; the message says why, to operators."""


class KeySet(Struct, frozen=True, kw_only=True):
    """An issuer's keys, and for how long they may be kept before it is asked again."""

    keys: ForeignKeys
    max_age_s: int


class IssuerDocuments:
    """Asks issuers.

    Args:
        timeout_s: For one document.
    """

    def __init__(self, timeout_s: float = DOCUMENT_TIMEOUT_S) -> None:
        self._timeout_s = timeout_s

    async def keys(self, issuer: Issuer) -> KeySet:
        """The issuer's keys, from where its directory entry or else its own configuration says.

        Raises:
            IssuerFault: They can't be had, or the configuration found is not this issuer's.
        """
        if issuer.jwks_url is not None:
            return await self._keys(issuer.jwks_url, plain=True)
        url = await self._discover(issuer)
        return await self._keys(url, plain=_split(issuer.iss).scheme == "http")

    async def _keys(self, url: str, *, plain: bool) -> KeySet:
        document, headers = await self._fetch(url, plain=plain)
        try:
            keys = ForeignKeys.from_jwks(document)
        except KeySetError as fault:
            raise IssuerFault(f"{url} gave no keys: {fault}.") from None
        return KeySet(keys=keys, max_age_s=_max_age_s(headers))

    async def _discover(self, issuer: Issuer) -> str:
        url = issuer.iss.removesuffix("/") + _DISCOVERY
        document, _ = await self._fetch(url, plain=True)
        try:
            found = members_of(document)
        except ValueError:
            raise IssuerFault(f"{url} is no JSON object.") from None
        if found.get("issuer") != issuer.iss:
            raise IssuerFault(f"{url} is of another issuer: its `issuer` must be {issuer.iss!r} exactly.")
        keys = found.get("jwks_uri")
        if not isinstance(keys, str):
            raise IssuerFault(f"{url} says nowhere where the keys are (`jwks_uri`).")
        return keys

    async def _fetch(self, url: str, *, plain: bool) -> tuple[bytes, httpx.Headers]:
        where = _admitted(url, plain=plain)
        options: dict[str, Any] = {
            # As the command line reaches a service: SSL_CERT_FILE counts everywhere, and a proxy of the
            # environment where there is one to be needed. Neither can read or change what TLS protects.
            "trust_env": not is_loopback(where.hostname or ""),
            "timeout": self._timeout_s,
            "follow_redirects": False,
            "headers": _HEADERS,
        }
        try:
            async with asyncio.timeout(self._timeout_s):
                if where.scheme == "https":  # 20 ms, in which others are served
                    options["verify"] = await asyncio.to_thread(httpx.create_ssl_context)
                async with httpx.AsyncClient(**options) as client, client.stream("GET", url) as answer:
                    return await _read(url, answer), answer.headers
        except TimeoutError:
            raise IssuerFault(f"{url} did not answer within {self._timeout_s:g} s.") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as fault:
            raise IssuerFault(f"{url} can't be reached: {type(fault).__name__} {fault}.") from None


async def _read(url: str, answer: httpx.Response) -> bytes:
    if answer.status_code != _OK:
        raise IssuerFault(f"{url} answered {answer.status_code}, not {_OK}; redirects are not followed.")
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise IssuerFault(f"{url} answered in a compressed form that was not asked for.")
    document = bytearray()
    async for chunk in answer.aiter_raw():
        document += chunk
        if len(document) > DOCUMENT_MAX_BYTES:
            raise IssuerFault(f"{url} answered more than {DOCUMENT_MAX_BYTES} bytes.")
    return bytes(document)


def _admitted(url: str, *, plain: bool) -> SplitResult:
    """A URL that may be asked; ``plain`` says whether http will do, on this machine."""
    where = _split(url)
    fits = where.scheme == "https" or (plain and where.scheme == "http" and is_loopback(where.hostname or ""))
    if not fits or not where.hostname or where.username is not None or where.fragment:
        raise IssuerFault(f"{url} is not asked: it must be https, or http on this machine as the issuer is.")
    return where


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise IssuerFault(f"{url!r} is no URL.") from None


def _max_age_s(headers: httpx.Headers) -> int:
    control = headers.get("cache-control", "")
    told = _MAX_AGE.search(control)
    if told is None or _UNCACHED.search(control):
        return MAX_AGE_MIN_S
    aged = headers.get("age", "")  # in a cache on the way (RFC 9111 §5.1)
    left_s = int(told[1]) - (int(aged) if re.fullmatch(r"[0-9]{1,10}", aged) else 0)
    return min(max(left_s, MAX_AGE_MIN_S), MAX_AGE_MAX_S)
