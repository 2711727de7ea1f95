"""How an input begins, in a few words: never taken for anything else, and nothing of what is hidden."""

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from placet.cli.layout import columns_of
from placet.domain.canonical import canonicalize
from placet.domain.presentation import GIST_INPUT_BYTES_MAX, Budget
from placet.domain.presentation.gist import gist
from placet.domain.text import Kind, findings
from tests.hostile import close_values, escaped, hostile_texts

ROW = Budget(lines=4, text_chars=200)
NARROW = Budget(lines=4, gist_chars=24)


def said(value: Any, *redacted: str, budget: Budget = ROW) -> str:
    """The gist of a value, in one line."""
    return ", ".join(each.text for each in gist(Raw(canonicalize(value)), budget, redacted=redacted))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"amount": 5000, "to": "ACME"}, "amount: 5000, to: ACME"),
        ({"a": 1, "b": True, "c": None, "d": "e"}, "a: 1, b: true, c: null"),
        (
            {"to": "ann@example.org", "path": "/srv/x", "name": "Ann Lee"},
            "name: Ann Lee, path: /srv/x, to: ann@example.org",
        ),
        ({"tiny": 1e-7, "large": 1e21}, "large: 1e+21, tiny: 1e-7"),
        ({"order": {"id": "A-1"}, "amount": 5}, "amount: 5, order.id: A-1"),
        ({"items": [{"sku": "x"}, {"sku": "y"}]}, "items.0.sku: x, items.1.sku: y"),
        (["a", 2], "0: a, 1: 2"),
        ("hello", "hello"),
        (7, "7"),
        (None, "null"),
        ({}, ""),
        ([[], {}], ""),
        ({"ключ": "значение"}, "ключ: значение"),
    ],
)
def test_the_first_scalars_are_told(value: Any, words: str) -> None:
    """Three at most; those nearest to the root before others, in the order they are bound in."""
    assert said(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"to": "ACME, amount: 1"}, 'to: "ACME, amount: 1"'),
        ({"to": "5000"}, 'to: "5000"'),
        ({"to": "true"}, 'to: "true"'),
        ({"to": ""}, 'to: ""'),
        ({"to": "a "}, 'to: "a "'),
        ({"to": "a  b"}, 'to: "a  b"'),
        ({"to": "a…"}, 'to: "a…"'),
        ({"a.b": 1}, '"a.b": 1'),
        ({"0": 1}, '"0": 1'),
        ({"to: ACME, x": 1}, '"to: ACME, x": 1'),
        ({"to": "a\nb"}, r'to: "a\nb"'),
        ({"path": "a\u0338b"}, 'path: "a⟨U+0338⟩b"'),
        ({"to": "a\u00a0b"}, 'to: "a⟨U+00A0⟩b"'),
        ({"p\u0430y": 1}, '"p⟨U+0430⟩y": 1'),
    ],
)
def test_nothing_passes_for_anything_else(value: Any, words: str) -> None:
    """Neither a text for a number, nor a value for the next member; what hides is spelled out."""
    assert said(value) == words


def test_what_is_long_is_cut() -> None:
    """With a mark that no text has by itself; a member there is no room for is left out."""
    assert said({"a": "b" * 100, "c": 1}) == f"a: {'b' * 39}…, c: 1"
    assert said({"a": "b" * 60 + ",", "c" * 60: 1}) == f'a: "{"b" * 38}…, {"c" * 16}…: 1'
    assert said({"a": "b" * 1_000}) == f'a: "{"b" * 38}…'
    assert said({"a": "x" * 38, "b": "y" * 38, "c": 1}) == f"a: {'x' * 38}, b: {'y' * 33}…"
    assert said({"a": "x" * 38, "b" * 24: "y" * 13}) == f"a: {'x' * 38}, {'b' * 17}…: {'y' * 13}"
    assert said({"a": "x" * 39, "b": "y" * 20, "c": "z" * 20}) == f"a: {'x' * 39}, b: {'y' * 20}"
    assert said({"amount": 5000, "to": "ACME", "x": 1}, budget=NARROW) == "amount: 5000, to: ACME"


def test_marks_that_take_no_room_end_it_too() -> None:
    """Of a text that is only begun the quotes are not closed, whatever it costs."""
    budget = Budget(lines=4, cost=columns_of)
    shown = said("," + "e\u0301\u0302\u0303\u0304" * 40, budget=budget)
    assert shown.startswith('",e')
    assert shown.endswith("…")
    assert '"' not in shown[1:]


def test_what_is_hidden_is_passed_over() -> None:
    """Also where it is deep in, or all there is."""
    value = {"amount": 5, "card": {"number": "[redacted]", "name": "Ann"}, "pin": "[redacted]"}
    assert said(value, "/pin", "/card/number") == "amount: 5, card.name: Ann"
    assert said(value, "/pin", "/card") == "amount: 5"
    assert said([1, "[redacted]"], "/1") == "0: 1"
    assert said("[redacted]", "") == ""


def test_of_a_long_list_the_beginning_is_looked_at() -> None:
    """A list of many such inputs is still quick."""
    assert said([[]] * 31 + [7]) == "31: 7"
    assert said([[]] * 32 + [7]) == ""


def test_of_a_large_input_nothing_is_said() -> None:
    """Each line of a list would take reading all of it."""
    fits = "x" * (GIST_INPUT_BYTES_MAX - 2)
    assert said(fits)
    assert said(fits + "x") == ""


def test_blanks_of_json_are_passed_over() -> None:
    """A service may lay out its answers."""
    raw = msgspec.json.decode(b'[ { "a" : [ 1 , "b" ] } ]', type=list[Raw])[0]
    assert [each.text for each in gist(raw, ROW)] == ["a.0: 1", "a.1: b"]


@given(
    close_values() | st.dictionaries(hostile_texts(), hostile_texts()),
    st.sampled_from([ROW, NARROW, Budget(lines=4, cost=escaped), Budget(lines=4, cost=columns_of)]),
)
def test_every_gist_is_visible_and_fits(value: Any, budget: Budget) -> None:
    """Whatever is in it; but for the first, which is there in any case, no member is beyond the room."""
    facts = gist(Raw(canonicalize(value)), budget)
    for each in facts:
        assert {found.kind for found in findings(each.text)} <= {Kind.CONFUSABLE}
        assert "\n" not in each.text
    assert budget.cost(", ".join(each.text for each in facts)) <= budget.gist_chars
    assert len(facts) <= 3


@given(close_values(), close_values())
def test_different_short_scalars_look_different(one: Any, other: Any) -> None:
    """What is not cut can be told apart, a text from what it spells too."""
    first, second = said({"a": one}), said({"a": other})
    whole = not isinstance(one, (dict, list)) and not isinstance(other, (dict, list))
    if whole and first == second and not re.search("…$", first):
        assert canonicalize(one) == canonicalize(other)
