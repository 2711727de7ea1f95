"""The token reader: the same grammar as the interpreter's scanner, without its limits."""

import json

import pytest
from hypothesis import given

from placet.domain.json_tokens import tokens
from tests.strategies import damaged_json, json_spellings


def is_json(text: str) -> bool:
    """Read to the end, as only that tells."""
    try:
        list(tokens(text))
    except ValueError:
        return False
    return True


def test_tokens_come_in_document_order_with_names_told_from_strings() -> None:
    """Names are strings in a name's place; every token keeps its spelling."""
    assert list(tokens('{"a" : ["b", -1e2], "c": null}')) == [
        ("{", "{"),
        ("name", '"a"'),
        (":", ":"),
        ("[", "["),
        ("string", '"b"'),
        (",", ","),
        ("number", "-1e2"),
        ("]", "]"),
        (",", ","),
        ("name", '"c"'),
        (":", ":"),
        ("literal", "null"),
        ("}", "}"),
    ]


@pytest.mark.parametrize(
    "text", ["{}", "[]", " [ [ ] , { } ] ", '"\\u00e9"', "0", '{"a":{"b":[1,2]}}', "\r\n\ttrue "]
)
def test_sound_texts_are_read_to_the_end(text: str) -> None:
    """White space stands anywhere between tokens; any value may stand alone."""
    assert is_json(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "[",
        "]",
        "[}",
        "{]",
        "[1 2]",
        "[,1]",
        "[1,]",
        "{,}",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a" 1}',
        "{1:2}",
        "{[]:1}",
        '{"a":1 "b":2}',
        "1 2",
        "[] []",
        '"a',
        '"\t"',
        '"\\x"',
        '"\\u12g4"',
        "01",
        "1.",
        "1e",
        "-",
        "+1",
        ".5",
        "NaN",
        "-Infinity",
        "tru",
        "True",
        "\ufeff1",
        "\u00a01",
        "1\x0b",
        "'a'",
        "/**/1",
        ":",
        ",",
    ],
)
def test_texts_that_break_the_grammar_are_refused(text: str) -> None:
    """Nothing that RFC 8259 doesn't have passes, whichever reader of JSON is said to take it."""
    assert not is_json(text)


def test_nesting_has_no_limit() -> None:
    """200 000 levels are read, or found unclosed, without recursion."""
    assert is_json("[" * 200_000 + "]" * 200_000)
    assert not is_json("[" * 200_000)


@given(spelling=json_spellings())
def test_every_spelling_of_a_value_is_read(spelling: tuple[bytes, object]) -> None:
    """No white space, escape or notation of a number is refused."""
    assert is_json(spelling[0].decode())


@given(raw=damaged_json())
def test_the_grammar_is_the_interpreters(raw: bytes) -> None:
    """Damaged texts are judged as the standard library's strict reader judges them."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    text = raw.decode(errors="replace")
    try:
        json.loads(text, parse_int=len, parse_float=len, parse_constant=refuse)
    except ValueError:
        assert not is_json(text)
    else:
        assert is_json(text)
