"""Who somebody is today: a directory, a rule or a credential may have changed since a vote was cast."""

from collections.abc import Iterable
from typing import Any, ClassVar

import pytest
from msgspec import structs

from placet.domain.authority import Authority
from placet.domain.model import Actor, ActorKind, Ask, Edited, Effect, Risk, Verdict, Vote
from placet.domain.people import Member, People, Subject
from placet.domain.principals import Approver, Client, Key, Scope
from placet.domain.rules import Approvers, EditRule, Floor, Policies, Rule, Terms
from placet.domain.tally import Tally, slot_of
from placet.domain.vouched import Vouched
from tests.factories import a_ballot, an_ask, tallied
from tests.issuer import ISS, an_issuer

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
        tenant="default",
        clients=clients,
        approvers=approvers,
        people=People(members),
        policies=policies,
        issuers={ISS: an_issuer()},
    )


def a_vote(person_id: str, **changes: Any) -> Vote:
    """An approval over the API."""
    return structs.replace(a_ballot(an_ask(), person_id).vote, **changes)


def refused(authority: Authority, *votes: Vote, ask: Ask | None = None) -> Any:
    """Why a grant of these votes is not used, if it is not."""
    error = authority.judge_grant(ask or an_ask(), tallied(*votes))
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
        cy, bob = a_vote("cy", key="cy"), a_vote("bob", key="bob")
        assert today.last_words(tallied(cy, bob)).slot_for(voter) == "bob"
        assert today.last_words(tallied(cy)).slot_for(voter) == "bobby"

    def test_nobody_votes_in_the_place_of_whoever_they_are_called_like(self) -> None:
        """What an issuer calls somebody is no name that they voted by."""
        today = among(a_member("ann", subjects=(Subject(iss=ISS, sub="zoe"),)))
        said = today.last_words(tallied(a_vote("zoe", key="zoe")))
        assert said.slot_for(today.voter(with_keys("ann"))) == "ann"

    def test_a_stranger_who_was_linked_is_the_same_person(self) -> None:
        """The issuer's word in the vote leads to them."""
        word = Vouched(iss=ISS, sub="u-1")
        vote = a_vote(word.stranger_id, vouched=word, key=word.stranger_id)
        before = among(a_member("ann"))
        today = among(a_member("ann", subjects=(Subject(iss=ISS, sub="u-1"),)))
        assert before.people.key("default", word.stranger_id) == word.stranger_id
        voter = today.voter(with_keys("ann"))
        assert today.last_words(tallied(vote)).slot_for(voter) == word.stranger_id
        assert today.is_requester(voter, an_ask(actor=Actor(id=word.stranger_id, kind=ActorKind.AGENT)))

    def test_who_changed_an_input_does_not_approve_it_under_another_name(self) -> None:
        """Where the change does not count a grant needs somebody else, whatever the author said since."""
        change = a_change_by("bob")
        since = a_vote("bob", decision=Verdict.REJECT, digest=CHANGED, seen_at_ms=2)
        yes = a_vote("bobby", digest=CHANGED, seen_at_ms=3)
        authority = among(
            a_member("bobby", "bob"), terms={"edit": EditRule.YES}, approvers=[with_keys("bobby")]
        )
        assert refused(authority, yes) is None
        for said in ((change,), (change, since)):
            assert refused(authority, *said, yes) == "quorum-no-longer-met"

    def test_a_vote_is_its_voter_s_under_a_new_name(self) -> None:
        """Where the old one is an alias: the issuer's word leads to the same person."""
        word = Vouched(iss=ISS, sub="u-1")
        vote = a_vote("bob", vouched=word)
        subject = Subject(iss=ISS, sub="u-1")
        assert refused(among(a_member("bobby", "bob", subjects=(subject,))), vote) is None
        assert refused(among(a_member("bobby", subjects=(subject,))), vote) == "approver-no-longer-entitled"


CHANGED = "1" * 64


def a_change_by(person_id: str, *, counts: bool = False, **changes: Any) -> Vote:
    """An approval with changes."""
    edited = Edited(input_hash="0" * 64, digest=CHANGED, counts=counts)
    return a_vote(person_id, decision=Verdict.EDIT, edited=edited, seen_at_ms=1, **changes)


