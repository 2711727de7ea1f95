"""Tokens, proven offline before they are spent: a service that was deceived, or is another, opens nothing.

The signature and form are judged by :mod:`placet.tokens.verify`; here is what a token must say of the call.
It never replaces the consume, which alone knows that a grant is spent.

Keys are fetched once, and again when they are as old as the service lets them become. A token that names a
key nobody knows has them fetched again, but at most every few seconds, whoever sends how many of them.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from placet.client.questions import ToolCall
from placet.client.quiet import Quiet
from placet.client.shapes import Approval
from placet.domain.canonical import canonicalize, sha256_hex
from placet.domain.errors import ApprovalTokenInvalid
from placet.tokens.claims import TokenClaims
from placet.tokens.jwks import JWKS_MAX_AGE_S, JwksError, VerificationKeys
from placet.tokens.verify import TokenFault, TokenInvalid, verify

_BREATH_S: Final = 5.0
"""Between two times that the keys are fetched because of a token."""

_log: Final = logging.getLogger("placet.client.hook")


def wall_ms() -> int:
    """This machine's time, Unix milliseconds."""
    return time.time_ns() // 1_000_000


class Expected(Quiet, frozen=True, kw_only=True):
    """Whose tokens count, and for whom.

    Attributes:
        issuer: The service's public URL, exactly.
        audience: The client that consumes.
        tenant: Its tenant.
        leeway_ms: What this machine's clock may be off by; when a grant is dead the service's clock says.
        now_ms: This machine's clock.
    """

    issuer: str
    audience: str
    tenant: str
    leeway_ms: int = 60_000
    now_ms: Callable[[], int] = wall_ms

    def link(self, approval: Approval) -> str:
        """Where people decide it: the page's address."""
        return f"{self.issuer}{approval.links.ui if approval.links else ''}"

    def prove(self, token: str, keys: VerificationKeys, approval: Approval, call: ToolCall) -> None:
        """Hold a token against the approval that it came with and the call that is to run.

        Raises:
            TokenInvalid: No such token.
            ApprovalTokenInvalid: It is one, and for something else.
        """
        claims = verify(
            token, keys, issuer=self.issuer, audience=self.audience, tenant=self.tenant, now_ms=None
        )
        now_ms = self.now_ms()
        if now_ms < claims.from_ms - self.leeway_ms:
            raise TokenInvalid(TokenFault.NOT_YET_ISSUED)
        if now_ms >= claims.exp_ms + self.leeway_ms:
            raise TokenInvalid(TokenFault.EXPIRED)
        other = [name for name, said, due in _pairs(claims, approval, call) if said != due]
        if other:
            _log.warning("the token of approval %r is for something else: %s", approval.id, ", ".join(other))
            raise ApprovalTokenInvalid


def _pairs(claims: TokenClaims, approval: Approval, call: ToolCall) -> tuple[tuple[str, str, object], ...]:
    return (
        ("jti", claims.jti, approval.id),
        ("cap", claims.cap, call.capability),
        ("sub", claims.sub, call.actor.id),
        ("dig", claims.dig, approval.digest),
        ("ih", claims.ih, sha256_hex(canonicalize(call.input))),
    )


class KeyCache:
    """The keys as they were fetched last.

    Attributes:
        keys: Them; None before.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._at_s = 0.0
        self.keys: VerificationKeys | None = None

    def wants(self, refused: VerificationKeys | None) -> bool:
        """Whether they are to be fetched; ``refused`` are those that lack a key."""
        age_s = self._now_s() - self._at_s
        if self.keys is None or age_s >= JWKS_MAX_AGE_S:
            return True
        return refused is self.keys and age_s >= _BREATH_S

    def keep(self, document: bytes) -> None:
        """Take what was fetched.

        Raises:
            ApprovalTokenInvalid: No token can be verified with it.
        """
        try:
            keys = VerificationKeys.from_jwks(document)
        except JwksError:
            _log.warning("the service's keys can't be read")
            raise ApprovalTokenInvalid from None
        self.keys, self._at_s = keys, self._now_s()
