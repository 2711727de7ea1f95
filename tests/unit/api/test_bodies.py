"""Bodies: read to their end or not at all, admitted strictly, then typed."""

from collections.abc import Mapping
from typing import Any

import pytest

from placet.api import bodies
from placet.api.bodies import HungUp, convert, parse, read
from placet.application import commands
from placet.domain.admission import FaultKind
from placet.domain.error_terms import Issue
from placet.domain.errors import (
    ApprovalUnserializableInput,
    InputInvalid,
    InputTooLarge,
    UnsupportedMediaType,
)
from placet.domain.limits import Limits

LIMITS = Limits()
JSON = {b"content-type": "application/json"}


def arriving(*chunks: bytes, then: str = "end") -> Any:
    """A body that arrives so, and then ends, or whose client leaves."""
    messages: list[Mapping[str, Any]] = [
        {"type": "http.request", "body": chunk, "more_body": then != "end" or chunk is not chunks[-1]}
        for chunk in chunks
    ]
    if then == "hang up":
        messages.append({"type": "http.disconnect"})
    left = iter(messages)

    async def receive() -> Mapping[str, Any]:
        return next(left)

    return receive


async def test_chunks_are_joined() -> None:
    """However it arrives, a body of exactly the bound is taken."""
    assert await read(arriving(b"{", b"", b"}"), JSON.get, 2, optional=False) == b"{}"


@pytest.mark.parametrize("headers", [{}, {b"content-length": "0"}])
async def test_an_optional_body_may_be_missing(headers: dict[bytes, str]) -> None:
    """Where nothing needs to be said, no type is asked for either."""
    assert await read(arriving(b""), headers.get, 10, optional=True) == b""


@pytest.mark.parametrize("headers", [{}, {b"content-length": "0"}, {b"content-length": "2"}])
async def test_a_body_without_a_type_is_refused(headers: dict[bytes, str]) -> None:
    """Whatever is needed must say what it is."""
    with pytest.raises(UnsupportedMediaType):
        await read(arriving(b"{}"), headers.get, 10, optional=False)


@pytest.mark.parametrize(
    "headers", [{b"content-length": "2"}, {b"transfer-encoding": "chunked"}, {b"content-type": "text/plain"}]
)
async def test_an_optional_body_that_is_there_must_say_what_it_is(headers: dict[bytes, str]) -> None:
    """Something of no type, or of another, is not nothing."""
    with pytest.raises(UnsupportedMediaType):
        await read(arriving(b"{}"), headers.get, 10, optional=True)


async def test_bytes_beyond_the_bound_are_refused() -> None:
    """One byte too many is too many, announced or not."""
    with pytest.raises(InputTooLarge):
        await read(arriving(b"12", b"3"), JSON.get, 2, optional=False)
    with pytest.raises(InputTooLarge):
        await read(arriving(), {**JSON, b"content-length": "3"}.get, 2, optional=False)


@pytest.mark.parametrize("length", ["-1", "x", "", "²", "1e9"])
async def test_a_length_that_is_no_number_is_the_servers_affair(length: str) -> None:
    """The bytes are counted all the same."""
    headers = {**JSON, b"content-length": length}
    assert await read(arriving(b"{}"), headers.get, 2, optional=False) == b"{}"


async def test_a_client_that_leaves_is_no_error() -> None:
    """There is nobody left to answer."""
    with pytest.raises(HungUp):
        await read(arriving(b"{", then="hang up"), JSON.get, 10, optional=False)


