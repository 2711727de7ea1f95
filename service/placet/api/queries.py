"""What a query string may say. Unknown and repeated names are refused, as in a body."""

import re
from typing import Annotated, Any
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct, ValidationError

from placet.api.issues import escape, invalid
from placet.application.commands import Capability, PersonId, Run
from placet.domain.error_terms import Issue
from placet.domain.errors import InputInvalid
from placet.domain.limits import CURSOR_MAX_CHARS, Limits
from placet.domain.model import Status

_WHOLE = re.compile("0|[1-9][0-9]{0,17}")
"""How a number is spelled; a longer one is out of every bound."""
_NUMBERS = frozenset({"wait", "limit"})


class NoQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing to say."""


class ReadQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``wait``: seconds to wait for the record to leave pending."""

    wait: Annotated[int, Meta(ge=0)] = 0


class ListQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Filters of a list, and where to go on."""

    status: Status | None = None
    capability: Capability | None = None
    actor_id: PersonId | None = None
    run: Run | None = None
    limit: Annotated[int, Meta(ge=1)] | None = None
    cursor: Annotated[str, Meta(max_length=CURSOR_MAX_CHARS)] | None = None


class EventsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Filters of the event stream."""

    capability: Capability | None = None
    actor_id: PersonId | None = None
    run: Run | None = None


def parse(raw: bytes, shape: type[Struct], limits: Limits) -> Struct:
    """The query, typed.

    Raises:
        InputInvalid: It is not UTF-8, has unknown or repeated names, or values out of bounds; the
            issues' paths are the names.
    """
    if not raw:
        return shape()
    try:
        pairs = parse_qsl(
            raw.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
            max_num_fields=20,
        )
    except ValueError as fault:
        raise InputInvalid([Issue(path="", message="The query string is malformed.")]) from fault
    values: dict[str, Any] = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputInvalid([Issue(path="/" + escape(repeated), message="It may be given once.")])
    for name in _NUMBERS & values.keys():
        if not _WHOLE.fullmatch(values[name]):
            raise InputInvalid([Issue(path=f"/{name}", message="It must be a whole number, in digits.")])
        values[name] = int(values[name])
    try:
        # Strictly: the lenient mode takes "null" for no filter at all.
        query = msgspec.convert(values, shape)
    except ValidationError as fault:
        raise invalid(fault, values, shape) from fault
    for name, most in (("wait", limits.wait_max_s), ("limit", limits.page_max)):
        if getattr(query, name, None) is not None and getattr(query, name) > most:
            raise InputInvalid([Issue(path=f"/{name}", message=f"It must be at most {most}.")])
    return query
