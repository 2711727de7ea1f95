"""Enrol: operators make, list, rotate and revoke the credentials of clients and approvers.

A secret is shown once, when it is made; the store keeps its SHA-256. Every change counts up the
tenant's epoch, so that it holds at once on every replica.
"""

import hashlib
import re
import secrets

import msgspec
from msgspec import Struct

from placet.application.clock import Clock
from placet.application.directory import Directory, Snapshot
from placet.domain.identity import check_id
from placet.domain.limits import ID_PATTERN, TENANT_PATTERN
from placet.domain.principals import Client, Key, Principal, faults_of
from placet.store.principals import Principals
from placet.store.registry import Registry

LIVE_KEYS_MAX = 2
"""A rotation leaves the secret before it alive, until the next one or a revocation of that key."""
_KID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"
_KID_CHARS = 12
_PATTERN = re.compile("[!-~]{1,200}")  # a capability, and * for any characters


class EnrolmentRefused(Exception):  # noqa: N818 - reads as what happened
    """An operator's wish that can't be granted; the message says what to do instead."""


class Issued(Struct, frozen=True, kw_only=True):
    """A principal and its new credential, which nobody can show again."""

    principal: Principal
    credential: str


class Enrolment:
    """The use cases. They act with the rights of whoever can open the store and the keyring."""

    def __init__(self, store: Principals, registry: Registry, directory: Directory, clock: Clock) -> None:
        self._store = store
        self._registry = registry
        self._directory = directory
        self._clock = clock

    async def create(self, principal: Principal) -> Issued:
        """Enter a client or an approver and issue its first credential.

        Raises:
            EnrolmentRefused: The name is taken, or something about the principal is wrong.
            StoreUnavailable: The store can't be asked; whether the change was made is unknown.
        """
        faults = _faults(principal)
        if faults:
            raise EnrolmentRefused(" ".join(faults))
        await self._registry.add_tenant(principal.tenant)
        return await self._issue(principal, expected=b"")

    async def all(self, tenant: str) -> Snapshot:
        """The tenant's principals, freshly read."""
        self._directory.forget(tenant)
        return await self._directory.snapshot(tenant)

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

    async def _known(self, tenant: str, field: str) -> tuple[Principal, bytes]:
        _, documents = await self._store.all(tenant)
        stored = documents.get(field, b"")
        principal = self._directory.open(tenant, field, stored) if stored else None
        if principal is None:
            kind, _, name = field.partition(":")
            raise EnrolmentRefused(
                f"Tenant {tenant!r} has no {kind} {name!r}; `placet {kind}s list` shows them."
            )
        return principal, stored

    async def _issue(self, principal: Principal, *, expected: bytes) -> Issued:
        kid = "".join(secrets.choice(_KID_ALPHABET) for _ in range(_KID_CHARS))
        secret = secrets.token_urlsafe(32)
        key = Key(
            kid=kid,
            sha256=hashlib.sha256(secret.encode()).hexdigest(),
            created_at_ms=self._clock.now_ms(),
        )
        kept = principal.keys[-(LIVE_KEYS_MAX - 1) :]
        changed = msgspec.structs.replace(principal, keys=(*kept, key))
        await self._write(principal, expected=expected, changed=changed)
        return Issued(principal=changed, credential=f"plc_{principal.tenant}_{kid}_{secret}")

    async def _write(self, principal: Principal, *, expected: bytes, changed: Principal) -> None:
        epoch = await self._store.enroll(
            principal.tenant,
            principal.field,
            expected=expected,
            document=self._directory.seal(changed),
            kids=tuple(key.kid for key in changed.keys),
        )
        self._directory.forget(principal.tenant)
        if epoch is None and not expected:
            name = principal.field.replace(":", " ")
            raise EnrolmentRefused(
                f"{name} is there already, or was and has been revoked: rotate it instead, or choose "
                "another name."
            )
        if epoch is None:
            raise EnrolmentRefused("It was changed meanwhile; look again.")


def _faults(principal: Principal) -> list[str]:
    faults = []
    if not re.fullmatch(TENANT_PATTERN, principal.tenant):
        faults.append("A tenant is 1 to 63 of a-z, 0-9 and -, and starts with a letter or digit.")
    if isinstance(principal, Client):
        if not re.fullmatch(ID_PATTERN, principal.name):
            faults.append("A client's name is 1 to 128 of A-Z, a-z, 0-9 and ._:-, led by a letter or digit.")
        faults += faults_of(principal)
        faults += [
            f"{pattern!r} is no capability pattern: use visible ASCII, * for any characters."
            for pattern in principal.capabilities
            if not _PATTERN.fullmatch(pattern)
        ]
        people = (*principal.owners, *principal.people)
    else:
        people = (principal.id,)
    for person in people:
        fault = check_id(person)
        if fault:
            faults.append(f"A person's id {fault}: {person!r}.")
    return faults
