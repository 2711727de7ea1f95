"""Web sessions: somebody who has signed in, on one browser, until they leave or stay away for too long.

1. The browser holds a random secret; the store has a sealed document under its hash, and forgets it itself.
2. Who somebody is follows from how they signed in, judged by the directory of now at every call: whoever is
   taken out of it is signed out.
3. Signing in makes a new session always: no secret that was there before is ever let in (session fixation).
"""

import hashlib
import re
import secrets
from typing import Final

import msgspec
from msgspec import Struct

from placet.application.clock import Clock
from placet.application.directory import Caller, Directory
from placet.domain.authority import Authority
from placet.domain.errors import Unauthenticated
from placet.domain.limits import SIGN_IN_LINK_MS, TENANT_PATTERN, Limits
from placet.domain.principals import Approver
from placet.domain.voters import CHANNEL_WEB
from placet.domain.vouched import Vouched
from placet.store.codec import encode
from placet.store.sessions import Sessions
from placet.tokens import base64url
from placet.tokens.keyring_file import KeyringFile

_SECRET_BYTES: Final = 32
_SESSION: Final = "session"
_LINK: Final = "sign-in link"
_CSRF: Final = "csrf"
_HELD: Final = re.compile(rf"({TENANT_PATTERN})\.([A-Za-z0-9_-]{{43}})")
"""What a browser holds: the tenant, and the secret."""


class SignedIn(Struct, frozen=True, kw_only=True):
    """What is kept of a session.

    Attributes:
        person: The id they signed in by.
        at_ms: When, on the service's clock.
        vouched: The word of the issuer that signed them in; ``None`` where a link of this service did.
        name: What the issuer calls them.
        keys: The ids of the credentials they had then. A session ends when none of them is left: whoever was
            revoked and is brought back signs in anew.
    """

    person: str
    at_ms: int
    keys: tuple[str, ...] = ()
    vouched: Vouched | None = None
    name: str | None = None


class Offer(Struct, frozen=True, kw_only=True):
    """Whom a link signs in, and the ids of the credentials they had when it was made."""

    person: str
    keys: tuple[str, ...] = ()


class Session(Struct, frozen=True, kw_only=True):
    """A session in use.

    Attributes:
        caller: The person, among the principals and rules of now.
        held: The secret that the browser holds, whole.
        signed_in: What is kept of it.
        csrf: What every form of this session carries.
    """

    caller: Caller
    held: str
    signed_in: SignedIn
    csrf: str


