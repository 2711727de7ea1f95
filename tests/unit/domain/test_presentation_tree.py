"""A value as a tree: exact, typed, bounded, and what is hidden, cut or suspicious is marked."""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from placet.domain.canonical import canonicalize
from placet.domain.presentation import Budget, HazardKind, Node, NodeKind, Tree, outline
from placet.domain.presentation.nodes import HIDDEN
from placet.domain.presentation.tree import DEPTH_MAX, decode, tree
from placet.domain.redaction import redact
from placet.domain.text import Kind, findings
from tests.hostile import close_texts, close_values, escaped
from tests.strategies import json_values

HOSTILE_VALUES = (
    json_values(30)
    | close_values()
    | st.builds(
        lambda text, times: {text * times: [text * times, {text: text}]}, close_texts(), st.integers(1, 400)
    )
)


BUDGETS = st.builds(
    Budget, lines=st.integers(4, 40), columns=st.integers(80, 120), cost=st.sampled_from([len, escaped])
)


def raw(value: Any) -> Raw:
    """The value as it is stored."""
    return Raw(canonicalize(value))


def shown(value: Any, budget: Budget | None = None, *, redacted: tuple[str, ...] = ()) -> Tree:
    """Its tree, all of it unless there is a budget."""
    return tree(raw(value), budget or Budget.boundless(), where="the input", redacted=redacted)


def lines(value: Any, budget: Budget | None = None, *, redacted: tuple[str, ...] = ()) -> list[str]:
    """Its outline."""
    budget = budget or Budget.boundless()
    found = shown(value, budget, redacted=redacted)
    return [str(line) for line in outline(found.root, columns=budget.columns, cost=budget.cost)]


def strings(node: Node) -> list[str]:
    """All that a node says."""
    return [
        *([node.key] if node.key else []),
        *node.lines,
        *(s for each in node.members for s in strings(each)),
    ]


class TestExact:
    """What is shown is what it is."""

    @pytest.mark.parametrize(
        ("value", "kind", "text"),
        [
            (None, NodeKind.NULL, "null"),
            (True, NodeKind.BOOLEAN, "true"),
            (False, NodeKind.BOOLEAN, "false"),
            ("true", NodeKind.TEXT, '"true"'),
            ("null", NodeKind.TEXT, '"null"'),
            ("", NodeKind.TEXT, '""'),
            (1, NodeKind.NUMBER, "1"),
            ("1", NodeKind.TEXT, '"1"'),
            (0.000001, NodeKind.NUMBER, "0.000001"),
            (1e-7, NodeKind.NUMBER, "1e-7"),
            (1e21, NodeKind.NUMBER, "1e+21"),
            (-1.7976931348623157e308, NodeKind.NUMBER, "-1.7976931348623157e+308"),
            (2**53 - 1, NodeKind.NUMBER, "9007199254740991"),
            ({}, NodeKind.OBJECT, "{}"),
            ([], NodeKind.ARRAY, "[]"),
        ],
    )
    def test_each_kind_of_value_looks_like_itself(self, value: Any, kind: NodeKind, text: str) -> None:
        """A text has quotes; a number keeps its spelling to the digit; empty things show."""
        root = shown(value).root
        assert (root.kind, root.lines) == (kind, (text,))

    def test_a_number_of_any_length_is_shown(self) -> None:
        """Reading it would take quadratic time, so nobody reads it."""
        digits = "9" * 10_000
        found = tree(Raw(digits.encode()), Budget.boundless(), where="the input")
        assert found.root.lines == (digits,)

    @given(json_values())
    def test_the_outline_of_plain_text_is_its_json(self, value: Any) -> None:
        """Where nothing has to be made visible, the lines parse back to the value."""
        text = canonicalize(value).decode()
        if text.isascii() and "\\" not in text and "\x7f" not in text:
            assert canonicalize(json.loads("\n".join(lines(value)))) == canonicalize(value)

    @given(close_values(), close_values())
    def test_different_values_look_different(self, one: Any, other: Any) -> None:
        """Nothing in a value can make it pass for another."""
        assert (lines(one) == lines(other)) == (canonicalize(one) == canonicalize(other))

    @given(close_values(), close_values(), BUDGETS)
    def test_those_that_look_alike_say_that_they_are_cut(self, one: Any, other: Any, budget: Budget) -> None:
        """Two values are alike on a card only where both are marked."""
        wide = {"first": one, "then": ["x" * 30] * 40, "z": other}
        narrow = {"first": one, "then": ["x" * 30] * 40, "z": one}
        if lines(wide, budget) == lines(narrow, budget) and canonicalize(wide) != canonicalize(narrow):
            assert shown(wide, budget).was_cut
            assert shown(narrow, budget).was_cut

    def test_lines_of_a_script_are_lines(self) -> None:
        """They go on below their beginning."""
        assert lines({"s": "a\nb\\n"}) == ["{", '  "s": "a\\n', '       b\\\\n"', "}"]

    def test_a_few_scalars_take_one_line(self) -> None:
        """A list of numbers is read at a glance."""
        value = {"n": [1, 2], "o": {"a": None}}
        assert lines(value) == ["{", '  "n": [1, 2],', '  "o": {"a": null}', "}"]

    @pytest.mark.parametrize("inner", [[1] * 25, ["\u05d0", 1], ["a\u200b"], ["a\nb"], ["x" * 200], [[1]]])
    def test_what_must_be_seen_apart_is(self, inner: Any) -> None:
        """Many, long, nested or suspicious values, and letters that would drag others to the left."""
        assert len(lines({"n": inner})) > 3

    def test_the_json_is_there_too(self) -> None:
        """In one line, visible."""
        assert shown({"b": 1, "a": "\u202e"}).json == '{"a":"⟨U+202E⟩","b":1}'
        assert shown({"b": 1}).size_bytes == 7

    def test_an_outline_can_begin_below_something(self) -> None:
        """Where a value is shown by itself, a small container may be in one line."""
        assert [str(line) for line in outline(shown([1, 2]).root, columns=80, depth=1)] == ["  [1, 2]"]


