"""Who is who in a tenant, as of one epoch: the principals and the operator's directory together.

Whatever somebody comes in with is resolved to one person here, and every name that is known of them leads to
the same key. What a person may do is :mod:`placet.domain.authority`'s to say.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import UNSET, Struct, structs

from placet.domain.identity import fold
from placet.domain.last_words import LastWords
from placet.domain.model import Ask, Person, Vote
from placet.domain.people import Issuer, Member, People
from placet.domain.principals import Approver, Client, Principal
from placet.domain.tally import Tally
from placet.domain.voters import (
    CHANNEL_API,
    CHANNEL_SLACK,
    CHANNEL_WEB,
    OWN_CHANNELS,
    Voter,
    elsewhere,
)
from placet.domain.vouched import Vouched


class Identities(Struct, frozen=True, kw_only=True):
    """Everybody of one tenant.

    Attributes:
        tenant: Whose they are.
        clients: Those with a live credential, by name.
        approvers: Those with a live credential, by id.
        people: The operator's directory.
        issuers: Those that say who people are, by ``iss``; only those of this tenant count.
        in_slack: Whether people are asked in Slack, through an app of the tenant's.
        retired: Clients without a live credential: their owners still stand behind what they do.
    """

    tenant: str
    clients: Mapping[str, Client]
    approvers: Mapping[str, Approver]
    people: People
    issuers: Mapping[str, Issuer] = MappingProxyType({})
    in_slack: bool = False
    retired: tuple[Client, ...] = ()

    @property
    def sign_ins(self) -> tuple[Issuer, ...]:
        """The issuers that sign people of this tenant in on the pages."""
        return tuple(
            issuer
            for issuer in self.issuers.values()
            if issuer.tenant == self.tenant and issuer.sign_in is not None
        )

    def vouched(self, word: Vouched, name: str | None = None) -> Approver | None:
        """Whoever an issuer vouches for; ``None`` where its word is not, or no more, worth anything here.

        An address leads to a member only where the directory does not say who they are to this issuer: else
        whoever got a colleague's old address would be that colleague.
        """
        issuer = self.issuers.get(word.iss)
        if issuer is None or issuer.tenant != self.tenant:
            return None
        member = self.people.by_subject(word.subject)
        if member is None and issuer.email_authoritative and word.email is not None:
            addressed = self.people.named(self.tenant, word.email)
            if addressed is not None and all(known.iss != word.iss for known in addressed.subjects):
                member = addressed
        if member is None:
            return Approver(
                tenant=self.tenant, id=word.stranger_id, display_name=name, groups=word.groups, vouched=word
            )
        if member.tenant != self.tenant:
            return None
        return Approver(
            tenant=self.tenant,
            id=member.id,
            display_name=member.name,
            vouched=structs.replace(word, groups=()),  # the directory's are the member's
        )

    def voter(self, principal: Principal, named: str = "", channel: str = CHANNEL_API) -> Voter:
        """Whoever is behind a caller: the caller itself, or the person that a bridge names.

        A person comes through ``channel``; a bridge is one.

        A member's groups are the directory's; those of a credential count for whoever is none.
        """
        bridge = principal if isinstance(principal, Client) else None
        if bridge is not None:
            channel = f"bridge:{bridge.name}" if bridge.name in OWN_CHANNELS else bridge.name
        person_id = named if isinstance(principal, Client) else principal.id
        credential = self.approvers.get(person_id) if isinstance(principal, Client) else principal
        member = self.people.member(self.tenant, person_id)
        known_as = member.name if member is not None else credential and credential.display_name
        groups = frozenset(credential.groups) if credential is not None else frozenset()
        key = self.people.key(self.tenant, person_id)
        word = UNSET if isinstance(principal, Client) else principal.vouched
        said: tuple[str, ...] = ()
        if word is not UNSET:
            said = word.aliases if member is not None else (word.sub, *word.aliases)
        return Voter(
            person=Person(id=person_id if member is None else member.id, display_name=known_as or None),
            key=key,
            groups=groups if member is None else member.groups,
            is_member=member is not None,
            channel=channel,
            bridge=bridge,
            also=frozenset(self.people.key(self.tenant, name) for name in elsewhere(member, word)),
            mistakable=any(self.people.key(self.tenant, name) != key for name in self._known(said)),
            vouched=word,
        )

    def _known(self, names: Iterable[str]) -> Iterable[str]:
        return (name for name in names if self.people.knows(self.tenant, name))

    def is_requester(self, voter: Voter, ask: Ask) -> bool:
        """Whether the person is on the asking side, under any name that is known of them.

        That is: the actor, whoever it acts for, and the owners of both and of the asking client, those of
        today and those of when it asked. Whatever kind the asker says its actor is: a claim only ever takes
        rights away.
        """
        return not self.keys_of((*self._behind(ask), *ask.parties)).isdisjoint(voter.names)

    def parties(self, ask: Ask) -> tuple[str, ...]:
        """All that people of the directory who are on the asking side go by, in order."""
        return tuple(sorted(self.people.names_of(self.tenant, self.keys_of(self._behind(ask)))))

    def _behind(self, ask: Ask) -> tuple[str, ...]:
        """Whatever the asking side is called, as far as the question says it."""
        return (ask.actor.id, *ask.actor.on_behalf_of, ask.asked_by, *ask.owners, *self.owners(ask))

    def keys_of(self, names: Iterable[str]) -> set[str]:
        """The people of these names, and those who own what is called so."""
        names = tuple(names)
        people = {self.people.key(self.tenant, name) for name in names}
        return people | self.people.owners_of(self.tenant, names)

    def caster(self, vote: Vote) -> Voter:
        """Whoever cast a vote, as who they are today: the directory may have changed since.

        What they went by then still counts against them: who was taken out of the directory and comes back
        another way is no stranger to their own vote.
        """
        principal = None if vote.vouched is UNSET else self.vouched(vote.vouched)
        nobody_now = Approver(tenant=self.tenant, id=vote.approver.id, vouched=vote.vouched)
        voter = self.voter(principal or nobody_now)
        return structs.replace(
            voter, also=voter.also.union(self.people.key(self.tenant, name) for name in vote.names)
        )

    def names_of(self, voter: Voter) -> tuple[str, ...]:
        """All that somebody of the directory goes by, in order."""
        return tuple(sorted(self.people.names_of(self.tenant, (voter.key,))))

    def owners(self, ask: Ask) -> Iterable[str]:
        """The people behind the client that asked, and behind any client that the actor is or acts for."""
        actors = {fold(name) for name in (ask.actor.id, *ask.actor.on_behalf_of)}
        return (
            owner
            for client in (*self.clients.values(), *self.retired)
            if client.name == ask.asked_by or fold(client.name) in actors
            for owner in client.owners
        )

    def _are_one(self, name: str, other: str) -> bool:
        return self.people.key(self.tenant, name) == self.people.key(self.tenant, other)

    def last_words(self, tally: Tally) -> LastWords:
        """Everybody's, on the input as it is."""
        return LastWords(tally.since_changed, self.caster, self.behind)

    def behind(self, vote: Vote) -> Principal | None:
        """Who brought a vote in, where they could today: the bridge it came over, or the person."""
        person_id = vote.approver.id
        if vote.submitted_by is not None:
            return _showing(self.clients.get(vote.submitted_by), vote)
        if vote.vouched is not UNSET:
            principal = self.vouched(vote.vouched)
            return principal if principal is not None and self._are_one(principal.id, person_id) else None
        member = self.people.member(self.tenant, person_id)
        if vote.channel == CHANNEL_WEB:
            return self.signed_in(person_id)
        if vote.channel != CHANNEL_SLACK and person_id in self.approvers:
            return _showing(self.approvers[person_id], vote)
        # Over the API there is no other way in than a credential of one's own or an issuer's word.
        clicked = vote.channel == CHANNEL_SLACK and self.in_slack
        is_there = clicked and member is not None and _is_user(member, vote.credential)
        return Approver(tenant=self.tenant, id=person_id) if is_there else None

    def signed_in(self, person_id: str) -> Approver | None:
        """Whoever a link of this service signed in, where they are still somebody here."""
        member = self.people.member(self.tenant, person_id)
        nobody = None if member is None else Approver(tenant=self.tenant, id=member.id)
        return self.approvers.get(person_id, nobody)


def _is_user(member: Member, credential: str | None) -> bool:
    """Whether somebody has the account of Slack that they decided with, or any where that is not known."""
    return any(credential in {None, user.text} for user in member.slack)


def _showing(principal: Principal | None, vote: Vote) -> Principal | None:
    """Who cast a vote, where what they showed for it counts today: a revoked secret's votes are its own."""
    if principal is None or vote.credential is None:
        return principal
    return principal if any(key.kid == vote.credential for key in principal.keys) else None
