"""Events for webhook endpoints: what is next for whom, what it says, and how it is signed (design §9).

1. One message an attempt, in the order of the approval's log: whatever a receiver has taken is not sent again
   because of what comes after it.
2. What an endpoint does not hear of is passed over.
3. The id of a message is made of the endpoint, the approval and the line of its log, so that a message which
   comes again is known again.
4. It shows the approval as it is when it is sent: as ``read`` sees it, or, to an endpoint that gets inputs,
   as ``read_input`` does. A token is never in it.
"""

from collections.abc import Mapping
from hashlib import sha256
from secrets import token_hex
from typing import Final, Protocol

from placet.application.clock import Clock
from placet.application.dispatch import Job, Sent
from placet.application.outreach import by_rule
from placet.application.record_shapes import (
    WebhookDataView,
    WebhookTestDataView,
    WebhookTestView,
    WebhookView,
)
from placet.application.rulings import rfc3339
from placet.application.signing_secrets import signing_secrets
from placet.application.standing import Standing, standing_of
from placet.application.views import Sight, record_view, trail_view
from placet.channels.webhooks.signing import headers
from placet.domain.authority import Authority
from placet.domain.deliveries import Failure, Undelivered
from placet.domain.events import IN_STREAM
from placet.domain.limits import Limits
from placet.domain.model import Approval, Status, TrailEntry
from placet.domain.principals import Endpoint
from placet.domain.tally import Tally
from placet.store.codec import encode
from placet.tokens.keyring_file import KeyringFile

TYPE_PREFIX: Final = "approval."
"""What stands before an event's name in the type of a message."""
TEST_TYPE: Final = "placet.test"
BESIDE_INPUTS_BYTES: Final = 256 * 1_024
"""How large a message may be beside the input, as it is and as it was asked."""
WIDTH: Final = 8
"""Approvals that one endpoint is told of at the same time."""

_ID_CHARS: Final = 32


class Post(Protocol):
    """Takes a signed message where it is to go (:class:`placet.channels.webhooks.sending.WebhookSender`)."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> None:
        """Deliver it.

        Raises:
            Undelivered: It is not there, or nobody can tell whether it is.
        """
        ...


class WebhookEvents:
    """Tells endpoints; a :class:`placet.application.dispatch.Sender`.

    Args:
        post: Takes messages there.
        ring: Has what signing secrets are made of.
        clock: For the time that is signed.
        limits: How large an input may be.
    """

    width = WIDTH

    def __init__(self, post: Post, ring: KeyringFile, clock: Clock, limits: Limits) -> None:
        self._post = post
        self._ring = ring
        self._clock = clock
        self._body_max_bytes = 2 * limits.max_body_bytes + BESIDE_INPUTS_BYTES

    async def send(self, job: Job) -> Sent | None:
        """Tell an endpoint what comes next; ``None`` where it is gone, or nothing more is for it.

        Raises:
            Undelivered: It could not be told.
        """
        endpoint = job.snapshot.endpoints.get(job.delivery.target.partition(":")[2])
        if endpoint is None and job.delivery.target in by_rule(job.snapshot, job.approval):
            raise Undelivered(Failure.NO_SUCH_TARGET)  # a rule means somebody who is not there
        entry = None if endpoint is None else _next(endpoint, job)
        if endpoint is None or entry is None:
            return None
        standing = _standing(job.snapshot.authority, job.approval)
        body = encode(message(job.approval, entry, standing, with_input=endpoint.with_input))
        if len(body) > self._body_max_bytes:
            raise Undelivered(Failure.TOO_LARGE)
        await self._signed(endpoint, message_id(endpoint, job.approval, entry), body)
        return Sent(covered=entry.seq)

    async def try_out(self, endpoint: Endpoint) -> str:
        """Send an endpoint a message that is about nothing; its id.

        Raises:
            Undelivered: It did not take it.
        """
        at = rfc3339(self._clock.now_ms())
        data = WebhookTestDataView(tenant=endpoint.tenant, webhook=endpoint.name)
        named = f"msg_{token_hex(_ID_CHARS // 2)}"
        await self._signed(endpoint, named, encode(WebhookTestView(type=TEST_TYPE, timestamp=at, data=data)))
        return named

    async def _signed(self, endpoint: Endpoint, named: str, body: bytes) -> None:
        secrets = signing_secrets(self._ring.sealer, endpoint)
        signed = headers(secrets, named, self._clock.now_ms() // 1_000, body)
        await self._post.send(endpoint.url, signed, body)


def message_id(endpoint: Endpoint, approval: Approval, entry: TrailEntry) -> str:
    """The id of a message, which no other ever has.

    An approval's own id may be used again once its record is forgotten; the nonce of its creation is not.
    """
    place = (endpoint.tenant, endpoint.name, approval.ask.id, approval.nonce.hex(), entry.seq)
    return f"msg_{sha256(encode(place)).hexdigest()[:_ID_CHARS]}"


def message(approval: Approval, entry: TrailEntry, standing: Standing, *, with_input: bool) -> WebhookView:
    """What a message says.

    Args:
        approval: As it is now.
        entry: What happened to it.
        standing: How it stands.
        with_input: Whether inputs are sent.
    """
    sight = Sight.WHOLE if with_input else Sight.FRAME
    return WebhookView(
        type=f"{TYPE_PREFIX}{entry.type}",
        timestamp=rfc3339(entry.at_ms),
        data=WebhookDataView(event=trail_view(entry, sight), approval=record_view(approval, sight, standing)),
    )


def _next(endpoint: Endpoint, job: Job) -> TrailEntry | None:
    news = job.log[job.delivery.covered :]
    return next((entry for entry in news if entry.type in IN_STREAM and endpoint.hears(entry.type)), None)


def _standing(authority: Authority, approval: Approval) -> Standing:
    granted = approval.status is Status.APPROVED
    suspended = authority.judge_grant(approval.ask, Tally.of(approval)) if granted else None
    return standing_of(authority, approval, suspended)
