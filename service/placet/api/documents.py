"""The public documents: key set, health, readiness, front page, error pages, the API and its reference.

None of them needs a credential, none tells anything of a tenant.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from typing import Any

from litestar import HttpMethod, MediaType, Response, route
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from placet.api import pages
from placet.api.call import encode
from placet.api.openapi import document
from placet.application.clock import Clock
from placet.application.readiness import Readiness
from placet.domain.errors import RouteNotFound
from placet.settings import Environment, Settings
from placet.tokens.jwks import JWKS_MAX_AGE_S, jwks
from placet.tokens.keyring import Keyring, KeyringError
from placet.tokens.keyring_file import KeyringFile

JSON = "application/json"
HTML_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}

_at = partial(route, http_method=(HttpMethod.GET, HttpMethod.HEAD))
"""HEAD wherever GET is (RFC 9110 §9.3.2); the application leaves the content of its answers out."""


def handlers(
    settings: Settings, ring: KeyringFile, readiness: Readiness, clock: Clock
) -> Sequence[HTTPRouteHandler]:
    """The handlers; the reference page only where it is not production."""
    return [*_for_machines(ring, readiness, clock), *_for_readers(settings)]


def _for_machines(ring: KeyringFile, readiness: Readiness, clock: Clock) -> Sequence[HTTPRouteHandler]:
    @_at("/.well-known/jwks.json", sync_to_thread=False)
    def key_set() -> Response[bytes]:
        headers = {"cache-control": f"public, max-age={JWKS_MAX_AGE_S}"}
        return Response(
            jwks(_current(ring), now_ms=clock.now_ms(), revoked=ring.revoked),
            media_type="application/jwk-set+json",
            headers=headers,
        )

    @_at("/healthz", sync_to_thread=False)
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @_at("/readyz")
    async def ready() -> Response[dict[str, Any]]:
        faults = await readiness.faults()
        content = {"status": "unready" if faults else "ready", "faults": faults}
        return Response(content, status_code=503 if faults else 200, headers={"cache-control": "no-store"})

    return [key_set, health, ready]


def _for_readers(settings: Settings) -> Sequence[HTTPRouteHandler]:
    @cache
    def described() -> bytes:
        return encode(document(settings.server.public_url, settings.limits))

    @_at("/openapi.json", sync_to_thread=False)
    def openapi() -> Response[bytes]:
        return Response(described(), media_type=JSON)

    has_reference = settings.server.environment is not Environment.PRODUCTION

    @_at("/", sync_to_thread=False)
    def front() -> Response[str]:
        return _page(pages.front(with_reference=has_reference))

    @_at("/errors", sync_to_thread=False)
    def error_index() -> Response[str]:
        return _page(pages.error_index())

    @_at("/errors/{code:str}", sync_to_thread=False)
    def error_page(code: FromPath[str]) -> Response[str]:
        page = pages.error_page(code)
        if page is None:
            raise RouteNotFound
        return _page(page)

    @_at("/reference", sync_to_thread=False)
    def reference() -> Response[str]:
        return _page(pages.reference())

    return [openapi, front, error_index, error_page, *([reference] if has_reference else [])]


def _current(ring: KeyringFile) -> Keyring:
    """The keyring as its file is now; where that can't be read, the one in use: readiness tells of it."""
    with suppress(KeyringError):
        ring.refresh()
    return ring.ring


def _page(html: str) -> Response[str]:
    return Response(html, media_type=MediaType.HTML, headers=HTML_HEADERS)
