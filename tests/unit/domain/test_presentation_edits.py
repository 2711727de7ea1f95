"""What an approver changed, place by place."""

import sys
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from placet.domain.canonical import canonicalize
from placet.domain.presentation import Budget, Change, ChangeKind, Edits, Node, outline
from placet.domain.presentation.edits import DEPTH, edits
from placet.domain.presentation.nodes import HIDDEN
from placet.domain.redaction import parse_pointer

SCALARS = st.sampled_from([None, True, False, 0, 1, "1", "true", "a", ""])
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc/~"), inner, max_size=3),
    max_leaves=8,
)


def compared(before: Any, after: Any, budget: Budget | None = None, **options: Any) -> Edits:
    """The edits from one value to another."""
    return edits(Raw(canonicalize(before)), Raw(canonicalize(after)), budget or Budget.boundless(), **options)


def text(node: Node | None) -> str | None:
    """A value of a change, in its lines."""
    if node is None:
        return None
    return "\n".join(str(line).strip() for line in outline(node, columns=100, depth=DEPTH))


def told(found: Edits) -> list[tuple[str, str, str | None, str | None]]:
    """Each change in four words."""
    return [(each.kind.value, each.path, text(each.before), text(each.after)) for each in found.changes]


class TestPlaces:
    """Where two inputs differ."""

    def test_members_are_compared_by_name(self) -> None:
        """What stayed is not mentioned."""
        before = {"amount": 5, "to": {"name": "bob", "iban": "X"}, "cc": "ann"}
        after = {"amount": 7, "to": {"name": "bob", "iban": "Y"}, "note": ""}
        assert told(compared(before, after)) == [
            ("changed", "/amount", "5", "7"),
            ("removed", "/cc", '"ann"', None),
            ("changed", "/to/iban", '"X"', '"Y"'),
            ("added", "/note", None, '""'),
        ]

    @pytest.mark.parametrize(
        ("before", "after"), [(1, "1"), (True, "true"), (True, 1), (None, "null"), ({}, [])]
    )
    def test_kinds_differ(self, before: Any, after: Any) -> None:
        """A number is no text, however alike they look; nor is 1 true, as Python has it."""
        assert [each.kind for each in compared({"v": before}, {"v": after}).changes] == [ChangeKind.CHANGED]

    def test_of_an_array_front_and_end_stay(self) -> None:
        """One item taken out is one change, not a change of all behind it."""
        assert told(compared(["a", "b", "c", "d"], ["a", "c", "d"])) == [("removed", "/1", '"b"', None)]
        assert told(compared(["a", "c"], ["a", "b", "c"])) == [("added", "/1", None, '"b"')]
        assert told(compared(["a", "a"], ["a"])) == [("removed", "/1", '"a"', None)]

    def test_between_them_items_are_compared_by_place(self) -> None:
        """A change deep in an item is that change."""
        before = [{"n": 1, "m": 0}, {"n": 2, "m": 0}, "end"]
        after = [{"n": 9, "m": 0}, {"n": 2, "m": 1}, "more", "end"]
        assert told(compared(before, after)) == [
            ("changed", "/0/n", "1", "9"),
            ("changed", "/1/m", "0", "1"),
            ("added", "/2", None, '"more"'),
        ]

    def test_all_of_it_may_be_changed(self) -> None:
        """The empty pointer is the whole."""
        assert told(compared([1], "x")) == [("changed", "", "[1]", '"x"')]

    def test_nothing_changed_is_nothing(self) -> None:
        """Nor does the order of names count."""
        held = Raw(b'{"a":1,"b":[2]}'), Raw(b'{"b":[2],"a":1}')
        assert edits(*held, Budget.boundless()).changes == ()

    @given(VALUES, VALUES)
    def test_the_changes_lead_from_one_to_the_other(self, before: Any, after: Any) -> None:
        """Each place that is told differs, and there is one exactly where the inputs differ."""
        found = compared(before, after)
        assert (found.changes == ()) == (canonicalize(before) == canonicalize(after))
        for change in found.changes:
            was, now = (value_at(value, change.path) for value in (before, after))
            assert (was is MISSING) <= (change.before is None)
            assert (now is MISSING) <= (change.after is None)
            if change.kind is ChangeKind.CHANGED:
                assert canonicalize(was) != canonicalize(now)

    def test_what_is_hidden_is_not_compared(self) -> None:
        """Nor shown, where all around it was added."""
        before = {"card": {"n": "1", "x": 1}, "pin": 1}
        after = {"card": {"n": "2", "x": 2}, "pin": 2, "new": {"pin": 3}}
        found = compared(before, after, redacted=("/card/n", "/pin", "/new/pin"))
        assert told(found) == [
            ("changed", "/card/x", "1", "2"),
            ("added", "/new", None, f'{{\n"pin": {HIDDEN}\n}}'),
        ]

    def test_hazards_of_what_was_there_are_told(self) -> None:
        """Those of the effective input are told with it."""
        found = compared({"a": "\u202e"}, {"a": "\u200b"})
        assert [each.sentence for each in found.hazards] == [
            "Look twice at what was changed: characters that reorder text (1)."
        ]

    def test_names_are_visible(self) -> None:
        """In paths too."""
        assert told(compared({"\u202e/": 1}, {})) == [("removed", "/⟨U+202E⟩~1", "1", None)]


