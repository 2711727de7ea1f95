"""Webhooks in tests: a sender that may send to this machine, a resolver to hold, and an endpoint's TLS."""

import ssl
from collections.abc import Sequence
from pathlib import Path

import pytest

from placet.channels.trust import Trust
from placet.channels.webhooks.addresses import networks_of
from placet.channels.webhooks.sending import Caps, WebhookSender
from placet.channels.webhooks.signing import headers, new_secret
from placet.domain.deliveries import Failure, Undelivered
from tests.certificates import self_signed
from tests.factories import T0_MS, ManualClock

HERE = networks_of(["127.0.0.0/8", "::1"])
SECRET = new_secret()
BODY = b'{"type":"approval.approved","data":{"id":"apr_1"}}'
NAME = "hooks.example"

Failed = tuple[Failure, int | None]


class Names:
    """A resolver that a test holds; ``answers`` are given one after another, the last one again and again."""

    def __init__(self, *answers: Sequence[str] | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def a_sender(
    names: Names | None = None, *, allowed: Sequence[str] | None = None, **caps: float
) -> WebhookSender:
    """One that may send to this machine, where a test doesn't say otherwise."""
    return WebhookSender(
        allowed=HERE if allowed is None else networks_of(allowed),
        trust=Trust(),
        find=names or Names(["127.0.0.1"]),
        now_ms=ManualClock().now_ms,
        caps=Caps(**caps),
    )


async def send(sender: WebhookSender, url: str, message_id: str = "msg_1", body: bytes = BODY) -> None:
    """Sign and send."""
    await sender.send(url, headers([SECRET], message_id, T0_MS // 1_000, body), body)


async def failed(sender: WebhookSender, url: str) -> Failed:
    """Why it is not there."""
    with pytest.raises(Undelivered) as caught:
        await send(sender, url)
    return caught.value.failure, caught.value.retry_after_ms


def secure(
    directory: Path, monkeypatch: pytest.MonkeyPatch, *names: str, trusted: bool = True
) -> ssl.SSLContext:
    """TLS with a certificate for these names, which this process trusts or not."""
    cert_file, key_file = self_signed(directory, *names)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(cert_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert_file, key_file)
    return context
