"""Races on two replicas: whatever meets at one record, there is one outcome, and one event says so."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis

from tests.e2e.lines import post
from tests.e2e.stage import INPUT, Cast, Stage
from tests.harness import Party, call_of, record
from tests.steps import events

pytestmark = [pytest.mark.e2e, pytest.mark.real]

ROUNDS = 200
CONSUMERS = 100
EXECUTIONS = [f"exec-{number}" for number in range(CONSUMERS)]
APPROVERS = 100
RACES = 40
"""Of each pair of rivals; either may win, and over so many both do."""


class TestConsume:
    """Many executions, one grant."""

    async def test_one_execution_wins(self, pair: Stage, cast: Cast) -> None:
        """Of 100 executions at once one consumes, 200 times out of 200; the others hear who did."""
        runtime, ann = await cast.client(), await cast.approver()
        grants = await every(granted(runtime, ann, context={"call": call}) for call in range(ROUNDS))
        for grant in grants:
            calls = [
                post(f"/v1/approvals/{grant['id']}/consume", runtime[0].credential, json.dumps(body).encode())
                for body in consumptions(grant)
            ]
            answers = await every(cast.lines[i % 2].send(call) for i, call in enumerate(calls))
            assert Counter(answer.status for answer in answers) == {200: 1, 409: CONSUMERS - 1}
            (won,) = (json.loads(answer.body) for answer in answers if answer.status == 200)
            lost = [json.loads(answer.body) for answer in answers if answer.status == 409]
            assert won["replayed"] is False
            assert {each["code"] for each in lost} == {"APPROVAL_CONSUMED"}
            execution = won["consumption"]["execution_id"]
            assert {each["details"]["execution_id"] for each in lost} == {execution}
            assert answers[EXECUTIONS.index(execution)].status == 200
        expected = {"requested": 1, "approved": 1, "consumed": 1, "APPROVAL_CONSUMED": CONSUMERS - 1}
        for grant in grants:
            assert await trail(runtime[0], grant["id"]) == expected
        streamed = Counter(await stream(pair, cast))
        assert {streamed[grant["id"], "consumed"] for grant in grants} == {1}

    async def test_one_execution_consumes_once(self, cast: Cast) -> None:
        """One execution that asks 100 times at once consumes once; every other answer is its replay."""
        runtime, ann = await cast.client(), await cast.approver()
        for call in range(10):
            grant = await granted(runtime, ann, context={"call": call})
            answers = await every(runtime[i % 2].consume(grant, grant["token"]) for i in range(CONSUMERS))
            assert Counter(record(each)["replayed"] for each in answers) == {False: 1, True: CONSUMERS - 1}
            assert len({each.json()["consumption"]["at"] for each in answers}) == 1
            assert (await trail(runtime[0], grant["id"]))["consumed"] == 1


class TestDecide:
    """Many people, one question."""

    async def test_one_decision_stands(self, pair: Stage, cast: Cast) -> None:
        """Of 50 who approve and 50 who reject one decides; the others hear what was decided."""
        runtime = await cast.client()
        people = await cast.approvers(*(f"person-{number}" for number in range(APPROVERS)))
        decided = set()
        for call in range(10):
            asked = await runtime[0].asked(input=INPUT, context={"call": call})
            votes = ["approve", "reject"] * (APPROVERS // 2)
            random.shuffle(votes)
            answers = await every(
                person[i % 2].decide(asked, vote, comment=INPUT["note"])
                for i, (person, vote) in enumerate(zip(people, votes, strict=True))
            )
            winners = [i for i, answer in enumerate(answers) if answer.status_code == 200]
            assert len(winners) == 1
            status = {"approve": "approved", "reject": "rejected"}[votes[winners[0]]]
            assert answers.pop(winners[0]).json()["status"] == status
            assert {told(answer) for answer in answers} == {(409, "APPROVAL_ALREADY_DECIDED")}
            assert {answer.json()["details"]["status"] for answer in answers} == {status}
            seen = await runtime[1].seen(asked["id"])
            assert seen["status"] == status
            assert [vote["approver"]["id"] for vote in seen["decisions"]] == [f"person-{winners[0]}"]
            expected = {"requested": 1, status: 1, "APPROVAL_ALREADY_DECIDED": APPROVERS - 1}
            assert await trail(runtime[0], asked["id"]) == expected
            decided.add((asked["id"], status))
        assert set(await stream(pair, cast)) == decided | {(each, "requested") for each, _ in decided}

    @pytest.mark.parametrize("decision", ["approve", "reject"])
    async def test_against_a_withdrawal(self, cast: Cast, decision: str) -> None:
        """A decision and a withdrawal at once: what each heard is what the trail says happened."""
        runtime, ann = await cast.client(), await cast.approver()
        for call in range(RACES):
            asked = await runtime[0].asked(input=INPUT, context={"call": call})
            voted, withdrawn = await every(
                [ann[call % 2].decide(asked, decision), runtime[(call + 1) % 2].cancel(asked["id"])]
            )
            happened = await trail(runtime[0], asked["id"])
            was = {"approve": "approved", "reject": "rejected"}[decision]
            if voted.status_code == 200:
                assert happened[was] == 1
            else:
                assert told(voted) == (409, "APPROVAL_CANCELLED")
                assert happened[was] == 0
            if withdrawn.status_code == 200:  # a grant that nobody has used can be withdrawn too
                assert happened["cancelled"] == 1
            else:
                assert told(withdrawn) == (409, "APPROVAL_REJECTED")
                assert happened["cancelled"] == 0
            assert decision == "approve" or happened["rejected"] + happened["cancelled"] == 1


class TestGrant:
    """The ends of a grant, at one moment."""

    async def test_against_a_withdrawal(self, cast: Cast) -> None:
        """A consumption and a withdrawal at once: one of them is done, the other hears of it."""
        runtime, ann = await cast.client(), await cast.approver()
        for call in range(RACES):
            grant = await granted(runtime, ann, context={"call": call})
            spent, withdrawn = await every(
                [
                    runtime[call % 2].consume(grant, grant["token"]),
                    runtime[(call + 1) % 2].cancel(grant["id"]),
                ]
            )
            happened = await trail(runtime[0], grant["id"])
            if spent.status_code == 200:
                assert told(withdrawn) == (409, "APPROVAL_CONSUMED")
                assert (happened["consumed"], happened["cancelled"]) == (1, 0)
            else:
                assert (withdrawn.status_code, told(spent)) == (200, (409, "APPROVAL_CANCELLED"))
                assert (happened["consumed"], happened["cancelled"]) == (0, 1)

    async def test_against_its_deadline(self, cast: Cast) -> None:
        """Consumed at the deadline or expired at it, never both, and the store's clock says which."""
        runtime, ann = await cast.client(), await cast.approver()

        async def race(call: int) -> str:
            grant = await granted(runtime, ann, context={"call": call}, use_within_ms=500)
            await asyncio.sleep(0.44 + 0.003 * call)
            answers = await every(
                runtime[i % 2].consume(grant, grant["token"], execution=f"exec-{i}") for i in range(4)
            )
            seen = await runtime[call % 2].seen(grant["id"])
            happened = await trail(runtime[0], grant["id"])
            assert happened["consumed"] + happened["expired"] == 1
            heard = Counter(told(answer) for answer in answers)
            if seen["status"] == "consumed":
                assert seen["consumption"]["at"] <= grant["use_by"]
                assert heard == {(200, "consumed"): 1, (409, "APPROVAL_CONSUMED"): 3}
            else:
                assert heard == {(409, "APPROVAL_EXPIRED"): 4}
            status: str = seen["status"]
            return status

        assert set(await every(map(race, range(RACES)))) <= {"consumed", "expired"}


