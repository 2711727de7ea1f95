"""What all pages are made with, and those that say little: signing in, and notices."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from placet.application.sessions import Session
from placet.domain.people import Issuer, SignIn
from placet.domain.presentation import Budget
from placet.domain.text import visible
from placet.web.render import render

ROW = Budget(lines=4, text_chars=200)
"""Room for a line of a list."""
_STATE_CHARS: Final = 16


class Who(Struct, frozen=True):
    """Who has signed in, as pages show them.

    Attributes:
        name: What they are called.
        csrf: What their forms carry.
        line: Tells the scripts of pages of which session they are.
        person: And of whom.
        anew: How they sign in again, where it is time to.
    """

    name: str
    csrf: str
    line: str
    person: str
    anew: SignIn | None = None


def state_of(*parts: object) -> str:
    """What a page is made from, in short: its script asks whether that is still so."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:_STATE_CHARS]


def who(session: Session) -> Who:
    """The person of a session."""
    principal = session.caller.principal
    voter = session.caller.authority.voter(principal)
    name = visible(voter.person.display_name or voter.person.id)
    signer = signer_of(session) if session.is_aged else None
    return Who(
        name=name,
        csrf=session.csrf,
        line=state_of("line", session.csrf),
        person=state_of("person", principal.tenant, principal.field),
        anew=None if signer is None else signer.sign_in,
    )


def signer_of(session: Session) -> Issuer | None:
    """The issuer that signed somebody in; ``None`` where a link did."""
    word, signers = session.signed_in.vouched, session.caller.authority.sign_ins
    return next((each for each in signers if word is not None and each.iss == word.iss), None)


def sign_in(
    next_: str, issuers: Sequence[Issuer], problem: str = "", session: Session | None = None
) -> bytes:
    """Where somebody signs in, and goes on to ``next_``.

    Args:
        next_: A page of ours.
        issuers: Those that sign people in; without any, a link does.
        problem: Why they were not signed in.
        session: Of whoever has signed in already.
    """
    shown, ways = None if session is None else who(session), [each.sign_in for each in issuers]
    return render("signin.html", session=shown, here="signin", next=next_, ways=ways, problem=problem)


def leaving(address: str, label: str, *, is_step_up: bool) -> bytes:
    """On the way to an issuer."""
    return render(
        "leaving.html", session=None, here="signin", address=address, label=label, is_step_up=is_step_up
    )


def returning(name: str, brought: Mapping[str, str]) -> bytes:
    """On the way back from one, with what somebody brings."""
    return render("returning.html", session=None, here="signin", name=name, brought=brought)


def notice(
    title: str,
    words: str,
    session: Session | None = None,
    *,
    again: str | None = None,
    trace: str | None = None,
) -> bytes:
    """A page that says one thing.

    Args:
        title: What stands above it.
        words: What it says.
        session: Of whoever has signed in.
        again: Where to try once more, where that may help.
        trace: By what its line in the log is found, where there is something to be found.
    """
    shown = None if session is None else who(session)
    return render("notice.html", session=shown, here="", title=title, words=words, again=again, trace=trace)
