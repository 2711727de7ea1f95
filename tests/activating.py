"""What tests of the rules in force share: their rules, and a look at what a replica knows."""

from collections.abc import Awaitable, Callable

from msgspec import structs

from placet.store.principals import Roll
from tests.harness import Harness, Party, holder
from tests.rulefiles import POLICY

UNAVAILABLE = (503, "STORE_UNAVAILABLE")
NO_RULE = (403, "FORBIDDEN", "no-rule")
MAIL = POLICY.replace('"*"', '"mail.*"')
"""Rules under which no order is refunded."""
PAIR = POLICY + "quorum = 2\n"

Replica = Callable[..., Awaitable[Harness]]


def revision(number: int, text: str) -> str:
    """A file with a revision."""
    return f"revision = {number}\n{text}"


async def roll(h: Harness, tenant: str = "default") -> Roll:
    """What the store has of a tenant."""
    return structs.replace((await h.services.directory.roll(tenant))[0], now_ms=0)


async def faults(h: Harness) -> list[str]:
    """Why the replica is not ready."""
    return await h.services.readiness.faults()


def at(h: Harness, party: Party) -> Party:
    """The same one, before another replica."""
    return holder(h, party.name, party.credential)
