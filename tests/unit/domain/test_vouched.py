"""Whom an issuer vouches for: who they are, what counts against them, and for how long their votes stand."""

import json
from typing import Any

import msgspec
import pytest

from placet.domain.authority import Authority
from placet.domain.model import Actor, ActorKind, Ask, Effect, Person, Verdict, Vote
from placet.domain.people import Issuer, Member, People, SlackUser, Subject
from placet.domain.principals import Approver, Client, Scope
from placet.domain.rules import Approvers, Policies, Rule, Terms
from placet.domain.tally import Tally
from placet.domain.voters import Voter
from placet.domain.vouched import Vouched
from tests.factories import an_ask, digest_of, tallied
from tests.issuer import ISS, OTHER, an_issuer

ANN = Member(
    tenant="default",
    id="ann",
    name="Ann",
    groups=frozenset({"ops"}),
    aliases=("ann@x.example", "Ann.Doe@x.example"),
    subjects=(Subject(iss=ISS, sub="u-1"),),
    slack=(SlackUser(team="T1", user="U1"),),
)
BOB = Member(tenant="default", id="bob", groups=frozenset({"ops"}), aliases=("bob@x.example",))
ABROAD = Member(tenant="abroad", id="zed", subjects=(Subject(iss=ISS, sub="u-9"),))

OPS = Approvers(groups=frozenset({"ops"}))
SELF = ("APPROVAL_SELF_APPROVAL", None)
NOT_ENTITLED = ("FORBIDDEN", "not-an-approver")
LOST = ("FORBIDDEN", "approver-no-longer-entitled")


def authority(
    *members: Member, issuers: tuple[Issuer, ...] = (an_issuer(),), terms: dict[str, Any] | None = None
) -> Authority:
    """One rule for everything: the group ops decides."""
    rule = Rule(
        terms=Terms(**{"rule": "ops", "approvers": (OPS,), **(terms or {})}),
        capabilities=("*",),
    )
    return Authority(
        tenant="default",
        clients={"runtime": Client(tenant="default", name="runtime", scopes=frozenset({Scope.REQUEST}))},
        approvers={},
        people=People(members or (ANN, BOB, ABROAD)),
        policies=Policies(version="v", rules=(rule,)),
        issuers={issuer.iss: issuer for issuer in issuers},
    )


def word(sub: str = "u-7", **more: Any) -> Vouched:
    """What the issuer says of somebody whom the directory does not know by this."""
    return Vouched(iss=ISS, sub=sub, **more)


def known(judge: Authority, said: Vouched, name: str | None = None) -> Approver:
    """Who that is."""
    principal = judge.vouched(said, name)
    assert principal is not None
    return principal


def voter(judge: Authority, said: Vouched) -> Voter:
    """The same, as somebody who wants to decide."""
    return judge.voter(known(judge, said))


def told(error: Any) -> tuple[str, str | None] | None:
    """A refusal's code and reason."""
    return None if error is None else (error.code, error.details.get("reason"))


def judged(judge: Authority, said: Vouched, verdict: Verdict = Verdict.APPROVE, **ask: Any) -> Any:
    """Whether they may vote so."""
    return told(judge.judge_vote(voter(judge, said), an_ask(**ask), verdict, None, Tally()))


# --- Who somebody is ----------------------------------------------------------------------------------


def test_a_subject_of_the_directory_is_that_person() -> None:
    """By id and name of the directory, in its groups; what the issuer says of either does not count."""
    judge = authority()
    principal = known(judge, word("u-1", groups=("cfo",), email="bob@x.example"), "Mallory")
    assert (principal.id, principal.display_name, principal.groups) == ("ann", "Ann", ())
    assert (voter(judge, word("u-1", groups=("cfo",))).groups, voter(judge, word("u-1")).is_member) == (
        frozenset({"ops"}),
        True,
    )


def test_somebody_else_is_known_by_an_id_of_issuer_and_subject() -> None:
    """Opaque, always the same, another for every pair; with the groups and the name that were said."""
    judge = authority()
    principal = known(judge, word(groups=("ops",)), "Cy")
    assert principal.id == "oidc:691285e1de79f39d195528ef13e9098b"
    assert (principal.display_name, principal.groups) == ("Cy", ("ops",))
    pairs = [("a", "bc"), ("ab", "c"), ("a", "Bc"), ("a", "bc ")]
    assert len({Vouched(iss=iss, sub=sub).stranger_id for iss, sub in pairs}) == 4


