"""The directory: what leads to a person, and what only takes away."""

import pytest

from placet.domain.people import Issuer, Member, Path, People, SlackUser, Subject, faults_of

SUBJECT = Subject(iss="https://login.example", sub="1")
SLACK = SlackUser(team="T1", user="U1")
ANN = Member(
    tenant="default",
    id="Ann",
    aliases=("ann@example.com",),
    subjects=(SUBJECT,),
    slack=(SLACK,),
    owns=("nightly", "shop"),
)
BOB = Member(tenant="default", id="bob", owns=("Shop",))
OTHER = Member(tenant="other", id="ann", aliases=("bob",))
PEOPLE = People([ANN, BOB, OTHER])


@pytest.mark.parametrize(
    ("tenant", "name", "found"),
    [
        ("default", "Ann", ANN),
        ("default", "ann", None),
        ("default", "ann@example.com", None),
        ("other", "ann", OTHER),
        ("other", "Ann", None),
        ("default", "nobody", None),
    ],
)
def test_an_id_leads_to_a_person_and_nothing_like_it(tenant: str, name: str, found: Member | None) -> None:
    """Byte by byte, in their own tenant."""
    assert PEOPLE.member(tenant, name) is found


@pytest.mark.parametrize(
    ("tenant", "name", "key"),
    [
        ("default", "Ann", "ann"),
        ("default", " ANN ", "ann"),
        ("default", "Ann M. <Ann@Example.com>", "ann"),
        ("default", "bob", "bob"),
        ("other", "bob", "ann"),
        ("other", "Zoe", "zoe"),
    ],
)
def test_every_name_of_a_person_is_one(tenant: str, name: str, key: str) -> None:
    """Folded; whom the directory does not know is who they are called."""
    assert PEOPLE.key(tenant, name) == key


def test_an_issuer_s_subject_and_a_user_of_slack_lead_to_a_person() -> None:
    """As a whole: both members of the pair."""
    assert PEOPLE.by_subject(SUBJECT) is ANN
    assert PEOPLE.by_subject(Subject(iss="https://login.example/", sub="1")) is None
    assert PEOPLE.by_slack(SLACK) is ANN
    assert PEOPLE.by_slack(SlackUser(team="T2", user="U1")) is None


def test_who_owns_a_service() -> None:
    """All of them, whatever the case of its letters; of this tenant."""
    assert PEOPLE.owners_of("default", ["SHOP", "x"]) == {"ann", "bob"}
    assert PEOPLE.owners_of("default", ["Nightly"]) == {"ann"}
    assert PEOPLE.owners_of("other", ["shop"]) == set()


def test_who_is_in_a_tenant() -> None:
    """And which there are."""
    assert PEOPLE.of("default") == (ANN, BOB)
    assert PEOPLE.tenants() == ["default", "other"]
    assert People().tenants() == []


def test_people_who_can_be_told_apart_have_no_fault() -> None:
    """One id in two tenants is two people; a name that is one's own twice is no harm."""
    issuers = {SUBJECT.iss: Issuer(iss=SUBJECT.iss, tenant="default", audience="x")}
    twice = Member(tenant="third", id="cy", aliases=("cy", "CY"))
    placed: dict[Path, Member] = {
        ("people", place): each for place, each in enumerate((ANN, BOB, OTHER, twice))
    }
    assert list(faults_of(placed, issuers)) == []
