"""JSON that two readers can't understand differently."""

import pytest

from placet.tokens.strict_json import members_of


def test_an_object_is_its_members() -> None:
    """Any JSON object in UTF-8."""
    assert members_of('{"a": [1, {"b": "é"}], "c": null}'.encode()) == {"a": [1, {"b": "é"}], "c": None}


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 1, "a": 1}',
        b'{"a": {"b": 1, "b": 2}}',
        b'[{"a": 1}]',
        b'"a"',
        b"",
        b"{",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"\\uDC00": 1}',
        b'{"a": ' + b"1" * 5_000 + b"}",
        b"[" * 100_000,
        '\ufeff{"a": 1}'.encode(),
        '{"a": 1}'.encode("utf-16"),
    ],
)
def test_anything_else_is_refused(text: bytes) -> None:
    """Repeated members at any depth, other values, numbers that are none, what nobody can read."""
    with pytest.raises(ValueError, match=r"."):
        members_of(text)


def test_both_halves_of_a_character_are_one() -> None:
    """As JSON spells what UTF-16 has in two units (RFC 8259 §7); what only looks like it is text."""
    found = members_of(b'{"a": "\\ud83d\\ude00", "b": "\\\\ud800"}')
    assert found == {"a": "\U0001f600", "b": "\\ud800"}
