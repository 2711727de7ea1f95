"""Principals: what a client may be made of."""

from typing import Any

import pytest

from placet.domain.model import Risk
from placet.domain.principals import Approver, Client, Scope, faults_of


def a_client(*scopes: Scope, **members: Any) -> Client:
    """A client."""
    return Client(tenant="default", name="c", scopes=frozenset(scopes), **members)


GOOD = [
    a_client(Scope.REQUEST, Scope.CONSUME, Scope.READ, Scope.ADMIN),
    a_client(Scope.DECIDE_AS, people=("ann",), max_risk=Risk.LOW),
    a_client(Scope.DECIDE_AS, groups=("treasury",), max_risk=Risk.LOW),
    a_client(Scope.DECIDE_AS, Scope.READ, Scope.ADMIN, people=("ann",), max_risk=Risk.CRITICAL),
]
FAULTY = [
    (a_client(), "at least one scope"),
    (a_client(Scope.DECIDE_AS, Scope.REQUEST, people=("a",), max_risk=Risk.LOW), "two clients"),
    (a_client(Scope.DECIDE_AS, Scope.CONSUME, people=("a",), max_risk=Risk.LOW), "two clients"),
    (a_client(Scope.DECIDE_AS, max_risk=Risk.LOW), "--people"),
    (a_client(Scope.DECIDE_AS, people=("a",)), "--max-risk"),
    (a_client(Scope.READ, people=("a",)), "decide_as"),
    (a_client(Scope.READ, groups=("a",)), "decide_as"),
    (a_client(Scope.READ, max_risk=Risk.LOW), "decide_as"),
]


@pytest.mark.parametrize("client", GOOD)
def test_a_sound_client_has_no_faults(client: Client) -> None:
    """Asking and spending go together, and deciding goes with reading and administering."""
    assert faults_of(client) == []


@pytest.mark.parametrize(("client", "words"), FAULTY)
def test_each_fault_says_what_to_change(client: Client, words: str) -> None:
    """One sentence for each."""
    (fault,) = faults_of(client)
    assert words in fault


def test_who_sees_what_is_not_theirs() -> None:
    """Readers and administrators; asking, spending and deciding alone do not."""
    assert {scope for scope in Scope if a_client(scope).sees()} == {Scope.READ, Scope.READ_INPUT, Scope.ADMIN}


def test_fields_tell_clients_from_people() -> None:
    """A client and a person of one name are kept apart."""
    assert a_client(Scope.READ).field == "client:c"
    assert Approver(tenant="default", id="c").field == "approver:c"


def test_a_pattern_without_a_star_is_a_name() -> None:
    """It matches itself, in its own case, and nothing around it."""
    client = a_client(Scope.REQUEST, capabilities=("a.b",))
    assert [client.may_ask_for(name) for name in ("a.b", "A.b", "a.bc", "xa.b")] == [
        True,
        False,
        False,
        False,
    ]
