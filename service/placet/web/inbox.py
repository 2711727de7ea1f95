"""The inbox of whoever has signed in, and what is done from there."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from msgspec import UNSET, Struct

from placet.application.commands import Decide
from placet.application.inbox import is_critical, steps_up
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
from placet.web.security import HEADERS, receipt, same
from placet.web.words import undecided

_ID: Final = re.compile(ID_PATTERN)
_PAGE: Final = re.compile("[1-9][0-9]{0,3}")
_MOMENT: Final = re.compile("[0-9]{1,15}")
_CHOSEN: Final = "chosen-"
"""Before the id of an approval: the name of a field whose value is the digest that was shown."""
_RECEIPT: Final = "receipt-"
"""Likewise: that the whole card was."""
_VERDICTS: Final = {each.value: each for each in (Verdict.APPROVE, Verdict.REJECT)}


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""
    return [*_looking(use), _deciding(use)]


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


def _deciding(use: Pages) -> HTTPRouteHandler:
    @post("/inbox")
    async def decide(request: Request) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await form_of(use, request)
        verdict = _VERDICTS.get(fields.get("decision", ""))
        chosen = [
            _Choice(
                id=name.removeprefix(_CHOSEN),
                digest=digest,
                receipt=fields.get(_RECEIPT + name.removeprefix(_CHOSEN), ""),
            )
            for name, digest in fields.items()
            if name.startswith(_CHOSEN)
        ]
        comment = comment_of(fields).strip() or None
        done: dict[str, Outcome] = {}  # outlives a page that has to be judged anew

        async def decided(session: Session) -> Response[bytes]:
            if not chosen or verdict is None:
                return notice("Nothing was done", "No question was chosen: tick those you decide.", 422)
            for each in chosen:
                if each.id not in done:
                    done[each.id] = await _decided(use, session, each, verdict, comment)
            return page(inbox_pages.several(session, verdict, list(done.values())))

        return await changing(use, request, decided, fields)

    return decide


class _Choice(Struct, frozen=True, kw_only=True):
    """One of several: what was ticked, and the receipt that its card was shown."""

    id: str
    digest: str
    receipt: str


async def _decided(
    use: Pages, session: Session, chosen: _Choice, verdict: Verdict, comment: str | None
) -> Outcome:
    """Decide one of several; what is said of it."""
    if not (_ID.fullmatch(chosen.id) and DIGEST.fullmatch(chosen.digest)):
        return Outcome(id="", problem="The form was not complete: open the inbox again.")
    body = Decide(decision=verdict, digest=chosen.digest, comment=comment, approver=UNSET)
    try:
        why_not = await _why_not_here(use, session, chosen) if verdict is Verdict.APPROVE else None
        if why_not is not None:
            return Outcome(id=chosen.id, problem=why_not)
        seen = await use.decide(session.caller, chosen.id, body)
    except StoreUnavailable:  # what came of those before it has to be said all the same
        return Outcome(id=chosen.id, problem="Whether this was decided is not known: open it to see.")
    except PlacetError as error:
        return Outcome(id=chosen.id, problem=undecided(error))
    return Outcome(id=chosen.id, approval=seen)


async def _why_not_here(use: Pages, session: Session, chosen: _Choice) -> str | None:
    """Why something is approved on its card alone; ``None`` where it can be with others."""
    proof = receipt(use.ring.sealer, session.csrf, chosen.id, chosen.digest, asked_again=False)
    if not same(chosen.receipt, proof):
        return "You were not shown the whole card: open it."
    approval = (await use.read.get(session.caller, chosen.id)).approval
    if is_critical(session.caller, approval):
        return "It is of critical risk: open it, and approve it there."
    if steps_up(session.caller, approval):
        return "It takes a sign-in of its own: open it, and approve it there."
    return None


def _wanted(query: Mapping[str, str]) -> Wanted:
    number = query.get("page", "")
    return Wanted(
        **{name: query.get(name, "") for name in NARROWED},
        page=int(number) if _PAGE.fullmatch(number) else 1,
    )
