"""Who could decide, and whether they are enough."""

from typing import Any

import pytest
from msgspec import structs

from placet.application.commands import ActorBody
from placet.application.explain import explain
from placet.domain.authority import Authority
from placet.domain.limits import Limits
from placet.domain.model import ActorKind, Risk, Verdict
from placet.domain.people import Issuer, Member, People, SignIn, SlackUser, Subject
from placet.domain.principals import Approver
from placet.domain.rules import (
    Approvers,
    EditRule,
    Rule,
)
from tests.explaining import BODY, BRIDGE, a_rule, an_authority, explained, why_not

TEAM = [
    Member(tenant="default", id=each, groups=frozenset({"treasury"}), aliases=(f"{each}@x",))
    for each in ("amy", "ben", "cid")
]
APPROVERS = {each: Approver(tenant="default", id=each) for each in ("amy", "ben")}


def of_team(*rules_: Rule, **members: Any) -> Authority:
    """Three of the treasury, of whom two have a credential."""
    given_ = {"clients": {}, "people": People(TEAM), "approvers": APPROVERS, **members}
    return an_authority(*rules_, **given_)


@pytest.mark.parametrize(
    ("authority", "body", "stuck", "lacking"),
    [
        (of_team(a_rule(quorum=2)), {}, None, None),
        (of_team(a_rule(quorum=3)), {}, None, "It takes 3 people, and now only 2 could."),
        (of_team(a_rule(), approvers={}), {}, None, "It takes 1 person, and now nobody could."),
        (
            of_team(a_rule(quorum=4)),
            {},
            "It takes 4 people, and only 3 who are known may approve it.",
            None,
        ),
        (
            of_team(a_rule(quorum=2, approvers=(Approvers(people=frozenset({"amy"})),))),
            {},
            "It takes 2 people, and only 1 who is known may approve it.",
            None,
        ),
        (
            of_team(a_rule(quorum=3)),
            {"actor": ActorBody(id="AMY@x", kind=ActorKind.USER)},
            "It takes 3 people, and of those who may approve it only 2 are not on the asking side.",
            None,
        ),
        (
            of_team(a_rule(approvers=(Approvers(people=frozenset({"amy"})),))),
            {"actor": ActorBody(id="amy", kind=ActorKind.AGENT)},
            "It takes 1 person, and all who may are on the asking side.",
            None,
        ),
        (
            of_team(a_rule()),
            {"allowed_decisions": (Verdict.REJECT,)},
            "It takes 1 person, and nobody who is known may approve it.",
            None,
        ),
    ],
)
def test_whether_there_are_enough(
    authority: Authority, body: dict[str, Any], stuck: str | None, lacking: str | None
) -> None:
    """For ever, or as things stand; a person counts once."""
    found = explained(authority, structs.replace(BODY, **body))
    assert (found.stuck, found.lacking) == (stuck, lacking)


def test_an_alias_is_nobody_of_their_own() -> None:
    """It is said whose it is, and is not counted beside them."""
    both = {each: Approver(tenant="default", id=each) for each in ("amy", "amy@x")}
    found = explained(of_team(a_rule(quorum=2), approvers=both))
    assert why_not(found, "amy@x") == "an alias of 'amy', whose own credential counts"
    alone = explained(of_team(approvers=both, people=People(TEAM[:1])))  # under the built-in rule
    assert [(each.id, each.channels, each.alias_of) for each in alone.deciders] == [
        ("amy", ("api", "web"), None),
        ("amy@x", ("api", "web"), "amy"),
    ]


def test_without_a_credential_there_is_another_way_in() -> None:
    """A bridge needs none of theirs; where credentials are not known, everybody is taken to have one."""
    bridge = structs.replace(BRIDGE, people=("cid",))
    found = explained(of_team(a_rule(), clients={"chat": bridge}))
    assert {each.id: (each.channels, each.would) for each in found.deciders} == {
        "amy": (("api", "web"), ()),
        "ben": (("api", "web"), ()),
        "cid": (("chat",), ("api", "web")),
    }
    blind = explain(of_team(a_rule(quorum=3), approvers={}), None, BODY, Limits(), looked_up=False)
    assert [each.channels for each in blind.deciders] == [("api", "web")] * 3
    assert (blind.stuck, blind.lacking) == (None, None)