class WebSessions:
    """The use cases.

    Args:
        store: Where they are.
        ring: Has the key to their seals.
        directory: Knows who somebody is today.
        clock: For how long a session lasts.
        limits: How long that is.
    """

    def __init__(
        self, store: Sessions, ring: KeyringFile, directory: Directory, clock: Clock, limits: Limits
    ) -> None:
        self._store = store
        self._ring = ring
        self._directory = directory
        self._clock = clock
        self._limits = limits

    async def offer(self, tenant: str, person: str) -> str:
        """A secret that signs a person in, once, within five minutes.

        Raises:
            Unauthenticated: The tenant knows nobody of this id.
            StoreUnavailable: The store can't be asked.
        """
        snapshot = await self._directory.snapshot(tenant)
        known = _person(snapshot.authority, SignedIn(person=person, at_ms=0))
        if known is None:
            raise Unauthenticated
        secret = _secret()
        hashed = _hash_of(_LINK, secret)
        document = self._sealed(
            _LINK, hashed, encode(Offer(person=person, keys=tuple(key.kid for key in known.keys)))
        )
        await self._store.offer(tenant, hashed, document, lives_ms=SIGN_IN_LINK_MS)
        return f"{tenant}.{secret}"

    async def redeem(self, offered: str) -> str:
        """Sign in with such a secret; what the browser holds from then on.

        Raises:
            Unauthenticated: It is none, was used, or is too old.
            StoreUnavailable: The store can't be asked.
        """
        tenant, secret = _parts(offered)
        hashed = _hash_of(_LINK, secret)
        kept = await self._store.redeem(tenant, hashed)
        document = self._opened(_LINK, hashed, kept)
        offer = msgspec.json.decode(document, type=Offer)
        signed_in = SignedIn(person=offer.person, keys=offer.keys, at_ms=self._clock.now_ms())
        if _person((await self._directory.snapshot(tenant)).authority, signed_in) is None:
            raise Unauthenticated
        return await self._begin(tenant, signed_in)

    async def _begin(self, tenant: str, signed_in: SignedIn) -> str:
        secret = _secret()
        hashed = _hash_of(_SESSION, secret)
        document = self._sealed(_SESSION, hashed, encode(signed_in))
        await self._store.keep(tenant, hashed, document, idle_ms=self._limits.session_idle_ms)
        return f"{tenant}.{secret}"

    async def find(self, held: str, *, is_used: bool = True) -> Session:
        """The session of a browser that holds this.

        Args:
            held: The secret.
            is_used: Whether somebody does something with it, so that it lasts longer.

        Raises:
            Unauthenticated: There is none: signed out, idle too long, over; or the person is nobody any more.
            StoreUnavailable: The store can't be asked.
            InternalError: The tenant's roll is spoilt.
        """
        tenant, secret = _parts(held)
        hashed = _hash_of(_SESSION, secret)
        kept = await self._store.find(
            tenant, hashed, idle_ms=self._limits.session_idle_ms if is_used else None
        )
        signed_in = msgspec.json.decode(self._opened(_SESSION, hashed, kept), type=SignedIn)
        if self._clock.now_ms() - signed_in.at_ms > self._limits.session_max_ms:
            await self._store.drop(tenant, hashed)
            raise Unauthenticated
        snapshot = await self._directory.snapshot(tenant)
        person = _person(snapshot.authority, signed_in)
        if person is None:
            await self._store.drop(tenant, hashed)
            raise Unauthenticated
        return Session(
            caller=Caller(
                principal=person,
                epoch=snapshot.epoch,
                authority=snapshot.authority,
                credential=_credential(signed_in),
                channel=CHANNEL_WEB,
            ),
            held=held,
            signed_in=signed_in,
            csrf=self._ring.sealer.seal(_CSRF, (tenant, hashed)),
        )

    async def end(self, held: str) -> None:
        """Sign out. Of a session that is none there is nothing to end.

        Raises:
            StoreUnavailable: Whether it has ended is unknown.
        """
        try:
            tenant, secret = _parts(held)
        except Unauthenticated:
            return
        await self._store.drop(tenant, _hash_of(_SESSION, secret))

    def _sealed(self, kind: str, hashed: str, document: bytes) -> bytes:
        return self._ring.sealer.seal(kind, (hashed, document)).encode() + document

    def _opened(self, kind: str, hashed: str, kept: bytes | None) -> bytes:
        """A document that we sealed."""
        start = -1 if kept is None else kept.find(b"{")
        if kept is None or start < 0:
            raise Unauthenticated
        seal, document = kept[:start].decode("latin-1"), kept[start:]
        if not self._ring.sealer.verify(kind, (hashed, document), seal):
            raise Unauthenticated
        return document


def _person(authority: Authority, signed_in: SignedIn) -> Approver | None:
    """Who somebody is today; ``None`` where they are nobody any more."""
    if signed_in.vouched is None:
        person = authority.signed_in(signed_in.person)
        left = set() if person is None else {key.kid for key in person.keys}
        return None if signed_in.keys and not left & set(signed_in.keys) else person
    return authority.vouched(signed_in.vouched, signed_in.name)


def _credential(signed_in: SignedIn) -> str:
    """What the trail names as shown: the issuer, or that it was a link."""
    return "link" if signed_in.vouched is None else signed_in.vouched.iss


def _secret() -> str:
    return base64url.encode(secrets.token_bytes(_SECRET_BYTES))


def _parts(held: str) -> tuple[str, str]:
    match = _HELD.fullmatch(held)
    if match is None:
        raise Unauthenticated
    return match[1], match[2]


def _hash_of(kind: str, secret: str) -> str:
    """Under what it is kept; of another kind it is another."""
    return hashlib.sha256(f"{kind}\0{secret}".encode()).hexdigest()
