"""People, as the operator's directory knows them: who somebody is, whichever way they come in.

1. A person belongs to one tenant and has one id there. Credentials, (issuer, subject) pairs and (Slack
   team, user) pairs lead to a person; each leads to one at most.
2. Aliases (e-mail addresses, names in other systems) lead nowhere: they only ever take away. Whoever is
   the actor under any alias can't approve, and nobody counts twice under two.
3. Whoever is not in the directory is known by their id alone.
4. To take away, names are compared folded (:mod:`placet.domain.identity`); to grant, byte for byte.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final

from msgspec import Struct

from placet.domain.identity import fold

DEFAULT_ALGORITHMS: Final = ("ES256", "RS256", "EdDSA")
"""What a token may be signed with where the directory names nothing else (RFC 7518 §3.1, RFC 8037 §3.1)."""

DEFAULT_TYPES: Final = ("at+jwt", "JWT")
"""What a token's ``typ`` may be where the directory names nothing else (RFC 9068 §2.1, RFC 7519 §5.1)."""

DEFAULT_SCOPES: Final = ("profile", "email")
"""What is asked of an issuer besides ``openid`` where the directory names nothing else (OIDC Core §5.4)."""

STRANGER_PREFIX: Final = "oidc:"
_ID_HEX_CHARS: Final = 32  # 128 bits: nobody finds a second subject with the same id

Path = tuple[str | int, ...]
"""Where in a file: names of members and positions in lists."""


class Fault(Struct, frozen=True, kw_only=True):
    """What is wrong at a place in a file, as a sentence that says what to write instead.

    One that ``warns`` keeps nothing from being used. ``unsure`` is what reads as if it were not there because
    of it, where that is not the place itself.
    """

    path: Path
    message: str
    warns: bool = False
    unsure: tuple[Path, ...] | None = None

    @property
    def hidden(self) -> tuple[Path, ...]:
        """The places of which nobody knows what their author means."""
        return (self.path,) if self.unsure is None else self.unsure


class SignIn(Struct, frozen=True, kw_only=True):
    """How an issuer signs people in on the pages (OpenID Connect Core §3.1).

    Attributes:
        name: How the pages call it in their addresses: ``/signin/<name>`` is where it sends people back to.
        client_id: How it calls this service.
        client_secret_file: Where the secret is that proves this service to it; ``None`` where there is none.
        label: What a person knows it by.
        scopes: What is asked of it, besides ``openid``.
        acr_values: What a sign-in for one decision has to be, any of them; empty where any fresh one will do.
    """

    name: str
    client_id: str
    client_secret_file: str | None = None
    label: str = ""
    scopes: tuple[str, ...] = DEFAULT_SCOPES
    acr_values: tuple[str, ...] = ()


class Issuer(Struct, frozen=True, kw_only=True):
    """An OIDC issuer that says who people of one tenant are: by tokens that are credentials, or on the pages.

    Attributes:
        iss: Its identifier, compared byte for byte (OpenID Connect Core §2).
        tenant: Whose people it names.
        audience: What a token's one ``aud`` must be; ``None`` where its tokens are no credentials.
        algorithms: Those a token may be signed with; asymmetric ones only.
        types: The ``typ`` headers a token may carry, compared without regard to case (RFC 7515 §4.1.9).
        jwks_url: Where its keys are; ``None`` to find them by discovery.
        groups_claim: The claim that lists a person's groups; ``None`` where its tokens say nothing of them.
        name_claim: The claim a person is called by.
        email_authoritative: Whether an address that it says is verified is an alias that leads to a person.
        sign_in: How it signs people in on the pages; ``None`` where it does not.
    """

    iss: str
    tenant: str
    audience: str | None = None
    algorithms: tuple[str, ...] = DEFAULT_ALGORITHMS
    types: tuple[str, ...] = DEFAULT_TYPES
    jwks_url: str | None = None
    groups_claim: str | None = None
    name_claim: str = "name"
    email_authoritative: bool = False
    sign_in: SignIn | None = None