class TestHidden:
    """What approvers must not see."""

    def test_the_mark_stands_at_the_pointers_only(self) -> None:
        """The word that stands there on the wire is no mark."""
        value = {"a": "[redacted]", "b": {"c": "[redacted]", "d": ["[redacted]", 1]}}
        found = lines(value, redacted=("/b/c", "/b/d/0", "/nowhere", "/a/b"))
        assert found == [
            "{",
            '  "a": "[redacted]",',
            '  "b": {',
            f'    "c": {HIDDEN},',
            '    "d": [',
            f"      {HIDDEN},",
            "      1",
            "    ]",
            "  }",
            "}",
        ]
        assert shown(value, redacted=("/b/c", "/b/d/0", "/nowhere")).hidden == 2

    def test_a_text_can_not_pass_for_the_mark(self) -> None:
        """It has its quotes, and another kind."""
        root = shown(HIDDEN).root
        assert (root.kind, root.lines) == (NodeKind.TEXT, (f'"{HIDDEN}"',))

    @pytest.mark.parametrize("pointers", [("",), ("", "/a"), ("/a", ""), ("/a/b", "")])
    def test_all_of_it_may_be_hidden(self, pointers: tuple[str, ...]) -> None:
        """The pointer to the whole, whatever else is named."""
        assert lines("[redacted]", redacted=pointers) == [HIDDEN]

    @pytest.mark.parametrize("pointers", [("/a", "/a/b"), ("/a/b", "/a")])
    def test_a_hidden_value_hides_what_is_in_it(self, pointers: tuple[str, ...]) -> None:
        """In whatever order they are named."""
        assert lines({"a": {"b": 1}}, redacted=pointers) == ["{", f'  "a": {HIDDEN}', "}"]

    def test_a_pointer_that_is_none_hides_nothing(self) -> None:
        """No service admits it; the card is shown all the same."""
        assert lines({"a": 1}, redacted=("a", "/~2")) == lines({"a": 1})

    @given(json_values(), st.lists(st.sampled_from(["", "/a", "/0", "/0/0", "/a/b", "/a/0"]), max_size=3))
    def test_it_marks_what_the_service_hides(self, value: Any, pointers: list[str]) -> None:
        """The same places as :func:`placet.domain.redaction.redact` replaces."""
        wrapped = {"a": value, "0": [value]}
        hidden, was_hidden = redact(wrapped, pointers)
        assert (shown(hidden, redacted=tuple(pointers)).hidden > 0) == was_hidden


