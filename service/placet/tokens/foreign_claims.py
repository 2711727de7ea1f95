"""What the claims of another issuer's token say: whom it is of, and whether that is a person who is here.

No claim says in all of them that a token is a person's. There are the ways in which providers say that it is
not, listed below each with its source. What else an issuer gives tokens to is for the operator to know: the
audience must be one that only people get tokens for.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from placet.domain.identity import check_id, fold
from placet.domain.limits import DISPLAY_NAME_MAX_CHARS
from placet.domain.people import Issuer
from placet.domain.vouched import Vouched

GROUPS_MAX_AGE_MS: Final = 15 * 60 * 1_000
"""What a token says of groups counts no longer than this after it was issued: they may have changed since."""

_CLIENT_GRANT: Final = "client-credentials"

_CLIENT_CLAIMS: Final = ("client_id", "azp", "cid", "appid", "clientId")
"""Where the client stands (RFC 9068 §2.2; OpenID Connect Core §2; Okta; Entra ID 1.0; Keycloak). One that
got a token for itself is its subject (RFC 9068 §2.2), with ``@clients`` after it at Auth0."""

_WORKLOAD_CLAIMS: Final = ("clientHost", "clientAddress", "kubernetes.io", "pipeline_id", "job_workflow_ref")
"""What only tokens of programs have: service accounts of Keycloak and Kubernetes, jobs of GitHub and GitLab.
The issuer of the last is the people's too, and lets a job choose its audience."""

_SERVICE_ACCOUNT: Final = "service-account-"  # Keycloak: such an account's name begins so

_ALIAS_CLAIMS: Final = (
    "email", "preferred_username",  # OpenID Connect Core §5.1
    "upn", "unique_name", "oid",  # Entra ID
    "uid", "username", "cognito:username", "user_name", "login",  # Okta, RFC 7662, Cognito, UAA, forges
)  # fmt: skip

_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # JSON can spell it (RFC 8259 §8.2), UTF-8 can't

# RFC 7519 §2: a number of seconds, which need not be whole. Beyond 2^53 - 1 nobody's is exact.
_Seconds = Annotated[float, Meta(ge=0, le=2**53 - 1)]


class Claims(Struct, frozen=True, kw_only=True):
    """The claims that every token must have, and ``nbf`` (RFC 7519 §4.1)."""

    iss: str
    sub: Annotated[str, Meta(min_length=1)]
    aud: str | tuple[str, ...]
    exp: _Seconds
    iat: _Seconds
    nbf: _Seconds = 0

    @property
    def audience(self) -> str | None:
        """The one audience. A list of one is the same thing in the general form (RFC 7519 §4.1.3)."""
        if isinstance(self.aud, str):
            return self.aud
        return self.aud[0] if len(self.aud) == 1 else None

    @property
    def lifetime_s(self) -> float:
        """From ``iat`` to ``exp``."""
        return self.exp - self.iat

    @property
    def from_ms(self) -> int:
        """When it begins to count, Unix milliseconds."""
        return round(max(self.iat, self.nbf) * 1_000)

    @property
    def until_ms(self) -> int:
        """When it is dead, Unix milliseconds."""
        return round(self.exp * 1_000)


def claims_of(members: Mapping[str, Any]) -> Claims | None:
    """The claims that count, or ``None`` where one is missing or is not what it should be.

    A subject must be such as a person's id here could be: it is compared, shown to operators and kept.
    """
    try:
        claims = msgspec.convert(members, Claims)
    except msgspec.ValidationError:
        return None
    return claims if check_id(claims.sub) is None else None


def is_machine(members: Mapping[str, Any]) -> bool:
    """Whether the token is a program's own: one got with client credentials, or given to a workload."""
    sub = members["sub"]
    clients = [name for claim in _CLIENT_CLAIMS if isinstance(name := members.get(claim), str)]
    # Entra ID: both are the application's object, and nobody delegated anything to it.
    of_application = members.get("oid") == sub and "scp" not in members and bool(clients)
    return (
        any(sub in {name, f"{name}@clients"} for name in clients)
        or of_application
        or any(claim in members for claim in _WORKLOAD_CLAIMS)
        or any(
            grant.replace("_", "-") == _CLIENT_GRANT
            for claim in ("gty", "grant_type")  # Auth0, UAA
            for grant in _texts(members.get(claim))
        )
        or members.get("idtyp") == "app"  # Entra ID
        or members.get("aut") == "APPLICATION"  # WSO2
        or any(fold(name).startswith(_SERVICE_ACCOUNT) for name in _texts(members.get("preferred_username")))
    )


def is_delegated(members: Mapping[str, Any]) -> bool:
    """Whether somebody else acts for the subject (``act``, RFC 8693 §4.1): an agent, and not the person."""
    return members.get("act") is not None


def is_bound(members: Mapping[str, Any]) -> bool:
    """Whether the bearer would have to prove a key (``cnf``, RFC 7800 §3.1), which nobody asks for here."""
    return members.get("cnf") is not None


def is_event(members: Mapping[str, Any]) -> bool:
    """Whether it is a security event (``events``, RFC 8417 §2.2), such as a logout, and lets nobody in."""
    return "events" in members


def vouched(issuer: Issuer, members: Mapping[str, Any]) -> Vouched:
    """What the issuer says of the subject."""
    email = members.get("email")
    verified = issuer.email_authoritative and members.get("email_verified") is True
    named = (fold(name) for claim in _ALIAS_CLAIMS for name in _texts(members.get(claim)))
    return Vouched(
        iss=issuer.iss,
        sub=members["sub"],
        groups=() if issuer.groups_claim is None else tuple(_texts(members.get(issuer.groups_claim))),
        aliases=tuple(dict.fromkeys(filter(None, named))),
        email=email if verified and isinstance(email, str) and check_id(email) is None else None,
    )


def name_of(issuer: Issuer, members: Mapping[str, Any]) -> str | None:
    """What to call the subject by. People choose such names: one that could be no id is shown to nobody."""
    name = members.get(issuer.name_claim)
    if not isinstance(name, str) or len(name) > DISPLAY_NAME_MAX_CHARS or check_id(name) is not None:
        return None
    return name.strip()


def _texts(value: object) -> Iterable[str]:
    """A text, or the texts of a list; without those that can't be written down."""
    among = value if isinstance(value, list) else [value]
    return [text for text in among if isinstance(text, str) and not _SURROGATE.search(text)]
