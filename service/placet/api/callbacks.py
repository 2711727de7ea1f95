"""Callbacks: calls that come with a signature over their body in place of a credential.

They are in no route table for callers: nobody but the system that signs them makes one.
"""

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from placet.api import bodies
from placet.api.bodies import Header, Receive
from placet.api.call import JSON, Answer
from placet.api.operations import UseCases
from placet.channels.slack.signing import SIGNATURE_HEADER, TIMESTAMP_HEADER
from placet.domain.limits import SLACK_BODY_MAX_BYTES

_TEXT = b"text/plain; charset=utf-8"


class Arrival(Struct, frozen=True, kw_only=True):
    """A callback that has come, and is not proven yet.

    ``header`` gives a header, and the empty text for one that is there twice; ``began_s`` is when it came, on
    the clock's ``monotonic_s``.
    """

    path: Mapping[str, str]
    header: Header
    receive: Receive
    began_s: float


Take = Callable[[UseCases, Arrival], Awaitable[Answer]]


class Callback(Struct, frozen=True, kw_only=True):
    """One callback: where it comes in, and what takes it."""

    method: str
    path: str
    name: str
    take: Take


async def slack(use: UseCases, arrival: Arrival) -> Answer:
    """``POST /v1/callbacks/slack``."""
    body = await bodies.read(
        arrival.receive, arrival.header, SLACK_BODY_MAX_BYTES, optional=False, media=bodies.FORM
    )
    said = await use.slack(
        body, arrival.header(TIMESTAMP_HEADER), arrival.header(SIGNATURE_HEADER), arrival.began_s
    )
    return Answer(status=200, body=said, content_type=JSON if said else _TEXT)


CALLBACKS: tuple[Callback, ...] = (
    Callback(method="POST", path="/v1/callbacks/slack", name="slack_callback", take=slack),
)
