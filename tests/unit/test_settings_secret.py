"""A secret shows itself only when asked by name."""

import copy
import json
import pickle

import msgspec
import pytest

from placet.settings import Secret, StoreSettings

_SECRET = Secret("hunter2")


def test_reveal_is_the_one_way_to_read_it() -> None:
    """Who needs it says so."""
    assert _SECRET.reveal() == "hunter2"


@pytest.mark.parametrize(
    "shown",
    [
        repr(_SECRET),
        str(_SECRET),
        f"{_SECRET}",
        f"{_SECRET:>20}",
        f"{_SECRET!r}",
        f"{[_SECRET]}",
    ],
)
def test_it_hides_wherever_text_is_made(shown: str) -> None:
    """No formatting betrays it."""
    assert "hunter2" not in shown
    assert "Secret(hidden)" in shown


def test_a_struct_that_holds_it_hides_it(tmp_path: object) -> None:
    """Settings can be printed."""
    assert "hunter2" not in repr(StoreSettings(data_dir=tmp_path, redis_url=_SECRET))  # type: ignore[arg-type]


@pytest.mark.parametrize("encode", [msgspec.json.encode, msgspec.to_builtins, json.dumps, pickle.dumps])
def test_nothing_encodes_it(encode: object) -> None:
    """Where a text can't be hidden, encoding fails instead."""
    with pytest.raises(TypeError) as caught:
        encode({"redis_url": _SECRET})  # type: ignore[operator]
    assert "hunter2" not in str(caught.value)


def test_it_has_no_attributes_to_list() -> None:
    """Tools that walk an object's dictionary find none."""
    assert not hasattr(_SECRET, "__dict__")


def test_copies_are_the_secret_itself() -> None:
    """Replacing a field of a struct, or copying one, keeps it."""
    assert copy.copy(_SECRET) is _SECRET
    assert copy.deepcopy(_SECRET) is _SECRET


def test_equal_secrets_are_equal() -> None:
    """Two readings of one variable compare equal, and a text is no secret."""
    assert Secret("hunter2") == _SECRET
    assert hash(Secret("hunter2")) == hash(_SECRET)
    assert Secret("hunter3") != _SECRET
    assert _SECRET != "hunter2"
