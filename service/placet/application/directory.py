"""Who is calling: credentials turned into principals, cached for as long as nothing changes.

A tenant's roll of principals is read whole and kept with the epoch it was read at. Every script is told
that epoch; when the store's differs it writes nothing, the use case raises
:class:`~placet.store.approvals.Rejudge`, and the caller is judged anew. So a revocation holds at once
on every replica, and while nothing changes authentication costs no round trip.

A roll that is not as it was sealed (:mod:`placet.application.roll`), or that went back to an epoch before one
seen here, lets nobody of its tenant in. That is ``INTERNAL_ERROR`` with an alarm in the log, as for a broken
seal anywhere: 401 would blame credentials that may be good, and ``STORE_UNAVAILABLE`` would have every caller
try again until an operator has acted.

Who may decide what is told by the rules that the roll names (:mod:`placet.application.rulebooks`). A replica
that has not got those lets nobody of the tenant in: ``STORE_UNAVAILABLE``, for another replica may have them.

A credential that nobody here knows is looked up, at once or as :mod:`placet.application.strangers` says. One
that is none of ours may be the token of an OIDC issuer (:mod:`placet.application.issuers`): whom it is of is
judged among the same principals, at the same epoch.
"""

import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from placet.application.callers import Caller, Snapshot
from placet.application.issuers import Issuers
from placet.application.roll import RollSpoilt, opened, went_back
from placet.application.rulebooks import NoFiles, Rulebooks
from placet.application.strangers import Strangers
from placet.domain.chat import SlackApp
from placet.domain.errors import InternalError, StoreUnavailable, Unauthenticated
from placet.domain.limits import TENANT_PATTERN
from placet.domain.people import Issuer
from placet.domain.principals import Enrolled
from placet.store.approvals import Rejudge
from placet.store.principals import Principals, Roll
from placet.tokens.keyring_file import KeyringFile

CREDENTIAL = re.compile(rf"plc_({TENANT_PATTERN})_([a-z0-9]{{12}})_([A-Za-z0-9_-]{{43}})")
"""``plc_<tenant>_<key id>_<256-bit secret, base64url>``."""

_NO_KEY = "-"
"""No credential has this key id: asking for it tells the epoch and nothing else."""

_T = TypeVar("_T")

_log = logging.getLogger(__name__)


class NobodyYet(Exception):  # noqa: N818 - told to whoever comes first
    """A tenant has no principals, nor had any."""


