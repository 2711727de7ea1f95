"""The inbox of whoever has signed in, and what is done from there."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from msgspec import UNSET

from placet.application.commands import Decide
from placet.application.sessions import Session
from placet.domain.errors import PlacetError, StoreUnavailable
from placet.domain.limits import ID_PATTERN
from placet.domain.model import Verdict
from placet.web import inbox_pages
from placet.web.common import (
    DIGEST,
    Pages,
    changing,
    comment_of,
    form_of,
    get,
    go_on,
    notice,
    page,
    post,
    signed_in,
)
from placet.web.inbox_pages import NARROWED, Outcome, Wanted
from placet.web.security import HEADERS
from placet.web.words import undecided

_ID: Final = re.compile(ID_PATTERN)
_PAGE: Final = re.compile("[1-9][0-9]{0,3}")
_MOMENT: Final = re.compile("[0-9]{1,15}")
_CHOSEN: Final = "chosen-"
"""Before the id of an approval: the name of a field whose value is the digest that was shown."""


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""
    return [*_looking(use), _rejecting(use)]


def _looking(use: Pages) -> Sequence[HTTPRouteHandler]:
    @get("/inbox")
    async def inbox(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        async def shown(session: Session) -> Response[bytes]:
            awaiting = await use.inbox.of(session.caller)
            most = use.limits.comment_max_chars
            wanted, haste = _wanted(request.query_params), use.recent.hasty(session.caller)
            return page(inbox_pages.inbox(session, awaiting, wanted, comment_max=most, haste=haste))

        return await signed_in(use, request, shown)

    @get("/ui/inbox")
    async def news(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        since = request.query_params.get("since", "")
        since_ms = int(since) if _MOMENT.fullmatch(since) else 0

        async def told(session: Session) -> Response[bytes]:
            awaiting = await use.inbox.of(session.caller)
            body = inbox_pages.news(awaiting, _wanted(request.query_params), since_ms)
            return Response(body, media_type="application/json", headers=dict(HEADERS))

        return await signed_in(use, request, told, is_used=False)

    @get("/next")
    async def next_(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        async def first(session: Session) -> Response[bytes]:
            awaiting = (await use.inbox.of(session.caller)).approvals
            return go_on(f"/a/{awaiting[0].ask.id}" if awaiting else "/inbox")

        return await signed_in(use, request, first)

    return [inbox, news, next_]


def _rejecting(use: Pages) -> HTTPRouteHandler:
    @post("/inbox")
    async def reject(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await form_of(use, request)
        chosen = {
            name.removeprefix(_CHOSEN): digest for name, digest in fields.items() if name.startswith(_CHOSEN)
        }
        comment = comment_of(fields).strip() or None
        done: dict[str, Outcome] = {}  # outlives a page that has to be judged anew

        async def rejected(session: Session) -> Response[bytes]:
            if not chosen:
                return notice("Nothing was done", "No question was chosen: tick those that you reject.", 422)
            for approval_id, digest in chosen.items():
                if approval_id not in done:
                    done[approval_id] = await _rejected(use, session, approval_id, digest, comment)
            return page(inbox_pages.rejected(session, list(done.values())))

        return await changing(use, request, rejected, fields)

    return reject


async def _rejected(
    use: Pages, session: Session, approval_id: str, digest: str, comment: str | None
) -> Outcome:
    """Reject one of several; what is said of it."""
    if not (_ID.fullmatch(approval_id) and DIGEST.fullmatch(digest)):
        return Outcome(id="", problem="The form was not complete: open the inbox again.")
    body = Decide(decision=Verdict.REJECT, digest=digest, comment=comment, approver=UNSET)
    try:
        seen = await use.decide(session.caller, approval_id, body)
    except StoreUnavailable:  # what came of those before it has to be said all the same
        return Outcome(id=approval_id, problem="Whether this was rejected is not known: open it to see.")
    except PlacetError as error:
        return Outcome(id=approval_id, problem=undecided(error))
    return Outcome(id=approval_id, approval=seen)


def _wanted(query: Mapping[str, str]) -> Wanted:
    number = query.get("page", "")
    return Wanted(
        **{name: query.get(name, "") for name in NARROWED},
        page=int(number) if _PAGE.fullmatch(number) else 1,
    )
