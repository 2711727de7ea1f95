"""Reading one approval: as of now, with a token for whom it is meant."""

import pytest

from tests.harness import Harness, Party, record, refusal

SOMETIMES = {"token", "replayed", "model", "confirmation", "input_redacted"}
MEMBERS = {
    "id", "tenant", "status", "capability", "surface", "actor", "effect", "risk", "context", "input",
    "input_hash", "digest", "reasons", "types", "allowed_decisions", "presentation", "run", "asked_by",
    "audience", "requested_at", "expires_at", "use_within_ms", "use_by", "quorum", "decisions",
    "rule", "claimed", "consumption", "outcome", "requested", "extensions", "links", "deliveries",
    "suspended",
}  # fmt: skip


async def brought_to(h: Harness, status: str, runtime: Party, ann: Party) -> str:
    """The id of an approval in this state."""
    asked = await runtime.asked(id=f"is-{status}")
    if status in {"approved", "consumed"}:
        record(await ann.decide(asked))
    if status == "consumed":
        record(await runtime.consume(asked, await runtime.token(asked["id"])))
    if status == "rejected":
        record(await ann.decide(asked, "reject", comment="no"))
    if status == "cancelled":
        record(await runtime.cancel(asked["id"]))
    if status == "expired":
        h.clock.move(900_001)
    return str(asked["id"])


STATUSES = ["pending", "approved", "rejected", "cancelled", "expired", "consumed"]


@pytest.mark.parametrize("status", STATUSES)
async def test_every_member_is_always_there(anywhere: Harness, status: str) -> None:
    """In every state the record has the same members; only five come and go, each in its place."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    approval_id = await brought_to(anywhere, status, runtime, ann)
    seen = await runtime.seen(approval_id)
    assert seen["status"] == status
    more = {"pending": {"model", "confirmation"}, "approved": {"token"}}.get(status, set())
    assert set(seen) == MEMBERS | more
    assert set(await ann.seen(approval_id)) == MEMBERS | more - {"token"}


async def test_a_decided_record_tells_who_and_when(anywhere: Harness) -> None:
    """The decision is in the record with the person, the channel, the comment and the time."""
    runtime, ann = await anywhere.client(), await anywhere.approver(shown_as="Ann B.")
    asked = await runtime.asked()
    anywhere.clock.move(1_500)
    record(await ann.decide(asked, "reject", comment="too much"))
    assert (await runtime.seen(asked["id"]))["decisions"] == [
        {
            "decision": "reject",
            "approver": {"id": "ann", "display_name": "Ann B."},
            "channel": "api",
            "submitted_by": None,
            "comment": "too much",
            "digest": asked["digest"],
            "at": "2027-01-15T08:00:01.500Z",
            "counts": True,
            "step_up": None,
        }
    ]


async def test_the_token_is_for_asker_and_audience_alone(anywhere: Harness) -> None:
    """While it is approved, those two find a token; whoever else may see the record does not."""
    runtime, tools = await anywhere.client(), await anywhere.client("tools", "consume")
    ann = await anywhere.approver()
    others = [ann, await anywhere.client("boss", "admin", "request", "consume")]
    others.append(await anywhere.client("bridge", "decide_as", people=["ann"], max_risk="high"))
    others.append(await anywhere.client("auditor", "read_input"))
    asked = await runtime.asked(audience="tools")
    assert "token" not in await runtime.seen(asked["id"])
    record(await ann.decide(asked))
    for party in (runtime, tools):
        response = await party.read(asked["id"])
        assert response.json()["token"].count(".") == 2
        assert response.headers["cache-control"] == "no-store"
    for party in others:
        assert "token" not in await party.seen(asked["id"])


async def test_the_token_is_nowhere_else(h: Harness) -> None:
    """No list, trail, decision, consumption, cancellation or replayed question carries it."""
    runtime, ann = await h.client(), await h.approver()
    asked = record(await runtime.ask(key="k"), 201)
    answers = [await ann.decide(asked)]
    token = await runtime.token(asked["id"])
    answers += [
        await ann.decide(asked),
        await runtime.ask(key="k"),
        await runtime.list(),
        await ann.list(),
        await runtime.trail(asked["id"]),
        await runtime.consume(asked, token, input=1),
        await runtime.consume(asked, token),
        await runtime.consume(asked, token),
        await runtime.report(asked["id"]),
        await runtime.cancel(asked["id"]),
        await runtime.read(asked["id"]),
    ]
    for answer in answers:
        assert '"token"' not in answer.text
        assert token.rpartition(".")[2] not in answer.text
        assert ".ey" not in answer.text


async def test_reading_mints_a_fresh_token_and_old_ones_live_on(h: Harness) -> None:
    """Each reading's token is its own and any of them will do: single use is the record's."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    first = await runtime.token(asked["id"])
    h.clock.move(2_000)
    assert await runtime.token(asked["id"]) != first
    record(await runtime.consume(asked, first))


