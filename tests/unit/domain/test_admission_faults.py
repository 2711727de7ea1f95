"""Faults of admission: of which kind, and where they are said to stand."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.admission import Fault, FaultKind, admit, admit_value
from placet.domain.redaction import REDACTED, redact
from tests.strategies import json_texts, json_values


def fault_of(raw: bytes, *, max_depth: int = 64) -> Fault:
    """The fault for which a bare value is refused."""
    with pytest.raises(Fault) as refusal:
        admit_value(raw, max_depth=max_depth)
    return refusal.value


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'{"a":1,"a":2}', "/a"),
        (b'{"a":1,"\\u0061":1}', "/a"),
        (b'{"a":{"b":[0,{"c":1,"d":2,"c":1}]}}', "/a/b/1/c"),
        (b'{"":0,"":0}', "/"),
        (b'[{"k":null,"k":1}]', "/0/k"),
        (b'{"a/b~":0,"a\\/b\\u007e":0}', "/a~1b~0"),
        (b'{"input":{},"input":{}}', "/input"),
    ],
)
def test_a_second_member_of_the_same_name_is_refused(raw: bytes, pointer: str) -> None:
    """At any depth, and names are compared unescaped; the place is the repeated member's."""
    fault = fault_of(raw)
    assert (fault.kind, fault.pointer) == (FaultKind.DUPLICATE_MEMBER, pointer)


@pytest.mark.parametrize(
    "raw", [b'{"a":1,"A":1}', '{"é":1,"e\u0301":1}'.encode(), b'{"a":{"a":1},"b":{"a":1}}']
)
def test_names_that_differ_are_no_duplicates(raw: bytes) -> None:
    """Neither in case, nor in Unicode form, nor in the object they belong to."""
    assert len(admit_value(raw, max_depth=2)) == 2


@pytest.mark.parametrize(
    ("raw", "pointer"),
    [
        (b'"\\ud800"', ""),
        (b'"\\uDFFF"', ""),
        (b'"\\ude00\\ud83d"', ""),
        (b'"\\ud83d\\ud83d\\ude00"', ""),
        (b'"\\ud83d\\n\\ude00"', ""),
        (b'{"a":["x","\\ud83d "]}', "/a/1"),
        (b'{"input":{"x":1,"\\ud800":1}}', "/input"),
        (b'{"\\udbff":1}', ""),
        (b'[{"\\ud800":1}]', "/0"),
    ],
)
def test_a_lone_surrogate_is_refused(raw: bytes, pointer: str) -> None:
    """In a value it is where the value is; in a name, which can't be written down, where the object is."""
    fault = fault_of(raw)
    assert (fault.kind, fault.pointer) == (FaultKind.LONE_SURROGATE, pointer)


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        (b"1e400", FaultKind.NUMBER_OVERFLOW),
        (b"-1e309", FaultKind.NUMBER_OVERFLOW),
        (b"1.7976931348623159e308", FaultKind.NUMBER_OVERFLOW),
        (b"1e" + b"9" * 100_000, FaultKind.NUMBER_OVERFLOW),
        (b"9007199254740992", FaultKind.INTEGER_RANGE),
        (b"-9007199254740992", FaultKind.INTEGER_RANGE),
        (b"18446744073709551616", FaultKind.INTEGER_RANGE),
        (b"1" * 5_000, FaultKind.INTEGER_RANGE),
        (b"-" + b"1" * 200_000, FaultKind.INTEGER_RANGE),
        (b"1e16", FaultKind.INTEGER_RANGE),
        (b"-1E+20", FaultKind.INTEGER_RANGE),
        (b"9007199254740992.0", FaultKind.INTEGER_RANGE),
        (b"9007199254740991.5", FaultKind.INTEGER_RANGE),
        (b"999999999999999900000.0", FaultKind.INTEGER_RANGE),
        (b"1" + b"0" * 400, FaultKind.INTEGER_RANGE),
    ],
    ids=lambda item: str(item)[:24],
)
def test_numbers_that_doubles_can_not_hold_apart_are_refused(spelling: bytes, kind: FaultKind) -> None:
    """Beyond the largest double, and integers, or what would be spelled as one, beyond 2^53-1."""
    fault = fault_of(b'{"n":[0,' + spelling + b"]}")
    assert (fault.kind, fault.pointer) == (kind, "/n/1")


def test_the_first_fault_in_document_order_is_the_one_that_is_named() -> None:
    """Whichever the interpreter's scanner met first."""
    raw = b'{"a":{"x":"\\ud800","y":1e400,"z":1,"z":2},"a":1,"b":[[[]]]}'
    fault = fault_of(raw, max_depth=2)
    assert (fault.kind, fault.pointer) == (FaultKind.LONE_SURROGATE, "/a/x")


