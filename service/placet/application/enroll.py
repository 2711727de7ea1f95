"""Enrol: operators make, list, rotate and revoke the credentials of clients and approvers.

A secret is shown once, when it is made; the store keeps its SHA-256. Every change makes a new roll of the
tenant (:mod:`placet.application.roll`), so that it holds at once on every replica. A tenant's first roll
begins with the rules that are in force (:mod:`placet.application.in_force`).
"""

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from placet.application.callers import Snapshot
from placet.application.clock import Clock
from placet.application.directory import Directory
from placet.application.endpoint_faults import PATTERN
from placet.application.endpoint_faults import faults_of as faults_of_endpoint
from placet.application.in_force import InForce, InForceSpoilt
from placet.application.roll import RollSpoilt, followed, sealed
from placet.application.signing_secrets import signing_secrets
from placet.channels.webhooks import signing
from placet.channels.webhooks.addresses import Networks
from placet.domain.authority import Rulebook
from placet.domain.generation import generation_of
from placet.domain.identity import check_id
from placet.domain.limits import ID_PATTERN, TENANT_PATTERN
from placet.domain.principals import Approver, Client, Endpoint, Enrolled, Key, Scope, faults_of
from placet.domain.voters import OWN_CHANNELS
from placet.store.principals import Principals, Roll
from placet.store.registry import Registry
from placet.tokens.keyring_file import KeyringFile

LIVE_KEYS_MAX = 2
"""A rotation leaves the secret before it alive, until the next one or a revocation of that key."""
ATTEMPTS_MAX = 32
"""Of changes to one tenant at once one gets through each time, and the others try again."""
_KID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_KID_CHARS = 12


class EnrolmentRefused(Exception):  # noqa: N818 - reads as what happened
    """An operator's wish that can't be granted; the message says what to do instead."""


class Issued(Struct, frozen=True, kw_only=True):
    """A principal and its new credential, which nobody can show again; ``ended`` died of it.

    An endpoint has no credential, and a signing secret in its place; a bridge has both.
    """

    principal: Enrolled
    credential: str
    ended: tuple[Key, ...] = ()
    signing_secret: str | None = None


