"""The canonical form: RFC 8785 to the byte, the same for ever."""

import hashlib
import math
import struct
from enum import IntEnum, StrEnum
from typing import Any

import jcs_admit
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.canonical import canonicalize, sha256_hex
from tests.strategies import json_spellings, json_values


class Colour(StrEnum):
    """A string of our own."""

    RED = "réd"


class Size(IntEnum):
    """A number of our own."""

    SMALL = 1


class Word(str):
    """A string of our own, of no enumeration."""

    __slots__ = ()


class Count(int):
    """An integer of our own, of no enumeration."""


class Weight(float):
    """A double of our own, which has another text of itself, as those of numpy have."""

    def __repr__(self) -> str:
        return f"np.float64({float.__repr__(self)})"


doubles = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.binary(min_size=8, max_size=8)
    .map(lambda bits: float(struct.unpack(">d", bits)[0]))
    .filter(math.isfinite),
    st.builds(
        lambda digits, exponent: float(f"{digits}e{exponent}"),
        st.integers(-(10**17), 10**17),
        st.integers(-40, 10),
    ),
)


@given(value=json_values(max_leaves=40))
def test_the_reference_library_writes_the_same(value: Any) -> None:
    """Byte for byte, for everything that admission lets in."""
    assert canonicalize(value) == rfc8785.dumps(value)


@given(number=doubles)
def test_every_double_is_spelled_as_the_reference_library_spells_it(number: float) -> None:
    """Also those that admission keeps out, and also below a name that needs sorting."""
    assert canonicalize(number) == rfc8785.dumps(number)
    assert canonicalize({"😀": number}) == rfc8785.dumps({"😀": number})


@given(spelling=json_spellings())
def test_an_independent_implementation_writes_the_same(spelling: tuple[bytes, Any]) -> None:
    """`jcs-admit` starts from the text and comes to the same bytes."""
    raw, value = spelling
    assert canonicalize(value) == jcs_admit.admit(raw)


@given(
    names=st.lists(st.text(alphabet="a\x7f\u0080\ud7ff\ue000\uffff😀𐀀\U0010ffff", max_size=3), unique=True)
)
def test_members_are_sorted_by_utf16_units(names: list[str]) -> None:
    """So that names beyond the Basic Multilingual Plane come before U+E000 (RFC 8785 §3.2.3)."""
    in_order = sorted(names, key=lambda name: name.encode("utf-16-be"))
    expected = "{" + ",".join(f'"{name}":0' for name in in_order) + "}"
    assert canonicalize(dict.fromkeys(names, 0)).decode() == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.000001, b"0.000001"),
        (1e-7, b"1e-7"),
        (1e21, b"1e+21"),
        (5e-324, b"5e-324"),
        (4.35, b"4.35"),
        (-0.0, b"0"),
        (1.0, b"1"),
        (0.00001, b"0.00001"),
        (-0.0000123, b"-0.0000123"),
        (1.5e-10, b"1.5e-10"),
        (1e16, b"10000000000000000"),
        (9007199254740992.0, b"9007199254740992"),
        (2**53 - 1, b"9007199254740991"),
    ],
)
def test_numbers_are_spelled_as_ecmascript_spells_them(number: float, text: bytes) -> None:
    """Case B50: Python's own notation parts from ECMAScript's at both ends."""
    assert canonicalize(number) == text
    assert canonicalize([number]) == b"[" + text + b"]"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("€", '"€"'),
        ("\u2028\u2029", '"\u2028\u2029"'),
        ("\x7f\x80", '"\x7f\x80"'),
        ("\n\r\t\b\f", '"\\n\\r\\t\\b\\f"'),
        ("\x00\x0b\x1f", '"\\u0000\\u000b\\u001f"'),
        ('"\\/', '"\\"\\\\/"'),
        ("😀", '"😀"'),
    ],
)
def test_only_control_characters_quote_and_backslash_are_escaped(text: str, canonical: str) -> None:
    """Case B51: everything else is raw UTF-8, in values and in names."""
    assert canonicalize(text).decode() == canonical
    assert canonicalize({text: 0}).decode() == f"{{{canonical}:0}}"


def test_unicode_forms_are_not_equated() -> None:
    """Case B53: NFC and NFD are different bytes, so different inputs."""
    assert sha256_hex(canonicalize({"p": "\u00e9"})).startswith("0ac25a8d")
    assert sha256_hex(canonicalize({"p": "e\u0301"})).startswith("32b3537f")