async def test_a_grant_lives_until_its_deadline_and_not_longer(anywhere: Harness) -> None:
    """At the very instant of use_by it is approved and has a token; a millisecond later it is expired."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked(use_within_ms=5_000)
    anywhere.clock.move(1_000)
    decided = record(await ann.decide(asked))
    assert decided["use_by"] == "2027-01-15T08:00:06.000Z"
    anywhere.clock.move(5_000)
    seen = await runtime.seen(asked["id"])
    assert (seen["status"], "token" in seen) == ("approved", True)
    anywhere.clock.move(1)
    seen = await runtime.seen(asked["id"])
    assert (seen["status"], "token" in seen) == ("expired", False)


@pytest.mark.parametrize(
    ("question", "use_by"),
    [
        ({}, "08:15:00"),
        ({"expires_in_ms": 2_000}, "08:01:01"),
        ({"expires_in_ms": 1_200_000, "use_within_ms": 86_400_000}, "08:00:01"),
    ],
)
async def test_how_long_a_grant_may_wait(h: Harness, question: dict[str, int], use_by: str) -> None:
    """As long as asked for; else until the question's own deadline, and a minute at the least."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(**question)
    h.clock.move(1_000)
    assert record(await ann.decide(asked))["use_by"][11:19] == use_by


async def test_no_grant_waits_longer_than_a_day(h: Harness) -> None:
    """A question that may wait for a month gives a grant of a day."""
    runtime, ann = await h.client(), await h.approver()
    asked = await runtime.asked(expires_in_ms=30 * 86_400_000)
    assert record(await ann.decide(asked))["use_by"] == "2027-01-16T08:00:00.000Z"


async def test_a_question_lives_until_its_deadline_and_not_longer(anywhere: Harness) -> None:
    """At the very instant of expires_at it is pending; a millisecond later it is expired, unswept."""
    runtime = await anywhere.client()
    asked = await runtime.asked(expires_in_ms=2_000)
    anywhere.clock.move(2_000)
    assert (await runtime.seen(asked["id"]))["status"] == "pending"
    anywhere.clock.move(1)
    seen = await runtime.seen(asked["id"])
    assert seen["status"] == "expired"
    assert seen["decisions"] == []
    assert not {"model", "confirmation", "token"} & set(seen)


async def test_time_never_goes_back(anywhere: Harness) -> None:
    """What was expired to one reader is expired to all, though the clock be turned back."""
    runtime = await anywhere.client()
    asked = await runtime.asked(expires_in_ms=2_000)
    anywhere.clock.move(2_001)
    assert (await runtime.seen(asked["id"]))["status"] == "expired"
    anywhere.clock.move(-2_001)
    assert (await runtime.seen(asked["id"]))["status"] == "expired"
    assert record(await runtime.list(status="expired"))["items"][0]["id"] == asked["id"]


async def test_a_reading_writes_no_record_and_no_event(anywhere: Harness) -> None:
    """GET and HEAD, of the dead too, leave record, log and stream as they are."""
    runtime = await anywhere.client()
    asked = await runtime.asked(expires_in_ms=2_000)
    anywhere.clock.move(2_001)
    tag, kept = "{placet:default}:", []
    for _ in range(2):
        kept.append(
            (
                await anywhere.redis.hgetall(f"{tag}a:{asked['id']}"),
                await anywhere.redis.lrange(f"{tag}l:{asked['id']}", 0, -1),
                await anywhere.redis.xlen(f"{tag}s"),
            )
        )
        assert (await runtime.seen(asked["id"]))["status"] == "expired"
        for path in (asked["links"]["self"], asked["links"]["self"] + "/events", "/v1/approvals"):
            assert (await runtime.call("GET", path)).status_code == 200
            assert (await runtime.call("HEAD", path)).status_code == 200
    assert kept[0] == kept[1]


async def test_head_is_a_get_without_the_body(h: Harness) -> None:
    """HEAD answers with the status and headers of GET, and nothing after them."""
    runtime = await h.client()
    path = (await runtime.asked())["links"]["self"]
    got, headed = await runtime.call("GET", path), await runtime.call("HEAD", path)
    assert headed.content == b""
    for name in ("content-type", "content-length", "cache-control", "x-content-type-options"):
        assert headed.headers[name] == got.headers[name]
    assert (await runtime.call("HEAD", "/v1/approvals/nope")).status_code == 404


@pytest.mark.parametrize(
    "approval_id", ["nope", "a%20b", "%00", "a" * 500, "%F0%9F%92%A9", "%7Bplacet:other%7D", "*", "%ff"]
)
async def test_an_id_that_can_not_be_is_one_that_is_not(h: Harness, approval_id: str) -> None:
    """Any text in the place of an id gets the one 404."""
    runtime = await h.client()
    path = f"/v1/approvals/{approval_id}"
    assert refusal(await runtime.call("GET", path)) == (404, "APPROVAL_NOT_FOUND")


async def test_a_client_reads_what_another_process_wrote(anywhere: Harness) -> None:
    """B20: nothing rests on objects of the process: a fresh directory and client are enough."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    asked = await runtime.asked()
    record(await ann.decide(asked))
    anywhere.services.directory.forget("default")
    record(await runtime.consume(asked, await runtime.token(asked["id"])))


async def test_a_consumed_or_withdrawn_grant_reads_so(anywhere: Harness) -> None:
    """B15: after it was consumed, get and wait say consumed; nothing calls it approved again."""
    runtime, ann = await anywhere.client(), await anywhere.approver()
    approval_id = await brought_to(anywhere, "consumed", runtime, ann)
    seen = await runtime.seen(approval_id)
    assert seen["status"] == "consumed"
    assert seen["consumption"] == {
        "execution_id": "exec-1",
        "client": "runtime",
        "at": "2027-01-15T08:00:00.000Z",
    }
    assert record(await runtime.read(approval_id, wait=30)) == seen