class Subject(Struct, frozen=True, kw_only=True):
    """A person as an OIDC issuer names them (OpenID Connect Core §2): ``iss`` and ``sub`` together."""

    iss: str
    sub: str

    @property
    def stranger_id(self) -> str:
        """The id of whom the directory does not know: opaque, of one length, the same for good."""
        digest = sha256(f"{self.iss}\0{self.sub}".encode()).hexdigest()
        return STRANGER_PREFIX + digest[:_ID_HEX_CHARS]


class SlackUser(Struct, frozen=True, kw_only=True):
    """A person as Slack names them: ``T…`` or ``E…``, and ``U…`` or ``W…``."""

    team: str
    user: str

    @property
    def text(self) -> str:
        """Both in one word: what a vote names as shown."""
        return f"{self.team}/{self.user}"


class Member(Struct, frozen=True, kw_only=True):
    """A person in the directory. ``owns`` are the services and clients that act on their responsibility."""

    tenant: str
    id: str
    name: str | None = None
    groups: frozenset[str] = frozenset()
    aliases: tuple[str, ...] = ()
    subjects: tuple[Subject, ...] = ()
    slack: tuple[SlackUser, ...] = ()
    owns: tuple[str, ...] = ()

    def spelled(self) -> tuple[str, ...]:
        """Every name the person goes by, as the directory writes it."""
        return (self.id, *self.aliases)

    def names(self) -> Iterator[str]:
        """Every name the person goes by, folded; what they were called while nobody knew them included."""
        strangers = (subject.stranger_id for subject in self.subjects)
        return map(fold, (self.id, *self.aliases, *strangers))


class People:
    """The directory, indexed.

    Args:
        members: Without faults (:func:`faults_of`).
    """

    def __init__(self, members: Iterable[Member] = ()) -> None:
        self.members = tuple(members)
        self._identified = {(member.tenant, member.id): member for member in self.members}
        self._folded = {(member.tenant, fold(member.id)): member for member in self.members}
        self._keys = {
            (member.tenant, name): fold(member.id) for member in self.members for name in member.names()
        }
        self._named = {(member.tenant, name): member for member in self.members for name in member.spelled()}
        self._subjects = {pair: member for member in self.members for pair in member.subjects}
        self._slack = {pair: member for member in self.members for pair in member.slack}
        self._owners: dict[tuple[str, str], set[str]] = {}
        for member in self.members:
            for owned in member.owns:
                self._owners.setdefault((member.tenant, fold(owned)), set()).add(fold(member.id))

    def member(self, tenant: str, person_id: str) -> Member | None:
        """The person with exactly this id: no alias and no other spelling leads to anybody's rights."""
        return self._identified.get((tenant, person_id))

    def named(self, tenant: str, name: str) -> Member | None:
        """The person with exactly this id or alias. For what an authority has verified, and nothing else."""
        return self._named.get((tenant, name))

    def knows(self, tenant: str, name: str) -> bool:
        """Whether somebody goes by this name, however it is spelled."""
        return (tenant, fold(name)) in self._keys

    def by_subject(self, subject: Subject) -> Member | None:
        """The person whom an issuer calls so."""
        return self._subjects.get(subject)

    def by_slack(self, user: SlackUser) -> Member | None:
        """The person whom Slack calls so."""
        return self._slack.get(user)

    def key(self, tenant: str, name: str) -> str:
        """What tells this person from others: the same for every id, alias and spelling of theirs."""
        folded = fold(name)
        return self._keys.get((tenant, folded), folded)

    def names_of(self, tenant: str, keys: Iterable[str]) -> set[str]:
        """Every name of those among these keys who are in the directory."""
        members = (self._folded.get((tenant, key)) for key in keys)
        return {name for member in members if member is not None for name in member.names()}

    def owners_of(self, tenant: str, names: Iterable[str]) -> set[str]:
        """The keys of those who own one of these services."""
        return {owner for name in names for owner in self._owners.get((tenant, fold(name)), ())}

    def of(self, tenant: str) -> tuple[Member, ...]:
        """Those of one tenant."""
        return tuple(member for member in self.members if member.tenant == tenant)

    def tenants(self) -> list[str]:
        """Every tenant that somebody belongs to, in order of their names."""
        return sorted({member.tenant for member in self.members})


