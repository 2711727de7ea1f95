"""Asking: what a runtime may say, what it gets back, and what is refused."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories import T0_MS
from tests.harness import QUESTION, Harness, reason, record, refusal

T0 = datetime.fromtimestamp(T0_MS / 1000, UTC)


def after(**time: int) -> str:
    """RFC 3339, so long after the test's clock begins."""
    return (T0 + timedelta(**time)).isoformat()


async def test_the_least_question_gets_every_default(anywhere: Harness) -> None:
    """A question with only the required members is a pending record with every member there."""
    runtime = await anywhere.client()
    response = await runtime.ask()
    asked = record(response, 201)
    approval_id, digest = asked.pop("id"), asked.pop("digest")
    assert response.headers["location"] == f"/v1/approvals/{approval_id}"
    assert response.headers["cache-control"] == "no-store"
    assert len(digest) == 64
    assert approval_id.startswith("apr_")
    message = asked["model"]["message"]
    assert asked == {
        "tenant": "default",
        "status": "pending",
        "capability": "orders.refund",
        "surface": "direct",
        "actor": {
            "id": "agent-7",
            "kind": "agent",
            "display_name": None,
            "on_behalf_of": [],
            "attributes": {},
        },
        "effect": "external",
        "risk": "medium",
        "context": {},
        "input": {"order": "A-1", "amount": 5},
        "input_hash": "9fbb451d84f0774c7492da5f8a213a08fe5a94c5965596453903d24757107d27",
        "reasons": [],
        "types": [],
        "allowed_decisions": ["approve", "reject"],
        "presentation": {"title": None, "summary": None, "redact": []},
        "run": None,
        "asked_by": "runtime",
        "audience": "runtime",
        "requested_at": "2027-01-15T08:00:00.000Z",
        "expires_at": "2027-01-15T08:15:00.000Z",
        "use_within_ms": None,
        "use_by": None,
        "quorum": {"required": 1, "approved": 0},
        "decisions": [],
        "consumption": None,
        "outcome": None,
        "requested": None,
        "extensions": {},
        "links": {"self": f"/v1/approvals/{approval_id}", "ui": None},
        "model": {"code": "APPROVAL_REQUIRED", "message": message, "retryable": False},
        "confirmation": {
            "code": "CONFIRMATION_REQUIRED",
            "message": message,
            "retry": "with-confirmation",
            "details": {
                "confirmationId": approval_id,
                "summary": "orders.refund",
                "expiresAt": "2027-01-15T08:15:00.000Z",
                "effect": "external",
                "origin": "server",
            },
        },
    }


FULL: dict[str, Any] = {
    "id": "chosen.id:1",
    "surface": "chat",
    "actor": {
        "id": "user-1",
        "kind": "user",
        "display_name": "Uma",
        "on_behalf_of": ["boss-1", "boss-2"],
        "attributes": {"region": "eu", "n": [1, 2.5, None, True]},
    },
    "context": {"call": "c-1", "attempt": 2},
    "risk": "high",
    "reasons": ["over the limit"],
    "types": ["money"],
    "allowed_decisions": ["reject", "approve", "edit"],
    "presentation": {"title": "Refund", "summary": "A refund of 5", "redact": ["/order"]},
    "run": "run-1",
    "audience": "tools",
    "expires_in_ms": 60_000,
    "use_within_ms": 5_000,
    "extensions": {"x": {"y": ["z", 0.1]}},
}


async def test_every_member_comes_back_as_it_was_sent(anywhere: Harness) -> None:
    """Whatever can be said in a question is in the record, unchanged."""
    runtime = await anywhere.client()
    await anywhere.client("tools", "consume")
    asked = await runtime.asked(**FULL)
    assert asked["expires_at"] == "2027-01-15T08:01:00.000Z"
    assert {name: asked[name] for name in FULL if name != "expires_in_ms"} == {
        name: value for name, value in FULL.items() if name != "expires_in_ms"
    }
    assert asked["confirmation"]["details"]["summary"] == "A refund of 5"
    assert (await runtime.seen("chosen.id:1")) == asked


