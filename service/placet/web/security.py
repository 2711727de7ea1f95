"""What keeps a page from being used against whoever has signed in.

- The session's cookie is out of reach of scripts and is sent by this site's own pages only; over https it is
  bound to this very host (``__Host-``, RFC 6265bis §4.1.3.2). The name that is used without TLS, on loopback
  alone, is taken nowhere else.
- What changes anything is a POST of a form that was made for this session, from a page of this origin: both
  are looked at.
- Pages run this service's own scripts and styles, load nothing else, and are shown in no other page.
"""

import hmac
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, urlsplit

from litestar.datastructures import Cookie

from placet.domain.canonical import sha256_hex
from placet.settings.parsing import is_loopback
from placet.tokens.seal import Sealer

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "referrer-policy": "same-origin",  # without one, browsers send no Origin with a form
    "cross-origin-opener-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
"""Of every page."""

_SHOWN: Final = "receipt"
_ASKED: Final = "receipt-asked"
_CHANGED: Final = "receipt-changed"
_FORWARDED: Final = re.compile(
    "forwarded|via|x-real-ip|x-client-ip|x-cluster-client-ip|x-forwarded-.*|x-original-.*|x-envoy-.*"
    "|cf-connecting-ip|true-client-ip|fastly-client-ip"
)
"""Headers that proxies add."""


class Origin:
    """Where the pages are, and what follows for cookies and forms.

    Args:
        public_url: Scheme, host and port under which they are reached.
    """

    def __init__(self, public_url: str) -> None:
        parts = urlsplit(public_url)
        self.public_url = public_url
        self.public = _as_browsers_say(parts)
        self.is_secure = parts.scheme == "https"
        # A browser sends cookies to every port of a host: two services on one machine have two names.
        self.cookie = "__Host-placet" if self.is_secure else f"placet-{parts.port or 80}"

    def is_here(self, host: str | None, headers: Iterable[str]) -> bool:
        """Whether a request comes from a browser on this very machine, as far as it can tell.

        Args:
            host: The name that it was sent to.
            headers: The names of its headers: with one that a proxy adds it may come from anywhere.
        """
        names = (host or "", urlsplit(self.public).hostname or "")
        return all(map(is_loopback, names)) and not any(map(_FORWARDED.fullmatch, headers))

    def cookie_of(self, suffix: str, value: str, *, max_age_s: int | None = None) -> Cookie:
        """A cookie for pages of this origin, out of reach of scripts.

        Args:
            suffix: What is added to the name of a session's.
            value: What it holds.
            max_age_s: How long the browser keeps it: until it is closed where that is ``None``; 0 ends it.
        """
        return Cookie(
            key=f"{self.cookie}{suffix}",
            value=value,
            max_age=max_age_s,
            path="/",
            httponly=True,
            samesite="lax",
            secure=self.is_secure,
        )

    def sent_it(self, origin: str | None, site: str | None) -> bool:
        """Whether a request that changes something came from a page of ours.

        Args:
            origin: Its ``Origin``; browsers send one with every POST (RFC 6454 §7.3).
            site: Its ``Sec-Fetch-Site``, of browsers that send one (W3C Fetch Metadata).
        """
        return origin == self.public and site in {None, "same-origin"}


def _as_browsers_say(url: SplitResult) -> str:
    """The origin of a URL: without a port that its scheme has anyway, addresses in their short form.

    WHATWG HTML, "serialization of an origin"; WHATWG URL, "IPv6 serializer".
    """
    name, default = url.hostname or "", {"http": 80, "https": 443}[url.scheme]
    with suppress(ValueError):
        name = ip_address(name).compressed
    shown = f"[{name}]" if ":" in name else name
    return f"{url.scheme}://{shown}" + ("" if url.port in {None, default} else f":{url.port}")


def same(presented: str, expected: str) -> bool:
    """Whether two secrets are one, in time that does not tell how nearly."""
    return hmac.compare_digest(presented.encode("utf-8", "surrogatepass"), expected.encode())


def receipt(sealer: Sealer, csrf: str, approval_id: str, digest: str, *, asked_again: bool) -> str:
    """Proof that this session was shown the whole card of this digest. An approval has to bring one.

    Args:
        sealer: Makes it.
        csrf: The session.
        approval_id: The approval.
        digest: Of what was shown.
        asked_again: Whether it was shown the question, too, that follows the card of a critical call.
    """
    return sealer.seal(_ASKED if asked_again else _SHOWN, (csrf, approval_id, digest))


def receipt_of_changes(sealer: Sealer, csrf: str, approval_id: str, digest: str, changed: bytes) -> str:
    """Proof that this session was shown what another input changes.

    Args:
        sealer: Makes it.
        csrf: The session.
        approval_id: The approval.
        digest: Of what would be changed.
        changed: The other input, in canonical form.
    """
    return sealer.seal(_CHANGED, (csrf, approval_id, digest, sha256_hex(changed)))
