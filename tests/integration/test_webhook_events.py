"""Events on their way to an endpoint: which, in what order, what they say, and who can prove them."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from msgspec import structs
from standardwebhooks import Webhook

from placet.application.enroll import EnrolmentRefused, Issued
from placet.channels.webhooks.signing import proved, secret_of
from placet.domain.deliveries import Failure, Undelivered
from placet.domain.limits import Limits
from placet.domain.principals import Endpoint
from tests.factories import T0_MS
from tests.harness import QUESTION, Harness, Party, record
from tests.receivers import Message, Receiver, answers, drops, receiving
from tests.ruled import Opening


class Line:
    """A service, and receivers of its events."""

    def __init__(self, h: Harness, runtime: Party, ann: Party, exits: AsyncExitStack) -> None:
        self.h, self.runtime, self.ann = h, runtime, ann
        self._exits = exits

    async def endpoint(self, name: str = "audit", **members: Any) -> tuple[Receiver, Issued]:
        """An endpoint that is there, and its receiver."""
        receiver = await self._exits.enter_async_context(receiving(b"-" * 32, now_ms=self.h.clock.now_ms))
        issued = await self.h.services.enrolment.create(
            Endpoint(tenant="default", name=name, url=f"{receiver.url}/hook", **members)
        )
        receiver._library = Webhook(issued.signing_secret or "")
        return receiver, issued

    async def deliver(self) -> None:
        """Tell all that is due."""
        while await self.h.services.spreader.once():
            pass
        await self.h.services.dispatcher.look()
        await self.h.services.dispatcher.drain()

    async def deliveries(self, approval_id: str) -> list[tuple[str, str, str | None]]:
        """How a record's lanes stand."""
        found = (await self.ann.seen(approval_id))["deliveries"]
        return [(each["target"], each["state"], each["error"]) for each in found]


@pytest.fixture
async def line(anywhere: Harness) -> AsyncIterator[Line]:
    """On every store."""
    async with AsyncExitStack() as exits:
        yield Line(anywhere, await anywhere.client(), await anywhere.approver(shown_as="Ann"), exits)


def types(receiver: Receiver) -> list[str]:
    """What was received, by type; all of it was proved."""
    return [message.said["type"] for message in receiver.messages]


async def a_life(line: Line) -> dict[str, Any]:
    """An approval that is asked for, approved and spent before anybody is told."""
    asked = await line.runtime.asked(context={"ticket": "T-1"}, run="run-1")
    record(await line.ann.decide(asked, "approve", comment="Fine."))
    record(await line.runtime.consume(asked, await line.runtime.token(asked["id"])))
    return asked


async def test_each_event_is_sent_by_itself_and_in_order(line: Line) -> None:
    """Signed, with ids of their own; and the record says that they are there."""
    receiver, _ = await line.endpoint()
    asked = await a_life(line)
    await line.deliver()
    assert types(receiver) == ["approval.requested", "approval.approved", "approval.consumed"]
    assert len(set(receiver.ids)) == 3
    assert {message.path for message in receiver.messages} == {"/hook"}
    assert await line.deliveries(asked["id"]) == [("webhook:audit", "delivered", None)]
    record(await line.runtime.report(asked["id"], summary="done"))
    await line.deliver()
    assert types(receiver)[3:] == ["approval.reported"]


async def test_an_event_shows_what_a_reader_sees(line: Line) -> None:
    """The line of the trail, and the record as it is: no input, no comment, no token."""
    receiver, _ = await line.endpoint()
    reader = await line.h.client("reader", "read")
    asked = await line.runtime.asked(context={"ticket": "T-1"})
    record(await line.ann.decide(asked, "approve", comment="Fine."))
    await line.deliver()
    said = receiver.messages[1].said
    assert said.keys() == {"type", "timestamp", "data"}
    lines = record(await reader.trail(asked["id"]))["items"]
    approved = next(each for each in lines if each["type"] == "approved")
    assert (said["timestamp"], said["data"]["event"]) == (approved["at"], approved)
    seen = {**await reader.seen(asked["id"]), "deliveries": ...}
    assert {**said["data"]["approval"], "deliveries": ...} == seen
    for secret in ("A-1", "T-1", "Fine.", "eyJ", asked["digest"]):
        assert secret not in receiver.messages[1].body.decode()


