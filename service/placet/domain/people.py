"""People, as the operator's directory knows them: who somebody is, whichever way they come in.

1. A person belongs to one tenant and has one id there. Credentials, (issuer, subject) pairs and (Slack
   team, user) pairs lead to a person; each leads to one at most.
2. Aliases (e-mail addresses, names in other systems) lead nowhere: they only ever take away. Whoever is
   the actor under any alias can't approve, and nobody counts twice under two.
3. Whoever is not in the directory is known by their id alone.

Ids and aliases are compared folded (:mod:`placet.domain.identity`).
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from placet.domain.identity import fold

Path = tuple[str | int, ...]
"""Where in a file: names of members and positions in lists."""


class Fault(Struct, frozen=True, kw_only=True):
    """What is wrong at a place in a file, as a sentence that says what to write instead."""

    path: Path
    message: str


class Subject(Struct, frozen=True, kw_only=True):
    """A person as an OIDC issuer names them (OpenID Connect Core §2): ``iss`` and ``sub`` together."""

    iss: str
    sub: str


class SlackUser(Struct, frozen=True, kw_only=True):
    """A person as Slack names them: ``T…`` or ``E…``, and ``U…`` or ``W…``."""

    team: str
    user: str


class Member(Struct, frozen=True, kw_only=True):
    """A person in the directory. ``owns`` are the service actors that act on their responsibility."""

    tenant: str
    id: str
    name: str | None = None
    groups: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()
    subjects: tuple[Subject, ...] = ()
    slack: tuple[SlackUser, ...] = ()
    owns: tuple[str, ...] = ()

    def names(self) -> Iterator[str]:
        """Every name the person goes by, folded."""
        return map(fold, (self.id, *self.aliases))


class People:
    """The directory, indexed.

    Args:
        members: Without faults (:func:`faults_of`).
    """

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self.members = tuple(members)
        self._named: Mapping[tuple[str, str], Member] = {
            (member.tenant, name): member for member in self.members for name in member.names()
        }
        self._identified: Mapping[tuple[str, str], Member] = {
            (member.tenant, fold(member.id)): member for member in self.members
        }
        self._subjects = {subject: member for member in self.members for subject in member.subjects}
        self._slack = {user: member for member in self.members for user in member.slack}

    def member(self, tenant: str, person_id: str) -> Member | None:
        """The person with this id; an alias is none."""
        return self._identified.get((tenant, fold(person_id)))

    def by_subject(self, subject: Subject) -> Member | None:
        """The person whom an issuer calls so."""
        return self._subjects.get(subject)

    def by_slack(self, user: SlackUser) -> Member | None:
        """The person whom Slack calls so."""
        return self._slack.get(user)

    def key(self, tenant: str, name: str) -> str:
        """What tells this person from others: the same for every id and alias of theirs."""
        known = self._named.get((tenant, fold(name)))
        return fold(name if known is None else known.id)

    def owners_of(self, tenant: str, actors: Iterable[str]) -> set[str]:
        """The ids of those who own one of these service actors."""
        folded = {fold(actor) for actor in actors}
        return {
            member.id
            for member in self.members
            if member.tenant == tenant and not folded.isdisjoint(map(fold, member.owns))
        }

    def groups(self, tenant: str) -> set[str]:
        """Every group that somebody is in."""
        return {group for member in self.members if member.tenant == tenant for group in member.groups}


def faults_of(members: Iterable[Member]) -> list[Fault]:
    """What makes it unclear who somebody is; paths begin at the list of members."""
    faults: list[Fault] = []
    named: dict[tuple[str, str], Member] = {}
    led_to: dict[Subject | SlackUser, Member] = {}
    for place, member in enumerate(members):
        for number, name in enumerate((member.id, *member.aliases)):
            other = named.setdefault((member.tenant, fold(name)), member)
            if other is not member:
                path: Path = (place, "id") if number == 0 else (place, "aliases", number - 1)
                faults.append(
                    Fault(path=path, message=f"{other.id} goes by this name already: give it to one of them.")
                )
        pairs: list[tuple[str, int, Subject | SlackUser]] = [
            *(("oidc", number, pair) for number, pair in enumerate(member.subjects)),
            *(("slack", number, pair) for number, pair in enumerate(member.slack)),
        ]
        for kind, number, pair in pairs:
            other = led_to.setdefault(pair, member)
            if other is not member:
                message = f"This leads to {other.id} already: it can lead to one person only."
                faults.append(Fault(path=(place, kind, number), message=message))
    return faults
