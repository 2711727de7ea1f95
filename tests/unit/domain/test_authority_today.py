"""Who somebody is today: a directory, a rule or a credential may have changed since a vote was cast."""

from typing import Any

import pytest
from msgspec import structs

from placet.domain.authority import Authority
from placet.domain.model import Actor, ActorKind, Ask, Edited, Effect, Risk, Verdict, Vote
from placet.domain.people import Member, People, Subject
from placet.domain.principals import Approver, Client, Key, Scope
from placet.domain.rules import Approvers, EditRule, Floor, Policies, Rule, Terms
from placet.domain.vouched import Vouched
from tests.factories import a_ballot, an_ask

ISS = "https://login.example"
ANYONE = Approvers(groups=frozenset({"ops"}))


def a_member(person_id: str, *aliases: str, **members: Any) -> Member:
    """Somebody who may decide."""
    return Member(tenant="default", id=person_id, groups=frozenset({"ops"}), aliases=aliases, **members)


def with_keys(person_id: str, *kids: str) -> Approver:
    """Somebody with these live credentials."""
    keys = tuple(Key(kid=kid, sha256="0" * 64, created_at_ms=0) for kid in kids)
    return Approver(tenant="default", id=person_id, groups=("ops",), keys=keys)


def among(*members: Member, terms: dict[str, Any] | None = None, **more: Any) -> Authority:
    """These people under one rule."""
    rule = Rule(terms=Terms(**{"rule": "r", "approvers": (ANYONE,), **(terms or {})}), capabilities=("*",))
    policies = Policies(version="v", rules=(rule,), floors=more.pop("floors", ()))
    approvers = {each.id: each for each in more.pop("approvers", ())}
    clients = {each.name: each for each in more.pop("clients", ())}
    return Authority(
        tenant="default", clients=clients, approvers=approvers, people=People(members), policies=policies
    )


def a_vote(person_id: str, **changes: Any) -> Vote:
    """An approval over the API."""
    return structs.replace(a_ballot(an_ask(), person_id).vote, **changes)


def refused(authority: Authority, *votes: Vote, ask: Ask | None = None, changed: Vote | None = None) -> Any:
    """Why a grant of these votes is not used, if it is not."""
    error = authority.judge_grant(ask or an_ask(), votes, 0, changed)
    return None if error is None else error.details["reason"]


class TestCredentials:
    """A vote lives as long as the secret it was given with."""

    def test_a_revoked_secret_takes_its_votes_along(self) -> None:
        """Also where the same person has another; a later one does not bring them back."""
        vote = a_vote("ann", credential="old")
        assert refused(among(approvers=[with_keys("ann", "old", "new")]), vote) is None
        assert refused(among(approvers=[with_keys("ann", "new")]), vote) == "approver-no-longer-entitled"

    def test_a_bridge_s_secret_too(self) -> None:
        """It is the bridge that brought it in."""
        key = Key(kid="old", sha256="0" * 64, created_at_ms=0)
        bridge = Client(
            tenant="default",
            name="chat",
            scopes=frozenset({Scope.DECIDE_AS}),
            people=("ann",),
            max_risk=Risk.HIGH,
            keys=(key,),
        )
        vote = a_vote("ann", credential="old", submitted_by="chat", channel="chat")
        people = a_member("ann")
        assert refused(among(people, clients=[bridge]), vote) is None
        renewed = structs.replace(bridge, keys=(structs.replace(key, kid="new"),))
        assert refused(among(people, clients=[renewed]), vote) == "approver-no-longer-entitled"


class TestRenamed:
    """Whoever is renamed or linked while a question waits is who they were."""

    def test_a_former_name_is_the_same_person(self) -> None:
        """They vote on under the name they voted by."""
        today = among(a_member("bobby", "bob"), a_member("cy"))
        voter = today.voter(with_keys("bobby"))
        assert voter.key == "bobby"
        assert today.known_as(voter, [a_vote("cy", key="cy"), a_vote("bob", key="bob")]) == "bob"
        assert today.known_as(voter, [a_vote("cy", key="cy")]) == "bobby"

    def test_a_stranger_who_was_linked_is_the_same_person(self) -> None:
        """The issuer's word in the vote leads to them."""
        word = Vouched(iss=ISS, sub="u-1")
        vote = a_vote(word.stranger_id, vouched=word, key=word.stranger_id)
        before = among(a_member("ann"))
        today = structs.replace(
            among(a_member("ann", subjects=(Subject(iss=ISS, sub="u-1"),))), issuers=before.issuers
        )
        assert before.people.key("default", word.stranger_id) == word.stranger_id
        voter = today.voter(with_keys("ann"))
        assert today.known_as(voter, [vote]) == word.stranger_id
        assert today.is_requester(voter, an_ask(actor=Actor(id=word.stranger_id, kind=ActorKind.AGENT)))

    def test_who_changed_an_input_does_not_approve_it_under_another_name(self) -> None:
        """Where the change does not count, a grant needs somebody else today as well."""
        edited = Edited(input_hash="0" * 64, digest="1" * 64, counts=False)
        change = a_vote("bob", decision=Verdict.EDIT, edited=edited)
        yes = a_vote("bobby", decision=Verdict.APPROVE)
        authority = among(
            a_member("bobby", "bob"),
            terms={"edit": EditRule.YES},
            approvers=[with_keys("bobby")],
        )
        assert refused(authority, yes) is None
        assert refused(authority, yes, changed=change) == "quorum-no-longer-met"


@pytest.mark.parametrize(
    ("terms", "may"),
    [({}, True), ({"quorum": 2}, False), ({"rejections": 2}, False), ({"edit": EditRule.YES}, False)],
)
def test_who_could_be_somebody_else_does_not_vote_where_people_are_counted(
    terms: dict[str, Any], *, may: bool
) -> None:
    """Under either name they could vote twice, or approve what they changed."""
    authority = among(a_member("ann"), a_member("bob"), terms=terms)
    word = Vouched(iss=ISS, sub="u-9", groups=("ops",), aliases=("ann",))
    stranger = Approver(tenant="default", id=word.stranger_id, groups=("ops",), vouched=word)
    voter = authority.voter(stranger)
    told = authority.terms(an_ask())
    assert told is not None
    assert authority.entitled(voter, an_ask(), told, 0) is may


def test_a_bridge_s_bound_is_the_risk_of_today() -> None:
    """A floor that came since counts."""
    bridge = Client(tenant="default", name="chat", scopes=frozenset({Scope.DECIDE_AS}), max_risk=Risk.MEDIUM)
    assert among().bridges(bridge, an_ask(risk=Risk.MEDIUM))
    floor = Floor(capabilities=("*",), effect=Effect.NONE, risk=Risk.CRITICAL)
    assert not among(floors=(floor,)).bridges(bridge, an_ask(risk=Risk.MEDIUM))


@pytest.mark.parametrize("name", ["nightly-batch", "ann", "amarsh", "ANN"])
def test_whoever_is_behind_a_client_is_found_through_any_name(name: str) -> None:
    """The client is called like a person, or is owned by a service that a person owns."""
    authority = among(
        a_member("ann", "amarsh", owns=("nightly-batch",)),
        clients=[
            Client(tenant="default", name="agent", scopes=frozenset({Scope.REQUEST}), owners=(name,)),
        ],
    )
    voter = authority.voter(with_keys("ann"))
    assert authority.is_requester(voter, an_ask(asked_by="agent"))
    assert authority.is_requester(voter, an_ask(asked_by=name, owners=()))
    assert not authority.is_requester(voter, an_ask(asked_by="other"))
