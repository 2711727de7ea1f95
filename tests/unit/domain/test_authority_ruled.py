"""Who may decide under rules and a directory of the operator's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from placet.domain.authority import BUILT_IN, Authority, may_edit
from placet.domain.errors import Forbidden, PlacetError
from placet.domain.model import Actor, ActorKind, Ask, Effect, Person, Presentation, Risk, Verdict, Vote
from placet.domain.people import Member, People, SlackUser, Subject
from placet.domain.principals import Approver, Client, Scope
from placet.domain.rules import Approvers, EditRule, Escalation, Floor, Policies, Rule, Terms
from placet.domain.tally import Tally
from placet.domain.voters import CHANNEL_SLACK, CHANNEL_WEB, includes
from tests.factories import an_ask, digest_of, tallied
from tests.rulestrategies import GROUPS, PEOPLE, claims, floors, rules

TREASURY = Approvers(groups=frozenset({"treasury"}))
ANN = Member(
    tenant="default",
    id="ann",
    name="Ann Marsh",
    groups=frozenset({"treasury"}),
    aliases=("ann@example.com", "Marsh, Ann"),
    owns=("nightly",),
)
BOB = Member(tenant="default", id="bob", groups=frozenset({"treasury"}))
NOT_ENTITLED = ("FORBIDDEN", "not-an-approver")


def ruled(*rules_: Rule, people: tuple[Member, ...] = (ANN, BOB), **members: Any) -> Authority:
    """An authority under these rules."""
    policies = Policies(version="v", rules=rules_, floors=members.pop("floors", ()))
    given: dict[str, Any] = {"people": People(people), "policies": policies, **members}
    return Authority(**{"tenant": "default", "clients": {}, "approvers": {}, **given})


def a_rule(**terms: Any) -> Rule:
    """One for everything."""
    return Rule(terms=Terms(**{"rule": "r", "approvers": (TREASURY,), **terms}), capabilities=("*",))


def person(person_id: str, *groups: str) -> Approver:
    """Somebody with a credential."""
    return Approver(tenant="default", id=person_id, groups=groups)


def told(error: PlacetError | None) -> tuple[str, object] | None:
    """Code and reason of a refusal."""
    return None if error is None else (error.code, error.details.get("reason"))


def judged(authority: Authority, person_id: str, **ask: Any) -> tuple[str, object] | None:
    """How an approval by somebody with a credential is judged."""
    return told(
        authority.judge_vote(
            authority.voter(person(person_id)), an_ask(**ask), Verdict.APPROVE, None, Tally()
        )
    )


class TestVoter:
    """Who somebody is."""

    def test_a_member_is_as_the_directory_says(self) -> None:
        """Name and groups are its; the credential's own count for nothing."""
        voter = ruled(a_rule()).voter(
            Approver(tenant="default", id="ann", display_name="A. M.", groups=("cfo",))
        )
        assert voter.person == Person(id="ann", display_name="Ann Marsh")
        assert (voter.groups, voter.is_member, voter.key) == (frozenset({"treasury"}), True, "ann")

    def test_others_are_as_their_credential_says(self) -> None:
        """Also whom a bridge names, if they have one."""
        authority = ruled(a_rule(), approvers={"zoe": person("zoe", "treasury")})
        bridge = Client(
            tenant="default",
            name="chat",
            scopes=frozenset({Scope.DECIDE_AS}),
            people=("zoe",),
            max_risk=Risk.LOW,
        )
        for voter in (authority.voter(person("zoe", "treasury")), authority.voter(bridge, "zoe")):
            assert (voter.groups, voter.is_member) == (frozenset({"treasury"}), False)
        assert authority.voter(bridge, "yan").groups == frozenset()

    @pytest.mark.parametrize("name", ["ANN", "ann@example.com", "Marsh, Ann", "<ann>"])
    def test_another_name_of_a_member_has_their_key_and_none_of_their_rights(self, name: str) -> None:
        """They would be the same person where that takes something away."""
        voter = ruled(a_rule()).voter(person(name))
        assert (voter.key, voter.is_member, voter.groups) == ("ann", False, frozenset())

    @pytest.mark.parametrize("name", ["api", "web", "slack"])
    def test_no_bridge_is_a_channel_of_ours(self, name: str) -> None:
        """Whatever it is called."""
        bridge = Client(tenant="default", name=name, scopes=frozenset({Scope.DECIDE_AS}))
        assert ruled(a_rule()).voter(bridge, "ann").channel == f"bridge:{name}"


