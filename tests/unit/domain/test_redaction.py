"""Redaction: named parts are visibly hidden, everything else is shown as it is."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.redaction import REDACTED, parse_pointer, redact
from tests.strategies import json_texts, json_values

RFC_6901_DOCUMENT = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
"""The example of RFC 6901 §5."""


@pytest.mark.parametrize(
    ("pointer", "steps"),
    [
        ("", ()),
        ("/", ("",)),
        ("/foo/0", ("foo", "0")),
        ("/a~1b", ("a/b",)),
        ("/m~0n", ("m~n",)),
        ("/~01", ("~1",)),
        ("//", ("", "")),
        ("/i\\j", ("i\\j",)),
    ],
)
def test_a_pointer_is_read_into_unescaped_steps(pointer: str, steps: tuple[str, ...]) -> None:
    """RFC 6901 §3 and §4: "~1" is "/", "~0" is "~", in this order."""
    assert parse_pointer(pointer) == steps


@pytest.mark.parametrize("pointer", ["secret", "#/secret", " /secret", "/secret~", "/secret~2", "/~~0secret"])
def test_bad_syntax_is_refused_without_repeating_it(pointer: str) -> None:
    """The message of a refusal carries nothing of the pointer."""
    with pytest.raises(ValueError, match="JSON Pointer") as refusal:
        parse_pointer(pointer)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("pointer", "name"),
    [
        ("/", ""),
        ("/a~1b", "a/b"),
        ("/c%d", "c%d"),
        ("/i\\j", "i\\j"),
        ('/k"l', 'k"l'),
        ("/ ", " "),
        ("/m~0n", "m~n"),
    ],
)
def test_a_member_is_hidden_by_its_pointer(pointer: str, name: str) -> None:
    """Each pointer of RFC 6901 §5 hides its member and no other."""
    assert redact(RFC_6901_DOCUMENT, [pointer]) == ({**RFC_6901_DOCUMENT, name: REDACTED}, True)


def test_an_item_is_hidden_by_its_index() -> None:
    """Items count from 0."""
    assert redact({"card": [1, [2, 3]]}, ["/card/1/0"]) == ({"card": [1, [REDACTED, 3]]}, True)


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], "text", 7, None, False])
def test_the_empty_pointer_hides_the_whole(value: Any) -> None:
    """Whatever it is."""
    assert redact(value, [""]) == (REDACTED, True)


@pytest.mark.parametrize(
    "pointer",
    [
        "/b",
        "/a/2",
        "/a/-",
        "/a/00",
        "/a/01",
        "/a/+1",
        "/a/ 1",
        "/a/1 ",
        "/a/-1",
        "/a/\u0661",
        "/a/1/x",
        "/a/",
        "/n/x",
    ],
)
def test_a_pointer_at_nothing_is_ignored(pointer: str) -> None:
    """Neither a missing place nor an index spelled otherwise than RFC 6901 §4 has it hides anything."""
    value = {"a": [1, "xyz"], "n": None}
    assert redact(value, [pointer]) == (value, False)


@pytest.mark.parametrize("value", [None, 0, False, "", [], {}, REDACTED])
def test_empty_values_and_the_mark_itself_are_hidden_like_any_other(value: Any) -> None:
    """That there is nothing to see is hidden too, and that something was hidden is said."""
    assert redact({"a": value}, ["/a"]) == ({"a": REDACTED}, True)


@pytest.mark.parametrize(
    "pointers", [["/a", "/a/b"], ["/a/b", "/a"], ["/a", "/a"], ["/a/b", "/x", "/a/b/c", "/a"]]
)
def test_pointers_may_enclose_one_another_in_any_order(pointers: list[str]) -> None:
    """The outermost one hides all below it."""
    assert redact({"a": {"b": {"c": 1}}, "d": 2}, pointers) == ({"a": REDACTED, "d": 2}, True)


def test_siblings_below_one_place_are_hidden_together() -> None:
    """Pointers that share steps don't shadow each other."""
    assert redact({"a": {"b": 1, "c": 2, "d": 3}}, ["/a/b", "/a/d", "/a/e/f"]) == (
        {"a": {"b": REDACTED, "c": 2, "d": REDACTED}},
        True,
    )


def test_a_pointer_at_nothing_does_not_unsay_what_another_has_hidden() -> None:
    """Whichever of the two is found first."""
    value = {"a": {"b": 1}, "d": {"b": 1}, "e": 2}
    shown = {"a": {"b": 1}, "d": {"b": REDACTED}, "e": 2}
    assert redact(value, ["/a/x", "/d/b", "/e/x"]) == (shown, True)


def test_no_pointers_hide_nothing() -> None:
    """And say so."""
    assert redact({"a": 1}, []) == ({"a": 1}, False)


pointers = st.lists(
    st.lists(st.one_of(st.sampled_from(["", "0", "1", "-", "a"]), json_texts()), max_size=3), max_size=4
).map(
    lambda all_steps: [
        "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps) for steps in all_steps
    ]
)


@given(value=json_values(), pointers=pointers)
def test_the_argument_is_never_changed_and_the_order_of_pointers_never_matters(
    value: Any, pointers: list[str]
) -> None:
    """Redaction is a function of the value and the set of pointers, and hiding twice hides no more."""
    before = copy.deepcopy(value)
    shown, hidden = redact(value, pointers)
    assert value == before
    assert redact(value, pointers[::-1]) == (shown, hidden)
    assert redact(shown, pointers) == (shown, hidden)
    assert hidden or shown == value


@given(value=st.dictionaries(json_texts(), json_values(), min_size=1), data=st.data())
def test_every_member_can_be_named(value: dict[str, Any], data: st.DataObject) -> None:
    """Whatever characters its name is made of."""
    name = data.draw(st.sampled_from(sorted(value)))
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    assert parse_pointer(pointer) == (name,)
    assert redact(value, [pointer]) == ({**value, name: REDACTED}, True)
