"""Calls to OIDC issuers: only where they are, only so much, only so long.

An address is asked once, without redirects: who an issuer is must not be for a third party to say. Over
https; plain http only on this machine, where the directory leads there or an issuer that is there itself. An
answer is read up to a bound, in a bounded time, and as it was sent: what is compressed could be without one.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import httpx
from msgspec import Struct

from placet.channels.trust import Trust
from placet.settings.parsing import is_loopback
from placet.tokens.strict_json import members_of

DOCUMENT_MAX_BYTES: Final = 256 * 1_024
"""A hundred times what usual documents have."""
DOCUMENT_TIMEOUT_S: Final = 5.0
"""For one document, from the first byte sent to the last one read."""

_OK: Final = 200
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "placet"}


class IssuerFault(Exception):  # noqa: N818 - what is wrong with an issuer, as RollSpoilt is with a roll
    """An issuer can't be used; the message says why, to operators."""


class Answer(Struct, frozen=True, kw_only=True):
    """What an issuer answered, from where."""

    url: str
    status: int
    headers: httpx.Headers
    document: bytes

    def members(self) -> dict[str, Any]:
        """Its members.

        Raises:
            IssuerFault: It is no JSON object.
        """
        try:
            return members_of(self.document)
        except ValueError:
            raise IssuerFault(f"{self.url} is no JSON object.") from None


class IssuerCalls:
    """Asks issuers.

    Args:
        timeout_s: For one answer.
    """

    def __init__(self, timeout_s: float = DOCUMENT_TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._trust = Trust()

    async def get(self, url: str, *, plain: bool) -> Answer:
        """A document; ``plain`` says whether http will do, on this machine.

        Raises:
            IssuerFault: It can't be had.
        """
        answer = await self._call("GET", url, plain=plain)
        if answer.status != _OK:
            raise IssuerFault(f"{url} answered {answer.status}, not {_OK}; redirects are not followed.")
        return answer

    async def post(
        self, url: str, form: Mapping[str, str], *, plain: bool, basic: tuple[str, str] | None = None
    ) -> Answer:
        """What is answered to a form, whatever its status.

        Args:
            url: Where it goes.
            form: Its fields.
            plain: Whether http will do, on this machine.
            basic: Name and password (RFC 7617), where that is how we say who we are.

        Raises:
            IssuerFault: There is no answer.
        """
        return await self._call("POST", url, plain=plain, form=form, basic=basic)

    async def _call(
        self,
        method: str,
        url: str,
        *,
        plain: bool,
        form: Mapping[str, str] | None = None,
        basic: tuple[str, str] | None = None,
    ) -> Answer:
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
                options["verify"] = where.scheme == "https" and await self._trust.context()
                async with (
                    httpx.AsyncClient(**options) as client,
                    client.stream(method, url, data=form, auth=basic) as answer,
                ):
                    document = await _read(url, answer)
        except TimeoutError:
            raise IssuerFault(f"{url} did not answer within {self._timeout_s:g} s.") from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as fault:
            raise IssuerFault(f"{url} can't be reached: {type(fault).__name__} {fault}.") from None
        return Answer(url=url, status=answer.status_code, headers=answer.headers, document=document)


async def _read(url: str, answer: httpx.Response) -> bytes:
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise IssuerFault(f"{url} answered in a compressed form that was not asked for.")
    document = bytearray()
    async for chunk in answer.aiter_raw():
        document += chunk
        if len(document) > DOCUMENT_MAX_BYTES:
            raise IssuerFault(f"{url} answered more than {DOCUMENT_MAX_BYTES} bytes.")
    return bytes(document)


def _admitted(url: str, *, plain: bool) -> SplitResult:
    """A URL that may be asked."""
    where = split(url)
    fits = where.scheme == "https" or (plain and where.scheme == "http" and is_loopback(where.hostname or ""))
    if not fits or not where.hostname or where.username is not None or where.fragment:
        raise IssuerFault(f"{url} is not asked: it must be https, or http on this machine as the issuer is.")
    return where


def split(url: str) -> SplitResult:
    """The parts of a URL.

    Raises:
        IssuerFault: It is none.
    """
    try:
        return urlsplit(url)
    except ValueError:
        raise IssuerFault(f"{url!r} is no URL.") from None