@pytest.mark.parametrize("sub", ["ann", "bob", "oidc:x", "u-1 ", "U-1", "ann@x.example"])
def test_nobody_chooses_to_be_somebody(sub: str) -> None:
    """A subject that is spelled like a person's id, alias or other subject is a stranger's."""
    judge = authority()
    stranger = voter(judge, word(sub, aliases=("ann", "ann@x.example")))
    assert stranger.person.id == word(sub).stranger_id
    assert (stranger.key, stranger.is_member, stranger.groups) == (word(sub).stranger_id, False, frozenset())


@pytest.mark.parametrize(
    "issuers", [(), (OTHER,), (an_issuer(tenant="abroad"),)], ids=["none", "another", "of another tenant"]
)
def test_a_word_is_worth_something_only_of_an_issuer_of_the_tenant(issuers: tuple[Issuer, ...]) -> None:
    """Whoever it is of."""
    judge = authority(issuers=issuers)
    assert judge.vouched(word("u-1")) is judge.vouched(word()) is None


def test_a_person_of_another_tenant_is_nobody_here() -> None:
    """Not even a stranger."""
    assert authority().vouched(word("u-9", groups=("ops",))) is None


@pytest.mark.parametrize(
    ("email", "person"),
    [
        ("bob@x.example", "bob"),
        ("BOB@x.example", None),
        ("bob@x.example.", None),
        ("bob", "bob"),
        ("eve@x.example", None),
        (None, None),
    ],
)
def test_a_verified_address_leads_to_a_person_byte_for_byte(email: str | None, person: str | None) -> None:
    """Only where the issuer is authoritative; folding takes away and never grants."""
    said = word(email=email)
    judge = authority(issuers=(an_issuer(email_authoritative=True),))
    assert known(judge, said).id == (person or said.stranger_id)
    assert known(authority(), said).id == said.stranger_id


def test_an_address_does_not_lead_to_whom_the_issuer_knows_otherwise() -> None:
    """Addresses are given to new people; the directory says who Ann is to this issuer."""
    said = word(email="ann@x.example")
    judge = authority(issuers=(an_issuer(email_authoritative=True),))
    assert known(judge, said).id == said.stranger_id


# --- What counts against them -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "actor"),
    [
        (word("u-1"), "ann"),
        (word("u-1"), "ANN@x.example"),
        (word("u-1"), "u-1"),
        (word("u-1"), "U1"),
        (word("u-1", aliases=("amarsh",)), "Amarsh"),
        (word("u-1", aliases=("bob@x.example",)), "bob"),
        (word(groups=("ops",)), "u-7"),
        (word(groups=("ops",), aliases=("cy@x.example",)), "Cy@X.example"),
        (word(groups=("ops",), aliases=("ann@x.example",)), "ann"),
        (word(groups=("ops",), aliases=("ann",)), "ann.doe@x.example"),
    ],
)
def test_nobody_approves_their_own_under_any_name(said: Vouched, actor: str) -> None:
    """The issuer's names count as the directory's do; rejecting is theirs."""
    judge = authority()
    own = {"actor": Actor(id=actor, kind=ActorKind.USER)}
    behind = {"actor": Actor(id="agent-7", kind=ActorKind.AGENT, on_behalf_of=("x", actor))}
    for ask in (own, behind, {"owners": (actor,)}):
        assert judged(judge, said, **ask) == SELF
        assert judged(judge, said, Verdict.REJECT, **ask) is None
    assert judged(judge, said) is None


def test_a_rule_s_exception_is_not_opened_by_an_alias() -> None:
    """A plain human confirmation is for whom the directory knows to be the actor."""
    judge = authority(terms={"self_approval": True})
    own: dict[str, Any] = {"actor": Actor(id="ann", kind=ActorKind.USER), "effect": Effect.WRITE}
    assert judged(judge, word("u-1"), **own) is None
    assert judged(judge, word(groups=("ops",), aliases=("ann",)), **own) == SELF


def test_a_member_who_could_be_another_does_not_count_among_several() -> None:
    """Under the name of a second person one could count twice; alone one counts once."""
    said = word("u-1", aliases=("bob@x.example",))
    assert judged(authority(terms={"quorum": 2}), said) == NOT_ENTITLED
    assert judged(authority(terms={"quorum": 2}), word("u-1", aliases=("ann@x.example", "cy"))) is None
    assert judged(authority(), said) is None


