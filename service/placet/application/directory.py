"""Who is calling: credentials turned into principals, cached for as long as nothing changes.

A tenant's roll of principals is read whole and kept with the epoch it was read at. Every script is told
that epoch; when the store's differs it writes nothing, the use case raises
:class:`~placet.store.approvals.Rejudge`, and the caller is judged anew. So a revocation holds at once
on every replica, and while nothing changes authentication costs no round trip.

A roll that is not as it was sealed (:mod:`placet.application.roll`), or that went back to an epoch before one
seen here, lets nobody of its tenant in. That is ``INTERNAL_ERROR`` with an alarm in the log, as for a broken
seal anywhere: 401 would blame credentials that may be good, and ``STORE_UNAVAILABLE`` would have every caller
try again until an operator has acted.
"""

import hashlib
import hmac
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Self

from msgspec import Struct

from placet.application.roll import RollSpoilt, opened, went_back
from placet.domain.authority import Authority, Rulebook
from placet.domain.errors import InternalError, Unauthenticated
from placet.domain.limits import TENANT_PATTERN
from placet.domain.principals import Approver, Client, Principal
from placet.store.approvals import Rejudge
from placet.store.principals import Principals, Roll
from placet.tokens.keyring_file import KeyringFile

CREDENTIAL = re.compile(rf"plc_({TENANT_PATTERN})_([a-z0-9]{{12}})_([A-Za-z0-9_-]{{43}})")
"""``plc_<tenant>_<key id>_<256-bit secret, base64url>``."""

_NO_KEY = "-"
"""No credential has this key id: asking for it tells the epoch and nothing else."""

_log = logging.getLogger(__name__)


class Caller(Struct, frozen=True, kw_only=True):
    """An authenticated principal, the epoch at which it was one, and who may decide what at that epoch."""

    principal: Principal
    epoch: int
    authority: Authority

    @property
    def tenant(self) -> str:
        """The tenant the credential belongs to; a caller never names one."""
        return self.principal.tenant

    @property
    def name(self) -> str:
        """The client's name or the approver's id, for the audit trail."""
        return self.principal.name if isinstance(self.principal, Client) else self.principal.id


class Snapshot(Struct, frozen=True, kw_only=True):
    """A tenant's principals with a live credential, and who may decide what among them, as of ``epoch``."""

    epoch: int
    authority: Authority
    by_key: dict[str, Principal]

    @classmethod
    def of(cls, tenant: str, epoch: int, principals: Iterable[Principal], rulebook: Rulebook) -> Self:
        """Those of ``principals`` that are not revoked: a revoked one's name is taken, and that is all."""
        live = [each for each in principals if each.keys]
        authority = Authority(
            tenant=tenant,
            clients={each.name: each for each in live if isinstance(each, Client)},
            approvers={each.id: each for each in live if isinstance(each, Approver)},
            people=rulebook.people,
            policies=rulebook.policies,
        )
        by_key = {key.kid: each for each in live for key in each.keys}
        return cls(epoch=epoch, authority=authority, by_key=by_key)

    @property
    def clients(self) -> Mapping[str, Client]:
        """The clients, by name."""
        return self.authority.clients

    @property
    def approvers(self) -> Mapping[str, Approver]:
        """The approvers, by id."""
        return self.authority.approvers


class Directory:
    """The principals of all tenants.

    Args:
        store: Where their rolls are.
        ring: Has the key to their seals, and heeds which signing keys they say are revoked.
        changed: Called before a tenant is read: something has changed, and it may be the keyring.
        rulebook: Gives the operator's directory and rules.
    """

    def __init__(
        self,
        store: Principals,
        ring: KeyringFile,
        changed: Callable[[], None] = lambda: None,
        rulebook: Callable[[], Rulebook] = Rulebook,
    ) -> None:
        self._store = store
        self._ring = ring
        self._rulebook = rulebook
        self._changed = changed
        self._snapshots: dict[str, Snapshot] = {}
        self._latest: dict[str, int] = {}
        # Callers by the hash of a credential that was proven, for as long as their snapshot stands.
        self._proven: dict[bytes, Caller] = {}

    async def authenticate(self, credential: str) -> Caller:
        """The principal whose live secret this is.

        Raises:
            Unauthenticated: It is nobody's: malformed, unknown, rotated out or revoked.
            StoreUnavailable: The store could not be asked.
            InternalError: The tenant's roll is spoilt.
        """
        proof = hashlib.sha256(credential.encode("utf-8", "surrogatepass")).digest()
        proven = self._proven.get(proof)
        if proven is not None:
            return proven
        match = CREDENTIAL.fullmatch(credential)
        if match is None:
            raise Unauthenticated
        tenant, kid, secret = match.groups()
        snapshot = self._snapshots.get(tenant)
        if snapshot is None or kid not in snapshot.by_key:
            # A key we have not seen may be newer than the snapshot, or nobody's. Asking for the one
            # key keeps made-up credentials from making us read or remember a tenant.
            _, field = await self._store.by_key(tenant, kid)
            if field is None:
                raise Unauthenticated
            snapshot = await self._read(tenant)
        principal = snapshot.by_key.get(kid)
        presented = hashlib.sha256(secret.encode()).hexdigest()
        held = next((key.sha256 for key in principal.keys if key.kid == kid), "") if principal else ""
        if principal is None or not hmac.compare_digest(presented, held):
            raise Unauthenticated
        caller = Caller(principal=principal, epoch=snapshot.epoch, authority=snapshot.authority)
        if self._snapshots.get(tenant) is snapshot:
            self._proven[proof] = caller
        return caller

    def forget(self, tenant: str) -> None:
        """Drop what is known of a tenant: it has changed."""
        self._snapshots.pop(tenant, None)
        self._proven = {proof: known for proof, known in self._proven.items() if known.tenant != tenant}

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

    async def roll(self, tenant: str) -> tuple[Roll, Mapping[str, Principal]]:
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

    async def _read(self, tenant: str) -> Snapshot:
        try:
            roll, principals = await self.roll(tenant)
        except RollSpoilt as fault:
            self.forget(tenant)
            _log.error("a tenant's principals are spoilt", extra={"tenant": tenant, "fault": str(fault)})
            raise InternalError from fault
        snapshot = Snapshot.of(tenant, roll.epoch, principals.values(), self._rulebook())
        known = self._snapshots.get(tenant)
        if known is None or known.epoch < roll.epoch:  # replies of two reads may come in either order
            self.forget(tenant)
            self._snapshots[tenant] = snapshot
        return snapshot
