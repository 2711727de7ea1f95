"""A card, and the decision on it as it was shown."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import UNSET

from placet.application.commands import Decide
from placet.application.inbox import is_critical, refusal_of
from placet.application.query import Seen
from placet.application.sessions import Session
from placet.domain.model import Status, Verdict
from placet.web import card_pages
from placet.web.common import (
    DIGEST,
    Pages,
    changing,
    comment_of,
    form_of,
    get,
    notice,
    page,
    post,
    signed_in,
)
from placet.web.deciding import decide
from placet.web.security import receipt, same
from placet.web.showing import show_card

_VERDICTS: Final = {each.value: each for each in (Verdict.APPROVE, Verdict.REJECT)}
_NOT_SHOWN: Final = "Nothing was decided: you were not shown the whole card. Here it is as it is now."


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""

    @get("/a/{approval_id:str}")
    async def card(request: Request, approval_id: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        is_whole = "all" in request.query_params

        async def shown(session: Session) -> Response[bytes]:
            return await show_card(use, session, approval_id, is_whole=is_whole)

        return await signed_in(use, request, shown)

    @post("/a/{approval_id:str}")
    async def decided_on(request: Request, approval_id: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await form_of(use, request)

        async def decided(session: Session) -> Response[bytes]:
            return await _decided(use, session, approval_id, fields)

        return await changing(use, request, decided, fields)

    return [card, decided_on]


async def _decided(use: Pages, session: Session, approval_id: str, fields: dict[str, str]) -> Response[bytes]:
    digest, comment = fields.get("digest", ""), comment_of(fields)
    verdict = _VERDICTS.get(fields.get("decision", ""))
    if verdict is None or not DIGEST.fullmatch(digest):
        return notice("Nothing was decided", "The form was not complete: open the card again.", 422)
    body = Decide(decision=verdict, digest=digest, comment=comment.strip() or None, approver=UNSET)
    if verdict is Verdict.REJECT:
        return await decide(use, session, approval_id, body)
    prove = partial(receipt, use.ring.sealer, session.csrf, approval_id, digest)
    brought = fields.get("receipt", "")
    if same(brought, prove(asked_again=True)):
        return await decide(use, session, approval_id, body)
    if not same(brought, prove(asked_again=False)):
        return await show_card(use, session, approval_id, problem=_NOT_SHOWN, comment=comment, status=409)
    seen = await use.read.get(session.caller, approval_id)
    if _is_asked_again(session, seen, body):
        return page(card_pages.again(session, seen, use.ring.sealer, comment=comment))
    return await decide(use, session, approval_id, body)


def _is_asked_again(session: Session, seen: Seen, body: Decide) -> bool:
    """Whether a question follows the card; not for what would be refused anyway, which is told at once."""
    approval, caller = seen.approval, session.caller
    is_as_shown = approval.status is Status.PENDING and same(body.digest, approval.digest)
    if not is_as_shown or not is_critical(caller, approval):
        return False
    return refusal_of(caller, approval, body.decision, body.comment) is None