def test_whom_the_rule_names_is_known_by_that() -> None:
    """Somebody who is in no directory, and has no credential yet."""
    rule = a_rule(approvers=(Approvers(people=frozenset({"eve"})),))
    found = explained(of_team(rule))
    assert [(each.id, each.would) for each in found.deciders if each.could] == [("eve", ("api", "web"))]


ISSUER = Issuer(iss="https://x", tenant="default", audience="placet", groups_claim="groups")


@pytest.mark.parametrize(
    ("rule", "issuer", "strangers"),
    [
        (a_rule(), ISSUER, ("treasury",)),
        (a_rule(), structs.replace(ISSUER, groups_claim=None), ()),
        (a_rule(), structs.replace(ISSUER, tenant="blue"), ()),
        (a_rule(quorum=2), ISSUER, ()),
        (a_rule(approvers=()), ISSUER, ()),
        (a_rule(channels=frozenset({"chat"})), ISSUER, ()),
    ],
)
def test_an_issuer_may_know_somebody(rule: Rule, issuer: Issuer, strangers: tuple[str, ...]) -> None:
    """Of whom nobody here has heard: where the rule names a group, and one person is enough."""
    found = explained(of_team(rule, people=People([]), approvers={}, issuers={"https://x": issuer}))
    assert found.strangers == strangers
    assert (found.stuck is None) is bool(strangers)
    assert found.lacking is None


def test_a_stranger_whom_the_rule_names_signs_in_at_the_issuer() -> None:
    """They need no credential of ours."""
    rule = a_rule(approvers=(Approvers(people=frozenset({"oidc:1f"})),))
    found = explained(of_team(rule, people=People([]), approvers={}, issuers={"https://x": ISSUER}))
    assert [(each.id, each.channels) for each in found.deciders] == [("oidc:1f", ("api",))]
    on_pages = structs.replace(SIGNS_IN, audience=None)
    found = explained(of_team(rule, people=People([]), approvers={}, issuers={"https://x": on_pages}))
    assert [(each.id, each.channels, each.would) for each in found.deciders] == [
        ("oidc:1f", ("web",), ("api",))
    ]


SIGNS_IN = structs.replace(ISSUER, sign_in=SignIn(name="login", client_id="c"))


@pytest.mark.parametrize(
    ("rule", "issuer", "person_id", "channels"),
    [
        (a_rule(), SIGNS_IN, "amy", ("api",)),
        (a_rule(), SIGNS_IN, "dan", ("api", "web")),
        (a_rule(step_up=True), SIGNS_IN, "amy", ()),
        (a_rule(step_up=True), SIGNS_IN, "dan", ("web",)),
        (a_rule(step_up=True), ISSUER, "dan", ()),
        (a_rule(), structs.replace(SIGNS_IN, tenant="blue"), "amy", ("api", "web")),
        (a_rule(), structs.replace(SIGNS_IN, email_authoritative=True), "amy", ("api", "web")),
    ],
)
def test_where_an_issuer_signs_people_in_nothing_else_does(
    rule: Rule, issuer: Issuer, person_id: str, channels: tuple[str, ...]
) -> None:
    """On the pages: whom it has no name for comes another way, or not at all."""
    dan = Member(
        tenant="default",
        id="dan",
        groups=frozenset({"treasury"}),
        subjects=(Subject(iss="https://x", sub="1"),),
    )
    amy = Member(tenant="default", id="amy", groups=frozenset({"treasury"}))
    found = explained(of_team(rule, people=People([dan, amy]), issuers={"https://x": issuer}))
    assert {each.id: each.channels for each in found.deciders}[person_id] == channels


