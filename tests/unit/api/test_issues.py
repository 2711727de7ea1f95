"""From msgspec's words to ours: the right place, plain words, and never a value."""

from enum import StrEnum
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError

from placet.api.issues import escape, invalid
from placet.application import commands
from placet.domain.error_terms import Issue
from placet.domain.faces import ISSUES_MAX
from placet.domain.redaction import parse_pointer


class Inner(Struct, forbid_unknown_fields=True):
    """Something nested."""

    n: int = 0
    names: tuple[Annotated[str, Meta(max_length=3)], ...] = ()


class Outer(Struct, forbid_unknown_fields=True):
    """A body."""

    inner: Inner
    many: tuple[Inner, ...] = ()
    by_name: dict[str, int] = {}


def issue(value: Any, shape: type[Struct] = Outer) -> Issue:
    """The one issue of a value that is not of this shape."""
    with pytest.raises(ValidationError) as caught:
        msgspec.convert(value, shape)
    error = invalid(caught.value, value, shape)
    (found,) = error.issues
    return found


@pytest.mark.parametrize(
    ("value", "path", "message"),
    [
        ([], "", "Expected an object, got an array."),
        ({}, "/inner", "It is required."),
        ({"inner": {}, "x": 1}, "/x", "There is no such member."),
        ({"inner": {"x": 1}}, "/inner/x", "There is no such member."),
        ({"inner": {"n": "1"}}, "/inner/n", "Expected a whole number, got text."),
        ({"inner": {"names": ["a", "long"]}}, "/inner/names/1", "Expected text of length <= 3."),
        ({"inner": {}, "many": [{}, {"n": None}]}, "/many/1/n", "Expected a whole number, got null."),
        ({"inner": {}, "many": [{}, {"y": None}]}, "/many/1/y", "There is no such member."),
        ({"inner": {}, "by_name": {"a": "b"}}, "/by_name/...", "Expected a whole number, got text."),
    ],
)
def test_the_place_is_a_pointer_and_the_message_plain(value: Any, path: str, message: str) -> None:
    """Where it is wrong is a JSON Pointer from the body's root; what was wanted has no marks of code."""
    assert issue(value) == Issue(path=path, message=message)


class Colour(StrEnum):
    """What may be chosen."""

    RED = "red"
    BLUE = "blue"


class Choosing(Struct, forbid_unknown_fields=True):
    """A body with choices, deep and shallow."""

    one: Colour
    maybe: Colour | None = None
    several: tuple[Colour, ...] = ()
    by_name: dict[str, Colour] = {}
    below: "tuple[Choosing, ...]" = ()
    word: Literal["yes", "no"] | UnsetType = UNSET


@pytest.mark.parametrize(
    ("value", "path", "words"),
    [
        ({"one": "x"}, "/one", "red, blue"),
        ({"one": "red", "maybe": "x"}, "/maybe", "red, blue"),
        ({"one": "red", "several": ["red", "x"]}, "/several/1", "red, blue"),
        ({"one": "red", "by_name": {"a": "x"}}, "/by_name/...", "red, blue"),
        (
            {"one": "red", "below": [{"one": "red", "below": [{"one": "x"}]}]},
            "/below/0/below/0/one",
            "red, blue",
        ),
        ({"one": "red", "word": "x"}, "/word", "no, yes"),
    ],
)
def test_what_may_be_chosen_is_said(value: Any, path: str, words: str) -> None:
    """However deep the choice lies."""
    assert issue(value, Choosing) == Issue(path=path, message=f"It is not one of {words}.")


def issues(value: Any, shape: type[Struct]) -> list[str]:
    """The places of all issues."""
    with pytest.raises(ValidationError) as caught:
        msgspec.convert(value, shape)
    return [each.path for each in invalid(caught.value, value, shape).issues]


def test_every_member_that_is_wrong_is_named() -> None:
    """In one answer: what is unknown, what is missing, and of each other member the first fault."""
    value = {"risk": "x", "effect": "x", "capability": 1, "x": 1, "actor": {"id": 1, "kind": "x"}}
    assert issues(value, commands.Create) == ["/x", "/capability", "/actor/id", "/effect", "/risk"]
    assert issues({}, commands.Create) == ["/capability", "/actor", "/effect"]


def test_there_are_no_more_issues_than_an_answer_has_room_for() -> None:
    """However many members there are."""
    assert len(issues({f"x{number}": 1 for number in range(100)}, commands.Create)) == ISSUES_MAX


HOSTILE = [
    "a/b",
    "~",
    "~1",
    "`",
    "x` - at `$.inner",
    "x` - at `$.inner`",
    "` - at `$.many[0].n",
    " - at key in `$",
    "a\nb",
    "\u202e",
    "$",
    "$.inner",
    "...",
    "",
    "'",
    '"',
    "Object contains unknown field `y`",
    "x" * 3_000,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_escaped_where_it_stands(name: str) -> None:
    """Whatever a member is called, the path leads to it and the message stays ours."""
    found = issue({"inner": {name: 1}})
    assert found.message == "There is no such member."
    assert parse_pointer(found.path) == ("inner", name)


@given(st.text(max_size=40))
def test_any_name_is_found_in_its_place(name: str) -> None:
    """For every text there is, an unknown member of a nested object is named by its pointer."""
    if name not in {"n", "names"}:
        assert parse_pointer(issue({"inner": {name: 1}}).path) == ("inner", name)


@given(st.text(min_size=12, max_size=60))
def test_no_value_is_ever_repeated(text: str) -> None:
    """A text in the place of every kind of member leaves nothing of itself in the issue."""
    body = {
        "capability": "c",
        "actor": {"id": "a", "kind": "user"},
        "effect": "none",
        "input": 1,
    }
    marked = f"\u2603{text}\u2603"
    for member in (
        "effect",
        "risk",
        "input_hash",
        "id",
        "run",
        "expires_at",
        "expires_in_ms",
        "context",
        "actor",
    ):
        found = issue({**body, member: marked}, commands.Create)
        assert found.path == f"/{member}"
        assert "\u2603" not in found.message
    found = issue({**body, "allowed_decisions": [marked]}, commands.Create)
    assert "\u2603" not in found.message


def test_a_token_of_a_pointer_is_escaped() -> None:
    """RFC 6901 §3: first the tilde, then the slash."""
    assert escape("~/~1") == "~0~1~01"
