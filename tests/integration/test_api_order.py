"""The order of judgement: of two faults in one request the earlier one is told, on every call."""

import json
from collections.abc import Awaitable, Callable
from itertools import combinations
from typing import Any

import httpx
import pytest

from tests.harness import QUESTION, Harness, Party, call_of, record, refusal

LIMIT_BYTES = 256 * 1024 + 16 * 1024


class Draft:
    """A request about to be sent, for faults to be put in."""

    def __init__(self, path: str, party: Party, members: dict[str, Any]) -> None:
        self.path = path
        self.credential = party.credential
        self.media_type = "application/json"
        self.members = members
        self.padding = 0
        self.broken = False

    async def send(self, http: httpx.AsyncClient) -> httpx.Response:
        """Send it."""
        body = json.dumps(self.members).encode() + b" " * self.padding
        headers = {"authorization": f"Bearer {self.credential}", "content-type": self.media_type}
        content = body[1:] if self.broken else body
        return await http.post(self.path, content=content, headers=headers)


Fault = Callable[[Harness, Draft], Awaitable[None]]


async def unknown_credential(h: Harness, draft: Draft) -> None:
    """Nobody's credential."""
    draft.credential = "plc_default_aaaaaaaaaaaa_" + "A" * 43


async def media_type(h: Harness, draft: Draft) -> None:
    """JSON that says it is text."""
    draft.media_type = "text/plain"


async def size(h: Harness, draft: Draft) -> None:
    """Too many bytes."""
    draft.padding = LIMIT_BYTES


async def syntax(h: Harness, draft: Draft) -> None:
    """Not JSON."""
    draft.broken = True


async def scope(h: Harness, draft: Draft) -> None:
    """A credential that may read and nothing else."""
    draft.credential = (await h.client("only-reads", "read")).credential


async def member(h: Harness, draft: Draft) -> None:
    """A member that does not exist."""
    draft.members["nonsense"] = 1


async def visible(h: Harness, draft: Draft) -> None:
    """An approval that does not exist."""
    draft.path = draft.path.replace("/q/", "/nope/")


SHARED: list[tuple[str, Fault, tuple[int, str]]] = [
    ("credential", unknown_credential, (401, "UNAUTHENTICATED")),
    ("media type", media_type, (415, "UNSUPPORTED_MEDIA_TYPE")),
    ("size", size, (413, "INPUT_TOO_LARGE")),
    ("JSON", syntax, (400, "INPUT_INVALID")),
    ("scope", scope, (403, "FORBIDDEN")),
    ("body", member, (422, "INPUT_INVALID")),
]
NOT_THERE = [("visible", visible, (404, "APPROVAL_NOT_FOUND"))]


def members(**changes: Any) -> Fault:
    """Other members than the right ones."""

    async def change(h: Harness, draft: Draft) -> None:
        draft.members.update(changes)

    return change


async def by_a_reader(h: Harness, draft: Draft) -> None:
    """Someone who may see the record but does not have this part in it."""
    draft.credential = (await h.client("sees-only", "read", "request", "consume")).credential


async def past(h: Harness, draft: Draft) -> None:
    """Every deadline has passed."""
    h.clock.move(3_600_000)


CREATE = [
    *SHARED,
    ("no rule", members(risk="critical"), (403, "FORBIDDEN")),
    ("taken", members(id="q"), (409, "APPROVAL_ALREADY_EXISTS")),
]
DECIDE = [
    *SHARED,
    *NOT_THERE,
    ("state", past, (409, "APPROVAL_EXPIRED")),
    ("digest", members(digest="0" * 64), (409, "APPROVAL_INPUT_MISMATCH")),
    ("not offered", members(decision="edit", input=1), (403, "FORBIDDEN")),
]
CONSUME = [
    *SHARED,
    *NOT_THERE,
    ("audience", by_a_reader, (403, "FORBIDDEN")),
    ("state", past, (409, "APPROVAL_EXPIRED")),
    ("token", members(token="x"), (403, "APPROVAL_TOKEN_INVALID")),
    ("match", members(input=1), (409, "APPROVAL_INPUT_MISMATCH")),
]
CANCEL = [
    *SHARED,
    *NOT_THERE,
    ("asker", by_a_reader, (403, "FORBIDDEN")),
    ("state", past, (409, "APPROVAL_EXPIRED")),
]
OUTCOME = [
    *SHARED,
    *NOT_THERE,
    ("consumer", by_a_reader, (403, "FORBIDDEN")),
    ("execution", members(execution_id="e-2"), (409, "INVOCATION_CONFLICT")),
]


async def drafted(h: Harness, verb: str) -> Draft:
    """A request of this kind that would succeed."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(id="q")
    path = f"/v1/approvals/q/{verb}"
    if verb == "create":
        return Draft("/v1/approvals", runtime, {**QUESTION, "id": "other"})
    if verb == "decision":
        return Draft(path, ann, {"decision": "approve", "digest": asked["digest"]})
    if verb == "cancel":
        return Draft(path, runtime, {})
    record(await ann.decide(asked))
    token = await runtime.token("q")
    body = {**call_of(asked), "execution_id": "e-1", "token": token}
    if verb == "consume":
        return Draft(path, runtime, body)
    record(await runtime.call("POST", "/v1/approvals/q/consume", json=body))
    return Draft(path, runtime, {"execution_id": "e-1", "status": "succeeded"})


TABLES = {"create": CREATE, "decision": DECIDE, "consume": CONSUME, "cancel": CANCEL, "outcome": OUTCOME}
ROWS = [
    pytest.param(verb, first, second, id=f"{verb}: {first[0]} before {second[0]}")
    for verb, table in TABLES.items()
    for first, second in combinations(table, 2)
]


@pytest.mark.parametrize(("verb", "first", "second"), ROWS)
async def test_the_earlier_fault_is_told(h: Harness, verb: str, first: Any, second: Any) -> None:
    """With both faults in one request the answer is that of the earlier one, and nothing changes."""
    draft, boss = await drafted(h, verb), await h.client("boss", "admin")
    before = record(await boss.list())["items"]
    for _, fault, _ in (second, first):  # so that the earlier one has the last word on the credential
        await fault(h, draft)
    assert refusal(await draft.send(h.http)) == first[2]
    if past not in {first[1], second[1]}:
        assert record(await boss.list())["items"] == before


@pytest.mark.parametrize(
    ("verb", "fault"),
    [pytest.param(verb, row, id=f"{verb}: {row[0]}") for verb, table in TABLES.items() for row in table],
)
async def test_a_single_fault_is_told(h: Harness, verb: str, fault: Any) -> None:
    """Each fault alone gets its own status and code."""
    draft = await drafted(h, verb)
    await fault[1](h, draft)
    assert refusal(await draft.send(h.http)) == fault[2]


@pytest.mark.parametrize("verb", TABLES)
async def test_without_a_fault_the_request_succeeds(h: Harness, verb: str) -> None:
    """What the faults are put into is good."""
    assert (await (await drafted(h, verb)).send(h.http)).status_code in {200, 201}