class TestMistakable:
    """Two who may be one have one say, where people are counted: the first."""

    COUNTED: ClassVar = [{"rejections": 2}, {"edit": EditRule.YES}]
    WORD = Vouched(iss=ISS, sub="ann", groups=("ops",), aliases=("ann@example.com",))

    def judged(
        self, authority: Authority, principal: Approver, *votes: Vote, verdict: Verdict = Verdict.APPROVE
    ) -> Any:
        """Why they may not vote after these, if they may not."""
        tally = tallied(*votes) if votes else Tally()
        ask = an_ask(rejections=9)
        error = authority.judge_vote(authority.voter(principal), ask, verdict, None, tally)
        return None if error is None else error.details["reason"]

    def stranger(self, word: Vouched = WORD) -> Approver:
        """Whom an issuer vouches for, and the directory does not know."""
        return Approver(tenant="default", id=word.stranger_id, groups=word.groups, vouched=word)

    @pytest.mark.parametrize("terms", COUNTED)
    @pytest.mark.parametrize("name", ["ann", "ANN@example.com"])
    def test_either_way_round(self, name: str, terms: dict[str, Any]) -> None:
        """A credential of a name, and the token of somebody whom an issuer calls so."""
        credential = with_keys(name)
        authority = among(a_member("bob"), terms=terms, approvers=[credential])
        by_credential = a_vote(name, decision=Verdict.REJECT)
        by_token = a_vote(self.WORD.stranger_id, decision=Verdict.REJECT, vouched=self.WORD)
        assert self.judged(authority, self.stranger()) is None
        assert self.judged(authority, self.stranger(), by_credential) == "not-an-approver"
        assert self.judged(authority, credential) is None
        assert self.judged(authority, credential, by_token) == "not-an-approver"

    def test_what_is_known_of_whoever_changed_the_input(self) -> None:
        """Also where the rules allow no changes any more, and whatever they said since."""
        credential = with_keys("ann")
        authority = among(approvers=[credential])
        changed = a_change_by(self.WORD.stranger_id, vouched=self.WORD)
        since = a_vote(self.WORD.stranger_id, vouched=self.WORD, decision=Verdict.REJECT, seen_at_ms=2)
        assert self.judged(authority, credential, changed) == "not-an-approver"
        assert self.judged(authority, credential, changed, since) == "not-an-approver"

    def test_two_of_the_directory_are_two(self) -> None:
        """Whatever issuers call them: it says who they are."""
        ann = a_member("ann", subjects=(Subject(iss=ISS, sub="7"),))
        bob = a_member("bob", subjects=(Subject(iss="https://other.example", sub="7"),))
        authority = among(ann, bob, terms={"quorum": 2}, approvers=[with_keys("ann"), with_keys("bob")])
        assert self.judged(authority, with_keys("bob"), a_vote("ann")) is None

    @pytest.mark.parametrize(
        ("terms", "refusal"), [({}, None), *((terms, "not-an-approver") for terms in COUNTED)]
    )
    @pytest.mark.parametrize("word", [WORD, Vouched(iss=ISS, sub="u-9", groups=("ops",), aliases=("ann",))])
    def test_nobody_is_taken_for_a_member(
        self, word: Vouched, terms: dict[str, Any], refusal: str | None
    ) -> None:
        """Whom the directory does not know yields to whom it does: they could vote under either name."""
        authority = among(a_member("ann"), terms=terms)
        assert self.judged(authority, self.stranger(word)) == refusal

    def test_a_rejection_that_is_enough_is_anybody_s(self) -> None:
        """However they are called: nobody counts for more by it."""
        credential = with_keys("ann")
        authority = among(terms={"edit": EditRule.YES}, approvers=[credential])
        by_token = a_vote(self.WORD.stranger_id, decision=Verdict.APPROVE, vouched=self.WORD)
        told = self.judged(authority, credential, by_token, verdict=Verdict.REJECT)
        assert (told, self.judged(authority, credential, by_token)) == (None, "not-an-approver")

    def test_a_name_that_somebody_voted_by_is_theirs(self) -> None:
        """Who is called today as another was when they voted does not vote in their place."""
        ann = a_member("anna", subjects=(Subject(iss=ISS, sub="u-1"),))
        authority = among(ann, a_member("ann"), terms={"quorum": 2}, approvers=[with_keys("ann")])
        earlier = a_vote("anna", key="ann", vouched=Vouched(iss=ISS, sub="u-1"))
        assert self.judged(authority, with_keys("ann"), earlier) == "not-an-approver"