class TestBounded:
    """There is never more than there is room for."""

    @given(
        st.dictionaries(st.text(max_size=3), st.integers(0, 400), max_size=30),
        st.integers(4, 40),
        st.integers(80, 120),
    )
    def test_all_changes_keep_to_their_room(self, sizes: dict[str, int], lines: int, columns: int) -> None:
        """Their paths and their values together."""
        before = {name * 9: "x" * size for name, size in sizes.items()}
        after = {name * 9: ["y" * size, size] for name, size in sizes.items() if size % 3}
        budget = Budget(lines=lines, columns=columns)
        found = compared({"k": before}, {"k": after}, budget)
        assert len("\n".join(written(found, budget))) <= lines * columns
        assert len(found.changes) + found.missing == len(compared({"k": before}, {"k": after}).changes)
        assert found.was_cut or strings_of(found) == strings_of(compared({"k": before}, {"k": after}))

    def test_those_that_do_not_fit_are_counted(self) -> None:
        """The first of them, and how many more there are."""
        found = compared({f"k{n:04}": n for n in range(1_000)}, {}, Budget(lines=9))
        assert [each.path for each in found.changes] == ["/k0000", "/k0001", "/k0002", "/k0003"]
        assert (found.missing, found.mark, found.was_cut) == (996, "⟨cut: 996 more⟩", True)
        assert compared({}, {"a": 1}).mark == ""

    def test_a_long_value_leaves_room_for_the_others(self) -> None:
        """Each gets its share."""
        found = compared({"a": "x" * 9_000, "b": 1}, {"a": "y" * 9_000, "b": 2}, Budget(lines=12))
        assert [each.path for each in found.changes] == ["/a", "/b"]
        assert found.was_cut

    def test_a_long_path_is_cut(self) -> None:
        """And says so."""
        value: Any = 1
        for _ in range(40):
            value = {"k" * 300: value}
        (change,) = compared(value, canonicalless(value), Budget(lines=6, columns=80)).changes
        assert change.path.endswith("…")
        assert len(change.path) == 161
        (change,) = compared(value, canonicalless(value)).changes
        assert change.path == ("/" + "k" * 100 + "…") * 32 + "/…"


def test_work_is_linear() -> None:
    """Four times as much takes four times as many calls: deep, wide and with long names on the way."""
    few, many = (work(units) for units in (1_000, 4_000))
    assert many < 4.8 * few


def work(units: int) -> int:
    """Calls that a comparison takes."""
    sides: list[Any] = [["x"] * units + [side] + ["y"] * units for side in (1, 2)]
    sides = [
        {"k" * units: {str(n): [n, side] for n in range(units // 4)}, "l": sides[side]} for side in (0, 1)
    ]
    for _ in range(60):
        sides = [[side] for side in sides]
    before, after = (Raw(canonicalize(side)) for side in sides)
    done = 0

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal done
        done += event in {"call", "c_call"}

    profile = sys.getprofile()
    sys.setprofile(count)
    try:
        edits(before, after, Budget(lines=30))
    finally:
        sys.setprofile(profile)
    return done


MISSING = object()


def value_at(value: Any, pointer: str) -> Any:
    """What lies at a pointer."""
    for step in parse_pointer(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and int(step) < len(value):
            value = value[int(step)]
        else:
            return MISSING
    return value


def canonicalless(value: Any) -> Any:
    """The same with another value at its bottom."""
    return {name: canonicalless(member) for name, member in value.items()} if isinstance(value, dict) else 2


def written(found: Edits, budget: Budget) -> list[str]:
    """All of it in lines, as a medium would write it."""
    nodes = [node for change in found.changes for node in sides_of(change)]
    values = [str(line) for node in nodes for line in outline(node, columns=budget.columns, depth=DEPTH)]
    return [*(change.path for change in found.changes), *values, *([found.mark] if found.mark else [])]


def strings_of(found: Edits) -> list[str]:
    """All that is said of the values."""
    return [text(node) or "" for change in found.changes for node in sides_of(change)]


def sides_of(change: Change) -> list[Node]:
    """The values of a change."""
    return [node for node in (change.before, change.after) if node is not None]
