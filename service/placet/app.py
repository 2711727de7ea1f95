"""The application: the API's transport, and the public documents in Litestar."""

import logging
from collections.abc import Awaitable

from litestar import Litestar, Request, Response
from litestar.enums import HttpMethod, ScopeType
from litestar.exceptions import HTTPException
from litestar.middleware import DefineMiddleware
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from placet.api import documents
from placet.api.call import problem
from placet.api.hosts import Hosts
from placet.api.operations import UseCases
from placet.api.transport import Transport
from placet.bootstrap import Services
from placet.domain.errors import InternalError, MethodNotAllowed, PlacetError, RouteNotFound
from placet.observability.context import bound_request_id
from placet.settings import Settings
from placet.web import handlers
from placet.web.common import trouble, wants_page
from placet.web.handlers import Pages, Refused
from placet.web.pace import RecentApprovals
from placet.web.security import Origin

_log = logging.getLogger("placet.app")

_REQUEST_ID = b"x-request-id"
_REFUSAL = 400
"""From this status on."""


def create_app(services: Services, settings: Settings) -> ASGIApp:
    """The ASGI application over opened services. Reads no environment, opens and starts nothing."""
    use = UseCases(
        request=services.request,
        read=services.read,
        decide=services.decide,
        decide_many=services.decide_many,
        cancel=services.cancel,
        consume=services.consume,
        report=services.report,
        feed=services.feed,
        slack=services.slack_callback,
        bridges=services.bridges,
        limits=settings.limits,
    )
    hosts = Hosts(settings.server.accepted_hosts, services.clock)
    pages = Litestar(
        [
            *documents.handlers(settings, services.ring, services.readiness, services.clock),
            *handlers.handlers(_pages(services, settings)),
        ],
        openapi_config=None,
        logging_config=None,  # it would take the root logger over; observability.logs has it
        middleware=[DefineMiddleware(HostGuard, hosts=hosts)],
        exception_handlers={
            Refused: _answered,
            PlacetError: _refused,
            HTTPException: _refused,
            Exception: _failed,
        },
    )
    return Application(Transport(use, services.directory, services.clock, services.metrics, hosts), pages)


def _pages(services: Services, settings: Settings) -> Pages:
    return Pages(
        sessions=services.sessions,
        directory=services.directory,
        inbox=services.inbox,
        feed=services.feed,
        intents=services.intents,
        sign_on=services.sign_on,
        read=services.read,
        statistics=services.statistics,
        decide=services.decide,
        ring=services.ring,
        limits=settings.limits,
        origin=Origin(settings.server.public_url),
        recent=RecentApprovals(services.clock),
    )


def _answered(_request: Request, refusal: Refused) -> Response[bytes]:  # type: ignore[type-arg]
    return refusal.answer


class Application:
    """Hands ``/v1`` to the API's transport and everything else to Litestar.

    A mount inside Litestar would do the same at twice the transport's own cost per call.
    """

    def __init__(self, api: Transport, pages: Litestar) -> None:
        self._api = api
        self._pages = pages

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one connection scope."""
        if scope["type"] != ScopeType.HTTP:
            return self._pages(scope, receive, send)
        if f"{scope['path']}/".startswith("/v1/"):
            return self._api(scope, receive, send)  # type: ignore[arg-type] # Litestar's own ASGI types
        return self._page(scope, receive, send)

    async def _page(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        sent = [value.decode("latin-1") for name, value in scope["headers"] if name == _REQUEST_ID]
        with bound_request_id(sent[0] if len(sent) == 1 else None) as request_id:
            is_head = scope["method"] == HttpMethod.HEAD
            await self._pages(scope, receive, _answering(send, request_id, is_head=is_head))


def _answering(send: Send, request_id: str, *, is_head: bool) -> Send:
    """An answer as it goes out.

    A refusal names its request, by which it is found in the log. The answer to HEAD is that to GET, its
    length included, but no content (RFC 9110 §9.3.2).
    """

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] >= _REFUSAL:
            named = (_REQUEST_ID, request_id.encode())
            message = {**message, "headers": [*message["headers"], named]}
        elif message["type"] == "http.response.body" and is_head:
            message = {**message, "body": b""}
        await send(message)

    return answer


class HostGuard:
    """Answers only under names that are ours."""

    def __init__(self, app: ASGIApp, hosts: Hosts) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == ScopeType.HTTP:
            named = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
            self._hosts.check(named[0] if len(named) == 1 else None)
        await self._app(scope, receive, send)


def _refused(request: Request, error: Exception) -> Response[bytes]:  # type: ignore[type-arg]
    known = _known(error)
    return trouble(request, known) if wants_page(request) else _response(known)


def _failed(request: Request, error: Exception) -> Response[bytes]:  # type: ignore[type-arg]
    _log.error("a page failed in a way nobody foresaw", exc_info=error)
    return _refused(request, InternalError())


def _known(error: Exception) -> PlacetError:
    """The row of the error table for what Litestar, or we, refused with."""
    if isinstance(error, PlacetError):
        return error
    status = error.status_code if isinstance(error, HTTPException) else InternalError.status
    if status == MethodNotAllowed.status:
        headers = getattr(error, "headers", None) or {}
        return MethodNotAllowed(headers.get("allow", "").split(", "))
    return RouteNotFound() if status < InternalError.status else InternalError()


def _response(error: PlacetError) -> Response[bytes]:
    answer = problem(error)
    headers = {
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        **{name.decode(): value.decode() for name, value in answer.headers},
    }
    media_type = answer.content_type.decode()
    return Response(answer.body, status_code=answer.status, media_type=media_type, headers=headers)
