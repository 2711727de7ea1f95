"""What an OIDC issuer publishes: its configuration, and its keys (OpenID Connect Discovery §3, §4)."""

import re
from typing import Final

import httpx
import msgspec
from msgspec import Struct

from placet.application.issuer_calls import IssuerCalls, IssuerFault, split
from placet.domain.people import Issuer
from placet.tokens.foreign_keys import ForeignKeys, KeySetError

MAX_AGE_MIN_S: Final = 5 * 60
MAX_AGE_MAX_S: Final = 24 * 60 * 60
"""Documents are kept for as long as the answer may be (RFC 9111 §5.2.2.1), within these bounds."""

_DISCOVERY: Final = "/.well-known/openid-configuration"
_MAX_AGE: Final = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_UNCACHED: Final = re.compile(r"(?:^|[\s,])no-(?:store|cache)", re.IGNORECASE)


class KeySet(Struct, frozen=True, kw_only=True):
    """An issuer's keys, and for how long they may be kept before it is asked again."""

    keys: ForeignKeys
    max_age_s: int


class Configuration(Struct, frozen=True, kw_only=True):
    """What an issuer says of itself (Discovery §3, RFC 9207 §3); other members are not looked at.

    Attributes:
        jwks_uri: Where its keys are.
        authorization_endpoint: Where people sign in.
        token_endpoint: Where what they bring back is redeemed.
        token_endpoint_auth_methods_supported: How we may say there who we are.
        authorization_response_iss_parameter_supported: Whether it says who it is when it sends people back.
    """

    jwks_uri: str | None = None
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class IssuerDocuments:
    """Reads what issuers publish.

    Args:
        calls: Asks them.
    """

    def __init__(self, calls: IssuerCalls) -> None:
        self._calls = calls

    async def keys(self, issuer: Issuer) -> KeySet:
        """The issuer's keys, from where its directory entry or else its own configuration says.

        Raises:
            IssuerFault: They can't be had, or the configuration found is not this issuer's.
        """
        if issuer.jwks_url is not None:
            return await self._keys(issuer.jwks_url, plain=True)
        found, _ = await self.configuration(issuer)
        if found.jwks_uri is None:
            raise IssuerFault(f"{_address(issuer)} says nowhere where the keys are (`jwks_uri`).")
        return await self._keys(found.jwks_uri, plain=is_plain(issuer))

    async def _keys(self, url: str, *, plain: bool) -> KeySet:
        answer = await self._calls.get(url, plain=plain)
        try:
            keys = ForeignKeys.from_jwks(answer.document)
        except KeySetError as fault:
            raise IssuerFault(f"{url} gave no keys: {fault}.") from None
        return KeySet(keys=keys, max_age_s=_max_age_s(answer.headers))

    async def configuration(self, issuer: Issuer) -> tuple[Configuration, int]:
        """What an issuer says of itself, and for how many seconds that may be kept.

        Raises:
            IssuerFault: It can't be had, or is not this issuer's.
        """
        url = _address(issuer)
        answer = await self._calls.get(url, plain=True)
        members = answer.members()
        if members.get("issuer") != issuer.iss:
            raise IssuerFault(f"{url} is of another issuer: its `issuer` must be {issuer.iss!r} exactly.")
        try:
            found = msgspec.convert(members, Configuration)
        except msgspec.ValidationError as fault:
            raise IssuerFault(f"{url} can't be understood: {fault}.") from None
        return found, _max_age_s(answer.headers)


def is_plain(issuer: Issuer) -> bool:
    """Whether an issuer is on this machine, so that what it leads to may be asked over http too."""
    return split(issuer.iss).scheme == "http"


def _address(issuer: Issuer) -> str:
    return issuer.iss.removesuffix("/") + _DISCOVERY


def _max_age_s(headers: httpx.Headers) -> int:
    control = headers.get("cache-control", "")
    told = _MAX_AGE.search(control)
    if told is None or _UNCACHED.search(control):
        return MAX_AGE_MIN_S
    aged = headers.get("age", "")  # in a cache on the way (RFC 9111 §5.1)
    left_s = int(told[1]) - (int(aged) if re.fullmatch(r"[0-9]{1,10}", aged) else 0)
    return min(max(left_s, MAX_AGE_MIN_S), MAX_AGE_MAX_S)
