"""Who is calling: credentials turned into principals, cached for as long as nothing changes.

A tenant's principals are read whole and kept with the epoch they were read at. Every script is told
that epoch; when the store's differs it writes nothing, the use case raises
:class:`~placet.store.approvals.Rejudge`, and the caller is judged anew. So a revocation holds at once
on every replica, and while nothing changes authentication costs no round trip.
"""

import hashlib
import hmac
import logging
import re
from collections.abc import Callable

import msgspec
from msgspec import Struct

from placet.domain.errors import Unauthenticated
from placet.domain.limits import TENANT_PATTERN
from placet.domain.principals import Approver, Client, Principal
from placet.store.approvals import Rejudge
from placet.store.principals import Principals
from placet.tokens.seal import Sealer

CREDENTIAL = re.compile(rf"plc_({TENANT_PATTERN})_([a-z0-9]{{12}})_([A-Za-z0-9_-]{{43}})")
"""``plc_<tenant>_<key id>_<256-bit secret, base64url>``."""

SEAL_KIND = "principal"
SEAL_CHARS = 43
_NO_KEY = "-"
"""No credential has this key id: asking for it tells the epoch and nothing else."""

_log = logging.getLogger(__name__)
_decode = msgspec.json.Decoder(Client | Approver).decode
_encode = msgspec.json.Encoder(order="deterministic").encode


class Caller(Struct, frozen=True, kw_only=True):
    """An authenticated principal and the epoch at which it was one."""

    principal: Principal
    epoch: int

    @property
    def tenant(self) -> str:
        """The tenant the credential belongs to; a caller never names one."""
        return self.principal.tenant

    @property
    def name(self) -> str:
        """The client's name or the approver's id, for the audit trail."""
        return self.principal.name if isinstance(self.principal, Client) else self.principal.id


class Snapshot(Struct, frozen=True, kw_only=True):
    """A tenant's principals as of ``epoch``."""

    epoch: int
    clients: dict[str, Client]
    approvers: dict[str, Approver]
    by_key: dict[str, Principal]


class Directory:
    """The principals of all tenants.

    Args:
        store: Where their sealed documents are.
        sealer: Gives the sealer of the keyring in use.
        changed: Called before a tenant is read: something has changed, and it may be the keyring.
    """

    def __init__(
        self, store: Principals, sealer: Callable[[], Sealer], changed: Callable[[], None] = lambda: None
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._changed = changed
        self._snapshots: dict[str, Snapshot] = {}
        # Callers by the hash of a credential that was proven, for as long as their snapshot stands.
        self._proven: dict[bytes, Caller] = {}

    async def authenticate(self, credential: str) -> Caller:
        """The principal whose live secret this is.

        Raises:
            Unauthenticated: It is nobody's: malformed, unknown, rotated out or revoked.
            StoreUnavailable: The store could not be asked.
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
            _, document = await self._store.by_key(tenant, kid)
            if document is None:
                raise Unauthenticated
            snapshot = await self._read(tenant)
        principal = snapshot.by_key.get(kid)
        presented = hashlib.sha256(secret.encode()).hexdigest()
        held = next((key.sha256 for key in principal.keys if key.kid == kid), "") if principal else ""
        if principal is None or not hmac.compare_digest(presented, held):
            raise Unauthenticated
        caller = Caller(principal=principal, epoch=snapshot.epoch)
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

    async def known_to(self, caller: Caller) -> Snapshot:
        """The principals at the very epoch that ``caller`` was authenticated at.

        Raises:
            Rejudge: They have been read again since, and were others.
        """
        snapshot = await self.snapshot(caller.tenant)
        if snapshot.epoch != caller.epoch:
            raise Rejudge
        return snapshot

    async def confirm(self, caller: Caller) -> None:
        """Nothing, where the principals are still those that ``caller`` was authenticated among.

        For answers that no script stands behind: asks the store alone.

        Raises:
            Rejudge: They have changed.
        """
        epoch, _ = await self._store.by_key(caller.tenant, _NO_KEY)
        if epoch != caller.epoch:
            raise Rejudge

    async def _read(self, tenant: str) -> Snapshot:
        self._changed()
        epoch, documents = await self._store.all(tenant)
        clients: dict[str, Client] = {}
        approvers: dict[str, Approver] = {}
        by_key: dict[str, Principal] = {}
        for field, document in documents.items():
            principal = self.open(tenant, field, document)
            if principal is None or not principal.keys:  # revoked: its name is taken, and that is all
                continue
            if isinstance(principal, Client):
                clients[principal.name] = principal
            else:
                approvers[principal.id] = principal
            by_key.update({key.kid: principal for key in principal.keys})
        snapshot = Snapshot(epoch=epoch, clients=clients, approvers=approvers, by_key=by_key)
        known = self._snapshots.get(tenant)
        if known is None or known.epoch < epoch:  # replies of two reads may come in either order
            self.forget(tenant)
            self._snapshots[tenant] = snapshot
        return snapshot

    def seal(self, principal: Principal) -> bytes:
        """A principal as the store keeps it: its seal, then its document."""
        document = _encode(principal)
        seal = self._sealer().seal(SEAL_KIND, (principal.tenant, principal.field, document))
        return seal.encode() + document

    def open(self, tenant: str, field: str, sealed: bytes) -> Principal | None:
        """The principal in a sealed document, ``None`` (and an alarm) where the seal is not ours."""
        seal, document = sealed[:SEAL_CHARS], sealed[SEAL_CHARS:]
        if not self._sealer().verify(SEAL_KIND, (tenant, field, document), seal.decode("latin-1")):
            _log.error(
                "a principal's seal is broken: it is ignored", extra={"tenant": tenant, "field": field}
            )
            return None
        return _decode(document)