async def test_an_endpoint_that_gets_inputs_gets_them_whole(line: Line) -> None:
    """As ``read_input`` sees them: what is redacted is for approvers not to see; still no token."""
    receiver, _ = await line.endpoint(with_input=True)
    reader = await line.h.client("reader", "read_input")
    asked = await line.runtime.asked(presentation={"redact": ["/amount"]})
    record(await line.ann.decide(asked, "approve", comment="Fine."))
    await line.deliver()
    shown = receiver.messages[1].said["data"]["approval"]
    assert {**shown, "deliveries": ...} == {**await reader.seen(asked["id"]), "deliveries": ...}
    assert (shown["input"], shown["decisions"][0]["comment"]) == (QUESTION["input"], "Fine.")
    assert "token" not in shown


async def test_what_it_does_not_hear_of_is_passed_over(line: Line) -> None:
    """And never sent, while what comes after it is."""
    receiver, _ = await line.endpoint(events=frozenset({"approved", "reported"}))
    asked = await a_life(line)
    await line.deliver()
    assert types(receiver) == ["approval.approved"]
    assert await line.deliveries(asked["id"]) == [("webhook:audit", "delivered", None)]
    record(await line.runtime.report(asked["id"]))
    await line.deliver()
    assert types(receiver) == ["approval.approved", "approval.reported"]
    other = await line.runtime.asked(input={"order": "A-2"})
    await line.deliver()
    assert await line.deliveries(other["id"]) == []


