"""Deciding what was shown, after a sign-in for that very decision where the rules ask for one."""

from litestar import Response
from msgspec import UNSET

from placet.application.code_flow import Flow
from placet.application.commands import Decide
from placet.application.inbox import refusal_of, steps_up
from placet.application.intents import Intent
from placet.application.sealing import random_secret
from placet.application.sessions import Session
from placet.domain.errors import (
    ApprovalNotFound,
    IssuerUnavailable,
    PlacetError,
    StoreUnavailable,
    Unauthenticated,
)
from placet.domain.model import Status, Verdict
from placet.domain.people import Issuer
from placet.web import card_pages, pages, words
from placet.web.common import Pages, go_on, notice, page
from placet.web.flows import flow_cookie
from placet.web.security import same
from placet.web.showing import NOTHING_DECIDED, Written, show_card, show_form


async def decide(
    use: Pages, session: Session, approval_id: str, body: Decide, text: str = ""
) -> Response[bytes]:
    """Decide, and go on to the card; where that does not do, the page it was decided on, and why.

    Args:
        use: What there is.
        session: Whose decision it is; with a sign-in for it, it is taken, else perhaps asked for first.
        approval_id: On what.
        body: The decision. It has to be of what this session was shown.
        text: The other input as it was written, of an approval with changes.
    """
    issuer = await _asks_again(use, session, approval_id, body)
    if issuer is not None:
        intent = Intent(approval=approval_id, body=body, text=text)
        state = random_secret()
        flow = use.sign_on.flow(
            issuer,
            f"/a/{approval_id}",
            state=state,
            nonce=use.intents.nonce(session, intent, state),
            intent=await use.intents.keep(session, intent),
        )
        return await leave(use, issuer, flow)
    try:
        await use.decide(session.caller, approval_id, body)
        if body.decision is Verdict.APPROVE:
            use.recent.add(session.caller, approval_id)
    except (Unauthenticated, ApprovalNotFound, StoreUnavailable):
        raise
    except PlacetError as error:
        intent = Intent(approval=approval_id, body=body, text=text)
        return await undecided(use, session, intent, error, error.status)
    return go_on(f"/a/{approval_id}")


async def undecided(
    use: Pages, session: Session, intent: Intent, problem: str | PlacetError, status: int
) -> Response[bytes]:
    """The page that a decision was taken on, with all that was written, and why it did not do."""
    body, comment = intent.body, intent.body.comment or ""
    if body.decision is not Verdict.EDIT:
        return await show_card(use, session, intent.approval, problem=problem, comment=comment, status=status)
    seen = await use.read.get(session.caller, intent.approval)
    if isinstance(problem, PlacetError):
        problem = words.undecided(problem, card_pages.presented(session, seen, card_pages.SHORT))
    written = Written(digest=body.digest, text=intent.text, comment=comment)
    return show_form(use, session, seen, written, problem, status)


async def leave(use: Pages, issuer: Issuer, flow: Flow) -> Response[bytes]:
    """Send somebody to an issuer. A page of ours does it: a form could not lead to wherever that leads on."""
    try:
        address = await use.sign_on.address(issuer, flow, back_at(use, issuer))
    except IssuerUnavailable:
        said = f"{label_of(issuer)} can't be reached. Try again in a moment."
        return notice(NOTHING_DECIDED if flow.intent else "You are not signed in", said, 503)
    answer = page(pages.leaving(address, label_of(issuer), is_step_up=bool(flow.intent)))
    answer.set_cookie(flow_cookie(use.origin, use.ring.sealer, flow))
    return answer


def back_at(use: Pages, issuer: Issuer) -> str:
    """Where an issuer sends people back to: an address of its own."""
    return f"{use.origin.public_url}/signin/{issuer.sign_in.name if issuer.sign_in else ''}"


def label_of(issuer: Issuer) -> str:
    """What people know an issuer by."""
    return issuer.sign_in.label if issuer.sign_in else issuer.iss


async def _asks_again(use: Pages, session: Session, approval_id: str, body: Decide) -> Issuer | None:
    """The issuer that has to ask somebody again before this can be decided.

    Where it would be refused anyway nobody is sent away for it.
    """
    caller, signer = session.caller, pages.signer_of(session)
    if body.decision is Verdict.REJECT or signer is None or caller.step_up is not UNSET:
        return None
    approval = (await use.read.get(caller, approval_id)).approval
    is_it = approval.status is Status.PENDING and same(body.digest, approval.digest)
    if not is_it or not steps_up(caller, approval):
        return None
    return signer if refusal_of(caller, approval, body.decision, body.comment) is None else None
