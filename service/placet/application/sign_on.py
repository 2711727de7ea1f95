"""Signing in with an OIDC issuer: the authorization code flow with PKCE (OpenID Connect Core §3.1, RFC 7636).

1. A flow is begun for one browser. What proves at its end that it is the same one stays with that browser,
   sealed: nothing is kept here for somebody who may never come back.
2. The issuer is told where to send people back to, by an address of its own: what comes back there is of that
   issuer or of nobody (RFC 9700 §4.4). Where it says who it is, that is looked at too (RFC 9207).
3. The code is redeemed once, with the flow's verifier, and the ID token proven as every token of the issuer
   is. Access tokens are not asked for anything: what the ID token does not say is not known.
4. A step-up is a flow for one decision: the issuer has to ask the person again, says when it did and, where
   the operator wants more, how.
"""

import asyncio
import logging
import re
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from msgspec import Struct

from placet.application.clock import Clock
from placet.application.issuer_calls import IssuerCalls, IssuerFault, split
from placet.application.issuer_documents import Configuration, IssuerDocuments, is_plain
from placet.application.issuers import Issuers
from placet.application.sealing import random_secret
from placet.domain.errors import IssuerUnavailable, Unauthenticated
from placet.domain.limits import SIGN_ON_MS, Limits
from placet.domain.people import Issuer, SignIn
from placet.domain.vouched import StepUp
from placet.settings.parsing import is_loopback
from placet.tokens import base64url
from placet.tokens.foreign import Proof

_CODE_MAX_CHARS: Final = 4_096
_SECRET_MAX_BYTES: Final = 4_096
_ASKED_AT_ONCE: Final = 16
"""Codes that are redeemed at once: whoever makes some up costs the issuer no more than that."""
_ERROR: Final = re.compile("[a-z_]{1,64}")
_BASIC: Final = "client_secret_basic"
_POST: Final = "client_secret_post"

_log = logging.getLogger(__name__)


class Flow(Struct, frozen=True, kw_only=True):
    """One sign-in, from its beginning to its end.

    Attributes:
        iss: With whom.
        state: What comes back, and says which flow it is of.
        nonce: What the ID token must have.
        verifier: What redeems the code.
        at_ms: When it began, on the service's clock.
        onward: Where the person goes on to.
        intent: The secret of the decision it is for; empty where it is a sign-in and no more.
    """

    iss: str
    state: str
    nonce: str
    verifier: str
    at_ms: int
    onward: str
    intent: str = ""


class Returned(Struct, frozen=True, kw_only=True):
    """What a person brings back from an issuer (RFC 6749 §4.1.2, RFC 9207 §2)."""

    code: str = ""
    iss: str = ""
    error: str = ""


class NotSignedOn(Exception):  # noqa: N818 - told to the person
    """They were not signed in; the message says why, to them."""


class SignedOn(Struct, frozen=True, kw_only=True):
    """Who has signed in, and how, where the issuer says when."""

    proof: Proof
    step_up: StepUp | None