class TestSuspicious:
    """What could mislead."""

    def test_hazards_have_their_place(self) -> None:
        """The kind, how often, and where first."""
        found = shown({"a": ["x", "\u200b\u200b"], "b~/": {"\u202e": 1}, "c": "\u200b"}).hazards
        assert [(each.kind, each.count, each.path) for each in found] == [
            (HazardKind.BIDI, 1, "/b~0~1/⟨U+202E⟩"),
            (HazardKind.INVISIBLE, 3, "/a/1"),
        ]
        assert found[1].sentence == "Look twice at the input: invisible characters (3), first at /a/1."

    def test_the_nodes_have_them_too(self) -> None:
        """So that a medium can set them off."""
        (member,) = shown({"k\u200b": "v\x1b"}).root.members
        assert member.hazards == (HazardKind.CONTROL, HazardKind.INVISIBLE)
        assert shown({"k": "v"}).root.members[0].hazards == ()

    def test_names_that_look_the_same_are_flagged(self) -> None:
        """One accent composed in two ways: both are there, and told to be two."""
        found = shown({"x": {"caf\u00e9": 1, "cafe\u0301": 2, "tea": 3}})
        assert [(each.kind, each.count, each.path) for each in found.hazards] == [
            (HazardKind.TWIN_NAMES, 2, "/x")
        ]
        assert found.root.members[0].hazards == (HazardKind.TWIN_NAMES,)

    def test_names_that_differ_by_what_is_invisible_differ_visibly(self) -> None:
        """Once it is spelled out they are no twins any more."""
        found = shown({"amount": 1, "amount\u200b": 2, "\u0430mount": 3})
        keys = [member.key for member in found.root.members]
        assert keys == ['"amount"', '"amount⟨U+200B⟩"', '"⟨U+0430⟩mount"']
        assert {each.kind for each in found.hazards} == {HazardKind.INVISIBLE, HazardKind.CONFUSABLE}

    def test_one_text_can_not_vouch_for_another(self) -> None:
        """A word of look-alikes is flagged, though Cyrillic is written beside it."""
        found = shown(["\u0441\u043e\u0440\u0435", "\u0416\u0416"])
        assert [(each.kind, each.path) for each in found.hazards] == [(HazardKind.CONFUSABLE, "/0")]

    def test_hazards_are_found_beyond_the_cut(self) -> None:
        """What does not fit can mislead too, once it runs."""
        found = shown({"a": "x" * 9_000, "b": ["y"] * 500 + ["\u202e"]}, Budget(lines=5))
        assert found.was_cut
        assert [(each.kind, each.path) for each in found.hazards] == [(HazardKind.BIDI, "/b/500")]

    def test_a_place_is_named_in_short(self) -> None:
        """However long and however many the names on the way are."""
        value: Any = "\u202e"
        for _ in range(12):
            value = {"k" * 1_000: value}
        (found,) = shown(value).hazards
        assert found.path == ("/" + "k" * 40 + "…") * 8 + "/…"
        assert shown("\u202e").hazards[0].sentence.endswith("first at its root.")

    def test_right_to_left_letters_are_told(self) -> None:
        """They are honest, but they move their neighbours: a medium must keep them apart."""
        members = shown({"a": "\u05e9\u05dc\u05d5\u05dd", "\u0645": 1, "b": "x"}).root.members
        assert [member.is_rtl for member in members] == [True, False, True]

    @given(HOSTILE_VALUES, BUDGETS)
    def test_every_text_is_visible(self, value: Any, budget: Budget) -> None:
        """Whole or cut, in names and values, no hazard is left but words that wholly look Latin."""
        found = shown(value, budget)
        for text in [*strings(found.root), found.json]:
            assert {finding.kind for finding in findings(text)} <= {Kind.CONFUSABLE}
            assert "\n" not in text
            assert "\t" not in text


