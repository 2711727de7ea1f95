"""The routes of the pages. GET and HEAD change nothing; a POST is a form of this session and this origin."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final

from litestar import HttpMethod, Request, Response, route
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Stream

from placet.application.callers import Caller
from placet.application.event_lines import CONTENT_TYPE, begun, last_entry
from placet.application.query import Filters
from placet.application.sessions import Session
from placet.domain.errors import PlacetError
from placet.web import card, edit, history, inbox, signing, single_sign_on, statistics
from placet.web.common import Pages, Refused, get, notice, signed_in
from placet.web.render import STATIC, stamp, static
from placet.web.security import HEADERS

__all__ = ["Pages", "Refused", "handlers"]

_FOREVER: Final = "public, max-age=31536000, immutable"


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """All of them."""
    return [
        *signing.handlers(use),
        *single_sign_on.handlers(use),
        *inbox.handlers(use),
        *history.handlers(use),
        *statistics.handlers(use),
        *card.handlers(use),
        *edit.handlers(use),
        _following(use),
        _files(),
    ]


def _files() -> HTTPRouteHandler:
    @get("/ui/{release:str}/{name:str}", sync_to_thread=False)
    def loaded(release: FromPath[str], name: FromPath[str]) -> Response[bytes]:
        if name not in STATIC or release != stamp():
            return notice(
                "Nothing is here", "The page that asked for this may be of an earlier release.", 404
            )
        headers = {"cache-control": _FOREVER, "x-content-type-options": "nosniff"}
        return Response(static(name), media_type=STATIC[name], headers=headers)

    return loaded


def _following(use: Pages) -> HTTPRouteHandler:
    @route("/ui/events", http_method=HttpMethod.GET)
    async def events(request: Request) -> Response[Any]:  # type: ignore[type-arg]
        async def followed(session: Session) -> Response[Any]:
            async def renewed() -> Caller:
                return (await use.sessions.find(session.held, is_used=False)).caller

            after = last_entry(request.headers.get("last-event-id"))
            stream = await begun(use.feed.follow(session.caller, Filters(), after, renewed))
            headers = {**HEADERS, "x-accel-buffering": "no"}
            return Stream(_quietly(stream), media_type=CONTENT_TYPE.decode(), headers=headers)

        return await signed_in(use, request, followed, is_used=False)

    return events


async def _quietly(stream: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """What it brings, until it ends, also where that is because nobody is signed in any more."""
    async with aclosing(stream):
        with suppress(PlacetError):
            async for chunk in stream:
                yield chunk
