"""Requests and rules to be explained, and what is said of them."""

from typing import Any

from placet.application.commands import ActorBody, Create
from placet.application.explain import Explanation, explain
from placet.domain.authority import Authority
from placet.domain.limits import Limits
from placet.domain.model import ActorKind, Effect, Risk
from placet.domain.people import Member, People, SlackUser, Subject
from placet.domain.principals import Client, Scope
from placet.domain.rules import (
    Approvers,
    Policies,
    Rule,
    Terms,
)

TREASURY = Approvers(groups=frozenset({"treasury"}))
BODY = Create(
    capability="orders.refund",
    actor=ActorBody(id="agent-7", kind=ActorKind.AGENT),
    effect=Effect.WRITE,
    input={"amount": 5},
)
ANN = Member(
    tenant="default",
    id="ann",
    groups=frozenset({"treasury"}),
    slack=(SlackUser(team="T1", user="U1"),),
    subjects=(Subject(iss="https://x", sub="1"),),
)
BRIDGE = Client(
    tenant="default",
    name="chat",
    scopes=frozenset({Scope.DECIDE_AS}),
    people=("ann", "zoe"),
    max_risk=Risk.HIGH,
)


def an_authority(*rules_: Rule, **members: Any) -> Authority:
    """Under these rules, with Ann and a bridge that speaks for her."""
    given: dict[str, Any] = {
        "tenant": "default",
        "clients": {"chat": BRIDGE},
        "approvers": {},
        "people": People([ANN]),
        "policies": Policies(version="v", rules=rules_) if rules_ else None,
    }
    return Authority(**{**given, **members})


def a_rule(**terms_: Any) -> Rule:
    """One for everything."""
    return Rule(terms=Terms(**{"rule": "r", "approvers": (TREASURY,), **terms_}), capabilities=("*",))


def explained(authority: Authority, body: Create = BODY, client: str | None = None) -> Explanation:
    """What is said of a request."""
    return explain(authority, client, body, Limits())


def why_not(found: Explanation, person_id: str) -> str | None:
    """Why somebody can't approve it."""
    return next(each.why_not for each in found.deciders if each.id == person_id)
