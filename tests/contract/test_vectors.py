"""Published vectors: ours, which other implementations can run, and those of RFC 8785 itself (case B56)."""

import json
import struct
from pathlib import Path
from typing import NamedTuple

import pytest

from placet.domain.admission import Fault, FaultKind, admit_value
from placet.domain.canonical import canonicalize, sha256_hex

MAX_DEPTH = 64


class Vector(NamedTuple):
    """One row of ``tests/vectors/canonical.json``: a text, and what becomes of it."""

    tag: str
    raw: str
    canonical: str | None
    sha256: str | None
    refused: str | None


VECTORS = [
    Vector(**row) for row in json.loads((Path(__file__).parents[1] / "vectors/canonical.json").read_bytes())
]

KINDS = {
    "not JSON": FaultKind.NOT_JSON,
    "duplicate member name": FaultKind.DUPLICATE_MEMBER,
    "lone surrogate": FaultKind.LONE_SURROGATE,
    "deeper than 64": FaultKind.TOO_DEEP,
    "integer beyond 2^53-1": FaultKind.INTEGER_RANGE,
    "not canonically serialisable": FaultKind.NUMBER_OVERFLOW,
}


def name_of(vector: Vector) -> str:
    """A readable name for a test run."""
    return f"{vector.tag}-{vector.raw[:24]}"


@pytest.mark.parametrize("vector", [row for row in VECTORS if row.refused is None], ids=name_of)
def test_an_admitted_text_has_the_published_canonical_form_and_hash(vector: Vector) -> None:
    """And that form is its own."""
    canonical = canonicalize(admit_value(vector.raw.encode(), max_depth=MAX_DEPTH))
    assert canonical.decode() == vector.canonical
    assert sha256_hex(canonical) == vector.sha256
    assert canonicalize(admit_value(canonical, max_depth=MAX_DEPTH)) == canonical


@pytest.mark.parametrize("vector", [row for row in VECTORS if row.refused is not None], ids=name_of)
def test_a_refused_text_is_refused_for_the_published_reason(vector: Vector) -> None:
    """Each reason of the vectors is one kind of fault."""
    with pytest.raises(Fault) as refusal:
        admit_value(vector.raw.encode(), max_depth=MAX_DEPTH)
    assert refusal.value.kind is KINDS[str(vector.refused)]


def test_the_vectors_cover_every_kind_of_fault() -> None:
    """None can go missing from the file unnoticed."""
    assert {KINDS[vector.refused] for vector in VECTORS if vector.refused} == set(FaultKind)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("41b3de4355555556", "333333333.3333334"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_rfc_8785_appendix_b_numbers(bits: str, text: str) -> None:
    """RFC 8785, Appendix B: doubles by their bits, and their text."""
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonicalize(number).decode() == text


@pytest.mark.parametrize("bits", ["7fffffffffffffff", "7ff0000000000000"])
def test_rfc_8785_appendix_b_errors(bits: str) -> None:
    """RFC 8785, Appendix B: NaN and infinity are errors."""
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    with pytest.raises(ValueError, match="canonical"):
        canonicalize(number)


def test_rfc_8785_sample_object() -> None:
    """RFC 8785 §3.2.2 gives the text, §3.2.3 its canonical form, §3.2.4 the bytes."""
    raw = rb"""{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }"""
    assert canonicalize(admit_value(raw, max_depth=2)) == (
        b'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_rfc_8785_sample_of_member_order() -> None:
    """RFC 8785 §3.2.3: seven members, listed there in the order that UTF-16 units give."""
    raw = rb"""{
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }"""
    canonical = canonicalize(admit_value(raw, max_depth=1))
    assert list(json.loads(canonical).values()) == [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ]
