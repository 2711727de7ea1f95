"""Patterns: what they are for, and when one is for all that another is for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from placet.domain.patterns import Names, covers, matches, never_matches
from tests.rulestrategies import patterns


@pytest.mark.parametrize(
    ("name", "pattern", "is_for"),
    [
        ("orders.refund", "orders.*", True),
        ("orders.a.b", "orders.*", True),
        ("orders.", "orders.*", True),
        ("orders", "orders.*", False),
        ("Orders.x", "orders.*", False),
        ("a", "*", True),
        ("", "*", True),
        ("a[b]", "a[b]", True),
        ("ab", "a[b]", False),
        ("ab", "a?", False),
        ("a?", "a?", True),
        ("a!b", "a[!x]b", False),
    ],
)
def test_a_star_stands_for_anything_and_nothing_else_does(name: str, pattern: str, *, is_for: bool) -> None:
    """It spans dots; case matters; brackets and question marks are letters like others."""
    assert matches(name, [pattern]) is is_for


def test_one_of_several_is_enough() -> None:
    """Of a list."""
    assert matches("b", ["a", "b"])
    assert not matches("c", ["a", "b"])


@pytest.mark.parametrize(
    ("wider", "narrower", "does"),
    [
        ("*", "a*", True),
        ("a*", "*", False),
        ("a*", "ab*c", True),
        ("*a", "a", True),
        ("a", "a", True),
        ("a", "a*", False),
        ("**", "*", True),
        ("*", "**", True),
        ("a*b*c", "a*c", False),
        ("a*c", "a*b*c", True),
        ("a?", "ab", False),
        ("[*", "[a]", True),
    ],
)
def test_one_covers_another(wider: str, narrower: str, *, does: bool) -> None:
    """Where it is for every name that the other is for."""
    assert covers(wider, narrower) is does


@given(patterns(), patterns(), st.lists(st.text("abc", max_size=4), min_size=5, max_size=5))
def test_covering_is_being_for_every_name(wider: str, narrower: str, fills: list[str]) -> None:
    """Whatever the stars of the narrower stand for; and where it is not covered, some name shows it."""
    parts = narrower.split("*")
    name = parts[0] + "".join(fill + part for fill, part in zip(fills, parts[1:], strict=False))
    assert matches(name, [narrower])
    if covers(wider, narrower):
        assert matches(name, [wider])
    else:
        assert not matches(narrower.replace("*", "c"), [wider])


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (Names.TENANTS, "Default"),
        (Names.TENANTS, "-a"),
        (Names.TENANTS, "a.b"),
        (Names.TENANTS, "a" * 64),
        (Names.TENANTS, ""),
        (Names.CLIENTS, "a b"),
        (Names.CLIENTS, "_a"),
        (Names.CLIENTS, "a" * 129),
        (Names.CAPABILITIES, "orders refund"),
        (Names.CAPABILITIES, "é*"),
        (Names.SURFACES, "a" * 201),
    ],
)
def test_what_no_name_can_be_is_told(names: Names, pattern: str) -> None:
    """With the characters that names are made of."""
    fault = never_matches(pattern, names)
    assert fault is not None
    assert fault.startswith(f"{pattern!r} can never match: {names} are made of ")


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        (Names.TENANTS, "*"),
        (Names.TENANTS, "*-eu"),
        (Names.TENANTS, "a" * 63 + "*"),
        (Names.CLIENTS, "Shop.*:1_-"),
        (Names.CAPABILITIES, "a/b-[x]?*"),
        (Names.SURFACES, "*"),
    ],
)
def test_what_a_name_can_be_is_no_fault(names: Names, pattern: str) -> None:
    """Whether there is one or not."""
    assert never_matches(pattern, names) is None
