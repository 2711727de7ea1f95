"""Whom to tell: rules, endpoints and people, turned into targets."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec import structs

from placet.application.callers import Snapshot
from placet.application.outreach import by_rule, wanted
from placet.domain.authority import Authority
from placet.domain.chat import SlackApp
from placet.domain.events import EventType
from placet.domain.model import Approval, Status
from placet.domain.people import Member, People, SlackUser
from placet.domain.principals import Client, Endpoint, Key, Scope
from placet.domain.rules import Escalation, Policies, Rule, Terms
from tests.factories import T0_MS, an_ask, unsealed

MINUTE_MS = 60_000
TEAM, OTHER = "T0TEAM", "T0OTHER"


def member(name: str, *groups: str, team: str = TEAM, **members: Any) -> Member:
    """Somebody with an account of Slack."""
    slack = (SlackUser(team=team, user=f"U{name.upper()}"),)
    return Member(tenant="default", id=name, groups=frozenset(groups), slack=slack, **members)


def an_approval(**changes: Any) -> Approval:
    """A question that waits."""
    ask = an_ask()
    members: dict[str, Any] = {
        "status": Status.PENDING,
        "requested_at_ms": T0_MS,
        "expires_at_ms": T0_MS + 15 * MINUTE_MS,
        "now_ms": T0_MS,
        **changes,
    }
    return Approval(
        ask=ask,
        sealed=unsealed(ask),
        nonce=b"n",
        digest="0" * 64,
        input_hash=ask.input_hash,
        input=None,
        use_by_ms=None,
        required=1,
        counted=(),
        votes=(),
        consumption=None,
        outcome=None,
        requested=None,
        **members,
    )


def told(
    *tell: str,
    event: EventType = EventType.REQUESTED,
    waited_ms: int = 0,
    status: Status = Status.PENDING,
    escalation: Escalation | None = None,
    endpoints: Sequence[Endpoint] = (),
    expires_in_ms: int = 15 * MINUTE_MS,
) -> tuple[list[str], Mapping[EventType, int]]:
    """Who is told of a transition, and what is to happen later."""
    approval = an_approval(status=status, expires_at_ms=T0_MS + expires_in_ms, now_ms=T0_MS + waited_ms)
    plan = wanted(snapshot(tell, escalation, endpoints), approval, event)
    assert plan.is_nothing == (not plan.targets and not plan.timers)
    return list(plan.targets), plan.timers


def snapshot(tell: Sequence[str], escalation: Escalation | None, endpoints: Sequence[Endpoint]) -> Snapshot:
    """A tenant with a rule, two workspaces, people, and endpoints."""
    people = People(
        [
            member("ann", "treasury"),
            member("bob", "cfo"),
            member("cy", "cfo", team="T0NOWHERE"),
            member("dana", "cfo", owns=("runtime",)),
            Member(tenant="default", id="eve", groups=frozenset({"cfo"})),
        ]
    )
    terms = Terms(rule="r", tell=tuple(tell), escalation=escalation)
    rules = Policies(version="0" * 64, rules=(Rule(terms=terms, capabilities=("*",)),))
    runtime = Client(tenant="default", name="runtime", scopes=frozenset({Scope.REQUEST}), owners=("dana",))
    authority = Authority(
        tenant="default",
        clients={"runtime": runtime},
        approvers={},
        people=people,
        policies=rules,
        issuers={},
    )
    apps = [
        SlackApp(
            team=team,
            tenant="default",
            app="A0",
            token_file="t",
            signing_secret_files=("s",),
            channels=channels,
        )
        for team, channels in ((TEAM, {"treasury": "C0T"}), (OTHER, {"cfo": "C0C"}))
    ]
    return Snapshot(
        epoch=1,
        clients={},
        approvers={},
        by_key={},
        rules=authority,
        endpoints={each.name: each for each in endpoints},
        slack={app.team: app for app in apps},
    )


def endpoint(name: str, **members: Any) -> Endpoint:
    """An endpoint with a live key."""
    key = Key(kid="k", sha256="", created_at_ms=0)
    return Endpoint(tenant="default", name=name, url="https://hooks.example/x", keys=(key,), **members)


@pytest.mark.parametrize(
    ("tell", "targets"),
    [
        (["slack:#treasury"], [f"slack:{TEAM}:C0T"]),
        (["slack:#cfo"], [f"slack:{OTHER}:C0C"]),
        (["slack:C0XYZ"], [f"slack:{TEAM}:C0XYZ"]),
        (["slack:#nowhere"], []),
        (["slack:@ann"], [f"slack:{TEAM}:UANN"]),
        (["slack:@cy"], []),
        (["slack:@eve", "slack:@nobody"], []),
        (["slack:#treasury", "slack:C0T", "slack:#treasury"], [f"slack:{TEAM}:C0T"]),
        (["webhook:gone"], ["webhook:gone"]),
    ],
)
def test_whom_a_rule_names(tell: Sequence[str], targets: Sequence[str]) -> None:
    """Each once; whom no app can write to is nobody, and an endpoint that is not there one that fails."""
    assert told(*tell)[0] == list(targets)


def test_what_has_ended_is_told_to_no_chat_anew() -> None:
    """And a name that no endpoint has is told of once."""
    assert told("slack:#treasury", "webhook:gone", event=EventType.APPROVED, status=Status.APPROVED)[0] == []


@pytest.mark.parametrize(
    ("members", "hears"),
    [
        ({}, True),
        ({"capabilities": ("orders.*",)}, True),
        ({"capabilities": ("mail.*",)}, False),
        ({"clients": ("shop",)}, False),
        ({"events": frozenset({"approved"})}, False),
        ({"by_rule": True}, False),
    ],
)
def test_what_an_endpoint_hears_of(members: dict[str, Any], hears: bool) -> None:  # noqa: FBT001 - a row
    """What its filters let through."""
    assert told(endpoints=[endpoint("audit", **members)])[0] == (["webhook:audit"] if hears else [])


def test_an_endpoint_that_a_rule_tells() -> None:
    """Of whatever its other filters would keep from it; but for events."""
    by_rule_alone = endpoint("audit", by_rule=True, capabilities=("mail.*",))
    assert told("webhook:audit", endpoints=[by_rule_alone])[0] == ["webhook:audit"]
    approvals = endpoint("audit", events=frozenset({"approved"}))
    assert told("webhook:audit", endpoints=[approvals])[0] == []


def test_whoever_is_called_later_is_told_then() -> None:
    """The people of the groups, as far as a chat knows them and they don't ask for it themselves."""
    escalation = Escalation(after_ms=5 * MINUTE_MS, groups=frozenset({"cfo"}))
    early, timers = told(escalation=escalation)
    assert (early, timers) == ([], {EventType.ESCALATED: T0_MS + 5 * MINUTE_MS})
    late, timers = told(escalation=escalation, event=EventType.ESCALATED, waited_ms=5 * MINUTE_MS)
    assert (late, timers) == ([f"slack:{TEAM}:UBOB"], {})


