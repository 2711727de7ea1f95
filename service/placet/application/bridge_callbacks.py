"""Callbacks of bridges: who has signed a message (Standard Webhooks), and what it was answered before.

1. Whose message it is says the signature alone: one of the live secrets of a bridge that may be called so.
   What nobody has signed is answered alike whether there is such a bridge or not, and takes as long.
2. A failure counts as one of a credential (:mod:`placet.application.strangers`). A good signature is looked
   for first among the bridges as they are known here: nothing that others do can keep one out.
3. A message is judged once. The same id again, for as long as it could come again, is answered as it was and
   decides nothing: not though somebody has changed their mind since, or might decide by now. Only what was
   not judged (the store was away) is judged then. Two of the same at the same time may both be judged; like
   every vote that is given twice, they count once.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Final

import msgspec
from msgspec import Struct

from placet.application.callback_names import places_of
from placet.application.callers import Caller, Snapshot
from placet.application.clock import Clock
from placet.application.complaints import Complaints
from placet.application.directory import Directory
from placet.application.enroll import LIVE_KEYS_MAX
from placet.application.signing_secrets import signing_secret
from placet.channels.webhooks.signing import SECRET_MIN_BYTES, WINDOW_S, SignatureInvalid, Unproved, proved
from placet.domain.errors import InvocationConflict, PlacetError, Unauthenticated
from placet.domain.principals import Client, Scope
from placet.store.callbacks import Callbacks
from placet.store.codec import encode
from placet.tokens.keyring_file import KeyringFile

KEPT_MS: Final = 2 * WINDOW_S * 1_000 + 60_000
"""For how long an answer is known: a message may come so early, be repeated so late, and clocks differ."""

_SERVER_FAULT: Final = 500
_TOO_MANY: Final = 429
_NO_KEY: Final = "-"

Headers = Sequence[tuple[bytes, bytes]]


class Signed(Struct, frozen=True, kw_only=True):
    """A message as it came."""

    named: str
    headers: Headers
    body: bytes
    address: str


class Proven(Struct, frozen=True, kw_only=True):
    """A message that a bridge has sent: which, and what it goes by."""

    caller: Caller
    message_id: str
    body: bytes

    @property
    def hashed(self) -> str:
        """By what its answer is kept."""
        return hashlib.sha256(encode((self.caller.name, self.message_id))).hexdigest()


class Answered(Struct, frozen=True, kw_only=True):
    """What a message was answered: a refusal, or that the decision was taken.

    Attributes:
        body_hash: SHA-256 of what it said.
        approval: What was decided, where it was.
        problem: Status and document of the refusal, where it was refused.
    """

    body_hash: str
    approval: str | None = None
    problem: tuple[int, msgspec.Raw] | None = None


class BridgeCallbacks:
    """The use cases beside the decision itself.

    Args:
        directory: Knows the bridges.
        ring: Has what signing secrets are made of.
        store: Knows what was answered.
        clock: Tells how old a message is.
    """

    def __init__(self, directory: Directory, ring: KeyringFile, store: Callbacks, clock: Clock) -> None:
        self._directory = directory
        self._ring = ring
        self._store = store
        self._clock = clock
        self._complaints = Complaints(clock)

    async def prove(self, signed: Signed) -> Proven:
        """Whose message it is.

        Raises:
            Unauthenticated: Nobody's: no such bridge, no such signature, or not of now.
            RateLimited: The same, once too often from there.
            StoreUnavailable: The store could not be asked.
        """
        places = places_of(signed.named)
        judges = [(tenant, partial(self._proven, signed, tenant, name)) for tenant, name in places]
        try:
            caller, message_id = await self._directory.signer(judges, signed.address)
        except Unauthenticated:
            self._complaints.say("bridge", self._why_not(signed))
            raise
        return Proven(caller=caller, message_id=message_id, body=signed.body)

    async def answered(self, proven: Proven) -> Answered | None:
        """What the same message was answered before; ``None`` where it comes for the first time.

        Raises:
            InvocationConflict: One with this id said something else.
            Rejudge: It is not known whose message it is any more.
            StoreUnavailable: The store could not be asked.
        """
        found = await self._store.find(proven.caller.tenant, proven.hashed)
        if found is None:
            return None
        await self.confirm(proven)
        answered = msgspec.json.decode(found, type=Answered)
        if answered.body_hash != _hash(proven.body):
            raise InvocationConflict
        return answered

    async def taken(self, proven: Proven, approval_id: str) -> None:
        """Remember that the decision was taken.

        Raises:
            StoreUnavailable: Whether it is remembered is unknown.
        """
        await self._keep(proven, Answered(body_hash=_hash(proven.body), approval=approval_id))

    async def refused(self, proven: Proven, error: PlacetError) -> None:
        """Remember that it was refused, unless that was no judgement.

        Raises:
            StoreUnavailable: Whether it is remembered is unknown.
        """
        if error.status >= _SERVER_FAULT or error.status == _TOO_MANY:
            return
        problem = (error.status, msgspec.Raw(encode(error.problem())))
        await self._keep(proven, Answered(body_hash=_hash(proven.body), problem=problem))

    def forget(self, proven: Proven) -> None:
        """Credentials or rules have changed: judge by those of now."""
        self._directory.forget(proven.caller.tenant)

    async def confirm(self, proven: Proven) -> None:
        """Nothing, where they have not.

        Raises:
            Rejudge: They have.
            StoreUnavailable: The store could not be asked.
        """
        await self._directory.confirm(proven.caller)

    async def _keep(self, proven: Proven, answered: Answered) -> None:
        await self._store.keep(proven.caller.tenant, proven.hashed, encode(answered), lives_ms=KEPT_MS)

    def _proven(
        self, signed: Signed, tenant: str, name: str, snapshot: Snapshot
    ) -> tuple[Caller, str] | None:
        """The bridge of this name, if it has signed the message.

        As many signatures are looked at whether there is one or not, and however many secrets it has.
        """
        bridge = snapshot.clients.get(name)
        if bridge is None or not bridge.may(Scope.DECIDE_AS):
            bridge = Client(tenant=tenant, name=name, scopes=frozenset())
        kids = [key.kid for key in reversed(bridge.keys)]
        signer, message_id = None, ""
        for kid in (*kids, *(_NO_KEY,) * (LIVE_KEYS_MAX - len(kids))):
            proof = self._signed_with(signing_secret(self._ring.sealer, bridge, kid), signed)
            if proof is not None and kid != _NO_KEY and signer is None:
                signer, message_id = kid, proof
        if signer is None:
            return None
        caller = Caller(
            principal=bridge, epoch=snapshot.epoch, authority=snapshot.authority, credential=signer
        )
        return caller, message_id

    def _why_not(self, signed: Signed) -> str:
        """Why a message that is nobody's is, in words for an operator."""
        try:
            proved([bytes(SECRET_MIN_BYTES)], signed.headers, signed.body, self._clock.now_ms() // 1_000)
        except SignatureInvalid as fault:
            if fault.reason is not Unproved.WRONG:
                return f"its signature or its time is {fault.reason}"
        return "no live secret of a bridge of this name made its signature"

    def _signed_with(self, secret: bytes, signed: Signed) -> str | None:
        now_s = self._clock.now_ms() // 1_000
        try:
            return proved([secret], signed.headers, signed.body, now_s).message_id
        except SignatureInvalid:
            return None


def _hash(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
