"""Credentials: what each is good for, and that taking one back counts at once and everywhere."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.application.enroll import EnrolmentRefused
from placet.domain.principals import Approver, Client, Scope
from tests.factories import ManualClock
from tests.harness import Harness, Party, opened, reason, record, refusal

UNKNOWN = (401, "UNAUTHENTICATED")


def holder(h: Harness, name: str, credential: str) -> Party:
    """Someone who holds this credential."""
    return Party(h.http, "default", name, credential)


async def test_a_credential_is_shown_once_and_kept_as_a_hash(anywhere: Harness) -> None:
    """It names tenant and key, has 256 bits of secret, and the store has none of them in the clear."""
    runtime = await anywhere.client()
    plc, tenant, kid, secret = runtime.credential.split("_", 3)
    assert (plc, tenant, len(kid), len(secret)) == ("plc", "default", 12, 43)
    for field, document in (await anywhere.services.store.principals.all("default"))[1].items():
        assert field == "client:runtime"
        assert secret.encode() not in document


async def test_several_replicas_take_one_credential(pair: tuple[Harness, Harness]) -> None:
    """What was entered through one replica is good at the other, and the other way round."""
    here, there = pair
    runtime = await here.client()
    ann = await there.approver()
    asked = await runtime.asked()
    record(await holder(there, "runtime", runtime.credential).read(asked["id"]))
    record(await holder(here, "ann", ann.credential).decide(asked))


@pytest.fixture
async def pair(
    client: Redis, ring_directory: Path, clock: ManualClock
) -> AsyncIterator[tuple[Harness, Harness]]:
    """Two replicas over one store of every kind."""
    async with opened(client, ring_directory, clock) as here, opened(client, ring_directory, clock) as there:
        yield here, there


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


async def test_a_rotation_leaves_two_secrets_alive(pair: tuple[Harness, Harness]) -> None:
    """The one before goes on until the next rotation; older ones are dead everywhere at once."""
    here, there = pair
    secrets = [(await here.client()).credential]
    for _ in range(2):
        secrets.append((await here.services.enrolment.rotate("default", "client:runtime")).credential)
        for h in (here, there):
            states = [(await holder(h, "runtime", each).list()).status_code for each in secrets]
            assert states == [401] * (len(secrets) - 2) + [200, 200]


async def test_one_secret_can_be_taken_back(anywhere: Harness) -> None:
    """Revoking a key leaves the other one; an unknown key is told with those there are."""
    enrolment = anywhere.services.enrolment
    first = await anywhere.client()
    second = (await enrolment.rotate("default", "client:runtime")).credential
    kid = first.credential.split("_")[2]
    await enrolment.revoke("default", "client:runtime", kid)
    assert refusal(await first.list()) == UNKNOWN
    record(await holder(anywhere, "runtime", second).list())
    with pytest.raises(EnrolmentRefused, match=second.split("_")[2]):
        await enrolment.revoke("default", "client:runtime", kid)


async def test_a_name_that_was_revoked_is_free_and_starts_anew(anywhere: Harness) -> None:
    """A new client of an old name has nothing of the old one's credentials, but sees its records."""
    old = await anywhere.client()
    asked = await old.asked()
    await anywhere.services.enrolment.revoke("default", "client:runtime")
    new = await anywhere.client()
    assert refusal(await old.list()) == UNKNOWN
    assert (await new.seen(asked["id"]))["id"] == asked["id"]


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
            assert response.status_code != 403 or response.json()["details"] != {"reason": "scope"}
        else:
            assert reason(response) == (403, "FORBIDDEN", "scope"), name


async def test_a_bridge_speaks_for_its_people_up_to_its_risk(anywhere: Harness) -> None:
    """The decision names the person and, as submitted by, the bridge; beyond its bounds there is none."""
    runtime = await anywhere.client()
    await anywhere.approver("ann", shown_as="Ann B.")
    bridge = await anywhere.client("slackbot", "decide_as", people=["ann", "bob"], max_risk="medium")
    asked = await runtime.asked()
    assert reason(await bridge.decide(asked, approver={"id": "eve"})) == (403, "FORBIDDEN", "not-an-approver")
    assert reason(await bridge.decide(asked, approver={"id": "ANN"})) == (403, "FORBIDDEN", "not-an-approver")
    missing = await bridge.decide(asked)
    assert refusal(missing) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in missing.json()["model"]["issues"]] == ["/approver"]
    (vote,) = record(await bridge.decide(asked, approver={"id": "ann"}))["decisions"]
    assert vote["approver"] == {"id": "ann", "display_name": "Ann B."}
    assert (vote["channel"], vote["submitted_by"]) == ("slackbot", "slackbot")
    risky = await runtime.asked(risk="high")
    assert refusal(await bridge.decide(risky, approver={"id": "ann"})) == (404, "APPROVAL_NOT_FOUND")
    low = await runtime.asked(risk="low")
    (vote,) = record(await bridge.decide(low, "reject", approver={"id": "bob"}))["decisions"]
    assert vote["approver"] == {"id": "bob", "display_name": None}
    trail = record(await runtime.trail(asked["id"]))["items"]
    assert [(line["by"], line.get("channel")) for line in trail] == [
        ("runtime", None),
        ("eve", "slackbot"),
        ("ANN", "slackbot"),
        ("ann", "slackbot"),
    ]


