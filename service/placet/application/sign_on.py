"""Signing in with an OIDC issuer: for a session, or for one decision.

1. A flow is begun for one browser. What proves at its end that it is the same one stays with that browser,
   sealed: nothing is kept here for somebody who may never come back.
2. What comes back is of that issuer: it comes to its own address, and where it says who it is, that is looked
   at too (RFC 9207).
3. The ID token is proven as every token of the issuer is. Access tokens are not asked for anything: what the
   ID token does not say is not known.
4. A step-up is a flow for one decision: the issuer has to ask the person again, says when it did and, where
   the operator wants more, how.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from placet.application.clock import Clock
from placet.application.code_flow import OAUTH_ERROR, CodeFlow, Flow, NotSetUp
from placet.application.issuers import Issuers
from placet.application.sealing import random_secret
from placet.domain.errors import Unauthenticated
from placet.domain.limits import SIGN_ON_MS, Limits
from placet.domain.people import Issuer, SignIn
from placet.domain.vouched import StepUp
from placet.tokens.foreign import Proof

_CODE_MAX_CHARS: Final = 4_096
_ERRORS: Final[Mapping[str, str]] = MappingProxyType(
    {"access_denied": "You did not sign in with {issuer}, or it does not let you."}
)
"""What an issuer calls an error, in words."""


class Returned(Struct, frozen=True, kw_only=True):
    """What a person brings back from an issuer (RFC 6749 §4.1.2, RFC 9207 §2)."""

    code: str = ""
    iss: str = ""
    error: str = ""


class NotSignedOn(Exception):  # noqa: N818 - told to the person
    """They were not signed in; the message says why, to them, with ``{issuer}`` for how they know it."""

    def told(self, issuer: str) -> str:
        """The message."""
        return str(self).format(issuer=issuer)


class SignedOn(Struct, frozen=True, kw_only=True):
    """Who has signed in, and how, where the issuer says when."""

    proof: Proof
    step_up: StepUp | None


class SignOn:
    """The use case.

    Args:
        code_flow: Asks issuers.
        issuers: Proves what they say.
        clock: Says how long somebody was away.
        limits: For the leeway of the issuers' clocks.
    """

    def __init__(self, code_flow: CodeFlow, issuers: Issuers, clock: Clock, limits: Limits) -> None:
        self._code_flow = code_flow
        self._issuers = issuers
        self._clock = clock
        self._leeway_ms = limits.foreign_jwt_leeway_s * 1_000

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
        """Where a person signs in; ``back``: where they are sent back to.

        Raises:
            IssuerUnavailable: The issuer can't be asked where that is.
        """
        return await self._code_flow.address(issuer, flow, back)

    async def finish(
        self, issuer: Issuer, flow: Flow, back: str, returned: Returned, source: str
    ) -> SignedOn:
        """Who has signed in.

        Args:
            issuer: With whom.
            flow: The one of this browser.
            back: Where it sent them back to.
            returned: What they brought.
            source: Where they come from: nobody is to keep others from it.

        Raises:
            NotSignedOn: They have not, or it can't be proven, or does not do.
            IssuerUnavailable: The issuer can't be asked.
        """
        sign_in = issuer.sign_in
        if sign_in is None:
            raise NotSignedOn("{issuer} signs nobody in any more.")
        known = await self._code_flow.configuration(issuer)
        names_itself = known.authorization_response_iss_parameter_supported
        self._check(issuer, flow, returned, names_itself=names_itself)
        try:
            token = await self._code_flow.redeem(issuer, flow, back, returned.code, source)
        except NotSetUp:
            words = "This service is not set up right to sign you in with {issuer}: tell whoever runs it."
            raise NotSignedOn(words) from None
        if token is None:
            raise NotSignedOn("{issuer} did not take what you brought back: perhaps it was used already.")
        try:
            proof, step_up = await self._issuers.prove_sign_in(token, issuer, sign_in, flow.nonce)
        except Unauthenticated:
            raise NotSignedOn(
                "What {issuer} says of you can't be relied on. Whoever runs this finds in the log why."
            ) from None
        if flow.intent:
            self._check_fresh(sign_in, flow, step_up)
        return SignedOn(proof=proof, step_up=step_up)

    def _check(self, issuer: Issuer, flow: Flow, returned: Returned, *, names_itself: bool) -> None:
        if not -self._leeway_ms <= self._clock.now_ms() - flow.at_ms <= SIGN_ON_MS:  # another replica's clock
            raise NotSignedOn("That took too long. Begin it again.")
        if (returned.iss or names_itself) and returned.iss != issuer.iss:
            raise NotSignedOn("The answer was not of {issuer}.")
        if returned.error:
            said = returned.error if OAUTH_ERROR.fullmatch(returned.error) else ""
            raise NotSignedOn(_ERRORS.get(said) or f"{{issuer}} did not sign you in{said and f' ({said})'}.")
        if not 0 < len(returned.code) <= _CODE_MAX_CHARS:
            raise NotSignedOn("What you brought back was not complete.")

    def _check_fresh(self, sign_in: SignIn, flow: Flow, step_up: StepUp | None) -> None:
        """Whether they proved anew who they are, for this flow."""
        if step_up is None:
            raise NotSignedOn("{issuer} does not say when you proved who you are.")
        early_ms, late_ms = flow.at_ms - self._leeway_ms, self._clock.now_ms() + self._leeway_ms
        if not early_ms <= step_up.at_ms <= late_ms:
            raise NotSignedOn("{issuer} did not ask you again who you are.")
        if sign_in.acr_values and step_up.acr not in sign_in.acr_values:
            raise NotSignedOn("How you proved who you are does not do for this.")
