"""Approving with changes: where another input is written, and what it changes."""

import json
import re
from typing import Final

import msgspec
from msgspec import Raw

from placet.application.query import Seen
from placet.application.sessions import Session
from placet.domain.presentation import seen_of
from placet.domain.presentation.edits import edits
from placet.domain.presentation.tree import tree
from placet.domain.tally import Tally
from placet.domain.text import visible
from placet.tokens.seal import Sealer
from placet.web.card_pages import SHORT, WHOLE, presented, recorded
from placet.web.pages import who
from placet.web.render import left, render
from placet.web.security import receipt_of_changes

_HIDDEN: Final = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")


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
    shown, view = presented(session, seen, SHORT), seen_of(recorded(session, seen))
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
    found = edits(seen_of(recorded(session, seen)).input, Raw(changed), WHOLE)
    made = tree(Raw(changed), WHOLE, where="the new input")
    proof = None
    if not (found.was_cut or made.was_cut):
        proof = receipt_of_changes(sealer, session.csrf, approval.ask.id, approval.digest, changed)
    return render(
        "preview.html",
        session=who(session),
        here="card",
        card=presented(session, seen, SHORT),
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


def _to_edit(held: Raw) -> str:
    """An input as it is written on: every number as it came, and what would hide or mislead as an escape.

    Such characters stand in texts and names only, where JSON lets any be escaped.
    """
    laid_out = msgspec.json.format(bytes(held), indent=2).decode()
    return _HIDDEN.sub(lambda found: _escape(chr(int(found[1], 16))), visible(laid_out, multiline=True))


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1]