def test_a_number_and_its_text_are_not_equated() -> None:
    """Case B54: approving "1000" is not approving 1000."""
    assert canonicalize({"amount": "1000"}) != canonicalize({"amount": 1000})


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ((1, (2, ())), b"[1,[2,[]]]"),
        ({"b": (0.5,), "a": None}, b'{"a":null,"b":[0.5]}'),
        ([True, False, 1, 0], b"[true,false,1,0]"),
        ({Colour.RED: Colour.RED}, '{"réd":"réd"}'.encode()),
        ([Size.SMALL, Count(3), Weight(2.0), Weight(0.1)], b"[1,3,2,0.1]"),
        ({Word("b"): Word("x")}, b'{"b":"x"}'),
        ({"😀": [None, True, False, "x", 7, (), {}]}, '{"😀":[null,true,false,"x",7,[],{}]}'.encode()),
    ],
)
def test_what_python_has_for_json_is_written_as_json(value: Any, canonical: bytes) -> None:
    """Tuples are arrays, and members of enumerations are their values."""
    assert canonicalize(value) == canonical


@pytest.mark.parametrize(
    "value", [2**53, -(2**53), 2**70, math.nan, math.inf, -math.inf, "\ud800", "😀\udfff"]
)
@pytest.mark.parametrize(
    "wrap", [lambda value: value, lambda value: [value], lambda value: {"😀": (1e-9, value)}]
)
def test_what_has_no_canonical_form_is_refused(value: Any, wrap: Any) -> None:
    """Wherever it stands; the reference library refuses the same."""
    with pytest.raises(ValueError, match=r"canonical|surrogates"):
        canonicalize(wrap(value))
    with pytest.raises(rfc8785.CanonicalizationError):
        rfc8785.dumps(wrap(value))


@pytest.mark.parametrize("value", [b"x", {1}, object(), {1: 2}, {None: 1}, {"a": {1: 1e-9}}, {"😀": b""}])
def test_what_is_not_json_is_refused(value: object) -> None:
    """Names are strings, and no other type is converted silently."""
    with pytest.raises(TypeError):
        canonicalize(value)


def test_the_argument_is_not_changed() -> None:
    """Also where the value had to be rebuilt to be written."""
    value = {"😀": [1e-9, {"b": 1, "a": 2}], "\ue000": 1.0}
    canonicalize(value)
    assert list(value) == ["😀", "\ue000"]
    assert value == {"😀": [1e-9, {"b": 1, "a": 2}], "\ue000": 1.0}


def test_the_hash_is_sha256_in_lower_case_hex() -> None:
    """FIPS 180-4's "abc", and the same as the standard library's."""
    assert sha256_hex(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_hex(b"") == hashlib.sha256().hexdigest()


GOLDEN = {
    "plain": {
        "capability": "mail.send",
        "to": ["a@example.org", "b@example.org"],
        "bytes": 182734,
        "draft": False,
    },
    "numbers": [0, -1, 12.5, 1e-7, 0.000001, 1e21, 5e-324, 2**53 - 1, 4.35, 333333333.3333333],
    "names": {"\ufb33": 1, "😀": 2, "€": 3, "\r": 4, "ö": 5, "\x80": 6, "": 7},
    "strings": ['\x00\x1f\n\r\t\b\f"\\/\x7f\u2028', "e\u0301 é", "😀 ⚠\ufe0f"],
    "nested": {
        "z": [{"y": [[], {}, [None, True, {"x": {"b": [1.5], "a": "ß"}}]]}],
        "A": {"b": 1, "B": 2, "a": 3},
    },
}


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("plain", "928a196280ebd5f8ce3c87e9899769ea73a04cde63b70a67313943a06bb2ce0c"),
        ("numbers", "5e7e5571b9ea3d037c873a47d27c91678e6c4f21162ed4ffe6512e6e6d41965d"),
        ("names", "7c26c6e307c5e2aaa4094d59924049a420e20204f77aa102fe496345a0e1889f"),
        ("strings", "9d85a3749f6a13530d2452c7c4b3adf085cc495d9e68c7cd832774fc45b43aab"),
        ("nested", "7db40ed9805930189374b68f63c766440e81ec82d2b980cd1c961b16e326dc6e"),
    ],
)
def test_hashes_never_change(name: str, digest: str) -> None:
    """Case B57: records made by any earlier version, on any version of any library, still verify."""
    assert sha256_hex(canonicalize(GOLDEN[name])) == digest
