"""The pages that decisions are taken on, shown again: with what was written, and why it did not do."""

from collections.abc import Sequence

from litestar import Response
from msgspec import Struct

from placet.application.query import Seen
from placet.application.sessions import Session
from placet.domain.errors import PlacetError
from placet.domain.model import Status
from placet.web import card_pages, edit_pages
from placet.web.common import Pages, page

NOTHING_DECIDED = "Nothing was decided"


class Written(Struct, frozen=True, kw_only=True):
    """What somebody wrote: of which card, the other input, and what they say of it."""

    digest: str
    text: str
    comment: str


async def show_card(
    use: Pages,
    session: Session,
    approval_id: str,
    *,
    problem: str | PlacetError = "",
    comment: str = "",
    status: int = 200,
    is_whole: bool = False,
) -> Response[bytes]:
    """A card as it is now; ``is_whole``: all of it, however much that is."""
    seen = await use.read.get(session.caller, approval_id)
    before = await _rejected_before(use, session, seen)
    most = use.limits.comment_max_chars
    body = card_pages.card(
        session,
        seen,
        use.ring.sealer,
        comment_max=most,
        before=before,
        problem=problem,
        comment=comment,
        is_whole=is_whole,
    )
    return page(body, status)


async def _rejected_before(use: Pages, session: Session, seen: Seen) -> Sequence[Seen]:
    """What of this very digest was rejected, where somebody is about to decide it."""
    if seen.approval.status is not Status.PENDING:
        return ()
    return await use.read.rejected_before(session.caller, seen.approval.digest)


def show_form(
    use: Pages,
    session: Session,
    seen: Seen,
    written: Written | None = None,
    problem: str = "",
    status: int = 200,
) -> Response[bytes]:
    """The page to write another input on, with what was written so far; for whoever may not, words alone."""
    why_not = card_pages.why_not_edit(session, seen)
    body = edit_pages.edit(
        session,
        seen,
        text=None if written is None else written.text,
        comment="" if written is None else written.comment,
        comment_max=use.limits.comment_max_chars,
        problem=problem,
        why_not=why_not,
    )
    return page(body, 403 if why_not and status < 400 else status)  # noqa: PLR2004 - any refusal
