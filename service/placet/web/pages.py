"""The pages themselves: what is on each, from what the use cases found."""

import hashlib
import json
import re
from typing import Final

import msgspec
from msgspec import MsgspecError, Raw, Struct

from placet.application.inbox import refusal_of
from placet.application.query import Seen
from placet.application.sessions import Session
from placet.application.standing import standing_of
from placet.application.views import record_view
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import Forbidden
from placet.domain.model import Approval, Status, Verdict
from placet.domain.presentation import Budget, Card, Happenings, Severity, happened, present, seen_of
from placet.domain.presentation.edits import edits
from placet.domain.presentation.tree import tree
from placet.domain.tally import Tally
from placet.domain.text import visible
from placet.tokens.seal import Sealer
from placet.web.render import left, render
from placet.web.security import receipt, receipt_of_changes

_CARD = Budget(lines=2_000, columns=100, text_chars=4_000, items=64, whole_view=True)
"""Room for a card: all of any but the largest."""
ROW = Budget(lines=4, text_chars=200)
"""Room for a line of a list."""
_AGAIN = Budget(lines=16, columns=100, text_chars=300)
"""Room for the question that follows the card of a critical call."""
_STATE_CHARS: Final = 16
_HIDDEN: Final = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
_NOT_TO_CHANGE: Final = "The input of this request can't be changed: it is approved as it is, or not at all."


class Who(Struct, frozen=True):
    """Who has signed in, as pages show them."""

    name: str
    csrf: str


def state_of(*parts: object) -> str:
    """What a page is made from, in short: its script asks whether that is still so."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:_STATE_CHARS]


def _state(approval: Approval) -> str:
    return state_of(approval.status, approval.digest, len(approval.votes))


def who(session: Session) -> Who:
    """The person of a session."""
    principal = session.caller.principal
    voter = session.caller.authority.voter(principal)
    return Who(name=visible(voter.person.display_name or voter.person.id), csrf=session.csrf)


def card(
    session: Session, seen: Seen, sealer: Sealer, *, comment_max: int, problem: str = "", comment: str = ""
) -> bytes:
    """One question, whole, and the form to decide it."""
    approval = seen.approval
    shown = _presented(session, seen, _CARD)
    can_decide = approval.status is Status.PENDING and shown.digest is not None
    proof = None
    if can_decide and shown.can_approve_here:
        is_sure = shown.risk.severity is not Severity.CRITICAL
        proof = receipt(sealer, session.csrf, approval.ask.id, approval.digest, is_sure=is_sure)
    return render(
        "card.html",
        session=who(session),
        here="card",
        state=_state(approval),
        card=shown,
        can_decide=can_decide,
        happened=_happened(seen, shown),
        receipt=proof,
        can_edit=can_decide and _why_not_edit(session, approval, shown) is None,
        comment_max=comment_max,
        comment=comment,
        problem=problem,
        now_ms=approval.now_ms,
        left=lambda dies: left(dies, approval.now_ms),
    )


def again(session: Session, seen: Seen, sealer: Sealer, *, comment: str) -> bytes:
    """The question that follows the card of a critical call: who and how much, once more, no more."""
    approval = seen.approval
    return render(
        "again.html",
        session=who(session),
        here="card",
        state=_state(approval),
        card=_presented(session, seen, _AGAIN),
        receipt=receipt(sealer, session.csrf, approval.ask.id, approval.digest, is_sure=True),
        comment=comment,
        now_ms=approval.now_ms,
        left=lambda dies: left(dies, approval.now_ms),
    )


def edit(
    session: Session,
    seen: Seen,
    *,
    text: str | None,
    comment: str,
    comment_max: int,
    problem: str,
    why_not: str | None,
) -> bytes:
    """Where another input is written; for whoever may not, why, and what they had written."""
    shown, view = _presented(session, seen, _AGAIN), seen_of(_record(session, seen))
    return render(
        "edit.html",
        session=who(session),
        here="card",
        card=shown,
        text_now=_to_edit(view.input) if text is None and why_not is None else text or "",
        comment=comment,
        comment_max=comment_max,
        problem=problem,
        why_not=why_not,
        now_ms=seen.approval.now_ms,
        left=lambda dies: left(dies, seen.approval.now_ms),
    )


def preview(
    session: Session,
    seen: Seen,
    sealer: Sealer,
    *,
    changed: bytes,
    text: str,
    comment: str,
    problem: str,
) -> bytes:
    """What another input changes, and the form to approve it; not where there is no room for all of it."""
    approval, authority = seen.approval, session.caller.authority
    found = edits(seen_of(_record(session, seen)).input, Raw(changed), _CARD)
    made = tree(Raw(changed), _CARD, where="the new input")
    proof = None
    if not (found.was_cut or made.was_cut):
        proof = receipt_of_changes(sealer, session.csrf, approval.ask.id, approval.digest, changed)
    return render(
        "preview.html",
        session=who(session),
        here="card",
        card=_presented(session, seen, _AGAIN),
        edits=found,
        made=made,
        counts=authority.edit_counts(approval.ask, Tally.of(approval)),
        receipt=proof,
        written=text,
        comment=comment,
        problem=problem,
        now_ms=approval.now_ms,
        left=lambda dies: left(dies, approval.now_ms),
    )


def why_not_edit(session: Session, seen: Seen) -> str | None:
    """Why somebody may not approve a question with changes here; None where they may."""
    return _why_not_edit(session, seen.approval, _presented(session, seen, _CARD))


def _why_not_edit(session: Session, approval: Approval, shown: Card) -> str | None:
    if not shown.can_edit_here:
        return shown.why_not or _NOT_TO_CHANGE
    refusal = refusal_of(session.caller, approval, Verdict.EDIT)
    if isinstance(refusal, Forbidden) and refusal.reason is ForbiddenReason.DECISION_NOT_ALLOWED:
        return _NOT_TO_CHANGE
    return None if refusal is None else refusal.detail


def _to_edit(held: Raw) -> str:
    """An input as it is written on: every number as it came, and what would hide or mislead as an escape.

    Such characters stand in texts and names only, where JSON lets any be escaped.
    """
    laid_out = msgspec.json.format(bytes(held), indent=2).decode()
    return _HIDDEN.sub(lambda found: _escape(chr(int(found[1], 16))), visible(laid_out, multiline=True))


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]


def sign_in(next_: str, problem: str = "", session: Session | None = None) -> bytes:
    """Where somebody signs in, and goes on to ``next_``; ``session``: whoever has signed in already."""
    shown = None if session is None else who(session)
    return render("signin.html", session=shown, here="signin", next=next_, problem=problem)


def notice(title: str, words: str) -> bytes:
    """A page that says one thing."""
    return render("notice.html", session=None, here="", title=title, words=words)


def _presented(session: Session, seen: Seen, room: Budget) -> Card:
    return present(seen_of(_record(session, seen)), room)


def _record(session: Session, seen: Seen) -> Struct:
    standing = standing_of(session.caller.authority, seen.approval, seen.suspended)
    return record_view(seen.approval, seen.sight, standing)


def _happened(seen: Seen, shown: Card) -> Happenings | None:
    """The trail, where it can be told: what only it has must not take a card away that can be decided."""
    try:
        trail = seen.record.trail()
    except (ValueError, LookupError, MsgspecError):  # a later release may have written a line of it
        return None
    return happened(trail, shown, _CARD)
