"""Signing in with a link, and out."""

from collections.abc import Sequence
from typing import Final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler

from placet.application.sessions import Session
from placet.domain.errors import PlacetError, Unauthenticated
from placet.web import pages
from placet.web.common import (
    Pages,
    changing,
    form_of,
    get,
    go_on,
    is_here,
    notice,
    page,
    post,
    safe_next,
    session_of,
    trouble,
)

_NO_LINKS: Final = "Links sign nobody in here any more: sign in as below."


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""

    @get("/signin")
    async def form(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        onward = safe_next(request.query_params.get("next", ""))
        return page(pages.sign_in(onward, use.directory.sign_ins, session=await session_of(use, request)))

    @post("/signin")
    async def sign_in(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await form_of(use, request)
        onward = safe_next(fields.get("next", ""))
        if use.directory.sign_ins:
            return page(pages.sign_in(onward, use.directory.sign_ins, _NO_LINKS), 403)
        if not is_here(use, request):
            words = "A link like this signs in on the machine that the service runs on, and nowhere else."
            return notice("Nothing was done", words, 403)
        former = await session_of(use, request)
        try:
            held = await use.sessions.redeem(fields.get("secret", "").strip())
        except Unauthenticated:
            problem = "This link was used already, is older than five minutes, or is none. Ask for another."
            return page(pages.sign_in(onward, (), problem), 401)
        except PlacetError as error:
            return trouble(request, error)
        if former is not None:
            await use.sessions.end(former.held)
        answer = go_on(onward)
        answer.set_cookie(use.origin.cookie_of("", held))
        return answer

    @post("/signout")
    async def sign_out(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        async def leave(session: Session) -> Response[bytes]:
            await use.sessions.end(session.held)
            answer = go_on("/signin")
            answer.set_cookie(use.origin.cookie_of("", "", max_age_s=0))
            return answer

        return await changing(use, request, leave)

    return [form, sign_in, sign_out]
