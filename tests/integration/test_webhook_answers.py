"""Answers to webhooks that never end, never come, or are none."""

import asyncio
import random
from contextlib import suppress

import pytest

from placet.channels.webhooks.sending import ANSWER_MAX_BYTES
from placet.domain.deliveries import Failure, Undelivered
from tests.loopback import listening
from tests.receivers import Behaviour, Receiver, answers, drops, endlessly, says, when
from tests.webhooks import a_sender, failed, send

OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "behaviour",
    [
        endlessly(OK + b"\r\n", b"x" * 10_000),
        endlessly(OK + b"transfer-encoding: chunked\r\n\r\n", b"1\r\nx\r\n", pause_s=0.01),
        says(OK + b"content-length: 9\r\n\r\nx"),
        says(OK + b"content-length: 9\r\n\r\n", b"x" * 9, pause_s=0.02),
        says(OK + b"transfer-encoding: chunked\r\n\r\nno chunk"),
        says(OK + b"content-encoding: gzip\r\n\r\nnot compressed"),
        says(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + OK + b"\r\n"),
        says(*(bytes([byte]) for byte in OK + b"a: b\r\n\r\n"), pause_s=0.001),
    ],
)
async def test_what_follows_a_status_changes_nothing(receiver: Receiver, behaviour: Behaviour) -> None:
    """It is delivered, soon, and the connection is closed."""
    receiver.next = [behaviour]
    async with asyncio.timeout(5):
        await send(a_sender(rest_s=0.1), receiver.url)
        await receiver.ended.wait()


@pytest.mark.parametrize(
    "behaviour",
    [
        endlessly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        endlessly(OK, b"x-more: and more\r\n"),
        endlessly(OK + b"x: ", b"y" * 1_000),
        says(OK + b"x: " + b"y" * ANSWER_MAX_BYTES + b"\r\n\r\n"),
        says(b"SSH-2.0-OpenSSH_9.2p1\r\n"),
        says(b"HTTP/1.1 OK\r\n\r\n"),
        answers(101, connection="upgrade", upgrade="h2c"),
        says(b"\x00" * 100),
        says(OK),
        drops,
    ],
)
async def test_what_is_no_answer(receiver: Receiver, behaviour: Behaviour) -> None:
    """Headers without end, another protocol, nothing at all: as if nobody was there."""
    receiver.next = [behaviour]
    async with asyncio.timeout(5):
        assert await failed(a_sender(), receiver.url) == (Failure.UNREACHABLE, None)
        await receiver.ended.wait()


@pytest.mark.parametrize(
    "behaviour",
    [
        endlessly(b"", b"", pause_s=0.01),
        endlessly(OK, b"a: b\r\n", pause_s=0.01),
        endlessly(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause_s=0.01),
    ],
)
async def test_nobody_is_waited_for_without_end(receiver: Receiver, behaviour: Behaviour) -> None:
    """A byte now and then buys no time."""
    receiver.next = [behaviour]
    assert await failed(a_sender(whole_s=0.2), receiver.url) == (Failure.TIMEOUT, None)
    await receiver.ended.wait()


async def test_one_that_does_not_listen() -> None:
    """A message that nobody takes in is given up as well."""
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await over.wait()
        writer.transport.abort()

    async with listening(serve) as url:
        with pytest.raises(Undelivered) as caught:
            await send(a_sender(whole_s=0.3), url, body=b"x" * 20_000_000)
        over.set()
    assert caught.value.failure == Failure.TIMEOUT


async def test_whatever_is_said_is_an_answer_or_none(receiver: Receiver) -> None:
    """Nothing but `Undelivered` is raised, whatever comes; chance says what that is, from one seed."""
    chance = random.Random(5)
    pieces = [
        OK,
        b"HTTP/1.1 ",
        b"200",
        b" ",
        b"\r\n",
        b"\r\n\r\n",
        b"x: y",
        b":",
        b"transfer-encoding: chunked",
    ]
    pieces += [
        b"content-length: ",
        b"9",
        b"-1",
        b"\x00",
        b"\xff",
        b"HTTP/2 ",
        b"HTTP/1.1 429 \r\nretry-after: ",
    ]
    for _ in range(200):
        receiver.next = [says(b"".join(chance.choices(pieces, k=chance.randrange(1, 9))))]
        with suppress(Undelivered):
            await send(a_sender(), receiver.url)
    assert receiver.connections == 200


async def test_one_that_hangs_keeps_no_other_waiting(receiver: Receiver) -> None:
    """Nor does one that is given up leave anything behind."""
    late = asyncio.Event()
    receiver.next = [when(late, answers(204))]
    sender = a_sender()
    hanging = asyncio.create_task(send(sender, receiver.url, "msg_hanging"))
    await receiver.arrived.wait()
    await send(sender, receiver.url, "msg_other")
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    late.set()
    await receiver.ended.wait()
    assert receiver.ids == ["msg_hanging", "msg_other"]
