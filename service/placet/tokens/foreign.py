"""Tokens of other issuers as credentials of people: which count (RFC 7519, 8725, 9068; OpenID Connect Core).

In this order, each step with its own word for the log (:class:`ForeignFault`):

1. Length; three base64url parts, unpadded and canonically spelt; two JSON objects without repeated members.
2. A configured issuer, found by the ``iss`` that the token claims, byte for byte.
3. The header: an algorithm and a type that the issuer is configured for, nothing critical (RFC 7515 §4.1.11),
   no key or address of one in it (RFC 8725 §3.10).
4. The claims: ``iss sub aud exp iat`` there and of their types; the one audience; alive, for a day at most.
5. A person who is here: no client, no delegate, no token bound to a key, no event.
6. The signature, last: no key is fetched for a token that would not count anyway. The key is the issuer's,
   found by ``kid``, and made for the algorithm.

Access tokens and ID tokens are told apart by type and audience, as the operator configures them.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from jwt import PyJWS, PyJWTError
from msgspec import Struct, structs

from placet.domain.people import Issuer
from placet.domain.vouched import Vouched
from placet.tokens import base64url
from placet.tokens.foreign_claims import (
    GROUPS_MAX_AGE_MS,
    Claims,
    claims_of,
    is_bound,
    is_delegated,
    is_event,
    is_machine,
    name_of,
    vouched,
)
from placet.tokens.foreign_keys import ALGORITHMS, ForeignKey
from placet.tokens.strict_json import members_of

MAX_TOKEN_BYTES: Final = 16 * 1_024
"""Longer texts are not parsed: Entra ID's limit of 200 groups makes some 9 000 bytes."""

MAX_LIFETIME_S: Final = 24 * 60 * 60
"""The longest ``exp - iat`` taken: what Auth0 gives access tokens by default, and Okta at most."""

NO_TYPE: Final = "none"
"""What a token without a ``typ`` is taken to have: Okta and Cognito write none. Of an issuer that is not
configured for it such a token may be of any kind, and is refused."""

_PARTS: Final = 3
_REFUSED_MEMBERS: Final = frozenset({"crit", "b64", "jwk", "jku", "x5u", "x5c"})
_JWS: Final = PyJWS(algorithms=list(ALGORITHMS))


class ForeignFault(StrEnum):
    """Why a text is no credential of a person."""

    TOO_LONG = "too-long"
    MALFORMED = "malformed"
    UNKNOWN_ISSUER = "unknown-issuer"
    HEADER = "header"
    """It has a member that no token may have here, or a ``kid`` that is no text."""
    ALGORITHM = "algorithm"
    TYPE = "type"
    CLAIMS = "claims"
    AUDIENCE = "audience"
    LIFETIME = "lifetime"
    NOT_YET = "not-yet"
    EXPIRED = "expired"
    MACHINE = "machine"
    DELEGATED = "delegated"
    BOUND = "bound"
    EVENT = "event"
    NONCE = "nonce"
    """It was made for another sign-in."""
    UNKNOWN_KEY = "unknown-key"
    SIGNATURE = "signature"


class ForeignInvalid(Exception):  # noqa: N818 - named after TokenInvalid, for other tokens
    """The text is no token that counts. Neither it nor its message holds a piece of the token.

    Attributes:
        reason: Why, for the log.
        iss: The configured issuer it names, if it does.
    """

    def __init__(self, reason: ForeignFault, iss: str | None = None) -> None:
        super().__init__(f"foreign token refused: {reason}")
        self.reason = reason
        self.iss = iss


class Proof(Struct, frozen=True, kw_only=True):
    """What a token proves, for as long as it counts: from ``from_ms``, dead at ``until_ms``."""

    issuer: Issuer
    vouched: Vouched
    name: str | None
    issued_at_ms: int
    from_ms: int
    until_ms: int

    def counts(self, now_ms: int) -> bool:
        """Whether it does now."""
        return self.from_ms <= now_ms < self.until_ms

    def at(self, now_ms: int) -> Vouched:
        """What the issuer says as of now: of groups nothing, where it said so too long ago."""
        if now_ms - self.issued_at_ms <= GROUPS_MAX_AGE_MS:
            return self.vouched
        return structs.replace(self.vouched, groups=())


class Candidate(Struct, frozen=True, kw_only=True):
    """A token of which all is as it should be, if only its signature is; ``members`` are its claims."""

    token: str
    algorithm: str
    kid: str | None
    proof: Proof
    members: Mapping[str, Any]