async def test_the_summary_of_the_confirmation_is_cut(h: Harness) -> None:
    """A long summary is whole in the record and at most 300 characters in the confirmation."""
    runtime = await h.client()
    asked = await runtime.asked(presentation={"summary": "s" * 2_000})
    assert asked["presentation"]["summary"] == "s" * 2_000
    assert len(asked["confirmation"]["details"]["summary"]) <= 300


async def test_hostile_characters_are_stored_unchanged(h: Harness) -> None:
    """B46: bidirectional, zero-width and control characters in the input come back as they were sent."""
    runtime, ann = await h.client(), await h.approver()
    hostile = {"cmd": "rm\u202e -rf\u200b /\u0000\u001b[2J\ufeff", "\u202ekey": "\u2028"}
    asked = await runtime.asked(input=hostile, presentation={"title": "a\u202eb\u200bc"})
    for seen in (asked, await runtime.seen(asked["id"]), await ann.seen(asked["id"])):
        assert seen["input"] == hostile
        assert seen["presentation"]["title"] == "a\u202eb\u200bc"


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("capability missing", {"capability": ...}, "/capability"),
    ("actor missing", {"actor": ...}, "/actor"),
    ("effect missing", {"effect": ...}, "/effect"),
    ("neither input nor hash", {"input": ...}, "/input"),
    ("hash of something else", {"input_hash": "0" * 64}, "/input_hash"),
    ("hash not hex", {"input_hash": "x"}, "/input_hash"),
    ("hash in upper case", {"input_hash": "A" * 64}, "/input_hash"),
    ("hash with a line feed", {"input_hash": "0" * 64 + "\n"}, "/input_hash"),
    ("hash null", {"input_hash": None}, "/input_hash"),
    ("actor without id", {"actor": {"kind": "agent"}}, "/actor/id"),
    ("actor without kind", {"actor": {"id": "a"}}, "/actor/kind"),
    ("kind unknown", {"actor": {"id": "a", "kind": "robot"}}, "/actor/kind"),
    ("actor's id empty", {"actor": {"id": "", "kind": "agent"}}, "/actor/id"),
    ("actor's id blank", {"actor": {"id": "  ", "kind": "agent"}}, "/actor/id"),
    ("actor's id with a control", {"actor": {"id": "a\nb", "kind": "agent"}}, "/actor/id"),
    ("actor's id with a bidi mark", {"actor": {"id": "a\u202eb", "kind": "agent"}}, "/actor/id"),
    ("actor's id of two scripts", {"actor": {"id": "\u0430lice", "kind": "user"}}, "/actor/id"),
    ("actor's id too long", {"actor": {"id": "a" * 257, "kind": "agent"}}, "/actor/id"),
    (
        "someone behind with a zero width",
        {"actor": {"id": "a", "kind": "user", "on_behalf_of": ["b", "c\u200b"]}},
        "/actor/on_behalf_of/1",
    ),
    (
        "too many behind",
        {"actor": {"id": "a", "kind": "user", "on_behalf_of": ["b"] * 17}},
        "/actor/on_behalf_of",
    ),
    ("unknown member of the actor", {"actor": {"id": "a", "kind": "user", "role": "x"}}, "/actor/role"),
    ("effect unknown", {"effect": "boom"}, "/effect"),
    ("capability with a blank", {"capability": "a b"}, "/capability"),
    ("capability with a wildcard", {"capability": "orders.*"}, "/capability"),
    ("capability too long", {"capability": "a" * 201}, "/capability"),
    ("capability a number", {"capability": 7}, "/capability"),
    ("id with a slash", {"id": "a/b"}, "/id"),
    ("id with a line feed", {"id": "a\n"}, "/id"),
    ("id too long", {"id": "a" * 129}, "/id"),
    ("id null", {"id": None}, "/id"),
    ("context a list", {"context": []}, "/context"),
    ("extensions null", {"extensions": None}, "/extensions"),
    ("risk unknown", {"risk": "extreme"}, "/risk"),
    ("decisions without reject", {"allowed_decisions": ["approve"]}, "/allowed_decisions"),
    ("decisions empty", {"allowed_decisions": []}, "/allowed_decisions"),
    ("decision twice", {"allowed_decisions": ["reject", "reject"]}, "/allowed_decisions"),
    ("decision unknown", {"allowed_decisions": ["reject", "maybe"]}, "/allowed_decisions/1"),
    ("pointer without a slash", {"presentation": {"redact": ["/a", "b"]}}, "/presentation/redact/1"),
    ("pointer with a bad escape", {"presentation": {"redact": ["/a~2"]}}, "/presentation/redact/0"),
    ("title too long", {"presentation": {"title": "t" * 201}}, "/presentation/title"),
    ("unknown member of the presentation", {"presentation": {"html": "<b>"}}, "/presentation/html"),
    ("reasons a text", {"reasons": "because"}, "/reasons"),
    ("reason too long", {"reasons": ["r" * 501]}, "/reasons/0"),
    ("run empty", {"run": ""}, "/run"),
    ("run with a slash", {"run": "a/b"}, "/run"),
    ("audience unknown", {"audience": "nobody"}, "/audience"),
    ("audience a person", {"audience": "ann"}, "/audience"),
    ("both deadlines", {"expires_in_ms": 60_000, "expires_at": after(minutes=1)}, "/expires_at"),
    ("too short", {"expires_in_ms": 999}, "/expires_in_ms"),
    ("too long", {"expires_in_ms": 30 * 86_400_000 + 1}, "/expires_in_ms"),
    ("zero", {"expires_in_ms": 0}, "/expires_in_ms"),
    ("a text", {"expires_in_ms": "60000"}, "/expires_in_ms"),
    ("a truth", {"expires_in_ms": True}, "/expires_in_ms"),
    ("a fraction", {"expires_in_ms": 60_000.5}, "/expires_in_ms"),
    ("past", {"expires_at": after(seconds=-1)}, "/expires_at"),
    ("too soon", {"expires_at": after(milliseconds=999)}, "/expires_at"),
    ("too late", {"expires_at": after(days=30, milliseconds=1)}, "/expires_at"),
    ("long ago", {"expires_at": "0001-01-01T00:00:00+14:00"}, "/expires_at"),
    ("far off", {"expires_at": "9999-12-31T23:59:59-14:00"}, "/expires_at"),
    ("no offset", {"expires_at": "2027-01-15T08:05:00"}, "/expires_at"),
    ("no time", {"expires_at": "tomorrow"}, "/expires_at"),
    ("use within nothing", {"use_within_ms": 0}, "/use_within_ms"),
    ("use within more than a day", {"use_within_ms": 86_400_001}, "/use_within_ms"),
    ("an answer in the question", {"status": "approved"}, "/status"),
    ("approved", {"approved": True}, "/approved"),
    ("decided by", {"decided_by": "ann"}, "/decided_by"),
    ("consumed at", {"consumed_at": after()}, "/consumed_at"),
    ("a name with a slash and a tilde", {"a/b~c": 1}, "/a~1b~0c"),
]


