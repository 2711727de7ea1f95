"""From bytes to a typed body, in the order of judgement: media type, size, JSON, and, later, members."""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct, ValidationError

from placet.api.issues import invalid
from placet.api.patience import Patience
from placet.application.commands import DecideItem, DecideMany
from placet.domain.admission import Fault, FaultKind, admit
from placet.domain.error_terms import Issue
from placet.domain.errors import (
    ApprovalUnserializableInput,
    InputInvalid,
    InputTooLarge,
    UnsupportedMediaType,
)
from placet.domain.fault_words import place_in
from placet.domain.limits import BODY_TIMEOUT_S, TOKEN_MAX_CHARS, Limits

TOKEN_ROOM_BYTES = TOKEN_MAX_CHARS + 1024
"""What a body that carries a token may have on top: whatever could be asked can be consumed, token,
execution id and all."""

JSON = re.compile(r'application/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?', re.IGNORECASE)
"""The media type of whatever the API takes."""
FORM = re.compile(
    r'application/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?', re.IGNORECASE
)
"""That of what Slack sends."""
_LENGTH_MAX_DIGITS = 15
_BOUND = frozenset({"input", "context"})
_BATCH_ENVELOPE = 3
"""Containers around ``input`` in ``{"decisions": [{"input": …}]}``."""

_patience = Patience()

Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Header = Callable[[bytes], str | None]


class HungUp(Exception):  # noqa: N818 - an event, not an error: nobody is left to answer
    """The client has gone before its request was complete."""


async def read(
    receive: Receive,
    header: Header,
    most_bytes: int,
    *,
    optional: bool,
    media: re.Pattern[str] = JSON,
) -> bytes:
    """The bytes of a body, ``b""`` for an optional one that is not there.

    Raises:
        UnsupportedMediaType: Not of the ``media`` type, or not in UTF-8, or in a content coding, or in a
            transfer coding beside chunked, which nobody here would undo (RFC 9112 §6.1).
        InputTooLarge: More than ``most_bytes``, announced or sent.
        InputInvalid: It did not arrive in time.
        HungUp: The client has gone.
    """
    media_type, length = header(b"content-type"), header(b"content-length")
    transfer = header(b"transfer-encoding")
    nothing = length in {None, "0"} and transfer is None
    if not (optional and nothing and media_type is None) and (
        media_type is None
        or not media.fullmatch(media_type)
        or header(b"content-encoding") is not None
        or (transfer is not None and transfer.lower() != "chunked")
    ):
        raise UnsupportedMediaType
    if length is not None and length.isdecimal() and _exceeds(length, most_bytes):
        raise InputTooLarge(most_bytes)
    chunks: list[bytes] = []
    size = 0
    try:
        with _patience.limit(BODY_TIMEOUT_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise HungUp
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > most_bytes:
                    raise InputTooLarge(most_bytes)
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError as late:
        raise InputInvalid([Issue(path="", message="The body did not arrive in time.")], status=400) from late


def _exceeds(length: str, most: int) -> bool:
    """Whether an announced length is beyond ``most``; one with too many digits is never read as a number."""
    return len(length) > _LENGTH_MAX_DIGITS or int(length) > most


def parse(raw: bytes, limits: Limits, shape: type[Struct] | None = None) -> tuple[Any, Fault | None]:
    """The body's value as strictly admitted, or the fault that its members are refused for later.

    Args:
        raw: The body.
        limits: How deep ``input`` and ``context`` may be.
        shape: What the body is to become: it says how deep these stand themselves.

    Raises:
        InputInvalid: 400; it is not JSON in UTF-8.
    """
    try:
        envelope = _BATCH_ENVELOPE if shape is DecideMany else 1
        return admit(raw, max_depth=limits.max_input_depth, envelope=envelope), None
    except Fault as fault:
        if fault.kind is FaultKind.NOT_JSON:
            message = f"It is not JSON in UTF-8{place_in(raw)}."
            raise InputInvalid([Issue(path="", message=message)], status=400) from fault
        return None, fault


_FAULTS = {
    FaultKind.DUPLICATE_MEMBER: "A member name is given twice.",
    FaultKind.LONE_SURROGATE: "Half of a surrogate pair stands alone.",
    FaultKind.TOO_DEEP: "It is nested too deeply.",
    FaultKind.NUMBER_OVERFLOW: "A number is too large for a double.",
    FaultKind.INTEGER_RANGE: "An integer is beyond plus or minus 2^53 - 1; send it as text.",
}


def convert(value: Any, fault: Fault | None, shape: type[Struct]) -> Struct:  # noqa: ANN401 - any JSON value
    """The body, typed.

    Raises:
        ApprovalUnserializableInput: ``input`` or ``context`` could not be bound to.
        InputInvalid: 422; another member is wrong.
    """
    if fault is not None:
        if _is_bound(fault.pointer, shape):
            raise ApprovalUnserializableInput(fault.pointer)
        raise InputInvalid([Issue(path=fault.pointer, message=_FAULTS[fault.kind])])
    try:
        return msgspec.convert(value, shape)
    except ValidationError as error:
        raise invalid(error, value, shape) from error


def _is_bound(pointer: str, shape: type[Struct]) -> bool:
    """Whether this place is in a member that is bound, of the body itself or of one of its items."""
    steps = pointer.split("/")[1:]
    if shape is DecideMany:
        shape, steps = DecideItem, steps[2:] if steps[:1] == ["decisions"] else []
    return bool(steps) and steps[0] in _BOUND and steps[0] in shape.__struct_fields__