class TestTerms:
    """What holds for a request."""

    def test_no_rule_no_terms(self) -> None:
        """Nobody decides it, and a grant of before is none."""
        authority = ruled(Rule(terms=Terms(rule="r"), capabilities=("x",)))
        ask = an_ask()
        assert authority.terms(ask) is None
        assert judged(authority, "ann") == NOT_ENTITLED
        assert told(authority.judge_grant(ask, Tally())) == ("FORBIDDEN", "no-rule")
        client = Client(tenant="default", name="runtime", scopes=frozenset({Scope.REQUEST}))
        with pytest.raises(Forbidden):
            authority.judge_ask(client, ask)

    def test_the_built_in_rule_is_for_nothing_critical(self) -> None:
        """Also where a file allowed it that is gone."""
        authority = ruled(policies=None)
        assert authority.terms(an_ask()) is BUILT_IN
        assert authority.terms(an_ask(risk=Risk.CRITICAL)) is None
        assert authority.version is None
        assert told(authority.judge_grant(an_ask(risk=Risk.CRITICAL), Tally())) == ("FORBIDDEN", "no-rule")

    def test_a_request_of_before_is_judged_by_the_floors_of_today(self) -> None:
        """Although its record says what it was raised to then."""
        floor = Floor(capabilities=("*",), effect=Effect.EXTERNAL, risk=Risk.CRITICAL)
        claims = ruled(a_rule(), floors=(floor,)).claims(an_ask(effect=Effect.READ, risk=Risk.LOW))
        assert (claims.effect, claims.risk, claims.least) == (
            Effect.EXTERNAL,
            Risk.CRITICAL,
            frozenset({Effect.EXTERNAL}),
        )

    def test_an_input_that_was_hidden_must_still_be_allowed_to_be(self) -> None:
        """When the grant is used, by the rule and the floors of today."""
        ask = an_ask(input_held=False, effect=Effect.READ)
        open_, closed = a_rule(hidden_input=True), a_rule()
        floor = Floor(capabilities=("*",), risk=Risk.HIGH)
        hidden = ("FORBIDDEN", "hidden-input")
        assert told(ruled(open_).judge_grant(ask, Tally())) == ("FORBIDDEN", "quorum-no-longer-met")
        assert told(ruled(closed).judge_grant(ask, Tally())) == hidden
        assert told(ruled(open_, floors=(floor,)).judge_grant(ask, Tally())) == hidden


class TestEntitled:
    """Who is among those who decide."""

    def test_groups_or_people(self) -> None:
        """One of them is enough."""
        authority = ruled(a_rule(approvers=(Approvers(groups=frozenset({"x"}), people=frozenset({"bob"})),)))
        assert judged(authority, "bob") is None
        assert judged(authority, "ann") == NOT_ENTITLED

    def test_among_each_of_several(self) -> None:
        """Those of the rule and those of its blocks."""
        both = (TREASURY, Approvers(people=frozenset({"ann"})))
        authority = ruled(a_rule(approvers=both))
        assert judged(authority, "ann") is None
        assert judged(authority, "bob") == NOT_ENTITLED

    def test_further_groups_count_for_the_rule_s_own_approvers(self) -> None:
        """Not for those whom a block asks for besides."""
        escalation = Escalation(after_ms=1_000, groups=frozenset({"treasury"}))
        cfo = Approvers(groups=frozenset({"cfo"}))
        for approvers, after in (((cfo,), None), ((cfo, cfo), NOT_ENTITLED)):
            authority = ruled(a_rule(approvers=approvers, escalation=escalation))
            voter, ask = authority.voter(person("ann")), an_ask()
            assert (
                told(authority.judge_vote(voter, ask, Verdict.APPROVE, None, Tally(waited_ms=999)))
                == NOT_ENTITLED
            )
            assert (
                told(authority.judge_vote(voter, ask, Verdict.APPROVE, None, Tally(waited_ms=1_000))) == after
            )

    def test_a_quorum_is_of_people_of_the_directory(self) -> None:
        """Others have no say in it, not even for a no."""
        authority = ruled(a_rule(quorum=2))
        voter = authority.voter(person("zoe", "treasury"))
        for verdict in (Verdict.APPROVE, Verdict.REJECT):
            assert told(authority.judge_vote(voter, an_ask(), verdict, None, Tally())) == NOT_ENTITLED
        assert judged(authority, "ann") is None


