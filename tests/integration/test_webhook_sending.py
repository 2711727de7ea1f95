"""A webhook on its way: what arrives, and what an answer comes to."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from standardwebhooks import WebhookVerificationError

from placet.channels.webhooks.signing import headers
from placet.domain.deliveries import RETRY_AFTER_MAX_MS, Failure
from tests.factories import T0_MS
from tests.receivers import Receiver, answers, drops, redirects
from tests.webhooks import BODY, SECRET, a_sender, failed, send


class TestWhatArrives:
    """A message, as a receiver sees it."""

    async def test_it_is_proved_by_the_library_of_the_standard(self, receiver: Receiver) -> None:
        """Path, query and body arrive as they are, and who we are, and nothing of why."""
        await send(a_sender(), f"{receiver.url}/hooks/placet?x=1&y=%2F")
        (message,) = receiver.messages
        assert (message.path, message.body) == ("/hooks/placet?x=1&y=%2F", BODY)
        assert message.said == {"type": "approval.approved", "data": {"id": "apr_1"}}
        assert dict(message.headers) | {"webhook-signature": ""} == {
            "host": receiver.url.removeprefix("http://"),
            "accept": "*/*",
            "accept-encoding": "identity",
            "connection": "close",
            "content-type": "application/json",
            "user-agent": "placet",
            "content-length": str(len(BODY)),
            "webhook-id": "msg_1",
            "webhook-timestamp": str(T0_MS // 1_000),
            "webhook-signature": "",
        }
        assert len(message.headers) == 10

    async def test_another_body_is_not(self, receiver: Receiver) -> None:
        """The receiver of these tests does look."""
        await a_sender().send(receiver.url, headers([SECRET], "msg_1", T0_MS // 1_000, BODY), b"{}")
        assert isinstance(receiver.messages[0].said, WebhookVerificationError)
        assert receiver.ids == []

    async def test_each_delivery_has_a_connection_of_its_own(self, receiver: Receiver) -> None:
        """It is closed when the answer is there."""
        sender = a_sender()
        for number in range(3):
            await send(sender, receiver.url, f"msg_{number}")
        await receiver.ended.wait()
        assert receiver.connections == 3
        assert receiver.ids == ["msg_0", "msg_1", "msg_2"]

    async def test_what_was_dropped_is_sent_again_under_its_id(self, receiver: Receiver) -> None:
        """Nobody can know whether it arrived, but the receiver can tell that it is the same."""
        receiver.next = [drops]
        sender = a_sender()
        assert await failed(sender, receiver.url) == (Failure.UNREACHABLE, None)
        await send(sender, receiver.url)
        assert receiver.ids == ["msg_1", "msg_1"]

    async def test_a_large_body(self, receiver: Receiver) -> None:
        """It arrives whole."""
        body = b'{"a":"' + b"x" * 1_000_000 + b'"}'
        await send(a_sender(), receiver.url, body=body)
        assert receiver.messages[0].body == body


class TestStatuses:
    """What an answer comes to."""

    @pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
    async def test_taken(self, receiver: Receiver, status: int) -> None:
        """Any 2xx."""
        receiver.next = [answers(status)]
        await send(a_sender(), receiver.url)

    @pytest.mark.parametrize(
        ("status", "failure"),
        [
            *((status, Failure.REFUSED) for status in (300, 301, 302, 303, 304, 307, 308)),
            *((status, Failure.REFUSED) for status in (400, 402, 405, 406, 409, 421, 422, 451, 499)),
            (401, Failure.CREDENTIAL),
            (404, Failure.UNREACHABLE),
            (403, Failure.CREDENTIAL),
            (408, Failure.TIMEOUT),
            (410, Failure.NO_SUCH_TARGET),
            (413, Failure.TOO_LARGE),
            (425, Failure.SERVER_ERROR),
            (429, Failure.RATE_LIMITED),
            *((status, Failure.SERVER_ERROR) for status in (500, 501, 502, 503, 504, 520, 599)),
            *((status, Failure.REFUSED) for status in (600, 999)),
        ],
    )
    async def test_not_taken(self, receiver: Receiver, status: int, failure: Failure) -> None:
        """Each has its word."""
        receiver.next = [answers(status)]
        assert await failed(a_sender(), receiver.url) == (failure, None)

    @pytest.mark.parametrize("status", [429, 503])
    @pytest.mark.parametrize(
        ("retry_after", "wait_ms"),
        [
            ("120", 120_000),
            ("0", 0),
            ("86400", RETRY_AFTER_MAX_MS),
            (
                format_datetime(
                    datetime.fromtimestamp(T0_MS / 1_000, UTC) + timedelta(seconds=90), usegmt=True
                ),
                90_000,
            ),
            ("soon", None),
        ],
    )
    async def test_patience_is_passed_on(
        self, receiver: Receiver, status: int, retry_after: str, wait_ms: int | None
    ) -> None:
        """In seconds, or as a date on our clock."""
        receiver.next = [answers(status, retry_after=retry_after)]
        assert (await failed(a_sender(), receiver.url))[1] == wait_ms

    async def test_redirects_are_not_followed(self, receiver: Receiver) -> None:
        """Not even to itself."""
        for status in (301, 302, 303, 307, 308):
            receiver.next.append(redirects(f"{receiver.url}/elsewhere", status))
            assert (await failed(a_sender(), receiver.url))[0] == Failure.REFUSED
        assert [message.path for message in receiver.messages] == ["/"] * 5