class TestCreate:
    """Many calls that ask the same, and many that don't."""

    async def test_one_idempotency_key(self, pair: Stage, cast: Cast) -> None:
        """A question asked 100 times at once under one key is there once, and everybody has it."""
        runtime = await cast.client()
        answers = await every(runtime[i % 2].ask(input=INPUT, key="key-1") for i in range(100))
        assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 99}
        ids = {answer.json()["id"] for answer in answers}
        assert [(each, "requested") for each in ids] == await stream(pair, cast)
        other = await runtime[1].ask(input={"order": "A-2"}, key="key-1")
        assert told(other) == (409, "INVOCATION_CONFLICT")

    async def test_one_question(self, pair: Stage, cast: Cast) -> None:
        """An identical question asked 100 times at once joins the one that is pending."""
        runtime = await cast.client()
        answers = await every(runtime[i % 2].ask(input=INPUT) for i in range(100))
        assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 99}
        assert len({answer.json()["id"] for answer in answers}) == 1
        assert len(await stream(pair, cast)) == 1

    async def test_many_questions_of_one_run(self, cast: Cast) -> None:
        """50 calls of one run at once are 50 questions, and each decision moves the one it names."""
        runtime, ann = await cast.client(), await cast.approver()
        asked = [
            record(answer, 201)
            for answer in await every(
                runtime[i % 2].ask(input=INPUT, run="run-1", context={"call": i}) for i in range(50)
            )
        ]
        assert len({each["id"] for each in asked}) == 50
        votes = {each["id"]: random.choice(["approve", "reject"]) for each in asked}
        random.shuffle(asked)
        for each in await every(ann[i % 2].decide(each, votes[each["id"]]) for i, each in enumerate(asked)):
            assert each.status_code == 200
        items = record(await runtime[1].list(run="run-1", limit=200))["items"]
        statuses = {"approve": "approved", "reject": "rejected"}
        assert {item["id"]: item["status"] for item in items} == {
            each: statuses[vote] for each, vote in votes.items()
        }


def consumptions(grant: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What each execution sends to consume a grant."""
    call = {**call_of(grant), "token": grant["token"]}
    return [{**call, "execution_id": execution} for execution in EXECUTIONS]


async def every(calls: Iterable[Awaitable[Any]]) -> list[Any]:
    """What came of calls that were made at once, in their order."""
    return list(await asyncio.gather(*calls))


async def granted(runtime: Sequence[Party], ann: Sequence[Party], **members: Any) -> dict[str, Any]:
    """An approved record as its asker sees it: with a token."""
    asked = await runtime[0].asked(input=INPUT, **members)
    record(await ann[1].decide(asked))
    return await runtime[1].seen(asked["id"])


async def trail(reader: Party, approval_id: str) -> Counter[str]:
    """How often each event is in a record's trail; refusals by their code."""
    items = record(await reader.trail(approval_id))["items"]
    return Counter(item.get("code", item["type"]) for item in items)


async def stream(stage: Stage, cast: Cast) -> list[tuple[str, str]]:
    """The transitions of the cast's tenant, as pairs of approval id and event type."""
    async with Redis(unix_socket_path=str(stage.socket)) as redis:
        return await events(redis, cast.tenant)


def told(response: httpx.Response) -> tuple[int, str]:
    """Status, and the code of a refusal or the status of a record."""
    body = response.json()
    return response.status_code, body["code"] if response.status_code >= 400 else body["status"]
