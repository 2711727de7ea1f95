"""What there is to do about each way in which a delivery fails: one table, for command line and README."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from placet.domain.deliveries import HOPELESS, Failure

REMEDIES: Final[Mapping[Failure, str]] = MappingProxyType(
    {
        Failure.UNREACHABLE: (
            "Nobody is there: no connection, or it broke; a certificate that is not good; a 404. Look "
            "whether the receiver runs and is reached from where the service is; SSL_CERT_FILE names "
            "authorities of your own."
        ),
        Failure.TIMEOUT: (
            "The receiver took too long. A webhook has ten seconds: it should take a message first, "
            "and work on it afterwards."
        ),
        Failure.RATE_LIMITED: (
            "The receiver asks for patience (429), and is left alone for as long as it says."
        ),
        Failure.SERVER_ERROR: ("The receiver has a fault of its own (5xx); its log says more."),
        Failure.REFUSED: (
            "The receiver does not take it: a 4xx, a redirect, which is never followed, or what Slack "
            "calls invalid. Mend the receiver or its address."
        ),
        Failure.CREDENTIAL: (
            "Our signature or token does not count there (401, 403), or can't be read. Give the "
            "webhook's receiver the secret that `placet webhooks rotate` shows; of Slack, look at the "
            "app's token and scopes."
        ),
        Failure.NO_SUCH_TARGET: (
            "There is no such channel, person or address, or none that we may write to. Mend what the "
            "rule's `tell` says, or let the Slack app into the channel."
        ),
        Failure.FORBIDDEN_ADDRESS: (
            "The address is not public, or plain http would leave this network. If it is meant to be "
            "reached, name its network in PLACET_WEBHOOK_ALLOW."
        ),
        Failure.TOO_LARGE: (
            "The message is larger than is sent or taken. Without `--with-input` it is small; or let "
            "the receiver take more."
        ),
        Failure.UNREADABLE: (
            "The record can't be read, or something failed that should not. The service's log says more."
        ),
        Failure.INTERRUPTED: ("The process that tried it is gone. If that happens again, its log says why."),
    }
)
"""By failure: what it means, and what to do."""


def remedy(failure: Failure) -> str:
    """What it means and what to do, and whether it is tried again by itself."""
    then = "It is not tried again by itself." if failure in HOPELESS else "It is tried again by itself."
    return f"{REMEDIES[failure]} {then}"


def markdown_table() -> str:
    """The same for the README."""
    again = {failure: "no" if failure in HOPELESS else "yes" for failure in Failure}
    rows = [f"| `{failure}` | {REMEDIES[failure]} | {again[failure]} |" for failure in Failure]
    return "\n".join(("| why | what to do | tried again by itself |", "|---|---|---|", *rows, ""))