@pytest.mark.parametrize(
    ("issuer", "person_id", "channels", "would", "signs_in"),
    [
        (SIGNS_IN, "dan", ("api", "web"), (), True),
        (structs.replace(SIGNS_IN, audience=None), "dan", ("web",), ("api",), True),
        (structs.replace(SIGNS_IN, sign_in=None), "dan", ("api",), ("web",), True),
        (structs.replace(SIGNS_IN, iss="https://y"), "dan", (), ("api",), False),
        (structs.replace(SIGNS_IN, audience=None), "amy", ("api",), (), True),
        (structs.replace(SIGNS_IN, audience=None), "eve", (), ("api",), False),
    ],
)
def test_a_token_is_a_credential_where_the_issuer_has_an_audience(
    issuer: Issuer, person_id: str, channels: tuple[str, ...], would: tuple[str, ...], *, signs_in: bool
) -> None:
    """For whom it knows; else the API takes a credential of one's own."""
    subjects = (Subject(iss="https://x", sub="1"),)
    team = [
        Member(tenant="default", id=each, groups=frozenset({"treasury"}), subjects=known)
        for each, known in (("dan", subjects), ("amy", ()), ("eve", ()))
    ]
    found = explained(of_team(a_rule(), people=People(team), issuers={issuer.iss: issuer}))
    by_id = {each.id: each for each in found.deciders}
    decider = by_id[person_id]
    assert (decider.channels, decider.would, decider.signs_in) == (channels, would, signs_in)


@pytest.mark.parametrize("in_slack", [True, False])
def test_a_user_of_slack_decides_there(*, in_slack: bool) -> None:
    """Where the tenant has an app: without one, who may decide only there can't."""
    member = Member(
        tenant="default",
        id="amy",
        groups=frozenset({"treasury"}),
        slack=(SlackUser(team="T1", user="U1"),),
    )
    rule = a_rule(channels=frozenset({"slack"}))
    found = explained(of_team(rule, people=People([member]), in_slack=in_slack))
    if in_slack:
        [decider] = [each for each in found.deciders if each.id == "amy"]
        assert (decider.channels, decider.would, decider.why_not) == (("slack",), (), None)
    else:
        assert why_not(found, "amy") == "has no way in through slack"


def test_strangers_sign_in_for_a_decision() -> None:
    """Where their issuer lets them."""
    rule = a_rule(step_up=True)
    nobody = {"people": People([]), "approvers": {}}
    assert explained(of_team(rule, issuers={"https://x": ISSUER}, **nobody)).strangers == ()
    assert explained(of_team(rule, issuers={"https://x": SIGNS_IN}, **nobody)).strangers == ("treasury",)
    on_pages = structs.replace(SIGNS_IN, audience=None)
    claims_nothing = structs.replace(on_pages, groups_claim=None)
    for issuer, groups in ((on_pages, ("treasury",)), (claims_nothing, ())):
        assert explained(of_team(a_rule(), issuers={"https://x": issuer}, **nobody)).strangers == groups
        only_api = a_rule(channels=frozenset({"api"}))
        assert explained(of_team(only_api, issuers={"https://x": issuer}, **nobody)).strangers == ()


@pytest.mark.parametrize(
    ("rule", "risk", "could"),
    [
        (a_rule(edit=EditRule.COUNTS), Risk.LOW, True),
        (a_rule(edit=EditRule.COUNTS), Risk.HIGH, False),
        (a_rule(edit=EditRule.YES), Risk.LOW, False),
        (a_rule(edit=EditRule.COUNTS, quorum=2), Risk.LOW, False),
    ],
)
def test_what_takes_only_changes_is_approved_by_one_that_counts(
    rule: Rule, risk: Risk, *, could: bool
) -> None:
    """Else nobody is left to approve it."""
    allowed = (Verdict.EDIT, Verdict.REJECT)
    found = explained(of_team(rule), structs.replace(BODY, allowed_decisions=allowed, risk=risk))
    assert (found.stuck is None) is could