@given(
    value=st.one_of(
        st.lists(json_values(), min_size=1), st.dictionaries(json_texts(), json_values(), min_size=1)
    )
)
def test_the_pointer_names_the_very_value_at_fault(value: Any) -> None:
    """Replacing what it names, and nothing else, makes the value sound again."""
    parent, key = value, next(iter(value)) if isinstance(value, dict) else 0
    while isinstance(parent[key], (list, dict)) and parent[key]:
        parent = parent[key]
        key = next(iter(parent)) if isinstance(parent, dict) else len(parent) - 1
    parent[key] = 2**53
    fault = fault_of(json.dumps(value).encode())
    assert fault.kind is FaultKind.INTEGER_RANGE
    shown, hidden = redact(value, [fault.pointer])
    assert hidden
    assert parent[key] == 2**53
    parent[key] = REDACTED
    assert shown == value


def test_a_pointer_that_would_be_too_long_stops_at_an_enclosing_value() -> None:
    """Names may be as long as the body; what is said about a fault is not."""
    name = b"n" * 511
    assert fault_of(b'{"' + name + b'":1e400}').pointer == "/" + name.decode()
    assert fault_of(b'{"' + name + b'":[1e400]}').pointer == "/" + name.decode()
    assert fault_of(b'{"a":{"' + name + b'n":[1e400]}}').pointer == "/a"


# --- Depth ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "opening", "middle", "closing"),
    [
        (64, b"[", b"1", b"]"),
        (64, b'{"a":', b"1", b"}"),
        (32, b'[{"a":', b"1", b"}]"),
        (63, b"[", b"{}", b"]"),
    ],
)
def test_a_value_may_be_as_deep_as_the_limit_and_no_deeper(
    levels: int, opening: bytes, middle: bytes, closing: bytes
) -> None:
    """Arrays and objects count alike; the root counts as the first."""
    assert admit_value(opening * levels + middle + closing * levels, max_depth=64)
    levels += 1
    fault = fault_of(opening * levels + middle + closing * levels)
    assert fault.kind is FaultKind.TOO_DEEP
    assert fault.pointer.count("/") == 64


def test_a_member_of_a_body_counts_from_its_own_root() -> None:
    """Input of depth 64 is let in with the body around it, and one level more is not."""
    deep = b"[" * 64 + b"]" * 64
    assert admit(b'{"input":' + deep + b',"context":' + deep + b"}", max_depth=64)
    with pytest.raises(Fault) as refusal:
        admit(b'{"capability":"x","input":[' + deep + b"]}", max_depth=64)
    assert (refusal.value.kind, refusal.value.pointer) == (FaultKind.TOO_DEEP, "/input" + "/0" * 64)


def test_a_wider_envelope_is_not_counted_either() -> None:
    """In a batch the input stands three containers deep."""
    body = b'{"decisions":[{"input":' + b"[" * 64 + b"]" * 64 + b"}]}"
    assert admit(body, max_depth=64, envelope=3)
    with pytest.raises(Fault):
        admit(body, max_depth=64, envelope=2)


def test_brackets_in_strings_and_beside_one_another_are_no_depth() -> None:
    """Only nesting is."""
    assert admit_value(b'"' + b"[{" * 1_000 + b'"', max_depth=0) == "[{" * 1_000
    assert admit_value(b"[" + b"[]," * 1_000 + b"{}]", max_depth=2)
    assert admit_value(b"7", max_depth=0) == 7


@pytest.mark.parametrize("depth", [65, 500, 2_000, 130_000])
def test_hopeless_depth_is_refused_in_its_place(depth: int) -> None:
    """No stack is exhausted, and the place is where the limit was passed."""
    fault = fault_of(b'{"input":' + b"[" * depth + b"]" * depth + b"}", max_depth=65)
    assert (fault.kind, fault.pointer) == (FaultKind.TOO_DEEP, "/input" + "/0" * 64)


def test_a_limit_beyond_the_interpreter_refuses_what_can_not_be_read() -> None:
    """A setting can't make the service fail on a body: it is too deep, though not for the setting."""
    fault = fault_of(b"[" * 100_000 + b"]" * 100_000, max_depth=10**6)
    assert (fault.kind, fault.pointer) == (FaultKind.TOO_DEEP, "")


# --- What a fault tells -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b'"s3cr3t',
        b's3cr3t\xff"',
        b'{"a":"s3cr3t\\ud800"}',
        b'{"s3cr3t":1,"s3cr3t":1}',
        b'["s3cr3t",1e400]',
        b"[[[1]]]",
    ],
)
def test_a_fault_says_its_kind_and_carries_nothing_else(raw: bytes) -> None:
    """Neither its text nor an exception behind it, which a log would print, holds any of the input."""
    fault = fault_of(raw, max_depth=2)
    assert str(fault) == fault.kind
    assert fault.args == (fault.kind.value,)
    assert fault.__context__ is None
    assert fault.__cause__ is None
