"""Where a webhook goes: the address is judged and kept to, the name is what a certificate is for."""

import asyncio
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from placet.channels.trust import Trust
from placet.channels.webhooks.lookup import Lookup
from placet.channels.webhooks.sending import WebhookSender
from placet.domain.deliveries import Failure, Undelivered
from tests.factories import ManualClock
from tests.loopback import listening
from tests.receivers import Receiver, answers, receiving
from tests.webhooks import BODY, HERE, NAME, SECRET, Names, a_sender, failed, secure, send


class TestWhereItGoes:
    """The address is judged, and is the one that is connected to."""

    async def test_a_name_is_asked_for_once_and_stays_the_name(self, receiver: Receiver) -> None:
        """What the resolver would say the second time is nobody's business (DNS rebinding)."""
        names = Names(["127.0.0.1"], ["169.254.169.254"])
        await send(a_sender(names), f"http://{NAME}:{receiver.port}/x")
        assert names.asked == [NAME]
        assert receiver.messages[0].header("host") == f"{NAME}:{receiver.port}"

    async def test_each_delivery_is_judged_anew(self, receiver: Receiver) -> None:
        """A name that leads inside later is refused then."""
        sender = a_sender(Names(["127.0.0.1"], ["10.0.0.1"], ["127.0.0.1", "10.0.0.1"]))
        url = f"http://{NAME}:{receiver.port}/"
        await send(sender, url)
        assert await failed(sender, url) == (Failure.FORBIDDEN_ADDRESS, None)
        assert await failed(sender, url) == (Failure.FORBIDDEN_ADDRESS, None)
        assert receiver.connections == 1

    @pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", NAME])
    @pytest.mark.parametrize("scheme", ["http", "https"])
    async def test_this_machine_is_not_for_everybody(
        self, receiver: Receiver, scheme: str, host: str
    ) -> None:
        """Unless it is named; nothing is connected to."""
        names = Names([host.strip("[]") if host != NAME else "127.0.0.1"])
        sender = a_sender(names, allowed=[])
        outcome = await failed(sender, f"{scheme}://{host}:{receiver.port}/")
        assert outcome == (Failure.FORBIDDEN_ADDRESS, None)
        assert receiver.connections == 0

    async def test_http_is_not_for_the_open_network(self) -> None:
        """However public the address."""
        sender = a_sender(Names(["93.184.215.14"]))
        assert await failed(sender, f"http://{NAME}/") == (Failure.FORBIDDEN_ADDRESS, None)

    @pytest.mark.parametrize("answer", [["127.0.0.1", "::1"], ["::1", "127.0.0.1"]])
    async def test_the_other_family_is_tried(self, receiver: Receiver, answer: list[str]) -> None:
        """Where the first address takes no connection, and only there."""
        await send(a_sender(Names(answer)), f"http://{NAME}:{receiver.port}/")
        assert receiver.connections == 1
        assert receiver.ids == ["msg_1"]

    async def test_no_proxy_is_asked(self, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
        """Whatever the environment says."""
        async with receiving(SECRET) as proxy:
            for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
                monkeypatch.setenv(name, proxy.url)
            await send(a_sender(), f"http://{NAME}:{receiver.port}/")
            assert (receiver.connections, proxy.connections) == (1, 0)

    @pytest.mark.parametrize(
        ("names", "failure"),
        [
            (Names([]), Failure.UNREACHABLE),
            (Names(OSError("no such name")), Failure.UNREACHABLE),
            (Names(TimeoutError()), Failure.TIMEOUT),
            (Names(["nonsense"]), Failure.FORBIDDEN_ADDRESS),
        ],
    )
    async def test_a_name_that_leads_nowhere(self, names: Names, failure: Failure) -> None:
        """Each has its word."""
        assert await failed(a_sender(names), f"https://{NAME}/") == (failure, None)

    async def test_a_resolver_that_hangs(self) -> None:
        """It has its time, like each step."""

        class Hanging(Names):
            async def __call__(self, host: str) -> Sequence[str]:
                await asyncio.Event().wait()
                return []

        assert await failed(a_sender(Hanging(), connect_s=0.05), f"https://{NAME}/") == (
            Failure.TIMEOUT,
            None,
        )

    async def test_nobody_listens(self) -> None:
        """As it is where a receiver is down."""
        with socket.socket() as taken:  # bound, and not listened on
            taken.bind(("127.0.0.1", 0))
            url = f"http://{NAME}:{taken.getsockname()[1]}/"
            assert await failed(a_sender(), url) == (Failure.UNREACHABLE, None)

    async def test_what_is_no_url_is_no_endpoint(self) -> None:
        """It was refused when it was typed; if it came here all the same, it is refused again."""
        assert await failed(a_sender(), "https://a@b/") == (Failure.NO_SUCH_TARGET, None)

    async def test_what_can_not_be_sent(self, receiver: Receiver) -> None:
        """A header that would be two, or in other letters."""
        for value in ("a\r\nb: c", "\u20ac"):
            with pytest.raises(Undelivered) as caught:
                await a_sender().send(receiver.url, {"webhook-id": value}, BODY)
            assert caught.value.failure == Failure.UNREADABLE
        await receiver.ended.wait()
        assert receiver.messages == []

    async def test_the_real_resolver(self, receiver: Receiver) -> None:
        """It knows the name of this machine."""
        lookup = Lookup()
        sender = WebhookSender(allowed=HERE, trust=Trust(), find=lookup, now_ms=ManualClock().now_ms)
        await send(sender, f"http://localhost:{receiver.port}/")
        await send(sender, receiver.url)
        lookup.close()
        assert receiver.ids == ["msg_1", "msg_1"]


class TestCertificates:
    """Over TLS the name counts, not the address."""

    async def test_it_is_for_the_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The name is asked for, and is what the certificate has to be for."""
        tls = secure(tmp_path, monkeypatch, NAME)
        async with receiving(SECRET, now_ms=ManualClock().now_ms, tls=tls) as receiver:
            await send(a_sender(), f"https://{NAME}:{receiver.port}/")
            assert (receiver.ids, receiver.name) == (["msg_1"], NAME)

    async def test_an_address_is_one_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where a certificate is for it."""
        tls = secure(tmp_path, monkeypatch)
        async with receiving(SECRET, now_ms=ManualClock().now_ms, tls=tls) as receiver:
            await send(a_sender(), receiver.url)
            assert (receiver.ids, receiver.name) == (["msg_1"], None)

    async def test_another_name_is_refused(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Though it is where the name leads, and the certificate is for that address or another name."""
        for names in ((), ("other.example",)):
            async with receiving(SECRET, tls=secure(tmp_path, monkeypatch, *names)) as receiver:
                url = f"https://{NAME}:{receiver.port}/"
                assert await failed(a_sender(), url) == (Failure.UNREACHABLE, None)
                assert receiver.messages == []

    async def test_an_unknown_authority_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Anybody can make a certificate."""
        async with receiving(SECRET, tls=secure(tmp_path, monkeypatch, NAME, trusted=False)) as receiver:
            url = f"https://{NAME}:{receiver.port}/"
            assert await failed(a_sender(), url) == (Failure.UNREACHABLE, None)
            assert receiver.messages == []

    async def test_what_is_no_tls_is_refused(self) -> None:
        """The message is not sent in the clear."""
        heard = []

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.append(await reader.read(10_000))
            await answers(400)(writer)
            writer.close()

        async with listening(serve) as url:
            outcome = await failed(a_sender(), url.replace("http:", "https:"))
        assert outcome == (Failure.UNREACHABLE, None)
        assert b"POST" not in heard[0]

    async def test_a_handshake_that_hangs(self, receiver: Receiver) -> None:
        """It has its time, like each step; the receiver waits for the end of a head that never comes."""
        url = f"https://{NAME}:{receiver.port}/"
        assert await failed(a_sender(connect_s=0.1), url) == (Failure.TIMEOUT, None)
        await receiver.ended.wait()
        assert receiver.messages == []