def issuer_of(token: str) -> str:
    """The issuer that a token claims to be of; nothing is proven.

    Raises:
        ForeignInvalid: It is no token, or claims none.
    """
    iss = _read(token)[1].get("iss")
    if not isinstance(iss, str):
        raise ForeignInvalid(ForeignFault.UNKNOWN_ISSUER)
    return iss


def examine(token: str, issuers: Mapping[str, Issuer], *, now_ms: int, leeway_s: int) -> Candidate:
    """Judge all of a token but its signature.

    Args:
        token: What a caller presented.
        issuers: Those configured, by ``iss``.
        now_ms: Wall time.
        leeway_s: By how much the issuer's clock may be off, either way.

    Raises:
        ForeignInvalid: Something is not as it must be.
    """
    header, members = _read(token)
    iss = members.get("iss")
    issuer = issuers.get(iss) if isinstance(iss, str) else None
    if issuer is None:
        raise ForeignInvalid(ForeignFault.UNKNOWN_ISSUER)
    _check_header(header, issuer)
    claims = claims_of(members)
    if claims is None:
        raise ForeignInvalid(ForeignFault.CLAIMS, issuer.iss)
    _check_claims(claims, issuer, now_ms, leeway_s)
    _check_bearer(members, issuer)
    proof = Proof(
        issuer=issuer,
        vouched=vouched(issuer, members),
        name=name_of(issuer, members),
        issued_at_ms=round(claims.iat * 1_000),
        from_ms=claims.from_ms - leeway_s * 1_000,
        until_ms=claims.until_ms + leeway_s * 1_000,
    )
    return Candidate(
        token=token, algorithm=header["alg"], kid=header.get("kid"), proof=proof, members=members
    )


def prove(candidate: Candidate, key: ForeignKey | None) -> Proof:
    """What the token proves, if it was signed with this key.

    Raises:
        ForeignInvalid: There is no key, or it was not.
    """
    iss = candidate.proof.issuer.iss
    if key is None or not key.serves(candidate.algorithm):
        raise ForeignInvalid(ForeignFault.UNKNOWN_KEY, iss)
    try:
        _JWS.decode(candidate.token, key.public, algorithms=[candidate.algorithm])
    except PyJWTError:
        raise ForeignInvalid(ForeignFault.SIGNATURE, iss) from None
    return candidate.proof


def _read(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    if len(token) > MAX_TOKEN_BYTES:
        raise ForeignInvalid(ForeignFault.TOO_LONG)
    parts = token.split(".")
    if len(parts) != _PARTS or not all(parts):
        raise ForeignInvalid(ForeignFault.MALFORMED)
    try:
        header, payload, _ = [base64url.decode(part) for part in parts]
        return members_of(header), members_of(payload)
    except ValueError:
        raise ForeignInvalid(ForeignFault.MALFORMED) from None


def _check_header(header: Mapping[str, Any], issuer: Issuer) -> None:
    algorithm, typ = header.get("alg"), header.get("typ", NO_TYPE)
    for is_fine, fault in (
        (_REFUSED_MEMBERS.isdisjoint(header), ForeignFault.HEADER),
        (isinstance(header.get("kid", ""), str), ForeignFault.HEADER),
        (algorithm in issuer.algorithms and algorithm in ALGORITHMS, ForeignFault.ALGORITHM),
        (isinstance(typ, str) and _media_type(typ) in map(_media_type, issuer.types), ForeignFault.TYPE),
    ):
        if not is_fine:
            raise ForeignInvalid(fault, issuer.iss)


def _media_type(typ: str) -> str:
    """RFC 7515 §4.1.9: ``application/`` may be left out, and case does not matter."""
    return typ.lower().removeprefix("application/")


def _check_claims(claims: Claims, issuer: Issuer, now_ms: int, leeway_s: int) -> None:
    leeway_ms = leeway_s * 1_000
    for is_fine, fault in (
        (issuer.audience is not None and claims.audience == issuer.audience, ForeignFault.AUDIENCE),
        (0 < claims.lifetime_s <= MAX_LIFETIME_S, ForeignFault.LIFETIME),
        (claims.from_ms - leeway_ms <= now_ms, ForeignFault.NOT_YET),
        (now_ms < claims.until_ms + leeway_ms, ForeignFault.EXPIRED),
    ):
        if not is_fine:
            raise ForeignInvalid(fault, issuer.iss)


def _check_bearer(members: Mapping[str, Any], issuer: Issuer) -> None:
    for is_so, fault in (
        (is_machine, ForeignFault.MACHINE),
        (is_delegated, ForeignFault.DELEGATED),
        (is_bound, ForeignFault.BOUND),
        (is_event, ForeignFault.EVENT),
    ):
        if is_so(members):
            raise ForeignInvalid(fault, issuer.iss)
