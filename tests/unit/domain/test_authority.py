"""Who may ask, decide and see, under the built-in rule and under rules of the operator's."""

from typing import Any

import pytest

from placet.domain.authority import BUILT_IN, Authority
from placet.domain.errors import Forbidden, PlacetError
from placet.domain.model import Actor, ActorKind, Ask, Person, Risk, Verdict, Vote
from placet.domain.people import People
from placet.domain.principals import Approver, Client, Principal, Scope
from placet.domain.tally import Tally
from placet.domain.voters import Voter
from tests.factories import an_ask, digest_of, tallied

APPROVER = Approver(tenant="default", id="ann")
BOTH = (Verdict.APPROVE, Verdict.REJECT)


def a_client(name: str = "runtime", *scopes: Scope, **members: Any) -> Client:
    """A client."""
    return Client(tenant="default", name=name, scopes=frozenset(scopes or {Scope.REQUEST}), **members)


def a_bridge(risk: Risk | None = Risk.MEDIUM, *people: str) -> Client:
    """A client that speaks for people, Ann where none is named."""
    return a_client("bridge", Scope.DECIDE_AS, people=people or ("ann",), max_risk=risk)


def an_authority(*principals: Principal, **members: Any) -> Authority:
    """Of these principals, without files of the operator's."""
    return Authority(
        tenant="default",
        clients={each.name: each for each in principals if isinstance(each, Client)},
        approvers={each.id: each for each in principals if isinstance(each, Approver)},
        **{"people": People(), **members},
    )


def refused(client: Client, ask: Ask) -> PlacetError | None:
    """What a client that asks this is refused with."""
    try:
        assert an_authority(client).judge_ask(client, ask) is BUILT_IN
    except Forbidden as refusal:
        return refusal
    return None


def a_voter(authority: Authority, person_id: str = "ann") -> Voter:
    """Somebody with a credential of their own."""
    return authority.voter(Approver(tenant="default", id=person_id))


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
    assert told(refused(client, an_ask(**ask))) == verdict


def test_who_may_not_ask_for_a_capability_is_sent_after_no_scope() -> None:
    """The client has the scope; what it lacks is a pattern, so those are named that it has."""
    refusal = refused(a_client(capabilities=("orders.*",)), an_ask(capability="mail.send"))
    assert refusal is not None
    assert refusal.details == {"reason": "scope", "capabilities": ("orders.*",)}


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
    authority = an_authority(a_client(owners=(spelling,) if part == "owner now" else ()))
    assert authority.is_requester(a_voter(authority, "zoe"), ask)
    assert authority.is_requester(a_voter(authority, "Zoe "), ask)
    assert not authority.is_requester(a_voter(authority, "zoey"), ask)


def asking_side(ask: Ask, *clients: Client) -> set[str]:
    """Which of these people are on it."""
    authority = an_authority(*clients)
    return {name for name in "abcdef" if authority.is_requester(a_voter(authority, name), ask)}


def test_owners_are_those_of_the_asker_and_of_any_client_that_acts() -> None:
    """Whatever kind the actor is said to be, and in any case of letters; the audience's are not."""
    clients = (
        a_client("runtime", owners=("a",)),
        a_client("Deployer", owners=("b", "c")),
        a_client("behind", owners=("d",)),
        a_client("tools", owners=("e",)),
    )
    ask = an_ask(audience="tools", actor=Actor(id="DEPLOYER", kind=ActorKind.USER, on_behalf_of=("Behind",)))
    assert asking_side(ask, *clients) == {"a", "b", "c", "d"}
    assert asking_side(an_ask(audience="tools"), *clients) == {"a"}
    assert asking_side(an_ask(asked_by="gone"), *clients) == set()


@pytest.mark.parametrize("spelling", ["acct:deployer", "ACCT:Deployer", "<acct:deployer>"])
def test_a_client_whose_name_itself_folds_is_found(spelling: str) -> None:
    """Its owners count, although its name and the actor's are both compared as they fold."""
    ask = an_ask(actor=Actor(id=spelling, kind=ActorKind.SERVICE))
    assert asking_side(ask, a_client("acct:deployer", owners=("b",))) == {"b"}


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
    authority = an_authority(caller)
    voter = authority.voter(caller, "ann")
    assert told(authority.judge_vote(voter, an_ask(**ask), verdict, None, Tally())) == expected


def test_an_owner_may_not_vote_for() -> None:
    """Those of today count as the asking side."""
    authority = an_authority(APPROVER, a_client(owners=("ANN",)))
    error = authority.judge_vote(a_voter(authority), an_ask(), Verdict.APPROVE, None, Tally())
    assert told(error) == ("APPROVAL_SELF_APPROVAL", None)


def a_vote(ask: Ask, person_id: str, channel: str = "api", **members: Any) -> Vote:
    """An approval that counted."""
    return Vote(
        decision=Verdict.APPROVE,
        approver=Person(id=person_id),
        channel=channel,
        comment=None,
        digest=digest_of(ask),
        **{"submitted_by": None, **members},
    )


def by(ask: Ask, bridge: str, person_id: str) -> Vote:
    """One that came over a bridge."""
    return a_vote(ask, person_id, bridge, submitted_by=bridge)


NO_LONGER = ("FORBIDDEN", "approver-no-longer-entitled")


@pytest.mark.parametrize(
    ("person_id", "bridge", "still"),
    [
        ("ann", None, True),
        ("Ann", None, False),
        ("", None, False),
        ("bob", None, False),
        ("bob", "bridge", True),
        ("ann", "bridge", False),
        ("eve", "x", False),
        ("ann", "gone", False),
    ],
)
def test_a_grant_lasts_as_long_as_the_right_of_whoever_gave_it(
    person_id: str, bridge: str | None, *, still: bool
) -> None:
    """A person with a credential, or one whom a bridge may speak for, each the way it came."""
    ask = an_ask()
    authority = an_authority(
        APPROVER, a_bridge(Risk.MEDIUM, "bob"), a_client("x", Scope.ADMIN, people=("eve",))
    )
    vote = a_vote(ask, person_id) if bridge is None else by(ask, bridge, person_id)
    assert told(authority.judge_grant(ask, tallied(vote))) == (None if still else NO_LONGER)


def test_a_grant_that_nobody_gave_is_none() -> None:
    """Fewer people than it takes."""
    assert told(an_authority(APPROVER).judge_grant(an_ask(), Tally())) == (
        "FORBIDDEN",
        "quorum-no-longer-met",
    )


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
    assert an_authority(caller).sees(caller, an_ask(audience="tools"), Tally()) is sees
