"""Ids of people and services: which are admitted, and when two of them name one person.

Self-approval and distinctness are judged on *folded* ids (design §7), so that ``Alice@Example.com``, a
full-width spelling of it and one with a zero-width space inside are one person. Folding only ever takes
rights away; it never grants any. What folding can't catch, letters of one script that look like another's,
is refused at admission instead.
"""

import unicodedata
from typing import Final

from placet.domain.characters import DEFAULT_IGNORABLE, mixes_scripts, scripts_of
from placet.domain.limits import PERSON_ID_MAX_CHARS

# General categories no id may hold, with the reason that is given. Unassigned characters are refused because
# their folding is not yet known: Unicode keeps normalisation and case folding stable for assigned ones only.
_REFUSED_CATEGORIES: Final = {
    "Cc": "must not contain control characters",
    "Cf": "must not contain invisible formatting characters",
    "Cn": "must not contain unassigned characters",
    "Co": "must not contain private-use characters",
    "Cs": "must not contain surrogates",
    "Zl": "must not contain line separators",
    "Zp": "must not contain paragraph separators",
}


_BLANK: Final = "must not be blank"


def fold(text: str) -> str:
    """Fold an id to the form in which ids are compared.

    Trimming and toNFKC_Casefold (Unicode §3.13, R5; its mapping equals one round below for every code point
    but a handful), both repeated until nothing changes: a fold may bring forth a space at the edge, and a
    normalisation a character that folds again.

    Args:
        text: any text, also one that `check_id` refuses.

    Returns:
        The folded text; ``fold(fold(x)) == fold(x)``, and "" for a text of blanks and invisible characters.
    """
    previous = None
    while text != previous:
        previous = text
        seen = DEFAULT_IGNORABLE.sub("", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFKC", seen.casefold()).strip()
    return text


def same_person(one: str, other: str) -> bool:
    """Say whether two ids name one person or service: whether they fold to the same text."""
    return fold(one) == fold(other)


def check_id(text: str) -> str | None:
    """Judge an id at the door.

    The whole id is judged, not its parts: a Cyrillic local part before a Latin domain is how a look-alike of
    a colleague's address is written, so it is refused too. UTS #39 §5.2 (Highly Restrictive) says which
    scripts may stand together.

    Args:
        text: the id as received.

    Returns:
        None where it is admitted; else a plain reason, to follow the member's name, that repeats nothing of
        the id.
    """
    if len(text) > PERSON_ID_MAX_CHARS:
        return f"must have at most {PERSON_ID_MAX_CHARS} characters"
    if text.isascii() and text.isprintable():  # nearly all are, and have no other fault
        return None if text.strip() else _BLANK
    if DEFAULT_IGNORABLE.search(text):
        return _REFUSED_CATEGORIES["Cf"]
    return _fault_of_unicode(text)


def _fault_of_unicode(text: str) -> str | None:
    for char in text:
        reason = _REFUSED_CATEGORIES.get(unicodedata.category(char))
        if reason is not None:
            return reason
    folded = fold(text)
    if not folded:
        return _BLANK
    if mixes_scripts(scripts_of(folded)):
        return "must not mix letters of several scripts"
    return None
