"""Cards in Slack, from a transition to what stands in the channel: true whichever way it was decided."""

import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from placet.application.slack_messages import CardReference
from placet.channels.slack.texts import fingerprint
from placet.domain.deliveries import BACKOFF_MS
from placet.store.codec import deliveries_of
from tests.factories import ManualClock
from tests.harness import record
from tests.slack_bench import CHANNEL, PEOPLE, TELLS, USER, Bench, bench
from tests.slack_fake import SlackMessage

pytestmark = pytest.mark.real

MINUTE_MS = 60_000


@pytest.fixture
def opening(client: Redis, ring_directory: Path, clock: ManualClock, tmp_path: Path) -> Any:
    """What opens a bench under a rule of a test's lines."""
    return partial(bench, client, ring_directory, clock, tmp_path)


@pytest.fixture
async def desk(opening: Any) -> AsyncIterator[Bench]:
    """Under a rule that tells the treasury's channel."""
    async with opening() as found:
        yield found


def says(message: SlackMessage) -> str:
    """All that it says."""
    return json.dumps(message.blocks, ensure_ascii=False)


def buttons(message: SlackMessage) -> list[str]:
    """What can be pressed."""
    actions = [block for block in message.blocks if block["type"] == "actions"]
    return [each["action_id"] for block in actions for each in block["elements"]]


async def test_a_question_stands_in_the_channel_of_its_rule(desk: Bench) -> None:
    """Once, with buttons, and says all there is to judge by."""
    asked, message = await desk.shown()
    await desk.deliver()
    assert [each.channel for each in desk.slack.messages] == [CHANNEL]
    for said in ("orders.refund", "runtime", "agent-7", "external", "A-1"):
        assert said in says(message), said
    assert buttons(message) == ["placet.approve", "placet.reject", "placet.open"]
    assert f"/a/{asked['id']}" in says(message)
    delivery = await desk.delivery(asked["id"])
    assert (delivery["target"], delivery["state"]) == (f"slack:T024BE7LD:{CHANNEL}", "delivered")


@pytest.mark.parametrize(
    ("act", "words"),
    [
        ("approve", "Approved"),
        ("reject", "No, thanks."),
        ("cancel", "Withdrawn"),
        ("expire", "Expired"),
    ],
)
async def test_it_tells_the_truth_afterwards(desk: Bench, act: str, words: str) -> None:
    """Whichever way it ended; with nothing left to press but the way to its page."""
    asked, message = await desk.shown()
    if act == "cancel":
        record(await desk.runtime.cancel(asked["id"]))
    elif act == "expire":
        desk.h.clock.move(15 * MINUTE_MS + 1)
        await desk.h.services.sweeper.sweep()
    else:
        record(await desk.ann.decide(asked, act, comment="No, thanks."))
    await desk.deliver()
    assert words in says(message)
    assert buttons(message) == ["placet.open"]
    assert desk.slack.messages == [message]


async def test_it_follows_what_was_approved_to_its_end(desk: Bench) -> None:
    """Used, and what came of it."""
    asked, message = await desk.shown()
    record(await desk.ann.decide(asked, "approve"))
    record(await desk.runtime.consume(asked, await desk.runtime.token(asked["id"])))
    record(await desk.runtime.report(asked["id"], summary="five back to the customer"))
    await desk.deliver()
    assert "five back to the customer" in says(message)
    assert message.updates == 1, "what happened meanwhile is told at once"


async def test_what_was_decided_before_anybody_was_told_is_not_told(desk: Bench) -> None:
    """A card that nobody can do anything about is noise."""
    asked = await desk.runtime.asked()
    record(await desk.ann.decide(asked, "approve"))
    await desk.deliver()
    assert desk.slack.messages == []


async def test_an_update_that_got_lost_is_made_up_for(desk: Bench) -> None:
    """By the next attempt, which tells what is so by then."""
    asked, message = await desk.shown()
    desk.slack.fail_next("internal_error")
    record(await desk.ann.decide(asked, "approve"))
    await desk.deliver()
    assert (await desk.delivery(asked["id"]))["error"] == "server-error"
    assert buttons(message) != ["placet.open"]
    record(await desk.runtime.cancel(asked["id"]))
    desk.h.clock.move(BACKOFF_MS[0] * 2)
    await desk.deliver()
    assert "Withdrawn" in says(message)
    assert (await desk.delivery(asked["id"])).items() >= {"state": "delivered", "error": None}.items()


async def test_a_card_that_slack_refuses_fails_and_the_question_waits(desk: Bench) -> None:
    """It is not tried again by itself, and decides nothing."""
    desk.slack.fail_next("invalid_blocks")
    asked = await desk.runtime.asked()
    await desk.deliver()
    assert (await desk.delivery(asked["id"])).items() >= {"state": "failed", "error": "refused"}.items()
    assert (await desk.ann.seen(asked["id"]))["status"] == "pending"


async def test_a_message_that_was_deleted_is_posted_again_while_it_waits(desk: Bench) -> None:
    """And not any more afterwards."""
    asked, message = await desk.shown()
    desk.slack.messages.remove(message)
    await desk.h.services.store.deliveries.wake(
        "default", asked["id"], [(await desk.delivery(asked["id"]))["target"]]
    )
    record(await desk.ann.decide(asked, "approve"))
    await desk.deliver()
    assert desk.slack.messages == []


