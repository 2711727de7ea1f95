"""Web sessions: somebody who has signed in, on one browser, until they leave or stay away for too long.

1. The browser holds a random secret; the store has a sealed document under its hash, and forgets it itself.
2. Who somebody is follows from how they signed in, judged by the directory of now at every call: whoever is
   taken out of it is signed out.
3. Signing in makes a new session always: no secret that was there before is ever let in (session fixation).
4. Where an issuer signs people in, nothing else does. What it says of groups ages here as it does in a token.
5. An operator signs somebody out everywhere by a mark (:mod:`placet.application.marks`).
"""

import re
from typing import Final

import msgspec
from msgspec import Struct, structs

from placet.application.callers import Caller
from placet.application.clock import Clock
from placet.application.directory import Directory
from placet.application.marks import Marks
from placet.application.sealing import Sealing, hash_of, random_secret
from placet.domain.authority import Authority
from placet.domain.errors import Unauthenticated
from placet.domain.limits import SIGN_IN_LINK_MS, TENANT_PATTERN, Limits
from placet.domain.people import Issuer, People
from placet.domain.principals import Approver
from placet.domain.voters import CHANNEL_WEB
from placet.domain.vouched import Vouched
from placet.store.codec import encode
from placet.store.sessions import Sessions
from placet.tokens.foreign import Proof
from placet.tokens.foreign_claims import GROUPS_MAX_AGE_MS
from placet.tokens.keyring_file import KeyringFile

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
        told_at_ms: When it gave that word.
        line: What the forms of this session are bound to; kept when the same person signs in again.
        name: What the issuer calls them.
        keys: The ids of the credentials they had then. A session ends when none of them is left: whoever was
            revoked and is brought back signs in anew.
        marks: The marks on their names then.
    """

    person: str
    at_ms: int
    keys: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    vouched: Vouched | None = None
    told_at_ms: int = 0
    line: str = ""
    name: str | None = None


class Offer(Struct, frozen=True, kw_only=True):
    """Whom a link signs in, and the ids of the credentials and the marks they had when it was made."""

    person: str
    keys: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


class Session(Struct, frozen=True, kw_only=True):
    """A session in use.

    Attributes:
        caller: The person, among the principals and rules of now.
        held: The secret that the browser holds, whole.
        signed_in: What is kept of it.
        csrf: What every form of this session carries.
        is_aged: Whether what the issuer said of their groups was too long ago to count.
    """

    caller: Caller
    held: str
    signed_in: SignedIn
    csrf: str
    is_aged: bool = False


class LinksClosed(Exception):  # noqa: N818 - told to whoever wants one
    """No link signs anybody in, for an issuer does."""


def has_sign_in(authority: Authority) -> bool:
    """Whether an issuer signs people in, of whichever tenant."""
    return any(issuer.sign_in is not None for issuer in authority.issuers.values())


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
        self._marks = Marks(store)
        self._ring = ring
        self._sealing = Sealing(ring)
        self._directory = directory
        self._clock = clock
        self._limits = limits

    async def offer(self, tenant: str, person: str) -> str:
        """A secret that signs a person in, once, within five minutes.

        Raises:
            LinksClosed: An issuer signs people in.
            Unauthenticated: The tenant knows nobody of this id.
            StoreUnavailable: The store can't be asked.
        """
        snapshot = await self._directory.snapshot(tenant)
        if has_sign_in(snapshot.authority):
            raise LinksClosed
        known = self._person(snapshot.authority, SignedIn(person=person, at_ms=0))
        if known is None:
            raise Unauthenticated
        marks = await self._marks.on(snapshot.authority, person, known.id)
        secret = random_secret()
        hashed = hash_of(_LINK, secret)
        offer = Offer(person=person, keys=tuple(key.kid for key in known.keys), marks=marks)
        document = self._sealing.sealed(_LINK, tenant, hashed, encode(offer))
        await self._store.offer(tenant, hashed, document, lives_ms=SIGN_IN_LINK_MS)
        return f"{tenant}.{secret}"

    async def redeem(self, offered: str) -> str:
        """Sign in with such a secret; what the browser holds from then on.

        Raises:
            Unauthenticated: It is none, was used, or is too old.
            StoreUnavailable: The store can't be asked.
        """
        tenant, secret = _parts(offered)
        hashed = hash_of(_LINK, secret)
        kept = await self._store.redeem(tenant, hashed)
        document = self._sealing.opened(_LINK, tenant, hashed, kept)
        offer = msgspec.json.decode(document, type=Offer)
        signed_in = SignedIn(
            person=offer.person, keys=offer.keys, marks=offer.marks, at_ms=self._clock.now_ms()
        )
        authority = (await self._directory.snapshot(tenant)).authority
        person = self._person(authority, signed_in)
        if person is None or await self._was_signed_out(authority, signed_in, person):
            raise Unauthenticated
        return await self._begin(tenant, signed_in)

    async def begin(self, issuer: Issuer, proof: Proof, former: Session | None = None) -> str:
        """Begin a session of whom an issuer has just signed in; what the browser holds from then on.

        Args:
            issuer: Who signs them in.
            proof: What it says of them.
            former: The session that the browser had. Where it was the same person's, what is open in its
                other windows goes on.

        Raises:
            Unauthenticated: The issuer's word is not, or no more, worth anything here.
            StoreUnavailable: The store can't be asked.
        """
        signed_in = SignedIn(
            person=proof.vouched.stranger_id,
            at_ms=self._clock.now_ms(),
            vouched=proof.vouched,
            told_at_ms=proof.issued_at_ms,
            name=proof.name,
            line=_line_of(former, proof),
        )
        authority = (await self._directory.snapshot(issuer.tenant)).authority
        person = self._person(authority, signed_in)
        if person is None:
            raise Unauthenticated
        marks = await self._marks.on(authority, signed_in.person, person.id)
        return await self._begin(issuer.tenant, structs.replace(signed_in, marks=marks))

    async def _begin(self, tenant: str, signed_in: SignedIn) -> str:
        secret = random_secret()
        hashed = hash_of(_SESSION, secret)
        signed_in = structs.replace(signed_in, line=signed_in.line or random_secret())
        document = self._sealing.sealed(_SESSION, tenant, hashed, encode(signed_in))
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
        hashed = hash_of(_SESSION, secret)
        kept = await self._store.find(
            tenant, hashed, idle_ms=self._limits.session_idle_ms if is_used else None
        )
        signed_in = msgspec.json.decode(self._sealing.opened(_SESSION, tenant, hashed, kept), type=SignedIn)
        if self._clock.now_ms() - signed_in.at_ms > self._limits.session_max_ms:
            await self._store.drop(tenant, hashed)
            raise Unauthenticated
        snapshot = await self._directory.snapshot(tenant)
        person = self._person(snapshot.authority, signed_in)
        if person is None or await self._was_signed_out(snapshot.authority, signed_in, person):
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
            csrf=self._ring.sealer.seal(_CSRF, (tenant, signed_in.line or hashed)),
            is_aged=self._is_aged(signed_in),
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
        await self._store.drop(tenant, hash_of(_SESSION, secret))

    async def end_all(self, tenant: str, name: str, people: People | None = None) -> bool:
        """Sign somebody out everywhere, and void the links made for them; whether anybody goes by this name.

        Args:
            tenant: Whose person.
            name: Their id, or any name the directory has for them.
            people: The directory; by default, that of this process's rules. Their id needs none.

        Raises:
            StoreUnavailable: Whether it is done is unknown; doing it again does no harm.
        """
        snapshot = await self._directory.snapshot(tenant)
        known = snapshot.authority.people if people is None else people
        return await self._marks.put(tenant, name, known, snapshot.approvers)

    async def _was_signed_out(self, authority: Authority, signed_in: SignedIn, person: Approver) -> bool:
        marks = await self._marks.on(authority, signed_in.person, person.id)
        return not set(marks) <= set(signed_in.marks)

    def _person(self, authority: Authority, signed_in: SignedIn) -> Approver | None:
        """Who somebody is today; ``None`` where they are nobody any more."""
        word = signed_in.vouched
        if word is not None:
            is_signer = any(issuer.iss == word.iss for issuer in authority.sign_ins)
            word = structs.replace(word, groups=()) if self._is_aged(signed_in) else word
            return authority.vouched(word, signed_in.name) if is_signer else None
        if has_sign_in(authority):
            return None
        person = authority.signed_in(signed_in.person)
        left = set() if person is None else {key.kid for key in person.keys}
        return None if signed_in.keys and not left & set(signed_in.keys) else person

    def _is_aged(self, signed_in: SignedIn) -> bool:
        """Whether groups were told of, and too long ago."""
        told_of = signed_in.vouched is not None and bool(signed_in.vouched.groups)
        return told_of and self._clock.now_ms() - signed_in.told_at_ms > GROUPS_MAX_AGE_MS


def _line_of(former: Session | None, proof: Proof) -> str:
    """That of a session which is followed by one of the same person; else a new one's."""
    word = None if former is None else former.signed_in.vouched
    is_same = former is not None and word is not None and word.subject == proof.vouched.subject
    return former.signed_in.line if former is not None and is_same else ""


def _credential(signed_in: SignedIn) -> str:
    """What the trail names as shown: the issuer, or that it was a link."""
    return "link" if signed_in.vouched is None else signed_in.vouched.iss


def _parts(held: str) -> tuple[str, str]:
    match = _HELD.fullmatch(held)
    if match is None:
        raise Unauthenticated
    return match[1], match[2]