class TestStricterRecords:
    """What a question was asked under holds where the rules of today are milder."""

    def test_a_quorum_is_of_members(self) -> None:
        """By its own number, or by one that a rule asked for in between."""
        authority, vote = among(), Verdict.APPROVE
        zoe = authority.voter(with_keys("zoe"))
        assert authority.judge_vote(zoe, an_ask(), vote, None, Tally()) is None
        for ask, tally in ((an_ask(required=2), Tally()), (an_ask(), Tally(required=2))):
            told = authority.judge_vote(zoe, ask, vote, None, tally)
            assert told is not None
            assert told.details["reason"] == "not-an-approver"

    def test_a_grant_takes_as_many(self) -> None:
        """Counted as they are today."""
        authority = among(a_member("ann"), a_member("bob"), approvers=[with_keys("ann"), with_keys("bob")])
        ask, ann, bob = an_ask(required=2), a_vote("ann"), a_vote("bob")
        assert refused(authority, ann, bob, ask=ask) is None
        assert refused(authority, ann, ask=ask) == "quorum-no-longer-met"

    def test_nobody_confirms_alone(self) -> None:
        """What takes two is no plain confirmation."""
        ann = a_member("ann")
        authority = among(ann, terms={"self_approval": True}, approvers=[with_keys("ann")])
        voter = authority.voter(with_keys("ann"))
        ask = an_ask(actor=Actor(id="ann", kind=ActorKind.USER), effect=Effect.WRITE, risk=Risk.LOW)
        assert authority.judge_vote(voter, ask, Verdict.APPROVE, None, Tally()) is None
        told = authority.judge_vote(voter, ask, Verdict.APPROVE, None, Tally(required=2))
        assert told is not None
        assert told.code == "APPROVAL_SELF_APPROVAL"


def test_who_is_behind_the_asking_client_does_not_confirm_for_themselves() -> None:
    """Under whatever name an issuer has for them."""
    ann = a_member("ann", subjects=(Subject(iss=ISS, sub="u-1"),))
    owned = Client(tenant="default", name="runtime", scopes=frozenset({Scope.REQUEST}), owners=("u-1",))
    asked = an_ask(actor=Actor(id="ann", kind=ActorKind.USER), effect=Effect.WRITE, risk=Risk.LOW)
    for clients, code in (((), None), ((owned,), "APPROVAL_SELF_APPROVAL")):
        authority = among(ann, terms={"self_approval": True}, approvers=[with_keys("ann")], clients=clients)
        voter = authority.voter(with_keys("ann"))
        told = authority.judge_vote(voter, asked, Verdict.APPROVE, None, Tally())
        assert (None if told is None else told.code) == code


def named(weighed: Iterable[tuple[Vote, Verdict]]) -> list[tuple[str, Verdict]]:
    """What votes are worth, by whom they are."""
    return [(slot_of(vote), worth) for vote, worth in weighed]


class TestWeighed:
    """What votes are worth by the rules of today."""

    def weighed(self, authority: Authority, *votes: Vote) -> list[tuple[str, Verdict]]:
        """By whom, and what."""
        return named(authority.weighed(an_ask(), tallied(*votes)))

    def test_what_stands(self) -> None:
        """As it was said."""
        authority = among(approvers=[with_keys("ann"), with_keys("bob")])
        votes = a_vote("ann", key="ann"), a_vote("bob", key="b", decision=Verdict.REJECT)
        assert self.weighed(authority, *votes) == [("ann", Verdict.APPROVE), ("b", Verdict.REJECT)]

    @pytest.mark.parametrize("verdict", [Verdict.APPROVE, Verdict.REJECT])
    def test_what_a_revoked_secret_said(self, verdict: Verdict) -> None:
        """Nothing: its holder says it anew, or the opposite."""
        vote = a_vote("ann", credential="old", decision=verdict)
        assert self.weighed(among(approvers=[with_keys("ann", "old")]), vote) == [("ann", verdict)]
        assert self.weighed(among(approvers=[with_keys("ann", "new")]), vote) == []

    def test_a_yes_of_who_may_not_say_so_any_more(self) -> None:
        """Is worth nothing; a no still is one."""
        outsider = Approver(tenant="default", id="ann")
        authority = among(approvers=[outsider])
        assert self.weighed(authority, a_vote("ann")) == []
        no = a_vote("ann", decision=Verdict.REJECT)
        assert self.weighed(authority, no) == [("ann", Verdict.REJECT)]

    @pytest.mark.parametrize(
        ("rule", "counts", "worth"),
        [
            (EditRule.COUNTS, True, Verdict.APPROVE),
            (EditRule.COUNTS, False, Verdict.EDIT),
            (EditRule.YES, True, Verdict.EDIT),
        ],
    )
    def test_a_change(self, rule: EditRule, *, counts: bool, worth: Verdict) -> None:
        """Is its author's approval where it was one and would be one today."""
        authority = among(terms={"edit": rule}, approvers=[with_keys("ann")])
        asked = an_ask(effect=Effect.WRITE, risk=Risk.LOW, allowed_decisions=tuple(Verdict))
        votes = tallied(a_change_by("ann", counts=counts))
        assert named(authority.weighed(asked, votes)) == [("ann", worth)]

    def test_an_author_stays_one(self) -> None:
        """Also where what they said after it counts no more."""
        authority = among(terms={"edit": EditRule.YES}, approvers=[with_keys("ann", "new")])
        since = a_vote("ann", decision=Verdict.REJECT, credential="old", seen_at_ms=2)
        assert self.weighed(authority, a_change_by("ann"), since) == [("ann", Verdict.EDIT)]


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
