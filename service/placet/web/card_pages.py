"""The card, and the question that follows it where the call is critical."""

from collections.abc import Sequence
from typing import Final

from msgspec import MsgspecError, Struct

from placet.application.inbox import comment_rule, is_critical, refusal_of, said_by, steps_up
from placet.application.query import REJECTED_MAX, Seen
from placet.application.sessions import Session
from placet.application.standing import standing_of
from placet.application.views import record_view
from placet.domain.error_terms import ForbiddenReason
from placet.domain.errors import Forbidden, PlacetError
from placet.domain.model import Approval, Status, Verdict
from placet.domain.presentation import Budget, Card, Decided, Happenings, happened, present, seen_of
from placet.tokens.seal import Sealer
from placet.web.pages import ROW, signer_of, state_of, who
from placet.web.render import left, render
from placet.web.security import receipt
from placet.web.words import undecided, words_of

WHOLE = Budget(lines=2_000, columns=100, text_chars=4_000, items=64, whole_view=True)
"""Room for a card: all of any but the largest."""
SHORT = Budget(lines=16, columns=100, text_chars=300)
"""Room for what a page about a card begins with."""
_RUNS: Final = {
    Status.PENDING: "What would run",
    Status.APPROVED: "What would run",
    Status.CONSUMED: "What ran",
}
_NEVER_RUNS: Final = "What would have run"
_NOT_TO_CHANGE: Final = "The input of this request can't be changed: it is approved as it is, or not at all."


def card(
    session: Session,
    seen: Seen,
    sealer: Sealer,
    *,
    comment_max: int,
    before: Sequence[Seen] = (),
    problem: str | PlacetError = "",
    comment: str = "",
    is_whole: bool = False,
) -> bytes:
    """One question, whole, and the form to decide it.

    Args:
        session: Whoever looks.
        seen: The question.
        sealer: Makes the receipt of what they are shown.
        comment_max: How many characters a comment may have.
        before: What of this very digest was rejected, the latest asked for first.
        problem: What was wrong with the form before.
        comment: What they wrote there.
        is_whole: Whether all is shown, however much that is.
    """
    approval = seen.approval
    shown = presented(session, seen, Budget.boundless() if is_whole else WHOLE)
    can_decide = approval.status is Status.PENDING and shown.digest is not None
    said = said_by(session.caller, approval) if can_decide else None
    has_approved, has_changed = said is Verdict.APPROVE, said is Verdict.EDIT
    proof = None
    if can_decide and shown.can_approve_here and not (has_approved or has_changed):
        proof = receipt(sealer, session.csrf, approval.ask.id, approval.digest, asked_again=False)
    return render(
        "card.html",
        session=who(session),
        here="card",
        state=_state(approval),
        card=shown,
        input_title=_RUNS.get(approval.status, _NEVER_RUNS),
        can_decide=can_decide,
        before=_before(session, before),
        is_critical=is_critical(session.caller, approval),
        happened=_happened(seen, shown),
        afresh=_afresh(session, approval),
        receipt=proof,
        has_approved=has_approved,
        has_changed=has_changed,
        lacking=shown.quorum.required - shown.quorum.approved,
        comment_rule=comment_rule(session.caller, approval),
        can_edit=can_decide and not has_approved and _why_not_edit(session, approval, shown) is None,
        comment_max=comment_max,
        comment=comment,
        problem=undecided(problem, shown) if isinstance(problem, PlacetError) else problem,
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
        card=presented(session, seen, SHORT),
        receipt=receipt(sealer, session.csrf, approval.ask.id, approval.digest, asked_again=True),
        comment=comment,
        afresh=_afresh(session, approval),
        now_ms=approval.now_ms,
        left=lambda dies: left(dies, approval.now_ms),
    )


def why_not_edit(session: Session, seen: Seen) -> str | None:
    """Why somebody may not approve a question with changes here; None where they may."""
    return _why_not_edit(session, seen.approval, presented(session, seen, WHOLE))


def _why_not_edit(session: Session, approval: Approval, shown: Card) -> str | None:
    if not shown.can_edit_here:
        return shown.why_not or _NOT_TO_CHANGE
    refusal = refusal_of(session.caller, approval, Verdict.EDIT)
    if isinstance(refusal, Forbidden) and refusal.reason is ForbiddenReason.DECISION_NOT_ALLOWED:
        return _NOT_TO_CHANGE
    return None if refusal is None else words_of(refusal)


def presented(session: Session, seen: Seen, room: Budget) -> Card:
    """A card as this person sees it."""
    return present(seen_of(recorded(session, seen)), room)


def recorded(session: Session, seen: Seen) -> Struct:
    """A record as this person sees it."""
    standing = standing_of(session.caller.authority, seen.approval, seen.suspended)
    return record_view(seen.approval, seen.sight, standing)


class Before(Struct, frozen=True, kw_only=True):
    """What was rejected of a very call: how often, or more, and the last time, by whom."""

    id: str
    count: int
    is_more: bool
    last: Decided | None


def _before(session: Session, found: Sequence[Seen]) -> Before | None:
    if not found:
        return None
    latest = max(found, key=lambda each: max((cast.at_ms for cast in each.approval.votes), default=0))
    said = [each for each in presented(session, latest, ROW).decided if each.verdict == Verdict.REJECT]
    return Before(
        id=latest.approval.ask.id,
        count=len(found),
        is_more=len(found) == REJECTED_MAX,
        last=said[-1] if said else None,  # the rules of a later day may have closed it
    )


def _afresh(session: Session, approval: Approval) -> str | None:
    """With whom somebody signs in for their approval; ``None`` where they need not, or can't."""
    signer = signer_of(session) if steps_up(session.caller, approval) else None
    return None if signer is None or signer.sign_in is None else signer.sign_in.label


def _state(approval: Approval) -> str:
    return state_of(approval.status, approval.digest, len(approval.votes), approval.outcome is None)


def _happened(seen: Seen, shown: Card) -> Happenings | None:
    """The trail, where it can be told: what only it has must not take a card away that can be decided."""
    try:
        trail = seen.record.trail()
    except (ValueError, LookupError, MsgspecError):  # a later release may have written a line of it
        return None
    return happened(trail, shown, WHOLE)
