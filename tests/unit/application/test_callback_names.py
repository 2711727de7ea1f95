"""Which bridges the address of a callback may be of."""

import pytest

from placet.application.callback_names import path_of, places_of
from placet.domain.principals import Client


@pytest.mark.parametrize(
    ("named", "places"),
    [
        ("chat", (("default", "chat"),)),
        ("blue.chat", (("default", "blue.chat"), ("blue", "chat"))),
        ("blue.chat.eu", (("default", "blue.chat.eu"), ("blue", "chat.eu"))),
        ("default.chat", (("default", "default.chat"),)),
        ("Blue.chat", (("default", "Blue.chat"),)),
        ("a_b.chat", (("default", "a_b.chat"),)),
        ("blue.", (("default", "blue."),)),
        ("blue.-", (("default", "blue.-"),)),
        (f"{'t' * 63}.{'n' * 128}", (("t" * 63, "n" * 128),)),
        (".chat", ()),
        ("", ()),
        ("a/b", ()),
        ("chat\n", ()),
        ("n" * 129, ()),
    ],
)
def test_a_name_says_where_to_look(named: str, places: tuple[tuple[str, str], ...]) -> None:
    """In the default tenant, and in the one that stands before the first full stop."""
    assert places_of(named) == places


@pytest.mark.parametrize(
    ("tenant", "name"), [("default", "chat"), ("blue", "chat"), ("blue", "a.b"), ("default", "x.y")]
)
def test_a_bridge_is_looked_for_where_it_is(tenant: str, name: str) -> None:
    """Whatever it is called."""
    path = path_of(Client(tenant=tenant, name=name, scopes=frozenset()))
    assert (tenant, name) in places_of(path.removeprefix("/v1/callbacks/"))