class SignOn:
    """The use case.

    Args:
        calls: Asks issuers.
        documents: Knows where they are.
        issuers: Proves what they say.
        clock: Says how long somebody was away.
        limits: For the leeway of the issuers' clocks.
    """

    def __init__(
        self,
        calls: IssuerCalls,
        documents: IssuerDocuments,
        issuers: Issuers,
        clock: Clock,
        limits: Limits,
    ) -> None:
        self._calls = calls
        self._documents = documents
        self._issuers = issuers
        self._clock = clock
        self._leeway_ms = limits.foreign_jwt_leeway_s * 1_000
        self._known: dict[str, tuple[Configuration, float]] = {}
        self._turns = asyncio.Semaphore(_ASKED_AT_ONCE)

    def flow(
        self, issuer: Issuer, onward: str, *, state: str = "", nonce: str = "", intent: str = ""
    ) -> Flow:
        """A new one; ``state`` and ``nonce`` are random where they are not given."""
        return Flow(
            iss=issuer.iss,
            state=state or random_secret(),
            nonce=nonce or random_secret(),
            verifier=random_secret(),
            at_ms=self._clock.now_ms(),
            onward=onward,
            intent=intent,
        )

    async def address(self, issuer: Issuer, flow: Flow, back: str) -> str:
        """Where a person signs in.

        Args:
            issuer: With whom.
            flow: For what.
            back: Where they are sent back to.

        Raises:
            IssuerUnavailable: The issuer can't be asked where that is.
        """
        sign_in, endpoint = _sign_in(issuer), (await self._configuration(issuer)).authorization_endpoint
        if endpoint is None or not _may_go_to(endpoint, issuer):
            raise self._unusable(issuer, "its configuration has no authorization_endpoint to go to")
        asked = {
            "response_type": "code",
            "client_id": sign_in.client_id,
            "redirect_uri": back,
            "scope": " ".join(("openid", *sign_in.scopes)),
            "state": flow.state,
            "nonce": flow.nonce,
            "code_challenge": base64url.encode(sha256(flow.verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        if flow.intent:
            asked |= {"max_age": "0", "prompt": "login"}
            asked |= {"acr_values": " ".join(sign_in.acr_values)} if sign_in.acr_values else {}
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(asked, quote_via=quote)}"

    async def finish(self, issuer: Issuer, flow: Flow, back: str, returned: Returned) -> SignedOn:
        """Who has signed in.

        Args:
            issuer: With whom.
            flow: The one of this browser.
            back: Where it sent them back to.
            returned: What they brought.

        Raises:
            NotSignedOn: They have not, or it can't be proven, or does not do.
            IssuerUnavailable: The issuer can't be asked.
        """
        sign_in, known = _sign_in(issuer), await self._configuration(issuer)
        self._check(issuer, known, flow, returned)
        token = await self._redeem(issuer, known, flow, back, returned.code)
        try:
            proof, step_up = await self._issuers.prove_sign_in(token, issuer, sign_in, flow.nonce)
        except Unauthenticated:
            raise NotSignedOn("What it says of you can't be relied on; the log says why.") from None
        if flow.intent:
            self._check_fresh(sign_in, flow, step_up)
        return SignedOn(proof=proof, step_up=step_up)

    def _check(self, issuer: Issuer, known: Configuration, flow: Flow, returned: Returned) -> None:
        if not 0 <= self._clock.now_ms() - flow.at_ms <= SIGN_ON_MS:
            raise NotSignedOn("That took too long.")
        says_who = returned.iss or known.authorization_response_iss_parameter_supported
        if says_who and returned.iss != issuer.iss:
            raise NotSignedOn("The answer was of somebody else.")
        if returned.error:
            said = f" ({returned.error})" if _ERROR.fullmatch(returned.error) else ""
            raise NotSignedOn(f"It did not sign you in{said}.")
        if not 0 < len(returned.code) <= _CODE_MAX_CHARS:
            raise NotSignedOn("The answer was not complete.")

    def _check_fresh(self, sign_in: SignIn, flow: Flow, step_up: StepUp | None) -> None:
        """Whether they proved anew who they are, for this flow."""
        if step_up is None:
            raise NotSignedOn("It does not say when you proved who you are.")
        if step_up.at_ms < flow.at_ms - self._leeway_ms:
            raise NotSignedOn("It did not ask you again who you are.")
        if sign_in.acr_values and step_up.acr not in sign_in.acr_values:
            raise NotSignedOn("How you proved who you are does not do for this.")

    async def _redeem(self, issuer: Issuer, known: Configuration, flow: Flow, back: str, code: str) -> str:
        """The ID token (RFC 6749 §4.1.3, RFC 7636 §4.5)."""
        sign_in, endpoint = _sign_in(issuer), known.token_endpoint
        if endpoint is None:
            raise self._unusable(issuer, "its configuration has no token_endpoint")
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "code_verifier": flow.verifier,
        }
        try:
            secret = _secret_of(sign_in)
            methods = known.token_endpoint_auth_methods_supported
            is_basic = secret is not None and (_BASIC in methods or _POST not in methods)
            if not is_basic:
                form |= {"client_id": sign_in.client_id}
                form |= {} if secret is None else {"client_secret": secret}
            basic = (quote(sign_in.client_id, safe=""), quote(secret or "", safe="")) if is_basic else None
            async with self._turns:
                answer = await self._calls.post(endpoint, form, plain=is_plain(issuer), basic=basic)
            members = answer.members()
        except IssuerFault as fault:
            raise self._unusable(issuer, str(fault)) from None
        token, error = members.get("id_token"), members.get("error")
        if not isinstance(token, str):
            said = error if isinstance(error, str) and _ERROR.fullmatch(error) else "no id_token"
            _log.warning(
                "a code was not redeemed", extra={"iss": issuer.iss, "status": answer.status, "fault": said}
            )
            raise NotSignedOn("What you brought back was not taken: perhaps it was used already.")
        return token

    async def _configuration(self, issuer: Issuer) -> Configuration:
        known, until_s = self._known.get(issuer.iss, (None, 0.0))
        if known is not None and self._clock.monotonic_s() < until_s:
            return known
        try:
            found, max_age_s = await self._documents.configuration(issuer)
        except IssuerFault as fault:
            raise self._unusable(issuer, str(fault)) from None
        self._known[issuer.iss] = found, self._clock.monotonic_s() + max_age_s
        return found

    @staticmethod
    def _unusable(issuer: Issuer, fault: str) -> IssuerUnavailable:
        _log.warning("an issuer can't sign anybody in", extra={"iss": issuer.iss, "fault": fault})
        return IssuerUnavailable(retry_after_ms=1_000)


def _sign_in(issuer: Issuer) -> SignIn:
    if issuer.sign_in is None:
        raise Unauthenticated
    return issuer.sign_in


def _secret_of(sign_in: SignIn) -> str | None:
    """The secret as it is now: it is rotated by writing another into the file.

    Raises:
        IssuerFault: It can't be read.
    """
    if sign_in.client_secret_file is None:
        return None
    try:
        with Path(sign_in.client_secret_file).open("rb") as file:
            secret = file.read(_SECRET_MAX_BYTES).decode("ascii").strip()
    except (OSError, ValueError) as fault:
        raise IssuerFault(f"client_secret_file can't be read: {type(fault).__name__}.") from None
    if not secret:
        raise IssuerFault("client_secret_file is empty.")
    return secret


def _may_go_to(endpoint: str, issuer: Issuer) -> bool:
    """Whether people may be sent there: over https, or on this machine as the issuer is."""
    try:
        where = split(endpoint)
    except IssuerFault:
        return False
    is_local = is_plain(issuer) and where.scheme == "http" and is_loopback(where.hostname or "")
    return bool(where.hostname) and not where.fragment and (where.scheme == "https" or is_local)
