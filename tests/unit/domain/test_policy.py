"""The built-in rule: who may ask, decide and see, while no policy file says otherwise."""

from typing import Any

import pytest

from placet.domain import policy
from placet.domain.errors import PlacetError
from placet.domain.model import Actor, ActorKind, Person, Risk, Verdict
from placet.domain.principals import Approver, Client, Principal, Scope
from tests.factories import an_ask

ANN = Person(id="ann")
APPROVER = Approver(tenant="default", id="ann")
BOTH = (Verdict.APPROVE, Verdict.REJECT)


def a_client(name: str = "runtime", *scopes: Scope, **members: Any) -> Client:
    """A client."""
    return Client(tenant="default", name=name, scopes=frozenset(scopes or {Scope.REQUEST}), **members)


def a_bridge(risk: Risk | None = Risk.MEDIUM, *people: str) -> Client:
    """A client that speaks for people, Ann where none is named."""
    return a_client("bridge", Scope.DECIDE_AS, people=people or ("ann",), max_risk=risk)


def told(error: PlacetError | None) -> tuple[str, object] | None:
    """Code and reason of a refusal."""
    return None if error is None else (error.code, error.details.get("reason"))


@pytest.mark.parametrize(
    ("ask", "verdict"),
    [
        ({}, None),
        ({"risk": Risk.HIGH}, None),
        ({"risk": Risk.CRITICAL}, ("FORBIDDEN", "no-rule")),
        ({"input_held": False}, ("FORBIDDEN", "hidden-input")),
        ({"input_held": False, "risk": Risk.CRITICAL}, ("FORBIDDEN", "no-rule")),
        ({"capability": "mail.send"}, ("FORBIDDEN", "scope")),
        ({"capability": "mail.send", "risk": Risk.CRITICAL}, ("FORBIDDEN", "scope")),
    ],
)
def test_what_may_be_asked(ask: dict[str, Any], verdict: tuple[str, str] | None) -> None:
    """The client's own bounds first, then what nobody could decide."""
    client = a_client(capabilities=("orders.*",))
    assert told(policy.judge_ask(client, an_ask(**ask))) == verdict


def test_who_may_not_ask_for_a_capability_is_sent_after_no_scope() -> None:
    """The client has the scope; what it lacks is a pattern, so no scope is named."""
    refusal = policy.judge_ask(a_client(capabilities=("orders.*",)), an_ask(capability="mail.send"))
    assert refusal is not None
    assert refusal.details == {"reason": "scope"}


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("orders.refund", True), ("orders.a.b", True), ("orders", False), ("Orders.x", False), ("a[b]", True)],
)
def test_patterns_are_matched_with_care(name: str, allowed: bool) -> None:  # noqa: FBT001 - the expectation
    """A star spans dots, case matters, and a bracket is matched by its own pattern."""
    assert a_client(capabilities=("orders.*", "a[[]b]")).may_ask_for(name) is allowed


def test_without_patterns_everything_may_be_asked_for() -> None:
    """No pattern is no bound."""
    assert a_client().may_ask_for("anything")


@pytest.mark.parametrize(
    "spelling", ["zoe", "ZOE", " zoe\t", "\uff5aoe", "zo\u200be", "Zoe Z. <zoe>", "acct:zoe", '"zoe"']
)
@pytest.mark.parametrize("part", ["actor", "behind", "owner then", "owner now"])
def test_the_asking_side_is_found_under_every_spelling(spelling: str, part: str) -> None:
    """Actor, those behind it, and the owners of then and now, compared as they fold."""
    actor = Actor(id=spelling if part == "actor" else "x", kind=ActorKind.AGENT)
    behind = ("y", spelling) if part == "behind" else ()
    ask = an_ask(
        actor=Actor(id=actor.id, kind=ActorKind.AGENT, on_behalf_of=behind),
        owners=(spelling,) if part == "owner then" else (),
    )
    owners = {spelling} if part == "owner now" else set()
    assert policy.is_requester("zoe", ask, owners)
    assert policy.is_requester("Zoe ", ask, owners)
    assert not policy.is_requester("zoey", ask, owners)


def test_owners_are_those_of_the_asker_and_of_any_client_that_acts() -> None:
    """Whatever kind the actor is said to be, and in any case of letters; the audience's are not."""
    clients = {
        "runtime": a_client("runtime", owners=("a",)),
        "Deployer": a_client("Deployer", owners=("b", "c")),
        "behind": a_client("behind", owners=("d",)),
        "tools": a_client("tools", owners=("e",)),
    }
    ask = an_ask(audience="tools", actor=Actor(id="DEPLOYER", kind=ActorKind.USER, on_behalf_of=("Behind",)))
    assert policy.owners_behind(ask, clients) == {"a", "b", "c", "d"}
    assert policy.owners_behind(an_ask(audience="tools"), clients) == {"a"}
    assert policy.owners_behind(an_ask(asked_by="gone"), clients) == set()