async def test_two_channels_are_told_apart_from_each_other(opening: Any) -> None:
    """Slack's pace is a channel's own: what one has to wait for the other does not."""
    async with opening('tell = ["slack:#treasury", "slack:C0OTHER00"]') as desk:
        desk.slack.members.add("C0OTHER00")
        desk.slack.is_paced = True
        await desk.runtime.asked()
        await desk.runtime.asked(input={"order": "A-2"})
        await desk.deliver()
        assert sorted(each.channel for each in desk.slack.messages) == [CHANNEL, "C0OTHER00"]
        desk.h.clock.move(1_500)
        await desk.deliver()
        desk.h.clock.move(1_500)
        await desk.deliver()
        assert sorted(each.channel for each in desk.slack.messages) == [CHANNEL] * 2 + ["C0OTHER00"] * 2


async def test_a_person_is_written_to_in_a_conversation_of_their_own(opening: Any) -> None:
    """By their id in the directory."""
    async with opening('tell = ["slack:@ann"]') as desk:
        asked, message = await desk.shown()
        assert message.channel == f"D{USER[1:]}"
        record(await desk.ann.decide(asked, "reject"))
        await desk.deliver()
        assert "Rejected" in says(message)


async def test_who_is_called_later_is_told_then(opening: Any) -> None:
    """The people of the groups that it escalates to, as far as Slack knows them."""
    people = PEOPLE.replace('groups = ["treasury"]\naliases', 'groups = ["treasury", "cfo"]\naliases')
    async with opening('escalate = { after = "5m", groups = ["cfo"] }', people=people) as desk:
        asked = await desk.runtime.asked()
        await desk.deliver()
        assert desk.slack.messages == []
        desk.h.clock.move(5 * MINUTE_MS + 1)
        await desk.deliver()
        await desk.deliver()
        [message] = desk.slack.messages
        assert message.channel == f"D{USER[1:]}"
        items = record(await desk.ann.trail(asked["id"]))["items"]
        assert [each["type"] for each in items] == ["requested", "escalated", "delivered"]


async def test_what_does_not_wait_much_longer_is_said_below_its_card(desk: Bench) -> None:
    """Once."""
    _, message = await desk.shown()
    desk.h.clock.move(12 * MINUTE_MS)
    for _ in range(3):
        await desk.deliver()
    assert len(desk.slack.messages) == 2
    reply = desk.slack.messages[1]
    assert reply.said["thread_ts"] == message.ts
    assert "Nobody has decided yet" in says(reply)


@pytest.mark.parametrize(
    ("error", "state"), [("restricted_action_thread_locked", "delivered"), ("internal_error", "queued")]
)
async def test_a_reminder_that_can_not_be_said_spoils_no_card(opening: Any, error: str, state: str) -> None:
    """What the card says by then is known, and can be decided; the reminder is said later, or never."""
    async with opening(TELLS, "quorum = 2") as desk:
        asked, _ = await desk.shown()
        desk.h.clock.move(12 * MINUTE_MS)
        record(await desk.ann.decide(asked, "approve"))
        desk.slack.fail_next("ok", body=b'{"ok": true}')
        desk.slack.fail_next(error)
        await desk.h.services.dispatcher.look()
        await desk.deliver()
        assert [method for method, _ in desk.slack.calls][1:] == ["chat.update", "chat.postMessage"]
        lane = await desk.delivery(asked["id"])
        assert (lane["state"], lane["attempts"]) == (state, 0 if state == "delivered" else 1)
        assert await known(desk, asked["id"]) == fingerprint(desk.slack.calls[1][1]["blocks"])
        for _ in range(3):
            desk.h.clock.move(2_000)
            await desk.deliver()
        said = [method for method, _ in desk.slack.calls][3:]
        assert said == ([] if state == "delivered" else ["chat.postMessage"])


async def known(desk: Bench, approval_id: str) -> str:
    """What the lane knows that its card says."""
    found = (await desk.h.services.store.approvals.get("default", approval_id, epoch=None)).record
    assert found is not None
    reference = CardReference.of(deliveries_of(found.fields)[0].ref)
    assert reference is not None
    return reference.fingerprint


@pytest.mark.parametrize("line", ['channels = ["web"]', "step_up = true"])
async def test_what_a_rule_keeps_out_of_slack_is_decided_on_its_page(opening: Any, line: str) -> None:
    """The card leads there."""
    async with opening(TELLS, line) as desk:
        _, message = await desk.shown()
        assert buttons(message) == ["placet.open"]


async def test_what_is_hidden_can_not_be_approved_in_slack(desk: Bench) -> None:
    """Nor is it there."""
    _, message = await desk.shown(
        input={"order": "A-1", "card": "4111 1111"}, presentation={"redact": ["/card"]}
    )
    assert "4111" not in says(message)
    assert "placet.approve" not in buttons(message)


async def test_a_channel_that_no_rule_names_any_more_is_told_nothing(opening: Any) -> None:
    """Once the rule is mended, trying again clears what could not be told."""
    async with opening('tell = ["slack:C0WRONG00"]') as desk:
        asked = await desk.runtime.asked()
        await desk.deliver()
        wrong = await desk.delivery(asked["id"])
        assert (wrong["state"], wrong["error"]) == ("failed", "no-such-target")
        policy = desk.folder / "policy.toml"
        policy.write_text(policy.read_text().replace("C0WRONG00", "#treasury"))
        await desk.h.services.activation.reload()
        lanes = desk.h.services.store.deliveries
        await lanes.wake("default", asked["id"], [wrong["target"]])
        await desk.deliver()
        assert (await lanes.ring("default", limit=1)).failed == 0
        assert desk.slack.messages == []
