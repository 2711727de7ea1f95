"""A line of a list: what a card begins with, and how its input does."""

from placet.application.sessions import Session
from placet.application.standing import standing_of
from placet.application.views import Sight, record_view
from placet.domain.errors import Forbidden
from placet.domain.model import Approval
from placet.domain.presentation import GIST_INPUT_BYTES_MAX, Heading, heading, seen_of
from placet.web.pages import ROW


def row(session: Session, approval: Approval, sight: Sight, suspended: Forbidden | None = None) -> Heading:
    """A record as it stands in a list; of a large input nothing is said, so it is not looked at.

    Args:
        session: Whoever looks.
        approval: The record.
        sight: How much of it they see.
        suspended: What using its grant is refused with, where it is.
    """
    held = approval.input
    is_small = held is not None and len(bytes(held)) <= GIST_INPUT_BYTES_MAX
    standing = standing_of(session.caller.authority, approval, suspended)
    return heading(seen_of(record_view(approval, sight if is_small else Sight.FRAME, standing)), ROW)
