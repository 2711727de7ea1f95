"""Voters: whoever wants to decide, as what they came in with makes them, and through which channel."""

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from placet.domain.model import Person
from placet.domain.people import Member
from placet.domain.principals import Client
from placet.domain.rules import Approvers
from placet.domain.vouched import StepUp, Vouched

CHANNEL_API: Final = "api"
"""The channel of a bearer credential; a bridge's channel is its own name."""
CHANNEL_WEB: Final = "web"
CHANNEL_SLACK: Final = "slack"
OWN_CHANNELS: Final = frozenset({CHANNEL_API, CHANNEL_WEB, CHANNEL_SLACK})
"""The channels that are Placet's own; a bridge that is called so is no way into one."""


class Voter(Struct, frozen=True, kw_only=True):
    """Somebody who wants to decide, resolved from whatever they came in with.

    Attributes:
        person: As records show them.
        key: What tells them from others, whichever way they come in.
        groups: Those that count for them.
        is_member: Whether the directory knows them.
        channel: Through which they came.
        bridge: The client that speaks for them, if one does.
        also: Keys of whatever other systems call them. They count against the person, never for them.
        mistakable: Whether somebody else in the directory goes by such a name.
        vouched: The word of the issuer by whose token they came.
        step_up: The sign-in that they did for this very decision.
    """

    person: Person
    key: str
    groups: frozenset[str]
    is_member: bool
    channel: str
    bridge: Client | None = None
    also: frozenset[str] = frozenset()
    mistakable: bool = False
    vouched: Vouched | UnsetType = UNSET
    step_up: StepUp | UnsetType = UNSET

    @property
    def names(self) -> frozenset[str]:
        """Keys of whatever anybody calls them."""
        return self.also | {self.key}


def elsewhere(member: Member | None, word: Vouched | UnsetType) -> Iterable[str]:
    """What other systems call a person: issuers and Slack their user, an issuer also by other names."""
    if word is not UNSET:
        yield from (word.sub, *word.aliases)
    if member is not None:
        yield from (subject.sub for subject in member.subjects)
        yield from (slack.user for slack in member.slack)


def includes(among: Approvers, voter: Voter, called: frozenset[str] = frozenset()) -> bool:
    """Whether a person is one of these, or in a group that was ``called`` in addition."""
    return voter.person.id in among.people or not voter.groups.isdisjoint(among.groups | called)


def is_named(voter: Voter) -> bool:
    """Whether the bridge that speaks for a person was made for them."""
    bridge = voter.bridge
    return bridge is not None and (
        voter.person.id in bridge.people or not voter.groups.isdisjoint(bridge.groups)
    )