@st.composite
def situations(draw: st.DrawFn) -> tuple[Authority, Ask, str]:
    """Rules, a directory, a request, and somebody."""
    ids = st.sampled_from((*PEOPLE, "eve"))
    members = tuple(
        Member(
            tenant="default",
            id=each,
            groups=draw(st.frozensets(st.sampled_from(GROUPS))),
            aliases=(f"{each}@example.com", f"{each} the {number}."),
            owns=(f"{each}-batch",),
        )
        for number, each in enumerate(PEOPLE)
    )
    drawn = draw(st.lists(rules(), min_size=1, max_size=3))
    made = tuple(structs.replace(each, tenants=("*",), clients=("*",), surfaces=("*",)) for each in drawn)
    authority = ruled(*made, people=members, floors=tuple(draw(st.lists(floors(), max_size=2))))
    claimed = draw(claims())
    ask = an_ask(
        capability=draw(st.text("ab", min_size=1, max_size=3)),
        effect=claimed.effect,
        risk=claimed.risk,
        types=claimed.types,
        actor=Actor(id=draw(ids), kind=claimed.actor_kind),
        allowed_decisions=tuple(Verdict),
    )
    return authority, ask, draw(ids)


SPELLINGS = st.sampled_from(
    [str.upper, str.title, "  {} ".format, "<{}>".format, "acct:{}".format, "{}\u200b".format, "{}".format]
)


class TestLaws:
    """Whatever the rules say."""

    @given(situations(), st.integers(0, 4_000_000), st.sampled_from(Verdict))
    def test_who_decides_is_among_the_approvers(
        self, situation: tuple[Authority, Ask, str], waited_ms: int, verdict: Verdict
    ) -> None:
        """Of the rule that matches, or called by its escalation; and of each block that applies."""
        authority, ask, person_id = situation
        voter = authority.voter(person(person_id, *GROUPS[:1]))
        if authority.judge_vote(voter, ask, verdict, "a comment", Tally(waited_ms=waited_ms)) is not None:
            return
        terms = authority.terms(ask)
        assert terms is not None
        first, *others = terms.approvers
        called = terms.escalation.groups if terms.escalation else frozenset()
        assert includes(first, voter) or not voter.groups.isdisjoint(called)
        assert all(includes(each, voter) for each in others)
        assert terms.quorum == 1 or voter.is_member
        assert terms.channels is None or "api" in terms.channels

    @given(situations(), SPELLINGS, st.integers(0, 3), st.sampled_from([Verdict.APPROVE, Verdict.EDIT]))
    def test_nobody_approves_what_they_ask_for_themselves(
        self, situation: tuple[Authority, Ask, str], spelled: Any, number: int, verdict: Verdict
    ) -> None:
        """Under any name and spelling; but for a plain confirmation where the rule allows that."""
        authority, ask, person_id = situation
        member = authority.people.member("default", person_id)
        if member is None:
            return
        name = (*member.aliases, *member.owns, member.id)[number]
        for actor in (
            Actor(id=spelled(name), kind=ask.actor.kind),
            Actor(id="bot", kind=ask.actor.kind, on_behalf_of=("x", spelled(name))),
        ):
            asked = structs.replace(ask, actor=actor)
            voter, terms = authority.voter(person(person_id)), authority.terms(asked)
            assert authority.is_requester(voter, asked)
            confirms = (
                verdict is Verdict.APPROVE
                and terms is not None
                and terms.self_approval
                and terms.quorum == 1
                and actor.kind is ActorKind.USER
                and not actor.on_behalf_of
                and name not in member.owns
            )
            if not confirms:
                assert authority.judge_vote(voter, asked, verdict, "a comment", Tally()) is not None

    @given(situations(), st.permutations(PEOPLE))
    def test_a_grant_is_as_good_as_its_votes(
        self, situation: tuple[Authority, Ask, str], order: list[str]
    ) -> None:
        """Judged again under the rules it was given under, it stands; one vote short, it does not."""
        authority, ask, _ = situation
        authority = structs.replace(authority, approvers={each: person(each) for each in PEOPLE})
        terms = authority.terms(ask)
        able = [
            each
            for each in order
            if authority.judge_vote(authority.voter(person(each)), ask, Verdict.APPROVE, "c", Tally()) is None
        ]
        if terms is None or len(able) < terms.quorum:
            return
        votes = [a_vote(ask, each) for each in able[: terms.quorum]]
        assert authority.judge_grant(ask, tallied(*votes)) is None
        assert told(authority.judge_grant(ask, tallied(*votes[1:]))) == ("FORBIDDEN", "quorum-no-longer-met")
        gone = structs.replace(authority, approvers={each: person(each) for each in able[1:]})
        assert told(gone.judge_grant(ask, tallied(*votes))) == ("FORBIDDEN", "approver-no-longer-entitled")


def a_vote(ask: Ask, person_id: str, channel: str = "api") -> Vote:
    """An approval with a comment."""
    return Vote(
        decision=Verdict.APPROVE,
        approver=Person(id=person_id),
        channel=channel,
        submitted_by=None,
        comment="c",
        digest=digest_of(ask),
    )


