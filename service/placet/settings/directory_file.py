"""The directory file: who people are, whose tokens name them, and which chats they are asked in.

People are :class:`~placet.domain.people.Member`, issuers :class:`~placet.domain.people.Issuer`, chats
:class:`~placet.domain.chat.SlackApp`; what a file looks like shows ``deploy/directory.example.toml``.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from placet.domain.chat import SlackApp
from placet.domain.identity import check_id
from placet.domain.limits import DISPLAY_NAME_MAX_CHARS, TENANT_PATTERN
from placet.domain.people import (
    DEFAULT_ALGORITHMS,
    DEFAULT_SCOPES,
    DEFAULT_TYPES,
    Issuer,
    Member,
    Path,
    SignIn,
    SlackUser,
    Subject,
    faults_of,
)
from placet.settings import slack_tables
from placet.settings.parsing import is_safe_url
from placet.settings.remedies import meant
from placet.settings.tables import Table

ALGORITHMS: Final = (
    "ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512",
)  # fmt: skip
"""What a foreign token may be signed with: public keys only (RFC 8725 §3.1). With a shared secret, whoever
verifies can sign; with ``none``, anybody can."""

REVISION_MAX: Final = 2**53 - 1
GROUP_MAX_CHARS: Final = 200
_DEFAULT_TENANT: Final = "default"
_SUB_MAX_CHARS: Final = 255  # OpenID Connect Core §2
_SIGN_IN_NAME: Final = re.compile("[a-z0-9][a-z0-9-]{0,31}")
_SCOPE: Final = re.compile(r"[!#-\[\]-~]{1,100}")  # RFC 6749 §3.3; classes of contexts are spelled likewise
_CLIENT_ID: Final = re.compile(r"[ -~]{1,256}")  # RFC 6749 appendix A.1
_OPENID: Final = "openid"
_SLACK_TEAM: Final = re.compile(r"[TE][A-Z0-9]{1,31}")
_SLACK_USER: Final = re.compile(r"[UW][A-Z0-9]{1,31}")


class DirectoryFile(Struct, frozen=True, kw_only=True):
    """What a directory file says."""

    members: tuple[Member, ...] = ()
    issuers: Mapping[str, Issuer] = {}
    slack: Mapping[str, SlackApp] = {}
    revision: int = 0


def read(root: Table) -> DirectoryFile:
    """What a directory file says, as far as it is right; what is wrong is noted in its table."""
    revision = root.whole("revision", 1, REVISION_MAX)
    issuers = dict(_issuers(root))
    slack = {app.team: app for app in slack_tables.apps(root, _tenant)}
    members: dict[Path, Member] = {}
    for table in root.tables("people", "a person"):
        member = _member(table)
        if member is not None:
            members[table.path] = member
    root.end()
    for fault in faults_of(members, issuers):
        root.note(fault)
    return DirectoryFile(
        members=tuple(members.values()), issuers=issuers, slack=slack, revision=revision or 0
    )


def says_who_is_in(place: Path) -> bool:
    """Whether what stands at a place says who is in which group, as far as rules ask."""
    match place:
        case "people", int(), str(member), *_:
            return member in {"id", "groups", "tenant"}
        case "issuers", str(), str(member), *_:
            return member in {"groups_claim", "tenant"}
        case _:
            return place[:1] in {(), ("people",), ("issuers",)}


def says_who_is_told(place: Path) -> bool:
    """Whether what stands at a place says which chats there are."""
    return place[:1] in {(), ("slack",)}


def _issuers(root: Table) -> Iterator[tuple[str, Issuer]]:
    tables = root.table("issuers", "the table of issuers")
    if tables is None:
        return
    named: dict[str, str] = {}
    for iss in tables.names():
        table = tables.table(iss, "an issuer")
        if table is None:
            continue
        issuer = _issuer(iss, table)
        name = "" if issuer.sign_in is None else issuer.sign_in.name
        if name and named.setdefault(name, iss) != iss:
            table.fault(f"{named[name]!r} is called {name!r} already: choose another.", "sign_in", "name")
        yield iss, issuer


def _issuer(iss: str, table: Table) -> Issuer:
    if not is_safe_url(iss):
        table.fault(
            "An issuer is named by its identifier, which is https (or http on a loopback host) without query "
            'and fragment: write [issuers."https://…"], byte for byte as in its tokens.'
        )
    jwks_url = table.text("jwks_url")
    if jwks_url is not None and not is_safe_url(jwks_url, query=True):
        table.fault("Keys are fetched over https only, or http from a loopback host.", "jwks_url")
    algorithms = table.texts("algorithms") or DEFAULT_ALGORITHMS
    for place, algorithm in enumerate(algorithms):
        if algorithm not in ALGORITHMS:
            hint = meant(algorithm, ALGORITHMS) or f": write some of {', '.join(ALGORITHMS)}."
            table.fault(f"{algorithm!r} is not taken{hint}", "algorithms", place)
    if table.flag("clients"):
        table.fault("Programs are not people: give each a client of its own (`placet clients`).", "clients")
    issuer = Issuer(
        iss=iss,
        tenant=_tenant(table),
        audience=table.text("audience"),
        algorithms=algorithms,
        types=table.texts("types") or DEFAULT_TYPES,
        jwks_url=jwks_url,
        groups_claim=table.text("groups_claim"),
        name_claim=table.text("name_claim") or "name",
        email_authoritative=table.flag("email_authoritative") or False,
        sign_in=_sign_in(iss, table),
    )
    table.one_of("audience", "sign_in", otherwise="An issuer needs audience, or sign_in")
    table.end()
    return issuer


def _sign_in(iss: str, above: Table) -> SignIn | None:
    table = above.table("sign_in", "the table sign_in")
    if table is None:
        return None
    name, client_id, label = table.text("name"), table.text("client_id"), table.text("label")
    if name is not None and not _SIGN_IN_NAME.fullmatch(name):
        table.fault("A name has 32 letters a to z, digits and - at most: it stands in addresses.", "name")
    if client_id is not None and not _CLIENT_ID.fullmatch(client_id):
        table.fault("A client_id has 256 visible ASCII characters at most.", "client_id")
    if label is not None and (len(label) > DISPLAY_NAME_MAX_CHARS or not label.isprintable()):
        message = f"A label has {DISPLAY_NAME_MAX_CHARS} characters at most, none of them invisible."
        table.fault(message, "label")
    sign_in = SignIn(
        name=name or "",
        client_id=client_id or "",
        client_secret_file=table.text("client_secret_file"),
        label=label or iss.partition("://")[2].rstrip("/") or iss,
        scopes=tuple(word for word in _words(table, "scopes") or DEFAULT_SCOPES if word != _OPENID),
        acr_values=_words(table, "acr_values"),
    )
    complete = table.required("name", "client_id")
    table.end()
    return sign_in if complete and name is not None and client_id is not None else None


def _words(table: Table, member: str) -> tuple[str, ...]:
    """A list of words that are sent as one text, with blanks between them."""
    words = table.texts(member) or ()
    for place, word in enumerate(words):
        if not _SCOPE.fullmatch(word):
            table.fault(f"Each of {member} is one word of 100 visible ASCII characters.", member, place)
    return words


def _member(table: Table) -> Member | None:
    person_id = _name(table, "id")
    name = table.text("name")
    if name is not None and (len(name) > DISPLAY_NAME_MAX_CHARS or not name.isprintable()):
        message = f"A name has {DISPLAY_NAME_MAX_CHARS} characters at most, none of them invisible."
        table.fault(message, "name")
    complete = table.required("id")
    member = Member(
        tenant=_tenant(table),
        id=person_id or "",
        name=name,
        groups=frozenset(groups(table, "groups")),
        aliases=_names(table, "aliases"),
        subjects=tuple(_subjects(table)),
        slack=tuple(_slack(table)),
        owns=_names(table, "owns"),
    )
    table.end()
    return member if complete and person_id is not None else None


def _tenant(table: Table) -> str:
    tenant = table.text("tenant") or _DEFAULT_TENANT
    if not re.fullmatch(TENANT_PATTERN, tenant):
        table.fault("A tenant is 1 to 63 of a to z, 0 to 9 and -, led by a letter or digit.", "tenant")
    return tenant


def _name(table: Table, member: str) -> str | None:
    name = table.text(member)
    fault = None if name is None else check_id(name)
    if fault is not None:
        table.fault(f"{member} {fault}.", member)
        return None
    return name


def _names(table: Table, member: str) -> tuple[str, ...]:
    names = table.texts(member) or ()
    for place, name in enumerate(names):
        fault = check_id(name)
        if fault is not None:
            table.fault(f"Each of {member} {fault}.", member, place)
    return names


def groups(table: Table, member: str) -> tuple[str, ...]:
    """A list of groups."""
    names = table.texts(member) or ()
    for place, name in enumerate(names):
        if len(name) > GROUP_MAX_CHARS or not name.isprintable() or name != name.strip():
            message = (
                f"A group has {GROUP_MAX_CHARS} characters at most, none of them invisible, and no blanks "
                "around it."
            )
            table.fault(message, member, place)
    return names


def _subjects(table: Table) -> Iterator[Subject]:
    for pair in table.tables("oidc", "a pair of oidc"):
        complete = pair.required("iss", "sub")
        iss, sub = pair.text("iss"), pair.text("sub")
        if sub is not None and (len(sub) > _SUB_MAX_CHARS or not sub.isascii() or not sub.isprintable()):
            pair.fault(f"A sub has {_SUB_MAX_CHARS} ASCII characters at most.", "sub")
        pair.end()
        if complete and iss is not None and sub is not None:
            yield Subject(iss=iss, sub=sub)


def _slack(table: Table) -> Iterator[SlackUser]:
    for pair in table.tables("slack", "a pair of slack"):
        complete = pair.required("team", "user")
        team, user = pair.text("team"), pair.text("user")
        if team is not None and not _SLACK_TEAM.fullmatch(team):
            pair.fault("A team's id begins with T (or E, for an organisation): copy it from Slack.", "team")
        if user is not None and not _SLACK_USER.fullmatch(user):
            pair.fault("A user's id begins with U or W, and is no name: copy it from Slack.", "user")
        pair.end()
        if complete and team is not None and user is not None:
            yield SlackUser(team=team, user=user)
