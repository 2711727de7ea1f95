"""Which Host is ours."""

import pytest

from placet.settings.hosts import accepted, host_name

OURS = frozenset({"localhost", "::1", "placet.example", "*.inside.example"})


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("placet.example", "placet.example"),
        ("Placet.EXAMPLE:8420", "placet.example"),
        ("placet.example:", "placet.example"),
        ("[::1]", "::1"),
        ("[::1]:80", "::1"),
        ("[::FFFF:127.0.0.1]", "::ffff:127.0.0.1"),
        ("", ""),
        (":80", ""),
        ("[::1", ""),
        ("[::1]x", ""),
        ("::1", ""),
        ("a:b", ""),
        ("a@localhost", ""),
        ("localhost/x", ""),
        ("localhost\n", ""),
        ("localhost ", ""),
    ],
)
def test_the_name_is_what_stands_before_the_port(header: str, name: str) -> None:
    """RFC 9110 §7.2; whatever has another form has no name."""
    assert host_name(header) == name


@pytest.mark.parametrize("header", ["localhost", "[::1]:1", "a.inside.example", "a.b.inside.example:9"])
def test_our_names_are_accepted(header: str) -> None:
    """Exact ones, and any below a wildcard."""
    assert accepted(header, OURS)


@pytest.mark.parametrize(
    "header", [None, "", "inside.example", "xinside.example", "a.placet.example", "evil.example", "*.inside"]
)
def test_others_are_not(header: str | None) -> None:
    """Neither what a wildcard stands below, nor what only ends alike."""
    assert not accepted(header, OURS)
