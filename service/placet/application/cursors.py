"""Cursors of lists: the last record that was looked at, as a text to hand back (opaque to callers)."""

import base64
import binascii
import re

from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid
from placet.domain.limits import ID_PATTERN
from placet.domain.model import Approval
from placet.store import keys

_MEMBER = re.compile(rf"[0-9]{{13}}:{ID_PATTERN}")


def cursor_of(approval: Approval) -> str:
    """The cursor that goes on after this record."""
    return cursor_to(keys.member(approval.requested_at_ms, approval.ask.id))


def cursor_to(member: str) -> str:
    """The cursor that goes on after this member of an index."""
    return base64.urlsafe_b64encode(member.encode()).decode().rstrip("=")


def member_of(cursor: str) -> str:
    """The member of an index that a cursor goes on after.

    Raises:
        InputInvalid: The cursor is not one of ours.
    """
    try:
        member = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, UnicodeError, ValueError):
        member = ""
    if not _MEMBER.fullmatch(member):
        raise InputInvalid(
            [Issue(path="/cursor", message="It is not a cursor of this list; start without one.")]
        )
    return member
