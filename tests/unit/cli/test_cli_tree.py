"""A tree on a terminal: wrapped below its own beginning, and in colours."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from placet.cli.console import Terminal
from placet.cli.layout import columns_of
from placet.cli.tree import marked, tree
from placet.domain.canonical import canonicalize
from placet.domain.presentation import Budget
from placet.domain.presentation.tree import tree as contents
from tests.hostile import close_values
from tests.strategies import json_values
from tests.unit.cli.conftest import Screen


def lines(
    value: Any, *, width: int = 80, budget: Budget | None = None, coloured: bool = False, **options: Any
) -> list[str]:
    """The tree of a value on a screen of some width."""
    terminal = Terminal(Screen(terminal=coloured), {"TERM": "xterm"})
    terminal.width = width
    budget = budget or Budget.boundless(columns=width, cost=columns_of)
    root = contents(Raw(canonicalize(value)), budget, where="the input", **options).root
    return tree(root, terminal, indent="  ")


@given(json_values())
def test_the_tree_of_plain_text_is_its_json(value: Any) -> None:
    """Where nothing has to be wrapped or made visible, the lines parse back to the value."""
    text = canonicalize(value).decode()
    if text.isascii() and "\\" not in text and "\x7f" not in text:
        assert canonicalize(json.loads("\n".join(lines(value, width=1_000_000)))) == canonicalize(value)


@given(json_values(30) | close_values(), st.integers(40, 100), st.booleans())
def test_no_line_leaves_its_room(value: Any, width: int, cut: bool) -> None:  # noqa: FBT001 - Hypothesis passes it
    """No line is so long that the terminal would go on with it at the margin, whole or cut."""
    budget = Budget(lines=6, cost=columns_of) if cut else None
    found = lines({"a": value, "text": "x" * 900, "k" * 300: [1] * 30}, width=width, budget=budget)
    assert all(columns_of(line) <= width for line in found)
    assert all(line.startswith("  ") for line in found)


def test_deep_values_keep_their_room() -> None:
    """Indentation stops growing where it would leave nothing for the values."""
    value: Any = "x" * 100
    for _ in range(64):
        value = [value]
    assert all(columns_of(line) <= 60 for line in lines(value, width=60))


def test_hostile_text_is_spelled_out() -> None:
    """Reordering, escape sequences and look-alikes show, in names too."""
    assert lines({"x\u202e": "\x1b[2J"}) == ["  {", '    "x⟨U+202E⟩": "⟨U+001B⟩[2J"', "  }"]


def test_lines_of_a_text_are_shown_as_lines() -> None:
    """A script is readable: parted after line feeds, which are shown; a backslash and an n are none."""
    assert lines({"s": "a\nb\\n"}) == ["  {", '    "s": "a\\n', '         b\\\\n"', "  }"]


def test_a_long_text_goes_on_below_its_beginning() -> None:
    """Nothing it says can begin at the margin."""
    shown = lines({"s": "x" * 60 + "Risk  low"}, width=50)
    assert all(line.startswith("         ") for line in shown[2:-1])
    assert "".join(line.strip() for line in shown[1:-1]) == '"s": "' + "x" * 60 + 'Risk  low"'


def test_a_long_name_has_lines_of_its_own() -> None:
    """And its value stands below."""
    shown = lines({"n" * 70: 1}, width=60)
    assert shown == ["  {", '    "' + "n" * 55, "    " + "n" * 15 + '":', "      1", "  }"]


def test_a_mark_stands_behind_what_was_cut() -> None:
    """With the comma behind it."""
    shown = lines({"o": {"a": {"b": ["x" * 900]}}, "p": 1}, budget=Budget(lines=4))
    assert shown == ["  {", '    "o": {…} ⟨cut: 1 member⟩,', '    "p": 1', "  }"]


def test_a_mark_without_room_stands_below() -> None:
    """Under the text that was cut, still in its place."""
    _, *shown, mark, _ = lines(["x" * 900], width=60, budget=Budget(lines=4))
    assert "".join(line.strip() for line in shown) == '"' + "x" * 161 + "…"
    assert mark == "    ⟨cut: 900 characters in all⟩"


def test_hidden_values_and_escapes_are_set_off() -> None:
    """In a colour of their own, and readable without."""
    assert lines({"a": 1}, redacted=["/a"], coloured=True)[1] == (
        '    \x1b[36m"a": \x1b[0m\x1b[33m⟨hidden from approvers⟩\x1b[0m'
    )
    terminal = Terminal(Screen(terminal=True), {"TERM": "xterm"})
    assert marked("a\u27e8U+202E\u27e9b", terminal) == "a\x1b[33;1m⟨U+202E⟩\x1b[0mb"
