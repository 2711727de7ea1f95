"""Who sees what: every kind of caller on every route, and one 404 for everybody else."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from tests.harness import Harness, Party, record, refusal

Cast = dict[str, Party]
"""Everybody there is, by the part they play."""

STATUSES = ["pending", "approved", "rejected", "cancelled", "expired", "consumed"]


async def cast(h: Harness) -> Cast:
    """One caller of every kind."""
    both = ("request", "consume")
    return {
        "asker": await h.client("asker", *both),
        "audience": await h.client("audience", *both),
        "stranger": await h.client("stranger", *both),
        "reader": await h.client("reader", "read", *both),
        "input reader": await h.client("input-reader", "read_input", *both),
        "boss": await h.client("boss", "admin", *both),
        "bridge": await h.client("bridge", "decide_as", people=["ann"], max_risk="high"),
        "timid bridge": await h.client("timid-bridge", "decide_as", people=["ann"], max_risk="low"),
        "approver": await h.approver("ann"),
        "foreign asker": await h.client("asker", "read", *both, tenant="abroad"),
        "foreign boss": await h.client("boss", "admin", "read_input", *both, tenant="abroad"),
        "foreign approver": await h.approver("ann", tenant="abroad"),
    }


async def brought_to(h: Harness, people: Cast, status: str) -> dict[str, Any]:
    """An approval that ``asker`` asked for ``audience``, in this state."""
    asker, audience, ann = people["asker"], people["audience"], people["approver"]
    asked = await asker.asked(audience="audience", context={"c": 1}, extensions={"e": 1})
    if status in {"approved", "consumed"}:
        record(await ann.decide(asked, comment="fine"))
    if status == "consumed":
        record(await audience.consume(asked, await audience.token(asked["id"])))
    if status == "rejected":
        record(await ann.decide(asked, "reject", comment="no"))
    if status == "cancelled":
        record(await asker.cancel(asked["id"]))
    if status == "expired":
        h.clock.move(900_001)
    return asked


Route = Callable[[Party, dict[str, Any]], Awaitable[httpx.Response]]

ROUTES: dict[str, Route] = {
    "get": lambda party, asked: party.read(asked["id"]),
    "wait": lambda party, asked: party.read(asked["id"], wait=0),
    "trail": lambda party, asked: party.trail(asked["id"]),
    "decide": lambda party, asked: party.decide(asked, **named(party)),
    "cancel": lambda party, asked: party.cancel(asked["id"]),
    "consume": lambda party, asked: party.consume(asked, "no-token"),
    "report": lambda party, asked: party.report(asked["id"]),
}


def named(party: Party) -> dict[str, Any]:
    """Whom a bridge speaks for."""
    return {"approver": {"id": "ann"}} if "bridge" in party.name else {}


SEE_NOTHING = {"stranger", "timid bridge", "foreign asker", "foreign boss", "foreign approver"}
CLIENTS = {"asker", "audience", "stranger", "reader", "input reader", "boss", "foreign asker", "foreign boss"}
MAY_CALL = {
    "decide": {"bridge", "timid bridge", "approver", "foreign approver"},
    "cancel": CLIENTS,
    "consume": CLIENTS,
    "report": CLIENTS,
}
SCOPES = {
    "decide": ["decide_as"],
    "cancel": ["admin", "request"],
    "consume": ["consume"],
    "report": ["consume"],
}
NOT_THEIRS = {
    "cancel": ("not-the-asker", {"audience", "reader", "input reader"}),
    "consume": ("not-the-audience", {"asker", "reader", "input reader", "boss"}),
    "report": ("not-the-consumer", {"asker", "reader", "input reader", "boss"}),
}


@pytest.mark.parametrize("status", STATUSES)
async def test_every_caller_on_every_route(anywhere: Harness, status: str) -> None:
    """Whoever may not see it gets the body of an unknown id, in every state; the others what is due."""
    people = await cast(anywhere)
    asked = await brought_to(anywhere, people, status)
    unknown = {**asked, "id": "apr_does-not-exist"}
    for name, party in people.items():
        for route, call in ROUTES.items():
            got, none = await call(party, asked), await call(party, unknown)
            if name not in MAY_CALL.get(route, people):
                assert refusal(got) == (403, "FORBIDDEN"), (name, route)
                assert got.json()["details"] == {"reason": "scope", "scopes": SCOPES[route]}
                assert same(got, none)
            elif name in SEE_NOTHING:
                assert refusal(got) == (404, "APPROVAL_NOT_FOUND"), (name, route)
                assert same(got, none), (name, route)
            elif name in NOT_THEIRS.get(route, ("", set()))[1]:
                assert refusal(got) == (403, "FORBIDDEN"), (name, route)
                assert got.json()["details"] == {"reason": NOT_THEIRS[route][0]}
            else:
                assert got.status_code in {200, 403, 409}, (name, route, got.text)
                assert refusal(none) == (404, "APPROVAL_NOT_FOUND"), (name, route)


def same(one: httpx.Response, other: httpx.Response) -> bool:
    """Whether two answers are alike in all but the id of the request."""
    heads = [
        {name: value for name, value in each.headers.items() if name != "x-request-id"}
        for each in (one, other)
    ]
    return one.status_code == other.status_code and one.content == other.content and heads[0] == heads[1]


@pytest.mark.parametrize("status", STATUSES)
async def test_what_each_of_them_is_shown(anywhere: Harness, status: str) -> None:
    """Parties and input readers see the whole; who may decide the card; readers the frame."""
    people = await cast(anywhere)
    asked = await brought_to(anywhere, people, status)
    commented = status in {"approved", "rejected", "consumed"}
    for name in set(people) - SEE_NOTHING:
        party = people[name]
        (listed,) = record(await party.list())["items"]
        for seen in (await party.seen(asked["id"]), listed):
            framed = name == "reader"
            assert seen["input"] == (None if framed else asked["input"])
            assert seen["context"] == ({} if framed else {"c": 1})
            assert seen["extensions"] == ({} if framed else {"e": 1})
            assert seen["input_hash"] == (None if framed else asked["input_hash"])
            assert seen["digest"] == (None if framed else asked["digest"])
            if commented:
                (vote,) = seen["decisions"]
                comment = {"rejected": "no"}.get(status, "fine")
                assert vote["comment"] == (None if framed else comment)
                assert vote["digest"] == (None if framed else asked["digest"])
        assert listed == {k: v for k, v in (await party.seen(asked["id"])).items() if k != "token"}


async def test_attributes_are_of_the_input(h: Harness) -> None:
    """A reader sees who the actor is, but not what else the runtime knows of it."""
    runtime, reader = await h.client(), await h.client("reader", "read")
    actor = {"id": "u", "kind": "user", "display_name": "U", "attributes": {"salary": 1}}
    asked = await runtime.asked(actor=actor, presentation={"title": "T"}, reasons=["why"])
    seen = await reader.seen(asked["id"])
    assert seen["actor"] == {
        "id": "u",
        "kind": "user",
        "display_name": "U",
        "on_behalf_of": [],
        "attributes": {},
    }
    assert (seen["presentation"]["title"], seen["reasons"]) == ("T", ["why"])


async def test_a_client_of_both_kinds_sees_the_more(h: Harness) -> None:
    """Scopes add up: a reader that may also decide sees the card, up to its risk; else the frame."""
    runtime = await h.client()
    both = await h.client("both", "read", "decide_as", people=["ann"], max_risk="medium")
    low, high = await runtime.asked(), await runtime.asked(risk="high")
    assert (await both.seen(low["id"]))["input"] == low["input"]
    assert (await both.seen(high["id"]))["input"] is None


async def test_no_answer_names_another_tenant(h: Harness) -> None:
    """The tenant comes from the credential; a caller can't ask for another."""
    runtime = await h.client()
    await h.client(tenant="abroad")
    assert refusal(await runtime.ask(tenant="abroad")) == (422, "INPUT_INVALID")
    assert refusal(await runtime.list(tenant="abroad")) == (422, "INPUT_INVALID")