@pytest.mark.parametrize(("members", "path"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
async def test_a_wrong_member_is_named_and_nothing_is_made(
    h: Harness, members: dict[str, Any], path: str
) -> None:
    """B26, and every kind of wrong member: 422 with its place, no value repeated, and no record."""
    runtime = await h.client()
    await h.approver("ann")
    response = await runtime.ask(**members)
    assert refusal(response) == (422, "INPUT_INVALID")
    assert [issue["path"] for issue in response.json()["model"]["issues"]] == [path]
    assert record(await runtime.list())["items"] == []


async def test_all_faults_that_need_judgement_are_told_at_once(h: Harness) -> None:
    """Faults beyond a member's form come together, so that one correction is enough."""
    runtime = await h.client()
    response = await runtime.ask(
        audience="nobody", input=..., expires_in_ms=1, allowed_decisions=["approve"], use_within_ms=10**9
    )
    assert {issue["path"] for issue in response.json()["model"]["issues"]} == {
        "/audience",
        "/input",
        "/expires_in_ms",
        "/allowed_decisions",
        "/use_within_ms",
    }


@pytest.mark.parametrize(
    "members",
    [
        {"expires_in_ms": 1_000},
        {"expires_in_ms": 30 * 86_400_000},
        {"expires_in_ms": 60_000.0},
        {"expires_at": after(seconds=1)},
        {"expires_at": after(days=30)},
        {"expires_at": "2027-01-15T10:05:00+02:00"},
        {"expires_at": "2027-01-15T08:05:00.123456789Z"},
        {"use_within_ms": 86_400_000},
        {"use_within_ms": 1},
        {"use_within_ms": None},
        {"run": None},
        {"input": None},
        {"input": 0},
        {"input": ""},
        {"actor": {"id": "a" * 256, "kind": "anonymous"}},
        {"actor": {"id": "\u0430\u043b\u0438\u0441\u0430", "kind": "user"}},
        {"capability": "server/tool:v1.2"},
        {"id": "a" * 128},
        {"presentation": {"redact": ["", "/nowhere", "/a~1b~0c"]}},
        {"allowed_decisions": ["reject"]},
    ],
)
async def test_the_very_bounds_are_inside(h: Harness, members: dict[str, Any]) -> None:
    """What lies exactly on a bound, or is odd but allowed, is taken."""
    runtime = await h.client()
    assert (await runtime.ask(**members)).status_code == 201


async def test_the_audience_may_have_been_entered_a_moment_ago(h: Harness) -> None:
    """A client that this replica has not read yet is found before the audience is called unknown."""
    runtime = await h.client()
    await runtime.asked()  # the tenant's principals are read and kept now
    known = h.services.directory._snapshots["default"]
    await h.client("tools", "consume")
    h.services.directory._snapshots["default"] = known
    assert (await runtime.asked(audience="tools"))["audience"] == "tools"


@pytest.mark.parametrize("capability", ["orders.refund", "orders.", "orders.a.b"])
async def test_a_pattern_allows_what_it_matches(h: Harness, capability: str) -> None:
    """A client with capability patterns may ask for what one of them matches; * spans dots."""
    runtime = await h.client(capabilities=["mail.send", "orders.*"])
    assert (await runtime.ask(capability=capability)).status_code == 201


@pytest.mark.parametrize("capability", ["orders", "Orders.refund", "mail.send.all", "xorders.refund"])
async def test_a_pattern_allows_nothing_else(h: Harness, capability: str) -> None:
    """Anything else is beyond the client's scope, whatever the case of its letters."""
    runtime = await h.client(capabilities=["mail.send", "orders.*"])
    assert reason(await runtime.ask(capability=capability)) == (403, "FORBIDDEN", "scope")


async def test_parallel_calls_of_a_run_are_questions_of_their_own(anywhere: Harness) -> None:
    """B6: fifty simultaneous questions of one run are fifty records, and a decision moves exactly one."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await asyncio.gather(*(runtime.asked(run="r", context={"call": n}) for n in range(50)))
    assert len({each["id"] for each in asked}) == 50
    for chosen in (asked[7], asked[31]):
        record(await ann.decide(chosen))
    listed = record(await runtime.list(run="r", limit=50))["items"]
    approved = {each["id"] for each in listed if each["status"] == "approved"}
    assert approved == {asked[7]["id"], asked[31]["id"]}
    assert {each["status"] for each in listed if each["id"] not in approved} == {"pending"}


async def test_an_approval_covers_no_other_input(h: Harness) -> None:
    """B14: asking again with the same tool and another input waits for its own decision."""
    runtime, ann = await h.client(), await h.approver()
    first = await runtime.asked()
    record(await ann.decide(first))
    second = await runtime.asked(input={"order": "A-1", "amount": 500})
    assert second["id"] != first["id"]
    assert second["status"] == "pending"
    assert (await runtime.asked())["status"] == "pending", "nor does it cover a repetition of its own"


async def test_two_tenants_know_nothing_of_each_other(anywhere: Harness) -> None:
    """The same id in two tenants is two records, and each tenant sees its own."""
    here, there = await anywhere.client(), await anywhere.client(tenant="other")
    mine = await here.asked(id="same", input=1)
    theirs = await there.asked(id="same", input=2)
    assert (mine["tenant"], theirs["tenant"]) == ("default", "other")
    assert mine["digest"] != theirs["digest"]
    assert (await here.seen("same"))["input"] == 1
    assert (await there.seen("same"))["input"] == 2
    assert [each["input"] for each in record(await here.list())["items"]] == [1]


async def test_the_question_of_the_tests_is_a_good_one() -> None:
    """The default question has exactly the members that have no default."""
    assert set(QUESTION) == {"capability", "actor", "effect", "input"}
