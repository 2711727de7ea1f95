"""What a token's claims make of its subject: a person who is here, under which names, in which groups."""

from typing import Any

import pytest

from placet.domain.vouched import Vouched
from placet.tokens.foreign_claims import is_machine, name_of, vouched
from tests.issuer import ISS, an_issuer, check, claims, refused, signed

MACHINES: dict[str, dict[str, Any]] = {
    "RFC 9068": {"client_id": "u-1"},
    "OpenID Connect": {"azp": "u-1"},
    "Okta": {"cid": "u-1"},
    "Entra ID 1.0": {"appid": "u-1"},
    "Keycloak of old": {"clientId": "u-1"},
    "Auth0": {"sub": "abc@clients", "azp": "abc"},
    "Auth0, by grant": {"gty": "client-credentials"},
    "Auth0, by grants": {"gty": ["refresh_token", "client_credentials"]},
    "UAA": {"grant_type": "client_credentials"},
    "Entra ID": {"idtyp": "app"},
    "Entra ID without idtyp": {"oid": "u-1", "azp": "app-1", "roles": ["x"]},
    "WSO2": {"aut": "APPLICATION"},
    "Keycloak": {"preferred_username": "service-account-bot"},
    "Keycloak in capitals": {"preferred_username": " Service-Account-bot"},
    "Keycloak, by host": {"clientHost": "10.0.0.1"},
    "Keycloak, by address": {"clientAddress": "10.0.0.1"},
    "Kubernetes": {"kubernetes.io": {"namespace": "x"}},
    "a job at GitLab": {"pipeline_id": "1", "user_login": "ann"},
    "a job at GitHub": {"job_workflow_ref": "x"},
}
PEOPLE: dict[str, dict[str, Any]] = {
    "through a client": {"client_id": "app-1", "azp": "app-1"},
    "with a password": {"gty": "password"},
    "with grants": {"gty": ["authorization_code", 1]},
    "Entra ID": {"oid": "o-1", "azp": "app-1", "scp": "x", "idtyp": "user"},
    "Azure AD B2C": {"oid": "u-1", "azp": "app-1", "scp": "x"},
    "Azure AD B2C, ID token": {"oid": "u-1"},
    "WSO2": {"aut": "APPLICATION_USER"},
    "client no text": {"azp": ["u-1"]},
}


@pytest.mark.parametrize("more", MACHINES.values(), ids=MACHINES.keys())
def test_a_program_s_token_is_nobody_s(more: dict[str, Any]) -> None:
    """Got with client credentials, or given to a workload: each provider's way to say so."""
    assert refused(signed(claims(**more))) == "machine"


@pytest.mark.parametrize("more", PEOPLE.values(), ids=PEOPLE.keys())
def test_a_person_s_token_is_theirs(more: dict[str, Any]) -> None:
    """What looks like it, and is not."""
    assert check(signed(claims(**more))).vouched.sub == "u-1"
    assert not is_machine(claims(**more))


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"act": {"sub": "agent-7"}}, "delegated"),
        ({"act": "agent-7"}, "delegated"),
        ({"cnf": {"jkt": "x"}}, "bound"),
        ({"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}, "event"),
        ({"events": None}, "event"),
    ],
)
def test_who_is_not_here_does_not_decide(more: dict[str, Any], reason: str) -> None:
    """An agent that acts for a person, a token that needs a key besides, a message about a person."""
    assert refused(signed(claims(**more))) == reason


def test_an_act_that_says_nothing_says_nothing() -> None:
    """As a claim that is not there."""
    assert check(signed(claims(act=None, cnf=None))).vouched.sub == "u-1"


def test_every_other_name_is_an_alias() -> None:
    """Folded, each once; blanks and what can't be written down are none."""
    more = {
        "email": "Ann@X.example",
        "preferred_username": "ann@x.example",
        "upn": ["ann.upn", 7, "\ud800", ""],
        "oid": "O-1",
        "username": " ",
        "login": "\uff21nn",
        "uid": "a\u200bnn",
    }
    said = vouched(an_issuer(), claims(**more))
    assert said == Vouched(iss=ISS, sub="u-1", aliases=("ann@x.example", "ann.upn", "o-1", "ann"))


@pytest.mark.parametrize(
    ("value", "groups"),
    [
        (["ops", "dev"], ("ops", "dev")),
        ("ops", ("ops",)),
        (["ops", 1, None, ["dev"], "\ud800"], ("ops",)),
        ({"ops": True}, ()),
        (None, ()),
        (1, ()),
    ],
)
def test_groups_are_what_the_configured_claim_lists(value: Any, groups: tuple[str, ...]) -> None:
    """Texts, as they are; where no claim is configured there are none."""
    said = claims(**{"https://x.example/groups": value})
    assert vouched(an_issuer(groups_claim="https://x.example/groups"), said).groups == groups
    assert vouched(an_issuer(groups_claim="groups"), said).groups == ()
    assert vouched(an_issuer(), said).groups == ()


@pytest.mark.parametrize(
    ("said", "authoritative", "email"),
    [
        ({"email": "ann@x.example", "email_verified": True}, True, "ann@x.example"),
        ({"email": "ann@x.example", "email_verified": True}, False, None),
        ({"email": "ann@x.example", "email_verified": False}, True, None),
        ({"email": "ann@x.example", "email_verified": "true"}, True, None),
        ({"email": "ann@x.example", "email_verified": 1}, True, None),
        ({"email": "ann@x.example"}, True, None),
        ({"email": ["ann@x.example"], "email_verified": True}, True, None),
        ({"email": "ann\u200b@x.example", "email_verified": True}, True, None),
    ],
)
def test_an_address_is_worth_something_only_verified(
    said: dict[str, Any],
    authoritative: bool,  # noqa: FBT001 - a setting
    email: str | None,
) -> None:
    """By an issuer that is declared authoritative, in so many words."""
    assert vouched(an_issuer(email_authoritative=authoritative), claims(**said)).email == email


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ann Doe", "Ann Doe"),
        (" Ann ", "Ann"),
        ("", None),
        (None, None),
        (1, None),
        ("A" * 201, None),
        ("Ann\u202eeod", None),
        ("\u0410nn", None),
        ("Ann\n", None),
        ("\ud800", None),
    ],
)
def test_a_name_is_shown_if_it_could_be_an_id(name: Any, shown: str | None) -> None:
    """Strangers choose theirs."""
    assert name_of(an_issuer(), claims(name=name)) == shown
    assert name_of(an_issuer(name_claim="nick"), claims(nick=name)) == shown
