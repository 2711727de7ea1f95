"""Signing in with an issuer: there, and back with what it says, for a session or for one decision.

The address that an issuer sends people back to changes nothing: whatever follows links by itself may open it.
Its page sends on, from this browser, what it was given.
"""

from collections.abc import Sequence
from typing import Any, Final

from litestar import Request, Response
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from msgspec import UNSET, structs

from placet.application.code_flow import Flow
from placet.application.directory import NobodyYet
from placet.application.sessions import Session
from placet.application.sign_on import NotSignedOn, Returned, SignedOn
from placet.domain.errors import IssuerUnavailable, PlacetError, Unauthenticated
from placet.domain.people import Issuer
from placet.web import pages
from placet.web.common import (
    Pages,
    Refused,
    address_of,
    came_from,
    form_of,
    get,
    go_on,
    is_private,
    notice,
    page,
    post,
    safe_next,
    session_of,
    signed_in,
    trouble,
)
from placet.web.deciding import back_at, decide, label_of, leave, undecided
from placet.web.flows import ended, flow_of
from placet.web.showing import NOTHING_DECIDED

_RETURNED: Final = tuple(field.name for field in structs.fields(Returned))
_BEGUN_ELSEWHERE: Final = "This sign-in was not begun in this browser, or is over already. Begin it again."
_SOMEBODY_ELSE: Final = "You signed in as somebody else: this page is of another person."


def handlers(use: Pages) -> Sequence[HTTPRouteHandler]:
    """The routes."""

    @post("/signin/{name:str}")
    async def begin(request: Request, name: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await form_of(use, request)
        issuer = await _issuer(use, name)
        if not is_private(use, request):
            words = "Signing in takes https. Ask whoever runs the service for its address."
            return notice("You are not signed in", words, 403)
        onward = safe_next(fields.get("next") or came_from(use, request))
        return await leave(use, issuer, use.sign_on.flow(issuer, onward))

    @get("/signin/{name:str}")
    async def back(request: Request, name: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        issuer = await _issuer(use, name)
        brought = {each: request.query_params.get(each, "") for each in (*_RETURNED, "state")}
        flow = flow_of(use.origin, use.ring.sealer, request, brought["state"])
        if flow is None or flow.iss != issuer.iss:  # whoever leads a browser here gets nothing sent from it
            return _signing_in(use, "/inbox", _BEGUN_ELSEWHERE)
        return page(pages.returning(name, brought))

    @post("/signin/{name:str}/back")
    async def finish(request: Request, name: FromPath[str]) -> Response[bytes]:  # type: ignore[type-arg]
        fields = await form_of(use, request)
        issuer = await _issuer(use, name)
        flow = flow_of(use.origin, use.ring.sealer, request, fields.get("state", ""))
        if flow is None or flow.iss != issuer.iss:
            return _signing_in(use, "/inbox", _BEGUN_ELSEWHERE)
        returned = Returned(**{each: fields.get(each, "") for each in _RETURNED})
        try:
            if flow.intent:
                answer = await _decided(use, request, issuer, flow, returned)
            else:
                answer = await _begun(use, request, issuer, flow, returned)
        except PlacetError as error:
            answer = trouble(request, error)
        answer.set_cookie(ended(use.origin, flow))
        return answer

    return [begin, back, finish]


async def _issuer(use: Pages, name: str) -> Issuer:
    """The issuer that is called so here.

    Raises:
        Refused: There is none.
    """
    try:
        issuer = await use.directory.sign_in(name)
    except NobodyYet:
        words = "No agent can ask for anything yet, so there is nothing to decide. Come back once one can."
        raise Refused(notice("Nothing is here yet", words, 404)) from None
    if issuer is None:
        raise Refused(notice("Nothing is here", "Nobody signs in this way.", 404))
    return issuer


def _signing_in(use: Pages, onward: str, problem: str, status: int = 401) -> Response[bytes]:
    return page(pages.sign_in(onward, use.directory.sign_ins, problem), status)


async def _begun(
    use: Pages,
    request: Request,  # type: ignore[type-arg]
    issuer: Issuer,
    flow: Flow,
    returned: Returned,
) -> Response[bytes]:
    """A session of whoever has signed in; one that the browser had is over."""
    former, source = await session_of(use, request), address_of(request)
    try:
        signed = await use.sign_on.finish(issuer, flow, back_at(use, issuer), returned, source)
        held = await use.sessions.begin(issuer, signed.proof, former)
    except NotSignedOn as why:
        return _signing_in(use, flow.onward, why.told(label_of(issuer)))
    except Unauthenticated:
        problem = f"{label_of(issuer)} says who you are, and nobody of this service is called so."
        return _signing_in(use, flow.onward, problem, 403)
    except IssuerUnavailable:
        problem = f"{label_of(issuer)} can't be reached. Try again in a moment."
        return _signing_in(use, flow.onward, problem, 503)
    if former is not None:
        await use.sessions.end(former.held)
    answer = go_on(flow.onward)
    answer.set_cookie(use.origin.cookie_of("", held))
    return answer


async def _decided(
    use: Pages,
    request: Request,  # type: ignore[type-arg]
    issuer: Issuer,
    flow: Flow,
    returned: Returned,
) -> Response[bytes]:
    """The decision that somebody has just signed in for, in the session that it was made in."""
    session = await session_of(use, request)
    intent = None if session is None else await use.intents.take(session, flow.intent)
    if session is None or intent is None:
        words = "You are signed in no more, or this was decided already. Open the card again."
        return notice(NOTHING_DECIDED, words, 403)
    # What the issuer has to say back is made again from what would be decided, and not taken from the flow.
    bound = structs.replace(flow, nonce=use.intents.nonce(session, intent, flow.state))
    signed, problem = await _signed(use, issuer, bound, returned, address_of(request))

    async def done(now: Session) -> Response[Any]:
        afresh = None if signed is None else _afresh(now, signed)
        if afresh is None:
            said = _SOMEBODY_ELSE if signed is not None else problem
            return await undecided(use, now, intent, f"{NOTHING_DECIDED}. {said}", 409)
        return await decide(use, afresh, intent.approval, intent.body, intent.text)

    return await signed_in(use, request, done)


async def _signed(
    use: Pages, issuer: Issuer, flow: Flow, returned: Returned, source: str
) -> tuple[SignedOn | None, str]:
    """Who has just signed in, or why nobody has."""
    try:
        return await use.sign_on.finish(issuer, flow, back_at(use, issuer), returned, source), ""
    except NotSignedOn as why:
        return None, why.told(label_of(issuer))
    except IssuerUnavailable:
        return None, f"{label_of(issuer)} can't be reached. Try again in a moment."


def _afresh(session: Session, signed: SignedOn) -> Session | None:
    """The session as of what the issuer has just said; ``None`` where it said that of somebody else.

    The decision is judged by that and sealed with it: by the groups and the names of now.
    """
    word, caller = session.signed_in.vouched, session.caller
    principal = caller.authority.vouched(signed.proof.vouched, signed.proof.name)
    is_same = word is not None and word.subject == signed.proof.vouched.subject
    if not is_same or principal is None or principal.id != caller.name:
        return None
    step_up = UNSET if signed.step_up is None else signed.step_up
    return structs.replace(session, caller=structs.replace(caller, principal=principal, step_up=step_up))
