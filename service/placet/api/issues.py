"""From msgspec's words to ours: where a body is wrong and what was wanted, never what was sent."""

import re

from msgspec import ValidationError

from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid

# A place is made of our own member names and of indices; whatever else looks like one is a caller's word.
_WHERE = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<where>(?:\.[a-z_]+|\[(?:\d+|\.\.\.)\])*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([a-z_]+)|\[(\d+|\.\.\.)\]")
_MEMBER = re.compile(r"Object (?P<kind>contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL)


def invalid(fault: ValidationError) -> InputInvalid:
    """The error for a body, or a query, that is JSON but not the one that was asked for."""
    match = _WHERE.fullmatch(str(fault))
    what, where = (match["what"], match["where"] or "") if match else ("It is not valid", "")
    path = "".join(f"/{name or index}" for name, index in _STEP.findall(where))
    member = _MEMBER.fullmatch(what)
    if member and member["kind"] == "missing required":
        return InputInvalid([Issue(path=f"{path}/{escape(member['name'])}", message="It is required.")])
    if member:
        return InputInvalid(
            [Issue(path=f"{path}/{escape(member['name'])}", message="There is no such member.")]
        )
    if what.startswith("Invalid enum value"):  # the rest of the sentence repeats what was sent
        return InputInvalid([Issue(path=path, message="It is not one of the allowed values.")])
    return InputInvalid([Issue(path=path, message=what.replace("`", "") + ".")])


def escape(name: str) -> str:
    """A member's name as a JSON Pointer token (RFC 6901 §3)."""
    return name.replace("~", "~0").replace("/", "~1")