def test_whom_an_escalation_names() -> None:
    """In place of the people."""
    escalation = Escalation(
        after_ms=MINUTE_MS, groups=frozenset({"cfo"}), tell=("slack:#cfo", "webhook:late", "slack:@ann")
    )
    late = endpoint("late", by_rule=True)
    assert told(escalation=escalation, endpoints=[late])[0] == []
    found, _ = told(escalation=escalation, endpoints=[late], event=EventType.ESCALATED, waited_ms=MINUTE_MS)
    assert found == [f"slack:{OTHER}:C0C", f"slack:{TEAM}:UANN", "webhook:late"]


def test_what_gives_up_calls_nobody() -> None:
    """It is over then."""
    escalation = Escalation(after_ms=MINUTE_MS, gives_up=True)
    assert told(escalation=escalation, waited_ms=2 * MINUTE_MS) == ([], {})


@pytest.mark.parametrize(
    ("expires_in_ms", "left_ms"),
    [(4 * MINUTE_MS - 1, None), (4 * MINUTE_MS, MINUTE_MS), (10 * 60 * MINUTE_MS, 60 * MINUTE_MS)],
)
def test_when_somebody_is_reminded(expires_in_ms: int, left_ms: int | None) -> None:
    """A quarter before it is over, an hour at most; of what is told to nobody there is nobody to remind."""
    expected = {} if left_ms is None else {EventType.REMINDED: T0_MS + expires_in_ms - left_ms}
    assert told("slack:#treasury", expires_in_ms=expires_in_ms)[1] == expected
    assert told(expires_in_ms=expires_in_ms)[1] == {}


def test_without_a_rule_nobody_is_named() -> None:
    """As where policies came to be for other calls."""
    nothing = structs.replace(snapshot(["slack:#treasury"], None, ()), rules=None)
    found = snapshot(["slack:#treasury"], None, ())
    assert found.rules is not None
    other = structs.replace(found.rules, policies=Policies(version="0" * 64, rules=()))
    approval = an_approval()
    assert by_rule(structs.replace(nothing, rules=other), approval) == ()
    assert wanted(structs.replace(nothing, rules=other), approval, EventType.REQUESTED).is_nothing
