"""A tool is called with what was bound, whatever its signature is: Python's own call says what that is."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from placet.client.decorating import Form
from placet.domain.canonical import canonicalize
from placet.domain.errors import ApprovalInputMismatch
from tests.signatures import Called, calls
from tests.strategies import json_values


def read_back(value: Any) -> Any:
    """What comes back of a value that is bound."""
    return msgspec.json.decode(canonicalize(value))


def received(called: Called, approved: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a tool gets of what was approved, and what it gets besides."""
    note(f"{called.text}, called with {called.args} and {called.kwargs}, got {approved}")
    form = Form(called.function, unbound=called.unbound, key=called.key)
    bound = form.bind(called.args, called.kwargs)
    form.judge(None)(approved)
    how = form.call(bound, approved, "e-1")
    got = called.function(*how.args, **how.kwargs)
    apart = called.unbound | ({called.key} if called.key else set())
    return (
        {name: value for name, value in got.items() if name not in apart},
        {name: value for name, value in got.items() if name in apart},
    )


@given(calls())
def test_what_is_bound_is_what_python_would_call_it_with(called: Called) -> None:
    """Defaults, rest arguments and all; and that is what it gets in the end, to the byte."""
    key = {called.key: "e-1"} if called.key else {}
    direct = called.function(*called.args, **called.kwargs, **key)
    form = Form(called.function, unbound=called.unbound, key=called.key)
    bound = form.bind(called.args, called.kwargs).input
    due = {name: value for name, value in direct.items() if name not in {*called.unbound, *key}}
    assert canonicalize(bound) == canonicalize(due)
    got, besides = received(called, read_back(bound))
    assert canonicalize(got) == canonicalize(due)
    assert canonicalize(besides) == canonicalize({name: direct[name] for name in direct.keys() - due.keys()})


@given(calls(), st.data())
def test_what_an_approver_makes_of_it_arrives_or_is_refused(called: Called, data: st.DataObject) -> None:
    """A call that passes can be made, and has every member as it was approved."""
    form = Form(called.function, unbound=called.unbound, key=called.key)
    approved = read_back(form.bind(called.args, called.kwargs).input)
    names = st.sampled_from([*"abcdef", "self", "args", "kwargs"])
    approved |= data.draw(st.dictionaries(names.filter(approved.__contains__), changes(names), max_size=2))
    for name in data.draw(st.lists(names, max_size=1)):
        approved.pop(name, None)
    try:
        got, _ = received(called, approved)
    except ApprovalInputMismatch:
        return
    assert canonicalize(got) == canonicalize(approved)


def changes(names: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """Any JSON; often an array or an object with the names of parameters, as rest arguments have."""
    value = json_values(max_leaves=3)
    return st.one_of(value, st.lists(value, max_size=2), st.dictionaries(names, value, max_size=2))


@pytest.mark.parametrize("approved", [None, [], "a", 7, {}, {"a": 1, "b": 2}], ids=str)
def test_what_is_no_call_of_it(approved: Any) -> None:
    """Is refused, whatever it is."""
    with pytest.raises(ApprovalInputMismatch):
        Form(lambda a: a, unbound=(), key=None).judge(None)(approved)