async def test_a_message_that_comes_again_has_the_same_id(line: Line) -> None:
    """A receiver that took it and hung up can't have been heard: it knows it again."""
    receiver, _ = await line.endpoint()
    await line.runtime.asked()
    receiver.next = [drops, answers(503)]
    for _ in range(3):
        await line.deliver()
        line.h.clock.move(10_000)
    assert types(receiver) == ["approval.requested"] * 3
    assert len(set(receiver.ids)) == 1
    stamps = [int(message.header("webhook-timestamp")) for message in receiver.messages]
    assert stamps == [T0_MS // 1_000, T0_MS // 1_000 + 10, T0_MS // 1_000 + 20]


async def test_an_id_is_of_one_endpoint_one_approval_and_one_line(line: Line) -> None:
    """Two endpoints at one receiver, and two questions, are never taken for one."""
    receivers = [(await line.endpoint(name))[0] for name in ("audit", "chat")]
    for order in ("A-1", "A-2"):
        await line.runtime.asked(input={"order": order})
    await line.deliver()
    ids = [named for receiver in receivers for named in receiver.ids]
    assert len(ids) == len(set(ids)) == 4
    assert not [named for named in ids if "." in named]


async def test_while_a_secret_is_rotated_both_prove_a_message(line: Line) -> None:
    """And once the older one is taken back, it does not."""
    receiver, first = await line.endpoint()
    second = await line.h.services.enrolment.rotate("default", "webhook:audit")
    await line.runtime.asked()
    await line.deliver()
    [both] = receiver.messages
    assert [proves(each, both) for each in (first, second)] == [True, True]
    await line.h.services.enrolment.revoke("default", "webhook:audit", first.principal.keys[0].kid)
    await line.runtime.asked(input={"order": "A-2"})
    await line.deliver()
    assert [proves(each, receiver.messages[1]) for each in (first, second)] == [False, True]


def proves(issued: Issued, message: Message) -> bool:
    """Whether the secret that was shown then proves the message."""
    headers = [(name.encode(), value.encode()) for name, value in message.headers]
    secret = secret_of(issued.signing_secret or "")
    try:
        proved([secret], headers, message.body, int(message.header("webhook-timestamp")))
    except Exception as refusal:  # noqa: BLE001 - whichever it is
        return str(refusal) != "signature refused: wrong"
    return True


async def test_an_endpoint_that_is_gone_is_told_nothing(line: Line) -> None:
    """Not of what was still to be told either; that is no fault."""
    receiver, _ = await line.endpoint()
    receiver.next = [answers(503)]
    asked = await line.runtime.asked()
    await line.deliver()
    await line.h.services.enrolment.revoke("default", "webhook:audit")
    line.h.clock.move(10_000)
    await line.deliver()
    assert len(receiver.messages) == 1
    assert await line.deliveries(asked["id"]) == [("webhook:audit", "delivered", None)]
    trail = record(await line.ann.trail(asked["id"]))["items"]
    assert [each["type"] for each in trail] == ["requested"]


async def test_a_message_that_is_too_large_is_not_sent(line: Line) -> None:
    """It has failed, and the question waits as before; without its input it is small."""
    large, _ = await line.endpoint("large", with_input=True)
    small, _ = await line.endpoint("small")
    webhooks = line.h.services.webhooks
    assert webhooks._body_max_bytes == 2 * Limits().max_body_bytes + 256 * 1_024
    webhooks._body_max_bytes = 4_096
    asked = await line.runtime.asked(input={"text": "x" * 4_096})
    await line.deliver()
    assert await line.deliveries(asked["id"]) == [
        ("webhook:large", "failed", "too-large"),
        ("webhook:small", "delivered", None),
    ]
    assert (len(large.messages), len(small.messages)) == (0, 1)
    assert (await line.ann.seen(asked["id"]))["status"] == "pending"


async def test_a_try_out_is_signed_and_about_nothing(line: Line) -> None:
    """It tells whether the receiver takes what is signed for it."""
    receiver, issued = await line.endpoint()
    endpoint = issued.principal
    assert isinstance(endpoint, Endpoint)
    named = await line.h.services.webhooks.try_out(endpoint)
    [message] = receiver.messages
    assert (receiver.ids, json.loads(message.body)) == (
        [named],
        {
            "type": "placet.test",
            "timestamp": "2027-01-15T08:00:00.000Z",
            "data": {"tenant": "default", "webhook": "audit"},
        },
    )
    receiver.next = [answers(500)]
    with pytest.raises(Undelivered) as caught:
        await line.h.services.webhooks.try_out(endpoint)
    assert caught.value.failure is Failure.SERVER_ERROR
    elsewhere = structs.replace(endpoint, url="http://127.0.0.2/hook")
    with pytest.raises(Undelivered) as caught:
        await line.h.services.webhooks.try_out(elsewhere)
    assert caught.value.failure is Failure.FORBIDDEN_ADDRESS


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"url": "http://hooks.example/x" + "\u0430"}, "Its URL must have 2048 characters at most"),
        ({"url": "http://203.0.113.7/x"}, "neither public nor in a network that is allowed"),
        ({"url": "https://10.0.0.7/x"}, "is allowed (PLACET_WEBHOOK_ALLOW, here as for the service)"),
        ({"events": frozenset({"approved", "opened"})}, "'opened' is no event; there are requested, voted,"),
        ({"events": frozenset({"refused"})}, "'refused' is no event"),
        ({"capabilities": ("orders *",)}, "'orders *' is no capability pattern"),
        ({"clients": ("shop x",)}, "'shop x' is no client pattern"),
        ({"name": "a b"}, "A webhook's name is"),
    ],
)
async def test_an_endpoint_that_can_not_be_is_refused(h: Harness, members: Any, said: str) -> None:
    """With what to change; and where it may be is the operator's to say."""
    wanted = {"tenant": "default", "name": "audit", "url": "https://hooks.example/x", **members}
    with pytest.raises(EnrolmentRefused) as caught:
        await h.services.enrolment.create(Endpoint(**wanted))
    assert said in str(caught.value)


async def test_a_name_in_a_rule_that_nobody_has_is_a_delivery_that_fails(under: Opening) -> None:
    """So that somebody notices; once there is such an endpoint, trying again finds it."""
    ruled = await under('tell = ["webhook:audit"]')
    runtime, [ann, _] = await ruled.parties()
    async with AsyncExitStack() as exits:
        line = Line(ruled.h, runtime, ann, exits)
        asked = await runtime.asked()
        await line.deliver()
        assert await line.deliveries(asked["id"]) == [("webhook:audit", "failed", "no-such-target")]
        receiver, _ = await line.endpoint(by_rule=True)
        await ruled.h.services.store.deliveries.wake("default", asked["id"], ["webhook:audit"])
        await line.deliver()
        assert types(receiver) == ["approval.requested"]
