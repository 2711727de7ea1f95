"""Decisions in Slack, between real processes: two replicas, their store, and a Slack on loopback."""

import itertools
import json
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from redis.asyncio import Redis

from placet.application.clock import SystemClock
from tests.e2e.stage import Stage, casting, several
from tests.harness import Party, record
from tests.slack_bench import PEOPLE, TELLS, rules
from tests.slack_fake import CHANNEL, TEAM, USER, Handed, SlackFake, SlackMessage
from tests.tools import until

pytestmark = [pytest.mark.e2e, pytest.mark.real]

_names = (f"runtime-{number}" for number in itertools.count())


@pytest.fixture(scope="module")
def slack() -> Iterator[SlackFake]:
    """A workspace, which takes its time where a test says so."""
    with SlackFake(SystemClock()) as fake:
        fake.people.add(USER)
        fake.is_paced = False
        yield fake


@pytest.fixture(scope="module")
def stage(slack: SlackFake, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Two replicas, under a rule that tells the workspace."""
    folder = tmp_path_factory.mktemp("rules")
    rules(folder, slack, TELLS, people=PEOPLE)
    files = {f"PLACET_{name.upper()}_FILE": str(folder / f"{name}.toml") for name in ("policy", "directory")}
    with several(2, **files) as stage:
        yield stage


async def shown(slack: SlackFake, asked: str) -> SlackMessage:
    """The latest card of an approval."""

    def cards() -> list[SlackMessage]:
        return [each for each in slack.messages if asked in json.dumps(each.blocks)]

    await until(lambda: bool(cards()), "a card stands in the channel")
    return cards()[-1]


async def sent(stage: Stage, handed: Handed, replica: int = 1) -> httpx.Response:
    """Have Slack send something to a replica."""
    headers, body = handed
    async with httpx.AsyncClient(base_url=stage.replicas[replica].url, trust_env=False) as http:
        return await http.post("/v1/callbacks/slack", content=body, headers=headers)


@pytest.fixture
async def runtime(stage: Stage) -> AsyncIterator[Party]:
    """A runtime, before the first replica."""
    async with casting(stage) as cast:
        cast.tenant = "default"
        yield (await cast.client(next(_names)))[0]


async def test_from_the_question_to_the_outcome(stage: Stage, slack: SlackFake, runtime: Party) -> None:
    """The card is posted, the click decides on another replica, and the card tells what became of it."""
    asked = await runtime.asked()
    card = await shown(slack, asked["id"])
    assert card.channel == CHANNEL
    answer = await sent(stage, slack.press(card, "placet.approve"))
    assert (answer.status_code, answer.content) == (200, b"")
    seen = record(await runtime.read(asked["id"], wait=10))
    [vote] = seen["decisions"]
    assert (seen["status"], vote["approver"]["id"], vote["channel"]) == ("approved", "ann", "slack")
    record(await runtime.consume(asked, await runtime.token(asked["id"])))
    record(await runtime.report(asked["id"], summary="five back"))
    await until(lambda: "five back" in json.dumps(card.blocks), "the card tells the outcome")
    [delivery] = (await runtime.seen(asked["id"]))["deliveries"]
    assert (delivery["target"], delivery["error"]) == (f"slack:{TEAM}:{CHANNEL}", None)


async def test_killed_while_a_card_is_being_posted(stage: Stage, slack: SlackFake, runtime: Party) -> None:
    """Nobody knows of that card afterwards: another is posted, which alone decides, and once."""
    slack.delays_s["chat.postMessage"] = 1.0
    slack.arrived.clear()
    other = await runtime.asked(input={"order": "A-2"})
    await until(lambda: "chat.postMessage" in slack.arrived, "it is being posted")
    for replica in stage.replicas:
        replica.kill()
    lost = await shown(slack, other["id"])
    slack.delays_s.clear()
    for replica in stage.replicas:
        replica.start()
    async with Redis(unix_socket_path=str(stage.socket)) as store:
        lane = f"{{placet:default}}:n:slack:{TEAM}:{CHANNEL}"
        assert await store.zadd(lane, {other["id"]: 0}, xx=True, ch=True) == 1, "its lease is over"
    await until(lambda: len([m for m in slack.messages if other["id"] in json.dumps(m.blocks)]) == 2, "again")
    known = await shown(slack, other["id"])
    assert (await sent(stage, slack.press(lost, "placet.approve"))).status_code == 200
    await until(lambda: bool(slack.answers), "whoever pressed the lost one is told")
    assert (await runtime.seen(other["id"]))["status"] == "pending"
    for _ in range(2):
        assert (await sent(stage, slack.press(known, "placet.approve"), 0)).status_code == 200
    seen = record(await runtime.read(other["id"], wait=10))
    assert (seen["status"], len(seen["decisions"])) == ("approved", 1)
    await until(lambda: "Approved" in json.dumps(known.blocks), "the card tells the truth")
