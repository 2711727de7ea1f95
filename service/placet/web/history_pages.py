"""The page of what was asked so far."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from msgspec import Struct

from placet.application.query import Listed
from placet.application.sessions import Session
from placet.domain.model import Status
from placet.web.pages import who
from placet.web.render import render
from placet.web.rows import row


class Asked(Struct, frozen=True, kw_only=True):
    """What a history is narrowed to, as it was asked.

    Attributes:
        values: By the names of the form's fields, each of them.
        cursor: Where to go on; empty for the newest.
        problems: What is wrong with that.
    """

    values: Mapping[str, str]
    cursor: str
    problems: Sequence[str]

    def at(self, cursor: str) -> str:
        """The address of another page of it; with no cursor of the newest."""
        said = {**self.values, "cursor": cursor}
        query = urlencode({name: value for name, value in said.items() if value})
        return f"/history?{query}" if query else "/history"


def history(session: Session, asked: Asked, listed: Listed, *, search_max: int) -> bytes:
    """A page of what was asked so far, newest first; ``search_max``: characters of a search."""
    is_narrowed = any(asked.values.values())
    return render(
        "history.html",
        session=who(session),
        here="history",
        statuses=[each.value for each in Status],
        asked=asked,
        is_filtered=any(value for name, value in asked.values.items() if name != "q"),
        search_max=search_max,
        words=_none_there(asked, listed, is_narrowed=is_narrowed),
        rows=[row(session, each.approval, each.sight, each.suspended) for each in listed.items],
        newest=asked.at("") if asked.cursor else None,
        older=asked.at(listed.next_cursor) if listed.next_cursor else None,
    )


def _none_there(asked: Asked, listed: Listed, *, is_narrowed: bool) -> str:
    """What to say where there are no rows."""
    if asked.problems or listed.items:
        return ""
    if listed.next_cursor:
        return "Nothing among the latest of these. There are older ones to look through."
    if asked.cursor:
        return "Nothing older is here."
    return "Nothing fits these filters." if is_narrowed else "Nothing was asked so far that you may see."