def faults_of(placed: Mapping[Path, Member], issuers: Mapping[str, Issuer]) -> Iterator[Fault]:
    """What makes it unclear who somebody is.

    Args:
        placed: The people, by where each is in the file.
        issuers: By ``iss``.
    """
    named: dict[tuple[str, str], Member] = {}
    led_to: dict[Subject | SlackUser, Member] = {}
    for place, member in placed.items():
        for step, name in _named(member):
            other = named.setdefault((member.tenant, fold(name)), member)
            if other is not member:
                yield Fault(path=(*place, *step), message=_in_common(name, member, other))
        for step, pair in _pairs(member):
            other = led_to.setdefault(pair, member)
            if other is not member:
                message = f"This leads to {other.id!r} already, and may lead to one person only: remove one."
                yield Fault(path=(*place, *step), message=message)
            if isinstance(pair, Subject):
                yield from _faults_of_subject((*place, *step, "iss"), pair, member, issuers)
    for place, member in placed.items():
        for number, owned in enumerate(member.owns):
            owner = named.get((member.tenant, fold(owned)))
            if owner is not None:
                yield Fault(path=(*place, "owns", number), message=_owned(owned, owner, member))


def _named(member: Member) -> Iterator[tuple[Path, str]]:
    yield ("id",), member.id
    for number, alias in enumerate(member.aliases):
        yield ("aliases", number), alias


def _pairs(member: Member) -> Iterator[tuple[Path, Subject | SlackUser]]:
    for number, subject in enumerate(member.subjects):
        yield ("oidc", number), subject
    for number, user in enumerate(member.slack):
        yield ("slack", number), user


def _in_common(name: str, member: Member, other: Member) -> str:
    is_id, is_other_s_id = (fold(name) == fold(each.id) for each in (member, other))
    if is_id and is_other_s_id:
        if name == other.id:
            return f"{name!r} is in the directory already: put both entries into one."
        return (
            f"{name!r} is another spelling of {other.id!r}: one person has one entry. Is it somebody else? "
            "Then give them an id that can't be mistaken."
        )
    if is_other_s_id:
        whose, remedy = f"is somebody else's id{_spelled(other, name)}", f"the aliases of {member.id!r}"
    elif is_id:
        whose, remedy = f"is an alias of {other.id!r}", f"the aliases of {other.id!r}"
    else:
        whose, remedy = f"is an alias of {other.id!r} already", "one of them"
    return f"{name!r} {whose}, and one name means one person: remove it from {remedy}."


def _owned(name: str, owner: Member, member: Member) -> str:
    whose = "this person's own name" if owner is member else f"a person here{_spelled(owner, name)}"
    return f"{name!r} is {whose}, and owns is for services and clients: remove it."


def _spelled(member: Member, name: str) -> str:
    """How the directory calls somebody, where that was not said already."""
    return "" if name == member.id else f" ({member.id!r})"


def _faults_of_subject(
    path: Path, subject: Subject, member: Member, issuers: Mapping[str, Issuer]
) -> Iterator[Fault]:
    issuer = issuers.get(subject.iss)
    if issuer is None:
        known = f"there are {', '.join(map(repr, issuers))}" if issuers else "there are none"
        message = f'There is no [issuers."{subject.iss}"] ({known}): write it as there, byte for byte.'
        yield Fault(path=path, message=message)
    elif issuer.tenant != member.tenant:
        message = (
            f"This issuer is of tenant {issuer.tenant!r}, {member.id!r} of {member.tenant!r}: "
            "an issuer names people of its own tenant only."
        )
        yield Fault(path=path, message=message)
