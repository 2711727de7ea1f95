"""Decisions that wait for their author to sign in for them, kept in the session that they were made in."""

from typing import Final

import msgspec
from msgspec import Struct

from placet.application.commands import Decide
from placet.application.sealing import Sealing, hash_of, random_secret
from placet.application.sessions import Session
from placet.domain.errors import Unauthenticated
from placet.domain.limits import SIGN_ON_MS
from placet.store.codec import encode
from placet.store.sessions import Sessions
from placet.tokens.keyring_file import KeyringFile

_INTENT: Final = "intended decision"
_NONCE: Final = "nonce of a decision"


class Intent(Struct, frozen=True, kw_only=True):
    """A decision, of which approval, and the other input as it was written where there is one."""

    approval: str
    body: Decide
    text: str = ""


class Intents:
    """The use cases.

    Args:
        store: Where they are.
        ring: Has the key to their seals.
    """

    def __init__(self, store: Sessions, ring: KeyringFile) -> None:
        self._store = store
        self._ring = ring
        self._sealing = Sealing(ring)

    async def keep(self, session: Session, intent: Intent) -> str:
        """Keep a decision for as long as somebody may be away; the secret that brings it back.

        Raises:
            StoreUnavailable: Whether it is kept is unknown.
        """
        secret = random_secret()
        hashed = hash_of(_INTENT, f"{session.csrf}{secret}")
        document = self._sealing.sealed(_INTENT, session.caller.tenant, hashed, encode(intent))
        await self._store.offer(session.caller.tenant, hashed, document, lives_ms=SIGN_ON_MS)
        return secret

    async def take(self, session: Session, secret: str) -> Intent | None:
        """Take it, once, in the session that it was made in; ``None`` where there is none.

        Raises:
            StoreUnavailable: Whether it was taken is unknown.
        """
        hashed = hash_of(_INTENT, f"{session.csrf}{secret}")
        kept = await self._store.redeem(session.caller.tenant, hashed)
        try:
            document = self._sealing.opened(_INTENT, session.caller.tenant, hashed, kept)
        except Unauthenticated:
            return None
        return msgspec.json.decode(document, type=Intent)

    def nonce(self, session: Session, intent: Intent, state: str) -> str:
        """What an issuer has to say back: bound to session, approval, digest and decision."""
        body = intent.body
        fields = (session.csrf, intent.approval, body.digest, body.decision.value, state)
        return self._ring.sealer.seal(_NONCE, fields)