class TestBounded:
    """There is never more than there is room for, and what is missing is said."""

    @given(HOSTILE_VALUES, BUDGETS)
    def test_an_outline_keeps_to_its_room(self, value: Any, budget: Budget) -> None:
        """Lines times columns, after escaping, indentation and marks included."""
        found = "\n".join(lines({"a": value, "b": [value] * 30, "<&>": "&" * 500}, budget))
        assert budget.cost(found) <= budget.lines * budget.columns

    @given(HOSTILE_VALUES, BUDGETS)
    def test_what_fits_is_not_cut(self, value: Any, budget: Budget) -> None:
        """A tree that is not marked as cut is the whole one."""
        found = shown(value, budget)
        if not found.was_cut:
            assert strings(found.root) == strings(shown(value, Budget.boundless(columns=budget.columns)).root)
            assert "⟨cut" not in found.json or "⟨cut" in canonicalize(value).decode()

    def test_every_member_gets_its_share(self) -> None:
        """One endless text does not push the others off the card."""
        assert lines({"body": "x" * 10_000, "to": "bob", "why": {"a": [1]}}, Budget(lines=9, columns=80)) == [
            "{",
            '  "body": "' + "x" * 170 + "… ⟨cut: 10,000 characters in all⟩,",
            '  "to": "bob",',
            '  "why": {',
            '    "a": [1]',
            "  }",
            "}",
        ]

    def test_members_that_do_not_fit_are_counted(self) -> None:
        """10 000 names: the first of them, and how many more there are."""
        found = lines({f"k{n:05}": n for n in range(10_000)}, Budget(lines=6))
        assert found == [
            "{",
            *(f'  "k{n:05}": {n},' for n in range(3)),
            "  ⟨cut: 9,997 more of 10,000 members⟩",
            "}",
        ]

    def test_an_array_is_read_from_its_front(self) -> None:
        """Whole items, as many as fit."""
        found = lines([{"a": {"b": n}} for n in range(50)], Budget(lines=9))
        assert found == [
            "[",
            "  {",
            '    "a": {"b": 0}',
            "  },",
            "  {",
            '    "a": {"b": 1}',
            "  },",
            "  ⟨cut: 48 more of 50 items⟩",
            "]",
        ]

    def test_no_item_takes_more_than_half_while_others_wait(self) -> None:
        """The second is seen too."""
        found = lines(["x" * 10_000, "second"], Budget(lines=8, columns=80))
        assert found[2] == '  "second"'
        assert found[1].endswith("⟨cut: 10,000 characters in all⟩,")

    def test_a_single_item_takes_all(self) -> None:
        """There is nobody to wait."""
        (_, text, _) = lines(["x" * 10_000], Budget(lines=4, columns=80))
        assert len(text) > 2 * 70

    def test_a_container_without_room_is_one_line(self) -> None:
        """With what is in it as a number."""
        found = lines(
            {"a": {"x": {"y": {"z": "x" * 400}}}, "b": ["x" * 300], "c": 1}, Budget(lines=5, columns=80)
        )
        assert found == ["{", '  "a": {…} ⟨cut: 1 member⟩,', '  "b": […] ⟨cut: 1 item⟩,', '  "c": 1', "}"]

    def test_a_long_name_is_cut_and_counted(self) -> None:
        """It has its own lines, and leaves some to its value."""
        found = lines({"k" * 5_000: "v" * 5_000}, Budget(lines=8, columns=80))
        assert len(found) == 4
        assert found[1].endswith("… ⟨cut: 5,000 characters in all⟩:")
        assert found[2].endswith("… ⟨cut: 5,000 characters in all⟩")

    def test_a_long_name_may_be_all_that_is_cut(self) -> None:
        """Its value is whole then."""
        found = shown({"k" * 5_000: 7}, Budget(lines=8))
        (member,) = found.root.members
        assert found.was_cut
        assert (member.was_cut, member.mark, member.key_size) == (False, "", 5_000)

    def test_a_cut_is_marked_even_where_all_of_it_would_take_no_room(self) -> None:
        """A medium may count combining marks as nothing; what lies far beyond is cut all the same."""
        budget = Budget(lines=4, columns=80, cost=lambda text: sum(char < "\u0300" for char in text))
        found = shown("e\u0301\u0302\u0303" * 10_000 + "end", budget)
        assert found.was_cut
        assert found.root.mark == "⟨cut: 40,003 characters in all⟩"
        assert found.json.endswith("… ⟨cut: 40,005 characters in all⟩")
        nothing = Budget(lines=4, columns=80, cost=lambda text: 0)
        assert shown("x" * 10_000, nothing).root.mark == "⟨cut: 10,000 characters in all⟩"

    def test_an_escape_is_never_torn_apart(self) -> None:
        """Neither ours nor JSON's: a lone backslash would spell something else."""
        for length in range(200):
            text = "x" * length + "\\" * 400 + "\u202e" * 100
            (line,) = lines(text, Budget(lines=4, columns=80))
            kept = line.partition("…")[0]
            assert (len(kept) - len(kept.rstrip("\\"))) % 2 == 0
            assert kept.count("⟨") == kept.count("⟩")

    def test_a_text_of_many_lines_is_cut_between_them(self) -> None:
        """Or in the last one there is room for."""
        found = lines("line\n" * 100_000, Budget(lines=4, columns=80))
        assert found == ['"line\\n', "line\\n", "line\\n", "line\\n… ⟨cut: 500,000 characters in all⟩"]

    def test_the_deepest_that_is_admitted_is_shown(self) -> None:
        """Indentation stops growing, and nothing gives way."""
        value: Any = "x"
        for _ in range(DEPTH_MAX):
            value = [value]
        found = shown(value)
        assert not found.was_cut
        assert max(map(len, lines(value))) < 60

    def test_what_lies_deeper_is_marked(self) -> None:
        """No service admits it."""
        text = b"[" * (DEPTH_MAX + 9) + b"]" * (DEPTH_MAX + 9)
        found = tree(Raw(text), Budget.boundless(), where="the input")
        assert found.was_cut
        assert "[…] ⟨cut: 1 item⟩" in str([str(line) for line in outline(found.root, columns=100)])


