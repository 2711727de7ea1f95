"""Ready: whether this replica should be sent calls, and why not."""

import logging
from contextlib import suppress

from placet.application import reset
from placet.domain.errors import StoreUnavailable
from placet.store.opened import Store
from placet.tokens.keyring import KeyringError
from placet.tokens.keyring_file import KeyringFile

_log = logging.getLogger(__name__)


class Readiness:
    """Looks at what every call needs: the store, and what all replicas must agree on.

    Args:
        store: The store.
        ring: The keyring.
        issuer: The ``iss`` of our tokens.
    """

    def __init__(self, store: Store, ring: KeyringFile, issuer: str) -> None:
        self._store = store
        self._ring = ring
        self._issuer = issuer
        self._serves = False
        self.stopping = False
        """Set when the service goes down, so that balancers send no more."""

    async def announce(self) -> None:
        """Say that a service begins: replicas that issue tokens under another name go unready.

        A command that only works on the store issues none, and so has nothing to agree on.
        """
        self._serves = True
        with suppress(StoreUnavailable):  # then it is not ready anyway
            await self._store.registry.show_issuer(self._issuer)

    async def faults(self) -> list[str]:
        """What is wrong, each a sentence that says what to do; empty where calls are welcome."""
        if self.stopping:
            return ["The service is stopping."]
        try:
            self._ring.refresh()
        except KeyringError as fault:
            _log.error("the keyring can't be taken up", extra={"fault": str(fault)})
            return ["The keyring can't be read; the log says why."]
        ring = self._ring.ring
        try:
            await self._store.ping()
            apart = await self._store.registry.agree_on_keyring(
                ring.generation, ring.fingerprint(), ring.seal_fingerprint()
            )
            issuer = await self._store.registry.issuer()
            late = await self._late()
        except StoreUnavailable:
            return ["The store can't be reached."]
        faults = [] if apart is None else [apart]
        if apart is None and self._ring.is_outdated:
            # The registry is only the store's word; what was heard of revocations was sealed.
            faults.append("Keys were revoked that this replica's keyring trusts: install the newer one here.")
        if self._serves and issuer not in {None, self._issuer}:
            faults.append(
                "Another replica issues tokens under another PLACET_PUBLIC_URL, and each refuses the "
                "other's: set the same one on all."
            )
        return faults + late

    async def _late(self) -> list[str]:
        """The tenants whose clock is too far behind to judge by, in one sentence.

        The sweeper asks for every tenant, every second, so what it has met is known without asking again.
        """
        lags = self._store.approvals.lags
        if not lags:
            return []
        late = {tenant: lags[tenant] for tenant in await self._store.registry.tenants() if tenant in lags}
        # Anybody may ask whether this replica is ready, and need not hear who its tenants are.
        return [reset.sentence(late, named=False)] if late else []
