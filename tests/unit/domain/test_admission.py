"""Admission: what is let in, and what is no JSON at all."""

import contextlib
import json
from functools import partial
from typing import Any

import jcs_admit
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.admission import Fault, FaultKind, _scanned, admit, admit_value
from placet.domain.canonical import canonicalize
from tests.strategies import damaged_json, json_spellings, json_values


def same(left: Any, right: Any) -> bool:
    """Equality that tells 1, 1.0 and True apart."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


# --- What is let in ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"1.0", 1),
        (b"100e-2", 1),
        (b"-0", 0),
        (b"-0.0", 0),
        (b"-0e0", 0),
        (b"1e-400", 0),
        (b"-1e-400", 0),
        (b"9007199254740991", 2**53 - 1),
        (b"-9007199254740991", -(2**53) + 1),
        (b"9007199254740991.0", 2**53 - 1),
        (b"9007199254740991.4", 2**53 - 1),
        (b"0.1", 0.1),
        (b"333333333.33333329", 333333333.3333333),
        (b"1e21", 1e21),
        (b"-1.7976931348623157e308", -1.7976931348623157e308),
        (b"0." + b"3" * 100_000, 1 / 3),
        (b"1" + b"0" * 100_000 + b"e-100000", 1),
    ],
    ids=lambda item: repr(item)[:24],
)
def test_numbers_are_the_nearest_double_and_integers_where_they_have_no_fraction(
    raw: bytes, value: float
) -> None:
    """However they are spelled and however long that is."""
    assert same(admit_value(raw, max_depth=1), value)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b" null\r\n", None),
        (b"[true,false]", [True, False]),
        (b'{"":{"":[]}}', {"": {"": []}}),
        (b'"\\ud83d\\ude00"', "😀"),
        (b'"\\\\ud800"', "\\ud800"),
        (b'{"\\uD83D\\uDE00":"\\\\uDfff"}', {"😀": "\\uDfff"}),
        ('"\u2028\ufeff\x7f"'.encode(), "\u2028\ufeff\x7f"),
        (b'{"__proto__":{"constructor":1}}', {"__proto__": {"constructor": 1}}),
    ],
)
def test_sound_values_are_let_in(raw: bytes, value: Any) -> None:
    """White space around, paired surrogates, and what only looks like an escape are all in order."""
    assert same(admit_value(raw, max_depth=3), value)


@pytest.mark.parametrize("raw", [b'{"p":"\xc3\xa9"}', b'{"p":"e\xcc\x81"}'])
def test_text_is_not_normalized(raw: bytes) -> None:
    """Composed and decomposed forms stay what they are (case B53)."""
    assert canonicalize(admit_value(raw, max_depth=1)) == raw


@given(spelling=json_spellings())
def test_a_value_is_let_in_as_itself_however_it_is_spelled(spelling: tuple[bytes, Any]) -> None:
    """Escapes, white space, order of members and notation of numbers change nothing."""
    raw, value = spelling
    assert same(admit_value(raw, max_depth=64), value)


@given(
    raw=st.one_of(
        json_values().map(msgspec.json.encode), json_spellings().map(lambda each: each[0]), damaged_json()
    )
)
def test_what_an_encoder_writes_is_let_in_at_once_and_as_the_second_pass_reads_it(raw: bytes) -> None:
    """The first pass lets in nothing that the second would not, and nothing as something else."""
    outcomes = []
    for read in (partial(admit, max_depth=4, envelope=0), partial(_scanned, limit=4)):
        try:
            outcomes.append(json.dumps(read(raw), sort_keys=True))
        except Fault as fault:
            outcomes.append(f"{fault.kind} {fault.pointer}")
    assert outcomes[0] == outcomes[1]


@given(raw=st.one_of(damaged_json(), json_spellings().map(lambda spelling: spelling[0])))
def test_whatever_is_let_in_has_a_canonical_form_that_is_its_own(raw: bytes) -> None:
    """The law of admission: that form is let in, is the same value, and is its own canonical form."""
    try:
        value = admit_value(raw, max_depth=64)
    except Fault:
        return
    canonical = canonicalize(value)
    again = admit_value(canonical, max_depth=64)
    assert same(again, value)
    assert canonicalize(again) == canonical


@given(raw=damaged_json())
def test_an_independent_implementation_agrees(raw: bytes) -> None:
    """`jcs-admit` lets in the same texts, unsafe integers apart, and gives them the same canonical form."""
    try:
        canonical = canonicalize(admit_value(raw, max_depth=64))
    except Fault as fault:
        if fault.kind is not FaultKind.INTEGER_RANGE:
            with pytest.raises(jcs_admit.JcsError):
                jcs_admit.admit_with(raw, max_depth=64)
    else:
        assert jcs_admit.admit_with(raw, max_depth=64) == canonical


# --- Not JSON ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-16-le"),
        '{"a":1}'.encode("utf-32-be"),
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\xc0\xaf"',
        b'"\xc3"',
        b"NaN",
        b"[Infinity]",
        b'{"a":-Infinity}',
        b'"\t"',
        b'"\x00"',
        b'"\\x41"',
        b"'a'",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"1 2",
        b"[1,]",
        b'{"a":1,}',
        b"{1:2}",
        b"//\n1",
        b"\xc2\xa01",
        b"\x0c1",
        b"1\x00",
    ],
)
def test_what_is_not_utf8_or_not_json_is_refused(raw: bytes) -> None:
    """Without a place, for such bytes have no structure to point into."""
    with pytest.raises(Fault) as refusal:
        admit_value(raw, max_depth=64)
    assert (refusal.value.kind, refusal.value.pointer) == (FaultKind.NOT_JSON, "")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1,"a":2',
        b'["\\ud800",]',
        b"[1e400}",
        b"[9007199254740992 1]",
        b"[" * 500 + b"1" + b"]" * 499,
        b"[" * 70 + b"NaN" + b"]" * 70,
        b"[" * 200_000,
        b'{"":' * 60_000,
        b"[" * 100_000 + b"]" * 99_999 + b"}",
        b"[" * 100_000 + b"]" * 100_001,
    ],
    ids=lambda raw: f"{raw[:20]!r}*{len(raw)}",
)
def test_bad_syntax_is_judged_before_every_other_fault(raw: bytes) -> None:
    """Also where it follows another fault, or lies deeper than the interpreter's stack reaches."""
    with pytest.raises(Fault) as refusal:
        admit_value(raw, max_depth=64)
    assert refusal.value.kind is FaultKind.NOT_JSON


@given(raw=st.binary(max_size=40))
def test_any_bytes_are_let_in_or_refused(raw: bytes) -> None:
    """No other error comes out."""
    with contextlib.suppress(Fault):
        admit(raw, max_depth=3)