async def test_one_person_has_one_vote_in_every_channel(anywhere: Harness) -> None:
    """The same vote through a bridge and by one's own credential is the same vote."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    bridge = await anywhere.client("bridge", "decide_as", people=["ann"], max_risk="high")
    asked = await runtime.asked()
    first = record(await bridge.decide(asked, approver={"id": "ann"}))
    assert record(await ann.decide(asked)) == first


async def test_a_client_and_an_approver_may_share_a_name(anywhere: Harness) -> None:
    """They are two principals: each has its own rights, and revoking one leaves the other."""
    client, person = await anywhere.client("ann"), await anywhere.approver("ann")
    asked = await client.asked()
    assert reason(await client.decide(asked)) == (403, "FORBIDDEN", "scope")
    assert reason(await person.ask(input=1)) == (403, "FORBIDDEN", "scope")
    await anywhere.services.enrolment.revoke("default", "client:ann")
    assert refusal(await client.list()) == UNKNOWN
    assert record(await person.decide(asked))["status"] == "approved"


FAULTY = {
    "no scope": Client(tenant="default", name="x", scopes=frozenset()),
    "both sides": Client(
        tenant="default", name="x", scopes=frozenset({Scope.DECIDE_AS, Scope.REQUEST}), people=("a",)
    ),
    "a bridge without people": Client(tenant="default", name="x", scopes=frozenset({Scope.DECIDE_AS})),
    "people without a bridge": Client(
        tenant="default", name="x", scopes=frozenset({Scope.READ}), people=("a",)
    ),
    "a tenant in capitals": Client(tenant="Default", name="x", scopes=frozenset({Scope.READ})),
    "a tenant with a brace": Client(tenant="a}b", name="x", scopes=frozenset({Scope.READ})),
    "a name with a blank": Client(tenant="default", name="a b", scopes=frozenset({Scope.READ})),
    "a name with a line feed": Client(tenant="default", name="a\n", scopes=frozenset({Scope.READ})),
    "an owner of two scripts": Client(
        tenant="default", name="x", scopes=frozenset({Scope.REQUEST}), owners=("\u0430nn",)
    ),
    "a pattern with a blank": Client(
        tenant="default", name="x", scopes=frozenset({Scope.REQUEST}), capabilities=("a b",)
    ),
    "a person without a name": Approver(tenant="default", id=" "),
    "a person with a zero width": Approver(tenant="default", id="a\u200bn"),
}


@pytest.mark.parametrize("principal", FAULTY.values(), ids=FAULTY.keys())
async def test_a_faulty_principal_is_not_entered(h: Harness, principal: Client | Approver) -> None:
    """Whatever could not be judged safely later is refused when it is entered, with a reason."""
    with pytest.raises(EnrolmentRefused, match=r"\."):
        await h.services.enrolment.create(principal)
    assert (await h.services.store.principals.all(principal.tenant))[1] == {}


async def test_a_name_is_entered_once(anywhere: Harness) -> None:
    """Creating it again is refused, and the first credential goes on."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    with pytest.raises(EnrolmentRefused, match="rotate"):
        await anywhere.client()
    with pytest.raises(EnrolmentRefused, match="rotate"):
        await anywhere.approver()
    record(await runtime.list())
    record(await ann.list())


@pytest.mark.parametrize("field", ["client:nobody", "approver:nobody"])
async def test_who_is_not_there_can_not_be_changed(h: Harness, field: str) -> None:
    """Rotating or revoking nobody says how to find somebody."""
    for change in (h.services.enrolment.rotate, h.services.enrolment.revoke):
        with pytest.raises(EnrolmentRefused, match="list"):
            await change("default", field)


async def test_two_changes_at_once_do_not_undo_each_other(h: Harness) -> None:
    """Of two operators who change the same principal the later one is told to look again."""
    await h.client()
    enrolment, store = h.services.enrolment, h.services.store.principals
    principal, stored = await enrolment._known("default", "client:runtime")
    await enrolment.rotate("default", "client:runtime")
    with pytest.raises(EnrolmentRefused, match="meanwhile"):
        await enrolment._write(principal, expected=stored, changed=None)
    assert (await store.all("default"))[1]


async def test_the_list_of_principals_is_fresh(pair: tuple[Harness, Harness]) -> None:
    """An operator sees what another process has just entered."""
    here, there = pair
    await here.client("one")
    assert set((await there.services.enrolment.all("default")).clients) == {"one"}
    await here.client("two")
    await here.approver("ann")
    found = await there.services.enrolment.all("default")
    assert (set(found.clients), set(found.approvers)) == ({"one", "two"}, {"ann"})