class Directory:
    """The principals of all tenants.

    Args:
        store: Where their rolls are.
        ring: Has the key to their seals, and heeds which signing keys they say are revoked.
        strangers: Says how much is done about credentials that nobody knows.
        changed: Called before a tenant is read: something has changed, and it may be the keyring.
        rulebooks: The operator's directory and rules, by what rolls name.
        issuers: Proves tokens of OIDC issuers; without it there are none.
    """

    def __init__(
        self,
        store: Principals,
        ring: KeyringFile,
        strangers: Strangers,
        changed: Callable[[], None] = lambda: None,
        rulebooks: Rulebooks | None = None,
        issuers: Issuers | None = None,
    ) -> None:
        self._store = store
        self._ring = ring
        self._strangers = strangers
        self._rulebooks = rulebooks or Rulebooks(NoFiles())
        self._issuers = issuers
        self._changed = changed
        self._snapshots: dict[str, Snapshot] = {}
        self._latest: dict[str, int] = {}
        # Callers by the hash of a credential that was proven, for as long as their snapshot stands.
        self._proven: dict[bytes, Caller] = {}

    async def authenticate(self, credential: str, address: str = "") -> Caller:
        """The principal whose live secret this is, or whom an issuer's token is of.

        Args:
            credential: What was presented.
            address: Where the caller is, as far as that is known.

        Raises:
            Unauthenticated: It is nobody's: malformed, unknown, rotated out or revoked.
            RateLimited: The same, once too often from there.
            IssuerUnavailable: Whether it is somebody's could not be asked of its issuer.
            StoreUnavailable: The store could not be asked.
            InternalError: The tenant's roll is spoilt.
        """
        proof = hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()
        proven = self._proven.get(proof)
        if proven is not None:
            return proven
        with self._strangers.attempt(address) as is_welcome:
            return await self._prove(credential, proof, at_once=is_welcome)

    async def signer(
        self, judges: Sequence[tuple[str, Callable[[Snapshot], _T | None]]], address: str = ""
    ) -> _T:
        """Whoever has signed something that came in place of a credential.

        Args:
            judges: The tenants in which they may be, and what says who they are by a snapshot of that tenant;
                ``None`` where nobody there has signed it.
            address: Where it comes from, as far as that is known.

        Raises:
            Unauthenticated: Nobody has.
            RateLimited: The same, once too often from there.
            StoreUnavailable: The store could not be asked, or this replica has not got the tenant's rules.
            InternalError: A tenant's roll is spoilt.
        """
        looked = {tenant: self._snapshots.get(tenant) for tenant, _ in judges}
        for tenant, judge in judges:
            snapshot = looked[tenant]
            found = None if snapshot is None else judge(snapshot)
            if found is not None:
                return found
        with self._strangers.attempt(address) as is_welcome:
            for tenant, judge in judges:
                try:
                    snapshot = await (self._as_it_is(tenant) if is_welcome else self._lately(tenant))
                except Unauthenticated:  # there is no such tenant
                    continue
                found = None if snapshot is looked[tenant] else judge(snapshot)
                if found is not None:
                    return found
            raise Unauthenticated

    async def _prove(self, credential: str, proof: bytes, *, at_once: bool) -> Caller:
        match = CREDENTIAL.fullmatch(credential)
        if match is None:
            return await self._vouched(credential)
        tenant, kid, secret = match.groups()
        snapshot = self._snapshots.get(tenant)
        if snapshot is None and at_once and tenant in self._latest:
            # It has changed, and is seen as it is now whoever asks: what goes back later is noticed.
            snapshot = await self._read(tenant)
        if snapshot is None or kid not in snapshot.by_key:
            # A key we have not seen may be newer than the snapshot, or nobody's.
            snapshot = await (self._looked_up(tenant, kid) if at_once else self._lately(tenant))
        principal = snapshot.by_key.get(kid)
        presented = hashlib.sha256(secret.encode()).hexdigest()
        held = next((key.sha256 for key in principal.keys if key.kid == kid), "") if principal else ""
        if principal is None or not hmac.compare_digest(presented, held):
            raise Unauthenticated
        caller = Caller(
            principal=principal, epoch=snapshot.epoch, authority=snapshot.authority, credential=kid
        )
        if self._snapshots.get(tenant) is snapshot:
            self._proven[proof] = caller
        return caller

    async def _vouched(self, token: str) -> Caller:
        """Whoever an issuer vouches for, as of the tenant's present epoch and under the rules of that.

        It is looked up each time: what a token says of groups ages, and the directory changes. Until it is
        proven anybody can have written it, so the tenant it leads to is never asked for at once.
        """
        if self._issuers is None:
            raise Unauthenticated
        tenant = self._issuers.named_by(token, self._rulebooks.own.issuers).tenant
        snapshot = self._snapshots.get(tenant) or await self._lately(tenant)
        proof = await self._issuers.prove(token, snapshot.authority.issuers)
        principal = snapshot.authority.vouched(proof.at(self._issuers.now_ms()), proof.name)
        if principal is None:
            raise Unauthenticated
        return Caller(
            principal=principal,
            epoch=snapshot.epoch,
            authority=snapshot.authority,
            credential=principal.vouched.iss if principal.vouched else None,
        )

    def forget(self, tenant: str) -> None:
        """Drop what is known of a tenant: it has changed."""
        self._snapshots.pop(tenant, None)
        self._strangers.forget(tenant)
        self._proven = {proof: known for proof, known in self._proven.items() if known.tenant != tenant}

    @property
    def slack_apps(self) -> tuple[SlackApp, ...]:
        """The Slack apps of all tenants, by this replica's files."""
        return tuple(self._rulebooks.own.slack.values())

    @property
    def sign_ins(self) -> tuple[Issuer, ...]:
        """The issuers that sign people in on the pages, of whichever tenant, by this replica's files."""
        return tuple(each for each in self._rulebooks.own.issuers.values() if each.sign_in is not None)

    async def sign_in(self, name: str) -> Issuer | None:
        """The issuer of this name as its tenant's rules of now have it.

        Raises:
            NobodyYet: Nobody can ask anything in its tenant, and so nobody can decide anything there.
            StoreUnavailable: The store could not be asked, or this replica has not got the tenant's rules.
            InternalError: The tenant's roll is spoilt.
        """
        for own in self.sign_ins:
            if own.sign_in is not None and own.sign_in.name == name:
                snapshot = await self.snapshot(own.tenant)
                if snapshot.epoch == 0:
                    raise NobodyYet
                found = snapshot.authority.issuers.get(own.iss)
                return found if found is not None and found.sign_in == own.sign_in else None
        return None

    async def snapshot(self, tenant: str) -> Snapshot:
        """The tenant's principals, as last read."""
        return self._snapshots.get(tenant) or await self._read(tenant)

    async def confirm(self, caller: Caller) -> None:
        """Nothing, where the principals are still those that ``caller`` was authenticated among.

        For answers that no script stands behind: asks the store alone.

        Raises:
            Rejudge: They have changed.
        """
        epoch, _ = await self._store.by_key(caller.tenant, _NO_KEY)
        if epoch != caller.epoch:
            raise Rejudge

    async def roll(self, tenant: str) -> tuple[Roll, Mapping[str, Enrolled]]:
        """The tenant's roll as the store has it now, and its principals by field.

        Raises:
            RollSpoilt: It is not as it was last sealed, or went back to what it was before.
            StoreUnavailable: The store could not be asked.
        """
        self._changed()
        latest = self._latest.get(tenant, 0)  # a reply that is late is not one that went back
        roll = await self._store.all(tenant)
        principals = opened(self._ring.sealer, tenant, roll)
        if roll.epoch < latest and not roll.is_blank:
            raise went_back(tenant)
        self._latest[tenant] = max(self._latest.get(tenant, 0), roll.epoch)
        self._ring.heed(roll.revoked)
        return roll, principals

    async def _looked_up(self, tenant: str, kid: str) -> Snapshot:
        """The tenant as it is now, if it has this key."""
        # Asking for the one key keeps made-up credentials from making us read or remember a tenant.
        _, field = await self._store.by_key(tenant, kid)
        if field is None:
            raise Unauthenticated
        return await self._read(tenant)

    async def _as_it_is(self, tenant: str) -> Snapshot:
        """The tenant as it is now, if there is one."""
        # Asking for its epoch alone keeps made-up tenants from being read or remembered.
        epoch, _ = await self._store.by_key(tenant, _NO_KEY)
        if epoch == 0:
            raise Unauthenticated
        known = self._snapshots.get(tenant)
        return known if known is not None and known.epoch == epoch else await self._read(tenant)

    async def _lately(self, tenant: str) -> Snapshot:
        """The tenant as it was a moment ago, if there is one."""
        await self._strangers.meet(tenant, partial(self._catch_up, tenant))
        known = self._snapshots.get(tenant)
        if known is None:  # it has changed again meanwhile, or this replica has not got its rules
            raise StoreUnavailable
        return known

    async def _catch_up(self, tenant: str) -> None:
        known = self._snapshots.get(tenant)
        if known is None or (await self._store.by_key(tenant, _NO_KEY))[0] != known.epoch:
            await self._read(tenant)

    async def _read(self, tenant: str) -> Snapshot:
        try:
            roll, principals = await self.roll(tenant)
        except RollSpoilt as fault:
            self.forget(tenant)
            _log.error("a tenant's principals are spoilt", extra={"tenant": tenant, "fault": str(fault)})
            raise InternalError from fault
        rulebook = self._rulebooks.at(roll.generation)
        snapshot = Snapshot.of(tenant, roll.epoch, principals.values(), rulebook)
        if rulebook is None:  # not kept: whoever calls next looks again
            self.forget(tenant)
            if roll.is_blank:
                _log.warning("a tenant has neither client nor approver yet", extra={"tenant": tenant})
            else:
                _log.error("this replica has not got a tenant's rules", extra={"tenant": tenant})
            return snapshot
        known = self._snapshots.get(tenant)
        if known is None or known.epoch < roll.epoch:  # replies of two reads may come in either order
            self.forget(tenant)
            self._snapshots[tenant] = snapshot
        return snapshot