@pytest.mark.parametrize(
    ("channel", "member", "still"),
    [
        (CHANNEL_SLACK, structs.replace(ANN, slack=(SlackUser(team="T1", user="U1"),)), True),
        (CHANNEL_SLACK, ANN, False),
        (CHANNEL_WEB, structs.replace(ANN, subjects=(Subject(iss="https://x", sub="1"),)), True),
        (CHANNEL_WEB, ANN, True),
        (CHANNEL_WEB, structs.replace(ANN, id="gone"), False),
        ("api", structs.replace(ANN, subjects=(Subject(iss="https://x", sub="1"),)), False),
    ],
)
def test_a_vote_stands_as_long_as_the_way_it_came(channel: str, member: Member, *, still: bool) -> None:
    """A person whose user of Slack was taken out of the directory did not come by another."""
    authority, ask = ruled(a_rule(), people=(member,), in_slack=True), an_ask()
    refusal = authority.judge_grant(ask, tallied(a_vote(ask, "ann", channel)))
    assert told(refusal) == (None if still else ("FORBIDDEN", "approver-no-longer-entitled"))


@pytest.mark.parametrize(
    ("credential", "in_slack", "still"),
    [("T1/U1", True, True), ("T2/U2", True, True), ("T1/U1", False, False), ("T1/U9", True, False)],
)
def test_a_click_stands_as_long_as_the_account_it_came_from(
    credential: str, *, in_slack: bool, still: bool
) -> None:
    """And as long as there is an app that it could come through."""
    users = (SlackUser(team="T1", user="U1"), SlackUser(team="T2", user="U2"))
    authority = ruled(a_rule(), people=(structs.replace(ANN, slack=users),), in_slack=in_slack)
    ask = an_ask()
    vote = structs.replace(a_vote(ask, "ann", CHANNEL_SLACK), credential=credential)
    refusal = authority.judge_grant(ask, tallied(vote))
    assert told(refusal) == (None if still else ("FORBIDDEN", "approver-no-longer-entitled"))


def test_one_person_under_two_names_is_one() -> None:
    """A grant of two takes two."""
    authority = ruled(a_rule(quorum=2), approvers={"ann": person("ann"), "bob": person("bob")})
    ask = an_ask()
    assert authority.judge_grant(ask, tallied(a_vote(ask, "ann"), a_vote(ask, "bob"))) is None
    twice = authority.judge_grant(ask, tallied(a_vote(ask, "ann"), a_vote(ask, "ann")))
    assert told(twice) == ("FORBIDDEN", "quorum-no-longer-met")


@pytest.mark.parametrize(
    ("edit", "ask", "may"),
    [
        (EditRule.YES, {}, True),
        (EditRule.COUNTS, {}, True),
        (EditRule.NO, {}, False),
        (EditRule.YES, {"input_held": False}, False),
        (EditRule.YES, {"presentation": Presentation(redact=("/a",))}, False),
    ],
)
def test_who_changes_an_input_sees_all_of_it(edit: EditRule, ask: dict[str, Any], *, may: bool) -> None:
    """And the rule allows it."""
    assert may_edit(an_ask(**ask), Terms(rule="r", edit=edit)) is may


@pytest.mark.parametrize(
    ("edit", "quorum", "ask", "counts"),
    [
        (EditRule.YES, 1, {}, False),
        (EditRule.COUNTS, 1, {"effect": Effect.WRITE}, True),
        (EditRule.COUNTS, 1, {"effect": Effect.EXTERNAL}, False),
        (EditRule.COUNTS, 1, {"effect": Effect.WRITE, "risk": Risk.HIGH}, False),
        (EditRule.COUNTS, 2, {"effect": Effect.EXTERNAL}, True),
    ],
)
def test_a_change_counts_where_somebody_else_looks_too(
    edit: EditRule, quorum: int, ask: dict[str, Any], *, counts: bool
) -> None:
    """Or where nothing grave happens."""
    assert ruled(a_rule(edit=edit, quorum=quorum)).edit_counts(an_ask(**ask), Tally()) is counts


def test_a_change_counts_by_the_rules_of_today() -> None:
    """A floor that makes the call grave, or no rule at all, and nobody changes it alone any more."""
    ask, rule = an_ask(effect=Effect.WRITE), a_rule(edit=EditRule.COUNTS)
    floor = Floor(capabilities=("*",), risk=Risk.HIGH)
    assert ruled(rule).edit_counts(ask, Tally())
    assert not ruled(rule, floors=(floor,)).edit_counts(ask, Tally())
    assert not ruled().edit_counts(ask, Tally())
