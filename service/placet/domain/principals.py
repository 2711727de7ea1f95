"""Who can call: service clients and approvers, and what each may do.

A principal comes from authentication only. What a client may do is its scopes; what an approver may
do is :mod:`placet.domain.policy`'s to say.
"""

import fnmatch
from enum import StrEnum

from msgspec import UNSET, Struct, UnsetType

from placet.domain.model import Risk
from placet.domain.patterns import matches
from placet.domain.vouched import Vouched


class Scope(StrEnum):
    """What a service client may do."""

    REQUEST = "request"
    CONSUME = "consume"
    READ = "read"
    READ_INPUT = "read_input"
    DECIDE_AS = "decide_as"
    ADMIN = "admin"


class Key(Struct, frozen=True, kw_only=True):
    """One live secret of a principal, as kept: its id and the SHA-256 of the secret, lower-case hex."""

    kid: str
    sha256: str
    created_at_ms: int


class Client(Struct, frozen=True, kw_only=True, tag_field="type", tag="client"):
    """A service: an agent runtime, a tool server, a bridge from a chat.

    ``owners`` are the people behind it, who may not approve what it asks. ``capabilities`` are the
    patterns (``orders.*``) it may ask for; none means any. A ``decide_as`` client speaks for these ``people``
    and whoever is in one of these ``groups``, up to ``max_risk``.
    """

    tenant: str
    name: str
    scopes: frozenset[Scope]
    owners: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    max_risk: Risk | None = None
    keys: tuple[Key, ...] = ()

    @property
    def field(self) -> str:
        """Where the store keeps it."""
        return f"client:{self.name}"

    def may(self, scope: Scope) -> bool:
        """Whether it holds ``scope``."""
        return scope in self.scopes

    def may_ask_for(self, capability: str) -> bool:
        """Whether its patterns allow asking for ``capability`` (case matters, ``*`` spans dots)."""
        return not self.capabilities or any(
            fnmatch.fnmatchcase(capability, pattern) for pattern in self.capabilities
        )

    def sees(self) -> bool:
        """Whether it may see records of the tenant that it is no party to."""
        return bool(self.scopes & {Scope.READ, Scope.READ_INPUT, Scope.ADMIN})


class Approver(Struct, frozen=True, kw_only=True, tag_field="type", tag="approver"):
    """A person with a credential of their own, or with the word of an OIDC issuer (``vouched``)."""

    tenant: str
    id: str
    display_name: str | None = None
    groups: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()
    vouched: Vouched | UnsetType = UNSET

    @property
    def field(self) -> str:
        """Where the store keeps it, if it has a credential of its own."""
        return f"approver:{self.id}"


class Endpoint(Struct, frozen=True, kw_only=True, tag_field="type", tag="webhook"):
    """Where a tenant's events are sent, signed.

    Attributes:
        tenant: Whose.
        name: How rules (``tell = ["webhook:<name>"]``) and commands call it.
        url: Where.
        events: The event types that it hears of; none means all.
        capabilities: The patterns of those that it hears of; none means any.
        clients: The patterns of the clients whose questions it hears of; none means any.
        by_rule: It hears of nothing but what a rule tells it.
        with_input: Inputs are sent too, and whatever else is bound.
        keys: What its signing secrets are made of: two while they are rotated.
    """

    tenant: str
    name: str
    url: str
    events: frozenset[str] = frozenset()
    capabilities: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    by_rule: bool = False
    with_input: bool = False
    keys: tuple[Key, ...] = ()

    @property
    def field(self) -> str:
        """Where the store keeps it."""
        return f"webhook:{self.name}"

    def hears(self, event: str) -> bool:
        """Whether it is told of events of a type."""
        return not self.events or event in self.events

    def hears_of(self, capability: str, client: str) -> bool:
        """Whether it is for what a client asks."""
        return (not self.capabilities or matches(capability, self.capabilities)) and (
            not self.clients or matches(client, self.clients)
        )


Principal = Client | Approver
Enrolled = Client | Approver | Endpoint
"""Whatever a tenant's roll has a row for."""

CONFLICTING_SCOPES = frozenset({Scope.REQUEST, Scope.CONSUME})
"""Scopes that a ``decide_as`` client can't hold: who speaks for approvers neither asks nor spends."""


def faults_of(client: Client) -> list[str]:
    """What is wrong with a client as configured, each a sentence that says what to change."""
    faults = []
    if not client.scopes:
        faults.append("A client needs at least one scope: " + ", ".join(Scope) + ".")
    speaks = client.may(Scope.DECIDE_AS)
    if speaks and client.scopes & CONFLICTING_SCOPES:
        faults.append("A decide_as client can't hold request or consume: create two clients.")
    if speaks and (not (client.people or client.groups) or client.max_risk is None):
        faults.append("A decide_as client needs --people or --groups (whom it speaks for) and --max-risk.")
    if not speaks and (client.people or client.groups or client.max_risk is not None):
        faults.append("--people, --groups and --max-risk are for clients with the scope decide_as.")
    return faults
