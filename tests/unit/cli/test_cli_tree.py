"""JSON as a tree that can be trusted."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from placet.cli.console import Terminal
from placet.cli.layout import columns_of
from placet.cli.tree import HIDDEN, decode, tree
from tests.unit.cli.conftest import Screen

PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | PLAIN,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(PLAIN, inner, max_size=5),
    max_leaves=20,
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def lines(value: Any, *, width: int = 80, **options: Any) -> list[str]:
    """The tree of a value on a screen of some width."""
    terminal = Terminal(Screen(terminal=False), {})
    terminal.width = width
    return tree(value, terminal, **options)


@given(VALUES)
def test_the_tree_of_plain_text_is_its_json(value: Any) -> None:
    """Where nothing has to be wrapped or made visible, the lines parse back to the value."""
    assert json.loads("\n".join(lines(value, width=1_000_000))) == value


@given(ANYTHING, st.integers(40, 100))
def test_no_line_leaves_its_room(value: Any, width: int) -> None:
    """No line is so long that the terminal would go on with it at the margin."""
    assert all(columns_of(line) <= width for line in lines(value, width=width))


def test_deep_values_keep_their_room() -> None:
    """Indentation stops growing where it would leave nothing for the values."""
    value: Any = "x" * 100
    for _ in range(64):
        value = [value]
    assert all(columns_of(line) <= 60 for line in lines(value, width=60))


def test_hidden_values_are_marked_and_nothing_else_is() -> None:
    """The mark stands at the pointers only; the word that stands there on the wire is no mark."""
    shown = lines({"a": "[redacted]", "b": {"c": "[redacted]"}}, redacted=["/b/c"])
    assert shown == ["{", '  "a": "[redacted]",', '  "b": {', f'    "c": {HIDDEN}', "  }", "}"]


def test_a_text_can_not_pass_for_the_mark() -> None:
    """A text has its quotes."""
    assert lines({"a": HIDDEN}) == ["{", f'  "a": "{HIDDEN}"', "}"]


def test_hostile_text_is_spelled_out() -> None:
    """Reordering, escape sequences and look-alikes show, in names too."""
    assert lines({"x\u202e": "\x1b[2J"}) == ["{", '  "x⟨U+202E⟩": "\\u001b[2J"', "}"]


def test_lines_of_a_text_are_shown_as_lines() -> None:
    """A script is readable: parted after line feeds, which are shown; a backslash and an n are none."""
    assert lines({"s": "a\nb\\n"}) == ["{", '  "s": "a\\n', '       b\\\\n"', "}"]


def test_a_long_text_goes_on_below_its_beginning() -> None:
    """Nothing it says can begin at the margin."""
    shown = lines({"s": "x" * 60 + "Risk  low"}, width=50)
    assert all(line.startswith("       ") for line in shown[2:-1])
    assert "".join(line.strip() for line in shown[1:-1]) == '"s": "' + "x" * 60 + 'Risk  low"'


def test_small_containers_take_one_line() -> None:
    """A list of a few numbers is read at a glance."""
    assert lines({"n": [1, 2, 3], "o": {"a": None}}) == ["{", '  "n": [1, 2, 3],', '  "o": {"a": null}', "}"]


def test_a_container_with_something_hidden_is_never_folded() -> None:
    """The mark must be seen."""
    assert f"    {HIDDEN}" in lines({"n": ["[redacted]"]}, redacted=["/n/0"])


def test_numbers_keep_their_spelling() -> None:
    """What is shown is what came, to the digit."""
    raw = Raw(b'{"a":0.000001,"b":1e+21,"c":9007199254740991}')
    assert lines(decode(raw)) == ["{", '  "a": 0.000001,', '  "b": 1e+21,', '  "c": 9007199254740991', "}"]
