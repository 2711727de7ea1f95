"""ID tokens: what an issuer says of somebody who has just signed in (OpenID Connect Core §2, §3.1.3.7).

They are judged as every other token of an issuer is (:mod:`placet.tokens.foreign`), as one that is meant for
this service as a client, and then for this very sign-in: the nonce, and whoever it was given to.
"""

import hmac
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct, structs

from placet.domain.people import Issuer, SignIn
from placet.domain.vouched import StepUp
from placet.tokens.foreign import NO_TYPE, Candidate, ForeignFault, ForeignInvalid

_TYPES: Final = ("JWT", NO_TYPE)
"""A type of its own ID tokens have not got; access tokens of RFC 9068 have one, and are none."""

_WORD: Final = re.compile("[ -~]{1,256}")
_WORDS_MAX: Final = 32
_YEAR_9999_S: Final = 253_402_300_799  # the last that RFC 3339 can write


class _Claims(Struct, frozen=True, kw_only=True):
    """Those that make it one of a sign-in."""

    nonce: str
    azp: str | None = None
    auth_time: Annotated[float, Meta(ge=0, le=_YEAR_9999_S)] | None = None


def as_client(issuer: Issuer, sign_in: SignIn) -> Issuer:
    """The issuer, as its ID tokens for this service are judged."""
    return structs.replace(issuer, audience=sign_in.client_id, types=_TYPES)


def step_up_of(candidate: Candidate, sign_in: SignIn, nonce: str) -> StepUp | None:
    """How and when the person proved who they are; ``None`` where the token does not say when.

    Args:
        candidate: The token, all of which is as it should be so far.
        sign_in: What the issuer calls this service.
        nonce: Of this very sign-in.

    Raises:
        ForeignInvalid: It is of another sign-in, or was given to somebody else.
    """
    iss = candidate.proof.issuer.iss
    try:
        claims = msgspec.convert(candidate.members, _Claims)
    except msgspec.ValidationError:
        raise ForeignInvalid(_fault_of(candidate.members), iss) from None
    if not hmac.compare_digest(claims.nonce.encode("utf-8", "surrogatepass"), nonce.encode()):
        raise ForeignInvalid(ForeignFault.NONCE, iss)
    if claims.azp not in {None, sign_in.client_id}:
        raise ForeignInvalid(ForeignFault.AUDIENCE, iss)
    if claims.auth_time is None:
        return None
    acr, amr = candidate.members.get("acr"), candidate.members.get("amr")
    return StepUp(
        at_ms=round(claims.auth_time * 1_000),
        acr=next(_words([acr]), None),
        amr=tuple(_words(amr if isinstance(amr, list) else [amr])),
    )


def _words(said: list[Any]) -> Iterator[str]:
    """Those that can be kept and shown."""
    return (word for word in said[:_WORDS_MAX] if isinstance(word, str) and _WORD.fullmatch(word))


def _fault_of(members: Mapping[str, Any]) -> ForeignFault:
    return ForeignFault.CLAIMS if isinstance(members.get("nonce"), str) else ForeignFault.NONCE
