"""What all pages are made with, and those that say little: signing in, and notices."""

import hashlib
from typing import Final

from msgspec import Struct

from placet.application.sessions import Session
from placet.domain.presentation import Budget
from placet.domain.text import visible
from placet.web.render import render

ROW = Budget(lines=4, text_chars=200)
"""Room for a line of a list."""
_STATE_CHARS: Final = 16


class Who(Struct, frozen=True):
    """Who has signed in, as pages show them."""

    name: str
    csrf: str


def state_of(*parts: object) -> str:
    """What a page is made from, in short: its script asks whether that is still so."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:_STATE_CHARS]


def who(session: Session) -> Who:
    """The person of a session."""
    principal = session.caller.principal
    voter = session.caller.authority.voter(principal)
    return Who(name=visible(voter.person.display_name or voter.person.id), csrf=session.csrf)


def sign_in(next_: str, problem: str = "", session: Session | None = None) -> bytes:
    """Where somebody signs in, and goes on to ``next_``; ``session``: whoever has signed in already."""
    shown = None if session is None else who(session)
    return render("signin.html", session=shown, here="signin", next=next_, problem=problem)


def notice(title: str, words: str) -> bytes:
    """A page that says one thing."""
    return render("notice.html", session=None, here="", title=title, words=words)
