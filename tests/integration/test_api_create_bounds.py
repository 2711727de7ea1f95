"""What may be asked: every member's bounds, from both sides."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.factories import T0_MS
from tests.harness import Harness, record, refusal

T0 = datetime.fromtimestamp(T0_MS / 1000, UTC)


def after(**time: int) -> str:
    """RFC 3339, so long after the test's clock begins."""
    return (T0 + timedelta(**time)).isoformat()


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
