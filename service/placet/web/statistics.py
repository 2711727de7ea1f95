"""How much is decided, how fast, and what expires: of what whoever has signed in may see."""

from collections.abc import Sequence
from typing import Final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler

from placet.application.sessions import Session
from placet.web import statistics_pages
from placet.web.common import Pages, get, notice, page, signed_in

_DAYS: Final = {str(each): each for each in statistics_pages.DAYS}


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""

    @get("/statistics")
    async def statistics(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        days = _DAYS.get(request.query_params.get("days", str(statistics_pages.DAYS[0])))

        async def shown(session: Session) -> Response[bytes]:
            if days is None:
                return notice("There are no such statistics", "They are of 7 days, or of 30.", 422)
            counted = await use.statistics.of(session.caller, days)
            return page(statistics_pages.statistics(session, counted, days))

        return await signed_in(use, request, shown)

    return [statistics]