def nested(depth: int, inner: Any, key: str = "k") -> Any:
    """A value that lies so deep."""
    for _ in range(depth):
        inner = {key: inner}
    return inner


class TestLinear:
    """Work grows with the size of the input and no faster, whatever it is made of."""

    @pytest.mark.parametrize(
        "make",
        [
            lambda n: "\u202e" * n,
            lambda n: "a\u0430" * n,
            lambda n: "e" + "\u0301" * n,
            lambda n: "\n" * n,
            lambda n: "\\\u200b" * n,
            lambda n: {"\u202e" * n: 1},
            lambda n: {f"k{i}\u200b": "\u200b" for i in range(n // 4)},
            lambda n: [[]] * n,
            lambda n: [["x"] * 30] * (n // 30),
            lambda n: {"k" * n: {str(i): "\u202e" for i in range(n // 8)}},
            lambda n: nested(64, ["\u202e"] * n),
            lambda n: nested(64, "x" * n, "\u00e9" * (n // 64)),
        ],
    )
    @pytest.mark.parametrize(
        "budget", [Budget(lines=30, columns=80), Budget.boundless()], ids=["small", "boundless"]
    )
    def test_four_times_as_much_is_four_times_the_work(
        self, make: Callable[[int], Any], budget: Budget
    ) -> None:
        """Calls made and characters costed, for 2 000 units and for 8 000."""
        few, many = (work(make(units), budget) for units in (2_000, 8_000))
        assert many < 4.8 * few


def work(value: Any, budget: Budget) -> int:
    """Calls that a tree and its outline take, and characters that were costed."""
    held, done = raw(value), 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal done
        done += event in {"call", "c_call"}

    def cost(text: str) -> int:
        nonlocal done
        done += len(text) // 16
        return len(text)

    counted = Budget(lines=budget.lines, columns=budget.columns, cost=cost)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = tree(held, counted, where="the input", redacted=("/a/b", "/k/k"))
        outline(found.root, columns=counted.columns, cost=cost)
    finally:
        sys.setprofile(before)
    return done


def test_a_decoded_number_is_no_text() -> None:
    """Though Python might think so."""
    assert shown([1, "1"]).root.members[0].kind is NodeKind.NUMBER
    assert type(decode(Raw(b"1"))) is not str
