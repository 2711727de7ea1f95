"""Credentials of other issuers: a token becomes a proof of whom it is of, kept while it can't have changed.

Whatever is wrong with a token, the caller hears the one 401. The log has the reason, and no piece of it.
"""

import hashlib
import logging
from collections.abc import Mapping
from typing import Final

from placet.application.clock import Clock
from placet.application.issuer_keys import IssuerKeys
from placet.domain.errors import Unauthenticated
from placet.domain.kept import Kept
from placet.domain.limits import Limits
from placet.domain.people import Issuer, SignIn
from placet.domain.vouched import StepUp
from placet.tokens.foreign import ForeignFault, ForeignInvalid, Proof, examine, issuer_of, prove
from placet.tokens.id_token import as_client, step_up_of

KEPT_PROOFS: Final = 1_024
"""Tokens that were proven, some 5 MB where they name many groups. One that was forgotten is proven again."""
KEPT_MS: Final = 60 * 1_000
"""For so long a token is not verified again: a key that the issuer has withdrawn counts that much longer."""

_log = logging.getLogger(__name__)


class Issuers:
    """Proves tokens.

    Args:
        keys: The keys of the issuers.
        clock: For its wall time: what issuers write into tokens is measured by no store's clock.
        limits: For the leeway of their clocks.
    """

    def __init__(self, keys: IssuerKeys, clock: Clock, limits: Limits) -> None:
        self._keys = keys
        self._clock = clock
        self._leeway_s = limits.foreign_jwt_leeway_s
        self._proven: Kept[bytes, tuple[Proof, int]] = Kept(KEPT_PROOFS)

    def now_ms(self) -> int:
        """Wall time, by which proofs count."""
        return self._clock.now_ms()

    def named_by(self, token: str, issuers: Mapping[str, Issuer]) -> Issuer:
        """The issuer that a token claims to be of. Nothing is proven by that.

        Raises:
            Unauthenticated: It is no token, or of none of these.
        """
        proof, _ = self._proven.get(_digest(token)) or (None, 0)
        try:
            issuer = issuers.get(issuer_of(token) if proof is None else proof.issuer.iss)
        except ForeignInvalid as fault:
            raise _refused(fault) from None
        if issuer is None:
            raise _refused(ForeignInvalid(ForeignFault.UNKNOWN_ISSUER))
        return issuer

    async def prove(self, token: str, issuers: Mapping[str, Issuer]) -> Proof:
        """What a token proves, if these are the issuers.

        Raises:
            Unauthenticated: It is no token of a person of one of them, or does not count now.
            IssuerUnavailable: Its issuer can't be asked for the key.
        """
        proven = _digest(token)
        now_ms = self._clock.now_ms()
        known = self._proven.get(proven)
        if known is not None:
            proof, until_ms = known
            if proof.counts(now_ms) and now_ms < until_ms and issuers.get(proof.issuer.iss) == proof.issuer:
                return proof
            self._proven.drop(proven)
        try:
            candidate = examine(token, issuers, now_ms=now_ms, leeway_s=self._leeway_s)
            issuer = candidate.proof.issuer
            proof = prove(candidate, await self._keys.find(issuer, candidate.algorithm, candidate.kid))
        except ForeignInvalid as fault:
            raise _refused(fault) from None
        self._proven.put(proven, (proof, now_ms + KEPT_MS))
        return proof

    async def prove_sign_in(
        self, token: str, issuer: Issuer, sign_in: SignIn, nonce: str
    ) -> tuple[Proof, StepUp | None]:
        """Who has just signed in, by an ID token, and how, where it says when.

        Raises:
            Unauthenticated: It is none of this issuer for us, or of another sign-in.
            IssuerUnavailable: Its issuer can't be asked for the key.
        """
        ours = as_client(issuer, sign_in)
        try:
            candidate = examine(
                token, {issuer.iss: ours}, now_ms=self._clock.now_ms(), leeway_s=self._leeway_s
            )
            how = step_up_of(candidate, sign_in, nonce)
            key = await self._keys.find(ours, candidate.algorithm, candidate.kid)
            return prove(candidate, key), how
        except ForeignInvalid as fault:
            raise _refused(fault) from None

    async def close(self) -> None:
        """Stop asking issuers."""
        await self._keys.close()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _refused(fault: ForeignInvalid) -> Unauthenticated:
    # Whatever is no token of a configured issuer is everybody's to send, and nobody's to read about.
    level = logging.DEBUG if fault.iss is None else logging.INFO
    _log.log(level, "a token was refused", extra={"reason": fault.reason, "iss": fault.iss})
    return Unauthenticated()
