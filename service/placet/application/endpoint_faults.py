"""What is wrong with a webhook endpoint as an operator wants it."""

import re
from collections.abc import Iterator
from typing import Final

from placet.channels.webhooks.addresses import Networks
from placet.channels.webhooks.urls import fault_of
from placet.domain.events import IN_STREAM, EventType
from placet.domain.limits import ID_PATTERN
from placet.domain.principals import Endpoint

PATTERN: Final = re.compile("[!-~]{1,200}")
"""A capability, and * for any characters."""
EVENTS: Final = tuple(event.value for event in EventType if event in IN_STREAM)
"""What an endpoint can hear of."""


def faults_of(endpoint: Endpoint, allowed: Networks) -> Iterator[str]:
    """Its faults, each a sentence that says what to change.

    Args:
        endpoint: As configured.
        allowed: The networks that endpoints may be in besides public ones.
    """
    if not re.fullmatch(ID_PATTERN, endpoint.name):
        yield "A webhook's name is 1 to 128 of A-Z, a-z, 0-9 and ._:-, led by a letter or digit."
    fault = fault_of(endpoint.url, allowed=allowed)
    if fault is not None:
        yield f"Its URL {fault}{_settable(fault)}."
    unknown = sorted(endpoint.events.difference(EVENTS))
    if unknown:
        yield f"{unknown[0]!r} is no event; there are {', '.join(EVENTS)}."
    for patterns, what in ((endpoint.capabilities, "capability"), (endpoint.clients, "client")):
        for pattern in patterns:
            if not PATTERN.fullmatch(pattern):
                yield f"{pattern!r} is no {what} pattern: use visible ASCII, * for any characters."


def _settable(fault: str) -> str:
    return " (PLACET_WEBHOOK_ALLOW, here as for the service)" if fault.endswith("is allowed") else ""
