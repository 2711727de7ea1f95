"""Credentials: what each is good for, and that taking one back counts at once and everywhere."""

from typing import Any

import pytest

from tests.harness import Harness, holder, reason, record, refusal

UNKNOWN = (401, "UNAUTHENTICATED")


async def test_several_replicas_take_one_credential(pair: tuple[Harness, Harness]) -> None:
    """What was entered through one replica is good at the other, and the other way round."""
    here, there = pair
    runtime = await here.client()
    ann = await there.approver()
    asked = await runtime.asked()
    record(await holder(there, "runtime", runtime.credential).read(asked["id"]))
    record(await holder(here, "ann", ann.credential).decide(asked))


async def test_a_revocation_counts_at_once_on_every_replica(pair: tuple[Harness, Harness]) -> None:
    """Revoked through one replica, a credential is refused by the other's very next call, on every route."""
    here, there = pair
    runtime, ann = await here.client(), await here.approver()
    asked = await runtime.asked()
    away, gone = holder(there, "runtime", runtime.credential), holder(there, "ann", ann.credential)
    for party in (away, gone):
        record(await party.read(asked["id"]))  # so that the other replica knows them
    await here.services.enrolment.revoke("default", "client:runtime")
    assert refusal(await away.read(asked["id"])) == UNKNOWN
    record(await gone.read(asked["id"]))
    await here.services.enrolment.revoke("default", "approver:ann")
    assert refusal(await gone.decide(asked)) == UNKNOWN
    reader = await here.client("reader", "read")
    assert (await reader.seen(asked["id"]))["status"] == "pending"


ROUTES: dict[str, Any] = {
    "create": lambda party, asked: party.ask(input=1),
    "list": lambda party, asked: party.list(),
    "read": lambda party, asked: party.read(asked["id"]),
    "trail": lambda party, asked: party.trail(asked["id"]),
    "cancel": lambda party, asked: party.cancel(asked["id"]),
    "cancel run": lambda party, asked: party.cancel_run("r"),
    "consume": lambda party, asked: party.consume(asked),
    "report": lambda party, asked: party.report(asked["id"]),
    "introspect": lambda party, asked: party.introspect(asked, "x"),
}


WAIT = {"wait": lambda party, asked: party.read(asked["id"], wait=1)}


@pytest.mark.parametrize("route", (ROUTES | WAIT).values(), ids=(ROUTES | WAIT).keys())
async def test_a_stale_replica_serves_no_route(pair: tuple[Harness, Harness], route: Any) -> None:
    """There is no call that a replica answers from what it remembers of a revoked client."""
    here, there = pair
    runtime = await here.client()
    asked = await runtime.asked(run="r")
    away = holder(there, "runtime", runtime.credential)
    record(await away.read(asked["id"]))
    await here.services.enrolment.revoke("default", "client:runtime")
    assert refusal(await route(away, asked)) == UNKNOWN


WRONG = {
    "nothing": None,
    "empty": "",
    "no scheme": "{0}",
    "another scheme": "Basic {0}",
    "scheme alone": "Bearer",
    "scheme and blank": "Bearer ",
    "two blanks": "Bearer  {0}",
    "two credentials": "Bearer {0} {0}",
    "a comma behind": "Bearer {0},",
    "quoted": 'Bearer "{0}"',
    "cut": "Bearer {1}",
    "another secret": "Bearer {2}",
    "another tenant": "Bearer {3}",
    "capitals": "Bearer {4}",
    "not ASCII": "Bearer {0}\u00e9",
}


@pytest.mark.parametrize("header", WRONG.values(), ids=WRONG.keys())
async def test_what_is_no_credential_is_401(h: Harness, header: str | None) -> None:
    """Every malformed, unknown or altered credential gets the same 401 with a challenge."""
    good = (await h.client()).credential
    await h.client(tenant="other")
    altered = (
        good,
        good[:-1],
        good[:-43] + "A" * 43,
        good.replace("default", "other"),
        good.upper(),
    )
    headers = {} if header is None else {b"authorization": header.format(*altered).encode("latin-1")}
    response = await h.http.get("/v1/approvals", headers=headers)
    assert refusal(response) == UNKNOWN
    assert response.headers["www-authenticate"] == 'Bearer realm="placet"'
    assert response.content == (await h.http.get("/v1/approvals")).content


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_is_read_in_any_case(h: Harness, scheme: str) -> None:
    """RFC 9110 §11.1: the name of a scheme has no case."""
    runtime = await h.client()
    headers = {"authorization": f"{scheme} {runtime.credential}"}
    assert (await h.http.get("/v1/approvals", headers=headers)).status_code == 200


async def test_a_cookie_or_a_query_authenticates_nobody(h: Harness) -> None:
    """B48: a credential counts in its header only."""
    runtime = await h.client()
    asked = await runtime.asked()
    for headers, query in (
        ({"cookie": f"authorization=Bearer {runtime.credential}; token={runtime.credential}"}, ""),
        ({"x-api-key": runtime.credential, "proxy-authorization": f"Bearer {runtime.credential}"}, ""),
        ({}, f"?access_token={runtime.credential}"),
    ):
        path = f"{asked['links']['self']}{query}"
        assert refusal(await h.http.get(path, headers=headers)) == UNKNOWN


async def test_programs_do_not_decide_and_people_do_nothing_else(anywhere: Harness) -> None:
    """B27: a runtime's credential can't decide, with any body; an approver's can do nothing but."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    boss = await anywhere.client("boss", "request", "consume", "read", "read_input", "admin")
    asked = await runtime.asked(run="r")
    for party in (runtime, boss):
        for members in ({}, {"approver": {"id": "ann"}}):
            assert reason(await party.decide(asked, **members)) == (403, "FORBIDDEN", "scope")
    for name in ("create", "cancel", "cancel run", "consume", "report", "introspect"):
        assert reason(await ROUTES[name](ann, asked)) == (403, "FORBIDDEN", "scope")
    assert (await runtime.seen(asked["id"]))["status"] == "pending"


@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("request", {"create", "list", "read", "trail", "cancel", "cancel run"}),
        ("consume", {"list", "read", "trail", "consume", "report", "introspect"}),
        ("read", {"list", "read", "trail"}),
        ("read_input", {"list", "read", "trail"}),
        ("admin", {"list", "read", "trail", "cancel", "cancel run"}),
        ("decide_as", {"list", "read", "trail"}),
    ],
)
async def test_each_scope_opens_its_own_routes(h: Harness, scope: str, allowed: set[str]) -> None:
    """What a scope does not open is refused for its scope, whether or not the approval is there."""
    bounds: dict[str, Any] = {"people": ["ann"], "max_risk": "high"} if scope == "decide_as" else {}
    party, runtime = await h.client("one", scope, **bounds), await h.client()
    asked = await runtime.asked(run="r")
    for name, route in ROUTES.items():
        response = await route(party, asked)
        if name in allowed:
            assert response.status_code in {200, 201, 404, 403}
            assert response.status_code != 403 or response.json()["details"]["reason"] != "scope"
        else:
            assert reason(response) == (403, "FORBIDDEN", "scope"), name
            assert scope not in response.json()["details"]["scopes"]
