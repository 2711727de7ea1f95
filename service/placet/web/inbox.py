"""The inbox of whoever has signed in."""

from collections.abc import Sequence

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler

from placet.application.sessions import Session
from placet.web import pages
from placet.web.common import Pages, get, page, signed_in


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""

    @get("/inbox")
    async def inbox(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        async def shown(session: Session) -> Response[bytes]:
            awaiting = await use.inbox.of(session.caller)
            now_ms = awaiting[0].now_ms if awaiting else 0
            return page(pages.inbox(session, awaiting, now_ms))

        return await signed_in(use, request, shown)

    return [inbox]
