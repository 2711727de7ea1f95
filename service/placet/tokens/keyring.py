"""The keyring: which key signs, which will, which did, which must not be trusted; and the seal.

The laws:

1. Exactly one key is *active* and signs; exactly one is *next* and only waits, already published.
2. ``rotate``: active → retired, next → active, a fresh next is published. It is refused until next has
   been published long enough for every verifier to know it.
3. A *retired* key verifies what it signed until that is dead, then it is forgotten.
4. ``revoke``: not trusted any more, at once. Revoking the active key makes next active without waiting:
   a verifier that does not know it yet refuses for some minutes, which is the safe side.
5. Every change raises ``generation`` by one; a keyring is a value, and every operation gives a new one.
"""

import hmac
from hashlib import sha256
from typing import Literal, Self

import msgspec
from msgspec import Struct

from placet.tokens.claims import MAX_LIFETIME_S
from placet.tokens.keys import (
    RetiredKey,
    RevokedKey,
    SealKey,
    SigningKey,
    from_text,
    new_seal_key,
    new_signing_key,
    to_text,
)

ROTATION_WAIT_MS = 5 * 60 * 1_000
"""How long next is published before it may sign: a JWKS cache's life, and a minute for services to
re-read the file (:data:`placet.tokens.jwks.JWKS_MAX_AGE_S`)."""

RETIREMENT_GRACE_MS = 5 * 60 * 1_000
"""How long after a rotation a service that has not re-read the file yet may still sign with the old key."""

RETIRED_KEEP_MS = RETIREMENT_GRACE_MS + MAX_LIFETIME_S * 1_000
"""From its retirement on, after this time a key has no live token left."""

KeyState = Literal["active", "next", "retired", "revoked"]


class KeyringError(Exception):
    """Something about the keyring that an operator must mend; the message says how."""


class KeyListing(Struct, frozen=True, kw_only=True):
    """One key as an operator sees it; ``ended_at_ms`` is when it was retired or revoked."""

    kid: str
    state: KeyState
    published_at_ms: int
    ended_at_ms: int | None = None


class Keyring(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All keys of one deployment. The keyring file is this Struct as JSON."""

    version: Literal[1] = 1
    generation: int
    active: SigningKey
    next: SigningKey
    retired: tuple[RetiredKey, ...] = ()
    revoked: tuple[RevokedKey, ...] = ()
    seal: SealKey

    def __post_init__(self) -> None:
        kids = [key.kid for key in self.listing()]
        if len(set(kids)) != len(kids):
            raise ValueError("a kid appears twice")

    @classmethod
    def create(cls, now_ms: int) -> Self:
        """A first keyring: an active key, its successor, a seal secret."""
        return cls(
            generation=1, active=new_signing_key(now_ms), next=new_signing_key(now_ms), seal=new_seal_key()
        )

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """The keyring that :meth:`encode` wrote.

        Raises:
            KeyringError: ``data`` is no keyring; the message names the place, and no secret.
        """
        try:
            return msgspec.json.decode(data, type=cls, dec_hook=from_text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise KeyringError(f"this is not a keyring: {error}") from None

    def encode(self) -> bytes:
        """The keyring file's content, secrets included: indented JSON, for an operator's eyes."""
        return msgspec.json.format(msgspec.json.encode(self, enc_hook=to_text), indent=2) + b"\n"

    def rotate(self, now_ms: int) -> Self:
        """The keyring after a planned change of the signing key.

        Raises:
            KeyringError: next has not been published for :data:`ROTATION_WAIT_MS` yet.
        """
        wait_ms = self.next.published_at_ms + ROTATION_WAIT_MS - now_ms
        if wait_ms > 0:
            raise KeyringError(
                f"key {self.next.kid} has not been published long enough to sign: verifiers may hold an "
                f"older JWKS. Rotate again in {-(-wait_ms // 1_000)} s, or, if key {self.active.kid} has "
                f"leaked, revoke it: that switches at once"
            )
        old = RetiredKey(
            kid=self.active.kid,
            public=self.active.public,
            published_at_ms=self.active.published_at_ms,
            retired_at_ms=now_ms,
        )
        return self._changed(
            active=self.next,
            next=new_signing_key(now_ms),
            retired=(old, *self.verifiable_retired(now_ms)),
        )

    def revoke(self, kid: str, now_ms: int) -> Self:
        """The keyring after key ``kid`` lost all trust; the same one where it had none.

        Raises:
            KeyringError: no key has this kid; the message lists those there are.
        """
        listed = next((key for key in self.listing() if key.kid == kid), None)
        if listed is None:
            known = ", ".join(f"{key.kid} ({key.state})" for key in self.listing())
            raise KeyringError(f"no key has this kid; the keyring holds {known}")
        if listed.state == "revoked":
            return self
        gone = RevokedKey(kid=kid, published_at_ms=listed.published_at_ms, revoked_at_ms=now_ms)
        revoked = (gone, *self.revoked)
        if listed.state == "retired":
            return self._changed(
                retired=tuple(key for key in self.retired if key.kid != kid), revoked=revoked
            )
        active = self.next if listed.state == "active" else self.active
        return self._changed(active=active, next=new_signing_key(now_ms), revoked=revoked)

    def verifiable_retired(self, now_ms: int) -> tuple[RetiredKey, ...]:
        """The retired keys of which a token may still be alive at ``now_ms``."""
        return tuple(key for key in self.retired if now_ms < key.retired_at_ms + RETIRED_KEEP_MS)

    def listing(self) -> tuple[KeyListing, ...]:
        """Every key without its secrets: active, next, then retired and revoked, latest first."""
        return (
            _listed("active", self.active),
            _listed("next", self.next),
            *(_listed("retired", key, key.retired_at_ms) for key in self.retired),
            *(_listed("revoked", key, key.revoked_at_ms) for key in self.revoked),
        )

    def fingerprint(self) -> str:
        """SHA-256 hex of generation, kids and states: equal where replicas trust the same keys."""
        return sha256(msgspec.json.encode((self.generation, self.listing()))).hexdigest()

    def seal_fingerprint(self) -> str:
        """Equal where replicas seal alike; says nothing about the secret (an HMAC under it, hex)."""
        return hmac.digest(self.seal.secret.reveal(), b"placet seal fingerprint v1", "sha256").hex()

    def _changed(self, **members: object) -> Self:
        return msgspec.structs.replace(self, generation=self.generation + 1, **members)


def _listed(
    state: KeyState, key: SigningKey | RetiredKey | RevokedKey, ended_at_ms: int | None = None
) -> KeyListing:
    return KeyListing(kid=key.kid, state=state, published_at_ms=key.published_at_ms, ended_at_ms=ended_at_ms)
