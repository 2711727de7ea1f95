"""The pages themselves: what is on each, from what the use cases found."""

from msgspec import MsgspecError, Struct

from placet.application.query import Seen
from placet.application.sessions import Session
from placet.application.standing import standing_of
from placet.application.views import record_view
from placet.domain.model import Status
from placet.domain.presentation import (
    Budget,
    Card,
    Happenings,
    Severity,
    happened,
    present,
    seen_of,
)
from placet.domain.text import visible
from placet.tokens.seal import Sealer
from placet.web.render import left, render
from placet.web.security import receipt

_CARD = Budget(lines=2_000, columns=100, text_chars=4_000, items=64, whole_view=True)
"""Room for a card: all of any but the largest."""
ROW = Budget(lines=4, text_chars=200)
"""Room for a line of a list."""
_AGAIN = Budget(lines=16, columns=100, text_chars=300)
"""Room for the question that follows the card of a critical call."""


class Who(Struct, frozen=True):
    """Who has signed in, as pages show them."""

    name: str
    csrf: str


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
        card=shown,
        can_decide=can_decide,
        happened=_happened(seen, shown),
        receipt=proof,
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
        card=_presented(session, seen, _AGAIN),
        receipt=receipt(sealer, session.csrf, approval.ask.id, approval.digest, is_sure=True),
        comment=comment,
        now_ms=approval.now_ms,
        left=lambda dies: left(dies, approval.now_ms),
    )


def sign_in(next_: str, problem: str = "") -> bytes:
    """Where somebody signs in, and goes on to ``next_``."""
    return render("signin.html", session=None, here="signin", next=next_, problem=problem)


def notice(title: str, words: str, session: Session | None = None) -> bytes:
    """A page that says one thing."""
    return render(
        "notice.html", session=None if session is None else who(session), here="", title=title, words=words
    )


def _presented(session: Session, seen: Seen, room: Budget) -> Card:
    standing = standing_of(session.caller.authority, seen.approval, seen.suspended)
    return present(seen_of(record_view(seen.approval, seen.sight, standing)), room)


def _happened(seen: Seen, shown: Card) -> Happenings | None:
    """The trail, where it can be told: what only it has must not take a card away that can be decided."""
    try:
        trail = seen.record.trail()
    except (ValueError, LookupError, MsgspecError):  # a later release may have written a line of it
        return None
    return happened(trail, shown, _CARD)
