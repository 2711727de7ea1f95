"""What is suggested is copied: it must be TOML, and no one thing for another."""

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from placet.settings import remedies
from tests.unit.settings.test_directory_file import WHOLE as DIRECTORY
from tests.unit.settings.test_policy_file import WHOLE as POLICY

OTHERWISE = {"comment", "edit", "least_effect", "rules", "stricter"}
"""Members of which all words are named instead, or the header."""


def members(document: dict[str, Any]) -> Iterator[str]:
    """All that are no numbers and no flags, but for the names of issuers."""
    for name, value in document.items():
        if isinstance(value, str | list | dict) and "://" not in name:
            yield name
        for below in value if isinstance(value, list) else [value]:
            if isinstance(below, dict):
                yield from members(below)


@pytest.mark.parametrize(
    "name", sorted({*members(tomllib.loads(POLICY)), *members(tomllib.loads(DIRECTORY))} - OTHERWISE)
)
def test_every_member_has_an_example(name: str) -> None:
    """Of its own: only an issuer's table is called as the operator likes."""
    assert "audience" not in remedies.example("a rule", name) or name in {"audience", "issuers"}


@pytest.mark.parametrize(
    ("what", "name"), [*remedies._VALUES_OF, *(("a rule", each) for each in remedies._VALUES)]
)
def test_every_example_is_toml(what: str, name: str) -> None:
    """With a value of the member that it is for."""
    assert list(tomllib.loads(remedies.example(what, name))) == [name]


def test_what_is_quoted_is_the_same_text() -> None:
    """Whatever is in it."""
    text = 'a "b" \\c'
    assert tomllib.loads(f"x = {remedies.quoted(text)}") == {"x": text}


def test_what_is_long_or_invisible_is_not_repeated() -> None:
    """Nobody copies that."""
    for text in ("x" * 61, "a\u202eb"):
        assert remedies.of_texts("a rule", "channels", text) == 'write it as in channels = ["web"]'