def test_strangers_never_count_among_several() -> None:
    """Only people of the directory can be told apart."""
    assert judged(authority(terms={"quorum": 2}), word(groups=("ops",))) == NOT_ENTITLED


def test_strangers_decide_only_where_a_rule_means_them() -> None:
    """By a group or by their id; where any approver will do, that is not any user of an issuer."""
    assert judged(authority(), word(groups=("ops",))) is None
    assert judged(authority(), word()) == NOT_ENTITLED
    named = Approvers(people=frozenset({word().stranger_id}))
    assert judged(authority(terms={"approvers": (named,)}), word()) is None
    assert judged(authority(terms={"approvers": ()}), word(groups=("ops",))) == NOT_ENTITLED
    built_in = msgspec.structs.replace(authority(), policies=None)
    assert judged(built_in, word(groups=("ops",))) == NOT_ENTITLED
    assert judged(built_in, word("u-1")) is None


def test_strangers_see_what_they_may_or_did_decide() -> None:
    """And nothing else."""
    judge, ask = authority(), an_ask()
    vote = cast(judge, ask, word(groups=("ops",)))
    assert judge.sees(known(judge, word(groups=("ops",))), ask, Tally())
    assert not judge.sees(known(judge, word()), ask, Tally())
    assert judge.sees(known(judge, word()), ask, tallied(vote))


# --- What was granted ---------------------------------------------------------------------------------


def cast(judge: Authority, ask: Ask, said: Vouched) -> Vote:
    """Their approval, as it is kept."""
    who = voter(judge, said)
    kept = Vote(
        decision=Verdict.APPROVE,
        approver=who.person,
        channel=who.channel,
        submitted_by=None,
        comment=None,
        digest=digest_of(ask),
        vouched=who.vouched,
    )
    return msgspec.json.decode(msgspec.json.encode(kept), type=Vote)


@pytest.mark.parametrize(
    ("said", "linked"), [(word("u-1"), LOST), (word(groups=("ops",), aliases=("cy",)), None)]
)
def test_a_vote_stands_while_its_issuer_is_configured(said: Vouched, linked: tuple[str, str] | None) -> None:
    """And while the person is who they were, in the group that it took; whom nobody knew may become known."""
    judge, ask = authority(), an_ask()
    vote = cast(judge, ask, said)
    assert judge.judge_grant(ask, tallied(vote)) is None
    assert told(authority(issuers=()).judge_grant(ask, tallied(vote))) == LOST
    cfo = {"approvers": (Approvers(groups=frozenset({"cfo"})),)}
    assert told(authority(terms=cfo).judge_grant(ask, tallied(vote))) == LOST
    moved = Member(tenant="default", id="eve", groups=frozenset({"ops"}), subjects=(said.subject,))
    assert told(authority(moved).judge_grant(ask, tallied(vote))) == linked


def test_a_vote_does_not_stand_for_whoever_has_become_an_owner() -> None:
    """The names that the issuer gave are kept with it."""
    judge, ask = authority(), an_ask()
    vote = cast(judge, ask, word(groups=("ops",), aliases=("cy@x.example",)))
    owned = Client(tenant="default", name="runtime", scopes=frozenset(), owners=("CY@x.example",))
    later = msgspec.structs.replace(judge, clients={"runtime": owned})
    assert told(later.judge_grant(ask, tallied(vote))) == LOST


def test_a_vote_by_another_credential_is_not_saved_by_an_issuer() -> None:
    """It came with a credential that is revoked now; that the person could come in otherwise is no matter."""
    judge, ask = authority(), an_ask()
    vote = msgspec.structs.replace(cast(judge, ask, word("u-1")), vouched=msgspec.UNSET)
    assert told(judge.judge_grant(ask, tallied(vote))) == LOST
    held = msgspec.structs.replace(judge, approvers={"ann": Approver(tenant="default", id="ann")})
    assert held.judge_grant(ask, tallied(vote)) is None


def test_other_votes_and_principals_are_kept_as_they_were() -> None:
    """Without a word of an issuer there is no member for it."""
    vote = Vote(
        decision=Verdict.APPROVE,
        approver=Person(id="ann"),
        channel="api",
        submitted_by=None,
        comment=None,
        digest="",
    )
    for value in (vote, Approver(tenant="default", id="ann")):
        assert "vouched" not in json.loads(msgspec.json.encode(value))