@pytest.mark.parametrize("spelling", ["acct:deployer", "ACCT:Deployer", "<acct:deployer>"])
def test_a_client_whose_name_itself_folds_is_found(spelling: str) -> None:
    """Its owners count, although its name and the actor's are both compared as they fold."""
    clients = {"acct:deployer": a_client("acct:deployer", owners=("b",))}
    ask = an_ask(actor=Actor(id=spelling, kind=ActorKind.SERVICE))
    assert policy.owners_behind(ask, clients) == {"b"}


NOT_OFFERED = ("FORBIDDEN", "decision-not-allowed")
NOT_ENTITLED = ("FORBIDDEN", "not-an-approver")
SELF = ("APPROVAL_SELF_APPROVAL", None)
BY_ANN = {"actor": Actor(id="Ann", kind=ActorKind.USER)}

VOTES: list[tuple[Principal, dict[str, Any], Verdict, tuple[str, str | None] | None]] = [
    (APPROVER, {}, Verdict.APPROVE, None),
    (APPROVER, {}, Verdict.REJECT, None),
    (APPROVER, {}, Verdict.EDIT, NOT_OFFERED),
    (APPROVER, {"allowed_decisions": (*BOTH, Verdict.EDIT)}, Verdict.EDIT, NOT_OFFERED),
    (APPROVER, {"allowed_decisions": (Verdict.REJECT,)}, Verdict.APPROVE, NOT_OFFERED),
    (APPROVER, BY_ANN, Verdict.APPROVE, SELF),
    (APPROVER, BY_ANN, Verdict.REJECT, None),
    (a_bridge(), {}, Verdict.APPROVE, None),
    (a_bridge(), {"risk": Risk.HIGH}, Verdict.APPROVE, NOT_ENTITLED),
    (a_bridge(Risk.HIGH), {"risk": Risk.HIGH}, Verdict.APPROVE, None),
    (a_bridge(None), {"risk": Risk.LOW}, Verdict.APPROVE, NOT_ENTITLED),
    (a_bridge(Risk.HIGH, "bob"), {}, Verdict.REJECT, NOT_ENTITLED),
    (a_bridge(Risk.HIGH, "Ann"), {}, Verdict.APPROVE, NOT_ENTITLED),
    (a_bridge(), BY_ANN, Verdict.APPROVE, SELF),
    (a_client("x", Scope.ADMIN), {}, Verdict.APPROVE, NOT_ENTITLED),
]


@pytest.mark.parametrize(("caller", "ask", "verdict", "expected"), VOTES)
def test_who_may_vote(
    caller: Principal, ask: dict[str, Any], verdict: Verdict, expected: tuple[str, str | None] | None
) -> None:
    """Entitled, then offered, then not one's own; rejecting one's own is allowed."""
    assert told(policy.judge_vote(caller, ANN, an_ask(**ask), verdict, ())) == expected


def test_an_owner_may_not_vote_for() -> None:
    """The owners that are handed in count as the asking side."""
    error = policy.judge_vote(APPROVER, ANN, an_ask(), Verdict.APPROVE, ["ANN"])
    assert told(error) == ("APPROVAL_SELF_APPROVAL", None)


def test_who_could_still_vote() -> None:
    """A person of the directory, or one whom a bridge may speak for; nobody else."""
    clients = {"bridge": a_bridge(Risk.LOW, "bob"), "x": a_client("x", Scope.ADMIN, people=("eve",))}
    may = [policy.may_still_decide(name, clients, {"ann"}) for name in ("ann", "bob", "eve", "Ann", "")]
    assert may == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("caller", "sees"),
    [
        (APPROVER, True),
        (a_client("runtime"), True),
        (a_client("tools", Scope.CONSUME), True),
        (a_client("stranger"), False),
        (a_client("x", Scope.READ), True),
        (a_client("x", Scope.READ_INPUT), True),
        (a_client("x", Scope.ADMIN), True),
        (a_bridge(), True),
        (a_bridge(Risk.LOW), False),
        (a_bridge(None), False),
    ],
)
def test_who_knows_that_it_is_there(caller: Principal, sees: bool) -> None:  # noqa: FBT001 - the expectation
    """Parties, readers, people, and bridges up to their risk."""
    assert policy.sees(caller, an_ask(audience="tools")) is sees
