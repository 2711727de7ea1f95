"""Ids of people and services: which are admitted, and when two of them name one person.

Self-approval and distinctness are judged on *folded* ids (design §7), so that ``Alice@Example.com``, a
full-width spelling of it, one with a zero-width space inside and ``"Alice" <mailto:alice@example.com.>`` are
one person. Folding only ever takes rights away; it never grants any. What folding can't catch, letters of one
script that look like another's, is refused at admission instead.
"""

import re
import unicodedata
from typing import Final
from urllib.parse import unquote

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

# What may stand around an id: the white space that NFKC leaves as it is, quotation marks, angle brackets.
_BLANKS: Final = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\u1680\u2028\u2029"
_QUOTES: Final = "\"'`\u00ab\u00bb\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2039\u203a"
_DRESS: Final = rf"{_BLANKS}{_QUOTES}<>()\[\]"
_WORN: Final = f"{_BLANKS}{_QUOTES}<>()[]"
_SCHEMES: Final = "mailto:|acct:|sips?:|xmpp:|im:"
_DRESS_BEFORE: Final = re.compile(rf"\A(?:[{_DRESS}]|(?:{_SCHEMES})(?://)?)+")
# What stands before the local part of an address, and after its domain, whatever it is: a name, a scheme, a
# comment, a resource, the headers of a link.
_NOT_LOCAL: Final = re.compile(rf"[{_DRESS},;:/]")
_NOT_DOMAIN: Final = re.compile(rf"[{_DRESS},;?#/]")
_BLANK_SIGNS: Final = "\u2800"  # shows as nothing, though it is a sign: Braille without a dot
_BRACKETED: Final = re.compile(rf"<[{_BLANKS}{_QUOTES}()\[\]]*([^{_DRESS}][^<>]*)>")

_DOTS: Final = ".\u3002"  # RFC 3490 §3.1; its other two are one of these after NFKC
_ACE_PREFIX: Final = "xn--"  # RFC 5890 §2.3.2.1
_LABEL_MAX_CHARS: Final = 63  # RFC 1035 §2.3.4; the punycode codec takes quadratic time
_IN_NO_LABEL: Final = re.compile(f"[{_DRESS}@%,;?#/{_DOTS}]")

# Nearly all ids: written without any of the above, so that only case is left to fold.
_PLAIN: Final = re.compile(r"[a-z0-9_.+-]*[a-z0-9_+-](?:@[a-z0-9_.-]*[a-z0-9_-])?")


def fold(text: str) -> str:
    """Fold an id to the form in which ids are compared.

    Three foldings, repeated until nothing changes:

    - toNFKC_Casefold (Unicode §3.13, R5), after trimming.
    - What an address may be dressed in comes off: quotes and brackets, a name or a comment beside it
      (RFC 5322 §3.4), a scheme before it (``mailto:``, RFC 6068; ``acct:``, RFC 7565) and whatever a link has
      behind it, percent-encoding, quotes around the local part alone, a dot after the domain.
    - Punycode labels of a domain are spelled out (RFC 3492), so that both spellings of it are one. Labels
      that decode to nothing a domain could be written as, or are too long for one, stay as they are.

    Kept apart, for they may be different people: ``bob+x@example.com`` and ``bob@example.com``, which are
    two mailboxes at some providers; ``bob`` and ``bob@example.com``, which only a directory of aliases could
    tell to be one.

    Args:
        text: any text, also one that `check_id` refuses; time is linear in its length.

    Returns:
        The folded text; ``fold(fold(x)) == fold(x)``, and "" for a text in which nobody is named: nothing but
        blanks, invisible characters and dress.
    """
    lowered = text.lower()
    if _PLAIN.fullmatch(lowered) and _ACE_PREFIX not in lowered:
        return lowered
    previous = None
    while text != previous:
        previous = text
        text = _undress(_fold_characters(text))
    return text


def _fold_characters(text: str) -> str:
    """Trim, and fold case, width, composition and what is invisible, until nothing changes.

    One round equals the mapping NFKC_CF for every code point but a handful; but a fold may bring forth a
    space at the edge, and a normalisation a character that folds again.
    """
    previous = None
    while text != previous:
        previous = text
        seen = DEFAULT_IGNORABLE.sub("", unicodedata.normalize("NFD", text)).replace(_BLANK_SIGNS, "")
        text = unicodedata.normalize("NFKC", seen.casefold()).strip()
    return text


def _undress(folded: str) -> str:
    """Reduce a spelling of an address to the address; whatever is no address is stripped of dress alone."""
    text = unquote(folded)
    bracketed = _BRACKETED.findall(text)
    if bracketed:
        text = bracketed[-1]
    text = _DRESS_BEFORE.sub("", text).rstrip(_WORN)
    local, at, domain = text.rpartition("@")
    if not at:
        return text
    local = _NOT_LOCAL.split(local.rstrip(_WORN))[-1]
    domain = _NOT_DOMAIN.split(domain.lstrip(_WORN), maxsplit=1)[0].rstrip(_DOTS)
    labels = domain.replace(_DOTS[1], _DOTS[0]).split(_DOTS[0])
    return f"{local}@{'.'.join(map(_spell_out, labels))}"


def _spell_out(label: str) -> str:
    """The folded Unicode form of a punycode label; any other label as it is."""
    if not label.startswith(_ACE_PREFIX) or not label.isascii() or len(label) > _LABEL_MAX_CHARS:
        return label
    try:
        # Not the codec "idna": it refuses what Unicode has added since version 3.2.
        decoded = label.removeprefix(_ACE_PREFIX).encode("ascii").decode("punycode")
    except UnicodeError:
        return label
    folded = _fold_characters(decoded)
    hides = decoded.isascii() or folded.startswith(_ACE_PREFIX) or _IN_NO_LABEL.search(folded)
    return label if hides or not folded else folded


def check_id(text: str) -> str | None:
    """Judge an id at the door.

    The whole id is judged, not its parts: a Cyrillic local part before a Latin domain is how a look-alike of
    a colleague's address is written, so it is refused too. UTS #39 §5.2 (Highly Restrictive) says which
    scripts may stand together. A punycode domain is judged as it is written: that looks like nothing else.

    Args:
        text: the id as received.

    Returns:
        None where it is admitted; else a plain reason, to follow the member's name, that repeats nothing of
        the id.
    """
    if len(text) > PERSON_ID_MAX_CHARS:
        return f"must have at most {PERSON_ID_MAX_CHARS} characters"
    if text.isascii() and text.isprintable():  # nearly all are, and have no other fault
        return None if fold(text) else _BLANK
    if DEFAULT_IGNORABLE.search(text) or _BLANK_SIGNS in text:
        return _REFUSED_CATEGORIES["Cf"]
    return _fault_of_unicode(text)


def _fault_of_unicode(text: str) -> str | None:
    for char in text:
        reason = _REFUSED_CATEGORIES.get(unicodedata.category(char))
        if reason is not None:
            return reason
    if not fold(text):
        return _BLANK
    if mixes_scripts(scripts_of(_fold_characters(text))):
        return "must not mix letters of several scripts"
    return None