async def test_a_body_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not come in time is a fault of the request."""

    async def never() -> Mapping[str, Any]:
        raise TimeoutError

    monkeypatch.setattr(bodies, "BODY_TIMEOUT_S", 0)
    with pytest.raises(InputInvalid) as caught:
        await read(never, JSON.get, 10, optional=False)
    assert caught.value.status == 400


def test_what_is_no_json_is_told_at_once_the_rest_later() -> None:
    """Malformed text is 400 now; a fault of the content waits until the scope has been judged."""
    with pytest.raises(InputInvalid) as caught:
        parse(b"{", LIMITS)
    assert caught.value.status == 400
    assert parse(b'{"a": 1}', LIMITS) == ({"a": 1}, None)
    value, fault = parse(b'{"a": {"b": 1, "b": 2}}', LIMITS)
    assert value is None
    assert fault is not None
    assert (fault.kind, fault.pointer) == (FaultKind.DUPLICATE_MEMBER, "/a/b")


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b'{"a": 1,\n "b": hunter2}', " (at line 2, column 7)"),
        (b'{"a": "\xff"}', " (at byte 8)"),
        (b"NaN", ""),  # other readers take it
        (b"[" * 200_000, ""),
        (b'{"a": ' + b"1" * 5_000 + b"}}", ""),
    ],
)
def test_where_it_is_no_json_is_said(raw: bytes, place: str) -> None:
    """By line and column, or by byte, where that can be told; what stands there is not."""
    with pytest.raises(InputInvalid) as caught:
        parse(raw, LIMITS)
    assert caught.value.issues == (Issue(path="", message=f"It is not JSON in UTF-8{place}."),)


@pytest.mark.parametrize(
    ("raw", "shape", "error"),
    [
        (b'{"input": {"a": 1, "a": 2}}', commands.Create, ApprovalUnserializableInput),
        (b'{"context": {"a": 1e999}}', commands.Consume, ApprovalUnserializableInput),
        (b'{"input": 1e999}', commands.Decide, ApprovalUnserializableInput),
        (b'{"inputs": {"a": 1, "a": 2}}', commands.Create, InputInvalid),
        (b'{"extensions": {"input": {"a": 1, "a": 2}}}', commands.Create, InputInvalid),
        (b'{"input": {"a": 1, "a": 2}}', commands.Cancel, InputInvalid),
        (b'{"input": {"a": 1, "a": 2}}', commands.ReportOutcome, InputInvalid),
        (b'["\\ud800"]', commands.Create, InputInvalid),
        (b'{"decisions": [{"input": 1e999}]}', commands.DecideMany, ApprovalUnserializableInput),
        (
            b'{"decisions": [{}, {"input": {"a": 1, "a": 2}}]}',
            commands.DecideMany,
            ApprovalUnserializableInput,
        ),
        (b'{"decisions": [{"context": 1e999}]}', commands.DecideMany, InputInvalid),
        (b'{"decisions": [{"id": {"input": 1e999}}]}', commands.DecideMany, InputInvalid),
        (b'{"decisions": [1e999]}', commands.DecideMany, InputInvalid),
        (b'{"decisions": 1e999}', commands.DecideMany, InputInvalid),
        (b'{"input": 1e999}', commands.DecideMany, InputInvalid),
        (b'{"decisions": [{"input": 1e999}]}', commands.Create, InputInvalid),
    ],
)
def test_a_fault_inside_what_is_bound_has_its_own_code(raw: bytes, shape: Any, error: Any) -> None:
    """Only input and context of a call that has them can be unserializable."""
    value, fault = parse(raw, LIMITS, shape)
    with pytest.raises(error) as caught:
        convert(value, fault, shape)
    assert caught.value.status == 422


@pytest.mark.parametrize(
    ("shape", "opening"),
    [(commands.Create, b'{"input": '), (commands.DecideMany, b'{"decisions": [{"input": ')],
)
def test_depth_counts_from_the_members_own_root(shape: Any, opening: bytes) -> None:
    """An input may be as deep in one of several items as it may alone."""
    deepest = LIMITS.max_input_depth
    closing = {b"{": b"}", b"[": b"]"}
    around = b"".join(closing[bytes([each])] for each in reversed(opening) if bytes([each]) in closing)
    for depth, faults in ((deepest, None), (deepest + 1, FaultKind.TOO_DEEP)):
        raw = opening + b"[" * depth + b"]" * depth + around
        _, fault = parse(raw, LIMITS, shape)
        assert (None if fault is None else fault.kind) == faults


@pytest.mark.parametrize("kind", [kind for kind in FaultKind if kind is not FaultKind.NOT_JSON])
def test_every_kind_of_fault_has_its_words(kind: FaultKind) -> None:
    """None is missing from the table."""
    assert bodies._FAULTS[kind].endswith(".")