class Enrolment:
    """The use cases. They act with the rights of whoever can open the store and the keyring.

    A roll is checked before it is changed: sealing one that somebody else has written would make it ours.
    ``allowed`` are the networks that webhook endpoints may be in besides public ones.
    """

    def __init__(
        self,
        store: Principals,
        registry: Registry,
        directory: Directory,
        ring: KeyringFile,
        in_force: InForce,
        clock: Clock,
        allowed: Networks = (),
    ) -> None:
        self._allowed = allowed
        self._store = store
        self._in_force = in_force
        self._registry = registry
        self._directory = directory
        self._ring = ring
        self._clock = clock

    async def create(self, principal: Enrolled) -> Issued:
        """Enter a client or an approver and issue its first credential.

        Raises:
            EnrolmentRefused: The name is taken, or something about the principal is wrong.
            StoreUnavailable: The store can't be asked; whether the change was made is unknown.
        """
        faults = _faults(principal, self._allowed)
        if faults:
            raise EnrolmentRefused(" ".join(faults))
        await self._registry.add_tenant(principal.tenant)
        issued = await self._issue(principal, expected=b"")
        await self.carry(principal.tenant)  # other rules may have been put in force just now
        return issued

    async def all(self, tenant: str) -> Snapshot:
        """The tenant's principals, freshly read.

        Raises:
            EnrolmentRefused: They are not as they were last written.
        """
        roll, principals = await self._roll(tenant)
        return Snapshot.of(tenant, roll.epoch, principals.values(), Rulebook())

    async def rotate(self, tenant: str, field: str) -> Issued:
        """Issue a further credential; the one before it lives on, any older one is dropped.

        Raises:
            EnrolmentRefused: There is no such principal, or it was changed meanwhile.
        """
        principal, stored = await self._known(tenant, field)
        return await self._issue(principal, expected=stored)

    async def revoke(self, tenant: str, field: str, kid: str | None = None) -> None:
        """Take back one credential, or all of them.

        The name stays taken: records name clients and people by it, and whoever came after under the same
        name would inherit what is still open. A rotation brings the same principal back.

        Raises:
            EnrolmentRefused: There is no such principal or key, or it was changed meanwhile.
        """
        principal, stored = await self._known(tenant, field)
        if not principal.keys:
            raise EnrolmentRefused("It has no live credential: it was revoked before.")
        left = tuple(key for key in principal.keys if key.kid != kid)
        if kid is not None and len(left) == len(principal.keys):
            live = ", ".join(key.kid for key in principal.keys)
            raise EnrolmentRefused(f"It has no key {kid!r}; its live keys: {live}.")
        changed = msgspec.structs.replace(principal, keys=() if kid is None else left)
        await self._write(principal, expected=stored, changed=changed)

    async def count_change(self, tenant: str) -> None:
        """Have every replica judge anew, and heed whatever signing key our keyring says is revoked.

        Raises:
            EnrolmentRefused: The tenant's principals are not as they were last written.
        """
        for _ in range(ATTEMPTS_MAX):
            roll, _principals = await self._roll(tenant)
            if await self._replace(tenant, roll):
                return
        raise _busy(tenant)

    async def carry(self, tenant: str) -> None:
        """Have a tenant judged by the rules in force, where it is not yet; never by older ones than it was.

        Whatever order two processes do it in, the rules that were put in force last are those that hold: they
        were the store's word before any tenant was carried, and are looked at between reading and writing.

        Raises:
            EnrolmentRefused: The tenant's principals are not as they were last written.
        """
        for _ in range(ATTEMPTS_MAX):
            roll, _principals = await self._roll(tenant)
            generation = await self._generation()
            if roll.is_blank or generation == roll.generation or _is_older(generation, roll.generation):
                return
            if await self._replace(tenant, roll, generation=generation):
                return
        raise _busy(tenant)

    async def _generation(self) -> str:
        try:
            return await self._in_force.text()
        except InForceSpoilt as fault:
            raise EnrolmentRefused(str(fault)) from fault

    async def _roll(self, tenant: str) -> tuple[Roll, Mapping[str, Enrolled]]:
        try:
            return await self._directory.roll(tenant)
        except RollSpoilt as fault:
            raise EnrolmentRefused(str(fault)) from fault

    async def _known(self, tenant: str, field: str) -> tuple[Enrolled, bytes]:
        roll, principals = await self._roll(tenant)
        principal = principals.get(field)
        if principal is None:
            kind, _, name = field.partition(":")
            raise EnrolmentRefused(
                f"Tenant {tenant!r} has no {kind} {name!r}; `placet {kind}s list` shows them."
            )
        return principal, roll.rows[field]

    async def _issue(self, principal: Enrolled, *, expected: bytes) -> Issued:
        kid = "".join(secrets.choice(_KID_ALPHABET) for _ in range(_KID_CHARS))
        secret = secrets.token_urlsafe(32)
        shows_one = not isinstance(principal, Endpoint)
        key = Key(
            kid=kid,
            sha256=hashlib.sha256(secret.encode()).hexdigest() if shows_one else "",
            created_at_ms=self._clock.now_ms(),
        )
        ended, kept = principal.keys[: -(LIVE_KEYS_MAX - 1)], principal.keys[-(LIVE_KEYS_MAX - 1) :]
        changed = msgspec.structs.replace(principal, keys=(*kept, key))
        await self._write(principal, expected=expected, changed=changed)
        credential = f"plc_{principal.tenant}_{kid}_{secret}" if shows_one else ""
        signs = () if isinstance(changed, Approver) else signing_secrets(self._ring.sealer, changed)
        return Issued(
            principal=changed,
            credential=credential,
            ended=ended,
            signing_secret=signing.written(signs[0]) if signs else None,
        )

    async def _write(self, principal: Enrolled, *, expected: bytes, changed: Enrolled) -> None:
        tenant, field = changed.tenant, changed.field
        row = sealed(self._ring.sealer, changed)
        for _ in range(ATTEMPTS_MAX):
            roll, _principals = await self._roll(tenant)
            held = roll.rows.get(field, b"")
            if held == row:  # an earlier attempt, which another change came after before it was answered
                break
            if held != expected:
                raise _in_the_way(principal, entering=not expected)
            kids = tuple(key.kid for key in changed.keys)
            generation = await self._generation() if roll.is_blank else None
            if await self._replace(tenant, roll, change=(field, row), kids=kids, generation=generation):
                break
        else:
            raise _busy(tenant)

    async def _replace(
        self,
        tenant: str,
        roll: Roll,
        *,
        change: tuple[str, bytes] | None = None,
        kids: Sequence[str] = (),
        generation: str | None = None,
    ) -> bool:
        """Put the next roll in the place of ``roll``; False where another change was first."""
        ring = self._ring
        revoked = tuple(key.kid for key in ring.ring.revoked)
        after = followed(ring.sealer, tenant, roll, revoked=revoked, change=change, generation=generation)
        field = change[0] if change else ""
        done = await self._store.enroll(tenant, after, instead_of=roll.manifest, field=field, kids=kids)
        self._directory.forget(tenant)
        return done


def _is_older(generation: str, held: str) -> bool:
    """Whether rules may not take the place of those held. None at all may: an operator has dropped them."""
    return generation != "" and generation_of(generation).objection(generation_of(held)) is not None


def _in_the_way(principal: Enrolled, *, entering: bool) -> EnrolmentRefused:
    if not entering:
        return EnrolmentRefused("It was changed meanwhile; look again.")
    name = principal.field.replace(":", " ")
    return EnrolmentRefused(
        f"{name} is there already, or was and has been revoked: rotate it instead, or choose another name."
    )


def _busy(tenant: str) -> EnrolmentRefused:
    return EnrolmentRefused(
        f"The principals of tenant {tenant!r} keep being changed by others: try again in a moment."
    )


def _faults(principal: Enrolled, allowed: Networks) -> list[str]:
    faults = []
    if not re.fullmatch(TENANT_PATTERN, principal.tenant):
        faults.append("A tenant is 1 to 63 of a-z, 0-9 and -, and starts with a letter or digit.")
    if isinstance(principal, Client):
        if not re.fullmatch(ID_PATTERN, principal.name):
            faults.append("A client's name is 1 to 128 of A-Z, a-z, 0-9 and ._:-, led by a letter or digit.")
        faults += faults_of(principal)
        if principal.may(Scope.DECIDE_AS) and principal.name in OWN_CHANNELS:
            faults.append("A bridge's name is the channel of its decisions; this one is Placet's own.")
        faults += [
            f"{pattern!r} is no capability pattern: use visible ASCII, * for any characters."
            for pattern in principal.capabilities
            if not PATTERN.fullmatch(pattern)
        ]
        people = (*principal.owners, *principal.people)
    elif isinstance(principal, Endpoint):
        faults += faults_of_endpoint(principal, allowed)
        people = ()
    else:
        people = (principal.id,)
    for person in people:
        fault = check_id(person)
        if fault:
            faults.append(f"A person's id {fault}: {person!r}.")
    return faults
